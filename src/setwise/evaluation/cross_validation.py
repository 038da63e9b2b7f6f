"""Cross-validation of a classifier on labelled sets."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from setwise._support.cluster import spread
from setwise._support.parameters import check_jobs, check_progress, is_whole, refuse
from setwise._support.progress import Progress, reported
from setwise._support.types import IntArray
from setwise.errors import SetwiseWarning
from setwise.evaluation.evaluation import Evaluation, JudgedSet
from setwise.evaluation.folds import ALWAYS_GALLERY, fold_of_sets
from setwise.evaluation.leakage import sets_that_share
from setwise.evaluation.methods import is_classifier
from setwise.sets import SetBatch, check_labels, check_sets

Warned = dict[type[Warning], list[str]]  # texts of warnings by kind, one for each fold
_MOST_NAMED = 5  # in a note


def cross_validate(
    clf: Any,
    sets: Any,
    labels: Any,
    *,
    folds: int = 5,
    groups: Any = None,
    seed: int = 0,
    n_jobs: int | None = None,
    keep_fitted: bool = False,
    progress: Progress | None = None,
) -> Evaluation:
    """Judge every labelled set by a gallery of others: accuracy, confusion, errors.

    Whole sets are dealt to folds, each class spread as evenly as possible. A fresh copy of the
    classifier, fitted to all other folds, judges the sets of each fold. A class with a single
    set (or group) stays in every gallery and is not judged; a note names it. Another note names
    sets of different folds that hold equal vectors.

    Parameters
    ----------
    clf : classifier of sets
        Such as ``CVC()``; copies of it are fitted.
    sets, labels
        Labelled sets, as for :meth:`setwise.CVC.fit`.
    folds : int, default=5
        At least 2.
    groups : array of shape (n_sets,), optional
        Sets of one group, such as one session, stay in one fold.
    seed : int, default=0
        Of the folds.
    n_jobs : int, optional
        Threads of classifiers; on a cluster, each fold is done by a worker: docs/cluster.md.
    keep_fitted : bool, default=False
        Keep the classifier of every fold, so that its answers can be explained.
    progress : callable, optional
        Called with a description, the number of judged sets, and their total.

    Examples
    --------
    >>> from setwise.baselines import MeanVector
    >>> from setwise.evaluation import cross_validate
    >>> from setwise.evaluation.testing import separable_sets
    >>> print(cross_validate(MeanVector(), *separable_sets(), folds=3).summary())
    9 of 9 sets right: 100.0 % (95 % interval 66.4 to 100.0)
    """
    caller = "cross_validate"
    check_jobs(caller, n_jobs)
    check_progress(caller, progress)
    if not is_whole(seed) or seed < 0:
        refuse(caller, "seed", "an int of at least 0", seed)
    _check_classifier(clf)
    batch = check_sets(sets, caller=f"{caller}: sets")
    classes, codes = check_labels(labels, len(batch), caller=f"{caller}: labels")
    fold_of = fold_of_sets(codes, folds, groups=groups, seed=seed, caller=caller)
    heard: Warned = {}
    kept: list[Any] = []
    task = _Task(clf, batch, classes[codes], fold_of, n_jobs, keep_fitted)
    work = _results(task, heard, kept)
    n_judged = int((fold_of != ALWAYS_GALLERY).sum())
    results = list(reported(work, n_judged, "evaluate", progress))
    notes = [
        *_single_notes(classes[np.unique(codes[fold_of == ALWAYS_GALLERY])], groups),
        *_shared_notes(batch, fold_of),
        *(f"{texts[0]} (In {len(texts)} of {folds} folds.)" for texts in heard.values()),
    ]
    results.sort(key=lambda result: result.index)
    return Evaluation(classes, tuple(results), fold_of, folds, tuple(notes), tuple(kept))


def _check_classifier(clf: Any) -> None:
    if not is_classifier(clf):
        expected = "a classifier with fit and predict, like scikit-learn's"
        refuse("cross_validate", "clf", expected, clf)


@dataclass(frozen=True)
class _Task:
    """Input of every fold."""

    clf: Any
    batch: SetBatch
    labels: npt.NDArray[Any]
    fold_of: IntArray
    n_jobs: int | None
    keep_fitted: bool


def _judged_fold(task: _Task, fold: int) -> tuple[list[JudgedSet], Warned, Any]:
    """Judge one fold by a classifier fitted to all others: results, warnings, classifier."""
    is_judged = task.fold_of == fold
    learnt, judged = np.flatnonzero(~is_judged), np.flatnonzero(is_judged)
    fitted = clone(task.clf)
    if "n_jobs" in fitted.get_params(deep=False):
        fitted.set_params(n_jobs=task.n_jobs)
    probes, truths = task.batch[judged], task.labels[judged]
    facts = [
        {"index": index, "name": name, "truth": truth, "fold": fold}
        for index, name, truth in zip(judged.tolist(), probes.names, truths, strict=True)
    ]
    judge = _by_answers if hasattr(fitted, "judge") else _by_labels
    heard: Warned = {}
    with _heard(heard):
        fitted.fit(task.batch[learnt], task.labels[learnt])
        results = judge(fitted, probes, facts)
    return results, heard, fitted if task.keep_fitted else None


def _results(task: _Task, heard: Warned, kept: list[Any]) -> Iterator[JudgedSet]:
    """Judge the sets fold by fold; collect warnings and, if wanted, classifiers."""
    folds = range(int(task.fold_of.max()) + 1)
    for results, of_fold, fitted in spread(_judged_fold, task, folds, here=map):
        for category, texts in of_fold.items():
            heard.setdefault(category, []).extend(texts)
        if task.keep_fitted:
            kept.append(fitted)
        yield from results


@contextmanager
def _heard(heard: Warned) -> Iterator[None]:
    """Keep the first of each kind of setwise's own warnings; pass the others on."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SetwiseWarning)
        yield
    first: dict[type[Warning], str] = {}
    for warning in caught:
        if issubclass(warning.category, SetwiseWarning):
            first.setdefault(warning.category, str(warning.message))
        else:
            where = warning.filename, warning.lineno
            warnings.warn_explicit(warning.message, warning.category, *where)
    for category, text in first.items():
        heard.setdefault(category, []).append(text)


def _by_answers(fitted: Any, probes: SetBatch, facts: list[dict[str, Any]]) -> list[JudgedSet]:
    """Results of a classifier that has ``judge``, as CVC has."""
    unknown = getattr(fitted, "unknown_label", None)
    return [
        JudgedSet(
            **known,
            label=unknown if answer.is_known is False else answer.label,
            probability=answer.probability,
            margin=answer.margin,
            runner_up=answer.runner_up,
            is_known=answer.is_known,
            n_out_of_place=int((~answer.is_typical).sum()),
            answer=answer,
        )
        for known, answer in zip(facts, fitted.judge(probes), strict=True)
    ]


def _by_labels(fitted: Any, probes: SetBatch, facts: list[dict[str, Any]]) -> list[JudgedSet]:
    """Results of any classifier: labels, and probabilities where it has them."""
    labels = np.asarray(fitted.predict(probes))
    found = [known | {"label": label} for known, label in zip(facts, labels, strict=True)]
    if hasattr(fitted, "predict_proba"):
        for known, shares in zip(found, np.asarray(fitted.predict_proba(probes)), strict=True):
            is_label = fitted.classes_ == known["label"]
            others = np.where(is_label, -np.inf, shares)
            own, rival = float(shares[is_label].sum()), int(others.argmax())
            known |= {"probability": own, "margin": own - float(others[rival])}
            known["runner_up"] = fitted.classes_[rival]
    return [JudgedSet(**known) for known in found]


def _single_notes(classes: npt.NDArray[Any], groups: Any) -> Iterator[str]:
    if len(classes):
        unit = "set" if groups is None else "group"
        yield (
            f"{_listed(classes)}: a single {unit}, which stays in every gallery and is not "
            "judged. Give a second one to judge it."
        )


def _shared_notes(batch: SetBatch, fold_of: IntArray) -> Iterator[str]:
    pairs = [
        f"{batch.names[i]} and {batch.names[j]} ({n})"
        for (i, j), n in sets_that_share(batch).items()
        if fold_of[i] != fold_of[j]
    ]
    if pairs:
        yield (
            f"Equal vectors are in sets of different folds: {_listed(pairs)}. A set is then "
            "recognised by its copies, and the accuracy is too good: remove them, or keep "
            "such sets together by groups."
        )


def _listed(names: Any) -> str:
    shown = ", ".join(str(name) for name in names[:_MOST_NAMED])
    more = len(names) - _MOST_NAMED
    return shown if more <= 0 else f"{shown} and {more} more"
