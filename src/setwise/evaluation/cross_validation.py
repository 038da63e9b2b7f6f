"""Cross-validation of a classifier on labelled sets, by folds that split no set or group."""

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
from setwise._support.parameters import check_count, check_jobs, check_progress, refuse
from setwise._support.progress import Progress, reported
from setwise._support.types import IntArray
from setwise.errors import SetwiseWarning, reject
from setwise.evaluation.compare import is_classifier
from setwise.evaluation.evaluation import Evaluation, JudgedSet
from setwise.evaluation.leakage import sets_that_share
from setwise.sets import SetBatch, check_labels, check_sets
from setwise.sets.labels import as_identifiers, is_missing, unique_identifiers

Warned = dict[type[Warning], list[str]]  # texts of warnings by kind, one for each fold
_MOST_NAMED = 5  # in a note
ALWAYS_GALLERY = -1  # in place of a fold: sets of a class with a single group


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
    groups : array of shape (n_sets,), optional
        Sets of one group, such as one session, stay in one fold.
    seed : int, default=0
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
    check_count(caller, "seed", seed, at_least=0)
    if not is_classifier(clf):
        refuse(caller, "clf", "a classifier with fit and predict, like scikit-learn's", clf)
    batch = check_sets(sets, caller=f"{caller}: sets")
    classes, codes = check_labels(labels, len(batch), caller=f"{caller}: labels")
    fold_of = fold_of_sets(codes, folds, groups=groups, seed=seed, caller=caller)
    warned: Warned = {}
    kept: list[Any] = []
    task = _Task(clf, batch, classes[codes], fold_of, n_jobs, keep_fitted)
    work = _results(task, warned, kept)
    n_judged = int((fold_of != ALWAYS_GALLERY).sum())
    results = list(reported(work, n_judged, "evaluate", progress))
    notes = [
        *_single_notes(classes[np.unique(codes[fold_of == ALWAYS_GALLERY])], groups),
        *_shared_notes(batch, fold_of),
        *(f"{texts[0]} (In {len(texts)} of {folds} folds.)" for texts in warned.values()),
    ]
    results.sort(key=lambda result: result.index)
    return Evaluation(classes, tuple(results), fold_of, folds, tuple(notes), tuple(kept))


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
    warned: Warned = {}
    with _collected(warned):
        fitted.fit(task.batch[learnt], task.labels[learnt])
        results = judge(fitted, probes, facts)
    return results, warned, fitted if task.keep_fitted else None


def _results(task: _Task, warned: Warned, kept: list[Any]) -> Iterator[JudgedSet]:
    """Judge the sets fold by fold; collect warnings and, if wanted, classifiers."""
    folds = range(int(task.fold_of.max()) + 1)
    for results, of_fold, fitted in spread(_judged_fold, task, folds, here=map):
        for category, texts in of_fold.items():
            warned.setdefault(category, []).extend(texts)
        if task.keep_fitted:
            kept.append(fitted)
        yield from results


@contextmanager
def _collected(warned: Warned) -> Iterator[None]:
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
        warned.setdefault(category, []).append(text)


def _by_answers(fitted: Any, probes: SetBatch, facts: list[dict[str, Any]]) -> list[JudgedSet]:
    """Results of a classifier that has ``judge``, as CVC has."""
    unknown = getattr(fitted, "unknown_label", None)
    return [
        JudgedSet(
            **known,
            label=unknown if answer.is_known is False else answer.nearest,
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


# ------------------------------------------------------------------------------------ folds


def fold_of_sets(
    codes: IntArray,
    folds: int,
    *,
    groups: Any = None,
    seed: int = 0,
    caller: str = "fold_of_sets",
) -> IntArray:
    """The fold in which each set is judged, by a gallery of the sets of all other folds.

    The largest groups are dealt first, each to the fold that has the smallest share of its
    classes. A class with a single group stays in every gallery: its sets get
    ``ALWAYS_GALLERY``, and the rest of that group is dealt as usual. Without ``groups``, each
    set is one.
    """
    check_count(caller, "folds", folds, at_least=2)
    group_codes = _group_codes(groups, len(codes), caller)
    sets_of = np.zeros((group_codes.max() + 1, codes.max() + 1), dtype=np.int64)
    np.add.at(sets_of, (group_codes, codes), 1)
    is_single = (sets_of > 0).sum(axis=0) == 1  # classes with one group
    sets_of[:, is_single] = 0
    n_groups = int(sets_of.any(axis=1).sum())
    if n_groups < folds:
        what = "sets" if groups is None else "groups"
        reject(
            f"{caller}: {folds} folds cannot be made of {n_groups} {what} of classes that have "
            f"more than one. Expected at least one of the {what} per fold: give more, or fewer "
            "folds."
        )
    fold_of_group = _deal(sets_of, folds, np.random.default_rng(seed), caller)
    return np.where(is_single[codes], ALWAYS_GALLERY, fold_of_group[group_codes])


def _group_codes(groups: Any, n_sets: int, caller: str) -> IntArray:
    if groups is None:
        return np.arange(n_sets)
    values = as_identifiers(groups, f"{caller}: groups")
    if values.shape != (n_sets,) or is_missing(values).any():
        reject(
            f"{caller}: groups must hold one value for each of the {n_sets} sets, none "
            f"missing, got an array of shape {values.shape}."
        )
    return unique_identifiers(values, f"{caller}: groups")[2]


def _deal(sets_of: IntArray, folds: int, rng: np.random.Generator, caller: str) -> IntArray:
    """The fold of each group, from its number of sets of each class."""
    fold_of_group = np.zeros(len(sets_of), dtype=np.int64)
    n_in_fold = np.zeros((folds, sets_of.shape[1]), dtype=np.int64)
    n_in_class = np.maximum(sets_of.sum(axis=0), 1)
    order = rng.permutation(len(sets_of))
    for group in order[np.argsort(-sets_of[order].sum(axis=1), kind="stable")]:
        after = n_in_fold + sets_of[group]
        # A class that is in one fold alone would be missing in the gallery of that fold.
        n_whole = (after == n_in_class).sum(axis=1)
        share = ((after**2 - n_in_fold**2) / n_in_class**2).sum(axis=1)
        fold = int(np.lexsort((n_in_fold.sum(axis=1), share.round(12), n_whole))[0])
        fold_of_group[group], n_in_fold[fold] = fold, after[fold]
    if ((n_in_fold == n_in_class) & (sets_of.sum(axis=0) > 0)).any():
        reject(
            f"{caller}: the groups cannot be dealt to {folds} folds so that every class is in "
            "two of them. Expected groups that divide the classes differently: give smaller "
            "groups, more folds, or another seed."
        )
    return fold_of_group
