"""What every set classifier shares: the gate, the labels, the threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from setwise.parallel import one_blas_thread
from setwise.sets import SetBatch, check_labels, check_sets
from setwise.types import FloatArray, IntArray

__all__ = ["SetClassifier"]


class SetClassifier(ClassifierMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A scikit-learn classifier whose samples are sets.

    A method says what it keeps of a gallery (:meth:`_solve`) and what it thinks of sets
    (:meth:`_scores`). Each set is judged alone: its answer never depends on the others.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Labels, sorted.
    n_features_in_ : int
        Length of the vectors.
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
        caller = f"{type(self).__name__}.fit"
        gallery = check_sets(X, caller=caller)
        classes, codes = check_labels(y, len(gallery), caller=caller)
        with one_blas_thread():
            self._solve(gallery, codes)
        self.classes_ = classes
        self.n_features_in_ = gallery.n_features
        return self

    @abstractmethod
    def _solve(self, gallery: SetBatch, codes: IntArray) -> None:
        """Check the parameters, and keep of the gallery what a probe will need."""

    @abstractmethod
    def _scores(self, X: Any, caller: str) -> FloatArray:
        """Score of each class (column) for each set (row), largest for its label."""

    @abstractmethod
    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each set."""

    @abstractmethod
    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class for each set."""

    def decision_function(self, X: Any) -> FloatArray:
        """Score of each class for each set, largest for the label predicted.

        For two classes, the second's score less the first's, as scikit-learn has it.
        """
        scores = self._scores(X, "decision_function")
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
