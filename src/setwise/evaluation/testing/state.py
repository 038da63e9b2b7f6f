"""Checks of what a classifier remembers: galleries, failures, threads, pickles."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from sklearn.exceptions import NotFittedError

from setwise.evaluation.testing.data import easy_problem, hard_problem
from setwise.evaluation.testing.expect import (
    answers,
    fresh,
    refusal,
    require,
    require_equal,
    require_same_answers,
)
from setwise.evaluation.testing.registry import check


@check()
def fit_twice_gives_the_same(classifier: Any) -> None:
    """To fit the same gallery once more changes nothing."""
    problem = hard_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    before = answers(fitted, problem.probes)
    fitted.fit(problem.gallery, problem.labels)
    require_same_answers(answers(fitted, problem.probes), before, "after a second fit")


@check()
def refit_forgets_the_old_gallery(classifier: Any) -> None:
    """A classifier fitted anew, with other classes and features, is as good as a new one."""
    problem = hard_problem()
    other = easy_problem(seed=5, n_classes=4, n_features=13)
    new = fresh(classifier).fit(problem.gallery, problem.labels)
    old = fresh(classifier).fit(other.gallery, other.labels + 10)
    answers(old, other.probes)
    old.fit(problem.gallery, problem.labels)
    require_equal(old.classes_, new.classes_, "classes_ after another gallery")
    require(old.n_features_in_ == new.n_features_in_, "n_features_in_ is the old gallery's.")
    found, expected = answers(old, problem.probes), answers(new, problem.probes)
    require_same_answers(found, expected, "after another gallery")


@check()
def failed_fit_changes_nothing(classifier: Any) -> None:
    """A refused gallery leaves a fitted classifier as it was, and a new one unfitted."""
    problem = easy_problem()
    bad = [problem.gallery[0], np.full((4, 13), np.nan), *problem.gallery[2:]]
    attempts = {"NaN": (bad, problem.labels + 10), "labels": (problem.gallery, [1, 2])}
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    before = answers(fitted, problem.probes)
    for name, (sets, labels) in attempts.items():
        refusal(lambda s=sets, y=labels: fitted.fit(s, y), f"a gallery with bad {name}")  # type: ignore[misc]
    require_equal(fitted.classes_, [0, 1, 2], "classes_ after a refused fit")
    require_same_answers(answers(fitted, problem.probes), before, "after a refused fit")
    never = fresh(classifier)
    refusal(lambda: never.fit(bad, problem.labels), "a gallery with NaN")
    try:
        never.predict(problem.probes)
    except NotFittedError:
        return
    msg = "a classifier whose only fit was refused answers all the same."
    raise AssertionError(msg)


@check()
def earlier_probes_do_not_matter(classifier: Any) -> None:
    """A question leaves no trace: asked again after others, the answer is the same."""
    problem = hard_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    before = answers(fitted, problem.probes[:2])
    answers(fitted, [100 * vectors for vectors in problem.probes[2:]])
    after = answers(fitted, problem.probes[:2])
    require_same_answers(after, before, "when asked again after other sets")


@check()
def pickle_keeps_every_answer(classifier: Any) -> None:
    """Pickled and read again, fitted or not, the classifier answers as before."""
    problem = hard_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    before = answers(fitted, problem.probes)
    copy = pickle.loads(pickle.dumps(fitted))  # noqa: S301 - our own bytes
    require_same_answers(answers(copy, problem.probes), before, "after pickling")
    new = pickle.loads(pickle.dumps(fresh(classifier)))  # noqa: S301 - our own bytes
    new.fit(problem.gallery, problem.labels)
    require_same_answers(answers(new, problem.probes), before, "when pickled before fit")


@check()
def threads_may_share_a_classifier(classifier: Any) -> None:
    """Several threads that ask one fitted classifier at once get what one alone gets."""
    problem = hard_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    batches = [problem.probes[i:] + problem.probes[:i] for i in range(4)]
    expected = [fitted.predict(batch) for batch in batches]
    with ThreadPoolExecutor(max_workers=4) as pool:
        found = list(pool.map(fitted.predict, batches))
    require_equal(found, expected, "labels when four threads ask at once")


@check("n_jobs")
def n_jobs_does_not_matter(classifier: Any) -> None:
    """One thread and two give the same answers."""
    problem = hard_problem()
    one, two = (
        answers(
            fresh(classifier, n_jobs=n).fit(problem.gallery, problem.labels), problem.probes
        )
        for n in (1, 2)
    )
    require_same_answers(two, one, "with n_jobs=2 instead of 1")
