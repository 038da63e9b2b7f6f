"""What is measured: tasks, each of several splits.

Everything random is drawn from ``np.random.default_rng`` of the split's number (and of a second
number that says what for), so that all methods see the same sets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

import weakness
from datasets import PROTOCOLS, Dataset, data_folder, load
from evidence.damage import Strangers, many_strangers, one_stranger, shortened, with_strangers
from setwise import SetBatch
from setwise_paper.data import read_data
from setwise_paper.datasets.known import CLASSES, Fold, eth80_folds, pair_folds, random_folds
from setwise_paper.kinds.classify import ClassifyItem, Outliers, sides_of
from setwise_paper.spec import Data, Recipe

MEANS = ("mean cosine", "trimmed mean cosine")
SIMPLE = (*MEANS, "robust mean cosine", "frame vote (cosine)")
RIVALS = (*SIMPLE, "MSM (smallest angle)", "MSM")
ALWAYS = ("CVC", *RIVALS)
PIXELS = "Pixels and coefficients"
CLEAN = "Embeddings"
STRANGERS = "Strangers in sets of embeddings"
SMALL = "Small sets of embeddings"
POINTS = "A point plus noise"
OUTLIERS = "Fig. 9: outliers in sets of pixels"
UNKNOWN = "Known against unknown, half of the classes enrolled"
FEW = "Known against unknown, few classes enrolled"
# What the second number of a generator says it is for.
PROBES, GALLERY, ENROLLED, FEW_ENROLLED = 1, 2, 3, 4
# Classes of small galleries, and how many others are asked about at least.
N_ENROLLED, FEWEST_UNKNOWN = (2, 3, 5, 10, 20), 3


@dataclass(frozen=True, eq=False)
class Split:
    """What a classifier learns, and what it is asked about."""

    gallery: SetBatch
    gallery_labels: np.ndarray
    probes: SetBatch
    labels: np.ndarray

    @property
    def is_enrolled(self) -> np.ndarray:
        """For each probe, whether the gallery has its class."""
        return np.isin(self.labels, self.gallery_labels)


@dataclass(frozen=True)
class Task:
    """Splits of one kind, and the methods that are measured on them.

    Attributes
    ----------
    name : str
        As the command line and the folder of results call it.
    section, title : str
        Where and how the page shows it.
    n_splits : int
        How many there are.
    split : callable
        Makes split number i.
    methods : tuple of str
        Methods measured.
    rivals : tuple of str
        Methods of which the best is compared with CVC; all single methods if empty.
    """

    name: str
    section: str
    title: str
    n_splits: int
    split: Callable[[int], Split]
    methods: tuple[str, ...] = ALWAYS
    rivals: tuple[str, ...] = ()

    @property
    def is_open(self) -> bool:
        """Whether some probes are of no class of the gallery."""
        return self.section in (UNKNOWN, FEW)


def tasks() -> dict[str, Task]:
    """All tasks by name, in the order of the page."""
    parts = (pixels, clean, strangers, small, points, outliers, unknown, few)
    return {task.name: task for part in parts for task in part()}


# ------------------------------------------------------------------------ datasets and folds

dataset = cache(load)


def split_by(data: Dataset, fold: Fold) -> Split:
    """The sets of a fold."""
    gallery, probes = fold
    return Split(
        data.sets[gallery], data.labels[gallery], data.sets[probes], data.labels[probes]
    )


def one_per_class(name: str, seed: int) -> Split:
    """One random set of each class is the gallery, all others are probes."""
    data = dataset(name)
    return split_by(data, random_folds(data.labels, 1, 1, seed=seed)[0])


@cache
def folds_of(name: str) -> list[Fold]:
    """The folds of a dataset, those of the pixels where it holds embeddings of the same."""
    data = dataset(name)
    if name == "eth80_efficientnet":
        return eth80_folds(np.array(CLASSES)[data.labels], [data_folder()])[0]
    return pair_folds(data.labels) if name == "coil20_efficientnet" else data.folds


def by_fold(name: str, i: int) -> Split:
    """Fold ``i`` of the protocol."""
    return split_by(dataset(name), folds_of(name)[i])


# ------------------------------------------------------------------------------------ clean


def pixels() -> Iterator[Task]:
    """The five datasets of docs/accuracy.md, all folds and probes."""
    n_folds = {"eth80": 10, "yaleb": 5, "coil20": 6, "hands": 1, "vowels": 1}
    titles = ("ETH-80 20x20", "Yale B 24x21", "COIL-20 32x32", "hands 24x24", "vowels")
    for name, title in zip(PROTOCOLS, titles, strict=True):
        split, methods = partial(by_fold, name), (*ALWAYS, "GDA")
        yield Task(f"pixels-{name}", PIXELS, title, n_folds[name], split, methods)


def clean() -> Iterator[Task]:
    """Embeddings as they are."""
    eth80, coil20 = "eth80_efficientnet", "coil20_efficientnet"
    rows = (
        ("net-eth80-one", "ETH-80 EfficientNet, 1 gallery object per class", 10,
         partial(one_per_class, eth80), ()),
        ("net-eth80-five", "ETH-80 EfficientNet, published 5 + 5", 10,
         partial(by_fold, eth80), ("GDA",)),
        ("arcface-mixed", "Yale B ArcFace, mixed light", 10,
         partial(one_per_class, "yaleb_arcface"), ()),
        ("net-coil20", "COIL-20 EfficientNet", 6, partial(by_fold, coil20), ()),
    )  # fmt: skip
    for name, title, n_splits, split, more in rows:
        methods = (*ALWAYS, *more)
        yield Task(name, CLEAN, title, n_splits, split, methods)


# ----------------------------------------------------------------------- strangers and small

EMBEDDINGS = {
    "net": ("ETH-80 EfficientNet", "eth80_efficientnet"),
    "arcface": ("Yale B ArcFace, mixed light", "yaleb_arcface"),
}


def strangers() -> Iterator[Task]:
    """20 and 40 % of each probe replaced, by one, by many, and in the gallery too."""
    kinds = {
        "one": ("one stranger", one_stranger, False),
        "many": ("many strangers", many_strangers, False),
        "both": ("many strangers, gallery too", many_strangers, True),
    }
    for short, (title, name) in EMBEDDINGS.items():
        for percent in (20, 40):
            for kind, (words, draw, in_gallery) in kinds.items():
                split = partial(with_strangers_in, name, percent / 100, draw, in_gallery)
                called = f"{title}: {percent} % from {words}"
                yield Task(
                    f"strangers-{short}-{percent}-{kind}",
                    STRANGERS,
                    called,
                    5,
                    split,
                    rivals=SIMPLE,
                )


def with_strangers_in(
    name: str, share: float, draw: Strangers, in_gallery: bool, seed: int
) -> Split:
    """One set per class in the gallery; strangers come from the other sets of the same side."""
    split = one_per_class(name, seed)

    def damaged(sets: SetBatch, labels: np.ndarray, purpose: int) -> SetBatch:
        rng = np.random.default_rng([seed, purpose])
        return with_strangers(sets, labels, share, draw, rng)

    probes = damaged(split.probes, split.labels, PROBES)
    if not in_gallery:
        return replace(split, probes=probes)
    gallery = damaged(split.gallery, split.gallery_labels, GALLERY)
    return replace(split, probes=probes, gallery=gallery)


def small() -> Iterator[Task]:
    """1, 2, 3 and 5 images per probe, or per set on both sides."""
    for short, (title, name) in EMBEDDINGS.items():
        for n in (1, 2, 3, 5):
            for where, both in (("probe only", False), ("both sides", True)):
                split = partial(of_few_images, name, n, both)
                images = "1 image" if n == 1 else f"{n} images"
                called = f"{title}: {images}, {where}"
                task = f"small-{short}-{n}-{'both' if both else 'probe'}"
                yield Task(task, SMALL, called, 5, split, rivals=("mean cosine",))


def of_few_images(name: str, n: int, both: bool, seed: int) -> Split:
    """One set per class in the gallery, and random images of each probe, or of each set."""
    split = one_per_class(name, seed)
    probes = shortened(split.probes, n, np.random.default_rng([seed, PROBES]))
    if not both:
        return replace(split, probes=probes)
    gallery = shortened(split.gallery, n, np.random.default_rng([seed, GALLERY]))
    return replace(split, probes=probes, gallery=gallery)


# -------------------------------------------------------------------------- a point plus noise


def points() -> Iterator[Task]:
    """Bursts of nearly one picture, and the draws of benchmarks/weakness.py."""
    yield Task("point-bursts", POINTS, "6 pictures of 576 pixels, bursts of 6", 5, bursts)
    for n_sets in (2, 4, 6, 10):
        title = f"3 points of 20 numbers, {n_sets} gallery sets each"
        split = partial(scattered_points, n_sets)
        yield Task(f"point-scattered-{n_sets}", POINTS, title, 10, split)


def named(sets: list[np.ndarray], seed: int) -> SetBatch:
    """Synthetic sets are other ones in every split, and so have other names."""
    return SetBatch.from_list(sets, [f"draw {seed}, set {i}" for i in range(len(sets))])


def bursts(seed: int) -> Split:
    """Noisy copies of random pictures; seed 0 are those of the review (its script r15)."""
    rng = np.random.default_rng(seed)
    pictures = rng.uniform(0, 255, size=(6, 576))
    gallery_labels, labels = (np.repeat(np.arange(6), n) for n in (2, 5))

    def burst(c: int) -> np.ndarray:
        return np.clip(pictures[c] + 200.0 * rng.normal(size=(6, 576)), 0, 255)

    gallery, probes = ([burst(c) for c in codes] for codes in (gallery_labels, labels))
    return Split(named(gallery, seed), gallery_labels, named(probes, seed), labels)


def scattered_points(n_sets: int, seed: int) -> Split:
    """The draws of benchmarks/weakness.py."""
    rng = np.random.default_rng(seed)
    gallery_labels, labels = (
        np.repeat(np.arange(weakness.N_CLASSES), n) for n in (n_sets, weakness.N_PROBES)
    )
    gallery, probes = (weakness.scattered(codes, rng) for codes in (gallery_labels, labels))
    return Split(named(gallery, seed), gallery_labels, named(probes, seed), labels)


# ------------------------------------------------------------------------------------- Fig. 9


@dataclass(frozen=True)
class Robust:
    """The robustness study of a dataset, as its file in studies/specs/ has it."""

    title: str
    data: Data
    n_outliers: tuple[int, ...]
    n_seeds: int = 1


ROBUST = {
    "eth80": Robust("ETH-80", Data(name="eth80", protocol="pairs", n_folds=20), (1, 2, 3)),
    "yaleb": Robust(
        "Yale B", Data(name="yaleb", protocol="halves", n_classes=7, n_folds=5), (1, 2, 3)
    ),
    "hands": Robust("hands", Data(name="hands", n_vectors=100), (1, 2, 3, 4, 8, 12), 5),
}


def outliers() -> Iterator[Task]:
    """Images of each other gallery set mixed in, as `setwise reproduce` does for Fig. 9."""
    for name, study in ROBUST.items():
        n_splits = study.n_seeds * (study.data.n_folds if study.n_seeds == 1 else 1)
        cases: list[tuple[str, Outliers | None]] = [("clean", None)]
        for into in ("gallery", "probes"):
            cases += [(f"{into}-{n}", Outliers(into=into, n=n)) for n in study.n_outliers]
        for case, mixed in cases:
            what = f"{mixed.n} of each into the {mixed.into}" if mixed else "clean"
            split = partial(with_outliers, study, mixed)
            title = f"{study.title}: {what}"
            yield Task(f"fig9-{name}-{case}", OUTLIERS, title, n_splits, split)


def with_outliers(study: Robust, mixed: Outliers | None, i: int) -> Split:
    """Fold ``i`` of a study, or its only fold with seed ``i``."""
    fold, seed = (i, 0) if study.n_seeds == 1 else (0, i)
    item = ClassifyItem(
        data=study.data, recipe=Recipe(of="CVC"), fold=fold, seed=seed, outliers=mixed
    )
    sides = sides_of(item, read_data(study.data, data_folder()))
    gallery, probes = (
        SetBatch(s.vectors.astype(np.float64), s.offsets, s.names, image_shape=s.image_shape)
        for s in (sides.gallery, sides.probes)
    )
    return Split(
        gallery, np.asarray(sides.gallery.labels), probes, np.asarray(sides.probes.labels)
    )


# ------------------------------------------------------------------------------------ unknown


def unknown() -> Iterator[Task]:
    """AUROC of probes of enrolled classes against those of the other half."""
    rows = {
        "arcface": ("Yale B ArcFace, mixed light", partial(one_per_class, "yaleb_arcface")),
        "pixels-eth80": ("ETH-80 20x20", partial(by_fold, "eth80")),
        "net-eth80": ("ETH-80 EfficientNet", partial(by_fold, "eth80_efficientnet")),
        "pixels-coil20": ("COIL-20 32x32", partial(by_fold, "coil20")),
        "net-coil20": ("COIL-20 EfficientNet", partial(by_fold, "coil20_efficientnet")),
    }
    for name, (title, split) in rows.items():
        half = partial(half_enrolled, split)
        methods = ("CVC", *MEANS)
        yield Task(f"unknown-{name}", UNKNOWN, title, 5, half, methods, ("mean cosine",))


def half_enrolled(make: Callable[[int], Split], seed: int) -> Split:
    """A split whose gallery has lost a random half of the classes."""
    split = make(seed)
    classes = np.unique(split.gallery_labels)
    order = np.random.default_rng([seed, ENROLLED]).permutation(classes)
    return with_classes(split, order[: len(classes) // 2])


def few() -> Iterator[Task]:
    """The same with 2, 3, 5, 10 and 20 classes, where at least three others are left."""
    rows = {
        "arcface": ("Yale B ArcFace, mixed light", partial(one_per_class, "yaleb_arcface"), 38),
        "net-eth80": ("ETH-80 EfficientNet", partial(by_fold, "eth80_efficientnet"), 8),
        "pixels-eth80": ("ETH-80 20x20", partial(by_fold, "eth80"), 8),
        "pixels-coil20": ("COIL-20 32x32", partial(by_fold_in_turn, "coil20"), 20),
        "vowels": ("vowels", partial(by_fold_in_turn, "vowels"), 9),
    }
    for n in N_ENROLLED:
        for name, (title, split, n_classes) in rows.items():
            if n_classes - n >= FEWEST_UNKNOWN:
                enrolled = partial(few_enrolled, split, n)
                yield Task(
                    f"few-{name}-{n}", FEW, f"{title}, {n} classes", 10, enrolled,
                    ("CVC", "mean cosine"), ("mean cosine",),
                )  # fmt: skip


def few_enrolled(make: Callable[[int], Split], n: int, seed: int) -> Split:
    """A split whose gallery has kept ``n`` random classes."""
    split = make(seed)
    order = np.random.default_rng([seed, FEW_ENROLLED, n]).permutation(
        np.unique(split.gallery_labels)
    )
    return with_classes(split, order[:n])


def with_classes(split: Split, classes: np.ndarray) -> Split:
    """A split whose gallery has kept these classes; all probes are asked."""
    is_kept = np.isin(split.gallery_labels, classes)
    return replace(
        split, gallery=split.gallery[is_kept], gallery_labels=split.gallery_labels[is_kept]
    )


def by_fold_in_turn(name: str, i: int) -> Split:
    """Fold ``i`` of the protocol, which begins again after its last."""
    return by_fold(name, i % len(folds_of(name)))
