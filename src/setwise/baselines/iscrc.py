"""Image set based collaborative representation: one hull against all classes at once."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np

from setwise._support.parameters import check_count, check_number, seed_from
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import Baseline
from setwise.basis.dictionary import dictionary_bases
from setwise.features import unit_rows
from setwise.lasso import gram_lasso
from setwise.sets import SetBatch

__all__ = ["ISCRC"]


def collaborate(
    gram: FloatArray,
    vectors: FloatArray,
    atoms: FloatArray,
    *,
    penalty_gallery: float,
    penalty_probe: float,
    n_iter: int,
) -> tuple[FloatArray, FloatArray]:
    """Weights ``a`` of a set's vectors and ``b`` of all atoms that make two points meet.

    ``min over a, b of 1/2 ||A'a - D b||^2 + penalty_gallery ||b||_1 + penalty_probe ||a||_1``
    with ``sum a = 1``, by exact lasso steps in turn; the sum by an augmented Lagrangian with
    the authors' constants. ``vectors`` has unit rows, ``atoms`` unit columns, and ``gram``
    their inner products.
    """
    n = len(vectors)
    cross, own = vectors @ atoms, vectors @ vectors.T
    strength = 5.0 / n
    multiplier = strength / 2
    a, b = np.zeros(n), np.zeros(len(gram))
    # The vector closest to the mean of all atoms.
    a[np.argmin(np.diag(own) / 2 - cross.mean(axis=1))] = 1.0
    by_atom, by_vector = np.full(len(gram), penalty_gallery), np.full(n, penalty_probe)
    for _ in range(n_iter):
        b = gram_lasso(gram, cross.T @ a, by_atom, start=b)
        wanted = cross @ b + (strength - multiplier) / 2
        a = gram_lasso(own + strength / 2, wanted, by_vector, start=a)
        multiplier += strength * (a.sum() - 1.0)
    return a, b


@dataclass(eq=False, repr=False)
class ISCRC(Baseline):
    """The class whose part of the gallery best explains one point of the set's hull.

    Regularised-hull ISCRC of Zhu, Zuo, Zhang, Shiu and Zhang ("Image set-based collaborative
    representation for face recognition", TIFS 2014). Gallery sets are compressed to atoms; the
    atoms of all classes together meet one point of the probe's hull::

        min over a, b of 1/2 ||A'a - D b||^2 + lambda_gallery ||b||_1 + lambda_probe ||a||_1
        with sum a = 1

    and the score of class ``k`` is ``-||A'a - D_k b_k||``: one problem per probe, not one per
    pair of sets. Every vector is scaled to unit norm. The authors compress by K-SVD (3 atoms a
    vector, 30 iterations); here atoms are learned with codes of l1 norm at most 1
    (:func:`setwise.basis.dictionary.learn_dictionary`), so they resemble the vectors more. The
    lasso steps are exact.

    Parameters
    ----------
    n_atoms : int, default=10
        Atoms of each gallery set; at most its rank.
    lambda_gallery, lambda_probe : float, default=0.001
        Weights of the l1 norms.
    n_iter : int, default=20
        Number of updates of both sides.
    random_state : int, RandomState or None, default=None
        Selects the vectors from which atoms start.
    n_jobs : int, optional

    Attributes
    ----------
    atoms_ : array of shape (n_features, n_atoms_total)
        Atoms of all gallery sets, unit columns.
    atom_codes_ : array of int, shape (n_atoms_total,)
        Class of each.

    Examples
    --------
    >>> from setwise.baselines import ISCRC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> ISCRC(n_atoms=3, random_state=0).fit(sets[::2], labels[::2]).predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    n_atoms: int = 10
    lambda_gallery: float = 0.001
    lambda_probe: float = 0.001
    _: KW_ONLY
    n_iter: int = 20
    random_state: Any = None

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        check_count("ISCRC", "n_atoms", self.n_atoms)
        check_count("ISCRC", "n_iter", self.n_iter)
        check_number("ISCRC", "lambda_gallery", self.lambda_gallery)
        check_number("ISCRC", "lambda_probe", self.lambda_probe)
        entropy = seed_from(self.random_state, "ISCRC")
        bases = [self._compressed(vectors, entropy) for vectors in gallery]
        self.atoms_ = np.hstack(bases)
        self.atom_codes_ = np.repeat(codes, [basis.shape[1] for basis in bases])
        self.gram_ = self.atoms_.T @ self.atoms_
        self.n_classes_ = int(codes.max()) + 1

    def _compressed(self, vectors: FloatArray, entropy: int) -> FloatArray:
        """Atoms of one set, which depend only on the set and the seed."""
        units = unit_rows(vectors)
        rng = np.random.default_rng(entropy)
        return dictionary_bases(units, [self.n_atoms], rng=rng)[0]

    def _score(self, vectors: FloatArray) -> FloatArray:
        units = unit_rows(vectors)
        a, b = collaborate(
            self.gram_,
            units,
            self.atoms_,
            penalty_gallery=self.lambda_gallery,
            penalty_probe=self.lambda_probe,
            n_iter=self.n_iter,
        )
        parts = np.zeros((self.n_classes_, len(b)))
        parts[self.atom_codes_, np.arange(len(b))] = b
        return -np.linalg.norm(a @ units - parts @ self.atoms_.T, axis=1)
