"""Clusterers of sets in one table: scores by brute force, failures, wrong arguments."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.baselines import MeanClusters
from setwise.errors import DataError, ParameterError
from setwise.evaluation import GROUPERS, GroupScores, compare_groups
from setwise.evaluation.testing import separable_sets

PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(-1, 3)), min_size=1, max_size=12)


def brute_force(classes, groups):
    """B-cubed precision and recall, set by set; -1 shares a group with itself alone."""
    n, precision, recall = len(classes), [], []
    for i in range(n):
        mates = [j for j in range(n) if j == i or groups[j] == groups[i] >= 0]
        right = [j for j in mates if classes[j] == classes[i]]
        precision.append(len(right) / len(mates))
        recall.append(len(right) / sum(classes[j] == classes[i] for j in range(n)))
    return np.mean(precision), np.mean(recall)


@given(PAIRS)
def test_scores_are_those_of_every_set(pairs):
    classes, groups = zip(*pairs, strict=True)
    found = GroupScores.of(classes, groups)
    assert (found.precision, found.recall) == pytest.approx(brute_force(classes, groups))
    mean = 2 * found.precision * found.recall / (found.precision + found.recall)
    assert found.f == pytest.approx(mean)


def test_by_hand():
    found = GroupScores.of(list("aabb"), [0, 0, 0, -1])
    assert found.precision == pytest.approx((2 / 3 + 2 / 3 + 1 / 3 + 1) / 4)
    assert found.recall == pytest.approx((1 + 1 + 0.5 + 0.5) / 4)
    assert GroupScores.of(list("aabb"), [1, 1, 0, 0]).nmi == pytest.approx(1.0)


def test_every_clusterer_finds_separable_classes():
    found = compare_groups(*separable_sets(n_classes=4))
    assert {result.name for result in found.results} == set(GROUPERS)
    assert all(result.scores.f == 1.0 and result.n_groups == 4 for result in found.results)
    rows = found.to_dict()["methods"]
    assert all(row["n_left_out"] == 0 and row["nmi"] == pytest.approx(1) for row in rows)
    assert "precision" in str(found)
    assert "Classes: 4." in str(found)


class Broken(MeanClusters):
    def fit(self, X, y=None):
        raise ValueError("no")


def test_a_clusterer_that_fails_does_not_stop_the_others():
    methods = {"broken": Broken(), "FINCH": MeanClusters("finch")}
    found = compare_groups(*separable_sets(), methods=methods)
    assert [result.name for result in found.results] == ["FINCH", "broken"]
    assert found["broken"].error == "ValueError: no"
    assert "broken: failed, ValueError: no" in str(found)
    assert found.to_dict()["methods"][1] == {"method": "broken", "error": "ValueError: no"}


@pytest.mark.parametrize(
    ("methods", "error", "said"),
    [
        (["mean shift"], ParameterError, "mean shift"),
        ([], DataError, "empty"),
        ({"mine": object()}, ParameterError, "fit_predict"),
    ],
)
def test_wrong_methods_are_refused(methods, error, said):
    with pytest.raises(error, match=said):
        compare_groups(*separable_sets(), methods=methods)
