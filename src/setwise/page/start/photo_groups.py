"""Photos grouped by what they show, some hundred at a time, and groups joined to groups.

Each photo comes with an altered copy, and each group is seen as two halves. Both are compared
as if they were strangers, so that among few photos, too, it is known how alike two views of one
thing are: photos of different things are not joined only because all others differ more.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from scipy.sparse.linalg import svds

from setwise._support.types import IntArray
from setwise.classify import CVC
from setwise.together import SetClusters, suggest

# Groups that are compared at once, all with all; each is two sets.
PART = 200
# Ways in which groups are put side by side, where they are more: in the order of the photos,
# then by the directions in which they differ most.
WAYS, FEWEST = 4, 2
Vectors = npt.NDArray[np.floating]
Unit = list[int]  # photos that belong together


@dataclass
class PhotoGroups:
    """Groups of photos, to which photos and corrections are added."""

    units: list[Unit] = field(default_factory=list)
    _last: tuple[SetClusters, list[Unit]] | None = None  # the last comparison of all groups

    def update(
        self,
        vectors: Vectors,
        copies: Vectors,
        settled: IntArray,
        apart: Sequence[tuple[int, int]],
    ) -> IntArray:
        """Group of each photo, as people have corrected them; new photos are at the end."""
        units = list(_corrected(self.units, len(vectors), settled, {i for i, _ in apart}))
        for way in range(WAYS):
            before = len(units)
            parts = _parts(units, vectors, way)
            units = [
                unit
                for part in parts
                for unit in self._joined(part, vectors, copies, settled, apart)
            ]
            units.sort()
            if len(parts) == 1 and len(units) == before:
                break
        self.units = units
        labels = np.zeros(len(vectors), dtype=np.int64)
        for number, unit in enumerate(units):
            labels[unit] = number
        return labels

    def alike(self, groups: Sequence[Sequence[int]]) -> list[tuple[int, int]]:
        """Pairs of groups that may be one, the most similar first."""
        if self._last is None:
            return []
        clusters, units = self._last
        of_photo = {i: number for number, group in enumerate(groups) for i in group}
        numbers = [of_photo.get(unit[0], -1) for unit in units]
        found = suggest(clusters.found_, np.array(numbers * 2)).merges
        return [(one.first, one.second) for one in found]

    def _joined(
        self,
        part: list[Unit],
        vectors: Vectors,
        copies: Vectors,
        settled: IntArray,
        apart: Sequence[tuple[int, int]],
    ) -> list[Unit]:
        """The groups of a part, those joined that belong together."""
        if len(part) < FEWEST:
            return part
        of_photo = {i: u for u, unit in enumerate(part) for i in unit}
        fixed = [u for u, unit in enumerate(part) if settled[unit[0]] >= 0]
        cannot = {(a, b) for a in fixed for b in fixed if a < b}
        for i, j in apart:
            if i in of_photo and j in of_photo and of_photo[i] != of_photo[j]:
                cannot.add((of_photo[i], of_photo[j]))
        # Of vectors of one thing, the mean says what is common to them.
        how = CVC(dims=(1,), representations=(("plain", "mean"),)).describe()
        both = [*_halves(part, vectors, copies, 0), *_halves(part, vectors, copies, 1)]
        found = SetClusters(description=how).fit(both, cannot_link=sorted(cannot))
        self._last = found, part
        joined: dict[int, Unit] = {}
        for u, unit in enumerate(part):
            label = int(found.labels_[u])
            joined.setdefault(label if label >= 0 else -1 - u, []).extend(unit)
        return [sorted(unit) for unit in joined.values()]


def _corrected(
    units: Sequence[Unit], n_photos: int, settled: IntArray, taken_out: set[int]
) -> Iterator[Unit]:
    """The groups without what people have settled, which are groups of their own."""
    known = {i for unit in units for i in unit}
    by_hand: dict[int, Unit] = {}
    for i, number in enumerate(settled.tolist()):
        if number >= 0:
            by_hand.setdefault(number, []).append(i)
    for unit in units:
        rest = [i for i in unit if settled[i] < 0 and i not in taken_out]
        if rest:
            yield rest
    yield from ([i] for i in sorted(taken_out) if settled[i] < 0)
    yield from ([i] for i in range(n_photos) if i not in known | taken_out and settled[i] < 0)
    yield from by_hand.values()


def _halves(
    part: Sequence[Unit], vectors: Vectors, copies: Vectors, half: int
) -> Iterator[Vectors]:
    """One half of each group; the second of a single photo is its copy."""
    for unit in part:
        if len(unit) > 1:
            yield vectors[unit[half::2]]
        else:
            yield (copies if half else vectors)[unit]


def _parts(units: list[Unit], vectors: Vectors, way: int) -> list[list[Unit]]:
    """The groups, some at a time."""
    n_parts = -(-len(units) // PART)
    if n_parts <= 1:
        return [units]
    order = np.arange(len(units))
    if way:
        means = np.stack([vectors[unit].mean(axis=0) for unit in units]).astype(np.float64)
        start = np.ones(min(means.shape))
        left, _, _ = svds(means - means.mean(axis=0), k=WAYS - 1, v0=start, solver="arpack")
        order = np.argsort(left[:, way - 1], kind="stable")
    return [[units[i] for i in part] for part in np.array_split(order, n_parts)]
