"""The compiled lasso kernels behind NumPy and SciPy arrays."""

from __future__ import annotations

import warnings

import numpy as np
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.types import FloatArray, IntArray
from setwise.errors import ConvergenceWarning
from setwise.lasso.codes import Codes

__all__ = [
    "code_by_gram",
    "gram_lasso",
    "lasso_codes",
    "optimality_violation",
]

_MAX_STEPS = 100_000


def lasso_codes(gram: FloatArray, penalty: float, *, rank: int) -> sp.csc_array:
    """Code unit columns on all the *other* columns, exactly.

    For each column ``i``, ``argmin_a 1/2 ||x_i - D a||^2 + penalty ||a||_1`` with ``a_i = 0``
    (paper eq. 14). Where columns are exact copies the optimum is not unique; the copy that
    enters the active set first, in the order of the columns, keeps the weight.

    Parameters
    ----------
    gram : array of shape (n_columns, n_columns)
        Inner products of all columns.
    penalty : float
        The paper's ``w``.
    rank : int
        An upper bound on the rank of the columns; no code has more non-zeros.

    Returns
    -------
    csc_array of shape (n_columns, n_columns)
        One code per column.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> gram = columns.T @ columns
    >>> from setwise.lasso import lasso_codes
    >>> lasso_codes(gram, 0.1, rank=2).toarray().round(2)
    array([[ 0.  ,  0.7 , -0.83],
           [ 1.  ,  0.  ,  1.17],
           [-0.5 ,  0.5 ,  0.  ]])
    """
    targets = np.arange(len(gram))
    return code_by_gram(gram, penalty, targets, rank=rank).to_csc(len(gram))


def code_by_gram(
    gram: FloatArray,
    penalty: float,
    targets: IntArray,
    *,
    rank: int,
    start: Codes | None = None,
    border: FloatArray | None = None,
) -> Codes:
    """Codes of some columns on all the others, as in :func:`lasso_codes`.

    Parameters
    ----------
    gram, penalty, rank
        See there.
    targets : array of int
        Which columns to code.
    start : Codes, optional
        Codes to start from, one per target, none of them on the column itself. The result
        does not depend on them, only the time.
    border : array of shape (n_new, n_columns + n_new), optional
        Inner products of more columns with all, old and new: as if ``gram`` had these rows
        at its end, without copying it.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> gram = columns.T @ columns
    >>> from setwise.lasso import code_by_gram
    >>> code_by_gram(gram, 0.1, np.array([0, 1]), rank=2).counts
    array([2, 2])
    """
    border = np.empty((0, len(gram))) if border is None else border
    start = Codes.none(len(targets)) if start is None else start
    atoms, values, counts, has_converged = kernels_of("setwise.lasso").code_columns(
        np.ascontiguousarray(gram, dtype=np.float64),
        np.ascontiguousarray(border[:, : len(gram)].T),
        np.ascontiguousarray(border),
        targets,
        float(penalty),
        *start.arrays,
        max(1, min(rank, len(gram) + len(border))),
        _MAX_STEPS,
    )
    if not has_converged.all():
        msg = (
            f"lasso: {(~has_converged).sum()} of {len(targets)} columns did not reach "
            f"their optimum in {_MAX_STEPS} steps with at most {rank} atoms; their codes "
            "are approximate."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return Codes.from_table(atoms, values, counts)


def gram_lasso(
    gram: FloatArray,
    correlations: FloatArray,
    penalties: FloatArray,
    *,
    start: FloatArray | None = None,
) -> FloatArray:
    """Minimum of ``1/2 x'Gx - c'x + sum_i penalties_i |x_i|``, exactly, at any scale.

    Parameters
    ----------
    gram : array of shape (n, n)
        Positive semidefinite; ``correlations`` must lie in its range.
    correlations, penalties : arrays of shape (n,)
        Linear term, and positive weights of the l1 norm.
    start : array of shape (n,), optional
        Where to start; the result depends on it only where there are several.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.lasso import gram_lasso
    >>> gram_lasso(np.eye(2), np.array([3.0, 0.5]), np.array([1.0, 1.0]))
    array([2., 0.])
    """
    # In units in which all penalties are equal, and the rest is about 1: the compiled lasso
    # has one penalty, and absolute tolerances. The least one, so that nothing overflows.
    penalty = float(penalties.min())
    units = penalty / penalties
    scaled, wanted = gram * units[:, None] * units, correlations * units
    size = float(np.diag(scaled).max()) or 1.0
    largest = float(np.abs(wanted).max())
    if largest <= penalty:
        return np.zeros(len(gram))
    units = units * (largest / size)
    x = np.zeros(len(gram)) if start is None else start / units
    has_converged = kernels_of("setwise.lasso").lasso_on_gram(
        np.ascontiguousarray(scaled / size),
        np.ascontiguousarray(wanted / largest),
        penalty / largest,
        x,
        _MAX_STEPS,
    )
    if not has_converged:
        msg = f"lasso: the optimum was not reached in {_MAX_STEPS} steps."
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return x * units


def optimality_violation(gram: FloatArray, codes: sp.csc_array, penalty: float) -> float:
    """Largest violation of the lasso's optimality conditions over all columns and atoms.

    With ``g = D'(x - D a)``: ``g_j = penalty sign(a_j)`` where ``a_j != 0``, ``|g_j| <=
    penalty`` elsewhere, the column itself apart.

    Examples
    --------
    >>> import numpy as np
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> gram = columns.T @ columns
    >>> from setwise.lasso import lasso_codes, optimality_violation
    >>> optimality_violation(gram, lasso_codes(gram, 0.1, rank=2), 0.1) < 1e-9
    True
    """
    dense = codes.toarray()
    # By the sparse codes; the Gram matrix is symmetric.
    gradient = gram - (codes.T @ gram).T
    np.fill_diagonal(gradient, 0.0)
    active = np.abs(gradient - penalty * np.sign(dense))
    inactive = np.maximum(np.abs(gradient) - penalty, 0.0)
    return float(np.where(dense != 0, active, inactive).max(initial=0.0))
