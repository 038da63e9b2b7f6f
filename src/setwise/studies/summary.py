"""From finished items to tables and curves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from setwise.studies.cluster_summary import (
    summarise_distributions,
    summarise_gaussians,
)
from setwise.studies.items import ClassifyItem
from setwise.studies.plan import Finished, Planned, Result
from setwise.studies.sections import (
    AccuracyRow,
    Confusion,
    Curve,
    FusionSection,
    MethodsSection,
    RobustnessSection,
    Section,
    WrongProbe,
)
from setwise.studies.spec import (
    Distributions,
    Experiment,
    Fusion,
    Methods,
    Published,
    Robustness,
)

__all__ = ["summarise"]


def summarise(
    experiment: Experiment,
    planned: Sequence[Planned],
    results: Mapping[str, Result],
    explained: Iterable[tuple[Planned, Planned]] = (),
) -> Section | None:
    """What is known of an experiment so far; None where nothing is.

    Parameters
    ----------
    experiment : Experiment
        What was asked.
    planned : sequence of Planned
        Its items.
    results : dict of str to dict
        Of finished items, by key.
    explained : iterable of (Planned, Planned)
        Items that judged probes, and those that explain their wrong answers.
    """
    finished = [(one, results[one.key]) for one in planned if one.key in results]
    if not finished:
        return None
    if isinstance(experiment, Fusion):
        return _fusion(experiment, finished)
    if isinstance(experiment, Methods):
        return _methods(experiment, finished, results, explained)
    if isinstance(experiment, Robustness):
        return _robustness(experiment, finished)
    if isinstance(experiment, Distributions):
        return summarise_distributions(experiment, finished)
    return summarise_gaussians(experiment, finished)


def _accuracy(result: Result) -> float:
    """Percent of the probes that got their label."""
    given = np.array(result["answers"][""])
    return float(100.0 * np.mean(given == np.array(result["truth"])))


def _row(
    name: str,
    results: Sequence[Result],
    published: Published | None,
    *,
    is_timed: bool = True,
) -> AccuracyRow:
    accuracies = np.array([_accuracy(result) for result in results])
    times = {
        f"{what}_seconds": float(np.median([result[f"{what}_seconds"] for result in results]))
        for what in ("fit", "probe")
        if is_timed
    }
    return AccuracyRow(
        name=name,
        mean=float(accuracies.mean()),
        std=float(accuracies.std()),
        low=float(accuracies.min()),
        high=float(accuracies.max()),
        n_folds=len(accuracies),
        n_probes=sum(len(result["truth"]) for result in results),
        published=published,
        **times,
    )


def _curve(name: str, points: Mapping[float, Sequence[float]]) -> Curve:
    """Mean and standard deviation of the accuracies at each place."""
    x = sorted(points)
    return Curve(
        name=name,
        x=tuple(float(at) for at in x),
        mean=tuple(float(np.mean(points[at])) for at in x),
        std=tuple(float(np.std(points[at])) for at in x),
    )


def _fusion(experiment: Fusion, finished: Sequence[Finished]) -> FusionSection:
    results = [result for _, result in finished]
    rows, curves = [], []
    for fusion in experiment.method.fusions:
        largest = sorted({d for result in results for d in _dims(result, fusion)})
        by_dim = {float(d): [_fused(result, fusion, d) for result in results] for d in largest}
        published = experiment.published.get(fusion)
        rows.append(_row(fusion, by_dim[max(by_dim)], published, is_timed=False))
        points = {d: [_accuracy(one) for one in fused] for d, fused in by_dim.items()}
        curves.append(_curve(fusion, points))
    return FusionSection(experiment, tuple(rows), tuple(curves))


def _dims(result: Result, fusion: str) -> list[int]:
    """The dimensionalities of a fold: there are fewer where its sets are small."""
    named = (name.split("@") for name in result["answers"])
    return sorted(int(largest) for kind, largest in named if kind == fusion)


def _fused(result: Result, fusion: str, largest: int) -> Result:
    """The answers of members up to a dimensionality; all of them where a fold has no more."""
    there = max(d for d in _dims(result, fusion) if d <= largest)
    return {**result, "answers": {"": result["answers"][f"{fusion}@{there}"]}}


def _of(label: str, finished: Sequence[Finished]) -> list[Finished]:
    return [(one, result) for one, result in finished if one.label == label]


def _methods(
    experiment: Methods,
    finished: Sequence[Finished],
    results: Mapping[str, Result],
    explained: Iterable[tuple[Planned, Planned]],
) -> MethodsSection:
    rows = []
    for method in experiment.methods:
        mine = [result for _, result in _of(method.label, finished)]
        if mine:
            rows.append(_row(method.label, mine, experiment.published.get(method.label)))
    confusion = None
    if experiment.explain is not None:
        confusion = _confusion([result for _, result in _of(experiment.explain, finished)])
    wrong = tuple(_wrong(experiment, results, explained))
    return MethodsSection(experiment, tuple(rows), confusion, wrong)


def _confusion(results: Sequence[Result]) -> Confusion | None:
    if not results:
        return None
    pairs = [
        pair
        for result in results
        for pair in zip(result["truth"], result["answers"][""], strict=True)
    ]
    classes = sorted({name for pair in pairs for name in pair})
    counts = np.zeros((len(classes), len(classes)), dtype=int)
    for truth, answer in pairs:
        counts[classes.index(truth), classes.index(answer)] += 1
    return Confusion(tuple(classes), tuple(map(tuple, counts.tolist())))


def _wrong(
    experiment: Methods,
    results: Mapping[str, Result],
    explained: Iterable[tuple[Planned, Planned]],
) -> Iterator[WrongProbe]:
    for judged, why in explained:
        if why.key not in results or not isinstance(judged.item, ClassifyItem):
            continue
        for found in results[why.key]["explanations"]:
            yield WrongProbe(
                method=judged.label,
                fold=judged.item.fold,
                seed=judged.item.seed,
                probe=found["probe"],
                truth=found["truth"],
                answer=found["answer"],
                index=found["index"],
                explanation=found,
            )


def _robustness(experiment: Robustness, finished: Sequence[Finished]) -> RobustnessSection:
    shares: dict[str, dict[float, float]] = {"gallery": {0.0: 0.0}, "probes": {0.0: 0.0}}
    curves: dict[str, list[Curve]] = {"gallery": [], "probes": []}
    for into in curves:
        for method in experiment.methods:
            points = _by_outliers(_of(method.label, finished), into, shares[into])
            if points:
                curves[into].append(_curve(method.label, points))
    return RobustnessSection(
        experiment,
        tuple(curves["gallery"]),
        tuple(curves["probes"]),
        *(tuple(shares[into][n] for n in sorted(shares[into])) for into in curves),
    )


def _by_outliers(
    finished: Sequence[Finished], into: str, shares: dict[float, float]
) -> dict[float, list[float]]:
    """Accuracies by the images taken of each set; ``shares`` learns what these make."""
    points: dict[float, list[float]] = {}
    outlier_shares: dict[float, list[float]] = {}
    for one, result in finished:
        outliers = one.item.outliers if isinstance(one.item, ClassifyItem) else None
        if outliers is not None and outliers.into != into:
            continue
        n = 0.0 if outliers is None else float(outliers.n)
        points.setdefault(n, []).append(_accuracy(result))
        outlier_shares.setdefault(n, []).append(result["outlier_share"])
    shares.update({n: float(np.mean(found)) for n, found in outlier_shares.items()})
    return points
