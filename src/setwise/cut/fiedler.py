"""The two vectors along which a graph is cut: the exact Fiedler vector, and the paper's.

**Exact** (:func:`exact_fiedler`): Lanczos on ``D^-1/2 A D^-1/2``, away from its eigenvector ``u
= D^1/2 1``. With residual ``r`` and distance ``gap`` to the next eigenvalue, the true vector
differs by at most ``sqrt(2) r / gap``; entries below that accuracy count as zero. A Krylov
space shows nearly equal eigenvalues as one, and the gap is then wrong: where the eigenvalue is
small enough for that, a second start has to find the same vector, or a direct solver decides.

**Paper** (:func:`dfvc`), Algorithm 3: inverse iteration with ``M = L - u 1' - eta I``, where
``eta = 1 / vol^2``, until at most 1 % of the signs change. It cuts ``D^-1/2 v`` not at zero,
and depends on the order of the vertices where it stops early: docs/theory.md, "What DFVC
computes".
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np
from scipy import linalg
from scipy.linalg import lapack

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, FloatArray, IntArray
from setwise.cut.edges import Edges, normalised_laplacian

# Up to this many vertices, every Lanczos vector is made orthogonal to all before it. Without
# that, rounding brings copies of found eigenvalues, which does no harm to the first one.
FULL_LIMIT = 200
# Up to this many vertices, the vector is computed to rounding; beyond, until its signs are
# settled, and Lanczos vectors are kept in single precision.
PRECISE_LIMIT = 3000
# Lanczos stops where residual / gap is below this; beyond, where that is sqrt(n) entries of a
# hundredth of the usual size.
ENOUGH, _ENOUGH_FOR_SIGNS = 1e-8, 0.005
# Below this, lambda_2 may have neighbours that are nearly equal (clusters with weak links): a
# second start has to agree. Mixtures were found at distances of up to 1e-7 from lambda_3.
WEAK = 1e-3
_AGREEMENT = 4.0  # vectors of two starts differ by at most so many times the accuracy of one
_ROUNDING = 1e-14  # of an eigenvector, times the gap; eigenvalues closer than that are one
_NEVER = -1.0  # a ratio that no iteration reaches: it takes all the steps that it may
MOST_STEPS, LOCAL_STEPS, _MOST_BYTES = 1000, 8, 2**31
DFVC_LIMIT = 2000  # a QR of more vertices takes seconds and hundreds of megabytes


@dataclass(frozen=True)
class Fiedler:
    """A Fiedler vector and how it was found.

    Examples
    --------
    >>> from setwise.cut import exact_fiedler
    >>> found = exact_fiedler(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> np.sign(found.vector[[0, 2]]).tolist(), found.has_converged
    ([-1.0, 1.0], True)
    """

    vector: (
        FloatArray  #: unit eigenvector of the second smallest eigenvalue; top entry positive
    )
    connectivity: float  #: that eigenvalue, the algebraic connectivity
    #: if converged, distance to the true vector at most: smaller entries may be zero
    accuracy: float = 0.0
    n_iterations: int = 0  #: matrix applications or inverse iterations; 0 for a direct solver
    has_converged: bool = True  #: False at an iteration limit, or where two starts disagree
    #: how often each entry changed sign on the way; empty but for DFVC
    sign_switches: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def local_vector(adjacency: Adjacency, seeds: IntArray) -> Fiedler:
    """The vector of smallest Rayleigh quotient within a few steps from some vertices.

    It parts the cluster of the seeds from the rest, where the Fiedler vector parts *some*
    cluster: docs/theory.md, "Cuts of large graphs".
    """
    edges = Edges.of(adjacency)
    start = np.zeros(edges.n_vertices)
    start[seeds] = np.sqrt(edges.degrees[seeds])
    return _by_lanczos(edges, start, _NEVER, LOCAL_STEPS)


def exact_fiedler(adjacency: Adjacency, *, precise: bool | None = None) -> Fiedler:
    """Fiedler vector of the normalised Laplacian of a connected graph, sparse or dense.

    If ``precise``, it is computed to rounding, so that the order of the vertices does not
    matter, else until its signs are settled. By default, graphs of up to 3000 vertices are
    precise.

    Examples
    --------
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import exact_fiedler
    >>> exact_fiedler(adjacency).vector.round(2)
    array([ 0.51,  0.49, -0.49, -0.51])
    """
    edges = Edges.of(adjacency)
    n = edges.n_vertices
    is_precise = n <= PRECISE_LIMIT if precise is None else precise
    enough = ENOUGH if is_precise else _ENOUGH_FOR_SIGNS / np.sqrt(n)
    found = _by_lanczos(edges, start_vector(n), enough, MOST_STEPS)
    is_whole_space = n <= FULL_LIMIT and found.n_iterations == n - 1
    if found.connectivity >= WEAK or is_whole_space:
        return found
    if found.has_converged:
        again = _by_lanczos(edges, start_vector(n, 1), enough, MOST_STEPS)
        opposite = np.sign(found.vector @ again.vector)
        distance = float(np.linalg.norm(found.vector - opposite * again.vector))
        if again.has_converged and distance <= _AGREEMENT * found.accuracy:
            return found
        found = replace(found, accuracy=distance, has_converged=False)
    return found if n > PRECISE_LIMIT else _directly(edges, found)


def _directly(edges: Edges, found: Fiedler) -> Fiedler:
    """The vector by a dense solver, where Lanczos has ``found`` an approximate one."""
    null = np.sqrt(edges.degrees / edges.degrees.sum())
    deflated = normalised_laplacian(edges.toarray()) + 3.0 * np.outer(null, null)
    values, vectors = linalg.eigh(deflated, subset_by_index=[0, 1], check_finite=False)
    of_lanczos = float(np.sqrt(2.0) * ENOUGH)
    gap = float(values[1] - values[0])
    return Fiedler(
        vector=with_canonical_sign(vectors[:, 0]),
        connectivity=max(float(values[0]), 0.0),
        # Of a multiple eigenvalue, all vectors of a plane are Fiedler vectors.
        accuracy=max(of_lanczos, _ROUNDING / gap) if gap > _ROUNDING else of_lanczos,
    )


def _by_lanczos(edges: Edges, start: FloatArray, enough: float, most_steps: int) -> Fiedler:
    n = edges.n_vertices
    storage = np.dtype(np.float64 if n <= PRECISE_LIMIT else np.float32)
    n_kept = min(n - 1, most_steps, _MOST_BYTES // (n * storage.itemsize)) + 1
    vector, connectivity, n_steps, has_converged = kernels_of("setwise.cut").fiedler(
        *edges, edges.degrees, start, enough, n <= FULL_LIMIT, np.empty((n_kept, n), storage)
    )
    return Fiedler(
        vector=vector,
        connectivity=connectivity,
        # How far a vector with ``residual / gap <= enough`` may be from the true one.
        accuracy=float(np.sqrt(2.0) * max(enough, 0.0)),
        n_iterations=n_steps,
        has_converged=has_converged or enough == _NEVER,
    )


def with_canonical_sign(vector: FloatArray) -> FloatArray:
    """Flip the vector so that its entry of largest size, the first of equals, is positive."""
    flipped: FloatArray = kernels_of("setwise.cut").with_canonical_sign(vector)
    return flipped


@cache
def _random_pool(size: int, seed: int) -> FloatArray:
    return np.random.default_rng(seed).standard_normal(size)


def start_vector(n: int, seed: int = 0) -> FloatArray:
    """The same random numbers for every graph, the first of the same longer sequence."""
    return _random_pool(max(1024, 1 << n.bit_length()), seed)[:n]


def dfvc(adjacency: Adjacency, *, max_changes: float = 0.01, max_iter: int = 100) -> Fiedler:
    """Fiedler vector by over-deflated inverse iteration, stopped on signs (Algorithm 3).

    The order of the vertices decides the start vector. The iteration stops when at most the
    share ``max_changes`` of the signs (the paper's epsilon_s) changes, the arbitrary sign of
    the whole vector apart, or after ``max_iter`` steps, with ``has_converged`` False.

    Examples
    --------
    >>> from setwise.cut import dfvc
    >>> dfvc(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]])).has_converged
    True
    """
    edges = Edges.of(adjacency)
    kernels = kernels_of("setwise.cut")
    columns = kernels.over_deflated(*edges, edges.degrees)
    # Q itself, which would take as long again and more, is never formed.
    factors, taus, _, _ = lapack.dgeqrf(columns.T, lwork=32 * len(columns), overwrite_a=True)
    vector, switches, n_iterations, has_converged = kernels.settle_signs(
        factors.T, taus, np.sqrt(edges.degrees), max_changes, max_iter
    )
    return Fiedler(
        vector=with_canonical_sign(vector),
        connectivity=kernels.rayleigh_quotient(*edges, edges.degrees, vector),
        n_iterations=n_iterations,
        has_converged=has_converged,
        sign_switches=switches,
    )


def sign_switches(adjacency: Adjacency) -> IntArray | None:
    """How often each vertex changes sides in Algorithm 3, the paper's alarm.

    None for more than :data:`DFVC_LIMIT` vertices, whose dense orthogonal factor is too large.

    Examples
    --------
    >>> from setwise.cut import sign_switches
    >>> sign_switches(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]])).shape
    (3,)
    """
    n = adjacency.n_vertices if isinstance(adjacency, Edges) else adjacency.shape[0]
    return dfvc(adjacency).sign_switches if n <= DFVC_LIMIT else None
