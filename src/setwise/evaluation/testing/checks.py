"""The checks of the battery: what a classifier must fulfil, one public function each."""

from __future__ import annotations

import pickle
import random
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from typing import Any

import joblib
import numpy as np
import numpy.typing as npt
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils import get_tags

from setwise.evaluation.testing.data import (
    Problem,
    answers,
    easy_problem,
    fit,
    fresh,
    hard_problem,
    methods_of,
    raised,
    refusal,
    require,
    require_equal,
    require_same,
    require_valid,
)
from setwise.sets import SetBatch

# ------------------------------------------------- conventions: what scikit-learn expects


def init_stores_its_parameters_and_nothing_else(classifier: Any) -> None:
    """A new classifier holds the very objects it was given, under their names."""
    parameters = classifier.get_params(deep=False)
    new = type(classifier)(**parameters)
    extra = sorted(set(vars(new)) - set(parameters))
    require(not extra, f"__init__ sets {extra}, which are no parameters.")
    for name, value in parameters.items():
        stored = getattr(new, name, None)
        require(stored is value, f"__init__ changes {name} from {value!r} to {stored!r}.")


def parameters_survive_a_round_trip(classifier: Any) -> None:
    """``get_params`` gives ``set_params`` and ``clone`` what they need for an equal copy."""
    before, copy = joblib.hash(classifier.get_params()), clone(classifier)
    require(joblib.hash(copy.get_params()) == before, "clone changes the parameters.")
    result = copy.set_params(**copy.get_params(deep=False))
    require(result is copy, "set_params does not return the classifier.")
    is_same = joblib.hash(copy.get_params()) == before
    require(is_same, "set_params(**get_params()) changes some.")


def tags_say_that_samples_are_sets(classifier: Any) -> None:
    """scikit-learn is told that this is a classifier, and not one of rows."""
    require(is_classifier(classifier), "scikit-learn's is_classifier says no.")
    is_of_rows = get_tags(classifier).input_tags.two_d_array
    require(not is_of_rows, "tags.input_tags.two_d_array should be False.")


def fit_learns_classes_and_returns_the_classifier(classifier: Any) -> None:
    """``fit`` returns itself, with sorted ``classes_`` and ``n_features_in_``."""
    problem, new = easy_problem().in_order([8, 1, 4, 0, 6, 3, 2, 5, 7]), fresh(classifier)
    result = new.fit(problem.gallery, np.array(["b", "c", "a"])[problem.labels])
    require(result is new, f"fit returns {type(result).__name__}, not the classifier itself.")
    require_equal(new.classes_, ["a", "b", "c"], "classes_")
    require(new.n_features_in_ == 20, f"n_features_in_ is {new.n_features_in_}, not 20.")


def unfitted_classifier_says_so(classifier: Any) -> None:
    """Predictions before ``fit`` raise scikit-learn's NotFittedError."""
    for method in methods_of(classifier):
        error = raised(partial(getattr(fresh(classifier), method), easy_problem().probes))
        found = "an answer" if error is None else type(error).__name__
        is_told = isinstance(error, NotFittedError)
        require(is_told, f"{method} before fit gives {found}, not NotFittedError.")


def nothing_given_is_modified(classifier: Any) -> None:
    """Parameters, sets, labels and global random numbers stay the same."""
    problem, new = easy_problem(), fresh(classifier)
    for collect in (list, SetBatch.from_list):
        gallery, probes = collect(problem.gallery), collect(problem.probes)

        def state(given: Any = (gallery, probes)) -> dict[str, Any]:
            things = {
                "parameters": new.get_params(),
                "sets": [list(sets) for sets in given],
                "labels": problem.labels,
                "random numbers": (np.random.get_state(), random.getstate()),  # noqa: NPY002
            }
            return {name: joblib.hash(thing) for name, thing in things.items()}

        before = state()
        answers(new.fit(gallery, problem.labels), probes)
        changed = [name for name, value in state().items() if value != before[name]]
        require(not changed, f"{changed} are changed.")


def gallery_may_be_overwritten_after_fit(classifier: Any) -> None:
    """A fitted classifier keeps no view of the caller's arrays."""
    problem = easy_problem()
    for gallery in (problem.gallery, SetBatch.from_list(problem.gallery)):
        labels = problem.labels.copy()
        fitted = fresh(classifier).fit(gallery, labels)
        before = answers(fitted, problem.probes)
        labels[:] = 0
        for vectors in gallery:
            vectors *= -3.0
        after = answers(fitted, problem.probes)
        require_same(after, before, "once the gallery's arrays are overwritten")


def cross_validation_works(classifier: Any) -> None:
    """scikit-learn's ``cross_val_score`` splits lists and batches of sets correctly."""
    problem, folds, by_hand = easy_problem(n_classes=2, n_sets=4), StratifiedKFold(2), []
    for train, test in folds.split(problem.labels, problem.labels):
        asked = problem.in_order(test)
        labels = fit(classifier, problem.in_order(train)).predict(asked.gallery)
        by_hand.append(np.mean(labels == asked.labels))
    for X in (problem.gallery, SetBatch.from_list(problem.gallery)):
        how = {"cv": folds, "error_score": "raise"}
        scores = cross_val_score(fresh(classifier), X, problem.labels, **how)
        require_equal(scores, by_hand, "accuracy by cross_val_score and by hand")


def score_is_the_accuracy(classifier: Any) -> None:
    """``score`` is the share of sets with the right label."""
    problem = easy_problem()
    fitted, wrong = fit(classifier, problem), problem.truth.copy()
    require_equal(fitted.predict(problem.probes), problem.truth, "labels of easy sets")
    wrong[:3] = (wrong[:3] + 1) % 3
    require_equal(fitted.score(problem.probes, wrong), 0.5, "score with half the labels wrong")


# -------------------------------------------------------------- answers: right where it is easy


def _require_right(classifier: Any, problem: Problem, what: str) -> None:
    labels = fit(classifier, problem).predict(problem.probes)
    require_equal(labels, problem.truth, f"labels of easy sets, {what}")


def easy_sets_are_labelled_rightly(classifier: Any) -> None:
    """Sets of classes far apart get their labels without warnings, those of the gallery too."""
    for seed in (0, 1, 2):
        problem = easy_problem(seed=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            fitted = fit(classifier, problem)
            found = answers(fitted, problem.probes)
        require_equal(found["predict"], problem.truth, f"labels of easy sets (seed {seed})")
        texts = [f"{w.category.__name__}: {w.message}" for w in caught]
        require(not texts, f"{len(texts)} warnings on easy sets: {' '.join(texts[:1])}")
        own = fitted.predict(problem.gallery)
        require_equal(own, problem.labels, "labels of the gallery's own sets")


def sizes_of_sets_and_classes_do_not_matter(classifier: Any) -> None:
    """Easy sets are labelled rightly whatever the number of vectors, features and sets."""
    wide, many = {"n_features": 60}, easy_problem(n_vectors=(40, 40), n_features=60)
    gallery = [v[: 4 + 9 * (i % 3)] for i, v in enumerate(many.gallery)]
    probes = [v[: 4 + 12 * (i % 4)] for i, v in enumerate(many.probes)]
    uneven = easy_problem(n_vectors=(20, 25), **wide).in_order([0, 3, 4, 6, 7, 8])
    for what, problem in {
        "of 4 to 40 vectors": replace(many, gallery=gallery, probes=probes),
        "one gallery set per class": easy_problem(n_sets=1),
        "classes of 1, 2 and 3 sets": uneven,
        "the gallery given twice": easy_problem().in_order([*range(9)] * 2),
        "few vectors with 60 features": easy_problem(n_vectors=(4, 6), **wide),
        "many vectors with 60 features": easy_problem(n_vectors=(70, 80), **wide),
    }.items():
        _require_right(classifier, problem, what)


def scale_does_not_matter(classifier: Any) -> None:
    """Features in other units, a thousand times larger or smaller, give the same labels."""
    _require_right(classifier, easy_problem().changed(lambda v: 1e-3 * v), "times 0.001")
    _require_right(classifier, easy_problem().changed(lambda v: 1e3 * v), "times 1000")


def order_of_gallery_sets_does_not_matter(classifier: Any) -> None:
    """A gallery in another order, or with renamed classes, gives the same labels."""
    problem = easy_problem()
    for order in (range(8, -1, -1), (4, 1, 8, 6, 0, 3, 2, 5, 7)):
        _require_right(classifier, problem.in_order(order), "gallery in another order")
    _require_right(classifier, problem.named(np.array([2, 0, 1])), "classes renamed")


def order_of_vectors_does_not_matter(classifier: Any) -> None:
    """Shuffled vectors give the same labels, and the same scores unless these are random."""
    problem, rng = easy_problem(), np.random.default_rng(0)
    shuffled = problem.changed(rng.permutation)
    first, second = (fit(classifier, problem, seed=seed) for seed in (0, 1))
    before, reseeded = answers(first, problem.probes), answers(second, problem.probes)
    after = answers(fit(classifier, shuffled), shuffled.probes)
    if any(not np.array_equal(before[method], reseeded[method]) for method in before):
        before, after = {"predict": before["predict"]}, {"predict": after["predict"]}
    require_same(after, before, "with the vectors shuffled", tolerance=1e-6)


def each_probe_is_judged_alone(classifier: Any) -> None:
    """A set gets the same answer alone, in another order, and after other questions."""
    problem = hard_problem()
    fitted, probes = fit(classifier, problem), problem.probes
    together = answers(fitted, probes)
    turned = {method: values[::-1] for method, values in answers(fitted, probes[::-1]).items()}
    require_same(turned, together, "for the sets in reverse order")
    answers(fitted, [100 * vectors for vectors in probes])
    for i, probe in enumerate(probes):
        expected = {method: values[i : i + 1] for method, values in together.items()}
        require_same(answers(fitted, [probe]), expected, f"of set {i} asked alone")


LABELS: dict[str, npt.NDArray[Any]] = {
    "strings": np.array(["ann", "bert", "carla"]),
    "negative integers": np.array([-7, -4, 3]),
    "small integers": np.array([0, 1, 2], dtype=np.int8),
    "whole floats": np.array([1.0, 2.0, 4.0]),
    "booleans": np.array([False, True]),
}


def labels_keep_their_type(classifier: Any) -> None:
    """``predict`` gives one label per set, of the type of the given ones."""
    for kind, names in LABELS.items():
        problem = easy_problem(n_classes=len(names)).named(names)
        fitted = fit(classifier, problem)
        labels = fitted.predict(problem.probes)
        require_equal(labels, problem.truth, f"labels that are {kind}")
        same = labels.dtype == names.dtype == fitted.classes_.dtype
        require(same, f"labels of dtype {names.dtype} come back as {labels.dtype}.")


def kinds_of_labels_do_not_matter(classifier: Any) -> None:
    """Names instead of numbers, and a list of labels, change nothing but the labels."""
    problem, names = hard_problem(), np.array(["x1", "x2", "x3"])
    numbers = answers(fit(classifier, problem), problem.probes)
    listed = fit(classifier, replace(problem, labels=problem.labels.tolist()))
    require_same(answers(listed, problem.probes), numbers, "with labels in a list")
    strings = answers(fit(classifier, problem.named(names)), problem.probes)
    numbers["predict"] = names[numbers["predict"]]
    require_same(strings, numbers, "with strings for numbers")


def _require_agreement(classifier: Any, method: str) -> None:
    for problem in (easy_problem(), hard_problem()):
        fitted = fit(classifier, problem)
        values, labels = getattr(fitted, method)(problem.probes), fitted.predict(problem.probes)
        require(values.shape == (6, 3), f"{method} has shape {values.shape}.")
        # Equals may go either way.
        least = values.max(axis=1) - 1e-9 * np.abs(values).max()
        is_largest = values[np.arange(len(values)), labels] >= least
        require(is_largest.all(), f"{method} is not largest for the label of some sets.")


def decision_function_agrees_with_predict(classifier: Any) -> None:
    """One score per class, largest for the label; of two classes, that of the second."""
    _require_agreement(classifier, "decision_function")
    problem = easy_problem(n_classes=2)
    scores = fit(classifier, problem).decision_function(problem.probes)
    require(scores.shape == (4,), f"decision_function has shape {scores.shape}, not (4,).")
    require_equal(scores > 0, problem.truth == 1, "sign of decision_function for two classes")


def predict_proba_agrees_with_predict(classifier: Any) -> None:
    """Probabilities are a distribution, and largest for the label."""
    for problem in (easy_problem(), hard_problem(), easy_problem(n_classes=2)):
        require_valid(fit(classifier, problem), problem.probes, "ordinary sets")
    _require_agreement(classifier, "predict_proba")


# ------------------------------------------------------- state: what a classifier remembers


def equal_fits_give_equal_answers(classifier: Any) -> None:
    """A second fit, a second copy with the same seed, and pickles give the same answers."""
    problem = hard_problem()
    fitted = fit(classifier, problem)
    before = answers(fitted, problem.probes)
    pickled, unfitted = (pickle.dumps(thing) for thing in (fitted, fresh(classifier)))
    for what, other in {
        "after pickling": pickle.loads(pickled),  # noqa: S301 - our own bytes
        "when pickled before fit": fit(pickle.loads(unfitted), problem),  # noqa: S301
        "of a second copy with the same seed": fit(classifier, problem),
        "after a second fit": fitted.fit(problem.gallery, problem.labels),
    }.items():
        require_same(answers(other, problem.probes), before, what, tolerance=0.0)


def refit_forgets_the_old_gallery(classifier: Any) -> None:
    """After a fit to other classes and features, a classifier equals a new one."""
    problem, other = hard_problem(), easy_problem(seed=5, n_classes=4, n_features=13)
    new, old = fit(classifier, problem), fit(classifier, other.named(np.arange(10, 14)))
    answers(old, other.probes)
    old.fit(problem.gallery, problem.labels)
    require_equal(old.classes_, new.classes_, "classes_ after another gallery")
    require(old.n_features_in_ == new.n_features_in_, "n_features_in_ is the old gallery's.")
    found, expected = answers(old, problem.probes), answers(new, problem.probes)
    require_same(found, expected, "after another gallery")


def failed_fit_changes_nothing(classifier: Any) -> None:
    """A refused gallery leaves a fitted classifier unchanged, and a new one unfitted."""
    problem, never = easy_problem(), fresh(classifier)
    bad = [problem.gallery[0], np.full((4, 13), np.nan), *problem.gallery[2:]]
    fitted = fit(classifier, problem)
    before = answers(fitted, problem.probes)
    for sets, labels in ((bad, problem.labels + 10), (problem.gallery, [1, 2])):
        refusal(partial(fitted.fit, sets, labels), "a bad gallery")
    require_equal(fitted.classes_, [0, 1, 2], "classes_ after a refused fit")
    require_same(answers(fitted, problem.probes), before, "after a refused fit")
    refusal(partial(never.fit, bad, problem.labels), "a gallery with NaN")
    is_told = isinstance(raised(partial(never.predict, problem.probes)), NotFittedError)
    require(is_told, "a classifier whose only fit was refused answers all the same.")


def threads_may_share_a_classifier(classifier: Any) -> None:
    """Several threads that use one fitted classifier at once get the labels of one thread."""
    problem = hard_problem()
    fitted = fit(classifier, problem)
    batches = [problem.probes[i:] + problem.probes[:i] for i in range(4)]
    expected = [fitted.predict(batch) for batch in batches]
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = list(pool.map(fitted.predict, batches))
    require_equal(found, expected, "labels when four threads ask at once")


def n_jobs_does_not_matter(classifier: Any) -> None:
    """One thread and two give the same answers."""
    problem = hard_problem()
    one, two = (answers(fit(classifier, problem, n_jobs=n), problem.probes) for n in (1, 2))
    require_same(two, one, "with n_jobs=2 instead of 1")
