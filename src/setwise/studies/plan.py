"""From a study to its work items."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from setwise.errors import DataError
from setwise.studies.data import prepared
from setwise.studies.fingerprint import code_fingerprint
from setwise.studies.items import (
    ClassifyItem,
    DistributionsItem,
    ExplainItem,
    GaussiansItem,
    Item,
    key_of,
)
from setwise.studies.spec import (
    Data,
    Distributions,
    Experiment,
    Fusion,
    Gaussians,
    Method,
    Methods,
    Outliers,
    Robustness,
    Study,
)
from setwise.studies.tasks.classify import classifier_of

__all__ = ["Finished", "Plan", "Planned", "Result", "explanations", "plan"]

# What came out of an item.
Result: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Planned:
    """An item in its place in an experiment.

    Attributes
    ----------
    key : str
        What its result is filed under.
    item : Item
        The work.
    label : str
        Row or line of the experiment that it counts for.
    turn : int
        Fold or draw: items of the first turn are done first, all experiments together, so
        that a table fills evenly and the time left can be told.
    """

    key: str
    item: Item
    label: str
    turn: int


Finished: TypeAlias = tuple[Planned, Result]


@dataclass(frozen=True)
class Plan:
    """All items of a study.

    Attributes
    ----------
    of : dict of str to tuple of Planned
        Items by the name of their experiment.
    alone : frozenset of str
        Keys of those that are timed.
    data_notes : dict of str to str
        Where each dataset was read from.
    """

    of: Mapping[str, tuple[Planned, ...]]
    alone: frozenset[str]
    data_notes: Mapping[str, str]

    @property
    def work(self) -> dict[str, Item]:
        """Every item once, in the order to be done."""
        everything = [one for planned in self.of.values() for one in planned]
        return {one.key: one.item for one in sorted(everything, key=lambda one: one.turn)}


def plan(study: Study, folder: Path | None = None) -> Plan:
    """Find out what there is to do; data are read to know their folds and fingerprints.

    Parameters
    ----------
    study : Study
        What is asked.
    folder : Path, optional
        Where data are looked for, see :func:`setwise.io.datasets.load`.

    Raises
    ------
    DataError
        Where data are missing, or a fold has the same image on both sides.
    ParameterError
        Where a method, or a parameter of one, is unknown.
    """
    filed = _Files(folder)
    try:
        of = {one.name: tuple(_items(one, filed)) for one in study.experiments}
    except DataError as error:
        msg = f"{error} {study.missing}".strip()
        raise type(error)(msg) from None
    alone = frozenset(
        one.key
        for experiment in study.experiments
        if isinstance(experiment, Methods) and experiment.is_timed
        for one in of[experiment.name]
    )
    return Plan(of, alone, filed.notes)


def explanations(
    study: Study, planned: Plan, results: Mapping[str, Result], folder: Path | None
) -> dict[str, list[tuple[Planned, Planned]]]:
    """What is to be explained, now that answers are known: the wrong ones.

    Returns
    -------
    dict of str to list of (judged, explained)
        By experiment, the item that judged the probes and the one that explains them.
    """
    filed = _Files(folder)
    found: dict[str, list[tuple[Planned, Planned]]] = {}
    for experiment in study.experiments:
        if not isinstance(experiment, Methods) or experiment.explain is None:
            continue
        pairs = found.setdefault(experiment.name, [])
        for one in planned.of[experiment.name]:
            if one.label != experiment.explain or one.key not in results:
                continue
            result = results[one.key]
            answers = zip(result["answers"][""], result["truth"], strict=True)
            wrong = tuple(i for i, (answer, truth) in enumerate(answers) if answer != truth)
            if wrong and isinstance(one.item, ClassifyItem):
                item = ExplainItem(of=one.item, probes=wrong)
                pairs.append((one, filed(item, one.label, one.turn, one.item.data)))
    return found


class _Files:
    """Files items under their keys."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self.notes: dict[str, str] = {}

    def n_folds(self, data: Data) -> int:
        return len(prepared(data, self.folder).folds)

    def __call__(self, item: Item, label: str, turn: int, data: Data | None = None) -> Planned:
        fingerprints = code_fingerprint()
        if data is not None:
            found = prepared(data, self.folder)
            fingerprints += found.digest
            self.notes[_called(data)] = found.note
        return Planned(key_of(item, fingerprints), item, label, turn)


def _called(data: Data) -> str:
    """The dataset's name, with what makes it another than the dataset itself."""
    kept = "" if data.n_vectors is None else f"{data.n_vectors} images"
    ways = ["" if data.protocol == "given" else data.protocol, kept]
    return ", ".join([data.name, *filter(None, ways)])


def _items(experiment: Experiment, filed: _Files) -> Iterator[Planned]:
    if isinstance(experiment, Gaussians):
        yield from _gaussians(experiment, filed)
    elif isinstance(experiment, Distributions):
        yield from _distributions(experiment, filed)
    elif isinstance(experiment, Robustness):
        mixtures = [None] + [
            Outliers(into=into, n=n)
            for into in ("gallery", "probes")
            for n in experiment.n_outliers
        ]
        for outliers in mixtures:
            yield from _on_folds(experiment, experiment.methods, filed, outliers)
    elif isinstance(experiment, Fusion):
        yield from _on_folds(experiment, (experiment.method,), filed)
    else:
        yield from _on_folds(experiment, experiment.methods, filed)


def _on_folds(
    experiment: Fusion | Methods | Robustness,
    methods: tuple[Method, ...],
    filed: _Files,
    outliers: Outliers | None = None,
) -> Iterator[Planned]:
    data, n_folds = experiment.data, filed.n_folds(experiment.data)
    for method in methods:
        # A misspelt one would fail in every fold: refuse it once, before anything is done.
        classifier_of(ClassifyItem(data=data, recipe=method.recipe, fold=0, seed=0))
    folds = range(n_folds) if experiment.folds is None else experiment.folds
    for fold in folds:
        if fold >= n_folds:
            msg = (
                f"experiment {experiment.name!r}: there is no fold {fold}. Expected 0 to "
                f"{n_folds - 1}, the folds of {data.name!r}."
            )
            raise DataError(msg)
        for seed in experiment.seeds:
            for method in methods:
                item = ClassifyItem(
                    data=data,
                    recipe=method.recipe,
                    fold=fold,
                    seed=seed,
                    n_probes=experiment.n_probes,
                    outliers=outliers,
                )
                yield filed(item, method.label, fold, data)


def _distributions(experiment: Distributions, filed: _Files) -> Iterator[Planned]:
    for draw in range(experiment.n_draws):
        for seed in experiment.seeds:
            for clusterer in experiment.clusterers:
                item = DistributionsItem(
                    data=experiment.data,
                    clusterer=clusterer,
                    n_classes=experiment.n_classes,
                    draw=draw,
                    seed=seed,
                )
                yield filed(item, clusterer, draw, experiment.data)


def _gaussians(experiment: Gaussians, filed: _Files) -> Iterator[Planned]:
    for draw in range(experiment.n_draws):
        for seed in experiment.seeds:
            for distance in experiment.distances:
                for size in experiment.sizes:
                    item = GaussiansItem(
                        distance=distance,
                        size=size,
                        variance=experiment.variance,
                        draw=draw,
                        seed=seed,
                    )
                    yield filed(item, f"{distance:g}", draw)
