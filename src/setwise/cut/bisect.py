"""One graph into two halves: components first, then a spectral cut, never an empty side."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, BoolArray, FloatArray, IntArray
from setwise.cut.bisect import CutRule, halves_by_sweep
from setwise.cut.edges import Edges, ncut
from setwise.cut.fiedler import Fiedler, local_vector
from setwise.errors import ConvergenceWarning, DegenerateSplitWarning, ParameterError

__all__ = ["Cut", "bisect", "components", "in_scale", "local_cut", "spectral_cut"]

# What made the halves where the rule proper left one empty, numbered as by the kernels.
REPAIRS = ("", "sweep", "median")


@dataclass(frozen=True)
class Cut:
    """A bipartition of a graph and what is known about it.

    Attributes
    ----------
    side : array of bool, shape (n_vertices,)
        Which half each vertex went to; both halves hold at least one.
    kind : str
        ``"components"``, ``"local"``, or the name of the spectral cut.
    ncut : float
        Normalised cut value (paper eq. 7); 0 between components.
    connectivity : float
        Algebraic connectivity lambda_2; 0 for a disconnected graph.
    n_iterations, has_converged, sign_switches
        As in :class:`setwise.cut.fiedler.Fiedler`.
    fallback : str
        One of :data:`REPAIRS`: empty, or what had to be used because the cut proper left one
        side empty.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import bisect
    >>> cut = bisect(adjacency)
    >>> cut.side, round(cut.ncut, 3), cut.has_converged
    (array([ True,  True, False, False]), 0.095, True)
    """

    side: BoolArray
    kind: str
    ncut: float
    connectivity: float
    n_iterations: int = 0
    has_converged: bool = True
    sign_switches: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))
    fallback: str = ""


def bisect(adjacency: Adjacency, cut: str | CutRule = "sweep") -> Cut:
    """Split a graph of at least two vertices into two non-empty halves.

    A disconnected graph is split between its components, which costs nothing: the largest
    against the rest (the one with the smallest vertex index among equals). A connected one
    is cut by its Fiedler vector. (:class:`setwise.cluster.CutTree`, which need not make two
    halves, parts all components at once.)

    Parameters
    ----------
    adjacency : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        Edge weights, zero diagonal. Their scale does not matter, but to "paper".
    cut : {"sweep", "exact", "paper"} or CutRule
        The exact Fiedler vector cut at its best threshold, the same cut at zero (vertices
        whose entry cannot be told from zero stay together), or Algorithm 3, literally; see
        :mod:`setwise.cut.bisect`.

    Warns
    -----
    ConvergenceWarning
        The iteration hit its limit: the halves may not be the vector's.
    DegenerateSplitWarning
        One half would have been empty, and another rule made the halves.

    Examples
    --------
    >>> import numpy as np
    >>> barbell = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    >>> barbell[2, 3] = barbell[3, 2] = 0.1
    >>> result = bisect(barbell)
    >>> sorted(np.flatnonzero(result.side == result.side[0]).tolist())
    [0, 1, 2]
    """
    rule = CutRule.of(cut, "bisect")
    adjacency = in_scale(adjacency)
    component = components(adjacency)
    if component.any():
        side = component == np.bincount(component).argmax()
        return Cut(side=side, kind="components", ncut=0.0, connectivity=0.0)
    result = spectral_cut(adjacency, rule)
    _warn_of_repairs(result)
    return result


def _warn_of_repairs(result: Cut) -> None:
    what = f"bisect: the {result.kind!r} cut of {len(result.side)} vertices"
    if not result.has_converged:
        msg = f"{what} did not converge in {result.n_iterations} iterations; it is approximate."
        warnings.warn(msg, ConvergenceWarning, stacklevel=3)
    if result.fallback:
        msg = f"{what} left one half empty; the {result.fallback} was used instead."
        warnings.warn(msg, DegenerateSplitWarning, stacklevel=3)


@np.errstate(under="ignore")
def in_scale(adjacency: Adjacency) -> Adjacency:
    """In the form the cuts take, of a magnitude whose squares neither over- nor underflow.

    The scale of the weights means nothing to the normalised Laplacian. To the paper's shift
    it does, so ordinary weights are left as they are.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cut import in_scale
    >>> bool(in_scale(np.array([[0.0, 1e-300], [1e-300, 0.0]])).max() > 1e-100)
    True
    """
    if isinstance(adjacency, np.ndarray):
        dense = adjacency.astype(np.float64)
        return dense / _unit(dense)
    edges = Edges.of(adjacency)
    unit = _unit(edges.data)
    if unit == 1.0:
        return edges
    return Edges.of(Edges(edges.indptr, edges.indices, edges.data / unit).to_csr())


def _unit(weights: FloatArray) -> float:
    largest = float(weights.max(initial=0.0))
    return 1.0 if 1e-100 < largest < 1e100 or largest == 0 else largest


def components(adjacency: Adjacency) -> IntArray:
    """Connected component of each vertex, numbered in the order of their first vertices.

    A weight of zero is no edge, stored or not.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.cut import components
    >>> components(np.array([[0, 1, 0], [1, 0, 0], [0, 0, 0]]))
    array([0, 0, 1])
    """
    # SciPy's own function would take dense weights below 1e-8 for missing edges.
    return Edges.of(adjacency).components()


def local_cut(adjacency: Adjacency, seeds: IntArray) -> Cut:
    """Part the cluster around some vertices of a large connected graph from the rest.

    The best threshold of :func:`setwise.cut.fiedler.local_vector`.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import local_cut
    >>> local_cut(adjacency, np.array([0])).side
    array([ True,  True, False, False])
    """
    fiedler = local_vector(adjacency, seeds)
    return _rounded(adjacency, fiedler, "local", halves_by_sweep)


@np.errstate(under="ignore")
def spectral_cut(adjacency: Adjacency, rule: CutRule) -> Cut:
    """Cut a connected graph, see :func:`bisect`; warns of nothing.

    Parameters
    ----------
    adjacency : Edges, or symmetric array of shape (n_vertices, n_vertices)
        The graph, in scale.
    rule : CutRule
        Which vector, and how it becomes halves.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import SweepCut, spectral_cut
    >>> spectral_cut(adjacency, SweepCut()).side
    array([ True,  True, False, False])
    """
    n = adjacency.n_vertices if isinstance(adjacency, Edges) else len(adjacency)
    if n < 2:
        msg = f"bisect: a graph of at least 2 vertices is needed to cut, got {n}."
        raise ParameterError(msg)
    kind = rule.name or type(rule).__name__
    return _rounded(adjacency, rule.vector(adjacency), kind, rule.halves)


def _rounded(
    adjacency: Adjacency,
    fiedler: Fiedler,
    cut: str,
    split: Callable[[Adjacency, Fiedler], BoolArray | None],
) -> Cut:
    """The two halves a vector stands for, by another rule where one would be empty."""
    edges = Edges.of(adjacency)
    side, fallback = split(adjacency, fiedler), ""
    if side is None:
        side, repair = kernels_of("setwise.cut").repaired_halves(
            *edges, edges.degrees, fiedler.vector
        )
        fallback = REPAIRS[repair]
    return Cut(
        side=side,
        kind=cut,
        ncut=ncut(edges, side),
        connectivity=fiedler.connectivity,
        n_iterations=fiedler.n_iterations,
        has_converged=fiedler.has_converged,
        sign_switches=fiedler.sign_switches,
        fallback=fallback,
    )
