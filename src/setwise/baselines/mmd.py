"""Manifold-manifold distance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.patches import linear_patches
from setwise.baselines.subspaces import Subspaces, set_subspace
from setwise.features import unit_rows
from setwise.sets import SetBatch

__all__ = ["MMD"]


@dataclass(frozen=True)
class Patches:
    """Nearly flat parts of one set or of many.

    Attributes
    ----------
    exemplars : array of shape (n_patches, n_features)
        Mean of each, of unit norm.
    bases : list of arrays of shape (n_features, n_dims_i)
        Directions in which each varies.
    """

    exemplars: FloatArray
    bases: list[FloatArray]


@dataclass(frozen=True)
class GalleryPatches:
    """Patches of all gallery sets, side by side, and where those of each set begin."""

    exemplars: FloatArray
    subspaces: Subspaces
    starts: IntArray


class MMD(NearestSet):
    """Manifold-manifold distance: sets are as far apart as their two nearest flat patches.

    Every set is divided into nearly flat patches (:func:`linear_patches`). Two patches are
    ``(1 - cos^2 e) + (1 - mean cos^2)`` apart, squared: the angle between their means, and
    the principal angles between the directions in which they vary (R. Wang, S. Shan, X. Chen
    and W. Gao, *Manifold-manifold distance with application to face recognition based on
    image set*, CVPR 2008). A patch that does not vary is compared by its mean alone, which
    then counts twice.

    Parameters
    ----------
    max_ratio : float, default=2.0
        Patches are divided until their mean ratio of geodesic to Euclidean distance is below.
        Small sets divided too far are recognised worse.
    n_neighbors : int, default=12
        Neighbours in the graph along which geodesics run.
    min_size : int, default=10
        Patches of fewer than twice so many vectors are not divided.
    energy : float, default=0.95
        Share of a patch's variance that its directions hold.
    max_dims : int, default=20
        Most directions of a patch.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_patches_ : array of int, shape (n_sets,)
        Into how many patches each gallery set was divided.

    Examples
    --------
    >>> from setwise.baselines import MMD
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = MMD().fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self,
        *,
        max_ratio: float = 2.0,
        n_neighbors: int = 12,
        min_size: int = 10,
        energy: float = 0.95,
        max_dims: int = 20,
        n_jobs: int | None = None,
    ) -> None:
        self.max_ratio = max_ratio
        self.n_neighbors = n_neighbors
        self.min_size = min_size
        self.energy = energy
        self.max_dims = max_dims
        self.n_jobs = n_jobs

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("MMD", "max_ratio", self.max_ratio, above=1.0)
        check_number("MMD", "energy", self.energy, at_most=1.0)
        for name in ("n_neighbors", "min_size", "max_dims"):
            check_count("MMD", name, getattr(self, name))

    def _model(self, vectors: FloatArray) -> Patches:
        parts = linear_patches(
            vectors,
            n_neighbors=self.n_neighbors,
            max_ratio=self.max_ratio,
            min_size=self.min_size,
        )
        return Patches(
            exemplars=unit_rows(np.array([vectors[part].mean(axis=0) for part in parts])),
            bases=[
                set_subspace(
                    vectors[part], n_dims=self.max_dims, energy=self.energy, centred=True
                )
                for part in parts
            ],
        )

    def _gallery_models(self, gallery: SetBatch) -> GalleryPatches:
        models = [self._model(vectors) for vectors in gallery]
        self.n_patches_ = np.array([len(model.bases) for model in models])
        return GalleryPatches(
            exemplars=np.concatenate([model.exemplars for model in models]),
            subspaces=Subspaces.of([basis for model in models for basis in model.bases]),
            starts=np.concatenate([[0], np.cumsum(self.n_patches_)[:-1]]),
        )

    def _distances(self, model: Patches) -> FloatArray:
        gallery: GalleryPatches = self.gallery_models_
        apart = 1.0 - (model.exemplars @ gallery.exemplars.T) ** 2
        for i, basis in enumerate(model.bases):
            n_angles = np.minimum(gallery.subspaces.n_dims, basis.shape[1])
            shared = gallery.subspaces.squared_cosines(basis) / np.maximum(n_angles, 1)
            apart[i] += np.where(n_angles > 0, 1.0 - shared, apart[i])
        nearest = np.minimum.reduceat(apart.min(axis=0), gallery.starts)
        return np.sqrt(np.maximum(nearest, 0.0))
