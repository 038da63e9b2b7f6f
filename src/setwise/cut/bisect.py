"""One graph into two halves: components first, then a spectral cut, never an empty side."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.parameters import check_count, check_number
from setwise._support.parts import Part
from setwise._support.types import Adjacency, BoolArray, FloatArray, IntArray
from setwise.cut.edges import Edges, components, degrees, in_scale, ncut
from setwise.cut.fiedler import Fiedler, dfvc, exact_fiedler, local_vector
from setwise.errors import ConvergenceWarning, DegenerateSplitWarning, ParameterError

# What made the halves where the rule proper left one empty, numbered as by the kernels.
REPAIRS = ("", "sweep", "median")


class CutRule(Part, ABC):
    """A way to cut a connected graph in two: which vector, and how it becomes halves.

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
    >>> from setwise.cut import SweepCut, bisect
    >>> bisect(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]), SweepCut()).side
    array([False, False,  True])
    """

    name: ClassVar[str] = "sweep"

    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """The best threshold of ``D^-1/2 v``, the relaxed NCut indicator (paper eq. 10)."""
        return sweep(adjacency, fiedler.vector / np.sqrt(degrees(adjacency)))


@dataclass(frozen=True)
class ExactCut(CutRule):
    """The exact Fiedler vector, cut at zero.

    Examples
    --------
    >>> from setwise.cut import ExactCut, bisect
    >>> bisect(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]), ExactCut()).side
    array([False, False,  True])
    """

    name: ClassVar[str] = "exact"

    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """By sign; entries within the accuracy of zero go to one side together."""
        edges = Edges.of(adjacency)
        side, is_proper = kernels_of("setwise.cut").halves_by_sign(
            *edges, edges.degrees, fiedler.vector, fiedler.accuracy
        )
        return side if is_proper else None


@dataclass(frozen=True)
class PaperCut(CutRule):
    """Algorithm 3, literally (:func:`dfvc`); it depends on the order of the vertices.

    Parameters
    ----------
    max_changes : float, default=0.01
        Stop when at most this share of the signs changes (the paper's epsilon_s).
    max_iter : int, default=100
        Give up then.

    Examples
    --------
    >>> from setwise.cut import PaperCut, bisect
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> bisect(adjacency, PaperCut(max_iter=200)).kind
    'paper'
    """

    name: ClassVar[str] = "paper"
    max_changes: float = 0.01
    max_iter: int = 100

    def __post_init__(self) -> None:
        check_number("PaperCut", "max_changes", self.max_changes, at_most=1.0)
        check_count("PaperCut", "max_iter", self.max_iter)

    def vector(self, adjacency: Adjacency) -> Fiedler:
        """The vector that Algorithm 3 stops at."""
        return dfvc(adjacency, max_changes=self.max_changes, max_iter=self.max_iter)

    def halves(self, adjacency: Adjacency, fiedler: Fiedler) -> BoolArray | None:
        """By sign: zero, or what rounding made of it, is decided by its sign."""
        side = fiedler.vector >= 0
        return side if side.any() and not side.all() else None


def sweep(adjacency: Adjacency, vector: FloatArray) -> BoolArray | None:
    """Cut the graph where the sorted ``vector`` gives the smallest NCut.

    True on the high side; None when all values are equal.

    Examples
    --------
    >>> from setwise.cut import sweep
    >>> sweep(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]), np.array([0.9, 0.5, -1.0]))
    array([ True,  True, False])
    """
    edges = Edges.of(adjacency)
    side, exists = kernels_of("setwise.cut").sweep(*edges, edges.degrees, vector)
    return side if exists else None


@dataclass(frozen=True)
class Cut:
    """A bipartition of a graph and what is known about it; see also :class:`Fiedler`.

    Examples
    --------
    >>> from setwise.cut import bisect
    >>> cut = bisect(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> cut.side, round(cut.ncut, 2), cut.has_converged
    (array([False, False,  True]), 1.05, True)
    """

    side: BoolArray  #: which half each vertex went to; both halves hold at least one
    kind: str  #: ``"components"``, ``"local"``, or the name of the spectral cut
    ncut: float  #: normalised cut value (paper eq. 7); 0 between components
    connectivity: float  #: algebraic connectivity lambda_2; 0 for a disconnected graph
    n_iterations: int = 0
    has_converged: bool = True
    sign_switches: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    fallback: str = ""  #: ``"sweep"`` or ``"median"`` where the cut proper left one side empty


def bisect(adjacency: Adjacency, cut: str | CutRule = "sweep") -> Cut:
    """Split a graph of at least two vertices into two non-empty halves.

    A disconnected graph is split into its largest component (the first of equals) and the rest;
    a connected one is cut by its Fiedler vector. A ConvergenceWarning says that the vector, and
    perhaps the halves, are approximate; a DegenerateSplitWarning that another rule filled an
    empty half.

    Parameters
    ----------
    adjacency : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        Edge weights, zero diagonal. Their scale matters to "paper" only.
    cut : {"sweep", "exact", "paper"} or CutRule
        The exact Fiedler vector cut at its best threshold, the same cut at zero (vertices
        whose entry cannot be told from zero stay together), or Algorithm 3, literally.

    Examples
    --------
    >>> from setwise.cut import bisect
    >>> bisect(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]])).side
    array([False, False,  True])
    """
    rule = CutRule.of(cut, "bisect")
    adjacency = in_scale(adjacency)
    component = components(adjacency)
    if component.any():
        side = component == np.bincount(component).argmax()
        return Cut(side=side, kind="components", ncut=0.0, connectivity=0.0)
    result = spectral_cut(adjacency, rule)
    what = f"bisect: the {result.kind!r} cut of {len(result.side)} vertices"
    if not result.has_converged:
        msg = f"{what} did not converge in {result.n_iterations} iterations; it is approximate."
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    if result.fallback:
        msg = f"{what} left one half empty; the {result.fallback} was used instead."
        warnings.warn(msg, DegenerateSplitWarning, stacklevel=2)
    return result


def local_cut(adjacency: Adjacency, seeds: IntArray) -> Cut:
    """Part the cluster around some vertices of a large connected graph from the rest.

    Examples
    --------
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import local_cut
    >>> local_cut(adjacency, np.array([0])).side
    array([ True,  True, False, False])
    """
    return _rounded(adjacency, local_vector(adjacency, seeds), "local", SweepCut())


@np.errstate(under="ignore")
def spectral_cut(adjacency: Adjacency, rule: CutRule) -> Cut:
    """Cut a connected graph, given as Edges or dense, in scale, without warnings.

    Examples
    --------
    >>> from setwise.cut import SweepCut, spectral_cut
    >>> spectral_cut(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]), SweepCut()).side
    array([False, False,  True])
    """
    n = adjacency.n_vertices if isinstance(adjacency, Edges) else len(adjacency)
    if n < 2:
        msg = f"bisect: a graph of at least 2 vertices is needed to cut, got {n}."
        raise ParameterError(msg)
    kind = rule.name or type(rule).__name__
    return _rounded(adjacency, rule.vector(adjacency), kind, rule)


def _rounded(adjacency: Adjacency, fiedler: Fiedler, kind: str, rule: CutRule) -> Cut:
    """The two halves a vector stands for, by another rule where one would be empty."""
    edges = Edges.of(adjacency)
    side, fallback = rule.halves(adjacency, fiedler), ""
    if side is None:
        repaired_halves = kernels_of("setwise.cut").repaired_halves
        side, repair = repaired_halves(*edges, edges.degrees, fiedler.vector)
        fallback = REPAIRS[repair]
    return Cut(
        side, kind, ncut(edges, side), fiedler.connectivity, fiedler.n_iterations,
        fiedler.has_converged, fiedler.sign_switches, fallback,
    )  # fmt: skip
