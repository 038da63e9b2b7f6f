"""The nearest hull: AHISD and CHISD."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.spatial.distance import cdist

from setwise._support.parameters import check_choice, check_number, refuse
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.hulls import (
    AffineHull,
    affine_hull,
    affine_hull_distance,
    gram_hull_distance,
)
from setwise.errors import DegenerateHullWarning
from setwise.sets import SetBatch

__all__ = ["AHISD", "CHISD"]


class AHISD(NearestSet):
    """The nearest affine hull: a set is its mean and all that its main directions span.

    AHISD of Cevikalp and Triggs ("Face recognition based on image sets", CVPR 2010). Two sets
    are as far apart as their hulls' nearest points, ``min over v, w of ||(mean_a + U_a v) -
    (mean_b + U_b w)||``, where the columns of ``U`` are the principal directions of the set
    about its mean that hold ``energy`` of its variance (0.98, as the authors have it). A set
    of one vector is that point.

    Hulls whose dimensions add up to ``n_features`` meet wherever they are, and their distance
    is 0; this is warned about, and counted.

    Parameters
    ----------
    energy : float, default=0.98
        Share of the variance that the directions of a hull hold, at most 1.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_dims_ : array of int, shape (n_sets,)
        Dimensions of the gallery's hulls; directions beyond them were cut off.
    n_degenerate_pairs_ : int
        Pairs of gallery sets whose hulls must meet, by their dimensions alone.

    Examples
    --------
    >>> from setwise.baselines import AHISD
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = AHISD(energy=0.5).fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(self, energy: float = 0.98, *, n_jobs: int | None = None) -> None:
        self.energy = energy
        self.n_jobs = n_jobs

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("AHISD", "energy", self.energy, at_most=1)

    def _gallery_models(self, gallery: SetBatch) -> list[AffineHull]:
        hulls = [self._model(vectors) for vectors in gallery]
        self.n_dims_ = np.array([hull.n_dims for hull in hulls])
        fills = self.n_dims_[:, None] + self.n_dims_ >= gallery.n_features
        self.n_degenerate_pairs_ = int(np.triu(fills, k=1).sum())
        if self.n_degenerate_pairs_ > 0:
            n_pairs = len(hulls) * (len(hulls) - 1) // 2
            msg = (
                f"AHISD: the hulls of {self.n_degenerate_pairs_} of {n_pairs} pairs of gallery "
                f"sets fill all {gallery.n_features} dimensions, so that their distance is 0 "
                f"wherever they are. Lower energy (now {self.energy:g})."
            )
            warnings.warn(msg, DegenerateHullWarning, stacklevel=4)
        return hulls

    def _model(self, vectors: FloatArray) -> AffineHull:
        return affine_hull(vectors, self.energy)

    def _distances(self, model: AffineHull) -> list[float]:
        return [
            affine_hull_distance(hull.mean, hull.basis, model.mean, model.basis)
            for hull in self.gallery_models_
        ]

    def _scores(self, X: Any, caller: str) -> FloatArray:
        scores = super()._scores(X, caller)
        n_tied = int(((scores == 0).sum(axis=1) > 1).sum())
        if n_tied > 0:
            msg = (
                f"AHISD.{caller}: {n_tied} of {len(scores)} sets are at distance 0 from "
                f"several classes, of which the first was taken. Lower energy (now "
                f"{self.energy:g})."
            )
            warnings.warn(msg, DegenerateHullWarning, stacklevel=3)
        return scores


@dataclass(frozen=True)
class _Points:
    """Vectors of a set as the kernel takes them, and their inner products."""

    vectors: FloatArray
    products: FloatArray


class CHISD(NearestSet):
    """The nearest convex hull: a set is every weighted mean of its vectors.

    CHISD of Cevikalp and Triggs ("Face recognition based on image sets", CVPR 2010): ``min
    over alpha, beta of ||sum_i alpha_i a_i - sum_j beta_j b_j||``, weights in ``[0, tau]``
    that sum to 1 on either side. With ``tau`` 1 (the default) these are the convex hulls; less
    makes them smaller, so that no single vector decides. The authors solve the dual as a
    support vector machine; here it is solved to rounding by interior points, and proved so by
    the duality gap. With ``kernel="rbf"`` the hulls are those in the kernel's space.

    Parameters
    ----------
    tau : float, default=1.0
        Largest weight of a vector, at most 1, and at least 1 over the size of any set.
    kernel : {"linear", "rbf"}, default="linear"
        Inner product of two vectors: the usual one, or ``exp(-gamma ||x - y||^2)``.
    gamma : float, optional
        Of ``"rbf"``; by default 1 over the mean squared distance of the gallery's vectors to
        their mean.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    gamma_ : float or None
        ``gamma`` as used, None for the linear kernel.

    Examples
    --------
    >>> from setwise.baselines import CHISD
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = CHISD().fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self,
        tau: float = 1.0,
        *,
        kernel: str = "linear",
        gamma: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.tau = tau
        self.kernel = kernel
        self.gamma = gamma
        self.n_jobs = n_jobs

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("CHISD", "tau", self.tau, at_most=1)
        check_choice("CHISD", "kernel", self.kernel, ("linear", "rbf"))
        if self.gamma is not None:
            check_number("CHISD", "gamma", self.gamma)
        self._check_probes(gallery, "CHISD.fit")
        is_linear = self.kernel == "linear"
        # Distances do not change when all sets move, and inner products round less near 0.
        self.centre_ = gallery.vectors.mean(axis=0)
        around = gallery.vectors - self.centre_
        self.unit_ = float(np.abs(around).max()) or 1.0 if is_linear else 1.0
        self.gamma_ = None if is_linear else self.gamma
        if not is_linear and self.gamma is None:
            self.gamma_ = 1.0 / (float((around**2).sum(axis=1).mean()) or 1.0)

    def _check_probes(self, probes: SetBatch, caller: str) -> None:
        """Refuse sets whose weights could not sum to 1."""
        too_small = np.flatnonzero(probes.sizes * self.tau < 1 - 1e-9)
        if len(too_small) > 0:
            first = int(too_small[0])
            n = int(probes.sizes[first])
            expected = f"at least 1/{n} for the {n} vectors of {probes.names[first]!r}"
            refuse(caller, "tau", expected, self.tau)

    def _model(self, vectors: FloatArray) -> _Points:
        points = (vectors - self.centre_) / self.unit_
        return _Points(points, self._products(points, points))

    def _products(self, a: FloatArray, b: FloatArray) -> FloatArray:
        if self.gamma_ is None:
            return a @ b.T
        return np.exp(-self.gamma_ * cdist(a, b, "sqeuclidean"))

    def _distances(self, model: _Points) -> list[float]:
        distances = []
        n = len(model.vectors)
        for other in self.gallery_models_:
            cross = self._products(model.vectors, other.vectors)
            gram = np.empty((sum(cross.shape), sum(cross.shape)))
            gram[:n, :n], gram[n:, n:] = model.products, other.products
            gram[:n, n:], gram[n:, :n] = cross, cross.T
            distances.append(gram_hull_distance(gram, n, self.tau).distance * self.unit_)
        return distances
