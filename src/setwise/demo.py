"""Why to classify sets: the whole job on scikit-learn's handwritten digits.

Each set is in a light of its own, so that images look more like others in their light than like
others of their digit. Half of the probes hold images of another digit, and two digits are not
in the gallery.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import quiet
from setwise._support.progress import Progress
from setwise.baselines import FrameVote, MeanCosine
from setwise.classify import CVC, Answer, load
from setwise.errors import CalibrationWarning, MissingExtraError, reject
from setwise.sets import SetBatch

UNKNOWN, RATE = "unknown", 0.05
N_OUTLIERS, LIGHT = 4, 0.5


@dataclass(frozen=True)
class DigitSets:
    """Gallery and probes of images, 64 pixels each, and which images of probes are mixed in."""

    gallery: SetBatch
    probes: SetBatch
    is_outlier: npt.NDArray[Any]

    @property
    def probe_digits(self) -> npt.NDArray[Any]:
        """The digit of each probe."""
        return np.asarray(self.probes.labels)

    @property
    def is_mixed(self) -> npt.NDArray[Any]:
        """Which probes hold images of other digits."""
        return np.asarray(self.is_outlier.any(axis=1))

    @property
    def is_hidden(self) -> npt.NDArray[Any]:
        """Which probes show a digit that is not in the gallery."""
        return ~np.isin(self.probe_digits, np.asarray(self.gallery.labels))


def digit_sets(
    n_gallery: int = 6, n_probes: int = 4, n_images: int = 12, n_outliers: int = 4,
    seed: int = 0, *, one_other: bool = False, hidden: Sequence[int] = (), light: float = 0.0,
) -> DigitSets:  # fmt: skip
    """Group scikit-learn's digits into disjoint sets; every second known probe is mixed."""
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    piles = [list(rng.permutation(np.flatnonzero(digits == digit))) for digit in range(10)]
    n_other = 9 * (n_outliers if one_other else 1) * (n_probes // 2)  # of a digit, at worst
    needed, n_least = (n_gallery + n_probes) * n_images + n_other, min(map(len, piles))
    if needed > n_least or not 0 <= n_outliers <= min(n_images, 9):
        reject(
            f"digit_sets: {n_gallery} gallery and {n_probes} probe sets of {n_images} images "
            f"with {n_outliers} outliers may need {needed} images of a digit. Expected at most "
            f"{n_least}, and at most 9 outliers."
        )
    known = [digit for digit in range(10) if digit not in hidden]

    def deal(n_sets: int, shown: Sequence[int]) -> list[list[Any]]:
        return [[piles[d].pop() for _ in range(n_images)] for d in shown for _ in range(n_sets)]

    gallery, probes = deal(n_gallery, known), deal(n_probes, range(10))
    is_outlier = np.zeros((len(probes), n_images), dtype=bool)
    for i, chosen in enumerate(probes):
        if i % n_probes % 2 and i // n_probes in known:
            places = rng.choice(n_images, size=n_outliers, replace=False)
            others = rng.permutation(np.delete(np.arange(10), i // n_probes))
            for k, place in enumerate(places):
                chosen[place] = piles[others[0 if one_other else k]].pop()
            is_outlier[i, places] = True

    def batch(sets: list[Any], shown: Sequence[int]) -> SetBatch:
        n = len(sets) // len(shown)
        labels = np.repeat(shown, n)
        names = [f"{digit}, set {i % n + 1}" for i, digit in enumerate(labels)]
        taken = [_photos(images[chosen], light, rng) for chosen in sets]
        return SetBatch.from_list(taken, names, labels, image_shape=(8, 8))

    return DigitSets(batch(gallery, known), batch(probes, range(10)), is_outlier)


def _photos(ink: npt.NDArray[Any], light: float, rng: np.random.Generator) -> npt.NDArray[Any]:
    """Images of ink (0 to 16) on paper, all in one light, with camera noise."""
    if not light:
        return ink
    angle = rng.uniform(0.0, 2.0 * np.pi)
    down, right = np.mgrid[-1:1:8j, -1:1:8j]
    slope = (np.cos(angle) * right + np.sin(angle) * down).ravel() / np.sqrt(2.0)
    paper = 128.0 * (1.0 + light * slope)
    noise = rng.normal(scale=2.0, size=ink.shape)
    return (paper * (1.0 - 0.9 * ink / 16.0) + noise).clip(0, 255).astype(np.uint8)


@dataclass(frozen=True)
class _Round:
    data: DigitSets
    clf: CVC
    answers: list[Answer]
    labels: dict[str, npt.NDArray[Any]]

    def is_right(self, method: str) -> npt.NDArray[Any]:
        """Share of right answers for each probe; a hidden digit should be unknown."""
        wanted = np.where(self.data.is_hidden, UNKNOWN, self.data.probe_digits.astype(str))
        return (self.labels[method].reshape(len(wanted), -1) == wanted[:, None]).mean(axis=1)

    def kinds(self) -> dict[str, npt.NDArray[Any]]:
        is_mixed, is_hidden = self.data.is_mixed, self.data.is_hidden
        return {"plain": ~is_mixed & ~is_hidden, "mixed": is_mixed, "unknown": is_hidden}

    def told(self, answer: Answer, i: int) -> dict[str, Any]:
        """One answer as plain values; images are numbered from 1."""
        outliers, typical = self.data.is_outlier[i], np.asarray(answer.is_typical)
        return {
            "set": answer.name,
            "label": str(answer.label),
            "nearest": str(answer.nearest),
            "probability": answer.probability,
            "vote_of_the_images": str(self.labels["vote of the images"][i]),
            "images_of_another_digit": (np.flatnonzero(outliers) + 1).tolist(),
            "images_out_of_place": (np.flatnonzero(~typical) + 1).tolist(),
        }


def run_demo(
    out: str | Path, *, quick: bool = False, progress: Progress | None = None,
    n_jobs: int | None = None,
) -> dict[str, Any]:  # fmt: skip
    """Compare CVC with simpler methods, then save, load, identify and explain."""
    folder = Path(out)
    report: Progress = progress or (lambda *_: None)
    seconds: dict[str, float] = {}
    folder.mkdir(parents=True, exist_ok=True)

    @contextmanager
    def step(what: str, total: int = 1) -> Iterator[None]:
        report(what, 0, total)
        start = time.perf_counter()
        yield
        seconds[what] = time.perf_counter() - start
        report(what, total, total)

    sets = [
        digit_sets(4, 2, 12, N_OUTLIERS, i, one_other=True, hidden=(i, i + 5), light=LIGHT)
        for i in range(1 if quick else 5)
    ]
    with step("classify", len(sets)):
        rounds = []
        for i, data in enumerate(sets):
            report("classify", i, len(sets))
            rounds.append(_judged(data, n_jobs))
    methods, kinds = list(rounds[0].labels), list(rounds[0].kinds())

    def accuracy(method: str, kind: str) -> float:
        shares = [one.is_right(method)[one.kinds()[kind]] for one in rounds]
        return float(np.concatenate(shares).mean())

    # Show a mixed set that CVC gets right and the vote wrong, where there is one.
    leads = [one.is_right("CVC") - one.is_right("vote of the images") for one in rounds]
    ranks = [one.data.is_mixed * (2 + lead) for one, lead in zip(rounds, leads, strict=True)]
    best = int(np.argmax([rank.max() for rank in ranks]))
    chosen, shown = rounds[best], int(ranks[best].argmax())
    with step("save and identify"):
        clf = load(chosen.clf.save(folder / "digits.setwise"))
        pair = [shown, int(chosen.data.is_hidden.argmax())]
        identified = list(map(chosen.told, clf.judge(chosen.data.probes[pair]), pair))
    with step("explain"):
        explanation, picture, advice = clf.explain(chosen.data.probes[[shown]]), None, ""
        try:
            explanation.plot(folder / "explanation.png")
            picture = str(folder / "explanation.png")
        except MissingExtraError as error:
            advice = str(error)
    return {
        "n_probes": {kind: sum(int(o.kinds()[kind].sum()) for o in rounds) for kind in kinds},
        "accuracy": {method: {kind: accuracy(method, kind) for kind in kinds}
                     for method in methods},
        "gallery": str(folder / "digits.setwise"), "identified": identified,
        "explanation": str(explanation), "picture": picture, "advice": advice,
        "seconds": seconds | {"total": sum(seconds.values())},
    }  # fmt: skip


def _judged(data: DigitSets, n_jobs: int | None) -> _Round:
    gallery, digits = data.gallery, np.asarray(data.gallery.labels).astype(str)
    vote, mean = FrameVote().fit(gallery, digits), MeanCosine().fit(gallery, digits)
    clf = CVC(unknown=RATE, n_jobs=n_jobs, random_state=0)
    with quiet("unknown=", CalibrationWarning):  # eight classes are few: the command says so
        clf.fit(gallery, digits)
    answers = list(clf.judge(data.probes))
    nearest = np.array([answer.nearest for answer in answers])
    labels = {
        "each image alone": vote.predict(SetBatch.from_rows(data.probes.vectors)),
        "vote of the images": vote.predict(data.probes),
        "cosine of the means": mean.predict(data.probes),
        "CVC": nearest,
        f"CVC(unknown={RATE})": np.where([bool(a.is_known) for a in answers], nearest, UNKNOWN),
    }
    return _Round(data, clf, answers, labels)
