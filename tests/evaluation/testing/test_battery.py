"""The battery of checks over every classifier of the library."""

from __future__ import annotations

import inspect
from collections import Counter

import numpy as np
import pytest
from sklearn.cluster import KMeans
from tests.conftest import toy_sets

from setwise import CVC, baselines
from setwise.evaluation.testing import (
    check_set_classifier,
    separable_sets,
    set_classifier_checks,
)
from setwise.sets.classifier import SetClassifier

# Asked everything: CVC, and one baseline of each kind, by what it makes of a set.
FULLY = {
    "CVC",
    "FrameVote",  # votes of single vectors
    "MeanVector",  # a point
    "MSM",  # a subspace
    "CDL",  # a covariance, and a kernel machine
    "AHISD",  # a hull
    "MMD",  # local patches
    "ISCRC",  # joint coding, at random
}
# What the others are asked each time, and the rest of the battery by `make test-all` only. They
# share the gate, the labels and the state of those above; what they bring of their own, a
# representation and a distance, fails in one of these ways if it fails at all.
IN_PART = {
    # it is a classifier like any other
    "init_stores_its_parameters_and_nothing_else",
    "parameters_survive_a_round_trip",
    "tags_say_that_samples_are_sets",
    "fit_learns_classes_and_returns_the_classifier",
    "unfitted_classifier_says_so",
    "nothing_given_is_modified",
    # its answers are right, and do not depend on what means nothing
    "easy_sets_are_labelled_rightly",
    "order_of_vectors_does_not_matter",
    "each_probe_is_judged_alone",
    "scale_does_not_matter",
    "predict_proba_agrees_with_predict",
    "decision_function_agrees_with_predict",
    # sets may be small, odd, or in another form
    "small_sets_get_an_answer",
    "sizes_of_sets_and_classes_do_not_matter",
    "odd_sets_get_an_answer",
    "extreme_values_are_answered_or_refused",
    # mistakes are refused, and change nothing
    "bad_sets_are_refused",
    "bad_labels_are_refused",
    "failed_fit_changes_nothing",
    # what it remembers
    "equal_fits_give_equal_answers",
}
# CVC in other settings, and a method of a tenth of a second per pair of sets: what takes many
# fits or probes is asked of them under `slow` too.
DEAR = {"CVC.as_in_paper", "CVC-sum", "CVC-kmeans", "CHISD"}
DEAR_CHECKS = {
    "bad_sets_are_refused",
    "decision_function_agrees_with_predict",
    "each_probe_is_judged_alone",
    "equal_fits_give_equal_answers",
    "extreme_values_are_answered_or_refused",
    "failed_fit_changes_nothing",
    "nothing_given_is_modified",
    "odd_sets_get_an_answer",
    "order_of_vectors_does_not_matter",
    "predict_proba_agrees_with_predict",
    "scale_does_not_matter",
    "sizes_of_sets_and_classes_do_not_matter",
    "small_sets_get_an_answer",
}


def classifiers():
    """CVC in its main settings, and whatever baselines there are, as they come."""
    kmeans = KMeans(n_clusters=3, n_init=3, random_state=0)
    found = {
        "CVC": CVC(dims=(1, 3)),
        "CVC.as_in_paper": CVC.as_in_paper(dims=(1, 3)),
        "CVC-sum": CVC(dims=(1, 3), fusion="sum"),
        # One look at the sets: k-means is slow, and two looks would ask it four times as often.
        "CVC-kmeans": CVC(dims=(1, 3), representations=[("plain", "svd")], clusterer=kmeans),
    }
    for name in baselines.__all__:
        kind = getattr(baselines, name)
        is_class = inspect.isclass(kind) and not inspect.isabstract(kind)
        if is_class and issubclass(kind, SetClassifier):
            found[name] = kind()
    found["MeanCosine-robust"] = baselines.MeanCosine(robust=True)
    found["FrameVote-cosine"] = baselines.FrameVote(metric="cosine")
    return found


def cases():
    for name, classifier in classifiers().items():
        for check in set_classifier_checks(classifier):
            is_quick = name in FULLY or check.name in IN_PART
            is_quick &= name not in DEAR or check.name not in DEAR_CHECKS
            marks = () if is_quick else pytest.mark.slow
            yield pytest.param(check, id=f"{name}-{check}", marks=marks)


# k-means says so where there are fewer different columns than clusters.
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("check", list(cases()))
def test_classifier(check):
    check()


def test_every_baseline_is_asked():
    assert {*FULLY, "MinimumDistance"} <= set(classifiers())


def test_the_checks_that_are_named_exist():
    assert {check.name for check in set_classifier_checks(CVC())} >= IN_PART | DEAR_CHECKS


def test_there_are_many_checks_and_no_two_of_one_name():
    names = Counter(check.name for check in set_classifier_checks(CVC()))
    assert len(names) >= 30
    assert set(names.values()) == {1}


def test_every_check_says_in_a_sentence_what_it_asks():
    for check in set_classifier_checks(CVC()):
        assert check.function.__doc__.rstrip().endswith(".")


def test_a_classifier_that_cannot_be_fitted_is_named():
    with pytest.raises(AssertionError, match=r"^\w+: FrameVote\(n_neighbors=-1\): "):
        check_set_classifier(baselines.FrameVote(n_neighbors=-1))


def test_separable_sets_are_the_toy_sets_of_the_other_tests(seed):
    sets, labels = separable_sets(seed)
    toys, toy_labels = toy_sets(seed)
    np.testing.assert_array_equal(labels, toy_labels)
    for vectors, toy in zip(sets, toys, strict=True):
        np.testing.assert_allclose(vectors, toy)


def test_separable_sets_are_as_asked_for(seed):
    sets, labels = separable_sets(
        seed, n_classes=4, n_sets=2, n_vectors=(3, 5), n_features=7, n_dims=1, noise=0.0
    )
    assert labels.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]
    assert {s.shape[1] for s in sets} == {7}
    assert all(3 <= len(s) <= 5 for s in sets)
    assert all(np.linalg.matrix_rank(s - s.mean(axis=0)) == 1 for s in sets)
