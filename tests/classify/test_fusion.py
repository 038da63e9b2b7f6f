"""Fusing many layers into one answer."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.conftest import toy_sets

from setwise import CVC
from setwise.gallery.fusion import Fusion, ScoreMatrix, is_decided, votes
from setwise.gallery.fusion import fuse as fuse_by

FUSIONS = ("pool", "mode", "sum", "coefficient", "none")


def fuse(score_matrix, name):
    return fuse_by(score_matrix, Fusion.of(name, "test"))


def score_matrix(overlaps, *, weights=None, dims=None, target_classes=None) -> ScoreMatrix:
    overlaps = np.asarray(overlaps, dtype=float)
    n_layers, n_targets = overlaps.shape
    rows = np.arange(n_targets) if target_classes is None else np.asarray(target_classes)
    return ScoreMatrix(
        distances=-np.log(np.maximum(overlaps, 0.01)),
        overlaps=overlaps,
        weights=np.ones(n_layers) if weights is None else np.asarray(weights, dtype=float),
        dims=np.arange(1, n_layers + 1) if dims is None else np.asarray(dims),
        target_classes=rows,
        n_classes=int(rows.max()) + 1,
        inverse_temperatures=np.full(n_layers, 2.0),
    )


@st.composite
def score_matrices(draw) -> ScoreMatrix:
    n_layers, n_targets = draw(st.integers(1, 6)), draw(st.integers(2, 6))
    # A few discrete values, so that ties and all-zero layers are common.
    value = st.sampled_from([0.0, 0.0, 0.25, 0.5, 1.0])
    overlaps = draw(
        st.lists(
            st.lists(value, min_size=n_targets, max_size=n_targets),
            min_size=n_layers,
            max_size=n_layers,
        )
    )
    weights = draw(
        st.lists(st.sampled_from([0.0, 1.0, 2.0]), min_size=n_layers, max_size=n_layers)
    )
    classes = draw(st.lists(st.integers(0, 3), min_size=n_targets, max_size=n_targets))
    classes = np.unique(classes, return_inverse=True)[1]
    return score_matrix(overlaps, weights=weights, target_classes=classes)


def test_no_fusion_asks_a_layer_that_knows_something():
    """The largest that shares no cluster would give the class of the fewest columns."""
    knows, knows_nothing = [0.1, 0.6], [0.0, 0.0]
    last_is_blind = score_matrix([knows, knows_nothing], dims=[3, 3])
    last_is_blind.distances[1] = [0.5, 4.0]  # stand-ins for infinity, by numbers of columns
    assert fuse(last_is_blind, "none").code == 1
    only_smaller = score_matrix([knows, knows_nothing], dims=[1, 3])
    assert fuse(only_smaller, "none").code == 1
    assert not fuse(score_matrix([knows_nothing], dims=[3]), "none").is_informed


def test_no_fusion_asks_the_largest_layers_alone(seed):
    sets, labels = toy_sets(seed)
    pairs = [("plain", "svd"), ("plain", "centred")]
    clf = CVC((1, 2, 3), representations=pairs, fusion="none", weights=None)
    gallery = clf.fit(sets, labels).gallery_
    results = gallery.everything.views(gallery.bases(sets[0]))
    assert {clf.layers_[i].n_columns for i in results} == {3}


def test_mode_takes_the_majority_even_against_one_very_sure_layer():
    layers = [[0.6, 0.5], [0.6, 0.5], [0.0, 1.0]]
    assert fuse(score_matrix(layers), "mode").code == 0
    assert fuse(score_matrix(layers), "sum").code == 1
    assert fuse(score_matrix(layers), "coefficient").code == 1
    assert (
        fuse(score_matrix(layers), "none").code == 1
    )  # the last has the largest dimensionality


def test_mode_breaks_ties_by_the_smaller_summed_distance_then_by_class_order():
    assert fuse(score_matrix([[0.9, 0.5], [0.1, 0.8]]), "mode").code == 1
    assert fuse(score_matrix([[0.5, 0.9], [0.8, 0.1]]), "mode").code == 0
    assert fuse(score_matrix([[0.9, 0.5], [0.5, 0.9]]), "mode").code == 0


def test_a_layer_torn_between_two_classes_shares_its_vote():
    np.testing.assert_array_equal(votes(score_matrix([[0.5, 0.5, 0.1]])), [[0.5, 0.5, 0.0]])


def test_a_layer_that_knows_nothing_abstains():
    np.testing.assert_array_equal(
        votes(score_matrix([[0.0, 0.0], [0.1, 0.2]])), [[0, 0], [0, 1]]
    )


@pytest.mark.parametrize("fusion", FUSIONS)
def test_weights_decide(fusion):
    layers = [[0.9, 0.2], [0.1, 0.8]]
    assert fuse(score_matrix(layers, weights=[1, 0], dims=[2, 2]), fusion).code == 0
    assert fuse(score_matrix(layers, weights=[0, 1], dims=[2, 2]), fusion).code == 1


@pytest.mark.parametrize("fusion", FUSIONS)
def test_no_overlap_at_all_is_said_and_not_class_zero(fusion):
    answer = fuse(score_matrix(np.zeros((3, 4))), fusion)
    assert not answer.is_informed
    np.testing.assert_array_equal(answer.probabilities, 0.25)


def test_sets_as_rows_give_the_class_of_the_nearest_set():
    rows = [0, 0, 1]
    assert fuse(score_matrix([[0.1, 0.9, 0.5]], target_classes=rows), "sum").code == 0
    assert fuse(score_matrix([[0.1, 0.4, 0.5]], target_classes=rows), "coefficient").code == 1


@pytest.mark.parametrize("fusion", FUSIONS)
@given(votes_of=score_matrices())
def test_probabilities_are_probabilities_and_agree_with_the_answer(votes_of, fusion):
    with np.errstate(all="raise", under="ignore"):
        answer = fuse(votes_of, fusion)
    assert np.isfinite(answer.probabilities).all()
    assert (answer.probabilities >= 0).all()
    assert abs(answer.probabilities.sum() - 1) < 1e-12
    assert np.isfinite(answer.scores).all()
    assert answer.scores.argmax() == answer.code
    assert answer.probabilities[answer.code] == answer.probabilities.max()


@given(votes_of=score_matrices(), data=st.data())
def test_stopping_when_decided_never_changes_the_label(votes_of, data):
    """Whatever the remaining layers say, the label of the full vote stands."""
    by_layer = votes(votes_of)
    n = len(by_layer)
    full = fuse(votes_of, "mode")
    for asked in range(1, n + 1):
        if is_decided(by_layer[:asked].sum(axis=0), float(votes_of.weights[asked:].sum())):
            some = votes_of.of_members(np.arange(n) < asked)
            assert fuse(some, "mode").code == full.code
            break


def test_the_papers_rule_is_the_special_case_of_even_weights():
    """floor(nu / 2) + 1 equal labels decide among nu layers; fewer need not."""
    assert is_decided(np.array([6.0, 0.0]), 4)
    assert not is_decided(np.array([5.0, 0.0]), 5)
