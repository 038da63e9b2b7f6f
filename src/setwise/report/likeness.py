"""The photos of a set beside those of the gallery that they are most like."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setwise._support.types import BoolArray
from setwise.classify.pictured import nearest_in_class
from setwise.gallery import Gallery
from setwise.report.photos import Photo, photo
from setwise.sets import SetBatch

__all__ = ["Likeness", "likenesses", "why_nothing_is_alike"]


@dataclass(frozen=True)
class Likeness:
    """What of a set is most like a class.

    Attributes
    ----------
    label : str
        The class.
    kind : str
        ``"first"`` for the answer, ``"second"`` for the runner-up.
    pairs : tuple of (Photo, Photo, str)
        A photo of the set, the one of the gallery, and the gallery set it is in.
    """

    label: str
    kind: str
    pairs: tuple[tuple[Photo, Photo, str], ...]


def why_nothing_is_alike(gallery: Gallery) -> str:
    """Why no photos of a gallery can be shown; empty where they can."""
    if gallery.has_vectors:
        return ""
    return "The gallery was saved without its photos: the ones most alike cannot be shown."


def likenesses(
    gallery: Gallery,
    probes: SetBatch,
    i: int,
    is_typical: BoolArray,
    labels: tuple[Any, ...],
    most: int,
) -> tuple[Likeness, ...]:
    """What of set ``i`` is most like the answer and the runner-up, in this order."""
    return tuple(
        Likeness(
            str(label),
            kind,
            tuple(
                (
                    photo(probes, i, pair.vector),
                    photo(gallery.sets, pair.set, pair.other),
                    gallery.sets.names[pair.set],
                )
                for pair in nearest_in_class(gallery, probes[i], is_typical, label, most)
            ),
        )
        for label, kind in zip(labels, ("first", "second"), strict=False)
    )
