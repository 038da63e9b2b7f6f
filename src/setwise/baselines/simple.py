"""Simple rivals: frame votes, the cosine of means, the closest pair of vectors."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy.spatial.distance import cdist

from setwise._support.parameters import check_choice, check_count
from setwise._support.types import FloatArray, IntArray
from setwise.baselines.base import Baseline, NearestSet, nearest_by_class, relative_softmax
from setwise.features.vectors import unit_rows
from setwise.sets import SetBatch

# The mean of unit vectors shorter than this is rounding error: it has no direction.
_SHORTEST_MEAN = 1e-12


def directions(vectors: FloatArray) -> FloatArray:
    """The non-zero vectors, scaled to unit norm."""
    return unit_rows(vectors[vectors.any(axis=1)])


def mean_direction(vectors: FloatArray, *, robust: bool = False) -> FloatArray:
    """Direction of the mean of a set's unit vectors; zeros where the mean vanishes.

    With ``robust``, of the half with the largest cosines with the coordinate-wise median.
    """
    rows = directions(vectors)
    if robust and len(rows) > 2:
        cosines = rows @ np.median(rows, axis=0)
        rows = rows[cosines >= np.sort(cosines)[len(rows) // 2]]
    mean = rows.mean(axis=0)
    return unit_rows(mean[None])[0] if np.linalg.norm(mean) > _SHORTEST_MEAN else 0.0 * mean


@dataclass(eq=False, repr=False)
class FrameVote(Baseline):
    """Every vector votes for the classes of its nearest gallery vectors.

    The score of a class is its share of the votes. Ties go to the class whose nearest vectors
    are nearer on average.

    Parameters
    ----------
    n_neighbors : int, default=1
        Votes of each vector; at most the number of gallery vectors.
    metric : {"euclidean", "cosine"}, default="euclidean"
        Distance of two vectors; zero vectors have no cosine and are left out.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import FrameVote
    >>> from setwise.evaluation.testing import separable_sets
    >>> FrameVote(metric="cosine").fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    n_neighbors: int = 1
    _: KW_ONLY
    metric: str = "euclidean"

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        check_count("FrameVote", "n_neighbors", self.n_neighbors)
        check_choice("FrameVote", "metric", self.metric, ("euclidean", "cosine"))
        models = [self._compared(vectors) for vectors in gallery]
        self.vectors_ = np.concatenate(models)
        self.vector_codes_ = np.repeat(codes, [len(model) for model in models])
        self.n_neighbors_ = min(self.n_neighbors, len(self.vectors_))

    def _compared(self, vectors: FloatArray) -> FloatArray:
        """Vectors to compare: between unit vectors, the nearest has the largest cosine."""
        return directions(vectors) if self.metric == "cosine" else vectors

    def _score(self, vectors: FloatArray) -> FloatArray:
        distances = cdist(self._compared(vectors), self.vectors_)
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


@dataclass(eq=False, repr=False)
class MeanCosine(NearestSet):
    """The cosine of means: the usual way to compare sets of embeddings.

    A set is the direction of the mean of its unit vectors, and the score of a class is the
    largest cosine with one of its gallery sets.

    Parameters
    ----------
    robust : bool, default=False
        Use the half of a set's vectors nearest to their median, so that outliers do not count.
    n_jobs : int, optional

    Examples
    --------
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> MeanCosine().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    _: KW_ONLY
    robust: bool = False

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        check_choice("MeanCosine", "robust", self.robust, (False, True))

    def _stacked(self, models: list[FloatArray]) -> FloatArray:
        return np.array(models)

    def _model(self, vectors: FloatArray) -> FloatArray:
        return mean_direction(vectors, robust=self.robust)

    def _distances(self, model: FloatArray) -> FloatArray:
        return 1.0 - self.gallery_models_ @ model

    def _score(self, vectors: FloatArray) -> FloatArray:
        return 1.0 + super()._score(vectors)

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        return relative_softmax(scores - 1.0)


class MeanVector(NearestSet):
    """The nearest mean: a set is its mean vector, and distances are Euclidean.

    Examples
    --------
    >>> from setwise.baselines import MeanVector
    >>> from setwise.evaluation.testing import separable_sets
    >>> MeanVector().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    def _model(self, vectors: FloatArray) -> FloatArray:
        return vectors.mean(axis=0, keepdims=True)

    def _distances(self, model: FloatArray) -> FloatArray:
        return cdist(np.concatenate(self.gallery_models_), model)[:, 0]


class MinimumDistance(NearestSet):
    """The closest pair: the distance of two sets is that of their two nearest vectors.

    Examples
    --------
    >>> from setwise.baselines import MinimumDistance
    >>> from setwise.evaluation.testing import separable_sets
    >>> MinimumDistance().fit(*separable_sets()).score(*separable_sets())
    1.0
    """

    def _gallery_models(self, gallery: SetBatch) -> SetBatch:
        return gallery

    def _model(self, vectors: FloatArray) -> FloatArray:
        return vectors

    def _distances(self, model: FloatArray) -> FloatArray:
        gallery = self.gallery_models_
        nearest = cdist(gallery.vectors, model).min(axis=1)
        return np.minimum.reduceat(nearest, gallery.offsets[:-1])
