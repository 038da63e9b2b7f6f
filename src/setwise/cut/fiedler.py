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

from dataclasses import dataclass, field

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from setwise.cut.laplacian import normalised_laplacian, null_vector
from setwise.types import Adjacency, FloatArray, IntArray

__all__ = ["Fiedler", "exact_fiedler", "with_canonical_sign"]

# Above this many vertices of a sparse graph, Lanczos beats the dense solver (measured).
DENSE_LIMIT = 300
# The paper lets 1 % of the signs change; we let 1 % of them be unproven.
OPEN_FRACTION = 0.01


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
    laplacian = normalised_laplacian(adjacency)
    null = null_vector(adjacency)
    n = len(null)
    n_products = 0

    def flipped(x: FloatArray) -> FloatArray:
        """``2 I - L - 2 u u'``: the Fiedler vector on top, ``u`` at the bottom."""
        nonlocal n_products
        n_products += 1
        x = x.ravel()
        return 2.0 * x - laplacian @ x - 2.0 * (null @ x) * null

    operator = LinearOperator((n, n), matvec=flipped, dtype=np.float64)
    # A fixed start: the same graph always gives the same vector.
    start = np.random.default_rng(0).standard_normal(n)
    start -= (null @ start) * null
    for tolerance in (1e-7, 1e-10, 1e-14):
        try:
            values, vectors = eigsh(
                operator, k=2, which="LA", v0=start, tol=tolerance, ncv=min(n, 32)
            )
        except ArpackNoConvergence:
            break
        order = np.argsort(-values)
        found = _certified(
            laplacian,
            2.0 - values[order],
            vectors[:, order[0]],
            n_iterations=n_products,
        )
        if not found.is_ambiguous:
            return found
        start = vectors.sum(axis=1)
    return _by_dense_solver(adjacency.toarray())


def _certified(
    laplacian: Adjacency, values: FloatArray, vector: FloatArray, *, n_iterations: int
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
    )
