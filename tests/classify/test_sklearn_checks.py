"""scikit-learn's own estimator checks, every row presented as a set of one vector."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.utils.estimator_checks import estimator_checks_generator
from sklearn.utils.validation import check_array

from setwise import CVC, SetBatch
from setwise.baselines import (
    CDL,
    GDA,
    MDA,
    MMD,
    MSM,
    FrameVote,
    LogEuclidean,
    MeanVector,
    MinimumDistance,
)
from setwise.baselines.base import NearestSet
from setwise.baselines.kernel_sets import KernelSetClassifier
from setwise.evaluation.testing import on_rows

# Reasons stand beside each; a check that starts to pass fails the test (strict).
EXPECTED_TO_FAIL = {
    "check_estimators_dtypes": "its integers hold a row of zeros, and a set of nothing but "
    "zeros has no direction: it is refused",
    "check_dtype_object": "arrays of Python objects are refused, not converted on the quiet",
}


OF_NEAREST_SETS = {
    "check_decision_proba_consistency": "probabilities are in units of the set's own mean "
    "distance, scores in those of the data: they rank the classes of a set alike, not the sets"
}


def expected_to_fail(estimator):
    is_nearest = isinstance(estimator.classifier, NearestSet | KernelSetClassifier)
    return EXPECTED_TO_FAIL | (OF_NEAREST_SETS if is_nearest else {})


# Those that are quick on 300 sets; the others have the battery of tests/evaluation/testing.
CVC_OF_ONE_DIMENSION = CVC(
    dims=(1,),
    representations=[("plain", "svd")],
    evidence=("edges", "all angles"),
    random_state=0,
)
ONE_PER_BASE_CLASS = (CVC_OF_ONE_DIMENSION, FrameVote(), MeanVector(), GDA())
THEIR_RELATIVES = (MinimumDistance(), LogEuclidean(), MSM(), MMD(), MDA(), CDL())


def cases():
    """Every check; slow are those of relatives, and repetitions with another kind of array."""
    for classifier in (*ONE_PER_BASE_CLASS, *THEIR_RELATIVES):
        reasons = expected_to_fail(on_rows(classifier))
        for estimator, check in estimator_checks_generator(on_rows(classifier)):
            name = check.func.__name__
            marks = [pytest.mark.xfail(reason=reasons[name])] if name in reasons else []
            if classifier in THEIR_RELATIVES or check.keywords:
                marks.append(pytest.mark.slow)
            case_id = "-".join([type(classifier).__name__, name, *check.keywords])
            yield pytest.param(estimator, check, id=case_id, marks=marks)


# A single vector often shares no cluster with any class; that is what the warning is for.
@pytest.mark.filterwarnings("ignore::setwise.errors.NoInformationWarning")
@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # rows of noise
@pytest.mark.parametrize(("estimator", "check"), list(cases()))
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_adapter_is_what_it_says():
    X = np.vstack([np.eye(4), np.eye(4) + 0.1])
    y = [0, 1, 2, 3] * 2
    given = CVC(dims=(1,), representations=[("plain", "svd"), ("whitened", "svd")])
    rows = on_rows(given).fit(X, y)
    sets = clone(given).fit(SetBatch.from_rows(X), y)
    probes = [check_array(x[None]) for x in X]
    for method in ("predict", "predict_proba", "decision_function"):
        np.testing.assert_array_equal(getattr(rows, method)(X), getattr(sets, method)(probes))
    assert not hasattr(given, "classes_")  # a copy is fitted
