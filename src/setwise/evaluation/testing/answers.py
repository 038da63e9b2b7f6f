"""Checks of the answers: right where it is easy, and blind to what means nothing."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise.evaluation.testing.data import Problem, easy_problem, hard_problem
from setwise.evaluation.testing.expect import (
    answers,
    fresh,
    require,
    require_equal,
    require_labels,
    require_probabilities,
    require_same_answers,
    require_valid_answers,
)
from setwise.evaluation.testing.registry import check

KINDS_OF_LABELS: dict[str, npt.NDArray[Any]] = {
    "strings": np.array(["ann", "bert", "carla"]),
    "negative integers": np.array([-7, -1, 3]),
    "small integers": np.array([0, 1, 2], dtype=np.int8),
    "whole floats": np.array([1.0, 2.0, 4.0]),
}


def _fitted(classifier: Any, problem: Problem) -> Any:
    return fresh(classifier).fit(problem.gallery, problem.labels)


def _require_right(classifier: Any, problem: Problem, what: str) -> None:
    require_labels(_fitted(classifier, problem), problem.probes, problem.truth, what)


@check()
def easy_sets_are_labelled_rightly(classifier: Any) -> None:
    """Sets of classes far apart get their labels, whatever the random numbers."""
    for seed in (0, 1, 2):
        _require_right(classifier, easy_problem(seed=seed), f"easy sets (seed {seed})")


@check()
def easy_sets_give_no_warning(classifier: Any) -> None:
    """Nothing is warned of where nothing is wrong."""
    problem = easy_problem()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        answers(_fitted(classifier, problem), problem.probes)
    found = [f"{w.category.__name__}: {w.message}" for w in caught]
    require(not found, f"{len(found)} warnings on easy sets: {' '.join(found[:1])}")


@check()
def gallery_sets_are_recognised(classifier: Any) -> None:
    """Gallery sets of classes far apart get their own labels."""
    problem = easy_problem()
    fitted = _fitted(classifier, problem)
    require_labels(fitted, problem.gallery, problem.labels, "the gallery's own sets")


@check()
def labels_keep_their_type(classifier: Any) -> None:
    """``predict`` gives one label per set, of the type of those given, whichever that is."""
    problem = easy_problem()
    for kind, names in KINDS_OF_LABELS.items():
        fitted = fresh(classifier).fit(problem.gallery, names[problem.labels])
        labels = fitted.predict(problem.probes)
        require_equal(labels, names[problem.truth], f"labels that are {kind}")
        same = labels.dtype == names.dtype == fitted.classes_.dtype
        require(same, f"labels of dtype {names.dtype} come back as {labels.dtype}.")


@check()
def labels_may_be_booleans(classifier: Any) -> None:
    """Two classes may be called True and False."""
    problem = easy_problem(n_classes=2)
    fitted = fresh(classifier).fit(problem.gallery, problem.labels == 1)
    labels = fitted.predict(problem.probes)
    require_equal(labels, problem.truth == 1, "labels that are booleans")
    require(labels.dtype == np.bool_, f"boolean labels come back as {labels.dtype}.")


@check()
def strings_are_as_good_as_integers(classifier: Any) -> None:
    """Names instead of numbers, in the same order, change nothing but the labels."""
    problem, names = hard_problem(), np.array(["x1", "x2", "x3"])
    numbers = answers(_fitted(classifier, problem), problem.probes)
    fitted = fresh(classifier).fit(problem.gallery, names[problem.labels])
    numbers["predict"] = names[numbers["predict"]]
    require_same_answers(answers(fitted, problem.probes), numbers, "with strings for numbers")


@check()
def names_of_classes_do_not_matter(classifier: Any) -> None:
    """When classes swap their names, predictions swap with them."""
    problem, swap = easy_problem(), np.array([2, 0, 1])
    fitted = fresh(classifier).fit(problem.gallery, swap[problem.labels])
    require_labels(fitted, problem.probes, swap[problem.truth], "easy sets, classes renamed")


@check()
def order_of_gallery_sets_does_not_matter(classifier: Any) -> None:
    """A gallery in another order gives the same labels."""
    problem = easy_problem()
    for order in (np.arange(9)[::-1], np.random.default_rng(0).permutation(9)):
        fitted = fresh(classifier).fit(*problem.in_order(order))
        require_labels(fitted, problem.probes, problem.truth, "easy sets, gallery reordered")


@check()
def order_of_probes_does_not_matter(classifier: Any) -> None:
    """Sets asked in another order get the same answers, in that order."""
    problem = hard_problem()
    fitted = _fitted(classifier, problem)
    before = answers(fitted, problem.probes)
    after = answers(fitted, problem.probes[::-1])
    turned = {method: values[::-1] for method, values in after.items()}
    require_same_answers(turned, before, "for the sets in reverse order")


@check()
def each_probe_is_judged_alone(classifier: Any) -> None:
    """A set gets the same answer alone as among others."""
    problem = hard_problem()
    fitted = _fitted(classifier, problem)
    together = answers(fitted, problem.probes)
    for i, probe in enumerate(problem.probes):
        expected = {method: values[i : i + 1] for method, values in together.items()}
        require_same_answers(answers(fitted, [probe]), expected, f"of set {i} asked alone")


@check()
def order_of_vectors_does_not_matter(classifier: Any) -> None:
    """Sets are sets: shuffled vectors give the same labels, and scores unless at random."""
    problem = easy_problem()
    rng = np.random.default_rng(0)
    gallery = [rng.permutation(vectors) for vectors in problem.gallery]
    probes = [rng.permutation(vectors) for vectors in problem.probes]
    before = answers(_fitted(classifier, problem), problem.probes)
    after = answers(fresh(classifier).fit(gallery, problem.labels), probes)
    if _is_random(classifier, problem):
        before, after = {"predict": before["predict"]}, {"predict": after["predict"]}
    require_same_answers(after, before, "with the vectors shuffled", tolerance=1e-6)


def _is_random(classifier: Any, problem: Problem) -> bool:
    """Whether scores depend on the seed; then they may depend on the order of vectors too."""
    one, other = (
        answers(fresh(classifier, seed).fit(problem.gallery, problem.labels), problem.probes)
        for seed in (0, 1)
    )
    return any(not np.array_equal(one[method], other[method]) for method in one)


@check()
def sets_may_differ_in_size(classifier: Any) -> None:
    """Sets of four vectors and of forty go together."""
    problem = easy_problem(n_vectors=(40, 40), n_features=60)
    gallery = [v[: 4 + 9 * (i % 3)] for i, v in enumerate(problem.gallery)]
    probes = [v[: 4 + 12 * (i % 4)] for i, v in enumerate(problem.probes)]
    fitted = fresh(classifier).fit(gallery, problem.labels)
    require_labels(fitted, probes, problem.truth, "easy sets of different sizes")


@check()
def one_set_per_class_is_enough(classifier: Any) -> None:
    """A gallery of one set per class labels easy sets rightly."""
    _require_right(classifier, easy_problem(n_sets=1), "easy sets, one gallery set per class")


@check()
def classes_may_differ_in_size(classifier: Any) -> None:
    """One set of a class and three of another go together."""
    problem = easy_problem(n_vectors=(20, 25), n_features=60)
    fitted = fresh(classifier).fit(*problem.in_order([0, 3, 4, 6, 7, 8]))
    require_labels(fitted, problem.probes, problem.truth, "easy sets, classes of 1, 2, 3 sets")


@check()
def sets_may_hold_one_vector(classifier: Any) -> None:
    """Single vectors are sets too: in the gallery, as probes, and both."""
    problem = easy_problem()
    gallery = [vectors[:1] for vectors in problem.gallery]
    probes = [vectors[:1] for vectors in problem.probes]
    mixed = [gallery[0], *problem.gallery[1:]]
    for sets in (problem.gallery, gallery, mixed):
        fitted = fresh(classifier).fit(sets, problem.labels)
        require_valid_answers(fitted, probes, "sets of one vector")
        require_valid_answers(fitted, problem.probes, "sets, single vectors in the gallery")


@check()
def repeated_gallery_labels_the_same(classifier: Any) -> None:
    """A gallery in which every set stands twice still labels easy sets rightly."""
    problem = easy_problem()
    fitted = fresh(classifier).fit(problem.gallery * 2, np.tile(problem.labels, 2))
    require_labels(fitted, problem.probes, problem.truth, "easy sets, the gallery given twice")


@check()
def scale_does_not_matter(classifier: Any) -> None:
    """Features in other units, a thousand times larger or smaller, give the same labels."""
    problem = easy_problem()
    for scale in (1e-3, 1e3):
        fitted = fresh(classifier).fit([scale * v for v in problem.gallery], problem.labels)
        probes = [scale * v for v in problem.probes]
        require_labels(fitted, probes, problem.truth, f"easy sets times {scale:g}")


@check()
def more_features_than_vectors(classifier: Any) -> None:
    """Short sets of long vectors are labelled rightly."""
    problem = easy_problem(n_vectors=(4, 6), n_features=60)
    _require_right(classifier, problem, "easy sets of few vectors with 60 features")


@check()
def more_vectors_than_features(classifier: Any) -> None:
    """Long sets of short vectors are labelled rightly."""
    problem = easy_problem(n_vectors=(70, 80), n_features=60)
    _require_right(classifier, problem, "easy sets of many vectors with 60 features")


@check()
def few_features_are_enough_for_an_answer(classifier: Any) -> None:
    """Vectors of three features, and of one, get an answer."""
    for n_features in (3, 1):
        problem = easy_problem(n_features=n_features, n_dims=1)
        fitted = _fitted(classifier, problem)
        require_valid_answers(fitted, problem.probes, f"sets with {n_features} features")


@check("decision_function")
def decision_function_agrees_with_predict(classifier: Any) -> None:
    """One score per class, none larger than that of the label predicted."""
    for problem in (easy_problem(), hard_problem()):
        fitted = _fitted(classifier, problem)
        scores = fitted.decision_function(problem.probes)
        require(scores.shape == (6, 3), f"decision_function has shape {scores.shape}.")
        labels = fitted.predict(problem.probes)
        _require_largest(scores, labels, "decision_function")


@check("decision_function")
def decision_function_of_two_classes_is_one_number(classifier: Any) -> None:
    """With two classes there is one score per set, positive for the second class."""
    problem = easy_problem(n_classes=2)
    fitted = _fitted(classifier, problem)
    scores = fitted.decision_function(problem.probes)
    require(scores.shape == (4,), f"decision_function has shape {scores.shape}, not (4,).")
    require_equal(scores > 0, problem.truth == 1, "sign of decision_function for two classes")


@check("predict_proba")
def predict_proba_is_a_distribution(classifier: Any) -> None:
    """Probabilities are finite, not negative, and sum to one, for two classes as for more."""
    for problem in (easy_problem(), hard_problem(), easy_problem(n_classes=2)):
        fitted = _fitted(classifier, problem)
        proba = fitted.predict_proba(problem.probes)
        shape = (len(problem.probes), len(fitted.classes_))
        require_probabilities(proba, shape, "ordinary sets")


@check("predict_proba")
def predict_proba_agrees_with_predict(classifier: Any) -> None:
    """No class is more probable than the label predicted."""
    for problem in (easy_problem(), hard_problem()):
        fitted = _fitted(classifier, problem)
        proba = fitted.predict_proba(problem.probes)
        _require_largest(proba, fitted.predict(problem.probes), "predict_proba")


def _require_largest(values: npt.NDArray[Any], labels: npt.NDArray[Any], what: str) -> None:
    """Fail if another class has more than the label; equals may go either way."""
    of_label = values[np.arange(len(values)), labels]
    slack = 1e-9 * np.abs(values).max()
    is_largest = of_label >= values.max(axis=1) - slack
    require_equal(is_largest, np.ones(len(values), dtype=bool), f"{what} is largest for labels")
