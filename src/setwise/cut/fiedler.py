"""The exact Fiedler vector.

The null vector ``u`` of the normalised Laplacian is known, so it is moved out of the way
symmetrically: ``L + 3 u u'`` has the eigenpairs of ``L`` except that ``u`` now sits at 3, above
the spectrum, which ends at 2. No shift is needed, and nothing depends on the scale of the
weights (the paper's over-deflation needs one and does: see :mod:`setwise.cut.dfvc`).

Only signs matter for a cut, and the sign of an entry that is zero but for rounding means
nothing. For a computed pair with residual ``r`` and distance ``gap`` to the next eigenvalue,
the true vector differs by at most ``sqrt(2) r / gap``; the iteration stops once that is below
a fixed accuracy, and entries below the accuracy count as zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
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
# Lanczos goes on until residual / gap is below this.
_ENOUGH = 1e-8
# Or, where it is as large as sqrt(n) entries of a hundredth of the usual size.
_ENOUGH_FOR_SIGNS = 0.005
# A ratio that no iteration reaches: it takes all the steps that it may.
_NEVER = -1.0
_MOST_STEPS = 1000
# Once an eigenvalue is known this well, the next one may be its copy.
_COPIES_BELOW = 1e-7
# How far a local cut looks around its seeds.
LOCAL_STEPS = 8
_MOST_BYTES = 2**31
# Entries whose sizes differ by less than this share of them are of one size.
_SAME_SIZE = 1e-6


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
    operator = _Operator.of(adjacency)
    start = np.zeros(len(operator.null))
    start[seeds] = operator.null[seeds]
    pair = _largest(operator, start, _NEVER, LOCAL_STEPS)
    return Fiedler(with_canonical_sign(pair.vector), pair.connectivity, 0.0, pair.n_steps)


def exact_fiedler(adjacency: Adjacency, *, precise: bool | None = None) -> Fiedler:
    """Fiedler vector of the normalised Laplacian of a connected graph.

    Lanczos, or LAPACK for small dense graphs: the same contract.

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
    if isinstance(adjacency, np.ndarray) and len(adjacency) <= DENSE_LIMIT:
        return _by_dense_solver(adjacency)
    operator = _Operator.of(adjacency)
    n = len(operator.null)
    is_precise = n <= PRECISE_LIMIT if precise is None else precise
    enough = _ENOUGH if is_precise else _ENOUGH_FOR_SIGNS / np.sqrt(n)
    # A fixed start: the same graph always gives the same vector.
    pair = _largest(operator, _random(n), enough, _MOST_STEPS)
    return Fiedler(
        vector=with_canonical_sign(pair.vector),
        connectivity=pair.connectivity,
        accuracy=_accuracy(enough),
        n_iterations=pair.n_steps,
        has_converged=pair.has_converged,
    )


def _accuracy(enough: float) -> float:
    """How far a vector with ``residual / gap <= enough`` may be from the true one."""
    return float(np.sqrt(2.0) * enough)


def with_canonical_sign(vector: FloatArray) -> FloatArray:
    """Flip the vector so that its entry of largest size, the first of equals, is positive."""
    size = np.abs(vector)
    first = int(np.argmax(size >= (1.0 - _SAME_SIZE) * size.max()))
    return vector if vector[first] > 0 else -vector


def _by_dense_solver(adjacency: FloatArray) -> Fiedler:
    null = null_vector(adjacency)
    deflated = normalised_laplacian(adjacency) + 3.0 * np.outer(null, null)
    values, vectors = linalg.eigh(deflated, subset_by_index=[0, 0], check_finite=False)
    return Fiedler(
        vector=with_canonical_sign(vectors[:, 0]),
        connectivity=max(float(values[0]), 0.0),
        accuracy=_accuracy(_ENOUGH),
    )


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
        if (
            isinstance(adjacency, np.ndarray)
            and 2 * np.count_nonzero(adjacency) > adjacency.size
        ):
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


_NO_EDGES = Edges(np.zeros(1, np.int32), np.zeros(0, np.int32), np.zeros(0))


@cache
def _random_pool(size: int) -> FloatArray:
    return np.random.default_rng(0).standard_normal(size)


def _random(n: int) -> FloatArray:
    """Random numbers, always the same."""
    return _random_pool(max(1024, 1 << n.bit_length()))[:n]


class _LanczosRun:
    """Lanczos on ``D^-1/2 A D^-1/2`` away from its null vector, a few steps at a time.

    Parameters
    ----------
    operator : _Operator
        The matrix.
    start : array of shape (n_vertices,)
        First vector; what it holds of the null vector is taken out.
    most_steps : int
        Room to keep vectors; fewer where the space is exhausted or memory is short.
    """

    def __init__(self, operator: _Operator, start: FloatArray, most_steps: int) -> None:
        null = operator.null
        n = len(null)
        storage = np.float64 if n <= PRECISE_LIMIT else np.float32
        self.operator = operator
        self.is_full = n <= FULL_LIMIT
        self.most = min(n - 1, most_steps, _MOST_BYTES // (n * np.dtype(storage).itemsize))
        self.n_steps = 0
        self.vectors = np.empty((self.most + 1, n), dtype=storage)
        self.current = start - (null @ start) * null
        self.current /= np.linalg.norm(self.current)
        self.vectors[0] = self.current
        self.previous = np.zeros(n)
        self.diagonal, self.beside = np.empty(self.most), np.empty(self.most)

    def checkpoints(self) -> Iterator[int]:
        """When to look at the result: often enough to stop soon, as looking takes time."""
        step = 24
        while step < self.most:
            yield step
            step += max(12, step // 6)
        yield self.most

    def advance(self, checkpoint: int) -> bool:
        """Go on to a checkpoint; False if an invariant space was spanned before."""
        self.n_steps = kernels_of("setwise.cut").lanczos_steps(
            *self.operator, self.vectors, self.current, self.previous,
            self.diagonal, self.beside, self.n_steps, checkpoint, self.is_full,
        )  # fmt: skip
        return bool(self.n_steps == checkpoint)

    def top(self) -> tuple[float, float, FloatArray]:
        """Largest eigenvalue of the space spanned, the next one, and its coefficients."""
        top: tuple[float, float, FloatArray] = kernels_of("setwise.cut").top_of_tridiagonal(
            self.diagonal, self.beside, self.n_steps
        )
        return top

    def combine(self, coefficients: FloatArray) -> FloatArray:
        """The unit vector that has these coefficients on the Lanczos vectors."""
        used = self.vectors[: self.n_steps]
        vector = (coefficients.astype(used.dtype) @ used).astype(np.float64)
        return vector / np.linalg.norm(vector)


class _RitzPair(NamedTuple):
    """An approximate eigenpair of the normalised Laplacian."""

    vector: FloatArray
    connectivity: float
    n_steps: int
    has_converged: bool


def _largest(
    operator: _Operator, start: FloatArray, enough: float, most_steps: int
) -> _RitzPair:
    """Largest eigenpair away from the null vector: ``1 - lambda_2`` and the Fiedler vector.

    Stops where ``residual <= enough * gap``, the gap being the distance to the next eigenvalue
    of the same run, or where the space spanned is invariant, and so exact.
    """
    run = _LanczosRun(operator, start, most_steps)
    gap = 2.0
    for checkpoint in run.checkpoints():
        is_invariant = not run.advance(checkpoint)
        value, second, coefficients = run.top()
        residual = run.beside[run.n_steps - 1] * abs(coefficients[-1])
        # Read off before copies of the first eigenvalue come, if they can.
        if run.n_steps > 1 and (run.is_full or residual > _COPIES_BELOW):
            gap = value - second
        has_converged = bool(is_invariant or residual <= enough * gap)
        if has_converged:
            break
    return _RitzPair(
        vector=run.combine(coefficients),
        connectivity=max(1.0 - value, 0.0),
        n_steps=run.n_steps,
        # All of the space is spanned, unless rounding has brought copies.
        has_converged=has_converged or (run.is_full and run.n_steps == len(start) - 1),
    )
