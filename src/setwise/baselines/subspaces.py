"""Sets as subspaces, compared by principal angles: MSM, CMSM and DCC."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_count, check_number
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.basis.base import numerical_rank
from setwise.sets import SetBatch


def set_subspace(
    vectors: FloatArray,
    *,
    n_dims: int | None = None,
    energy: float = 1.0,
    centred: bool = False,
) -> FloatArray:
    """Orthonormal basis of the main directions of a set, of shape (n_features, n_kept).

    Kept are at most ``n_dims`` directions, and the fewest that hold the share ``energy`` of the
    sum of squares, never more than the rank; with ``centred``, after the mean is subtracted.
    """
    scale = float(np.linalg.norm(vectors))
    shown = vectors - vectors.mean(axis=0) if centred else vectors
    _, strengths, directions = linalg.svd(shown, full_matrices=False, check_finite=False)
    rank = numerical_rank(strengths, vectors.shape, scale)
    squares = strengths[:rank] ** 2
    # A hair less, so that rounding never asks for one direction more than there is.
    needed = int(np.searchsorted(np.cumsum(squares), (energy - 1e-12) * squares.sum())) + 1
    n_kept = min(rank, needed, rank if n_dims is None else n_dims)
    return np.ascontiguousarray(directions[:n_kept].T)


def usable_dims(n_dims: int, n_features: int) -> int:
    """``n_dims``, or half of the features: larger subspaces always intersect."""
    return max(1, min(n_dims, n_features // 2))


def orthonormalised(columns: FloatArray) -> FloatArray:
    """Orthonormal basis of the span of columns, strongest direction first."""
    if columns.shape[1] == 0:
        return columns
    left, strengths, _ = linalg.svd(columns, full_matrices=False, check_finite=False)
    return left[:, : numerical_rank(strengths, columns.shape)]


@dataclass(frozen=True)
class Subspaces:
    """Orthonormal bases side by side, so that one product compares all with another."""

    stacked: FloatArray
    offsets: IntArray

    @classmethod
    def of(cls, bases: Sequence[FloatArray]) -> Subspaces:
        """Stack bases; any may be empty."""
        sizes = [basis.shape[1] for basis in bases]
        return cls(np.hstack(bases), np.concatenate([[0], np.cumsum(sizes)]))

    @property
    def n_dims(self) -> IntArray:
        """Dimensions of each."""
        return np.diff(self.offsets)

    def summed(self, column_values: FloatArray) -> FloatArray:
        """Sum of the values of each subspace's columns, along the last axis."""
        nothing = np.zeros((*column_values.shape[:-1], 1))
        sums = np.concatenate([nothing, np.cumsum(column_values, axis=-1)], axis=-1)
        return np.diff(sums[..., self.offsets], axis=-1)

    def squared_cosines(self, basis: FloatArray) -> FloatArray:
        """Sum of the squared cosines of the principal angles with another subspace."""
        return self.summed(((basis.T @ self.stacked) ** 2).sum(axis=0))

    def cosines(self, basis: FloatArray) -> list[FloatArray]:
        """Cosines of the principal angles with another subspace, largest first, of each."""
        products = basis.T @ self.stacked
        found: list[FloatArray] = [np.empty(0)] * len(self.n_dims)
        for width in np.unique(self.n_dims[self.n_dims > 0]):
            chosen = np.flatnonzero(self.n_dims == width)
            columns = self.offsets[chosen][:, None] + np.arange(width)
            blocks = np.moveaxis(products[:, columns], 0, 1)
            for i, cosines in zip(chosen, np.linalg.svd(blocks, compute_uv=False), strict=True):
                found[i] = np.clip(cosines, 0.0, 1.0)
        return found


@dataclass(eq=False, repr=False)
class MSM(NearestSet):
    """Mutual subspace method: nearest set by the angles between the sets' subspaces.

    A set is the span of its first ``n_dims`` singular vectors, and two sets are ``1 - mean
    cos^2`` of their principal angles apart (Yamaguchi, Fukui and Maeda, *Face recognition using
    temporal image sequence*, 1998).

    Parameters
    ----------
    n_dims : int, default=10
        Dimensions of a subspace; at most half of the features, since larger ones intersect.
    n_angles : int, optional
        Number of smallest angles that count, all by default; one in the original.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import MSM
    >>> from setwise.evaluation.testing import separable_sets
    >>> MSM(n_dims=3).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    n_dims: int = 10
    _: KW_ONLY
    n_angles: int | None = None

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_count(type(self).__name__, "n_dims", self.n_dims)
        if self.n_angles is not None:
            check_count(type(self).__name__, "n_angles", self.n_angles)
        self.n_dims_ = usable_dims(self.n_dims, gallery.n_features)

    def _model(self, vectors: FloatArray) -> FloatArray:
        return set_subspace(vectors, n_dims=self.n_dims_)

    def _stacked(self, models: list[FloatArray]) -> Subspaces:
        return Subspaces.of(models)

    def _distances(self, model: FloatArray) -> FloatArray:
        gallery: Subspaces = self.gallery_models_
        if self.n_angles is not None:
            smallest = [cosines[: self.n_angles] for cosines in gallery.cosines(model)]
            return np.array([1.0 - (c**2).mean() if len(c) else 1.0 for c in smallest])
        n_angles = np.minimum(gallery.n_dims, model.shape[1])
        return 1.0 - gallery.squared_cosines(model) / np.maximum(n_angles, 1)


@dataclass(eq=False, repr=False)
class CMSM(MSM):
    """Constrained MSM: MSM after removing the directions that all gallery sets share.

    The directions in which the gallery's subspaces overlap most are removed; subspaces are
    projected on the rest, made orthonormal again and compared as in :class:`MSM` (Fukui and
    Yamaguchi, *Face recognition using multi-viewpoint patterns for robot vision*, 2003).

    Parameters
    ----------
    n_dims : int, default=10
        Dimensions of a subspace; at most half of the features.
    keep : float, default=0.9
        Share of the gallery's directions that is kept. Much less is far less accurate.
    n_angles : int, optional
        Number of smallest angles that count; all by default.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import CMSM
    >>> from setwise.evaluation.testing import separable_sets
    >>> CMSM(n_dims=3).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    _: KW_ONLY
    keep: float = 0.9

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        super()._learn(gallery, codes)
        check_number("CMSM", "keep", self.keep, at_most=1.0)
        bases = [super(CMSM, self)._model(vectors) for vectors in gallery]
        common_first = orthonormalised(np.hstack(bases))
        rank = common_first.shape[1]
        self.difference_: FloatArray = common_first[:, rank - max(1, round(self.keep * rank)) :]

    def _model(self, vectors: FloatArray) -> FloatArray:
        return orthonormalised(self.difference_.T @ super()._model(vectors))


@dataclass(eq=False, repr=False)
class DCC(NearestSet):
    """Nearest set by canonical correlations, after a discriminative projection.

    The projection ``T`` of the sets' subspaces maximises ``tr(T' S_b T) / tr(T' S_w T)`` of the
    scatters of canonical differences between classes and within. Similarity is the mean cosine
    of all principal angles (Kim, Kittler and Cipolla, *Discriminative learning and recognition
    of image set classes using canonical correlations*, TPAMI 2007). Where a class has a single
    set, every set is divided in two halves to learn from, as the authors do.

    Parameters
    ----------
    n_dims : int, default=10
        Dimensions of a subspace; at most half of the features.
    embedding : int, default=100
        Most principal directions of the gallery's subspaces that are used.
    max_iter : int, default=10
        Most rounds of the alternation; it stops when its objective falls.
    n_jobs : int, optional

    Attributes
    ----------
    n_iter_ : int
        Rounds that raised the objective.
    regularisation_ : float
        Added to the diagonal of ``S_w`` in the last round; 0 if it was regular.

    Examples
    --------
    >>> from setwise.baselines import DCC
    >>> from setwise.evaluation.testing import separable_sets
    >>> DCC(n_dims=3).fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    n_dims: int = 10
    _: KW_ONLY
    embedding: int = 100
    max_iter: int = 10

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        for name in ("n_dims", "embedding", "max_iter"):
            check_count("DCC", name, getattr(self, name))
        self.n_dims_ = usable_dims(self.n_dims, gallery.n_features)
        if np.bincount(codes).min() < 2:
            gallery, codes = halved(gallery), np.repeat(codes, 2)
        bases = [set_subspace(vectors, n_dims=self.n_dims_) for vectors in gallery]
        embedding = orthonormalised(np.hstack(bases))[:, : self.embedding]
        directions, self.regularisation_, self.n_iter_ = discriminant_directions(
            [embedding.T @ basis for basis in bases], codes, self.max_iter
        )
        self.projection_: FloatArray = embedding @ directions

    def _model(self, vectors: FloatArray) -> FloatArray:
        basis = set_subspace(vectors, n_dims=self.n_dims_)
        return orthonormalised(self.projection_.T @ basis)

    def _stacked(self, models: list[FloatArray]) -> Subspaces:
        return Subspaces.of(models)

    def _distances(self, model: FloatArray) -> FloatArray:
        found = self.gallery_models_.cosines(model)
        return np.array([1.0 - cosines.mean() if len(cosines) else 1.0 for cosines in found])


def halved(gallery: SetBatch) -> SetBatch:
    """Each set in two halves: every second vector along its main direction; one is in both."""
    parts = []
    for vectors in gallery:
        centred = vectors - vectors.mean(axis=0)
        direction = linalg.svd(centred, full_matrices=False, check_finite=False)[2][0]
        order = np.argsort(centred @ direction, kind="stable")
        parts += [vectors[order[::2]], vectors[order[1::2]] if len(vectors) > 1 else vectors]
    return SetBatch.from_list(parts)


def discriminant_directions(
    bases: Sequence[FloatArray], codes: IntArray, max_iter: int
) -> tuple[FloatArray, float, int]:
    """Projection of DCC for one basis a set; addition to ``S_w``; rounds that helped."""
    n_features = len(bases[0])
    directions = np.eye(n_features)
    best, added = -np.inf, 0.0
    for n_kept in range(max_iter):
        within, between = _scatters([_normalised(b, directions) for b in bases], codes)
        if np.trace(within) <= np.finfo(np.float64).eps * n_features:
            # Halves of sets that do not vary are equal: there is nothing to learn.
            return directions, added, n_kept
        if np.linalg.matrix_rank(within, hermitian=True) < n_features:
            added = 1e-6 * float(np.trace(within)) / n_features
            within = within + added * np.eye(n_features)
        objective = np.linalg.slogdet(between)[1] - np.linalg.slogdet(within)[1]
        if objective < best:
            return directions, added, n_kept
        best = objective
        found = linalg.eigh(between, within)[1][:, ::-1]
        # Of unit length. As `eigh` scales them, T T' = inv(S_w), and S_b would have no say.
        directions = found / np.linalg.norm(found, axis=0)
    return directions, added, max_iter


def _normalised(basis: FloatArray, directions: FloatArray) -> tuple[FloatArray, FloatArray]:
    """The basis, mixed so that its projection is orthonormal, and that projection."""
    projected = directions.T @ basis
    left, strengths, right = linalg.svd(projected, full_matrices=False, check_finite=False)
    rank = numerical_rank(strengths, projected.shape)
    return basis @ (right[:rank].T / strengths[:rank]), left[:, :rank]


def _scatters(
    bases: Sequence[tuple[FloatArray, FloatArray]], codes: IntArray
) -> tuple[FloatArray, FloatArray]:
    """Mean scatter of canonical differences within classes, and between them."""
    n_features = len(bases[0][0])
    sums = np.zeros((2, n_features, n_features))
    counts = np.zeros(2)
    for i, others, differences in _canonical_differences(bases):
        for kind, chosen in enumerate((codes[others] == codes[i], codes[others] != codes[i])):
            flat = np.moveaxis(differences[chosen], 1, 0).reshape(n_features, -1)
            sums[kind] += flat @ flat.T
            counts[kind] += chosen.sum()
    within, between = sums / np.maximum(counts, 1)[:, None, None]
    return within, between


def _canonical_differences(
    bases: Sequence[tuple[FloatArray, FloatArray]],
) -> Iterator[tuple[int, IntArray, FloatArray]]:
    """Differences of canonical vectors of set ``i`` and later ones, by groups of equal size."""
    sizes = np.array([basis.shape[1] for basis, _ in bases])
    for size in np.unique(sizes):
        members = np.flatnonzero(sizes == size)
        chosen = [bases[j] for j in members.tolist()]
        unprojected, projected = map(np.array, zip(*chosen, strict=True))
        for i, (basis, shown) in enumerate(bases):
            is_later = members > i
            if is_later.any():
                products = shown.T @ projected[is_later]
                left, _, right = np.linalg.svd(products, full_matrices=False)
                theirs = unprojected[is_later] @ np.swapaxes(right, 1, 2)
                yield i, members[is_later], basis @ left - theirs  # (others, features, angles)
