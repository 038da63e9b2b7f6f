"""Base classes of the rivals: one set at a time, and the nearest gallery set."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.special import softmax
from sklearn.utils.validation import check_is_fitted

from setwise._support.parallel import in_threads
from setwise._support.types import FloatArray, IntArray
from setwise.sets import SetBatch, check_sets
from setwise.sets.classifier import SetClassifier, largest_by_class


def nearest_by_class(distances: FloatArray | Sequence[float], codes: IntArray) -> FloatArray:
    """Smallest distance among the gallery sets of each class, along the last axis."""
    return -largest_by_class(-np.asarray(distances), codes, int(codes.max()) + 1)


def relative_softmax(scores: FloatArray) -> FloatArray:
    """Softmax of negated distances, divided by the mean distance of each row."""
    mean = np.abs(scores).mean(axis=1, keepdims=True)
    return softmax(scores / np.where(mean > 0, mean, 1.0), axis=1)


@dataclass(eq=False, repr=False)  # scikit-learn has its own
class Baseline(SetClassifier):
    """A set classifier that scores one set at a time: define ``_solve`` and ``_score``."""

    _: KW_ONLY
    n_jobs: int | None = None

    @abstractmethod
    def _score(self, vectors: FloatArray) -> FloatArray:
        """Score of each class for one set, largest for its label."""

    def _scores(self, X: Any, caller: str) -> FloatArray:
        check_is_fitted(self)
        caller = f"{type(self).__name__}.{caller}"
        probes = check_sets(X, caller=caller, n_features=self.n_features_in_)
        self._check_probes(probes, caller)
        return np.array(list(in_threads(self._score, probes, self.n_jobs)))

    def _check_probes(self, probes: SetBatch, caller: str) -> None:
        """Refuse sets that the method cannot classify; by default there are none."""

    def _probabilities(self, scores: FloatArray) -> FloatArray:
        """Probability of each class for each set, from its scores."""
        return relative_softmax(scores)

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each set."""
        codes = self._scores(X, "predict").argmax(axis=1)
        return self.classes_[codes]

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set; uniform where all scores are equal.

        They rank the classes of a set; ``CalibratedClassifierCV`` gives calibrated frequencies.
        """
        return self._probabilities(self._scores(X, "predict_proba"))


class SetModels(Baseline):
    """A baseline that compares models of sets: define :meth:`_model`."""

    def _learn(self, gallery: SetBatch, codes: IntArray) -> None:
        """Check the parameters and fit what models need; does nothing by default."""

    @abstractmethod
    def _model(self, vectors: FloatArray) -> Any:
        """Model of one set."""

    def _stacked(self, models: list[Any]) -> Any:
        """Models of the gallery sets, side by side; a list by default."""
        return models


class NearestSet(SetModels):
    """The label of the nearest gallery set: define :meth:`_model` and :meth:`_distances`.

    The score of a class is the negated distance of its nearest set.
    """

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        self._learn(gallery, codes)
        self.gallery_models_ = self._gallery_models(gallery)
        self.gallery_codes_ = codes

    def _gallery_models(self, gallery: SetBatch) -> Any:
        return self._stacked([self._model(vectors) for vectors in gallery])

    @abstractmethod
    def _distances(self, model: Any) -> FloatArray | Sequence[float]:
        """Distance of one set to each gallery set."""

    def _score(self, vectors: FloatArray) -> FloatArray:
        return -nearest_by_class(self._distances(self._model(vectors)), self.gallery_codes_)
