"""SSC, sparse subspace clustering: code points on each other, then cut the graph of codes.

After Elhamifar and Vidal, "Sparse subspace clustering: algorithm, theory, and applications"
(PAMI 2013), and their program of 2012. Its three versions of ADMM (lasso, affine, outliers)
are one here: ``A Z = T``, with a penalty for soft rows and a multiplier for exact rows. In the
lasso version the rows are the features, and soft; with outliers they are exact, and there are
atoms for the errors; an affine constraint is one more exact row, of ones. The lasso version is
the problem of our graph, which :mod:`setwise.lasso` solves exactly.
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

__all__ = [
    "SSC",
    "AdmmCodes",
    "spectral_labels",
    "ssc_affinity",
    "ssc_codes_admm",
    "ssc_penalty",
]

_EPSILON = float(np.finfo(np.float64).eps)
# Inner products of unit points below this are rounding.
_ORTHOGONAL = 1e-12
# Norm of an isolated vertex's row of eigenvectors, by rounding.
_NO_ROW = 1e-8


@dataclass(frozen=True)
class AdmmCodes:
    """Result of :func:`ssc_codes_admm`.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.baselines.clusterers import ssc_codes_admm
    >>> ssc_codes_admm(np.array([[1.0, 0.0], [0.6, 0.8], [0.8, 0.6]])).codes.shape
    (3, 3)
    """

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
    """The lasso weight ``lambda_Y / alpha`` that corresponds to SSC's ``alpha``.

    ``lambda_Y = min_i max_j |y_i'y_j|``, ``j`` other than ``i``: above this weight, some point
    has an empty code. Points orthogonal to all others do not count, because their code is
    always empty; where all are, the weight is ``1 / alpha``.

    Parameters
    ----------
    gram : array of shape (n_points, n_points)
        Inner products of points of unit norm.
    alpha : float

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.baselines.clusterers import ssc_penalty
    >>> ssc_penalty(np.array([[1.0, 0.8], [0.8, 1.0]]), alpha=20.0)
    0.04
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
    """Code points on each other by the iteration of SSC's authors.

    Two copies of the codes, one that fits and one that is sparse, are brought together by
    multipliers. The fixed point is the exact optimum; the sparse copy is returned.

    Parameters
    ----------
    points : array of shape (n_points, n_features)
        One point per row, of unit norm.
    alpha, affine, outliers, tol
        See :class:`SSC`; ``alpha`` is ``mu_2``, and ``lambda_Y mu_1``.
    zero_diag_z : bool, default=False
        Whether the diagonal of the fitting copy is also set to zero, as in the authors'
        program. It is not a step of ADMM: codes then end up to several percent from the
        optimum. Only for reproducing that program.
    max_iter : int, default=200
        Most iterations (the program's ``maxIter`` counts one more).

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.baselines.clusterers import ssc_codes_admm
    >>> points = np.array([[1.0, 0.0], [0.8, 0.6], [0.0, 1.0], [0.6, 0.8]])
    >>> bool(ssc_codes_admm(points).residual < 1e-3)
    True
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
    if not affine:
        return _System(atoms, columns, weights, 0 if outliers else n_features, scale)
    row = np.zeros((1, atoms.shape[1]))
    row[0, :n_points] = 1.0
    return _System(
        np.vstack([atoms, row]),
        np.vstack([columns, np.ones((1, n_points))]),
        np.vstack([weights, [[alpha]]]),
        0 if outliers else n_features,
        scale,
    )


def _ridge(matrix: FloatArray, alpha: float) -> Callable[[FloatArray], FloatArray]:
    """Multiplication by ``(matrix' matrix + alpha I)^-1``, by the smaller of two inverses."""
    n_rows, n_unknowns = matrix.shape
    if 2 * n_rows >= n_unknowns:
        inverse = linalg.inv(matrix.T @ matrix + alpha * np.eye(n_unknowns))
        return lambda right: inverse @ right
    inner = linalg.inv(matrix @ matrix.T + alpha * np.eye(n_rows)) @ matrix
    return lambda right: (right - matrix.T @ (inner @ right)) / alpha


def ssc_affinity(codes: sp.csc_array, keep: float = 1.0) -> sp.csr_array:
    """The graph of codes: ``W = |C| + |C'|``, where the largest entry of each code is 1.

    Parameters
    ----------
    codes : csc_array of shape (n_points, n_points)
        One code a column.
    keep : float, default=1.0
        Share of its l1 norm that each code keeps, largest entries first (the paper's ``rho``;
        0.7 for motion, 1 for faces).

    Returns
    -------
    csr_array of shape (n_points, n_points)
        Symmetric edge weights. A point without code that is in no other's is isolated.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.baselines.clusterers import ssc_affinity
    >>> ssc_affinity(sp.csc_array([[0.0, 0.4], [0.2, 0.0]])).toarray().round(1)
    array([[0., 2.],
           [2., 0.]])
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

    k-means, the best of 20 starts, on the unit rows of the ``n_clusters`` eigenvectors of the
    smallest eigenvalues of ``I - D^-1/2 W D^-1/2``. An isolated vertex is in none of them; it
    lies at the origin and belongs to the cluster that k-means finds nearest.

    Parameters
    ----------
    affinity : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        Edge weights, dense or sparse.
    n_clusters : int
        At most the number of vertices.
    random_state : int, RandomState or None
        Starts of k-means.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.baselines.clusterers import spectral_labels
    >>> labels = spectral_labels(np.kron(np.eye(2), np.ones((2, 2))) + 0.01, 2, random_state=0)
    >>> bool(labels[0] == labels[1]), bool(labels[0] == labels[2])
    (True, False)
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

    Rows are scaled to unit norm. Each is coded on the others, ``min ||C||_1 + alpha / (2
    lambda_Y) ||Y - Y C||^2`` with ``diag C = 0`` and ``lambda_Y = min_i max_j |y_i'y_j|``
    (Elhamifar and Vidal, PAMI 2013); that is a lasso of weight ``lambda_Y / alpha``. Then the
    graph ``|C| + |C'|`` is cut into ``n_clusters`` by :func:`spectral_labels`. The defaults are
    those of the authors' program.

    Parameters
    ----------
    n_clusters : int, default=8
        Number of subspaces.
    alpha : float, default=20.0
        Weight of the fit. The authors use 20 for faces and 800 for motion.
    solver : {"admm", "exact"}, default="admm"
        The authors' iteration, or an exact lasso, which has neither ``affine`` nor
        ``outliers``.
    affine : bool, default=False
        Whether codes must sum to 1, for subspaces that miss the origin.
    outliers : bool, default=False
        Whether single entries of a point may be wrong: ``Y = Y C + E`` with sparse ``E``.
    keep : float, default=1.0
        Share of its l1 norm that each code keeps, see :func:`ssc_affinity`.
    zero_diag_z : bool, default=False
        Repeat a step of the authors' program, see :func:`ssc_codes_admm`.
    max_iter : int, default=200
        Most iterations of ADMM; a :class:`setwise.errors.ConvergenceWarning` tells when they do
        not suffice. With ``alpha=800`` they never do, which hardly changes the clusters.
    tol : float, default=2e-4
        Largest residual of ADMM.
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
        Last residual of ADMM, or the exact solver's violation of the optimality conditions.

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
        self.n_iter_ = 1
        self.residual_ = optimality_violation(gram, self.codes_, penalty)

    def _code_by_admm(self, points: FloatArray) -> None:
        names = ("alpha", "affine", "outliers", "zero_diag_z", "max_iter", "tol")
        found = ssc_codes_admm(points, **{name: getattr(self, name) for name in names})
        if found.residual > self.tol:
            msg = (
                f"SSC: the codes have a residual of {found.residual:.1e} after "
                f"{found.n_iter} iterations, above tol={self.tol:g}. Raise max_iter."
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)
        self.codes_ = found.codes
        self.n_iter_ = found.n_iter
        self.residual_ = found.residual

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
