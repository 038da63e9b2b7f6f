"""The battery: every check of a set classifier, one by one or all at once."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from setwise.errors import SetwiseWarning
from setwise.evaluation.testing import inputs
from setwise.evaluation.testing.checks import CHECKS, CheckFunction
from setwise.sets import SetBatch

__all__ = ["Check", "OnRows", "check_set_classifier", "on_rows", "set_classifier_checks"]

MODULES = (inputs,)  # importing it enters its checks


@dataclass(frozen=True)
class Check:
    """One check of one classifier: call it, and it passes or raises AssertionError.

    Attributes
    ----------
    name : str
    classifier : object
        Copies of it are checked, so it never changes.
    function : callable
        The check itself, a function of the classifier.

    Examples
    --------
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import set_classifier_checks
    >>> set_classifier_checks(MeanCosine())[0]()
    """

    name: str
    classifier: Any
    function: CheckFunction

    def __call__(self) -> None:
        """Run it; an AssertionError names the check and the classifier."""
        shown = " ".join(repr(self.classifier).split())
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SetwiseWarning)  # a weak answer is an answer
                self.function(self.classifier)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            msg = f"{self.name}: {shown}: {kind}{error}"
            raise AssertionError(msg) from error

    def __str__(self) -> str:
        return self.name


def set_classifier_checks(classifier: Any) -> list[Check]:
    """List the checks that apply to a set classifier, to run each as a test of its own.

    Checks of ``predict_proba``, ``decision_function``, ``n_jobs`` and ``random_state`` apply
    where the classifier has them. Some check that the labels of easy sets are right (see
    :func:`separable_sets`), so choose parameters that suit sets of six vectors or more.

    Parameters
    ----------
    classifier : object
        An unfitted scikit-learn classifier whose samples are sets.

    Examples
    --------
    With pytest, one test for each check::

        @pytest.mark.parametrize("check", set_classifier_checks(MyClassifier()), ids=str)
        def test_my_classifier(check):
            check()

    Leave out by its name a check that your classifier cannot pass by its nature:

    >>> from setwise.baselines import MSM
    >>> from setwise.evaluation.testing import set_classifier_checks
    >>> checks = [c for c in set_classifier_checks(MSM()) if c.name != "scale_does_not_matter"]
    """
    return [
        Check(function.__name__, classifier, function)
        for function, needs in CHECKS.items()
        if all(hasattr(classifier, need) for need in needs)
    ]


def check_set_classifier(classifier: Any) -> None:
    """Run every check that applies to a set classifier; stop at the first that fails.

    Parameters
    ----------
    classifier : object
        An unfitted scikit-learn classifier whose samples are sets. It is not changed.

    Raises
    ------
    AssertionError
        Naming the check, the classifier, the expectation and the observation.

    Examples
    --------
    >>> from setwise.baselines import MeanVector
    >>> from setwise.evaluation.testing import check_set_classifier
    >>> check_set_classifier(MeanVector())
    """
    for check in set_classifier_checks(classifier):
        check()


def _has(method: str) -> Callable[[OnRows], bool]:
    return lambda self: hasattr(self.classifier, method)


class OnRows(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A set classifier for 2-D arrays: every row is a set of one vector.

    So scikit-learn's checks of classifiers (``parametrize_with_checks``) run on it.

    Parameters
    ----------
    classifier : object
        A set classifier; a copy of it is fitted.

    Examples
    --------
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import OnRows
    >>> OnRows(MeanCosine()).fit([[1.0, 0.1], [0.1, 1.0]], [0, 1]).predict([[2.0, 0.1]])
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
        return self._ask("predict", X)

    @available_if(_has("predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Probability of each class for each row."""
        return self._ask("predict_proba", X)

    @available_if(_has("decision_function"))  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> npt.NDArray[np.float64]:
        """Score of each class for each row."""
        return self._ask("decision_function", X)

    def _ask(self, method: str, X: Any) -> npt.NDArray[Any]:
        check_is_fitted(self)
        answers: npt.NDArray[Any] = getattr(self.classifier_, method)(self._as_sets(X))
        return answers

    def _as_sets(self, X: Any, *, reset: bool = False) -> SetBatch:
        # Values are not checked here: the classifier should refuse bad ones itself.
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=reset)
        return SetBatch.from_rows(rows)

    def __sklearn_tags__(self) -> Any:
        tags = get_tags(self.classifier)
        tags.input_tags.two_d_array = True
        return tags


def on_rows(classifier: Any) -> OnRows:
    """Adapt a set classifier to 2-D arrays, see :class:`OnRows`.

    Examples
    --------
    >>> from setwise.baselines import MeanVector
    >>> from setwise.evaluation.testing import on_rows
    >>> on_rows(MeanVector()).fit([[0.0, 1.0], [1.0, 0.0]], ["up", "right"]).predict([[0, 2]])
    array(['up'], dtype='<U5')
    """
    return OnRows(classifier)
