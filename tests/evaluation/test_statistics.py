"""Intervals and tests against their definitions."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import beta

from setwise.evaluation.significance import (
    accuracy_interval,
    adjusted_for_many,
    chance_of_difference,
)


@given(st.integers(1, 200), st.data())
def test_the_interval_is_that_of_clopper_and_pearson(n, data):
    k = data.draw(st.integers(0, n))
    low, high = accuracy_interval(np.arange(n) < k, 0.95)
    assert low == pytest.approx(beta.ppf(0.025, k, n - k + 1) if k else 0.0, abs=1e-9)
    assert high == pytest.approx(beta.ppf(0.975, k + 1, n - k) if k < n else 1.0, abs=1e-9)


@given(st.integers(0, 12), st.integers(0, 12))
def test_mcnemar_counts_the_probes_that_one_alone_got_right(b, c):
    both = np.ones(5, dtype=bool)
    one = np.concatenate([both, np.ones(b, dtype=bool), np.zeros(c, dtype=bool)])
    other = np.concatenate([both, np.zeros(b, dtype=bool), np.ones(c, dtype=bool)])
    n = b + c
    tail = sum(comb(n, k) for k in range(min(b, c) + 1)) / 2**n
    expected = 1.0 if b == c else 2 * tail
    assert chance_of_difference(one, other) == pytest.approx(min(expected, 1.0))
    assert chance_of_difference(other, one) == chance_of_difference(one, other)


def test_holm_step_by_step():
    # 0.01 * 4, 0.02 * 3, 0.03 * 2, then 0.04 * 1 is raised to what came before.
    found = adjusted_for_many([0.04, 0.01, 0.03, 0.02])
    np.testing.assert_allclose(found, [0.06, 0.04, 0.06, 0.06])
    assert len(adjusted_for_many([])) == 0


@given(st.lists(st.floats(0, 1), min_size=1, max_size=20))
def test_correction_never_makes_a_difference_surer_and_keeps_the_order(values):
    found = adjusted_for_many(values)
    assert (found >= np.array(values) - 1e-15).all()
    assert (found <= 1).all()
    order = np.argsort(values, kind="stable")
    assert (np.diff(found[order]) >= 0).all()
