"""The base of all set classifiers: checks, labels, threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_jobs
from setwise._support.types import Array, FloatArray, IntArray
from setwise.errors import reject
from setwise.sets.batch import SetBatch
from setwise.sets.gate import check_labels, check_sets


def largest_by_class(
    row_values: FloatArray, row_classes: IntArray, n_classes: int
) -> FloatArray:
    """Largest value among the rows of each class, along the last axis."""
    best = np.full((*row_values.shape[:-1], n_classes), -np.inf)
    if row_values.ndim == 1:
        np.maximum.at(best, row_classes, row_values)
        return best
    np.maximum.at(np.moveaxis(best, -1, 0), row_classes, np.moveaxis(row_values, -1, 0))
    return best


def one_set(probe: Any, check: Callable[[Any], SetBatch], caller: str) -> SetBatch:
    """A batch of exactly one set: an array, or a collection of one set."""
    batch = check([probe] if isinstance(probe, np.ndarray) and probe.ndim == 2 else probe)
    if len(batch) != 1:
        reject(f"{caller}: expected one set, got {len(batch)}. Explain them one by one.")
    return batch


class SetClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn classifier whose samples are sets, each judged alone.

    A method implements what it keeps of a gallery (:meth:`_solve`) and its scores of sets
    (:meth:`_scores`).

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.sets import SetClassifier
    >>> issubclass(CVC, SetClassifier)
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a gallery.

        Parameters
        ----------
        X : list of arrays of shape (n_vectors_i, n_features), SetBatch or 3-D array
            Gallery sets.
        y : array of shape (n_sets,)
            Class of each set.
        """
        check_jobs(type(self).__name__, getattr(self, "n_jobs", None))
        caller = f"{type(self).__name__}.fit"
        gallery = check_sets(X, caller=caller)
        classes, codes = check_labels(y, len(gallery), caller=caller)
        with one_blas_thread():
            self._solve(gallery, codes)
        self.classes_ = classes
        self.n_features_in_ = gallery.n_features
        return self

    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        """Check the parameters, and keep what probes will need of the gallery."""
        raise NotImplementedError

    @abstractmethod
    def _scores(self, X: Any, caller: str) -> FloatArray:
        """Score of each class (column) for each set (row), largest for its label."""

    @abstractmethod
    def predict(self, X: Any) -> Array:
        """Label of each set."""

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set."""

    def decision_function(self, X: Any) -> FloatArray:
        """Score of each class for each set; for two classes, the second's less the first's."""
        scores = self._scores(X, "decision_function")
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
