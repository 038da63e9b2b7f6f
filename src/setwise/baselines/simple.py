"""What people really use: frame voting, mean vectors, the closest pair of vectors."""

from __future__ import annotations

import numpy as np
from scipy.spatial.distance import cdist

from setwise._support.parameters import check_count
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import Baseline, NearestSet, nearest_by_class
from setwise.sets import SetBatch

__all__ = ["FrameVote", "MeanVector", "MinimumDistance"]


class FrameVote(Baseline):
    """Every vector votes for the class of its nearest gallery vectors.

    The score of a class is its share of the votes of the set's vectors, ``n_neighbors`` votes
    each. Ties go to the class whose nearest vectors are nearer on average.

    Parameters
    ----------
    n_neighbors : int, default=1
        How many nearest gallery vectors each vector asks.
    n_jobs : int, optional
        Threads.

    Attributes
    ----------
    n_neighbors_ : int
        ``n_neighbors``, or the number of gallery vectors if there are fewer.
    """

    def __init__(self, n_neighbors: int = 1, *, n_jobs: int | None = None) -> None:
        self.n_neighbors = n_neighbors
        self.n_jobs = n_jobs

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        check_count("FrameVote", "n_neighbors", self.n_neighbors)
        self.vectors_ = gallery.vectors
        self.vector_codes_ = np.repeat(codes, gallery.sizes)
        self.n_neighbors_ = min(self.n_neighbors, len(self.vectors_))

    def _score(self, vectors: FloatArray) -> FloatArray:
        distances = cdist(vectors, self.vectors_)
        k = self.n_neighbors_
        nearest = np.argpartition(distances, k - 1, axis=1)[:, :k]
        n_classes = int(self.vector_codes_.max()) + 1
        votes = np.bincount(self.vector_codes_[nearest].ravel(), minlength=n_classes)
        mean = nearest_by_class(distances, self.vector_codes_).mean(axis=0)
        # Less than half a vote, so that it only ever decides between equals.
        tie_break = 0.4 / (1.0 + mean / (mean.mean() or 1.0))
        return (votes + tie_break) / votes.sum()

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return scores / scores.sum(axis=1, keepdims=True)


class MeanVector(NearestSet):
    """The nearest mean: every set is its mean vector, and distances are Euclidean.

    Parameters
    ----------
    n_jobs : int, optional
        Threads.
    """

    def _model(self, vectors: FloatArray) -> FloatArray:
        return vectors.mean(axis=0, keepdims=True)

    def _distances(self, model: FloatArray) -> FloatArray:
        return cdist(np.concatenate(self.gallery_models_), model)[:, 0]


class MinimumDistance(NearestSet):
    """The closest pair: sets are as far apart as their two nearest vectors.

    Parameters
    ----------
    n_jobs : int, optional
        Threads.
    """

    def _gallery_models(self, gallery: SetBatch) -> SetBatch:
        return gallery

    def _model(self, vectors: FloatArray) -> FloatArray:
        return vectors

    def _distances(self, model: FloatArray) -> FloatArray:
        gallery = self.gallery_models_
        nearest = cdist(gallery.vectors, model).min(axis=1)
        return np.minimum.reduceat(nearest, gallery.offsets[:-1])
