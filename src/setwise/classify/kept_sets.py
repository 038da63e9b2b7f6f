"""The vectors of a gallery that count, and what features made of them: looked at once.

A fit looks at the same images again and again: to fit views, to make columns, to try halves of
sets, to judge one half of the gallery by the other, to try classes as strangers. What a feature
makes of an image is the same each time.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.classify.description import Description
from setwise.features.views import FittedView, Images
from setwise.sets import SetBatch

__all__ = ["KeptSets"]


@dataclass(frozen=True)
class KeptSets:
    """Sets without the vectors that do not belong to them.

    Attributes
    ----------
    images : Images
        The vectors of all sets, one set after the other.
    offsets : array of int, shape (n_sets + 1,)
        Where each set begins.
    """

    images: Images
    offsets: IntArray

    @classmethod
    def of(cls, description: Description, sets: SetBatch) -> KeptSets:
        """Those of a batch, in double precision."""
        vectors = np.asarray(sets.vectors, dtype=np.float64)
        is_kept = np.empty(len(vectors), dtype=np.bool_)
        for start, stop in pairwise(sets.offsets):
            is_kept[start:stop] = description.is_kept(vectors[start:stop])
        ends = np.concatenate([[0], np.cumsum(is_kept)])
        return cls(Images(vectors, sets.image_shape).where(is_kept), ends[sets.offsets])

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, i: int) -> Images:
        return self.images.part(int(self.offsets[i]), int(self.offsets[i + 1]))

    def __iter__(self) -> Iterator[Images]:
        return (self[i] for i in range(len(self)))

    def vectors(self, i: int) -> FloatArray:
        """The vectors of a set."""
        return self.images.vectors[self.offsets[i] : self.offsets[i + 1]]

    def of_rows(self, parts: Sequence[IntArray]) -> KeptSets:
        """Other sets, each made of some of the vectors, given by their places."""
        offsets = np.concatenate([[0], np.cumsum([len(rows) for rows in parts])])
        return KeptSets(self.images.where(np.concatenate(parts)), offsets)

    def take(self, chosen: IntArray) -> KeptSets:
        """Some of the sets."""
        return self.of_rows([np.arange(*self.offsets[i : i + 2]) for i in chosen])

    def batch(self) -> SetBatch:
        """The vectors as sets, whose names are their numbers."""
        return SetBatch(self.images.vectors, self.offsets, image_shape=self.images.shape)

    def fitted_views(self, description: Description) -> dict[str, FittedView]:
        """The views of a description, fitted to these vectors."""
        return {r.view.name: r.view.fit(self.images) for r in description.representations}
