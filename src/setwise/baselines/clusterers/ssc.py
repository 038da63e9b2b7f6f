"""SSC, sparse subspace clustering: code points on each other, then cut the graph of codes.

After Elhamifar and Vidal, "Sparse subspace clustering: algorithm, theory, and applications"
(PAMI 2013), and their program of 2012. Its three versions of ADMM (lasso, affine, outliers)
are one here: ``A Z = T``, with a penalty for soft rows and a multiplier for exact rows. Rows of
features are soft, or exact with outliers, which have atoms for the errors; an affine constraint
is one more exact row, of ones. :mod:`setwise.lasso` solves the lasso version exactly.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.utils.validation import validate_data

from setwise._support.parameters import (
    check_choice,
    check_count,
    check_number,
    is_whole,
    refuse,
    seed_from,
)
from setwise._support.types import Adjacency, FloatArray, IntArray
from setwise.errors import ConvergenceWarning, reject
from setwise.features import unit_rows
from setwise.lasso import lasso_codes, optimality_violation

_EPSILON = float(np.finfo(np.float64).eps)
_ORTHOGONAL = 1e-12  # inner products of unit points below this are rounding
_NO_ROW = 1e-8  # norm of an isolated vertex's row of eigenvectors, by rounding


@dataclass(frozen=True)
class AdmmCodes:
    """Result of :func:`ssc_codes_admm`."""

    codes: sp.csc_array  # one code a column
    errors: FloatArray | None  # sparse errors of the points, with ``outliers``
    n_iter: int
    residual: float  # between the two copies of the codes, and of the exact rows


@dataclass(frozen=True)
class _System:
    """``atoms @ Z = targets``: the first ``n_soft`` rows nearly, the others exactly."""

    atoms: FloatArray
    targets: FloatArray
    weights: FloatArray  # of the rows, (n_rows, 1)
    n_soft: int
    error_scale: float  # of the atoms for errors; 0 where there are none


def ssc_penalty(gram: FloatArray, alpha: float) -> float:
    """The lasso weight that corresponds to SSC's ``alpha``, from products of unit points.

    ``lambda_Y = min_i max_j |y_i'y_j|``, ``j`` other than ``i``, over ``alpha``. Points
    orthogonal to all others do not count; where all are, the weight is ``1 / alpha``.
    """
    return _coherence(gram) / alpha


def _coherence(correlations: FloatArray) -> float:
    """``min_i max_j`` of the correlations of atoms (rows) with points (columns)."""
    sizes = np.abs(correlations)
    np.fill_diagonal(sizes[: sizes.shape[1]], 0.0)
    largest = sizes.max(axis=0)
    is_alone = largest <= _ORTHOGONAL
    return 1.0 if is_alone.all() else float(largest[~is_alone].min())


def ssc_codes_admm(
    points: FloatArray,
    alpha: float = 20.0,
    *,
    affine: bool = False,
    outliers: bool = False,
    zero_diag_z: bool = False,
    max_iter: int = 200,
    tol: float = 2e-4,
) -> AdmmCodes:
    """Code unit points on each other by the iteration of the authors of :class:`SSC`.

    Two copies of the codes, one that fits and one that is sparse, are brought together by
    multipliers; the sparse copy is returned. ``zero_diag_z`` also clears the diagonal of the
    fitting copy, as the authors' program does, and codes end up off the optimum.
    """
    system = _system(points, alpha, affine=affine, outliers=outliers)
    n_points, n_soft = len(points), system.n_soft
    solve = _ridge(np.sqrt(system.weights) * system.atoms, alpha)
    exact, wanted = system.atoms[n_soft:], system.targets[n_soft:]
    fixed = system.atoms.T @ (system.weights * system.targets)
    codes, multipliers = np.zeros(fixed.shape), np.zeros(fixed.shape)
    exact_multipliers = np.zeros(wanted.shape)
    n_iter, residual = 0, np.inf
    while n_iter < max_iter and residual > tol:
        fitted = solve(fixed + exact.T @ exact_multipliers + alpha * codes - multipliers)
        if zero_diag_z:
            np.fill_diagonal(fitted[:n_points], 0.0)
        target = fitted + multipliers / alpha
        codes = target - np.clip(target, -1.0 / alpha, 1.0 / alpha)
        np.fill_diagonal(codes[:n_points], 0.0)
        multipliers += alpha * (fitted - codes)
        gap = wanted - exact @ fitted
        exact_multipliers += system.weights[n_soft:] * gap
        residual = float(max(np.abs(fitted - codes).max(), np.abs(gap).max(initial=0.0)))
        n_iter += 1
    errors = (codes[n_points:] * system.error_scale).T if outliers else None
    return AdmmCodes(sp.csc_array(codes[:n_points]), errors, n_iter, residual)


def _system(points: FloatArray, alpha: float, *, affine: bool, outliers: bool) -> _System:
    columns = points.T
    n_features, n_points = columns.shape
    atoms, scale = columns, 0.0
    if outliers:
        # 1 / gamma, by the largest l1 norm of a point.
        scale = float(np.abs(columns).sum(axis=0).max()) / alpha
        atoms = np.hstack([columns, scale * np.eye(n_features)])
    weights = np.full((n_features, 1), alpha / _coherence(atoms.T @ columns))
    n_soft = 0 if outliers else n_features
    if not affine:
        return _System(atoms, columns, weights, n_soft, scale)
    of_codes = np.arange(atoms.shape[1]) < n_points
    atoms, columns = np.vstack([atoms, of_codes]), np.vstack([columns, np.ones(n_points)])
    return _System(atoms, columns, np.vstack([weights, alpha]), n_soft, scale)


def _ridge(matrix: FloatArray, alpha: float) -> Callable[[FloatArray], FloatArray]:
    """Multiplication by ``(matrix' matrix + alpha I)^-1``, by the smaller of two inverses."""
    n_rows, n_unknowns = matrix.shape
    if 2 * n_rows >= n_unknowns:
        inverse = linalg.inv(matrix.T @ matrix + alpha * np.eye(n_unknowns))
        return lambda right: inverse @ right
    inner = linalg.inv(matrix @ matrix.T + alpha * np.eye(n_rows)) @ matrix
    return lambda right: (right - matrix.T @ (inner @ right)) / alpha


def ssc_affinity(codes: sp.csc_array, keep: float = 1.0) -> sp.csr_array:
    """The graph ``W = |C| + |C'|`` of codes (columns), where the largest entry of each is 1.

    Each code keeps its largest entries, of a share ``keep`` of its l1 norm.
    """
    sizes = np.abs(codes.toarray())
    if keep < 1.0:
        order = np.argsort(-sizes, axis=0, kind="stable")
        largest_first = np.take_along_axis(sizes, order, axis=0)
        before = np.cumsum(largest_first, axis=0) - largest_first
        is_kept = before < keep * sizes.sum(axis=0)
        np.put_along_axis(sizes, order, np.where(is_kept, largest_first, 0.0), axis=0)
    sizes /= sizes.max(axis=0, initial=0.0) + _EPSILON
    return sp.csr_array(sizes + sizes.T)


def spectral_labels(affinity: Adjacency, n_clusters: int, random_state: Any = None) -> IntArray:
    """Normalised spectral clustering of a graph (Ng, Jordan and Weiss, 2001), as in SSC.

    k-means, the best of 20 starts, on unit rows of eigenvectors. An isolated vertex is in none
    of them; it lies at the origin and belongs to the cluster that k-means finds nearest.
    """
    from sklearn.cluster import KMeans  # takes long, and nothing else here needs it

    W = affinity.toarray() if sp.issparse(affinity) else np.asarray(affinity)
    root = np.sqrt(W.sum(axis=0) + _EPSILON)
    laplacian = np.eye(len(W)) - W / np.outer(root, root)
    vectors = linalg.eigh(laplacian, subset_by_index=[0, n_clusters - 1])[1]
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    embedding = np.where(norms > _NO_ROW, vectors / np.maximum(norms, _NO_ROW), 0.0)
    # Given None, scikit-learn would draw from NumPy's global generator.
    seed = seed_from(random_state, "SSC")
    seed = random_state if is_whole(random_state) else seed
    kmeans = KMeans(n_clusters, n_init=20, max_iter=1000, random_state=seed)
    return kmeans.fit_predict(embedding).astype(np.int64)


@dataclass(eq=False, repr=False)
class SSC(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Sparse subspace clustering: points that code each other lie in one subspace.

    Each row, scaled to unit norm, is coded on the others, ``min ||C||_1 + alpha / (2 lambda_Y)
    ||Y - Y C||^2`` with ``diag C = 0`` and ``lambda_Y = min_i max_j |y_i'y_j|`` (Elhamifar and
    Vidal, PAMI 2013). The graph ``|C| + |C'|`` is cut by normalised spectral clustering. The
    defaults are those of the authors' program.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces.
    alpha : float, default=20.0
        Weight of the fit. The authors use 20 for faces and 800 for motion.
    solver : {"admm", "exact"}, default="admm"
        The authors' iteration, or an exact lasso without ``affine`` and ``outliers``.
    affine : bool, default=False
        Whether codes must sum to 1, for subspaces that miss the origin.
    outliers : bool, default=False
        Whether single entries of a point may be wrong: ``Y = Y C + E`` with sparse ``E``.
    keep : float, default=1.0
        Share of its l1 norm that each code keeps, largest entries first.
    zero_diag_z : bool, default=False
        Repeat a step of the authors' program that ends up to several percent off the optimum.
    max_iter : int, default=200
        Most iterations of ADMM, which do not suffice for ``alpha=800``; that hardly matters.
    tol : float, default=2e-4
        Largest residual of ADMM; above it, a :class:`setwise.errors.ConvergenceWarning`.
    random_state : int, RandomState or None, default=None
        Starts of k-means.

    Attributes
    ----------
    labels_ : array of int, shape (n_samples,)
    n_clusters_ : int
    codes_ : csc_array of shape (n_samples, n_samples)
        One code a column.
    affinity_ : csr_array of shape (n_samples, n_samples)
        The graph that was cut.
    n_iter_ : int
        Iterations of ADMM; 1 for the exact solver.
    residual_ : float
        Of ADMM, or the exact solver's violation of the optimality conditions.

    Examples
    --------
    >>> from setwise import SSC
    >>> X = [[1, 0.1, 0], [1, 0.2, 0], [0, 0.1, 1], [0, 0.2, 1]]
    >>> labels = SSC(2, random_state=0).fit_predict(X)
    >>> bool(labels[0] == labels[1] != labels[2] == labels[3])
    True
    """

    n_clusters: int = 8
    _: KW_ONLY
    alpha: float = 20.0
    solver: str = "admm"
    affine: bool = False
    outliers: bool = False
    keep: float = 1.0
    zero_diag_z: bool = False
    max_iter: int = 200
    tol: float = 2e-4
    random_state: Any = None

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the rows of ``X``; ``y`` is ignored."""
        self._check_parameters()
        points = unit_rows(validate_data(self, X, dtype=np.float64))
        if len(points) < self.n_clusters:
            reject(
                f"SSC.fit: {len(points)} points cannot make {self.n_clusters} clusters. Give "
                "at least as many rows as n_clusters."
            )
        if self.solver == "exact":
            self._code_exactly(points)
        else:
            self._code_by_admm(points)
        self.affinity_ = ssc_affinity(self.codes_, self.keep)
        found = spectral_labels(self.affinity_, self.n_clusters, self.random_state)
        self.labels_ = np.unique(found, return_inverse=True)[1].astype(np.int64)
        self.n_clusters_ = int(self.labels_.max()) + 1
        return self

    def _code_exactly(self, points: FloatArray) -> None:
        gram = points @ points.T
        penalty = ssc_penalty(gram, self.alpha)
        self.codes_ = lasso_codes(gram, penalty, rank=min(points.shape))
        self.n_iter_, self.residual_ = 1, optimality_violation(gram, self.codes_, penalty)

    def _code_by_admm(self, points: FloatArray) -> None:
        names = ("alpha", "affine", "outliers", "zero_diag_z", "max_iter", "tol")
        found = ssc_codes_admm(points, **{name: getattr(self, name) for name in names})
        if found.residual > self.tol:
            msg = (
                f"SSC: the codes have a residual of {found.residual:.1e} after "
                f"{found.n_iter} iterations, above tol={self.tol:g}. Raise max_iter."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)
        self.codes_, self.n_iter_, self.residual_ = found.codes, found.n_iter, found.residual

    def _check_parameters(self) -> None:
        check_count("SSC", "n_clusters", self.n_clusters)
        check_count("SSC", "max_iter", self.max_iter)
        check_number("SSC", "alpha", self.alpha, above=1e-100, at_most=1e100)
        check_number("SSC", "tol", self.tol)
        check_number("SSC", "keep", self.keep, at_most=1.0)
        check_choice("SSC", "solver", self.solver, ("admm", "exact"))
        for name in ("affine", "outliers", "zero_diag_z"):
            given = getattr(self, name)
            check_choice("SSC", name, given, (False, True))
            if given and self.solver == "exact":
                refuse("SSC", name, 'False with solver="exact"; use solver="admm"', given)
