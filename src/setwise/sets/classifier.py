"""What every set classifier shares: the gate, the labels, the threads."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin

from setwise._support.parallel import one_blas_thread
from setwise._support.parameters import check_jobs
from setwise._support.types import FloatArray, IntArray
from setwise.errors import reject
from setwise.sets.batch import SetBatch
from setwise.sets.gate import check_labels, check_sets

__all__ = ["SetClassifier", "largest_by_class", "one_set"]


def largest_by_class(
    row_values: FloatArray, row_classes: IntArray, n_classes: int
) -> FloatArray:
    """Largest value among the rows of each class, along the last axis."""
    best = np.full((*row_values.shape[:-1], n_classes), -np.inf)
    np.maximum.at(np.moveaxis(best, -1, 0), row_classes, np.moveaxis(row_values, -1, 0))
    return best


def one_set(probe: Any, check: Callable[[Any], SetBatch], caller: str) -> SetBatch:
    """The batch of the one set that is to be explained: an array, or a collection of one.

    Parameters
    ----------
    probe : array of shape (n_vectors, n_features), or a collection of sets
        What was given.
    check : callable
        The gate that sets come through.
    caller : str
        Who asks, for messages.
    """
    batch = check([probe] if isinstance(probe, np.ndarray) and probe.ndim == 2 else probe)
    if len(batch) != 1:
        reject(f"{caller}: expected one set, got {len(batch)}. Explain them one by one.")
    return batch


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

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.baselines import MSM
    >>> from setwise.sets import SetClassifier
    >>> issubclass(CVC, SetClassifier), issubclass(MSM, SetClassifier)
    (True, True)
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
        """Check the parameters, and keep of the gallery what a probe will need."""
        raise NotImplementedError

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
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        return tags
