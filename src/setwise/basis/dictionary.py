"""Dictionary learning with an l1 bound on every code (paper eq. 19).

``min over B, a  of  mean_i 1/2 ||x_i - B a_i||^2   s.t.  ||a_i||_1 <= radius,  ||b_j|| <= 1``

This is the *constrained* form (mode 0 of SPAMS), not the penalised one. With ``radius`` 1 the
atoms behave like archetypes: unit vectors near the set, far from orthogonal.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray
from setwise.basis.base import Basis, principal_directions
from setwise.errors import ConvergenceWarning

# Limit for the code of one vector, far above any that was observed.
_MAX_STEPS = 100_000


@dataclass(frozen=True)
class Dictionary(Basis):
    """Atoms of a dictionary with an l1 bound on every code: the paper's basis.

    Parameters
    ----------
    radius : float, default=1.0
        The l1 bound (the paper's lambda).
    n_seeds : int, default=1
        Number of random starts; each makes layers of its own.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import Dictionary
    >>> (atoms,) = Dictionary(radius=2.0).columns(np.eye(3), (2,), np.random.default_rng(0))
    >>> atoms.shape
    (3, 2)
    """

    name: ClassVar[str] = "dictionary"
    radius: float = 1.0
    n_seeds: int = 1

    def __post_init__(self) -> None:
        check_number("Dictionary", "radius", self.radius)
        check_count("Dictionary", "n_seeds", self.n_seeds)

    @property
    def n_starts(self) -> int:
        """One for each seed."""
        return self.n_seeds

    def columns(
        self, vectors: FloatArray, dims: Sequence[int], rng: np.random.Generator
    ) -> list[FloatArray]:
        """See :func:`dictionary_bases`."""
        return dictionary_bases(vectors, dims, radius=self.radius, rng=rng)


def dictionary_bases(
    vectors: FloatArray, dims: Sequence[int], *, radius: float = 1.0, rng: np.random.Generator
) -> list[FloatArray]:
    """Learn one dictionary of ``min(d, rank)`` unit atoms (columns) for each ``d`` in ``dims``.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        One set, one vector per row, not all zero.
    dims : sequence of int
        Numbers of atoms.
    radius : float
        The l1 bound (the paper's lambda).
    rng : numpy.random.Generator
        Chooses the vectors from which a dictionary starts.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import dictionary_bases
    >>> (atoms,) = dictionary_bases(np.eye(3), (2,), rng=np.random.default_rng(0))
    >>> np.linalg.norm(atoms, axis=0).round(6)
    array([1., 1.])
    """
    # Atoms never leave the span of the set. Inside it, the work is exact, and as cheap for
    # 2000 features as for 40.
    frame = principal_directions(vectors)
    inside = np.ascontiguousarray(vectors @ frame)
    largest = min(max(dims), frame.shape[1])
    learned: dict[int, FloatArray] = {}
    for d, child in zip(dims, rng.spawn(len(dims)), strict=True):
        n_atoms = min(d, largest)
        if n_atoms not in learned:
            atoms, _ = learn_dictionary(inside, n_atoms, radius=radius, rng=child)
            learned[n_atoms] = frame @ atoms
    return [learned[min(d, largest)] for d in dims]


def learn_dictionary(
    vectors: FloatArray,
    n_atoms: int,
    *,
    radius: float,
    rng: np.random.Generator,
    tolerance: float = 1e-4,
    max_iter: int = 1000,
) -> tuple[FloatArray, float]:
    """Alternate exact coding and block-coordinate atom updates until the loss settles.

    Returned are the unit-norm columns and the mean of half the squared residuals.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.basis import learn_dictionary
    >>> atoms, loss = learn_dictionary(np.eye(2), 2, radius=1.0, rng=np.random.default_rng(0))
    >>> atoms.shape, loss < 0.1
    ((2, 2), True)
    """
    vectors = np.ascontiguousarray(vectors, dtype=np.float64)
    atoms = _first_atoms(vectors, n_atoms, rng)
    loss, has_settled, n_approximate = kernels_of("setwise.basis").alternate(
        vectors, atoms, float(radius), float(tolerance), max_iter, _MAX_STEPS
    )
    if n_approximate > 0:
        what = f"{n_approximate} codes on {n_atoms} atoms did not reach their optimum in"
        what = f"dictionary: {what} {_MAX_STEPS} steps; they keep the bound, but are inexact."
        warnings.warn(what, ConvergenceWarning, stacklevel=2)
    if not has_settled:
        what = f"the loss of {n_atoms} atoms had not settled after {max_iter} alternations"
        what = f"dictionary: {what}; the atoms are usable, but more would do better."
        warnings.warn(what, ConvergenceWarning, stacklevel=2)
    return (atoms / np.linalg.norm(atoms, axis=1, keepdims=True)).T, loss


def _first_atoms(vectors: FloatArray, n_atoms: int, rng: np.random.Generator) -> FloatArray:
    """``n_atoms`` random non-zero vectors of the set, distinct where possible, unit rows."""
    norms = np.linalg.norm(vectors, axis=1)
    usable = vectors[norms > 0] / norms[norms > 0, None]
    distinct = np.unique(usable.round(12), axis=0, return_index=True)[1]
    # A rank of n_atoms needs at least as many vectors; some may differ by less than 1e-12.
    copies = np.setdiff1d(np.arange(len(usable)), distinct)
    # In the order of their content, not of their place in the set.
    pool = np.concatenate([distinct, copies[: max(0, n_atoms - len(distinct))]])
    chosen = rng.choice(pool, size=n_atoms, replace=False)
    return usable[chosen]
