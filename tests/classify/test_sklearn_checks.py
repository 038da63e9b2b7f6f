"""scikit-learn's own estimator checks, every row presented as a set of one vector."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from setwise import CVC, SetBatch


class OnRows(CVC):
    """CVC that takes the rows of a 2-D array for singleton sets."""

    def fit(self, X, y):
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False)
        super().fit(SetBatch.from_rows(rows), y)
        return self

    def _answers(self, X, caller, *, stop):
        if isinstance(X, SetBatch):
            return super()._answers(X, caller, stop=stop)
        check_is_fitted(self)
        rows = validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False)
        return super()._answers(SetBatch.from_rows(rows), caller, stop=stop)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


# Reasons stand beside each; a check that starts to pass fails the test (strict).
EXPECTED_TO_FAIL = {
    "check_estimators_dtypes": "its integers hold a row of zeros, and a set of nothing but "
    "zeros has no direction: it is refused",
    "check_dtype_object": "arrays of Python objects are refused, not converted on the quiet",
}


# A single vector often shares no cluster with any class; that is what the warning is for.
@pytest.mark.filterwarnings("ignore::setwise.errors.NoInformationWarning")
@parametrize_with_checks(
    [OnRows(dims=(1,), bases=("svd",), views=("plain",), random_state=0)],
    expected_failed_checks=lambda estimator: EXPECTED_TO_FAIL,
)
def test_scikit_learn_checks(estimator, check):
    check(estimator)


def test_the_adapter_is_what_it_says():
    X = np.vstack([np.eye(4), np.eye(4) + 0.1])
    y = [0, 1, 2, 3] * 2
    rows = OnRows(dims=(1,), bases=("svd",)).fit(X, y).predict(X)
    sets = CVC(dims=(1,), bases=("svd",)).fit(SetBatch.from_rows(X), y)
    np.testing.assert_array_equal(rows, sets.predict([check_array(x[None]) for x in X]))
