"""Manifold discriminant analysis."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import linalg
from scipy.spatial.distance import cdist

from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.patches import linear_patches
from setwise.baselines.subspaces import set_subspace
from setwise.sets import SetBatch

__all__ = ["MDA", "patch_scatters"]


class MDA(NearestSet):
    """Manifold discriminant analysis: a projection that keeps patches of classes apart.

    Gallery sets are divided into nearly flat patches (:func:`linear_patches`). The projection
    maximises the scatter between neighbouring patches of different classes over the scatter
    within patches; sets are as far apart as the nearest means of their patches (R. Wang and
    X. Chen, *Manifold discriminant analysis*, CVPR 2009).

    Parameters
    ----------
    n_components : int, default=50
        Dimensions of the projection, at most.
    n_between : int, default=5
        How many nearest patches of other classes each patch is to be kept apart from.
    energy : float, default=0.98
        Share of the gallery's variance that is worked in.
    max_dims : int, default=200
        Most principal directions that are worked in.
    regularisation : float, default=1e-3
        Added to the diagonal of the scatter within, in units of its mean diagonal.
    max_ratio, n_neighbors, min_size
        Of the patches, see :class:`MMD`.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    projection_ : array of shape (n_features, n_components)
        The projection.
    regularisation_ : float
        What was added to the diagonal of the scatter within.

    Examples
    --------
    >>> from setwise.baselines import MDA
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = MDA().fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self,
        n_components: int = 50,
        *,
        n_between: int = 5,
        energy: float = 0.98,
        max_dims: int = 200,
        regularisation: float = 1e-3,
        max_ratio: float = 2.0,
        n_neighbors: int = 12,
        min_size: int = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.n_between = n_between
        self.energy = energy
        self.max_dims = max_dims
        self.regularisation = regularisation
        self.max_ratio = max_ratio
        self.n_neighbors = n_neighbors
        self.min_size = min_size
        self.n_jobs = n_jobs

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        self._check_parameters()
        parts = [self._parts(vectors) for vectors in gallery]
        self._learn_projection(gallery, parts, codes)
        self.gallery_models_ = [
            self._projected_means(vectors, of_set)
            for vectors, of_set in zip(gallery, parts, strict=True)
        ]
        self.gallery_codes_ = codes

    def _check_parameters(self) -> None:
        for name in ("n_components", "n_between", "max_dims", "n_neighbors", "min_size"):
            check_count("MDA", name, getattr(self, name))
        check_number("MDA", "energy", self.energy, at_most=1.0)
        check_number("MDA", "regularisation", self.regularisation, at_most=1e100)
        check_number("MDA", "max_ratio", self.max_ratio, above=1.0)

    def _learn_projection(
        self, gallery: SetBatch, parts: Sequence[Sequence[IntArray]], codes: IntArray
    ) -> None:
        principal = set_subspace(
            gallery.vectors, n_dims=self.max_dims, energy=self.energy, centred=True
        )
        patches = [
            vectors[part] @ principal
            for vectors, of_set in zip(gallery, parts, strict=True)
            for part in of_set
        ]
        patch_codes = np.repeat(codes, [len(of_set) for of_set in parts])
        within, between = patch_scatters(patches, patch_codes, self.n_between)
        n = len(within)
        # Where no patch varies there is nothing to measure by: all directions count alike.
        self.regularisation_ = self.regularisation * float(np.trace(within)) / n or 1.0
        within = within + self.regularisation_ * np.eye(n)
        n_kept = min(self.n_components, n)
        found = linalg.eigh(between, within, subset_by_index=[n - n_kept, n - 1])[1]
        self.projection_: FloatArray = principal @ found

    def _parts(self, vectors: FloatArray) -> list[IntArray]:
        return linear_patches(
            vectors,
            n_neighbors=self.n_neighbors,
            max_ratio=self.max_ratio,
            min_size=self.min_size,
        )

    def _model(self, vectors: FloatArray) -> FloatArray:
        return self._projected_means(vectors, self._parts(vectors))

    def _projected_means(self, vectors: FloatArray, parts: Sequence[IntArray]) -> FloatArray:
        return np.array([vectors[part].mean(axis=0) for part in parts]) @ self.projection_

    def _distances(self, model: FloatArray) -> FloatArray:
        return np.array([cdist(model, means).min() for means in self.gallery_models_])


def patch_scatters(
    patches: Sequence[FloatArray], codes: IntArray, n_between: int
) -> tuple[FloatArray, FloatArray]:
    """Scatter within patches, and between each and the nearest ones of other classes.

    The scatter of all pairs across two patches, over the number of pairs, is
    ``(m - m')(m - m')' + S / n + S' / n'`` for their means, scatters and sizes: the pairs are
    never formed.

    Parameters
    ----------
    patches : sequence of arrays of shape (n_vectors_i, n_features)
        Vectors of each patch.
    codes : array of int
        Class of each.
    n_between : int
        How many patches of other classes each is compared with.
    """
    means = np.array([patch.mean(axis=0) for patch in patches])
    centred = [patch - mean for patch, mean in zip(patches, means, strict=True)]
    scatters = np.array([part.T @ part for part in centred])
    covariances = scatters / np.array([len(patch) for patch in patches])[:, None, None]
    apart = cdist(means, means)
    apart[codes[:, None] == codes] = np.inf
    between = np.zeros_like(scatters[0])
    for i, distances in enumerate(apart):
        n_others = min(n_between, int(np.isfinite(distances).sum()))
        nearest = np.argsort(distances, kind="stable")[:n_others]
        steps = means[i] - means[nearest]
        between += steps.T @ steps + n_others * covariances[i]
        between += covariances[nearest].sum(axis=0)
    return scatters.sum(axis=0), between
