"""Mutual subspace methods: sets are alike if the subspaces they span meet at small angles."""

from __future__ import annotations

import numpy as np

from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.subspaces import Subspaces, orthonormalised, set_subspace, usable_dims
from setwise.sets import SetBatch

__all__ = ["CMSM", "MSM"]


class MSM(NearestSet):
    """Mutual subspace method: nearest set by the angles between the sets' subspaces.

    Every set is the span of its first ``n_dims`` singular vectors, and two sets are
    ``1 - mean cos^2`` of their principal angles apart (Yamaguchi, Fukui and Maeda, *Face
    recognition using temporal image sequence*, 1998).

    Parameters
    ----------
    n_dims : int, default=10
        Dimensions of a set's subspace; a set of lower rank has as many as its rank.
    n_angles : int, optional
        How many of the smallest angles count; all by default. The original counts one, which
        is far worse on objects.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_dims_ : int
        ``n_dims``, or half of the features if it is more: larger subspaces always meet.
    gallery_models_ : Subspaces
        Subspaces of the gallery sets.

    Examples
    --------
    >>> from setwise.baselines import MSM
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = MSM(n_dims=3).fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self, n_dims: int = 10, *, n_angles: int | None = None, n_jobs: int | None = None
    ) -> None:
        self.n_dims = n_dims
        self.n_angles = n_angles
        self.n_jobs = n_jobs

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_count(type(self).__name__, "n_dims", self.n_dims)
        if self.n_angles is not None:
            check_count(type(self).__name__, "n_angles", self.n_angles)
        self.n_dims_ = usable_dims(self.n_dims, gallery.n_features)

    def _model(self, vectors: FloatArray) -> FloatArray:
        return set_subspace(vectors, n_dims=self.n_dims_)

    def _gallery_models(self, gallery: SetBatch) -> Subspaces:
        return Subspaces.of([self._model(vectors) for vectors in gallery])

    def _distances(self, model: FloatArray) -> FloatArray:
        gallery: Subspaces = self.gallery_models_
        if self.n_angles is not None:
            smallest = [cosines[: self.n_angles] for cosines in gallery.cosines(model)]
            return np.array([1.0 - (c**2).mean() if len(c) else 1.0 for c in smallest])
        n_angles = np.minimum(gallery.n_dims, model.shape[1])
        return 1.0 - gallery.squared_cosines(model) / np.maximum(n_angles, 1)


class CMSM(MSM):
    """Constrained MSM: MSM after removing what all gallery sets have in common.

    The directions in which the gallery's subspaces overlap most (eigenvectors of the sum of
    their projections with the largest eigenvalues) are left out; subspaces are projected on
    the rest, the *generalised difference subspace*, made orthonormal again and compared as
    in :class:`MSM` (Fukui and Yamaguchi, *Face recognition using multi-viewpoint patterns
    for robot vision*, 2003).

    Parameters
    ----------
    n_dims : int, default=10
        Dimensions of a set's subspace.
    keep : float, default=0.9
        Share of the directions of the gallery that is kept. Much less than this is far worse.
    n_angles : int, optional
        How many of the smallest angles count; all by default.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_dims_ : int
        ``n_dims``, or half of the features if it is more.
    difference_ : array of shape (n_features, n_kept)
        Orthonormal basis of the generalised difference subspace.

    Examples
    --------
    >>> from setwise.baselines import CMSM
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = CMSM(n_dims=3).fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self,
        n_dims: int = 10,
        *,
        keep: float = 0.9,
        n_angles: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(n_dims, n_angles=n_angles, n_jobs=n_jobs)
        self.keep = keep

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        super()._learn(gallery, codes)
        check_number("CMSM", "keep", self.keep, at_most=1.0)
        common_first = orthonormalised(
            np.hstack([super(CMSM, self)._model(vectors) for vectors in gallery])
        )
        rank = common_first.shape[1]
        self.difference_: FloatArray = common_first[:, rank - max(1, round(self.keep * rank)) :]

    def _model(self, vectors: FloatArray) -> FloatArray:
        return orthonormalised(self.difference_.T @ super()._model(vectors))
