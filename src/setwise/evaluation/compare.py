"""Compare methods on the same sets: accuracy, confidence and time in one table."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from setwise import baselines
from setwise._support.cluster import spread
from setwise._support.parallel import quiet
from setwise._support.parameters import (
    check_count,
    check_jobs,
    check_known,
    check_number,
    check_progress,
    refuse,
)
from setwise._support.progress import Progress, reported
from setwise.classify import CVC
from setwise.errors import ParameterError, SetwiseWarning, reject
from setwise.evaluation.table import Comparison, MethodResult
from setwise.sets import SetBatch, check_labels, check_sets


def _no_fusion(clusterer: Any) -> Callable[[int], CVC]:
    """CVC as in the paper's comparison of clusterers: largest dimensionality only."""
    return lambda seed: CVC.as_in_paper(
        dims=(10,), fusion="none", clusterer=clusterer, random_state=seed
    )


# name -> what makes the classifier, from a seed; first what people do without a library
METHODS: dict[str, Callable[[int], Any]] = {
    "mean cosine": lambda seed: baselines.MeanCosine(),
    "mean cosine, robust": lambda seed: baselines.MeanCosine(robust=True),
    "frame vote, cosine": lambda seed: baselines.FrameVote(metric="cosine"),
    "CVC": lambda seed: CVC(random_state=seed),
    "CVC as in paper": lambda seed: CVC.as_in_paper(random_state=seed),
    "CVC no fusion, SHC": _no_fusion(None),
    "CVC no fusion, k-means": _no_fusion("kmeans"),
    "CVC no fusion, spectral": _no_fusion("spectral"),
    "CVC no fusion, SSC": _no_fusion("ssc"),
    "CVC no fusion, SSC by ADMM": _no_fusion("ssc-admm"),
    "CVC no fusion, SKMS": _no_fusion("skms"),
    "DCC": lambda seed: baselines.DCC(),
    "MMD": lambda seed: baselines.MMD(),
    "MDA": lambda seed: baselines.MDA(),
    "AHISD": lambda seed: baselines.AHISD(),
    "CHISD": lambda seed: baselines.CHISD(),
    "CHISD, rbf kernel": lambda seed: baselines.CHISD(kernel="rbf"),
    "SANP": lambda seed: baselines.SANP(),
    "CDL-LDA": lambda seed: baselines.CDL("lda"),
    "CDL-PLS": lambda seed: baselines.CDL("pls"),
    "MSM": lambda seed: baselines.MSM(),
    "MSM, smallest angle": lambda seed: baselines.MSM(n_angles=1),
    "CMSM": lambda seed: baselines.CMSM(),
    "GDA": lambda seed: baselines.GDA(),
    "GDA, centred": lambda seed: baselines.GDA(3, centred=True),
    "RNP": lambda seed: baselines.RNP(),
    "ISCRC": lambda seed: baselines.ISCRC(random_state=seed),
    "frame vote": lambda seed: baselines.FrameVote(),
    "mean vector": lambda seed: baselines.MeanVector(),
    "minimum distance": lambda seed: baselines.MinimumDistance(),
    "log-Euclidean": lambda seed: baselines.LogEuclidean(),
}
# Seconds per probe, where the others take milliseconds: compared only when named.
SLOW = ("CVC no fusion, SSC by ADMM", "CVC no fusion, SKMS")


def compare(
    gallery: Any,
    labels: Any,
    probes: Any,
    probe_labels: Any,
    *,
    methods: Any = None,
    n_splits: int = 1,
    confidence: float = 0.95,
    n_jobs: int | None = None,
    random_state: int = 0,
    progress: Progress | None = None,
) -> Comparison:
    """Try every method on your own sets: accuracy, its confidence interval, and time.

    All methods learn the same gallery and judge the same probes. A failing method is reported
    as failed; an interrupt (Ctrl-C) returns the finished ones. Without ``progress``, the logger
    ``setwise`` reports every two seconds at level INFO.

    Parameters
    ----------
    gallery, labels, probes, probe_labels
        Sets to learn and to be judged, and their classes, as for :meth:`setwise.CVC.fit`.
    methods : None, sequence of str or classifiers, or mapping of str to classifiers
        Names of ``setwise.evaluation.METHODS``, or classifiers; by default all but slow ones.
    n_splits : int, default=1
        With more, gallery and probes are put together and dealt again so often, at random, as
        many sets of each class to the gallery as were given there. p values then tell whether
        another choice of sets would give the same best method. Sets of one session may come to
        both sides, and are easier then.
    confidence : float, default=0.95
        Of the intervals, and of differences reported as significant.
    n_jobs : int, optional
        Threads of each method; on a cluster, methods are tried on workers: docs/cluster.md.
    random_state : int, default=0
        Seed of the splits, and of the methods that need one.
    progress : callable, optional
        Called with a description, the number of finished methods, and their total.

    Examples
    --------
    >>> import setwise
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, y = separable_sets(n_sets=6)
    >>> setwise.compare(sets[::2], y[::2], sets[1::2], y[1::2], methods=["MSM"])["MSM"].accuracy
    1.0
    """
    check_count("compare", "n_splits", n_splits)
    check_number("compare", "confidence", confidence, at_most=1.0 - 1e-9)
    check_jobs("compare", n_jobs)
    check_progress("compare", progress)
    chosen = named_methods(methods, random_state)
    gallery = check_sets(gallery, caller="compare: gallery")
    check_labels(labels, len(gallery), caller="compare: labels")
    probes = check_sets(probes, caller="compare: probes", n_features=gallery.n_features)
    check_labels(probe_labels, len(probes), caller="compare: probe_labels", min_classes=1)
    labels, truth = np.asarray(labels), np.asarray(probe_labels)
    unknown = sorted(set(truth.tolist()) - set(labels.tolist()), key=str)
    if unknown:
        reject(
            f"compare: probe_labels holds {unknown[0]!r}, which is no class of the gallery. "
            "Expected probes of the gallery's classes; leave the others out."
        )
    results: list[MethodResult] = []
    task = _Task(gallery, labels, probes, truth, n_jobs, n_splits, random_state)
    work = spread(_evaluated, task, list(chosen.items()), here=map)
    try:
        results.extend(reported(work, len(chosen), "comparing methods", progress))
    except KeyboardInterrupt:
        msg = f"compare: interrupted; {len(results)} of {len(chosen)} methods are finished."
        if not results:
            raise
        warnings.warn(msg, SetwiseWarning, stacklevel=2)
    return Comparison(results, confidence, ratio=len(probes) / len(gallery))


Part: TypeAlias = tuple[SetBatch, npt.NDArray[Any], SetBatch, npt.NDArray[Any]]


@dataclass(frozen=True)
class _Task:
    """Sets on which all methods are tried."""

    gallery: SetBatch
    labels: npt.NDArray[Any]
    probes: SetBatch
    truth: npt.NDArray[Any]
    n_jobs: int | None
    n_splits: int
    seed: int

    def parts(self) -> Iterator[Part]:
        """Gallery, its labels, probes, and their labels, of each split."""
        if self.n_splits == 1:
            yield self.gallery, self.labels, self.probes, self.truth
            return
        sets = SetBatch.join([self.gallery, self.probes])
        labels = np.concatenate([self.labels, self.truth])
        rng = np.random.default_rng(self.seed)
        for _ in range(self.n_splits):
            is_learnt = dealt(labels, len(self.labels), rng)
            learnt, judged = np.flatnonzero(is_learnt), np.flatnonzero(~is_learnt)
            yield sets[learnt], labels[learnt], sets[judged], labels[judged]


def dealt(
    labels: npt.NDArray[Any], n_first: int, rng: np.random.Generator
) -> npt.NDArray[np.bool_]:
    """Which sets go to the gallery: of each class as many as of the first ``n_first`` sets."""
    is_learnt = np.zeros(len(labels), dtype=np.bool_)
    for label in np.unique(labels):
        own = np.flatnonzero(labels == label)
        is_learnt[rng.permutation(own)[: int(np.sum(own < n_first))]] = True
    return is_learnt


def _evaluated(task: _Task, named: tuple[str, Any]) -> MethodResult:
    name, classifier = named
    results = []
    for gallery, labels, probes, truth in task.parts():
        fresh = clone(classifier)
        if "n_jobs" in fresh.get_params(deep=False):
            fresh.set_params(n_jobs=task.n_jobs)
        results.append(evaluate(name, fresh, gallery, labels, probes, truth))
        if results[-1].error is not None:
            return results[-1]
    return MethodResult(
        name,
        np.concatenate([one.is_right for one in results]),
        float(np.mean([one.fit_seconds for one in results])),
        float(np.mean([one.seconds_per_probe for one in results])),
        n_splits=task.n_splits,
    )


def evaluate(
    name: str,
    classifier: Any,
    gallery: SetBatch,
    labels: npt.NDArray[Any],
    probes: SetBatch,
    truth: npt.NDArray[Any],
) -> MethodResult:
    """Result of one method on one gallery and its probes, timed by :func:`timed_answers`.

    Examples
    --------
    >>> from setwise import SetBatch
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation import evaluate
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> batch = SetBatch.from_list(sets)
    >>> evaluate("mean", MeanCosine(), batch, labels, batch, labels).accuracy
    1.0
    """
    try:
        timed = timed_answers(classifier, gallery, labels, probes)
    except Exception as error:  # the other methods go on
        reason = f"{type(error).__name__}: {error}"
        return MethodResult(name, np.zeros(len(truth), dtype=bool), error=reason)
    is_right = np.asarray(timed.answers) == truth
    return MethodResult(name, is_right, timed.fit_seconds, timed.seconds_per_probe)


@dataclass(frozen=True)
class TimedAnswers:
    """Answers of a classifier, and wall-clock seconds to fit and per probe.

    Examples
    --------
    >>> from setwise.evaluation import TimedAnswers
    >>> TimedAnswers(["anna"], fit_seconds=0.1, seconds_per_probe=0.01).answers
    ['anna']
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
    """Fit a classifier, ask it about probes, and measure the time of both.

    The first probe is judged once before, untimed, so that compiling and importing do not
    count. ``ask`` is a function of sets, by default the classifier's ``predict``.

    Examples
    --------
    >>> from setwise import SetBatch
    >>> from setwise.baselines import MeanCosine
    >>> from setwise.evaluation import timed_answers
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> batch = SetBatch.from_list(sets)
    >>> timed_answers(MeanCosine(), batch, labels, batch[:2]).answers
    array([0, 0])
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


def check_methods(names: Iterable[str], others: Collection[str] = ()) -> list[str]:
    """Split and check names of methods, before anything is loaded.

    Each of ``names`` is one name or several separated by commas, which names may contain;
    duplicates are removed. ``others`` are known beside :data:`METHODS`.

    Examples
    --------
    >>> check_methods(["CVC, CHISD, rbf kernel", "MSM"])
    ['CVC', 'CHISD, rbf kernel', 'MSM']
    """
    known = (*METHODS, *others)
    return list(dict.fromkeys(name for text in names for name in _split(text, known)))


def _split(text: str, known: Collection[str]) -> Iterator[str]:
    """The known names in a text with commas, the longest match first."""
    words = [word.strip() for word in text.split(",")]
    while words:
        starts = (", ".join(words[:n]) for n in range(len(words), 0, -1))
        name = next((start for start in starts if start in known), words[0])
        check_known("compare", "method", name, known)
        yield name
        words = words[name.count(",") + 1 :]


def named_methods(methods: Any, seed: int) -> dict[str, Any]:
    """Checked classifiers by name, made with ``seed`` where ``methods`` are names."""
    if methods is None:
        methods = [name for name in METHODS if name not in SLOW]
    if isinstance(methods, Mapping):
        return _checked(dict(methods))
    if isinstance(methods, str | bytes) or not np.iterable(methods):
        refuse("compare", "methods", "a sequence of names or classifiers", methods)
    named = [_named(method, seed) for method in methods]
    names = [name for name, _ in named]
    for name in names:
        if names.count(name) > 1:
            msg = (
                f"compare: methods holds two called {name!r}. Expected different names: give a "
                "mapping of names to classifiers."
            )
            raise ParameterError(msg)
    return _checked(dict(named))


def _checked(named: dict[str, Any]) -> dict[str, Any]:
    """Refuse what is not a classifier, and an empty selection."""
    for name, classifier in named.items():
        if not is_classifier(classifier):
            msg = (
                f"compare: method {name!r} is {classifier!r}. Expected a classifier with fit "
                "and predict, like scikit-learn's."
            )
            raise ParameterError(msg)
    if not named:
        msg = "compare: methods is empty. Expected at least one; None compares all."
        raise ParameterError(msg)
    return named


def is_classifier(thing: Any) -> bool:
    """Whether a thing can be cloned, fitted and asked for labels."""
    needs = ("fit", "predict", "get_params")
    return not isinstance(thing, type) and all(hasattr(thing, need) for need in needs)


def _named(method: Any, seed: int) -> tuple[str, Any]:
    if not isinstance(method, str):
        return type(method).__name__, method
    check_known("compare", "method", method, METHODS)
    return method, METHODS[method](seed)
