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
from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy import linalg

from setwise.compiled import kernels_of
from setwise.cut.laplacian import degrees, normalised_laplacian, null_vector
from setwise.types import Adjacency, FloatArray, IntArray

__all__ = ["Fiedler", "exact_fiedler", "with_canonical_sign"]

# Above this many vertices of a sparse graph, Lanczos beats the dense solver (measured).
DENSE_LIMIT = 300
# The paper lets 1 % of the signs change; we let 1 % of them be unproven.
OPEN_FRACTION = 0.01
# Lanczos goes on until the vector is known to this.
_ENOUGH = 1e-8
# And the distance to the next eigenvalue to this share of it.
_ENOUGH_FOR_GAP = 0.1
_MOST_STEPS = 1000


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
        Entries whose sign is not certified.
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


def exact_fiedler(adjacency: Adjacency) -> Fiedler:
    """Fiedler vector of the normalised Laplacian of a connected graph.

    Dense for small graphs, deflated Lanczos for large sparse ones: the same contract.
    """
    if sp.issparse(adjacency) and adjacency.shape[0] > DENSE_LIMIT:
        return _by_lanczos(adjacency)
    dense = adjacency.toarray() if sp.issparse(adjacency) else adjacency
    return _by_dense_solver(dense)


def with_canonical_sign(vector: FloatArray) -> FloatArray:
    """Flip the vector so that its entry of largest size is positive."""
    return vector if vector[np.abs(vector).argmax()] > 0 else -vector


def _by_dense_solver(adjacency: FloatArray) -> Fiedler:
    laplacian = normalised_laplacian(adjacency)
    null = null_vector(adjacency)
    deflated = laplacian + 3.0 * np.outer(null, null)
    last = min(1, len(null) - 1)
    values, vectors = linalg.eigh(deflated, subset_by_index=[0, last], check_finite=False)
    return _certified(laplacian, values, vectors[:, 0], n_iterations=0)


def _by_lanczos(adjacency: sp.csr_array) -> Fiedler:
    """Lanczos on ``D^-1/2 A D^-1/2``, whose largest eigenvalue but one is ``1 - lambda_2``.

    One run finds the vector to ``_ENOUGH``. A second one, away from that vector, finds how
    far the next eigenvalue is: the first run cannot tell, because a Krylov space holds one
    vector of a multiple eigenvalue however often it repeats.
    """
    null = null_vector(adjacency)
    n = len(null)
    scale = 1.0 / np.sqrt(degrees(adjacency))
    row = np.repeat(np.arange(n), np.diff(adjacency.indptr))
    weights = adjacency.data * scale[row] * scale[adjacency.indices]
    matrix = (adjacency.indptr, adjacency.indices, weights, null)
    # Fixed starts: the same graph always gives the same vector.
    start, other_start = np.random.default_rng(0).standard_normal((2, n))
    found = _largest(matrix, start, lambda pair: pair.residual <= _ENOUGH * pair.gap)
    following = _largest(
        *(matrix, other_start),
        lambda pair: pair.residual <= _ENOUGH_FOR_GAP * (found.value - pair.value),
        away_from=found.vector,
    )
    laplacian = sp.csr_array(
        (-weights, adjacency.indices, adjacency.indptr), shape=(n, n)
    ) + sp.eye_array(n)
    return _certified(
        laplacian,
        1.0 - np.array([found.value, following.value + following.residual]),
        found.vector,
        n_iterations=found.n_steps + following.n_steps,
        has_converged=found.residual <= _ENOUGH,
    )


@dataclass(frozen=True)
class _RitzPair:
    """An approximate eigenpair; ``gap`` is the distance to the next one of the same run."""

    value: float
    vector: FloatArray
    residual: float
    gap: float
    n_steps: int


def _largest(
    matrix: tuple[IntArray, IntArray, FloatArray, FloatArray],
    start: FloatArray,
    is_enough: Callable[[_RitzPair], bool],
    away_from: FloatArray | None = None,
) -> _RitzPair:
    """Largest eigenpair away from the null vector, and from one vector more if given."""
    null = matrix[-1]
    known = [] if away_from is None else [away_from]
    start = start - (null @ start) * null
    for vector in known:
        start -= (vector @ start) * vector
    first = len(known)
    most = min(len(null) - 1, first + _MOST_STEPS)
    vectors = np.empty((most + 1, len(null)))
    vectors[: first + 1] = [*known, start / np.linalg.norm(start)]
    diagonal, beside = np.empty(most), np.empty(most)
    done, checkpoint = first, first + 16
    while True:
        checkpoint = min(checkpoint, most)
        steps = kernels_of("setwise.cut").lanczos_steps(
            *matrix, vectors, diagonal, beside, done, checkpoint
        )
        is_last = steps < checkpoint or steps == most
        done = steps
        size = done - first
        values, inside = linalg.eigh_tridiagonal(
            diagonal[first:done],
            beside[first : done - 1],
            select="i",
            select_range=(max(size - 2, 0), size - 1),
        )
        pair = _RitzPair(
            value=float(values[-1]),
            vector=inside[:, -1] @ vectors[first:done],
            residual=float(beside[done - 1] * abs(inside[-1, -1])),
            gap=float(values[-1] - values[0]),
            n_steps=size,
        )
        if is_last or is_enough(pair):
            return pair
        checkpoint = done + max(8, size // 3)


def _certified(
    laplacian: Adjacency,
    values: FloatArray,
    vector: FloatArray,
    *,
    n_iterations: int,
    has_converged: bool = True,
) -> Fiedler:
    """Count the entries whose sign the residual and the eigengap leave open."""
    vector = with_canonical_sign(vector)
    connectivity = max(float(values[0]), 0.0)
    residual = float(np.linalg.norm(laplacian @ vector - values[0] * vector))
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
