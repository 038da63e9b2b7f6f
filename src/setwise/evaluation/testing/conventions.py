"""Checks of what scikit-learn expects of a classifier, and what fitting must leave alone."""

from __future__ import annotations

import random
from typing import Any

import joblib
import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.utils import get_tags

from setwise.evaluation.testing.data import easy_problem, hard_problem
from setwise.evaluation.testing.expect import (
    answers,
    fresh,
    methods_of,
    require,
    require_equal,
    require_labels,
    require_same_answers,
)
from setwise.evaluation.testing.registry import check
from setwise.sets import SetBatch


@check()
def init_stores_its_parameters_and_nothing_else(classifier: Any) -> None:
    """A new classifier holds the very objects it was given, under their names."""
    parameters = classifier.get_params(deep=False)
    new = type(classifier)(**parameters)
    extra = sorted(set(vars(new)) - set(parameters))
    require(not extra, f"__init__ sets {extra}, which are no parameters.")
    for name, value in parameters.items():
        stored = getattr(new, name, None)
        require(stored is value, f"__init__ changes {name} from {value!r} to {stored!r}.")


@check()
def parameters_survive_a_round_trip(classifier: Any) -> None:
    """``get_params`` gives ``set_params`` and ``clone`` what they need for an equal copy."""
    before = joblib.hash(classifier.get_params())
    copy = clone(classifier)
    require(joblib.hash(copy.get_params()) == before, "clone changes the parameters.")
    result = copy.set_params(**copy.get_params(deep=False))
    require(result is copy, "set_params does not return the classifier.")
    require(
        joblib.hash(copy.get_params()) == before, "set_params(**get_params()) changes some."
    )


@check()
def tags_say_that_samples_are_sets(classifier: Any) -> None:
    """scikit-learn is told that this is a classifier, and not one of rows."""
    require(is_classifier(classifier), "scikit-learn's is_classifier says no.")
    tags = get_tags(classifier)
    require(not tags.input_tags.two_d_array, "tags.input_tags.two_d_array should be False.")


@check()
def fit_returns_the_classifier(classifier: Any) -> None:
    """``fit`` returns the classifier itself, so that calls can be chained."""
    problem, new = easy_problem(), fresh(classifier)
    result = new.fit(problem.gallery, problem.labels)
    require(result is new, f"fit returns {type(result).__name__}, not the classifier itself.")


@check()
def fit_learns_sorted_classes_and_n_features(classifier: Any) -> None:
    """``classes_`` are the distinct labels, sorted, and ``n_features_in_`` is known."""
    problem = easy_problem()
    sets, codes = problem.in_order([8, 1, 4, 0, 6, 3, 2, 5, 7])
    names = np.array(["b", "c", "a"])
    fitted = fresh(classifier).fit(sets, names[codes])
    require_equal(fitted.classes_, ["a", "b", "c"], "classes_")
    require(fitted.n_features_in_ == 20, f"n_features_in_ is {fitted.n_features_in_}, not 20.")


@check()
def unfitted_classifier_says_so(classifier: Any) -> None:
    """Whoever asks before ``fit`` gets scikit-learn's NotFittedError."""
    probes = easy_problem().probes
    for method in methods_of(classifier):
        try:
            getattr(fresh(classifier), method)(probes)
        except NotFittedError:
            continue
        except Exception as error:
            msg = f"{method} before fit gives {type(error).__name__}, not NotFittedError."
            raise AssertionError(msg) from error
        msg = f"{method} before fit gives an answer, not NotFittedError."
        raise AssertionError(msg)


@check()
def parameters_are_never_modified(classifier: Any) -> None:
    """Parameters are the same after ``fit`` and questions as before."""
    problem, new = easy_problem(), fresh(classifier)
    before = joblib.hash(new.get_params())
    answers(new.fit(problem.gallery, problem.labels), problem.probes)
    require(joblib.hash(new.get_params()) == before, "parameters are changed.")


@check()
def inputs_are_never_modified(classifier: Any) -> None:
    """Sets and labels are the same after ``fit`` and questions as before."""
    problem = easy_problem()
    batches = [SetBatch.from_list(problem.gallery), SetBatch.from_list(problem.probes)]
    for gallery, probes in ([problem.gallery, problem.probes], batches):
        given = [list(gallery), problem.labels, list(probes)]
        before = joblib.hash(given)
        answers(fresh(classifier).fit(gallery, problem.labels), probes)
        require(joblib.hash(given) == before, "sets or labels are changed in place.")


@check()
def gallery_may_be_overwritten_after_fit(classifier: Any) -> None:
    """A fitted classifier keeps no view of the caller's arrays."""
    problem = easy_problem()
    for gallery in (problem.gallery, SetBatch.from_list(problem.gallery)):
        labels = problem.labels.copy()
        fitted = fresh(classifier).fit(gallery, labels)
        before = answers(fitted, problem.probes)
        for vectors in gallery:
            vectors *= -3.0
        labels[:] = 0
        after = answers(fitted, problem.probes)
        require_same_answers(after, before, "once the gallery's arrays are overwritten")


@check()
def global_random_state_is_untouched(classifier: Any) -> None:
    """A seeded classifier draws nothing from the global generators."""
    problem = easy_problem()

    def global_state() -> Any:
        return joblib.hash((np.random.get_state(), random.getstate()))  # noqa: NPY002

    before = global_state()
    answers(fresh(classifier).fit(problem.gallery, problem.labels), problem.probes)
    require(global_state() == before, "a global random generator has advanced.")


@check()
def cross_validation_works(classifier: Any) -> None:
    """scikit-learn's ``cross_val_score`` splits lists and batches of sets as one would."""
    problem = easy_problem(n_classes=2, n_sets=4)
    folds = StratifiedKFold(2)
    by_hand = []
    for train, test in folds.split(problem.labels, problem.labels):
        fitted = fresh(classifier).fit(*problem.in_order(train))
        sets, truth = problem.in_order(test)
        by_hand.append(np.mean(fitted.predict(sets) == truth))
    for X in (problem.gallery, SetBatch.from_list(problem.gallery)):
        scores = cross_val_score(
            fresh(classifier), X, problem.labels, cv=folds, error_score="raise"
        )
        require_equal(scores, by_hand, "accuracy by cross_val_score and by hand")


@check()
def score_is_the_accuracy(classifier: Any) -> None:
    """``score`` is the share of sets with the right label."""
    problem = easy_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    require_labels(fitted, problem.probes, problem.truth, "easy sets")
    wrong = problem.truth.copy()
    wrong[:3] = (wrong[:3] + 1) % 3
    require_equal(fitted.score(problem.probes, wrong), 0.5, "score with half the labels wrong")


@check("random_state")
def same_seed_gives_the_same_bits(classifier: Any) -> None:
    """Two copies with one ``random_state`` answer identically."""
    problem = hard_problem()
    one, other = (
        answers(fresh(classifier).fit(problem.gallery, problem.labels), problem.probes)
        for _ in range(2)
    )
    require_same_answers(other, one, "of a second copy with the same seed", tolerance=0.0)
