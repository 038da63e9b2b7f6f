"""Groups of a graph as modules of its walkers, by the map equation.

A walker's way is written down with two kinds of code words: names of modules, said when one is
entered, and names of vertices, which every module has of its own. The shortest description is
that of the modules in which walkers stay long (Rosvall and Bergstrom 2008). Searched for as by
Louvain: vertices move between modules, then modules between modules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.types import FloatArray, IntArray

# Rounds over all vertices; few are needed.
_ROUNDS = 30


@dataclass(frozen=True)
class Flow:
    """A walker's steps between vertices, which sum to 1 with what stays at each vertex."""

    between: sp.csr_array  # symmetric, without a diagonal
    stay: FloatArray

    @classmethod
    def of(cls, weights: sp.csr_array, loops: FloatArray) -> Flow:
        """Steps in proportion to the weights of edges, and of loops."""
        total = float(weights.sum() + loops.sum())
        scale = 1.0 / total if total > 0 else 0.0
        return cls(sp.csr_array(weights * scale), loops * scale)

    def joined(self, modules: IntArray) -> Flow:
        """The flow between modules, which become the vertices."""
        n, count = len(modules), int(modules.max()) + 1
        member = sp.csr_array((np.ones(n), (np.arange(n), modules)), shape=(n, count))
        between = sp.csr_array(member.T @ self.between @ member)
        inside = between.diagonal()
        between.setdiag(0.0)
        between.eliminate_zeros()
        between.sort_indices()
        return Flow(between, inside + np.bincount(modules, self.stay, minlength=count))


def walker_modules(flow: Flow, apart: sp.csr_array | None = None) -> IntArray:
    """The module of each vertex, numbered in the order of first vertices.

    Parameters
    ----------
    flow : Flow
        Of the graph.
    apart : csr_array of shape (n, n), optional
        Symmetric; pairs of vertices that no module holds.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together.modules import Flow, walker_modules
    >>> chain = sp.csr_array([[0, 5.0, 0, 0], [5, 0, 1, 0], [0, 1, 0, 5], [0, 0, 5, 0]])
    >>> walker_modules(Flow.of(chain, np.zeros(4)))
    array([0, 0, 1, 1])
    """
    n = len(flow.stay)
    kept = sp.csr_array((n, n)) if apart is None else sp.csr_array(apart)
    modules = _moved(flow, kept, np.arange(n))
    while True:
        count = int(modules.max(initial=-1)) + 1
        # A pair of modules is apart where any of their vertices are.
        member = sp.csr_array((np.ones(n), (np.arange(n), modules)), shape=(n, count))
        between = sp.csr_array(member.T @ kept @ member)
        joined = _moved(flow.joined(modules), between, np.arange(count))
        if int(joined.max(initial=-1)) + 1 == count:
            return modules
        modules = _moved(flow, kept, joined[modules])


def _moved(flow: Flow, apart: sp.csr_array, modules: IntArray) -> IntArray:
    """Modules after vertices have moved; of a start that keeps ``apart``."""
    n = len(modules)
    if n == 0:
        return modules
    between, found = flow.between, modules.astype(np.int64).copy()
    rows = np.repeat(np.arange(n), np.diff(between.indptr))
    out = np.bincount(rows, between.data, minlength=n)
    visits = np.bincount(found, out + flow.stay, minlength=n)
    crosses = found[rows] != found[between.indices]
    leaves = np.bincount(found[rows[crosses]], between.data[crosses], minlength=n)
    graph = _as_arrays(between)
    kernels_of("setwise.together", "walk_kernels").move_vertices(
        *graph, flow.stay, *_as_arrays(apart)[:2], found, visits, leaves, _ROUNDS
    )
    return in_order(found)


def _as_arrays(table: sp.csr_array) -> tuple[IntArray, IntArray, FloatArray]:
    whole = np.int64
    return (
        table.indptr.astype(whole),
        table.indices.astype(whole),
        table.data.astype(np.float64),
    )


def in_order(labels: IntArray) -> IntArray:
    """Labels numbered in the order of their first places.

    Examples
    --------
    >>> from setwise.together.modules import in_order
    >>> in_order(np.array([7, 2, 7]))
    array([0, 1, 0])
    """
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    place = np.empty(len(first), dtype=np.int64)
    place[np.argsort(first)] = np.arange(len(first))
    found: IntArray = place[codes.ravel()]
    return found


def code_length(flow: Flow, modules: IntArray) -> float:
    """Bits that describe a step of a walker, by modules (the map equation).

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together.modules import Flow, code_length
    >>> pairs = Flow.of(sp.csr_array(np.kron(np.eye(2), [[0, 1.0], [1, 0]])), np.zeros(4))
    >>> code_length(pairs, np.array([0, 0, 1, 1])), code_length(pairs, np.zeros(4, int))
    (1.0, 2.0)
    """

    def bits(shares: npt.NDArray[Any]) -> float:
        some = shares[shares > 0]
        return float((some * np.log2(some)).sum())

    between = flow.between
    rows = np.repeat(np.arange(len(modules)), np.diff(between.indptr))
    own = np.bincount(rows, between.data, minlength=len(modules)) + flow.stay
    crosses = modules[rows] != modules[between.indices]
    leaves = np.bincount(
        modules[rows[crosses]], between.data[crosses], minlength=modules.max() + 1
    )
    visits = np.bincount(modules, own)
    whole = bits(np.atleast_1d(leaves.sum()))
    return whole - 2 * bits(leaves) - bits(own) + bits(leaves + visits)
