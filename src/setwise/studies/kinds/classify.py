"""One classifier on one fold: the work of all kinds of experiments that compare accuracies."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field

from setwise._support.parameters import check_known
from setwise._support.types import FloatArray, IntArray
from setwise.classify import CVC, Fusion, fuse
from setwise.errors import ParameterError, reject
from setwise.evaluation import METHODS, timed_answers
from setwise.io.datasets import Corrupted, corrupt_sets
from setwise.sets import SetBatch
from setwise.studies.data import StudyData, read_data
from setwise.studies.items import Item, seed_for
from setwise.studies.kinds.base import Experiment
from setwise.studies.plan import Desk, Planned
from setwise.studies.spec import Count, Data, Method, Published, Recipe, Strict

__all__ = [
    "RECIPES",
    "ClassifyItem",
    "OnFolds",
    "Outliers",
    "Sides",
    "classifier_of",
    "sides_of",
]

# name -> what makes the classifier, from a seed. The settings for images are not among what
# `compare` tries, for it takes vectors too.
RECIPES: dict[str, Callable[[int], Any]] = METHODS | {
    # Named, so that a study does not depend on what is installed.
    "CVC for images": lambda seed: CVC.for_images(("pixels", "edges"), random_state=seed),
    "CVC for turntables": lambda seed: CVC.for_turntables(random_state=seed),
}


class Outliers(Strict):
    """Images of other gallery sets mixed into the gallery, or into the probes.

    Attributes
    ----------
    into : {"gallery", "probes"}
        Where they go.
    n : int
        Images taken of each other gallery set, or for probes of each gallery set.
    """

    into: Literal["gallery", "probes"]
    n: Count


class ClassifyItem(Item):
    """One classifier on one fold.

    Attributes
    ----------
    data, recipe, n_probes
        As in the spec.
    fold, seed : int
        Which fold, and the seed of everything random.
    outliers : Outliers, optional
        What is mixed into which side.
    """

    kind: Literal["classify"] = "classify"
    data: Data
    recipe: Recipe
    fold: int
    seed: int
    n_probes: int | None = None
    outliers: Outliers | None = None

    def perform(self, folder: Path | None = None) -> dict[str, Any]:
        """Fit the classifier to the gallery of the fold, and let it judge the probes.

        Returns
        -------
        dict
            ``probes`` (names), ``indices`` (of the sets of the data), ``truth``, ``answers``
            (lists of labels: the classifier's own under ``""``, or with fusions those of
            fusion and largest dimensionality, such as ``"mode@7"``), ``fit_seconds``,
            ``probe_seconds`` (per probe), ``n_gallery`` (sets) and ``outlier_share`` (percent).
        """
        classifier = classifier_of(self)
        sides = sides_of(self, read_data(self.data, folder))
        fusions = self.recipe.fusions
        ask = (lambda sets: _fused(classifier, sets, fusions)) if fusions else None
        timed = timed_answers(
            classifier, sides.gallery, np.asarray(sides.gallery.labels), sides.probes, ask=ask
        )
        answers = timed.answers if fusions else {"": timed.answers}
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


class OnFolds(Experiment):
    """What experiments on the folds of some data have.

    Attributes
    ----------
    data : Data
        The sets.
    folds : tuple of int, optional
        Which folds; all by default.
    n_probes : int, optional
        Most probes of a fold, evenly spread; all by default.
    published : dict of str to Published
        What the paper reports, by row.
    """

    data: Data
    folds: tuple[Annotated[int, Field(ge=0)], ...] | None = None
    n_probes: Count | None = None
    published: dict[str, Published] = Field(default_factory=dict)

    def plan_folds(
        self, methods: tuple[Method, ...], desk: Desk, outliers: Outliers | None = None
    ) -> Iterator[Planned]:
        """An item for every method, fold and seed."""
        n_folds = len(desk.look_at(self.data).folds)
        for method in methods:
            # A misspelt one would fail in every fold: refuse it once, before anything is done.
            classifier_of(ClassifyItem(data=self.data, recipe=method.recipe, fold=0, seed=0))
        for fold in range(n_folds) if self.folds is None else self.folds:
            if fold >= n_folds:
                reject(
                    f"experiment {self.name!r}: there is no fold {fold}. Expected 0 to "
                    f"{n_folds - 1}, the folds of {self.data.name!r}."
                )
            for seed in self.seeds:
                for method in methods:
                    item = ClassifyItem(
                        data=self.data,
                        recipe=method.recipe,
                        fold=fold,
                        seed=seed,
                        n_probes=self.n_probes,
                        outliers=outliers,
                    )
                    yield desk.file(item, method.label, fold, self.data)


@dataclass(frozen=True, eq=False)
class Sides:
    """What a classifier learns, and what it is asked about.

    Attributes
    ----------
    gallery, probes : SetBatch
        With outliers, where some are asked for. ``labels`` of both are the true classes.
    indices : array of int, shape (n_probes,)
        Which set of the data each probe is.
    outlier_share : float
        Outliers in percent of the images that were there before, mean over the sets.
    """

    gallery: SetBatch
    probes: SetBatch
    indices: IntArray
    outlier_share: float


def classifier_of(item: ClassifyItem) -> Any:
    """The classifier of an item, with its seed, not fitted yet.

    Raises
    ------
    ParameterError
        Where the recipe or a parameter is unknown, or where something else than CVC is to be
        fused.
    """
    recipe = item.recipe
    check_known("recipe", "method", recipe.of, RECIPES)
    made = RECIPES[recipe.of](seed_for(item.seed, item.data.name, item.fold, recipe.of))
    known = made.get_params(deep=False)
    for name in recipe.parameters:
        check_known(f"recipe {recipe.of!r}", "parameter", name, known)
    _check_fusions(recipe, made)
    return made.set_params(**recipe.parameters)


def _check_fusions(recipe: Recipe, made: Any) -> None:
    if recipe.fusions and not isinstance(made, CVC):
        msg = (
            f"recipe {recipe.of!r}: it has no votes to fuse by {recipe.fusions[0]!r}. Expected "
            "CVC, or no fusions."
        )
        raise ParameterError(msg)


def sides_of(item: ClassifyItem, data: StudyData) -> Sides:
    """Gallery and probes of an item, with the outliers it asks for.

    The outliers depend on dataset, fold and seed alone, so that all methods see the same.
    """
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
    """Labels by fusion and largest dimensionality, asking every member once about a probe."""
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
