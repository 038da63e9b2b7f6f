"""The sets of an experiment: read, divided, checked for leaks, as features.

Everything random here has its own stream, named by the dataset and the purpose: draws for one
fold or class depend on no other.
"""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from threading import Lock
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt

from setwise.errors import reject
from setwise.evaluation.leakage import check_leakage, image_numbers
from setwise.features import HOG, LBP, Equalised, ImageFeature, Pixels
from setwise.sets import SetBatch
from setwise_paper.datasets import (
    SOURCES,
    Dataset,
    limit_sets,
    load,
    load_cambridge,
    load_youtube,
)
from setwise_paper.datasets.known import Fold
from setwise_paper.datasets.sources import places
from setwise_paper.spec import Data, Feature
from setwise_paper.support import check_known, seed_for

FEATURES: dict[str, type[ImageFeature]] = {
    "pixels": Pixels,
    "equalised": Equalised,
    "lbp": LBP,
    "hog": HOG,
}
OWN_COPIES: dict[str, Callable[[Path], Dataset]] = {
    "youtube": load_youtube,
    "cambridge": load_cambridge,
}
# Datasets kept in memory: a study has few, and workers go through them one after the other.
MOST_KEPT = 4

_ONE_AT_A_TIME = Lock()


@dataclass(frozen=True, eq=False)
class StudyData:
    """Sets with labels and folds, as an experiment wants them."""

    sets: SetBatch
    labels: npt.NDArray[np.str_]
    folds: list[Fold]
    images: SetBatch | None
    note: str
    digest: str

    def fold(self, number: int) -> Fold:
        """Gallery and probes of one fold, or an error that says how many there are."""
        if not 0 <= number < len(self.folds):
            reject(f"There is no fold {number}. Expected 0 to {len(self.folds) - 1}.")
        return self.folds[number]


def read_data(data: Data, folder: Path | None = None) -> StudyData:
    """Read the sets of an experiment, divide them, and compute their features."""
    where = tuple(places(folder))
    with _ONE_AT_A_TIME:
        return _prepare(data.model_dump_json(), folder, where)


@lru_cache(maxsize=MOST_KEPT)
def _prepare(content: str, folder: Path | None, where: tuple[Path, ...]) -> StudyData:
    data = Data.model_validate_json(content)
    source = _read(data, folder, where)
    images, folds = _divided(data, source)
    if data.n_vectors is not None:
        seed = seed_for(0, data.name, "limit")
        images = limit_sets(images, data.n_vectors, random_state=seed)
    # Outliers are mixed in later, and are no leak: the paper's corrupted probes hold images
    # of the gallery on purpose.
    numbers = image_numbers(images)
    for i, (gallery, probes) in enumerate(folds):
        name = f"{data.name}, fold {i}"
        check_leakage(images, gallery, probes, numbers=numbers, where=name)
    sets = images if data.feature is None else _computed(data.feature, images)
    for batch in (images, sets):
        batch.vectors.setflags(write=False)  # all items of a process share them
    labels = np.asarray(sets.labels)
    return StudyData(
        sets=sets,
        labels=labels,
        folds=folds,
        images=None if images.image_shape is None else images,
        note=_note(data, source),
        digest=_digest(sets, labels, folds),
    )


def _read(data: Data, folder: Path | None, where: Sequence[Path]) -> Dataset:
    if data.name not in OWN_COPIES:
        return load(data.name, folder)
    for place in where:
        if (place / data.name).is_dir():
            return OWN_COPIES[data.name](place / data.name)
    looked = ", ".join(map(str, where))
    return reject(
        f"{data.name}: there is no folder {data.name!r} in {looked}. {SOURCES[data.name].note} "
        f"Put it into a folder {data.name!r} there, or set SETWISE_DATA to the folder that "
        "holds it."
    )


def _divided(data: Data, source: Dataset) -> tuple[SetBatch, list[Fold]]:
    """Sets, and what is gallery and what is probe of each fold."""
    labels = np.array([str(label) for label in source.labels])
    batch = source.sets
    sets = batch.replaced(labels=labels)
    if data.protocol == "given":
        return sets, _given_folds(data, source)
    classes = _classes_of_folds(data, [str(name) for name in source.class_names])
    if data.protocol == "pairs":
        return sets, [_pair(data, labels, mine, fold) for fold, mine in enumerate(classes)]
    return _halves(data, sets, labels, classes)


def _given_folds(data: Data, source: Dataset) -> list[Fold]:
    if not source.folds:
        reject(f'data: {data.name} has no folds of its own. Use protocol "halves" or "pairs".')
    if data.n_classes is not None or data.n_folds != 1:
        reject(
            f"data: {data.name} has {len(source.folds)} folds of its own, and n_classes and "
            'n_folds say nothing about them. Leave them out, or use protocol "halves" or '
            '"pairs".'
        )
    return [(np.asarray(gallery), np.asarray(probes)) for gallery, probes in source.folds]


def _classes_of_folds(data: Data, names: list[str]) -> list[list[str]]:
    """The classes of each fold: all of them, or the next ones of one random order."""
    if data.n_classes is None:
        return [names] * data.n_folds
    if data.n_folds * data.n_classes > len(names):
        reject(
            f"data: {data.n_folds} folds of {data.n_classes} classes need "
            f"{data.n_folds * data.n_classes} classes, and {data.name} has {len(names)}. "
            "Expected fewer folds, or fewer classes of each."
        )
    order = np.random.default_rng(seed_for(0, data.name, "classes")).permutation(len(names))
    shuffled = [names[i] for i in order]
    starts = range(0, data.n_folds * data.n_classes, data.n_classes)
    return [shuffled[i : i + data.n_classes] for i in starts]


def _stream(data: Data, fold: int, label: str) -> np.random.Generator:
    return np.random.default_rng(seed_for(0, data.name, data.protocol, fold, label))


def _pair(data: Data, labels: npt.NDArray[Any], classes: list[str], fold: int) -> Fold:
    """One random set of each class for the gallery, and another one as probe."""
    chosen = []
    for label in classes:
        mine = np.flatnonzero(labels == label)
        if len(mine) < 2:
            _refuse_class(data, label, len(mine), "sets")
        chosen.append(_stream(data, fold, label).choice(mine, 2, replace=False))
    gallery, probes = np.array(chosen).T
    return gallery, probes


def _halves(
    data: Data, sets: SetBatch, labels: npt.NDArray[Any], classes: list[list[str]]
) -> tuple[SetBatch, list[Fold]]:
    """New sets, two of each class and fold: random halves of all the images of the class."""
    owners = np.repeat(labels, sets.sizes)
    rows, names, new_labels, folds = [], [], [], []
    for fold, mine in enumerate(classes):
        for label in mine:
            images = np.flatnonzero(owners == label)
            if len(images) < 2:
                _refuse_class(data, label, len(images), "images")
            order = _stream(data, fold, label).permutation(len(images))
            middle = (len(images) + 1) // 2
            rows += [images[np.sort(order[:middle])], images[np.sort(order[middle:])]]
            names += [f"{label}, fold {fold}, {side}" for side in ("gallery", "probe")]
            new_labels += [label, label]
        numbers = np.arange(len(rows) - 2 * len(mine), len(rows))
        folds.append((numbers[::2], numbers[1::2]))
    parts = [sets.vectors[one] for one in rows]
    made = SetBatch.from_list(parts, names, np.array(new_labels), sets.image_shape)
    return made, folds


def _refuse_class(data: Data, label: str, n: int, what: str) -> NoReturn:
    reject(
        f"data: class {label!r} of {data.name} has {n} of the at least 2 {what} that protocol "
        f"{data.protocol!r} needs. Choose another protocol."
    )


def _computed(feature: Feature, images: SetBatch) -> SetBatch:
    """The feature of every image, computed once: features learn nothing from a gallery."""
    made_by = FEATURES[feature.name]
    known = inspect.signature(made_by).parameters
    for name in feature.parameters:
        check_known(f"feature {feature.name!r}", "parameter", name, known)
    made: SetBatch = made_by(**feature.parameters).transform(images)
    return made


def _note(data: Data, source: Dataset) -> str:
    """Where the sets are from, and what was done to them."""
    parts = [f"{data.name}: {source.note.rstrip('.')}"]
    if data.protocol != "given":
        how = {"halves": "random halves of the images", "pairs": "two random sets"}
        of = "all classes" if data.n_classes is None else f"{data.n_classes} classes"
        instead = "in place of its folds, " if source.folds else ""
        folds = "1 fold" if data.n_folds == 1 else f"{data.n_folds} folds"
        parts.append(f"{instead}{how[data.protocol]} of each of {of}, {folds}")
    if data.n_vectors is not None:
        parts.append(f"at most {data.n_vectors} images of a set")
    if data.feature is not None:
        given = ", ".join(f"{name}={value}" for name, value in data.feature.parameters.items())
        parts.append(f"feature {data.feature.name}" + (f" ({given})" if given else ""))
    return "; ".join(parts) + "."


def _digest(sets: SetBatch, labels: npt.NDArray[Any], folds: list[Fold]) -> str:
    vectors = np.ascontiguousarray(sets.vectors)
    said = {
        "vectors": [str(vectors.dtype), list(vectors.shape)],
        "image_shape": sets.image_shape,
        "offsets": sets.offsets.tolist(),
        "names": sets.names,
        "labels": labels.tolist(),
        "folds": [[side.tolist() for side in fold] for fold in folds],
    }
    digest = hashlib.sha256(json.dumps(said).encode())
    digest.update(vectors.data)
    return digest.hexdigest()
