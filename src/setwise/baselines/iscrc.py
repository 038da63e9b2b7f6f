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

    Exact lasso steps in turn; ``sum a = 1`` by an augmented Lagrangian with the authors'
    constants. ``vectors`` has unit rows, ``atoms`` unit columns.
    """
    n, cross, own = len(vectors), vectors @ atoms, vectors @ vectors.T
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

    Zhu, Zuo, Zhang, Shiu and Zhang ("Image set-based collaborative representation for face
    recognition", TIFS 2014), with the regularised hull. Gallery sets are compressed to atoms;
    the atoms of all classes together meet one point of the probe's hull::

        min over a, b of 1/2 ||A'a - D b||^2 + lambda_gallery ||b||_1 + lambda_probe ||a||_1
        with sum a = 1

    and the score of class ``k`` is ``-||A'a - D_k b_k||``. Vectors are scaled to unit norm. The
    authors compress by K-SVD; here atoms are learned with codes of l1 norm at most 1
    (:func:`setwise.basis.dictionary.learn_dictionary`).

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

    Examples
    --------
    >>> from setwise.baselines import ISCRC
    >>> from setwise.evaluation.testing import separable_sets
    >>> ISCRC(n_atoms=3, random_state=0).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    n_atoms: int = 10
    lambda_gallery: float = 0.001
    lambda_probe: float = 0.001
    _: KW_ONLY
    n_iter: int = 20
    random_state: Any = None

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        for name in ("n_atoms", "n_iter"):
            check_count("ISCRC", name, getattr(self, name))
        for name in ("lambda_gallery", "lambda_probe"):
            check_number("ISCRC", name, getattr(self, name))
        seed, bases = seed_from(self.random_state, "ISCRC"), []
        for vectors in gallery:
            rng = np.random.default_rng(seed)  # for each, so that atoms depend on no other set
            bases += dictionary_bases(unit_rows(vectors), [self.n_atoms], rng=rng)
        self.atoms_ = np.hstack(bases)
        self.atom_codes_ = np.repeat(codes, [basis.shape[1] for basis in bases])
        self.gram_ = self.atoms_.T @ self.atoms_
        self.n_classes_ = int(codes.max()) + 1

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
