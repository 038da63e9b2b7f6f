"""The exact Fiedler vector.

The null vector ``u`` of the normalised Laplacian is known, so it is moved out of the way
symmetrically: ``L + 3 u u'`` has the eigenpairs of ``L`` except that ``u`` now sits at 3, above
the spectrum, which ends at 2. No shift is needed, and nothing depends on the scale of the
weights (the paper's over-deflation needs one and does: see :mod:`setwise.cut.fiedler`).

Only signs matter for a cut, and the sign of an entry that is zero but for rounding means
nothing. For a computed pair with residual ``r`` and distance ``gap`` to the next eigenvalue,
the true vector differs by at most ``sqrt(2) r / gap``; the iteration stops once that is below
a fixed accuracy, and entries below the accuracy count as zero.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, FloatArray, IntArray
from setwise.cut.edges import Edges

__all__ = [
    "ENOUGH",
    "FULL_LIMIT",
    "MOST_STEPS",
    "PRECISE_LIMIT",
    "Fiedler",
    "exact_fiedler",
    "local_vector",
    "start_vector",
    "with_canonical_sign",
]

# Up to this many vertices, every Lanczos vector is made orthogonal to all before it. Beyond,
# that would cost more than the products with the matrix. Without it, rounding brings copies
# of eigenvalues that have been found, which does no harm to the first one.
FULL_LIMIT = 200
# Up to this many vertices, the vector is computed to rounding; beyond, until its signs are
# settled, and Lanczos vectors are kept in single precision.
PRECISE_LIMIT = 3000
# Lanczos goes on until residual / gap is below this.
ENOUGH = 1e-8
# Or, where it is as large as sqrt(n) entries of a hundredth of the usual size.
_ENOUGH_FOR_SIGNS = 0.005
# A ratio that no iteration reaches: it takes all the steps that it may.
_NEVER = -1.0
MOST_STEPS = 1000
# How far a local cut looks around its seeds.
LOCAL_STEPS = 8
_MOST_BYTES = 2**31


@dataclass(frozen=True)
class Fiedler:
    """A Fiedler vector and how it was found.

    Attributes
    ----------
    vector : array of shape (n_vertices,)
        Unit eigenvector of the second smallest eigenvalue; largest entry positive.
    connectivity : float
        That eigenvalue, the algebraic connectivity.
    accuracy : float
        Entries of at most this size cannot be told from zero.
    n_iterations : int
        Matrix applications or inverse iterations; 0 for a direct solver.
    has_converged : bool
        False when an iteration limit was hit.
    sign_switches : array of int, shape (n_vertices,)
        How often each entry changed sign on the way; empty unless the method iterates on
        the vector (DFVC).

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import exact_fiedler
    >>> found = exact_fiedler(adjacency)
    >>> np.sign(found.vector).tolist(), round(found.connectivity, 3)
    ([1.0, 1.0, -1.0, -1.0], 0.091)
    """

    vector: FloatArray
    connectivity: float
    accuracy: float = 0.0
    n_iterations: int = 0
    has_converged: bool = True
    sign_switches: IntArray = field(default_factory=lambda: np.zeros(0, dtype=np.int64))


def local_vector(adjacency: Adjacency, seeds: IntArray) -> Fiedler:
    """The vector of smallest Rayleigh quotient within a few steps from some vertices.

    In a graph of many clusters the smallest eigenvalues are nearly equal, one per cluster,
    and the Fiedler vector parts *some* cluster from the rest. This one parts the cluster that
    holds the seeds: it minimises the same quotient as the Fiedler vector, over the Krylov
    space of the seeds' indicator (:data:`LOCAL_STEPS` dimensions), away from the null vector.
    More dimensions would find slightly lower quotients farther away.
    """
    edges = Edges.of(adjacency)
    start = np.zeros(edges.n_vertices)
    start[seeds] = np.sqrt(edges.degrees[seeds])
    return _by_lanczos(edges, start, _NEVER, LOCAL_STEPS)


def exact_fiedler(adjacency: Adjacency, *, precise: bool | None = None) -> Fiedler:
    """Fiedler vector of the normalised Laplacian of a connected graph.

    By Lanczos.

    Parameters
    ----------
    adjacency : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        A connected graph, sparse or dense.
    precise : bool, optional
        Whether to go on until the vector is known to rounding, so that not even the order of
        the vertices matters, or only until its signs are settled. By default, precise up to
        :data:`PRECISE_LIMIT` vertices.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cut import exact_fiedler
    >>> exact_fiedler(adjacency).vector.round(2)
    array([ 0.51,  0.49, -0.49, -0.51])
    """
    edges = Edges.of(adjacency)
    n = edges.n_vertices
    is_precise = n <= PRECISE_LIMIT if precise is None else precise
    enough = ENOUGH if is_precise else _ENOUGH_FOR_SIGNS / np.sqrt(n)
    return _by_lanczos(edges, start_vector(n), enough, MOST_STEPS)


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
def _random_pool(size: int) -> FloatArray:
    return np.random.default_rng(0).standard_normal(size)


def start_vector(n: int) -> FloatArray:
    """Random numbers, always the same: the same graph always gives the same vector.

    Those of fewer vertices are the first of those of more.
    """
    return _random_pool(max(1024, 1 << n.bit_length()))[:n]
