"""Every method on the same sets, one table: which one to use on them."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from setwise._support.cluster import spread
from setwise._support.parallel import quiet
from setwise._support.parameters import check_number
from setwise._support.progress import Progress, reported
from setwise.errors import SetwiseWarning, reject
from setwise.evaluation.methods import named_methods
from setwise.evaluation.table import Comparison, MethodResult
from setwise.sets import SetBatch, check_labels, check_sets

__all__ = ["TimedAnswers", "compare", "evaluate", "timed_answers"]


def compare(
    gallery: Any,
    labels: Any,
    probes: Any,
    probe_labels: Any,
    *,
    methods: Any = None,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Try every method on your own sets: accuracy, how sure it is, and time.

    All methods learn the same gallery and judge the same probes. One that fails is reported
    as failed; an interrupt (Ctrl-C) returns what is finished. Every two seconds the logger
    ``setwise`` says, at level INFO, how far it is.

    Parameters
    ----------
    gallery, labels
        Gallery sets and the class of each, as for :meth:`setwise.CVC.fit`.
    probes, probe_labels
        Sets to be judged, and the class of each: what the methods are marked by.
    methods : None, sequence of str or classifiers, or mapping of str to classifiers
        What to compare: names of ``setwise.evaluation.METHODS``, or any classifiers of sets.
        By default all but the slow ones.
    confidence : float, default=0.95
        Of the intervals, and of the differences called significant.
    n_jobs : int, optional
        Threads of each method that has ``n_jobs``; times are wall-clock times. Within
        ``joblib.parallel_config("dask")`` each method is tried on a worker: docs/cluster.md.
    random_state : int, default=0
        Seed of the methods that need one.
    progress : callable, optional
        Called with what is being done, how many methods are over, and of how many.

    Returns
    -------
    Comparison
        A table to print, with ``best``, ``to_dict()`` and ``plot()``.

    Examples
    --------
    >>> import numpy as np
    >>> import setwise
    >>> rng = np.random.default_rng(0)
    >>> sets = [rng.normal(size=(9, 5)) + 3 * label for label in (0, 1) * 8]
    >>> y = [0, 1] * 8
    >>> methods = ["MSM", "mean vector"]
    >>> table = setwise.compare(sets[:8], y[:8], sets[8:], y[8:], methods=methods)
    >>> table["mean vector"].accuracy
    1.0
    """
    check_number("compare", "confidence", confidence, at_most=1.0 - 1e-9)
    gallery = check_sets(gallery, caller="compare: gallery")
    check_labels(labels, len(gallery), caller="compare: labels")
    probes = check_sets(probes, caller="compare: probes", n_features=gallery.n_features)
    check_labels(probe_labels, len(probes), caller="compare: probe_labels", min_classes=1)
    labels, truth = np.asarray(labels), np.asarray(probe_labels)
    strangers = sorted(set(truth.tolist()) - set(labels.tolist()), key=str)
    if strangers:
        reject(
            f"compare: probe_labels holds {strangers[0]!r}, which is no class of the gallery. "
            "Expected probes of the gallery's classes; leave the others out."
        )
    chosen = named_methods(methods, random_state)
    results: list[MethodResult] = []
    work = _results(chosen, gallery, labels, probes, truth, n_jobs)
    try:
        results.extend(reported(work, len(chosen), "comparing methods", progress))
    except KeyboardInterrupt:
        msg = f"compare: interrupted; {len(results)} of {len(chosen)} methods are finished."
        if not results:
            raise
        warnings.warn(msg, SetwiseWarning, stacklevel=2)
    return Comparison(results, confidence)


def _results(
    chosen: Mapping[str, Any],
    gallery: SetBatch,
    labels: npt.NDArray[Any],
    probes: SetBatch,
    truth: npt.NDArray[Any],
    n_jobs: int | None,
) -> Iterator[MethodResult]:
    task = _Task(gallery, labels, probes, truth, n_jobs)
    return spread(_evaluated, task, list(chosen.items()), here=map)


@dataclass(frozen=True)
class _Task:
    """What all methods are tried on."""

    gallery: SetBatch
    labels: npt.NDArray[Any]
    probes: SetBatch
    truth: npt.NDArray[Any]
    n_jobs: int | None


def _evaluated(task: _Task, named: tuple[str, Any]) -> MethodResult:
    name, classifier = named
    fresh = clone(classifier)
    if "n_jobs" in fresh.get_params(deep=False):
        fresh.set_params(n_jobs=task.n_jobs)
    return evaluate(name, fresh, task.gallery, task.labels, task.probes, task.truth)


def evaluate(
    name: str,
    classifier: Any,
    gallery: SetBatch,
    labels: npt.NDArray[Any],
    probes: SetBatch,
    truth: npt.NDArray[Any],
) -> MethodResult:
    """One method on one gallery and its probes, timed as :func:`timed_answers` does.

    Examples
    --------
    >>> from setwise import SetBatch
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.sets import check_sets
    >>> sets, labels = separable_sets()
    >>> gallery, probes = check_sets(sets[::2]), check_sets(sets[1::2])
    >>> from setwise.evaluation import evaluate
    >>> evaluate("mean", MeanCosine(), gallery, labels[::2], probes, labels[1::2]).accuracy
    1.0
    """
    try:
        timed = timed_answers(classifier, gallery, labels, probes)
    except Exception as error:  # whatever it is, the other methods go on
        reason = f"{type(error).__name__}: {error}"
        return MethodResult(name, np.zeros(len(truth), dtype=bool), error=reason)
    return MethodResult(
        name,
        np.asarray(timed.answers) == truth,
        fit_seconds=timed.fit_seconds,
        seconds_per_probe=timed.seconds_per_probe,
    )


@dataclass(frozen=True)
class TimedAnswers:
    """What a classifier answered about some probes, and how long it took.

    Attributes
    ----------
    answers : object
        Labels, one per probe, unless something else was asked for.
    fit_seconds, seconds_per_probe : float
        Wall-clock time to learn the gallery, and to judge one probe.

    Examples
    --------
    >>> from setwise import SetBatch
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.sets import check_sets
    >>> sets, labels = separable_sets()
    >>> gallery, probes = check_sets(sets[::2]), check_sets(sets[1::2])
    >>> from setwise.evaluation import timed_answers
    >>> timed = timed_answers(MeanCosine(), gallery, labels[::2], probes)
    >>> timed.answers, timed.seconds_per_probe > 0
    (array([0, 1, 1, 2]), True)
    """

    answers: Any
    fit_seconds: float
    seconds_per_probe: float


def timed_answers(
    classifier: Any,
    gallery: SetBatch,
    labels: npt.NDArray[Any],
    probes: SetBatch,
    *,
    ask: Callable[[SetBatch], Any] | None = None,
) -> TimedAnswers:
    """Fit a classifier, let it judge probes, and take the times of both.

    The first probe is judged once before, untimed: compiling and importing are not what a
    probe costs.

    Parameters
    ----------
    classifier : classifier of sets
        Fitted here.
    gallery, labels, probes
        Checked sets, and the class of each gallery set.
    ask : callable, optional
        What to ask the fitted classifier about sets; its ``predict`` by default.

    Examples
    --------
    >>> from setwise import SetBatch
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.sets import check_sets
    >>> sets, labels = separable_sets()
    >>> gallery, probes = check_sets(sets[::2]), check_sets(sets[1::2])
    >>> from setwise.evaluation import timed_answers
    >>> timed = timed_answers(
    ...     MeanCosine(), gallery, labels[::2], probes, ask=lambda sets: len(sets)
    ... )
    >>> timed.answers
    4
    """
    ask = classifier.predict if ask is None else ask
    started = time.perf_counter()
    classifier.fit(gallery, labels)
    fitted = time.perf_counter()
    with quiet("", Warning):
        ask(probes[:1])
    warm = time.perf_counter()
    answers = ask(probes)
    seconds_per_probe = (time.perf_counter() - warm) / len(probes)
    return TimedAnswers(answers, fitted - started, seconds_per_probe)
