"""Why one needs sets, on real images and in seconds: which digit a set of images shows.

scikit-learn brings 1797 handwritten digits of 8 x 8 pixels, so nothing is downloaded. Images
of one digit are grouped into sets, and each set is photographed in a light of its own, as
albums are: an image then looks more like others in its light than like others of its digit.
Into half of the probe sets images of another digit are mixed, and two digits are not in the
gallery at all.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import quiet
from setwise._support.progress import Progress
from setwise._support.types import BoolArray, IntArray
from setwise.baselines import FrameVote, MeanCosine
from setwise.classify import CVC, Answer, Explanation, load
from setwise.demo.digits import DigitSets, digit_sets
from setwise.errors import CalibrationWarning, MissingExtraError
from setwise.sets import SetBatch

__all__ = ["Accuracy", "DemoResult", "Identified", "Round", "run_demo"]

ONE_BY_ONE, BY_VOTE, BY_MEAN = "each image alone", "vote of the images", "cosine of the means"
UNKNOWN, RATE = "unknown", 0.05
OURS, OURS_KNOWN = "CVC", f"CVC(unknown={RATE})"
N_OUTLIERS, LIGHT = 4, 0.5


@dataclass(frozen=True)
class Accuracy:
    """Share of right answers: on sets as they are, on mixed ones, on unknown digits."""

    plain: float
    mixed: float
    unknown: float


@dataclass(frozen=True)
class Round:
    """One gallery and its probes, and what each method said of them.

    Attributes
    ----------
    data : DigitSets
        The sets.
    labels : dict of str to array of str
        By method, one label per probe; of single images one per image of each probe.
    is_out : array of bool, shape (n_probes, n_images)
        Which images CVC took for out of place.
    """

    data: DigitSets
    labels: Mapping[str, npt.NDArray[Any]]
    is_out: BoolArray

    def is_right(self, method: str) -> npt.NDArray[Any]:
        """Share of right answers on each probe; a hidden digit should be called unknown."""
        digits = self.data.probe_digits.astype(str)
        wanted = np.where(self.data.is_hidden, UNKNOWN, digits)
        labels = self.labels[method].reshape(len(wanted), -1)
        return (labels == wanted[:, None]).mean(axis=1)


@dataclass(frozen=True)
class Identified:
    """One set, asked about after the gallery was saved and loaded.

    Attributes
    ----------
    answer : Answer
        What the gallery says.
    truth, vote : str
        The digit, and what the vote of the images says.
    is_outlier : array of bool, shape (n_images,)
        Which images show another digit.
    """

    answer: Answer
    truth: str
    vote: str
    is_outlier: BoolArray

    def to_dict(self) -> dict[str, Any]:
        """As plain values; images are numbered from 1."""
        answer = self.answer
        return {
            "set": answer.name,
            "truth": self.truth,
            "label": UNKNOWN if answer.is_known is False else str(answer.label),
            "nearest": str(answer.label),
            "probability": answer.probability,
            "runner_up": None if answer.runner_up is None else str(answer.runner_up),
            "vote_of_the_images": self.vote,
            "images_of_another_digit": _numbers(self.is_outlier),
            "images_out_of_place": _numbers(~answer.is_typical),
        }


@dataclass(frozen=True)
class DemoResult:
    """What came out of the demo.

    Attributes
    ----------
    rounds : tuple of Round
        Each with other digits left out of the gallery.
    gallery_file : Path
        The gallery of one of the rounds, saved.
    mixed, stranger : Identified
        Two sets, asked about after loading: one with images of another digit in it, and one
        of a digit that the gallery does not have.
    explanation : Explanation
        Of the mixed one.
    sheet : Path
        Picture of its images, above the gallery sets of its digit.
    picture : Path or None
        Where the explanation was drawn; None without the extra ``plot``.
    advice : str
        How to get the picture where there is none.
    seconds : dict of str to float
        Wall clock by step; the first run on a machine also compiles, in ``"classify"``.
    """

    rounds: tuple[Round, ...]
    gallery_file: Path
    mixed: Identified
    stranger: Identified
    explanation: Explanation
    sheet: Path
    picture: Path | None
    advice: str
    seconds: Mapping[str, float]

    def counts(self) -> dict[str, int]:
        """How many sets of each kind there are, in all rounds."""
        kinds = [_kinds(one.data) for one in self.rounds]
        return {kind: sum(int(one[kind].sum()) for one in kinds) for kind in kinds[0]}

    @property
    def accuracy(self) -> dict[str, Accuracy]:
        """By method, over all rounds; for single images the share of images, else of sets."""
        return {
            method: Accuracy(**{kind: self._share(method, kind) for kind in self.counts()})
            for method in self.rounds[0].labels
        }

    def _share(self, method: str, kind: str) -> float:
        parts = [one.is_right(method)[_kinds(one.data)[kind]] for one in self.rounds]
        return float(np.concatenate(parts).mean())

    @property
    def out_of_place(self) -> dict[str, int]:
        """Strangers among the images of mixed sets: how many, found, and taken for such."""
        is_mixed = np.concatenate([one.data.is_mixed for one in self.rounds])
        is_stranger = np.concatenate([one.data.is_outlier for one in self.rounds])[is_mixed]
        is_out = np.concatenate([one.is_out for one in self.rounds])[is_mixed]
        return {
            "n_strangers": int(is_stranger.sum()),
            "n_found": int((is_out & is_stranger).sum()),
            "n_false": int((is_out & ~is_stranger).sum()),
        }

    def to_dict(self) -> dict[str, Any]:
        """Everything but the sets and the explanation's arrays, of types that JSON knows."""
        data = self.rounds[0].data
        return {
            "sets": {
                "n_rounds": len(self.rounds),
                "n_known_digits": len(np.unique(np.asarray(data.gallery.labels))),
                "n_gallery": len(data.gallery),
                "n_images": int(data.is_outlier.shape[1]),
                "n_outliers": int(data.is_outlier.sum(axis=1).max()),
                "n_probes": self.counts(),
            },
            "accuracy": {method: asdict(share) for method, share in self.accuracy.items()},
            "out_of_place": self.out_of_place,
            "gallery": str(self.gallery_file),
            "identified": [self.mixed.to_dict(), self.stranger.to_dict()],
            "explanation": str(self.explanation),
            "sheet": str(self.sheet),
            "picture": None if self.picture is None else str(self.picture),
            "advice": self.advice,
            "seconds": dict(self.seconds),
        }


def run_demo(
    out: str | Path,
    *,
    quick: bool = False,
    progress: Progress | None = None,
    n_jobs: int | None = None,
) -> DemoResult:
    """Classify sets of digits beside simpler methods, save, load, identify, explain.

    Parameters
    ----------
    out : str or Path
        Folder for ``digits.setwise``, ``digits.png`` and ``explanation.png``; made if it is
        not there.
    quick : bool, default=False
        A smaller job: one round instead of five.
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
        # Every digit is left out once.
        rounds = [_data(i) for i in range(1 if quick else 5)]
    with watch("classify", sum(len(data.probes) for data in rounds)):
        judged = [_judged(data, n_jobs, watch) for data in rounds]
    (chosen, clf), shown = _telling(judged)
    gallery_file = folder / "digits.setwise"
    with watch("save and identify"):
        loaded = load(clf.save(gallery_file))
        mixed = _identified(loaded, chosen, shown)
        stranger = _identified(loaded, chosen, int(chosen.data.is_hidden.argmax()))
    with watch("explain"):
        explanation = loaded.explain(chosen.data.probes[[shown]])
        sheet = _draw_sheet(chosen.data, shown, mixed, folder / "digits.png")
        picture, advice = _draw(explanation, folder / "explanation.png")
    return DemoResult(
        rounds=tuple(one for one, _ in judged),
        gallery_file=gallery_file,
        mixed=mixed,
        stranger=stranger,
        explanation=explanation,
        sheet=sheet,
        picture=picture,
        advice=advice,
        seconds=watch.seconds | {"total": sum(watch.seconds.values())},
    )


def _data(i: int) -> DigitSets:
    """The sets of a round: two digits are left out, others in each."""
    return digit_sets(4, 2, 12, N_OUTLIERS, i, one_other=True, hidden=(i, i + 5), light=LIGHT)


def _kinds(data: DigitSets) -> dict[str, BoolArray]:
    plain = ~data.is_mixed & ~data.is_hidden
    return {"plain": plain, "mixed": data.is_mixed, "unknown": data.is_hidden}


def _numbers(chosen: BoolArray) -> list[int]:
    """Numbers of the chosen images, the first being 1."""
    return [int(i) + 1 for i in np.flatnonzero(chosen)]


class _Stopwatch:
    """Times the steps, and tells whoever wants to know when they begin and end."""

    def __init__(self, progress: Progress | None) -> None:
        self.report: Progress = progress or (lambda what, done, total: None)
        self.seconds: dict[str, float] = {}
        self.n_done = self.n_steps = 0

    @contextmanager
    def __call__(self, what: str, n_steps: int = 1) -> Iterator[None]:
        self.n_done, self.n_steps = 0, n_steps
        self.report(what, 0, n_steps)
        start = time.perf_counter()
        yield
        self.seconds[what] = time.perf_counter() - start
        self.report(what, n_steps, n_steps)

    def step(self, what: str) -> None:
        """Say that one more step is over."""
        self.n_done += 1
        self.report(what, self.n_done, self.n_steps)


def _judged(data: DigitSets, n_jobs: int | None, watch: _Stopwatch) -> tuple[Round, CVC]:
    """What each method says of the probes, and the fitted CVC."""
    gallery, digits = data.gallery, np.asarray(data.gallery.labels).astype(str)
    vote, mean = FrameVote().fit(gallery, digits), MeanCosine().fit(gallery, digits)
    clf = CVC(unknown=RATE, n_jobs=n_jobs, random_state=0)
    with quiet("unknown=", CalibrationWarning):  # eight classes are few: the command says so
        clf.fit(gallery, digits)
    answers = []
    for answer in clf.judge(data.probes):
        answers.append(answer)
        watch.step("classify")
    nearest = np.array([answer.label for answer in answers])
    is_known = np.array([answer.is_known for answer in answers])
    labels = {
        ONE_BY_ONE: vote.predict(SetBatch.from_rows(data.probes.vectors)),
        BY_VOTE: vote.predict(data.probes),
        BY_MEAN: mean.predict(data.probes),
        OURS: nearest,
        OURS_KNOWN: np.where(is_known, nearest, UNKNOWN),
    }
    return Round(data, labels, ~np.array([answer.is_typical for answer in answers])), clf


def _telling(judged: Sequence[tuple[Round, CVC]]) -> tuple[tuple[Round, CVC], int]:
    """The first mixed set that CVC gets right and the vote wrong; any mixed one, if none is.

    One of which some images were found out of place, where there is such.
    """
    ranks = [_rank(one) for one, _ in judged]
    best = int(np.argmax([rank.max() for rank in ranks]))
    return judged[best], int(ranks[best].argmax())


def _rank(one: Round) -> IntArray:
    """How much each probe of a round has to tell."""
    is_telling = (one.is_right(OURS_KNOWN) == 1) & (one.is_right(BY_VOTE) == 0)
    found = one.is_out.any(axis=1)
    return one.data.is_mixed * (1 + is_telling * (1 + found))


def _identified(clf: CVC, one: Round, i: int) -> Identified:
    data = one.data
    (answer,) = clf.judge(data.probes[[i]])
    truth, vote = str(data.probe_digits[i]), str(one.labels[BY_VOTE][i])
    return Identified(answer, truth, vote, data.is_outlier[i])


def _draw_sheet(data: DigitSets, i: int, shown: Identified, path: Path) -> Path:
    """Draw the images of a probe, red where out of place; below, the gallery's of its digit."""
    from PIL import Image

    is_digit = np.asarray(data.gallery.labels) == data.probe_digits[i]
    rows = [data.probes[i], *data.gallery[is_digit]]
    side, gap = 48, 8
    size = (gap + len(rows[0]) * (side + gap), gap + len(rows) * (side + gap))
    sheet = Image.new("RGB", size, "white")
    for row, images in enumerate(rows):
        for column, pixels in enumerate(images):
            left, top = gap + column * (side + gap), gap + row * (side + gap)
            if row == 0 and not shown.answer.is_typical[column]:
                sheet.paste("#d81b60", (left - 4, top - 4, left + side + 4, top + side + 4))
            photo = Image.fromarray(pixels.reshape(8, 8).astype(np.uint8))
            sheet.paste(photo.resize((side, side), Image.Resampling.NEAREST), (left, top))
    sheet.save(path)
    return path


def _draw(explanation: Explanation, path: Path) -> tuple[Path | None, str]:
    """Draw if there is something to draw with; the numbers are worth having without."""
    try:
        explanation.plot(path)
    except MissingExtraError as error:
        return None, str(error)
    return path, ""
