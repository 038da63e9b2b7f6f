"""The whole job on real images, in seconds: which digit a set of images shows.

scikit-learn brings 1797 handwritten digits of 8 x 8 pixels, so nothing is downloaded. Images
of one digit are grouped into sets; into half of the probe sets images of other digits are
mixed. Image by image these mislead, and nothing but the rest of the set says so.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.progress import Progress
from setwise._support.types import BoolArray, IntArray
from setwise.classify import CVC, Explanation
from setwise.errors import DataError, MissingExtraError
from setwise.sets import SetBatch

__all__ = ["Accuracy", "DemoResult", "DigitSets", "digit_sets", "run_demo"]

ONE_BY_ONE, BY_VOTE = "each image alone", "vote of the images"


@dataclass(frozen=True)
class DigitSets:
    """Labelled gallery and probe sets of handwritten digits.

    Attributes
    ----------
    gallery, probes : SetBatch
        Sets of images as vectors of 64 pixels; ``labels`` holds the digits.
    is_outlier : array of bool, shape (n_probes, n_images)
        Which images of each probe show another digit than its label says.
    """

    gallery: SetBatch
    probes: SetBatch
    is_outlier: BoolArray

    @property
    def probe_digits(self) -> IntArray:
        """The digit of each probe."""
        return np.asarray(self.probes.labels)

    @property
    def is_mixed(self) -> BoolArray:
        """Which probes hold images of other digits."""
        return np.asarray(self.is_outlier.any(axis=1))


def digit_sets(
    n_gallery: int = 6,
    n_probes: int = 4,
    n_images: int = 12,
    n_outliers: int = 4,
    seed: int = 0,
) -> DigitSets:
    """Group scikit-learn's handwritten digits into sets.

    No image is in two sets, and none of a probe is in the gallery. Of the probe sets of a
    digit every second one is mixed: images at random places are replaced, each by an unused
    image of another digit.

    Parameters
    ----------
    n_gallery, n_probes : int
        Sets of each digit.
    n_images : int
        Images in a set. There are 174 to 183 images of a digit.
    n_outliers : int
        Images of other digits in a mixed set, at most 9, all of different digits.
    seed : int
        Which images come together.

    Raises
    ------
    DataError
        When so many sets need more images than there are.
    """
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    piles = [list(rng.permutation(np.flatnonzero(digits == digit))) for digit in range(10)]
    # At worst, every mixed set of the nine other digits wants an image of this one.
    needed = (n_gallery + n_probes) * n_images + 9 * (n_probes // 2)
    if needed > min(map(len, piles)) or not 0 <= n_outliers <= min(n_images, 9):
        msg = (
            f"digit_sets: {n_gallery} gallery and {n_probes} probe sets of {n_images} images "
            f"with {n_outliers} outliers may need {needed} images of a digit. Expected at most "
            f"{min(map(len, piles))}, and at most 9 outliers."
        )
        raise DataError(msg)

    def deal(n_sets: int) -> list[list[Any]]:
        return [[pile.pop() for _ in range(n_images)] for pile in piles for _ in range(n_sets)]

    gallery, probes = deal(n_gallery), deal(n_probes)
    is_outlier = np.zeros((len(probes), n_images), dtype=bool)
    for i, chosen in enumerate(probes):
        if i % n_probes % 2:
            places = rng.choice(n_images, size=n_outliers, replace=False)
            others = rng.permutation(np.delete(np.arange(10), i // n_probes))
            for place, other in zip(places, others, strict=False):
                chosen[place] = piles[other].pop()
            is_outlier[i, places] = True
    return DigitSets(_batch(images, gallery), _batch(images, probes), is_outlier)


def _batch(images: npt.NDArray[Any], sets: list[list[Any]]) -> SetBatch:
    labels = np.repeat(np.arange(10), len(sets) // 10)
    names = [f"{label}, set {i % (len(sets) // 10) + 1}" for i, label in enumerate(labels)]
    return SetBatch.from_list([images[chosen] for chosen in sets], names, labels)


@dataclass(frozen=True)
class Accuracy:
    """Share of right labels: of all probes, of those left as they are, of the mixed ones."""

    all: float
    plain: float
    mixed: float


@dataclass(frozen=True)
class DemoResult:
    """What came out of the demo.

    Attributes
    ----------
    data : DigitSets
        The sets it was run on.
    image_is_right : array of bool, shape (n_probes, n_images)
        Whether the nearest gallery image of each probe image has the digit of its set.
    is_right : dict of str to array of bool, shape (n_probes,)
        Whether each probe got its digit, by method: vote of its images, and CVC by ``fusion``.
    explained : int
        Index of the mixed probe that is explained.
    explanation : Explanation
        Of that probe.
    picture : Path or None
        Where the explanation was drawn; None without the extra ``plot``.
    advice : str
        How to get the picture where there is none.
    seconds : dict of str to float
        Wall clock by step; the first run on a machine also compiles, in ``"fit"``.
    """

    data: DigitSets
    image_is_right: BoolArray
    is_right: Mapping[str, BoolArray]
    explained: int
    explanation: Explanation
    picture: Path | None
    advice: str
    seconds: Mapping[str, float]

    @property
    def accuracy(self) -> dict[str, Accuracy]:
        """By method; for single images the share of images, else of sets."""
        mixed = self.data.is_mixed
        shares = {ONE_BY_ONE: self.image_is_right.mean(axis=1), **self.is_right}
        return {
            method: Accuracy(*(float(s.mean()) for s in (share, share[~mixed], share[mixed])))
            for method, share in shares.items()
        }

    @property
    def per_class(self) -> dict[str, dict[str, float]]:
        """By digit: share of right images alone, and of right sets by ``"coefficient"``."""
        labels = self.data.probe_digits
        return {
            str(digit): {
                "images": float(self.image_is_right[labels == digit].mean()),
                "sets": float(self.is_right["coefficient"][labels == digit].mean()),
            }
            for digit in np.unique(labels)
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the sets and the explanation's arrays, of types that JSON knows."""
        data, why = self.data, self.explanation
        return {
            "sets": {
                "n_gallery": len(data.gallery),
                "n_probes": len(data.probes),
                "n_mixed": int(data.is_mixed.sum()),
                "n_images": int(data.is_outlier.shape[1]),
                "n_outliers": int(data.is_outlier.sum(axis=1).max()),
            },
            "accuracy": {method: asdict(share) for method, share in self.accuracy.items()},
            "per_class": self.per_class,
            "seconds": dict(self.seconds),
            "explanation": {
                "probe": data.probes.names[self.explained],
                "truth": str(data.probe_digits[self.explained]),
                "answer": str(why.label),
                "probability": float(why.probabilities.max()),
                "summary": str(why),
                "images_of_other_digits": _numbers(data.is_outlier[self.explained]),
                "images_doubted": _numbers(why.support < 0.5),
            },
            "picture": None if self.picture is None else str(self.picture),
            "advice": self.advice,
        }


def run_demo(
    out: str | Path,
    *,
    quick: bool = False,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> DemoResult:
    """Classify sets of handwritten digits, compare with single images, explain one answer.

    Parameters
    ----------
    out : str or Path
        Folder for ``explanation.png``; made if it is not there.
    quick : bool, default=False
        A smaller job: fewer probes, and an ensemble of fewer members.
    progress : callable, optional
        Called with what is being done, how many steps of it are over, and of how many.
    n_jobs : int, optional
        Threads, as for :class:`setwise.CVC`.
    """
    folder = Path(out)
    # First of all: a folder that cannot be written to should not cost a wait.
    folder.mkdir(parents=True, exist_ok=True)
    watch = _Stopwatch(progress)
    with watch("load"):
        data = digit_sets(n_probes=2 if quick else 4)
        image_labels = _nearest_labels(data)
    with watch("fit"):
        clf = CVC(range(1, 4 if quick else 5), n_jobs=n_jobs)
        clf.fit(data.gallery, data.gallery.labels)
    with watch("classify", len(data.probes)):
        labels = {BY_VOTE: np.array([np.bincount(row).argmax() for row in image_labels])}
        labels |= _labels_by_fusion(clf, data.probes, watch)
    explained = int(data.is_mixed.argmax())  # the first mixed one
    with watch("explain"):
        explanation = clf.explain(data.probes[explained])
        picture, advice = _draw(explanation, folder / "explanation.png")
    is_right = {method: found == data.probe_digits for method, found in labels.items()}
    seconds = watch.seconds | {"total": sum(watch.seconds.values())}
    return DemoResult(
        data=data,
        image_is_right=image_labels == data.probe_digits[:, None],
        is_right=is_right,
        explained=explained,
        explanation=explanation,
        picture=picture,
        advice=advice,
        seconds=seconds,
    )


def _numbers(chosen: BoolArray) -> list[int]:
    """Numbers of the chosen images, the first being 1."""
    return [int(i) + 1 for i in np.flatnonzero(chosen)]


class _Stopwatch:
    """Times the steps, and tells whoever wants to know when they begin and end."""

    def __init__(self, progress: Progress | None) -> None:
        self.report: Progress = progress or (lambda what, done, total: None)
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, what: str, n_steps: int = 1) -> Iterator[None]:
        self.report(what, 0, n_steps)
        start = time.perf_counter()
        yield
        self.seconds[what] = time.perf_counter() - start
        self.report(what, n_steps, n_steps)


def _nearest_labels(data: DigitSets) -> IntArray:
    """Label of the nearest gallery image, for every image of every probe."""
    from sklearn.neighbors import KNeighborsClassifier

    gallery, n_images = data.gallery, data.is_outlier.shape[1]
    nearest = KNeighborsClassifier(n_neighbors=1)
    nearest.fit(gallery.vectors, np.repeat(np.asarray(gallery.labels), gallery.sizes))
    return np.asarray(nearest.predict(data.probes.vectors)).reshape(-1, n_images)


def _labels_by_fusion(
    clf: CVC, probes: SetBatch, watch: _Stopwatch
) -> dict[str, npt.NDArray[Any]]:
    """What ``clf.set_params(fusion=...).predict(probes)`` says, judging each probe once."""
    answers = []
    for answer in clf.judge(probes):
        answers.append(answer)
        watch.report("classify", len(answers), len(probes))
    return {
        fusion: np.array([answer.fused_by(fusion) for answer in answers])
        for fusion in ("pool", "mode", "sum", "coefficient", "none")
    }


def _draw(explanation: Explanation, path: Path) -> tuple[Path | None, str]:
    """Draw if there is something to draw with; the numbers are worth having without."""
    try:
        explanation.plot(path)
    except MissingExtraError as error:
        return None, str(error)
    return path, ""
