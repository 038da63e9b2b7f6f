"""Discriminant analysis of canonical correlations."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_count
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import NearestSet
from setwise.baselines.subspaces import (
    Subspaces,
    orthonormalised,
    set_subspace,
    usable_dims,
)
from setwise.basis.svd import numerical_rank
from setwise.sets import SetBatch

__all__ = ["DCC", "discriminant_directions", "halved"]


class DCC(NearestSet):
    """Nearest set by canonical correlations, after a projection learned to favour classes.

    Sets are subspaces. The projection ``T`` maximises ``tr(T' S_b T) / tr(T' S_w T)``, where
    ``S_w`` and ``S_b`` are the scatters of the differences between corresponding canonical
    vectors of sets of one class and of different classes. Similarity is the mean cosine of
    all principal angles after the projection (Kim, Kittler and Cipolla, *Discriminative
    learning and recognition of image set classes using canonical correlations*, TPAMI 2007).

    In a gallery where a class has one set only, every set is divided in two halves to learn
    from, as the authors do.

    Parameters
    ----------
    n_dims : int, default=10
        Dimensions of a set's subspace.
    embedding : int, default=100
        Principal directions of the gallery's subspaces that are worked in, at most.
    max_iter : int, default=10
        Rounds of the alternation; it ends before when its objective falls.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_dims_ : int
        ``n_dims``, or half of the features if it is more: larger subspaces always meet.
    projection_ : array of shape (n_features, n_embedding)
        What bases are multiplied with, transposed.
    n_iter_ : int
        Rounds that raised the objective.
    regularisation_ : float
        What was added to the diagonal of ``S_w`` in the last round; 0 if it was regular.

    Examples
    --------
    >>> from setwise.baselines import DCC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = DCC(n_dims=3).fit(sets[::2], labels[::2])
    >>> clf.predict(sets[1::2])
    array([0, 1, 1, 2])
    """

    def __init__(
        self,
        n_dims: int = 10,
        *,
        embedding: int = 100,
        max_iter: int = 10,
        n_jobs: int | None = None,
    ) -> None:
        self.n_dims = n_dims
        self.embedding = embedding
        self.max_iter = max_iter
        self.n_jobs = n_jobs

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

    def _gallery_models(self, gallery: SetBatch) -> Subspaces:
        return Subspaces.of([self._model(vectors) for vectors in gallery])

    def _distances(self, model: FloatArray) -> FloatArray:
        found = self.gallery_models_.cosines(model)
        return np.array([1.0 - cosines.mean() if len(cosines) else 1.0 for cosines in found])


def halved(gallery: SetBatch) -> SetBatch:
    """Each set in two that are alike: every second vector along its main direction.

    As random halves, but without chance, and whatever the order of the vectors. A set of one
    vector is its own other half.
    """
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
    """The projection of DCC, what was added to ``S_w``, and after how many rounds it is.

    Parameters
    ----------
    bases : sequence of arrays of shape (n_features, n_dims_i)
        One a set, in the embedding.
    codes : array of int
        Class of each set; at least one class has two.
    max_iter : int
        Most rounds.
    """
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
    """Differences of canonical vectors of set ``i`` and later ones, by groups of equal size.

    Yields ``i``, the others, and an array of shape (n_others, n_features, n_angles).
    """
    sizes = np.array([basis.shape[1] for basis, _ in bases])
    for size in np.unique(sizes):
        members = np.flatnonzero(sizes == size)
        unprojected, projected = map(
            np.array, zip(*(bases[int(j)] for j in members), strict=True)
        )
        for i, (basis, shown) in enumerate(bases):
            is_later = members > i
            if is_later.any():
                left, _, right = np.linalg.svd(
                    shown.T @ projected[is_later], full_matrices=False
                )
                theirs = unprojected[is_later] @ np.swapaxes(right, 1, 2)
                yield i, members[is_later], basis @ left - theirs
