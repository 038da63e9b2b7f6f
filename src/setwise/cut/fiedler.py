"""The exact Fiedler vector, and a certificate for its signs.

The null vector ``u`` of the normalised Laplacian is known, so it is moved out of the way
symmetrically: ``L + 3 u u'`` has the eigenpairs of ``L`` except that ``u`` now sits at 3, above
the spectrum, which ends at 2. No shift is needed, and nothing depends on the scale of the
weights (the paper's over-deflation needs one and does: see :mod:`setwise.cut.dfvc`).

Only signs matter for a cut. For a computed pair with residual ``r`` and distance ``gap`` to
the next eigenvalue, the true vector differs by at most ``sqrt(2) r / gap``, so every entry
larger than that has its final sign; the others are *open*.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from scipy import linalg

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, FloatArray, IntArray
from setwise.cut.edges import Edges
from setwise.cut.laplacian import normalised_laplacian, null_vector

__all__ = [
    "DENSE_LIMIT",
    "FULL_LIMIT",
    "PRECISE_LIMIT",
    "Fiedler",
    "exact_fiedler",
    "local_vector",
    "with_canonical_sign",
]

# Above this many vertices of a dense graph, Lanczos beats LAPACK (measured).
DENSE_LIMIT = 300
# Up to this many vertices, every Lanczos vector is made orthogonal to all before it. Beyond,
# that would cost more than the products with the matrix. Without it, rounding brings copies
# of eigenvalues that have been found, which does no harm to the first one.
FULL_LIMIT = 200
# Up to this many vertices, the vector is computed to rounding; beyond, until its signs are
# settled, and Lanczos vectors are kept in single precision.
PRECISE_LIMIT = 3000
# The paper lets 1 % of the signs change; we let 1 % of them be unproven.
OPEN_FRACTION = 0.01
# Lanczos goes on until the vector is known to this.
_ENOUGH = 1e-8
# Or, where it is as large as sqrt(n) entries of a hundredth of the usual size.
_ENOUGH_FOR_SIGNS = 0.005
# And the distance to the next eigenvalue to this share of it.
_ENOUGH_FOR_GAP = 0.1
_MOST_STEPS = 1000
# Once an eigenvalue is known this well, the next one may be its copy.
_COPIES_BELOW = 1e-7
# How far a local cut looks around its seeds.
LOCAL_STEPS = 8
_MOST_BYTES = 2**31


@dataclass(frozen=True)
class Fiedler:
    """A Fiedler vector and how far its signs can be trusted.

    Attributes
    ----------
    vector : array of shape (n_vertices,)
        Unit eigenvector of the second smallest eigenvalue; largest entry positive.
    connectivity : float
        That eigenvalue, the algebraic connectivity.
    n_iterations : int
        Matrix applications or inverse iterations; 0 for a direct solver.
    n_open : int
        Entries whose sign is not certified; 0 where nobody asked.
    is_ambiguous : bool
        More than 1 % of the signs are open: another cut may be as good.
    has_converged : bool
        False when an iteration limit was hit.
    sign_switches : array of int, shape (n_vertices,)
        How often each entry changed sign on the way; empty unless the method iterates on
        the vector (DFVC).
    """

    vector: FloatArray
    connectivity: float
    n_iterations: int = 0
    n_open: int = 0
    is_ambiguous: bool = False
    has_converged: bool = True
    sign_switches: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def local_vector(adjacency: Adjacency, seeds: IntArray) -> Fiedler:
    """The vector of smallest Rayleigh quotient within a few steps from some vertices.

    In a graph of many clusters the smallest eigenvalues are nearly equal, one a cluster, and
    the Fiedler vector parts *some* cluster from the rest. This one parts the cluster that
    holds the seeds: it minimises the same quotient as the Fiedler vector, over the Krylov
    space of the seeds' indicator (:data:`LOCAL_STEPS` dimensions), away from the null vector.
    More dimensions would find slightly lower quotients farther away.
    """
    operator = _Operator.of(adjacency)
    start = np.zeros(len(operator.null))
    start[seeds] = operator.null[seeds]
    found = _largest(operator, start, lambda pair: False, most_steps=LOCAL_STEPS)
    return Fiedler(
        vector=with_canonical_sign(found.vector),
        connectivity=max(1.0 - found.value, 0.0),
        n_iterations=found.n_steps,
    )


def exact_fiedler(
    adjacency: Adjacency, *, certify: bool = True, precise: bool | None = None
) -> Fiedler:
    """Fiedler vector of the normalised Laplacian of a connected graph.

    Lanczos, or LAPACK for small dense graphs: the same contract.

    Parameters
    ----------
    adjacency : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        A connected graph, sparse or dense.
    certify : bool
        Whether to find out how many signs are proven. It takes about half as long again; the
        vector is the same either way.
    precise : bool, optional
        Whether to go on until the vector is known to rounding, so that not even the order of
        the vertices matters, or only until its signs are settled. By default, precise up to
        :data:`PRECISE_LIMIT` vertices.
    """
    if isinstance(adjacency, np.ndarray) and len(adjacency) <= DENSE_LIMIT:
        return _by_dense_solver(adjacency)
    operator = _Operator.of(adjacency)
    n = len(operator.null)
    is_precise = n <= PRECISE_LIMIT if precise is None else precise
    enough = _ENOUGH if is_precise else _ENOUGH_FOR_SIGNS / np.sqrt(n)
    return _by_lanczos(operator, enough, certify)


def with_canonical_sign(vector: FloatArray) -> FloatArray:
    """Flip the vector so that its entry of largest size is positive."""
    return vector if vector[np.abs(vector).argmax()] > 0 else -vector


def _by_dense_solver(adjacency: FloatArray) -> Fiedler:
    laplacian = normalised_laplacian(adjacency)
    null = null_vector(adjacency)
    deflated = laplacian + 3.0 * np.outer(null, null)
    last = min(1, len(null) - 1)
    values, vectors = linalg.eigh(deflated, subset_by_index=[0, last], check_finite=False)
    vector = vectors[:, 0]
    residual = float(np.linalg.norm(laplacian @ vector - values[0] * vector))
    return _certified(residual, values, vector, n_iterations=0)


class _Operator(NamedTuple):
    """``D^-1/2 A D^-1/2``, as the compiled loops take it, and its known eigenvector."""

    indptr: npt.NDArray[np.int32]
    indices: npt.NDArray[np.uint32]
    data: FloatArray
    dense: FloatArray
    scale: FloatArray
    null: FloatArray

    @classmethod
    def of(cls, adjacency: Adjacency) -> _Operator:
        if isinstance(adjacency, np.ndarray):
            dense, edges = np.ascontiguousarray(adjacency, dtype=np.float64), _NO_EDGES
            degree = dense.sum(axis=1)
        else:
            dense, edges = np.empty((0, 0)), Edges.of(adjacency)
            degree = edges.degrees
        root = np.sqrt(degree)
        # As unsigned numbers: Numba asks of every other index whether it is negative.
        indices = edges.indices.view(np.uint32)
        null = root / np.linalg.norm(root)
        return cls(edges.indptr, indices, edges.data, dense, 1.0 / root, null)

    def __matmul__(self, vector: FloatArray) -> FloatArray:
        scaled = self.scale * vector
        if len(self.dense):
            return self.scale * (self.dense @ scaled)
        edges = Edges(self.indptr, self.indices.view(np.int32), self.data)
        return self.scale * (edges.to_csr() @ scaled)


_NO_EDGES = Edges(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0))


def _by_lanczos(operator: _Operator, enough: float, certify: bool) -> Fiedler:
    """Lanczos on ``D^-1/2 A D^-1/2``, whose largest eigenvalue but one is ``1 - lambda_2``.

    One run finds the vector. A second one, away from that vector, finds how far the next
    eigenvalue is: the first run cannot tell, because a Krylov space holds one vector of a
    multiple eigenvalue however often it repeats.
    """
    n = len(operator.null)
    # Fixed starts: the same graph always gives the same vector.
    any_start = _random(n + 1)
    found = _largest(operator, any_start[:n], lambda pair: pair.residual <= enough * pair.gap)
    if not certify:
        return Fiedler(
            vector=with_canonical_sign(found.vector),
            connectivity=max(1.0 - found.value, 0.0),
            n_iterations=found.n_steps,
            has_converged=found.is_enough,
        )
    if n == 2:  # there is no other eigenvalue
        return _certified(0.0, np.array([1.0 - found.value]), found.vector, n_iterations=1)
    following = _largest(
        operator,
        any_start[1:],
        lambda pair: pair.residual <= _ENOUGH_FOR_GAP * (found.value - pair.value),
        away_from=found.vector,
    )
    return _certified(
        float(np.linalg.norm(operator @ found.vector - found.value * found.vector)),
        1.0 - np.array([found.value, following.value + following.residual]),
        found.vector,
        n_iterations=found.n_steps + following.n_steps,
        has_converged=found.is_enough,
    )


@cache
def _random_pool(size: int) -> FloatArray:
    return np.random.default_rng(0).standard_normal(size)


def _random(n: int) -> FloatArray:
    """Random numbers, always the same."""
    return _random_pool(max(1024, 1 << (n - 1).bit_length()))[:n]


@dataclass(frozen=True)
class _RitzPair:
    """An approximate eigenpair; ``gap`` is the distance to the next one of the same run."""

    value: float
    residual: float
    gap: float
    n_steps: int
    vector: FloatArray
    is_enough: bool


def _largest(
    operator: _Operator,
    start: FloatArray,
    is_enough: Callable[[_RitzPair], bool],
    *,
    away_from: FloatArray | None = None,
    most_steps: int | None = None,
) -> _RitzPair:
    """Largest eigenpair away from the null vector, and from one vector more if given."""
    kernels = kernels_of("setwise.cut")
    null = operator.null
    n = len(null)
    is_full = n <= FULL_LIMIT
    first = 0 if away_from is None else 1
    storage = np.float64 if n <= PRECISE_LIMIT else np.float32
    limit = _MOST_STEPS if most_steps is None else most_steps
    most = min(n - 1, first + limit, _MOST_BYTES // (n * np.dtype(storage).itemsize))
    vectors = np.empty((most + 1, n), dtype=storage)
    current = start - (null @ start) * null
    if away_from is not None:
        vectors[0] = away_from
        current -= (away_from @ current) * away_from
    current /= np.linalg.norm(current)
    vectors[first] = current
    previous = np.zeros(n)
    diagonal, beside = np.empty(most), np.empty(most)
    done, checkpoint = first, first + 24
    gap = 2.0
    while True:
        checkpoint = min(checkpoint, most)
        steps = kernels.lanczos_steps(
            *(*operator, vectors, current, previous, diagonal, beside),
            *(first, done, checkpoint, is_full),
        )
        is_last = steps < checkpoint or steps == most
        done = steps
        value, second, inside = kernels.top_of_tridiagonal(diagonal, beside, first, done)
        residual = beside[done - 1] * abs(inside[-1])
        if is_full or residual > _COPIES_BELOW:
            gap = value - second if done - first > 1 else 2.0
        pair = _RitzPair(
            value=value,
            residual=residual,
            gap=gap,
            n_steps=done - first,
            vector=np.empty(0),
            is_enough=False,
        )
        found = steps < checkpoint or is_enough(pair)
        if is_last or found:
            vector = (inside.astype(storage) @ vectors[first:done]).astype(np.float64)
            vector /= np.linalg.norm(vector)
            return replace(pair, vector=vector, is_enough=found or done == n - 1)
        checkpoint = done + max(12, (done - first) // 6)


def _certified(
    residual: float,
    values: FloatArray,
    vector: FloatArray,
    *,
    n_iterations: int,
    has_converged: bool = True,
) -> Fiedler:
    """Count the entries whose sign the residual and the eigengap leave open."""
    vector = with_canonical_sign(vector)
    connectivity = max(float(values[0]), 0.0)
    residual += np.finfo(np.float64).eps
    gap = float(values[-1] - values[0]) - residual if len(values) > 1 else 2.0
    bound = np.sqrt(2.0) * residual / gap if gap > 0 else np.inf
    n_open = int((np.abs(vector) <= bound).sum())
    return Fiedler(
        vector=vector,
        connectivity=connectivity,
        n_iterations=n_iterations,
        n_open=n_open,
        is_ambiguous=n_open > OPEN_FRACTION * len(vector),
        has_converged=has_converged,
    )
