"""The rules by which a connected graph is cut: which vector, and how it becomes halves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.parameters import check_count, check_number
from setwise._support.parts import Part
from setwise._support.types import Adjacency, BoolArray
from setwise.cut.bisect import sweep
from setwise.cut.edges import Edges, degrees
from setwise.cut.fiedler import Fiedler, dfvc, exact_fiedler

__all__ = ["CutRule", "ExactCut", "PaperCut", "SweepCut", "halves_by_sweep"]


class CutRule(Part, ABC):
    """A way to cut a connected graph in two; its parameters and nothing else.

    Examples
    --------
    >>> from setwise.cut import CutRule
    >>> CutRule.of("sweep", "CVC")
    SweepCut()
    """

    family: ClassVar[str] = "cut"

    def vector(self, adjacency: Adjacency) -> Fiedler:
        """The vector along which the graph is cut; the exact Fiedler vector by default."""
        return exact_fiedler(adjacency)

    @abstractmethod
    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """The half of each vertex, None where one would be empty."""


@dataclass(frozen=True)
class SweepCut(CutRule):
    """The exact Fiedler vector, cut at its best threshold.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import SweepCut, bisect
    >>> cut = bisect(adjacency, SweepCut())
    >>> cut.kind, bool(cut.side[0] == cut.side[1]), round(float(cut.ncut), 3)
    ('sweep', True, 0.095)
    """

    name: ClassVar[str] = "sweep"

    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """See :func:`halves_by_sweep`."""
        return halves_by_sweep(adjacency, fiedler)


@dataclass(frozen=True)
class ExactCut(CutRule):
    """The exact Fiedler vector, cut at zero.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import ExactCut, bisect
    >>> cut = bisect(adjacency, ExactCut())
    >>> cut.kind, bool(cut.side[0] == cut.side[1]), round(float(cut.ncut), 3)
    ('exact', True, 0.095)
    """

    name: ClassVar[str] = "exact"

    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """Those that may be zero stay together, see ``halves_by_sign`` of the kernels."""
        edges = Edges.of(adjacency)
        side, is_proper = kernels_of("setwise.cut").halves_by_sign(
            *edges, edges.degrees, fiedler.vector, fiedler.accuracy
        )
        return side if is_proper else None


@dataclass(frozen=True)
class PaperCut(CutRule):
    """Algorithm 3, literally; see :func:`setwise.cut.fiedler`.

    Its start vector depends on the order of the vertices, and so does the cut where the
    iteration stops before it has converged; no start vector that ignores the order would do
    (``docs/theory.md`` has the proof).

    Parameters
    ----------
    max_changes : float, default=0.01
        Stop when at most this share of the signs changes (the paper's epsilon_s).
    max_iter : int, default=100
        Give up then.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import PaperCut, bisect
    >>> cut = bisect(adjacency, PaperCut(max_iter=200))
    >>> cut.kind, bool(cut.side[0] == cut.side[1]), round(float(cut.ncut), 3)
    ('paper', True, 0.095)
    """

    name: ClassVar[str] = "paper"
    max_changes: float = 0.01
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_number("PaperCut", "max_changes", self.max_changes, at_most=1.0)
        check_count("PaperCut", "max_iter", self.max_iter)

    def vector(self, adjacency: Adjacency) -> Fiedler:
        """What Algorithm 3 iterates to."""
        return dfvc(adjacency, max_changes=self.max_changes, max_iter=self.max_iter)

    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """By sign: zero, or what rounding made of it, is decided by its sign."""
        side = fiedler.vector >= 0
        return side if side.any() and not side.all() else None


def halves_by_sweep(adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
    """The best threshold of ``y = D^-1/2 v``, the relaxed NCut indicator (paper eq. 10)."""
    return sweep(adjacency, fiedler.vector / np.sqrt(degrees(adjacency)))
