"""The alternation of dictionary learning as NumPy says it: the oracle of the compiled one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from tests.reference.l1_ball import l1_ball_codes

from setwise.basis.dictionary import _first_atoms


@dataclass(frozen=True)
class Learned:
    """Unit atoms as columns, their loss, and how many times vectors were coded."""

    atoms: np.ndarray
    loss: float
    n_alternations: int


def learn_literally(
    vectors: np.ndarray,
    n_atoms: int,
    *,
    radius: float,
    rng: np.random.Generator,
    tolerance: float = 1e-4,
    max_iter: int = 1000,
) -> Learned:
    """What ``learn_dictionary`` learns, from the same start."""
    atoms = _first_atoms(vectors, n_atoms, rng).T
    codes = np.zeros((len(vectors), n_atoms))
    loss, n_alternations = np.inf, 0
    while n_alternations < max_iter:
        n_alternations += 1
        codes = l1_ball_codes(atoms.T @ atoms, vectors @ atoms, radius, start=codes)
        residuals = vectors - codes @ atoms.T
        previous, loss = loss, 0.5 * float((residuals**2).sum(axis=1).mean())
        if previous - loss <= tolerance * loss:
            break
        atoms = updated(atoms, vectors, codes, residuals)
    return Learned(atoms / np.linalg.norm(atoms, axis=0), loss, n_alternations)


def updated(
    atoms: np.ndarray, vectors: np.ndarray, codes: np.ndarray, residuals: np.ndarray
) -> np.ndarray:
    """One sweep of block-coordinate descent over the atoms, codes fixed."""
    atoms = atoms.copy()
    usage = codes.T @ codes
    target = vectors.T @ codes
    badly_coded = iter(np.argsort(-(residuals**2).sum(axis=1), kind="stable"))
    for j in range(atoms.shape[1]):
        if usage[j, j] < 1e-10:
            replacement = vectors[next(badly_coded)]
            norm = np.linalg.norm(replacement)
            if norm > 0:
                atoms[:, j] = replacement / norm
            continue
        moved = atoms[:, j] + (target[:, j] - atoms @ usage[:, j]) / usage[j, j]
        atoms[:, j] = moved / max(float(np.linalg.norm(moved)), 1.0)
    return atoms
