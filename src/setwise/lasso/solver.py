"""The compiled lasso kernels behind NumPy and SciPy arrays."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.types import FloatArray, IntArray
from setwise.errors import ConvergenceWarning
from setwise.lasso.codes import Codes
from setwise.lasso.solver import MAX_STEPS, Scratch, run_with_room

__all__ = [
    "code_by_gram",
    "codes_changed_by",
    "factors_of",
    "gram_lasso",
    "lasso_codes",
    "optimality_violation",
]


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
    is_optimal: bool = False,
    factors: tuple[FloatArray, IntArray] | None = None,
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
    is_optimal : bool
        Whether the starts of old columns are their optimal codes on old columns: then new
        columns are looked at first.
    factors : pair of arrays, optional
        Cholesky factors of the starts, as :func:`factors_of` makes them: all of them, and
        where that of each target begins, -1 for those without one.

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
    kept, kept_at = factors or (np.empty(0), np.full(len(targets), -1))
    gram = np.ascontiguousarray(gram, dtype=np.float64)
    tail, strip = np.ascontiguousarray(border[:, : len(gram)].T), np.ascontiguousarray(border)
    n_known = len(gram) if is_optimal else 0
    cap = max(1, min(rank, len(gram) + len(border)))

    def run(n_done: int, room: int, scratch: Scratch, written: tuple[Any, ...]) -> int:
        done: int = kernels_of("setwise.lasso").code_columns(
            gram, tail, strip, targets, float(penalty), *start.arrays, n_known, kept, kept_at,
            n_done, *np.empty((2, room, room)), *scratch, cap, MAX_STEPS, *written,
        )  # fmt: skip
        return done

    codes, has_converged = run_with_room(run, len(targets), cap, len(gram) + len(border), start)
    if not has_converged.all():
        msg = (
            f"lasso: {(~has_converged).sum()} of {len(targets)} columns did not reach "
            f"their optimum in {MAX_STEPS} steps with at most {rank} atoms; their codes "
            "are approximate."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=2)
    return codes


def factors_of(gram: FloatArray, codes: Codes) -> tuple[FloatArray, IntArray]:
    """Cholesky factors of each code's atoms, packed, and where each of them begins.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.lasso import code_by_gram, factors_of
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> gram = columns.T @ columns
    >>> packed, begins = factors_of(gram, code_by_gram(gram, 0.1, np.arange(3), rank=2))
    >>> begins
    array([0, 3, 6])
    """
    sizes = codes.counts * (codes.counts + 1) // 2
    kept, kept_at = np.empty(sizes.sum()), np.cumsum(sizes) - sizes
    largest = int(codes.counts.max(initial=1))
    kernels_of("setwise.lasso").factorise(
        gram, codes.pointers, codes.atoms, np.empty((largest, largest)),
        np.empty(largest, np.int64), kept, kept_at,
    )  # fmt: skip
    return kept, kept_at


def codes_changed_by(tail: FloatArray, penalty: float, codes: Codes) -> IntArray:
    """Numbers of the codes that are no longer optimal when new columns come.

    A code ``a`` of a column ``x`` is, if and only if ``|b'(x - D a)|`` exceeds the penalty for
    no new column ``b``.

    Parameters
    ----------
    tail : array of shape (n_columns, n_new)
        Inner products of the columns with the new ones.
    penalty : float
        The paper's ``w``.
    codes : Codes
        One per column.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.lasso import code_by_gram, codes_changed_by
    >>> columns = np.array([[1.0, 0.8, 0.0], [0.0, 0.6, 1.0]])
    >>> codes = code_by_gram(columns.T @ columns, 0.5, np.arange(3), rank=2)
    >>> codes_changed_by(columns.T @ np.array([[-0.6], [0.8]]), 0.5, codes)
    array([0, 2])
    """
    is_changed = np.empty(len(codes), np.bool_)
    kernels_of("setwise.lasso").find_changed(
        np.ascontiguousarray(tail), float(penalty), *codes.arrays,
        np.empty(tail.shape[1]), is_changed,
    )  # fmt: skip
    return np.flatnonzero(is_changed)


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
        MAX_STEPS,
    )
    if not has_converged:
        msg = f"lasso: the optimum was not reached in {MAX_STEPS} steps."
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
