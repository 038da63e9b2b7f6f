"""Sparse codes as three plain arrays, and the compiled lasso kernels that find them."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.compiled import kernels_of
from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.errors import ConvergenceWarning

MAX_STEPS = 100_000  # of one descent, more than any took
_ROOM = 64  # atoms that a working set has room for at first, besides those of a start
# Inverses of Gram matrices, packed, and where each begins.
Inverses = tuple[FloatArray, IntArray]


class Start(NamedTuple):
    """Codes to start from; those of old columns are optimal on the first ``n_known``.

    Start ``t`` is in ``atoms`` and ``values`` from ``begins[t]`` to ``ends[t]``. The inverse of
    its atoms' Gram matrix is in ``kept`` from ``kept_at[t]`` on, if not negative.
    """

    begins: IntArray
    ends: IntArray
    atoms: IntArray
    values: FloatArray
    n_known: int
    kept: FloatArray
    kept_at: IntArray

    @property
    def largest(self) -> int:
        """Atoms of the largest start."""
        return int((self.ends - self.begins).max(initial=0))

    def take(self, chosen: IntArray) -> Start:
        """Some of the starts."""
        begins, ends, kept_at = (
            part[chosen] for part in (self.begins, self.ends, self.kept_at)
        )
        return self._replace(begins=begins, ends=ends, kept_at=kept_at)


class Found(NamedTuple):
    """Codes found so far, whether each has converged, and whether it is that of the start.

    What is as at the start is not written again. Residuals are there of rows only.
    """

    pointers: IntArray
    atoms: IntArray
    values: FloatArray
    converged: BoolArray
    is_same: BoolArray
    residuals: npt.NDArray[np.float32] | None

    @classmethod
    def of(
        cls, n_targets: int, cap: int, residuals: npt.NDArray[np.float32] | None = None
    ) -> Found:
        """Room for codes of at most ``cap`` atoms."""
        return cls(
            pointers=np.zeros(n_targets + 1, np.int64),
            atoms=np.empty(n_targets * cap, np.int64),
            values=np.empty(n_targets * cap),
            converged=np.zeros(n_targets, np.bool_),
            is_same=np.zeros(n_targets, np.bool_),
            residuals=residuals,
        )


@dataclass(frozen=True)
class Codes:
    """Sparse codes, one per target, ready to be put beside others.

    ``counts`` says how many atoms each code has; ``atoms`` (ascending within a code) and
    ``values`` hold the numbers and coefficients of all codes, one code after the other.

    Examples
    --------
    >>> from setwise.lasso import code_by_gram
    >>> code_by_gram(np.array([[1.0, 0.6], [0.6, 1.0]]), 0.1, np.array([1]), rank=2)
    Codes(counts=array([1]), atoms=array([0]), values=array([0.5]))
    """

    counts: IntArray
    atoms: IntArray
    values: FloatArray

    @lazy
    def pointers(self) -> IntArray:
        """Where each code begins."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @property
    def arrays(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Pointers, atoms and values, as the compiled loops take them."""
        return self.pointers, self.atoms, self.values

    @property
    def begins_and_ends(self) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """Where each code begins and ends, atoms and values."""
        return self.pointers[:-1], self.pointers[1:], self.atoms, self.values

    def __len__(self) -> int:
        return len(self.counts)

    def take(self, chosen: IntArray) -> Codes:
        """Some of the codes, in the order asked for."""
        counts = self.counts[chosen]
        first = self.pointers[chosen]
        inside = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
        at = np.repeat(first, counts) + inside
        return Codes(counts, self.atoms[at], self.values[at])

    def replaced(self, targets: IntArray, new: Codes) -> Codes:
        """The codes ``targets`` (ascending) replaced by new ones; those beyond are added."""
        n_new = int((targets >= len(self)).sum())
        source = np.arange(len(self) + n_new)
        source[targets] = len(self) + np.arange(len(targets))
        return Codes.join([self, new]).take(source)

    def spliced(
        self, targets: IntArray | None = None, new: Codes | None = None
    ) -> tuple[IntArray, IntArray, IntArray, FloatArray]:
        """The codes of :meth:`replaced`, out of order: begins, ends, all atoms and values."""
        pointers = self.pointers
        if targets is None or new is None:
            return self.begins_and_ends
        n_added = int((targets >= len(self)).sum())
        begins, ends = (
            np.append(p, np.empty(n_added, np.int64)) for p in (pointers[:-1], pointers[1:])
        )
        begins[targets] = pointers[-1] + new.pointers[:-1]
        ends[targets] = pointers[-1] + new.pointers[1:]
        joined = Codes.join([self, new])
        return begins, ends, joined.atoms, joined.values

    def without_atoms(self, is_kept: BoolArray) -> tuple[Codes, IntArray]:
        """Codes after some atoms are gone and the rest renumbered, and which ones lost any."""
        stays = is_kept[self.atoms]
        owner = np.repeat(np.arange(len(self)), self.counts)
        number = np.cumsum(is_kept) - 1
        counts = np.bincount(owner[stays], minlength=len(self))
        codes = Codes(counts, number[self.atoms[stays]], self.values[stays])
        return codes, np.flatnonzero(counts < self.counts)

    def residuals(self, rows: FloatArray, targets: IntArray) -> FloatArray:
        """``x - D a`` for each code, the columns ``x`` being ``rows[targets]``."""
        by_target = sp.csr_array(
            (self.values.astype(rows.dtype), self.atoms, self.pointers),
            shape=(len(self), len(rows)),
        )
        return rows[targets] - by_target @ rows

    def to_csc(self, n_atoms: int) -> sp.csc_array:
        """One code per column of a sparse matrix."""
        # 32-bit indices, because scikit-learn's clusterers take no others.
        arrays = self.values, self.atoms.astype(np.int32), self.pointers.astype(np.int32)
        codes = sp.csc_array(arrays, shape=(n_atoms, len(self)))
        codes.has_sorted_indices = True
        return codes

    @staticmethod
    def found(found: Found) -> Codes:
        """The codes that a kernel has found."""
        size = found.pointers[-1]
        counts = np.diff(found.pointers)[~found.is_same]
        return Codes(counts, found.atoms[:size].copy(), found.values[:size].copy())

    @staticmethod
    def none(n_targets: int) -> Codes:
        """Codes without any atom."""
        return Codes(np.zeros(n_targets, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @staticmethod
    def join(parts: list[Codes]) -> Codes:
        """One after the other."""
        columns = zip(*((p.counts, p.atoms, p.values) for p in parts), strict=True)
        return Codes(*map(np.concatenate, columns))


def run_with_room(
    products: Any, targets: IntArray, penalty: float, start: Start, n_entering: int, cap: int
) -> tuple[Codes, BoolArray, npt.NDArray[np.float32] | None]:
    """Codes of at most ``cap`` atoms, whether each has converged, and residuals of rows.

    The kernel makes no arrays, because that is slow to compile, and stops where it lacks room.
    """
    kernels, rows, n = kernels_of("setwise.lasso"), products.rows, len(targets)
    is_pooled = rows is not None
    n_old = len(rows) if is_pooled else len(products.gram)
    n_atoms = n_old + len(products.extra) if is_pooled else n_entering
    floats, ints = np.empty((8, n_entering)), np.empty((3, n_entering), np.int64)
    ints[2] = np.arange(n_entering)
    marks = np.zeros(n_entering, np.bool_), np.zeros(n_atoms, np.bool_) if is_pooled else None
    residuals = np.empty((n, rows.shape[1]), np.float32) if is_pooled else None
    found = Found.of(n, cap, residuals)
    n_done, room = 0, _ROOM + start.largest
    while n_done < n:
        W = np.empty((room + 2, rows.shape[1])) if is_pooled else None
        space = kernels.Workspace(*np.empty((2, room, room)), W, floats, ints, *marks)
        n_done = kernels.code_columns(
            products,
            n_old,
            targets,
            float(penalty),
            start,
            space,
            n_done,
            cap,
            MAX_STEPS,
            found,
        )
        room *= 2
    return Codes.found(found), found.converged, found.residuals


def warn_of_steps(converged: BoolArray, n_targets: int, cap: int) -> None:
    """Warn of codes that are approximate."""
    if not converged.all():
        msg = (
            f"lasso: {(~converged).sum()} of {n_targets} columns did not reach their optimum "
            f"in {MAX_STEPS} steps with at most {cap} atoms; their codes are approximate."
        )
        warnings.warn(msg, ConvergenceWarning, stacklevel=3)


def _code(
    gram: FloatArray, border: FloatArray, targets: IntArray, penalty: float, start: Start,
    rank: int,
) -> tuple[IntArray, Codes]:  # fmt: skip
    """Places of the targets that keep not their start, and their codes.

    By the inverse, and carefully where atoms are nearly combinations of others.
    """
    kernels, n = kernels_of("setwise.lasso", "inverse_kernels"), len(gram) + len(border)
    gram = np.ascontiguousarray(gram, dtype=np.float64)
    tail = np.ascontiguousarray(border[:, : len(gram)].T)
    products = kernels.Bordered(gram, tail, np.ascontiguousarray(border))
    cap, n_done, room = max(1, min(rank, n)), 0, _ROOM + start.largest
    found = Found.of(len(targets), cap)
    while n_done < len(targets):
        n_done = kernels.code_by_inverse(
            products, targets, float(penalty), start, _room(room, n), n_done, cap, MAX_STEPS,
            found,
        )  # fmt: skip
        room *= 2
    changed, codes = np.flatnonzero(~found.is_same), Codes.found(found)
    if found.converged.all():
        return changed, codes
    left = np.flatnonzero(~found.converged)
    all_products = kernels_of("setwise.lasso").Products(*products)
    careful, converged, _ = run_with_room(
        all_products, targets[left], penalty, start.take(left), n, cap
    )
    warn_of_steps(converged, len(changed), cap)
    return changed, codes.replaced(np.searchsorted(changed, left), careful)


def _room(size: int, n_atoms: int) -> Any:
    """Arrays for so many active atoms, and gradients of so many."""
    kernels = kernels_of("setwise.lasso", "inverse_kernels")
    worst = np.empty(kernels.ENTER_AT_ONCE, np.int64)
    K, rows = np.empty((size, size)), np.empty((5, size))
    return kernels.Room(K, np.empty(size, np.int64), *rows, np.empty(n_atoms), worst)


def lasso_codes(gram: FloatArray, penalty: float, *, rank: int) -> sp.csc_array:
    """Code unit columns on all the *other* columns, exactly, one code per column (eq. 14).

    ``gram`` has the inner products of all columns, ``penalty`` is the paper's ``w``, and
    ``rank`` an upper bound on the rank of the columns: no code has more non-zeros. Of exact
    copies, the first to enter the active set, in the order of columns, keeps the weight.

    Examples
    --------
    >>> from setwise.lasso import lasso_codes
    >>> lasso_codes(np.array([[1.0, 0.6], [0.6, 1.0]]), 0.1, rank=2).toarray()
    array([[0. , 0.5],
           [0.5, 0. ]])
    """
    targets = np.arange(len(gram))
    return code_by_gram(gram, penalty, targets, rank=rank).to_csc(len(gram))


def code_by_gram(
    gram: FloatArray, penalty: float, targets: IntArray, *, rank: int,
    start: Codes | None = None, border: FloatArray | None = None,
) -> Codes:  # fmt: skip
    """Codes of some columns, ``targets``, on all the others, as in :func:`lasso_codes`.

    ``start`` holds a code for each target to start from, which changes the time, not the
    result. ``border`` has the inner products of more columns with all, as if ``gram`` had these
    rows at its end.

    Examples
    --------
    >>> from setwise.lasso import code_by_gram
    >>> code_by_gram(np.array([[1.0, 0.6], [0.6, 1.0]]), 0.1, np.array([1]), rank=2).values
    array([0.5])
    """
    border = np.empty((0, len(gram))) if border is None else border
    start = Codes.none(len(targets)) if start is None else start
    begin = Start(*start.begins_and_ends, 0, np.empty(0), np.full(len(targets), -1))
    return _code(gram, border, targets, penalty, begin, rank)[1]


def code_with_new(
    gram: FloatArray, penalty: float, border: FloatArray, *, rank: int, known: Codes,
    inverses: Inverses,
) -> tuple[IntArray, Codes]:  # fmt: skip
    """The columns that new ones change, the new ones last, and the codes of both.

    ``known`` are the optimal codes of the old columns, ``inverses`` those of
    :func:`inverses_of`. An old column changes where a new one is above the penalty
    (docs/insertion.md).

    Examples
    --------
    >>> from setwise.lasso import code_by_gram, code_with_new, inverses_of
    >>> gram, border = np.array([[1.0, 0.6], [0.6, 1.0]]), np.array([[0.9, 0.5, 1.0]])
    >>> known = code_by_gram(gram, 0.1, np.arange(2), rank=2)
    >>> kept = inverses_of(gram, known)
    >>> code_with_new(gram, 0.1, border, rank=3, known=known, inverses=kept)[0]
    array([0, 2])
    """
    n_old, n_new = len(gram), len(border)
    begins, ends = (np.append(p, np.zeros(n_new, np.int64)) for p in known.begins_and_ends[:2])
    kept_at = np.append(inverses[1], np.full(n_new, -1))
    start = Start(begins, ends, known.atoms, known.values, n_old, inverses[0], kept_at)
    return _code(gram, border, np.arange(n_old + n_new), penalty, start, rank)


def inverses_of(gram: FloatArray, codes: Codes) -> Inverses:
    """Inverses of the Gram matrices of each code's atoms, packed, and where each begins.

    Examples
    --------
    >>> from setwise.lasso import code_by_gram, inverses_of
    >>> gram = np.array([[1.0, 0.6], [0.6, 1.0]])
    >>> inverses_of(gram, code_by_gram(gram, 0.1, np.arange(2), rank=2))
    (array([1., 1.]), array([0, 1]))
    """
    sizes = codes.counts * (codes.counts + 1) // 2
    kept, kept_at = np.empty(sizes.sum()), np.cumsum(sizes) - sizes
    room = _room(int(codes.counts.max(initial=1)), 0)
    kernels_of("setwise.lasso", "inverse_kernels").invert(
        np.ascontiguousarray(gram), codes.pointers, codes.atoms, room, kept, kept_at
    )
    return kept, kept_at


def gram_lasso(
    gram: FloatArray, correlations: FloatArray, penalties: FloatArray,
    *, start: FloatArray | None = None,
) -> FloatArray:  # fmt: skip
    """Minimum of ``1/2 x'Gx - c'x + sum_i penalties_i |x_i|``, exactly, at any scale.

    ``gram`` is positive semidefinite, ``correlations`` must lie in its range, and penalties are
    positive. Where there are several minima, the ``start`` decides.

    Examples
    --------
    >>> from setwise.lasso import gram_lasso
    >>> gram_lasso(np.eye(2), np.array([3.0, 0.5]), np.array([1.0, 1.0]))
    array([2., 0.])
    """
    # The compiled lasso has one penalty, and absolute tolerances: in units where all penalties
    # equal the least, so that nothing overflows, and the rest is about 1.
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

    With ``g = D'(x - D a)``: ``g_j = penalty sign(a_j)`` where ``a_j != 0``, else ``|g_j| <=
    penalty``; the column itself is no atom.

    Examples
    --------
    >>> from setwise.lasso import lasso_codes, optimality_violation
    >>> gram = np.array([[1.0, 0.6], [0.6, 1.0]])
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
