"""A gallery and a heap: known sets go to their classes, the unknown ones fall into groups."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.errors import reject
from setwise.sets import SetBatch
from setwise.together.graph import SetGraph
from setwise.together.suggest import Merge, Move, NextLabel, Suggestions


@dataclass(frozen=True)
class Grouping:
    """Where the sets of a heap belong: to classes of a gallery, or to groups without a name.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(n_classes=7, n_sets=4)
    >>> names = np.array(list("abcdefg"))[labels]
    >>> clf = CVC(dims=(3,), unknown=0.2).fit(sets[:20], names[:20])
    >>> found = clf.group(sets[16:])
    >>> found.labels[[0, 4]], found.groups
    (array(['e', None], dtype=object), array([-1, -1, -1, -1,  0,  0,  0,  0,  1,  1,  1,  1]))
    >>> clf.enroll(found.sets_of(0), ["new"] * 4).classes_.tolist()
    ['a', 'b', 'c', 'd', 'e', 'new']
    """

    sets: SetBatch
    labels: npt.NDArray[Any]  #: class of each set that is known, None for the others
    groups: IntArray  #: group of each other set, the largest first; -1 for known and left out
    #: That a set is of its class or group; 0 for sets that are left out.
    probabilities: FloatArray
    #: Which groups may be one, which sets are in the wrong one, what to name next. Indices
    #: are those of the sets of the heap.
    suggestions: Suggestions
    #: The graph of the sets that are not known, None for fewer than two.
    graph: SetGraph | None = None

    @property
    def n_groups(self) -> int:
        """Number of groups without a name."""
        return int(self.groups.max(initial=-1)) + 1

    @property
    def is_known(self) -> BoolArray:
        """Whether each set is of a class of the gallery."""
        return np.array([label is not None for label in self.labels], dtype=np.bool_)

    @property
    def left_out(self) -> IntArray:
        """Sets of no class and no group."""
        return np.flatnonzero(~self.is_known & (self.groups < 0))

    def members_of(self, group: int) -> IntArray:
        """Indices of the sets of a group."""
        if not 0 <= group < self.n_groups:
            reject(f"Grouping: there is no group {group!r}. Expected 0 to {self.n_groups - 1}.")
        return np.flatnonzero(self.groups == group)

    def sets_of(self, group: int) -> SetBatch:
        """The sets of a group, to be enrolled under a name."""
        return self.sets[self.members_of(group)]


def in_heap(found: Suggestions, places: Sequence[int] | IntArray) -> Suggestions:
    """Suggestions about some sets, by the indices that these have in the whole heap."""
    where = np.asarray(places).tolist()
    moves = (Move(where[m.index], m.group, m.to, m.probability) for m in found.moves)
    steps = (NextLabel(where[s.index], s.gain) for s in found.next_labels)
    merges: tuple[Merge, ...] = found.merges
    return Suggestions(merges, tuple(moves), tuple(steps))
