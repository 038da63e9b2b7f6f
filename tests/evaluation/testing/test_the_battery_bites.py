"""Each check of the battery catches a classifier that is broken in that way."""

from __future__ import annotations

import pytest
from tests.evaluation.testing import broken_answers, broken_conventions, broken_inputs
from tests.evaluation.testing.sound import CULPRITS, NearestMean

from setwise.evaluation.testing import check_set_classifier, set_classifier_checks

# To import these is to enter their classifiers among the culprits.
BROKEN = (broken_answers, broken_conventions, broken_inputs)


def checks_of(classifier):
    return {check.name: check for check in set_classifier_checks(classifier)}


@pytest.mark.parametrize("name", checks_of(NearestMean()))
def test_a_sound_classifier_passes(name):
    checks_of(NearestMean())[name]()


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        pytest.param(name, kind, id=f"{name}-{kind.__name__}")
        for name, kinds in CULPRITS.items()
        for kind in kinds
    ],
)
def test_a_broken_one_is_caught(name, broken):
    with pytest.raises(AssertionError, match=rf"^{name}: {broken.__name__}\(") as caught:
        checks_of(broken())[name]()
    assert "\n" not in str(caught.value)


def test_every_check_has_caught_somebody():
    assert set(CULPRITS) == set(checks_of(NearestMean()))


def test_all_at_once_stops_at_the_culprit():
    check_set_classifier(NearestMean())
    with pytest.raises(AssertionError, match=r"^fit_learns_classes.*: UnsortedClasses"):
        check_set_classifier(broken_conventions.UnsortedClasses())


class LabelsOnly(NearestMean):
    """Sound, but with no scores, no threads and no seed."""

    predict_proba = property()
    decision_function = property()

    def __init__(self):
        pass


def test_checks_of_what_a_classifier_lacks_are_left_out():
    left_out = set(checks_of(NearestMean())) - set(checks_of(LabelsOnly()))
    assert left_out == {
        "decision_function_agrees_with_predict",
        "predict_proba_agrees_with_predict",
        "n_jobs_does_not_matter",
    }
    check_set_classifier(LabelsOnly())
