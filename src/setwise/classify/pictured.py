"""Images of a set, beside those of the gallery that are most like them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray
from setwise.classify.answer import Answer
from setwise.classify.explanation import Explanation
from setwise.classify.judge import Inference
from setwise.features.vectors import Pair, nearest_pairs
from setwise.gallery.gallery import Gallery
from setwise.sets import SetBatch
from setwise.sets.batch import default_names
from setwise.sets.origins import has_photos, photo_name, pixels

_MOST_PAIRS = 4


@dataclass(frozen=True)
class AlikePair:
    """An image of a set, one of the gallery that is like it, and its set and file."""

    image: npt.NDArray[Any] | None
    other: npt.NDArray[Any] | None
    origin: str


@dataclass(frozen=True)
class Alike:
    """The most alike images of a set and of one class."""

    label: str
    pairs: tuple[AlikePair, ...]


@dataclass(frozen=True)
class Pictured:
    """Images of a set, and pairs with the gallery's that are most like them."""

    name: str
    images: tuple[npt.NDArray[Any] | None, ...]  # one per vector; empty where there are none
    files: tuple[str, ...]  # name of each vector
    alike: tuple[Alike, ...]  # for the answer and the runner-up


def explain_set(gallery: Gallery, batch: SetBatch, answer: Answer | None = None) -> Explanation:
    """Explanation of the one set of a batch, with its images; of another answer if given."""
    name = "" if batch.names == default_names(1) else batch.names[0]
    why = Inference.of(gallery, batch[0]).explanation(name)
    if answer is not None:
        why = replace(why, answer=replace(answer, name=name))
    labels = (why.nearest, why.runner_up) if why.is_informed else ()
    shown = tuple(label for label in labels if label is not None)
    return replace(why, pictured=pictured(gallery, batch, 0, why.is_typical, shown))


def pictured(
    gallery: Gallery, sets: SetBatch, i: int, is_typical: BoolArray, labels: tuple[Any, ...]
) -> Pictured:
    """Images of set ``i``, and of the classes ``labels`` that are most like them."""
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
    """Most alike pairs of a set's typical vectors and those of a class.

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
