"""What an explained set looks like, beside the images of the gallery that are most like it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray
from setwise.classify.explanation import Explanation, explain
from setwise.classify.gallery import Gallery
from setwise.features.vectors import Pair, nearest_pairs
from setwise.sets import SetBatch
from setwise.sets.batch import default_names
from setwise.sets.origins import has_photos, photo_name, pixels

__all__ = ["Alike", "AlikePair", "Pictured", "explain_set", "nearest_in_class", "pictured"]

_MOST_PAIRS = 4


@dataclass(frozen=True)
class AlikePair:
    """An image of a set, one of the gallery that is like it, and where that one is from."""

    image: npt.NDArray[Any] | None
    other: npt.NDArray[Any] | None
    origin: str


@dataclass(frozen=True)
class Alike:
    """The images of a set and of one class that are most alike."""

    label: str
    pairs: tuple[AlikePair, ...]


@dataclass(frozen=True)
class Pictured:
    """A set as a reader sees it.

    Attributes
    ----------
    name : str
        What the set is called.
    images : tuple of array or None
        One per vector; empty where vectors are no images.
    files : tuple of str
        What each vector is called.
    alike : tuple of Alike
        For the answer and the runner-up, where both sides have images.
    """

    name: str
    images: tuple[npt.NDArray[Any] | None, ...]
    files: tuple[str, ...]
    alike: tuple[Alike, ...]


def explain_set(gallery: Gallery, batch: SetBatch) -> Explanation:
    """Explain the one set of a batch, and show what it looks like."""
    why = explain(gallery, batch[0])
    labels = (why.label, why.runner_up) if why.is_informed else ()
    shown = tuple(label for label in labels if label is not None)
    looks = pictured(gallery, batch, 0, why.is_typical, shown)
    name = "" if batch.names == default_names(1) else batch.names[0]
    return replace(why, name=name, pictured=looks)


def pictured(
    gallery: Gallery, sets: SetBatch, i: int, is_typical: BoolArray, labels: tuple[Any, ...]
) -> Pictured:
    """Show set ``i``, and what of it is most like the classes ``labels``."""
    vectors = range(int(sets.sizes[i]))
    shows_both = has_photos(sets) and has_photos(gallery.sets) and gallery.has_vectors
    return Pictured(
        name=sets.names[i],
        images=tuple(pixels(sets, i, j) for j in vectors) if has_photos(sets) else (),
        files=tuple(photo_name(sets, i, j) for j in vectors),
        alike=tuple(
            Alike(str(label), _pairs(gallery, sets, i, is_typical, label))
            for label in (labels if shows_both else ())
        ),
    )


def nearest_in_class(
    gallery: Gallery, vectors: Any, is_typical: BoolArray, label: Any, most: int
) -> list[Pair]:
    """Pairs of the vectors that belong to a set, and those of a class that are most like them.

    ``set`` of a pair is an index into the sets of the gallery.
    """
    if not gallery.has_vectors:
        return []
    kept = np.flatnonzero(is_typical)
    inside = np.flatnonzero(gallery.codes == np.flatnonzero(gallery.classes == label)[0])
    pairs = nearest_pairs(np.asarray(vectors)[kept], gallery.sets[inside], most)
    return [
        Pair(int(kept[pair.vector]), int(inside[pair.set]), pair.other, pair.distance)
        for pair in pairs
    ]


def _pairs(
    gallery: Gallery, sets: SetBatch, i: int, is_typical: BoolArray, label: Any
) -> tuple[AlikePair, ...]:
    known = gallery.sets
    return tuple(
        AlikePair(
            pixels(sets, i, pair.vector),
            pixels(known, pair.set, pair.other),
            f"{known.names[pair.set]}, {photo_name(known, pair.set, pair.other)}",
        )
        for pair in nearest_in_class(gallery, sets[i], is_typical, label, _MOST_PAIRS)
    )
