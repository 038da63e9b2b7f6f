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
from setwise.evaluation.testing import checks, inputs
from setwise.sets import SetBatch

# Every public function defined in these modules is a check; basic ones come first.
CHECKS: list[Callable[[Any], None]] = [
    thing
    for module in (checks, inputs)
    for name, thing in vars(module).items()
    if getattr(thing, "__module__", "") == module.__name__ and not name.startswith("_")
]
# Attributes without which a check does not apply.
NEEDS = {
    checks.decision_function_agrees_with_predict: "decision_function",
    checks.predict_proba_agrees_with_predict: "predict_proba",
    checks.n_jobs_does_not_matter: "n_jobs",
}


@dataclass(frozen=True)
class Check:
    """One check of one classifier: call it, and it passes or raises AssertionError.

    Examples
    --------
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import set_classifier_checks
    >>> set_classifier_checks(MeanCosine())[0]()
    """

    name: str
    classifier: Any  # copies of it are checked, so it never changes
    function: Callable[[Any], None]

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
    """List the checks that apply to an unfitted set classifier, one test for each.

    Checks of ``predict_proba``, ``decision_function`` and ``n_jobs`` apply where the classifier
    has them. Easy sets must get the right labels (see :func:`separable_sets`), so choose
    parameters that suit sets of six vectors or more.

    Examples
    --------
    >>> from setwise.baselines import MSM
    >>> from setwise.evaluation.testing import set_classifier_checks
    >>> checks = [c for c in set_classifier_checks(MSM()) if c.name != "scale_does_not_matter"]
    >>> len(checks) == len(set_classifier_checks(MSM())) - 1
    True
    """
    return [
        Check(function.__name__, classifier, function)
        for function in CHECKS
        if function not in NEEDS or hasattr(classifier, NEEDS[function])
    ]


def check_set_classifier(classifier: Any) -> None:
    """Run every check that applies to an unfitted set classifier; stop at a failure.

    The AssertionError names the check, the classifier, the expectation and the observation.

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
        self.classifier_ = clone(self.classifier).fit(self._as_sets(X, reset=True), y)
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
    >>> on_rows(MeanVector())
    OnRows(classifier=MeanVector())
    """
    return OnRows(classifier)
