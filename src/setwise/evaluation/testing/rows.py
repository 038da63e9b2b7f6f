"""The adapter through which scikit-learn's own checks reach set classifiers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from setwise.sets import SetBatch

__all__ = ["OnRows", "on_rows"]


def _has(method: str) -> Callable[[OnRows], bool]:
    return lambda self: hasattr(self.classifier, method)


class OnRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A set classifier that is shown every row of a 2-D array as a set of one vector.

    Parameters
    ----------
    classifier : object
        A set classifier; a copy of it is fitted.

    Attributes
    ----------
    classifier_ : object
        The fitted copy.
    classes_ : array of shape (n_classes,)
        Labels, sorted.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import OnRows
    >>> X = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.1, 0.9]])
    >>> OnRows(MeanCosine()).fit(X, [0, 0, 1, 1]).predict([[2.0, 0.1]])
    array([0])
    """

    def __init__(self, classifier: Any) -> None:
        self.classifier = classifier

    def fit(self, X: Any, y: Any) -> Self:
        """Learn a gallery of rows."""
        sets = self._as_sets(X, reset=True)
        self.classifier_ = clone(self.classifier).fit(sets, y)
        self.classes_ = self.classifier_.classes_
        return self

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Label of each row."""
        return self._fitted().predict(self._as_sets(X))

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probability of each class for each row."""
        return self._fitted().predict_proba(self._as_sets(X))

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Score of each class for each row."""
        return self._fitted().decision_function(self._as_sets(X))

    def _fitted(self) -> Any:
        check_is_fitted(self)
        return self.classifier_

    def _as_sets(self, X: Any, *, reset: bool = False) -> SetBatch:
        # Values are not looked at here: to refuse them is the classifier's own business.
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
        return SetBatch.from_rows(rows)

    def __sklearn_tags__(self) -> Any:
        tags = get_tags(self.classifier)
        tags.input_tags.two_d_array = True
        return tags


def on_rows(classifier: Any) -> OnRows:
    """Show a set classifier every row of a 2-D array as a set of one vector.

    So scikit-learn's checks of classifiers, which know nothing of sets, run on it too.

    Parameters
    ----------
    classifier : object
        A set classifier. It is not changed.

    Examples
    --------
    With pytest::

        from sklearn.utils.estimator_checks import parametrize_with_checks
        from setwise.evaluation.testing import on_rows

        @parametrize_with_checks([on_rows(MyClassifier())])
        def test_scikit_learn_checks(estimator, check):
            check(estimator)

    >>> from setwise.baselines import MeanVector
    >>> on_rows(MeanVector()).fit([[0.0, 1.0], [1.0, 0.0]], ["up", "right"]).predict([[0, 2]])
    array(['up'], dtype='<U5')
    """
    return OnRows(classifier)
