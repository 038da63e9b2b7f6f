"""Sets divided into nearly flat patches: MMD and MDA."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy import linalg
from scipy.sparse.csgraph import connected_components, dijkstra
from scipy.spatial.distance import cdist

from setwise._support.parameters import check_count, check_number
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.subspaces import Subspaces, set_subspace
from setwise.features import unit_rows
from setwise.sets import SetBatch


def linear_patches(
    vectors: FloatArray, *, n_neighbors: int = 12, max_ratio: float = 2.0, min_size: int = 10
) -> list[IntArray]:
    """Divide a set into nearly flat patches; returns the sorted vector indices of each.

    As in the release of R. Wang, Shan, Chen, Dai and Gao (*Manifold-manifold distance and its
    application to face recognition with image sets*, TIP 2012), the largest patch is divided
    while the mean ratio of geodesic to straight distances in any patch reaches ``max_ratio``
    and the largest has at least twice ``min_size`` vectors. Geodesics run along a graph of
    ``n_neighbors`` neighbours, two more at a time until it is connected.
    """
    n_vectors = len(vectors)
    if n_vectors < 2 * min_size:
        return [np.arange(n_vectors)]
    straight = cdist(vectors, vectors)
    is_near, geodesic = _geodesics(straight, n_neighbors)
    # Copies are at distance 0 either way: as flat as can be.
    ratio = np.ones_like(straight)
    np.divide(geodesic, straight, out=ratio, where=straight > 0)
    patches = [np.arange(n_vectors)]
    while max(ratio[np.ix_(patch, patch)].mean() for patch in patches) >= max_ratio:
        largest = max(range(len(patches)), key=lambda i: len(patches[i]))
        if len(patches[largest]) < 2 * min_size:
            break
        patches[largest : largest + 1] = _divided(patches[largest], is_near, geodesic, ratio)
    return patches


def _geodesics(straight: FloatArray, n_neighbors: int) -> tuple[BoolArray, FloatArray]:
    """Which vectors are neighbours, and distances along the graph of neighbours."""
    n = len(straight)
    order = np.argsort(straight + np.diag(np.full(n, -1.0)), axis=1, kind="stable")
    while True:
        n_neighbors = min(n_neighbors, n - 1)
        is_near = np.zeros((n, n), dtype=bool)
        np.put_along_axis(is_near, order[:, 1 : n_neighbors + 1], True, axis=1)
        is_near |= is_near.T
        rows, columns = np.nonzero(is_near)
        graph = sp.csr_array((straight[rows, columns], (rows, columns)), shape=(n, n))
        if connected_components(graph, directed=False)[0] == 1:
            return is_near, dijkstra(graph, directed=False)
        n_neighbors += 2


def _divided(
    patch: IntArray, is_near: BoolArray, geodesic: FloatArray, ratio: FloatArray
) -> list[IntArray]:
    """Two patches, grown at the same time from the two vectors farthest apart."""
    inside = np.ix_(patch, patch)
    is_near, geodesic, ratio = is_near[inside], geodesic[inside], ratio[inside]
    seeds = np.unravel_index(geodesic.argmax(), geodesic.shape)
    sides = (_Side(int(seeds[0]), ratio), _Side(int(seeds[1]), ratio))
    is_free = np.ones(len(patch), dtype=bool)
    is_free[list(seeds)] = False
    while is_free.any():
        wanted = [is_free & is_near[side.members].any(axis=0) for side in sides]
        for side, is_wanted in zip(sides, wanted, strict=True):
            if len(side.members) == 1 and not is_wanted.any():
                is_wanted[_nearest(side.members[0], is_free, geodesic)] = True
        is_contested = wanted[0] & wanted[1]
        for side, is_wanted in zip(sides, wanted, strict=True):
            side.take(np.flatnonzero(is_wanted & ~is_contested).tolist())
        for vector in np.flatnonzero(is_contested).tolist():
            min(sides, key=_Side.rank).take([vector])
        is_claimed = wanted[0] | wanted[1]
        if not is_claimed.any():
            for vector in np.flatnonzero(is_free).tolist():
                min(sides, key=lambda side: len(side.members)).take([vector])
            break
        is_free &= ~is_claimed
    return [patch[np.sort(side.members)] for side in sides]


def _nearest(vector: int, is_free: BoolArray, geodesic: FloatArray) -> int:
    return int(np.where(is_free, geodesic[vector], np.inf).argmin())


class _Side:
    """One half of a patch while it grows, and its mean ratio."""

    def __init__(self, seed: int, ratio: FloatArray) -> None:
        self.members = [seed]
        self._ratio = ratio
        self._sum = float(ratio[seed, seed])

    def take(self, vectors: Iterable[int]) -> None:
        """Add vectors, one after the other."""
        for vector in vectors:
            to_members = self._ratio[vector, self.members].sum()
            self._sum += 2.0 * float(to_members) + float(self._ratio[vector, vector])
            self.members.append(vector)

    def rank(self) -> tuple[bool, float]:
        """Sort key: a side of one vector first, then the flatter one."""
        return len(self.members) > 1, self._sum / len(self.members) ** 2


@dataclass(frozen=True)
class Patches:
    """Nearly flat parts of one set: their unit means, and the directions they vary in."""

    exemplars: FloatArray
    bases: list[FloatArray]


class _PatchMethod(NearestSet):
    """A method on patches, with the three parameters of :func:`linear_patches`."""

    max_ratio: float
    n_neighbors: int
    min_size: int

    def _parts(self, vectors: FloatArray) -> list[IntArray]:
        names = ("n_neighbors", "max_ratio", "min_size")
        return linear_patches(vectors, **{name: getattr(self, name) for name in names})


@dataclass(eq=False, repr=False)
class MMD(_PatchMethod):
    """Manifold-manifold distance: that of the two nearest flat patches of the sets.

    The squared distance of two patches is ``(1 - cos^2 e) + (1 - mean cos^2)``, by the angle
    between their means and the principal angles between the directions in which they vary (R.
    Wang, Shan, Chen and Gao, *Manifold-manifold distance with application to face recognition
    based on image set*, CVPR 2008). A patch that does not vary is compared by its mean alone.

    Parameters
    ----------
    max_ratio : float, default=2.0
        Patches are divided until their mean ratio of geodesic to straight distances is below.
    n_neighbors : int, default=12
        Neighbours in the graph along which geodesics run.
    min_size : int, default=10
        Patches of fewer than twice as many vectors are not divided.
    energy : float, default=0.95
        Share of a patch's variance that its directions hold.
    max_dims : int, default=20
        Most directions of a patch.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import MMD
    >>> from setwise.evaluation.testing import separable_sets
    >>> MMD().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    _: KW_ONLY
    max_ratio: float = 2.0
    n_neighbors: int = 12
    min_size: int = 10
    energy: float = 0.95
    max_dims: int = 20

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_number("MMD", "max_ratio", self.max_ratio, above=1.0)
        check_number("MMD", "energy", self.energy, at_most=1.0)
        for name in ("n_neighbors", "min_size", "max_dims"):
            check_count("MMD", name, getattr(self, name))

    def _model(self, vectors: FloatArray) -> Patches:
        parts = [vectors[part] for part in self._parts(vectors)]
        how: Any = {"n_dims": self.max_dims, "energy": self.energy, "centred": True}
        return Patches(
            exemplars=unit_rows(np.array([part.mean(axis=0) for part in parts])),
            bases=[set_subspace(part, **how) for part in parts],
        )

    def _stacked(self, models: list[Patches]) -> tuple[FloatArray, Subspaces]:
        self.n_patches_ = np.array([len(model.bases) for model in models])
        exemplars = np.concatenate([model.exemplars for model in models])
        return exemplars, Subspaces.of([basis for model in models for basis in model.bases])

    def _distances(self, model: Patches) -> FloatArray:
        exemplars, subspaces = self.gallery_models_
        apart = 1.0 - (model.exemplars @ exemplars.T) ** 2
        for i, basis in enumerate(model.bases):
            n_angles = np.minimum(subspaces.n_dims, basis.shape[1])
            shared = subspaces.squared_cosines(basis) / np.maximum(n_angles, 1)
            apart[i] += np.where(n_angles > 0, 1.0 - shared, apart[i])
        first_of_set = np.cumsum(self.n_patches_) - self.n_patches_
        nearest = np.minimum.reduceat(apart.min(axis=0), first_of_set)
        return np.sqrt(np.maximum(nearest, 0.0))


@dataclass(eq=False, repr=False)
class MDA(_PatchMethod):
    """Manifold discriminant analysis: a projection that separates the patches of classes.

    The projection maximises the scatter between neighbouring flat patches of different classes
    over the scatter within patches; the distance of two sets is that of the nearest means of
    their patches (R. Wang and X. Chen, *Manifold discriminant analysis*, CVPR 2009).

    Parameters
    ----------
    n_components : int, default=50
        Most dimensions of the projection.
    n_between : int, default=5
        Number of nearest patches of other classes from which each patch is separated.
    energy : float, default=0.98
        Share of the gallery's variance that is used.
    max_dims : int, default=200
        Most principal directions that are used.
    regularisation : float, default=1e-3
        Added to the diagonal of the scatter within, in units of its mean diagonal.
    max_ratio, n_neighbors, min_size
        Of the patches, see :class:`MMD`.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import MDA
    >>> from setwise.evaluation.testing import separable_sets
    >>> MDA().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    n_components: int = 50
    _: KW_ONLY
    n_between: int = 5
    energy: float = 0.98
    max_dims: int = 200
    regularisation: float = 1e-3
    max_ratio: float = 2.0
    n_neighbors: int = 12
    min_size: int = 10

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        for name in ("n_components", "n_between", "max_dims", "n_neighbors", "min_size"):
            check_count("MDA", name, getattr(self, name))
        check_number("MDA", "energy", self.energy, at_most=1.0)
        check_number("MDA", "regularisation", self.regularisation, at_most=1e100)
        check_number("MDA", "max_ratio", self.max_ratio, above=1.0)
        patches = [[vectors[part] for part in self._parts(vectors)] for vectors in gallery]
        self._learn_projection(gallery.vectors, patches, codes)
        self.gallery_models_ = [self._projected_means(of_set) for of_set in patches]
        self.gallery_codes_ = codes

    def _learn_projection(
        self, vectors: FloatArray, patches: Sequence[Sequence[FloatArray]], codes: IntArray
    ) -> None:
        principal = set_subspace(
            vectors, n_dims=self.max_dims, energy=self.energy, centred=True
        )
        shown = [patch @ principal for of_set in patches for patch in of_set]
        patch_codes = np.repeat(codes, [len(of_set) for of_set in patches])
        within, between = patch_scatters(shown, patch_codes, self.n_between)
        n = len(within)
        # Where no patch varies there is nothing to measure by: all directions count alike.
        self.regularisation_ = self.regularisation * float(np.trace(within)) / n or 1.0
        within = within + self.regularisation_ * np.eye(n)
        n_kept = min(self.n_components, n)
        found = linalg.eigh(between, within, subset_by_index=[n - n_kept, n - 1])[1]
        self.projection_: FloatArray = principal @ found

    def _model(self, vectors: FloatArray) -> FloatArray:
        return self._projected_means([vectors[part] for part in self._parts(vectors)])

    def _projected_means(self, patches: Sequence[FloatArray]) -> FloatArray:
        return np.array([patch.mean(axis=0) for patch in patches]) @ self.projection_

    def _distances(self, model: FloatArray) -> FloatArray:
        return np.array([cdist(model, means).min() for means in self.gallery_models_])


def patch_scatters(
    patches: Sequence[FloatArray], codes: IntArray, n_between: int
) -> tuple[FloatArray, FloatArray]:
    """Scatter within patches, and between each and the nearest ones of other classes.

    The scatter of all pairs across two patches, over the number of pairs, is that of their
    means plus both covariances: the pairs are never formed.
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
