"""One classifier on one fold, and why its answers were wrong: the work of most experiments."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field
from scipy.spatial.distance import cdist

from setwise.classify import CVC, Explanation, Fusion, fuse
from setwise.errors import ParameterError, reject
from setwise.evaluation import timed_answers
from setwise.features import unit_rows
from setwise.sets import SetBatch
from setwise_paper.data import StudyData, read_data
from setwise_paper.datasets import Corrupted, corrupt_sets
from setwise_paper.kinds.base import Experiment
from setwise_paper.plan import Planned, Planner
from setwise_paper.recipes import code_of, made_by
from setwise_paper.spec import Count, Data, Method, Published, Recipe, Strict
from setwise_paper.support import FloatArray, IntArray, seed_for
from setwise_paper.worker import Item

# Images of a probe beside the gallery's, and points of the gallery in the plane.
MOST_PAIRS, MOST_POINTS = 8, 400


class Outliers(Strict):
    """Images of other gallery sets mixed into the gallery, or into the probes."""

    into: Literal["gallery", "probes"]
    n: Count


class ClassifyItem(Item):
    """One classifier on one fold."""

    kind: Literal["classify"] = "classify"
    data: Data
    recipe: Recipe
    fold: int
    seed: int
    n_probes: int | None = None
    outliers: Outliers | None = None

    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Fit the classifier to the gallery of the fold, and let it judge the probes."""
        classifier = classifier_of(self)
        sides = sides_of(self, read_data(self.data, folder))
        fusions = self.recipe.fusions
        ask = (lambda sets: _fused(classifier, sets, fusions)) if fusions else None
        timed = timed_answers(
            classifier, sides.gallery, np.asarray(sides.gallery.labels), sides.probes, ask=ask
        )
        answers = timed.answers if fusions else {"": timed.answers}
        for labels in answers.values():
            if np.shape(labels) != (len(sides.probes),):
                reject(
                    f"method {self.recipe.of!r}: predict gave an answer of shape "
                    f"{np.shape(labels)}. Expected a label for each set, {len(sides.probes)}."
                )
        return {
            "probes": list(sides.probes.names),
            "indices": sides.indices.tolist(),
            "truth": _words(sides.probes.labels),
            "answers": {name: _words(labels) for name, labels in answers.items()},
            "fit_seconds": timed.fit_seconds,
            "probe_seconds": timed.seconds_per_probe,
            "n_gallery": len(sides.gallery),
            "outlier_share": sides.outlier_share,
        }

    def code(self) -> str:
        """A hash of a method of your own."""
        return code_of(self.recipe)


class OnFolds(Experiment):
    """What experiments on the folds of some data have."""

    data: Data
    folds: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    n_probes: Count | None = None
    published: dict[str, Published] = Field(default_factory=dict)

    def plan_folds(
        self, methods: tuple[Method, ...], planner: Planner, outliers: Outliers | None = None
    ) -> Iterator[Planned]:
        """An item for every method, fold and seed."""
        n_folds = len(planner.sets_of(self.data).folds)
        for method in methods:
            # A misspelt one would fail in every fold: refuse it once, before anything is done.
            classifier_of(ClassifyItem(data=self.data, recipe=method.recipe, fold=0, seed=0))
        for fold in range(n_folds) if self.folds is None else self.folds:
            if fold >= n_folds:
                reject(
                    f"experiment {self.name!r}: there is no fold {fold}. Expected 0 to "
                    f"{n_folds - 1}, the folds of {self.data.name!r}."
                )
            same: dict[str, Any] = {"data": self.data, "n_probes": self.n_probes}
            for seed, method in product(self.seeds, methods):
                item = ClassifyItem(
                    recipe=method.recipe, fold=fold, seed=seed, outliers=outliers, **same
                )
                yield planner.planned(item, method.label, fold, self.data)


@dataclass(frozen=True, eq=False)
class Sides:
    """What a classifier learns, and what it is asked about."""

    gallery: SetBatch
    probes: SetBatch
    indices: IntArray
    outlier_share: float


def classifier_of(item: ClassifyItem) -> Any:
    """The classifier of an item, with its seed, not fitted yet."""
    recipe = item.recipe
    made = made_by(recipe, seed_for(item.seed, item.data.name, item.fold, recipe.of))
    _check_fusions(recipe, made)
    return made


def _check_fusions(recipe: Recipe, made: Any) -> None:
    if recipe.fusions and not isinstance(made, CVC):
        msg = (
            f"recipe {recipe.of!r}: it has no votes to fuse by {recipe.fusions[0]!r}. Expected "
            "CVC, or no fusions."
        )
        raise ParameterError(msg)


def sides_of(item: ClassifyItem, data: StudyData) -> Sides:
    """Gallery and probes of an item, with the outliers it asks for."""
    in_gallery, in_probes = data.fold(item.fold)
    gallery, probes = data.sets[in_gallery], data.sets[in_probes]
    chosen = _spread_evenly(len(probes), item.n_probes)
    share = 0.0
    if item.outliers is not None:
        into, n = item.outliers.into, item.outliers.n
        seed = seed_for(item.seed, item.data.name, item.fold, "outliers")
        if into == "gallery":
            mixed = corrupt_sets(gallery, n_outliers=n, random_state=seed)
            share = float(_outliers(mixed, gallery).mean())
            gallery = mixed.sets
        else:
            mixed = corrupt_sets(probes, n_outliers=n, source=gallery, random_state=seed)
            share = float(_outliers(mixed, probes)[chosen].mean())
            probes = mixed.sets
    return Sides(gallery, probes[chosen], in_probes[chosen], share)


def _spread_evenly(n_all: int, n_wanted: int | None) -> IntArray:
    """Places of so many of all, evenly spread from the first to the last."""
    if n_wanted is None or n_wanted >= n_all:
        return np.arange(n_all)
    return np.linspace(0, n_all - 1, n_wanted).round().astype(np.int64)


def _outliers(mixed: Corrupted, before: SetBatch) -> FloatArray:
    """Outliers of each set, in percent of the images it had."""
    n_outliers = np.add.reduceat(mixed.is_outlier.astype(np.int64), mixed.sets.offsets[:-1])
    return 100.0 * n_outliers / before.sizes


def _fused(clf: CVC, sets: SetBatch, fusions: tuple[str, ...]) -> dict[str, npt.NDArray[Any]]:
    """Labels by fusion and largest dimensionality, from one answer for each probe."""
    dims = clf.gallery_.dims
    rules = [Fusion.of(fusion, "CVC") for fusion in fusions]
    codes = []
    for answer in clf.judge(sets):
        score_matrix = answer.score_matrix
        smaller = [score_matrix.of_members(score_matrix.dims <= largest) for largest in dims]
        codes.append([fuse(part, rule).code for rule in rules for part in smaller])
    names = [f"{fusion}@{largest}" for fusion in fusions for largest in dims]
    by_name = np.array(codes).reshape(-1, len(names)).T
    return {name: clf.classes_[column] for name, column in zip(names, by_name, strict=True)}


def _words(labels: Any) -> list[str]:
    return [str(label) for label in labels]


class ExplainItem(Item):
    """Why some probes of a fold got their labels."""

    kind: Literal["explain"] = "explain"
    of: ClassifyItem
    probes: tuple[int, ...]

    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Fit the classifier again, and explain its answers."""
        data = read_data(self.of.data, folder)
        sides = sides_of(self.of, data)
        wrong = [place for place in self.probes if not 0 <= place < len(sides.probes)]
        if wrong:
            reject(f"There is no probe {wrong[0]}. Expected 0 to {len(sides.probes) - 1}.")
        classifier = classifier_of(self.of)
        if not isinstance(classifier, CVC):
            msg = f"recipe {self.of.recipe.of!r}: it explains nothing. Expected CVC."
            raise ParameterError(msg)
        classifier.fit(sides.gallery, np.asarray(sides.gallery.labels))
        gallery = data.fold(self.of.fold)[0]
        return {
            "explanations": [
                _explain(place, classifier, sides, data, gallery) for place in self.probes
            ]
        }


def _explain(
    place: int, classifier: CVC, sides: Sides, data: StudyData, gallery: IntArray
) -> dict[str, Any]:
    why = _thin_out(classifier.explain(sides.probes[[place]]))
    index = int(sides.indices[place])
    truth = str(data.labels[index])
    return {
        "place": int(place),
        "index": index,
        "probe": sides.probes.names[place],
        "truth": truth,
        "answer": str(why.label),
        "why": why.to_dict(),
        "nearest": _nearest(data, index, gallery),
        "nearest_of_truth": _nearest(data, index, gallery[data.labels[gallery] == truth]),
    }


def _thin_out(why: Explanation) -> Explanation:
    """The explanation with fewer points of the gallery, evenly spread over it."""
    every = -(-len(why.gallery_points) // MOST_POINTS)
    if every <= 1:
        return why
    return replace(
        why,
        gallery_points=why.gallery_points[::every].round(4),
        gallery_point_classes=why.gallery_point_classes[::every],
    )


def _nearest(data: StudyData, probe: int, gallery: IntArray) -> list[dict[str, Any]]:
    """The closest pairs of images of a probe and the gallery; each image is in one pair."""
    if not len(gallery):
        return []
    sets = data.sets[gallery]
    distances = cdist(unit_rows(data.sets[probe]), unit_rows(sets.vectors))
    pairs = []
    for _ in range(min(MOST_PAIRS, *distances.shape)):
        image, row = map(int, np.unravel_index(distances.argmin(), distances.shape))
        place = int(np.searchsorted(sets.offsets, row, side="right")) - 1
        pairs.append(
            {
                "image": image,
                "set": int(gallery[place]),
                "set_name": sets.names[place],
                "label": str(data.labels[gallery[place]]),
                "gallery_image": row - int(sets.offsets[place]),
                "distance": round(float(distances[image, row]), 6),
            }
        )
        distances[image], distances[:, row] = np.inf, np.inf
    return pairs
