"""Sparse codes as three plain arrays: cheap to cut, join and hand to a kernel."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise._support.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True)
class Codes:
    """Sparse codes, one per target, ready to be put beside others.

    ``counts`` says how many atoms each code has; ``atoms`` (ascending within a code) and
    ``values`` hold the numbers and coefficients of all codes, one code after the other.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.lasso import code_by_gram
    >>> codes = code_by_gram(np.array([[1.0, 0.6], [0.6, 1.0]]), 0.1, np.array([1]), rank=2)
    >>> codes.counts, codes.atoms, codes.values
    (array([1]), array([0]), array([0.5]))
    """

    counts: IntArray
    atoms: IntArray
    values: FloatArray

    @property
    def pointers(self) -> IntArray:
        """Where each code begins."""
        return np.concatenate([[0], np.cumsum(self.counts)])

    @property
    def arrays(self) -> tuple[IntArray, IntArray, FloatArray]:
        """Pointers, atoms and values, as the compiled loops take them."""
        return self.pointers, self.atoms, self.values

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
        """The codes of :meth:`replaced`, not put in order.

        Returns where each code begins and ends, and the atoms and values of the old codes
        followed by the new ones.
        """
        pointers = self.pointers
        if targets is None or new is None:
            return pointers[:-1], pointers[1:], self.atoms, self.values
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
    def none(n_targets: int) -> Codes:
        """Codes without any atom."""
        return Codes(np.zeros(n_targets, np.int64), np.zeros(0, np.int64), np.zeros(0))

    @staticmethod
    def join(parts: list[Codes]) -> Codes:
        """One after the other."""
        counts, atoms, values = zip(
            *((p.counts, p.atoms, p.values) for p in parts), strict=True
        )
        return Codes(np.concatenate(counts), np.concatenate(atoms), np.concatenate(values))
