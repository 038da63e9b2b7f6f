"""Methods over repeated splits and over several datasets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.conftest import toy_sets

import setwise
from setwise.baselines import MSM, MeanVector
from setwise.errors import DataError, ParameterError
from setwise.evaluation import (
    Comparison,
    DatasetComparison,
    MethodResult,
    compare,
    compare_datasets,
)
from setwise.evaluation.compare import dealt
from setwise.evaluation.significance import (
    corrected_chance,
    corrected_interval,
    critical_difference,
    friedman_chance,
    ranks_of_methods,
)


@pytest.fixture(scope="module")
def problem():
    sets, labels = toy_sets(3, n_classes=3, n_sets=6, noise=1.6)
    return sets[::2], labels[::2], sets[1::2], labels[1::2]


@pytest.fixture(scope="module")
def found(problem):
    methods = {"MSM": MSM(), "mean": MeanVector(), "again": MSM()}
    return compare(*problem, methods=methods, n_splits=4, random_state=5)


def test_each_split_deals_all_sets_and_keeps_the_classes_in_balance():
    labels = np.array(list("aabbbaabbb"))
    rng = np.random.default_rng(0)
    deals = {tuple(dealt(labels, 5, rng).tolist()) for _ in range(20)}
    assert len(deals) > 5
    for deal in deals:
        assert sorted(labels[np.array(deal)]) == list("aabbb")


def test_accuracies_of_splits_are_those_of_the_method(problem, found):
    gallery, labels, probes, truth = problem
    sets, y = [*gallery, *probes], np.concatenate([labels, truth])
    rng, accuracies = np.random.default_rng(5), []
    for _ in range(4):
        first = dealt(y, len(labels), rng)
        learnt, judged = np.flatnonzero(first), np.flatnonzero(~first)
        clf = MSM().fit([sets[i] for i in learnt], y[learnt])
        accuracies.append(clf.score([sets[i] for i in judged], y[judged]))
    np.testing.assert_allclose(found["MSM"].accuracies, accuracies)
    assert found["MSM"].accuracy == pytest.approx(np.mean(accuracies))
    assert found["MSM"].accuracies.tolist() == found["again"].accuracies.tolist()


def test_the_table_says_how_often_sets_were_dealt(found):
    assert found.n_splits == 4
    assert "4 splits of 9 probes each" in found.summary()
    document = json.loads(json.dumps(found.to_dict()))
    assert (document["n_splits"], document["n_probes"]) == (4, 9)
    low, high = found.intervals["MSM"]
    assert 0 <= low <= found["MSM"].accuracy <= high <= 1
    assert found.p_values["again"] == found.p_values["MSM"]


def test_a_method_that_fails_in_a_split_is_reported(problem):
    class Fails(MSM):
        def fit(self, X, y):
            raise ValueError("no")

    found = compare(*problem, methods={"MSM": MSM(), "bad": Fails()}, n_splits=2)
    assert [one.name for one in found.failed] == ["bad"]
    with pytest.raises(ParameterError, match="n_splits"):
        compare(*problem, methods=["MSM"], n_splits=0)


@given(st.lists(st.integers(0, 20), min_size=3, max_size=12), st.floats(0.1, 3))
def test_the_corrected_test_is_that_of_nadeau_and_bengio(counts, ratio):
    x = np.array(counts) / 20 - 0.3
    found = corrected_chance(x, ratio)
    n = len(x)
    variance = sum((v - x.mean()) ** 2 for v in x) / (n - 1)
    if variance < 1e-20:
        assert found == (1.0 if x[0] == 0 else 2 * 0.5**n)
        return
    t = x.mean() / np.sqrt((1 / n + ratio) * variance)
    assert found == pytest.approx(2 * stats.t.cdf(-abs(t), n - 1))
    assert found >= stats.ttest_1samp(x, 0).pvalue - 1e-12  # which takes splits for new data
    low, high = corrected_interval(np.array(counts) / 20, ratio, 0.95)
    assert 0 <= low <= np.mean(counts) / 20 <= high <= 1


@given(st.integers(0, 10_000))
def test_friedman_is_that_of_scipy_in_the_form_of_iman_and_davenport(seed):
    accuracies = np.random.default_rng(seed).integers(0, 8, (6, 4)) / 8
    n, k = accuracies.shape
    ranks = ranks_of_methods(accuracies)
    chi = stats.friedmanchisquare(*accuracies.T).statistic
    expected = stats.f.sf((n - 1) * chi / (n * (k - 1) - chi), k - 1, (k - 1) * (n - 1))
    assert friedman_chance(ranks) == pytest.approx(expected, rel=1e-6)


def test_ranks_that_are_all_alike_or_all_tied():
    alike = ranks_of_methods(np.tile([0.9, 0.8, 0.7], (3, 1)))
    assert friedman_chance(alike) == pytest.approx((1 / 6) ** 2)
    assert friedman_chance(ranks_of_methods(np.ones((4, 3)))) == 1.0


def test_the_critical_difference_of_demsar():
    # "Statistical comparisons of classifiers over multiple data sets" (2006), section 3.2.2.
    assert critical_difference(4, 14, 0.95) == pytest.approx(1.25, abs=0.005)


def right(n):
    return np.arange(20) < n


def test_methods_over_datasets():
    tables = {
        f"d{i}": Comparison(
            [MethodResult(name, right(n)) for name, n in counts.items()], confidence=0.95
        )
        for i, counts in enumerate(8 * [{"a": 19, "b": 15, "c": 12}])
    }
    tables["d0"] = Comparison(
        [
            MethodResult(name, right(n))
            for name, n in {"b": 20, "a": 19, "c": 2, "only here": 2}.items()
        ],
        confidence=0.95,
    )
    found = compare_datasets(tables)
    assert found.methods == ("a", "b", "c")
    assert found.mean_ranks == {"a": 1.125, "b": 1.875, "c": 3.0}
    assert found.p_value < 0.001
    assert found.not_told_apart == ("b",)
    assert "Best mean rank on 8 datasets" in str(found)
    assert json.loads(json.dumps(found.to_dict()))["accuracies"]["d0"]["b"] == 1.0
    few = DatasetComparison(("a", "b"), ("x", "y"), np.array([[0.9, 0.8], [0.9, 0.8]]))
    assert few.not_told_apart == ("b",)  # two datasets tell nothing


def test_too_little_to_compare_is_refused(found):
    with pytest.raises(DataError, match="holds 1 datasets"):
        compare_datasets({"a": found})
    other = Comparison([MethodResult("else", right(3))], 0.95)
    with pytest.raises(DataError, match="0 methods succeeded on all 2"):
        compare_datasets({"a": found, "b": other})
    assert setwise.evaluation.compare_datasets is compare_datasets
