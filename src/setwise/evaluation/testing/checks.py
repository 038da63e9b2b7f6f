"""The battery: every check of a set classifier, one by one or all at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from setwise.evaluation.testing import answers, conventions, inputs, refusals, state
from setwise.evaluation.testing.expect import own_warnings_ignored
from setwise.evaluation.testing.registry import ENTRIES, CheckFunction

__all__ = ["Check", "check_set_classifier", "set_classifier_checks"]

# Importing a family enters its checks. They are asked in this order: what goes wrong first
# explains the most.
FAMILIES = (conventions, answers, inputs, refusals, state)


@dataclass(frozen=True)
class Check:
    """One question to one classifier: call it, and it passes or raises AssertionError.

    Attributes
    ----------
    name : str
        What is asked.
    classifier : object
        Who is asked; copies of it are, so that it is never changed.
    function : callable
        The check itself, a function of the classifier.

    Examples
    --------
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import set_classifier_checks
    >>> check = set_classifier_checks(MeanCosine())[0]
    >>> check()
    >>> len(str(check)) > 0
    True
    """

    name: str
    classifier: Any
    function: CheckFunction

    def __call__(self) -> None:
        """Ask; raise AssertionError, with the name of check and classifier, if it fails."""
        who = " ".join(repr(self.classifier).split())
        try:
            with own_warnings_ignored():
                self.function(self.classifier)
        except Exception as error:
            kind = "" if isinstance(error, AssertionError) else f"{type(error).__name__}: "
            msg = f"{self.name}: {who}: {kind}{error}"
            raise AssertionError(msg) from error

    def __str__(self) -> str:
        return self.name


def set_classifier_checks(classifier: Any) -> list[Check]:
    """List the checks that apply to a set classifier, to run each as a test of its own.

    Checks of ``predict_proba``, ``decision_function``, ``n_jobs`` and ``random_state`` apply
    where the classifier has them. Some check that the labels of easy sets are right (see
    :func:`separable_sets`), so give it parameters that suit sets of six vectors or more.

    Parameters
    ----------
    classifier : object
        An unfitted scikit-learn classifier whose samples are sets.

    Returns
    -------
    list of Check
        Functions without parameters, named by ``str``.

    Examples
    --------
    With pytest, one test for each check::

        import pytest
        from setwise.evaluation.testing import set_classifier_checks

        @pytest.mark.parametrize("check", set_classifier_checks(MyClassifier()), ids=str)
        def test_my_classifier(check):
            check()

    A check that your classifier cannot pass by its nature is left out by its name:

    >>> from setwise import CVC
    >>> checks = set_classifier_checks(CVC(dims=(1, 3)))
    >>> [str(check) for check in checks if check.name != "scale_does_not_matter"][:2]
    ['init_stores_its_parameters_and_nothing_else', 'parameters_survive_a_round_trip']
    """
    return [
        Check(function.__name__, classifier, function)
        for family in FAMILIES
        for function, needs in ENTRIES.items()
        if function.__module__ == family.__name__
        and all(hasattr(classifier, need) for need in needs)
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
        Naming the check, the classifier, what was expected and what came.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import check_set_classifier
    >>> check_set_classifier(CVC(dims=(1, 3), representations=[("plain", "svd")]))
    """
    for check in set_classifier_checks(classifier):
        check()
