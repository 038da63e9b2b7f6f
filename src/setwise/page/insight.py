"""What the gallery knows of itself: which classes are weak, how near strangers come.

Found out in the background, once per state of the gallery, from gallery sets that are left
out in turn.
"""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread

import numpy as np

from setwise._support.parallel import one_blas_thread
from setwise._support.types import FloatArray
from setwise.gallery import Gallery
from setwise.page.living import State
from setwise.page.models import Curve
from setwise.page.words import counted

__all__ = ["Insight", "Weakness", "weaknesses"]

logger = logging.getLogger("setwise")

MOST_STATES = 8
FEWEST_IMAGES = 5
# Share of the left-out sets of a class that are taken for another one, from which on it is
# called weak.
OFTEN = 0.25
POINTS = 64


@dataclass(frozen=True)
class Weakness:
    """Why one class may be taken for others, and for which."""

    sentences: tuple[str, ...]
    confused_with: tuple[str, ...]


@dataclass(frozen=True)
class _Known:
    weak: dict[str, Weakness]
    curve: Curve | None


class Insight:
    """Answers what is known now, and finds out the rest in a thread of its own."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._wanted: SimpleQueue[State | None] = SimpleQueue()
        self._asked: set[str] = set()
        self._thread = Thread(target=self._run, name="setwise-page-insight", daemon=True)

    def start(self) -> None:
        """Begin to find out."""
        self._thread.start()

    def weak(self, state: State) -> dict[str, Weakness] | None:
        """What is weak, by class; None while that is being found out."""
        known = self._ask(state)
        return None if known is None else known.weak

    def curve(self, state: State) -> Curve | None:
        """How near sets usually are; None where that is not known, or not yet."""
        known = self._ask(state)
        return None if known is None else known.curve

    def close(self) -> None:
        """Stop after what is being found out."""
        self._wanted.put(None)

    def _ask(self, state: State) -> _Known | None:
        known = self._known.get(state.digest)
        if known is None and state.digest not in self._asked:
            self._asked.add(state.digest)
            self._wanted.put(state)
        return known

    def _run(self) -> None:
        while (state := self._latest()) is not None:
            try:
                with one_blas_thread():
                    known = _Known(weaknesses(state.gallery), _curve(state.gallery))
            except Exception:  # the page can do without
                logger.exception("The gallery could not be tried on itself")
                known = _Known({}, None)
            self._known[state.digest] = known
            while len(self._known) > MOST_STATES:
                self._asked.discard(self._known.popitem(last=False)[0])

    def _latest(self) -> State | None:
        """What was asked for last: earlier states interest nobody any longer."""
        state = self._wanted.get()
        while True:
            try:
                newer = self._wanted.get_nowait()
            except Empty:
                return state
            if state is not None:
                self._asked.discard(state.digest)
            state = newer


def weaknesses(gallery: Gallery) -> dict[str, Weakness]:
    """Which classes are easily taken for others, by the gallery's own sets, left out in turn.

    Parameters
    ----------
    gallery : Gallery
        The gallery.
    """
    n_sets = np.bincount(gallery.codes, minlength=gallery.n_classes)
    left_out = gallery.left_out()
    tried, answers = left_out.sets, left_out.codes
    found = {}
    for code, label in enumerate(gallery.classes):
        mistaken = answers[(gallery.codes[tried] == code) & (answers != code)]
        n_tried = int((gallery.codes[tried] == code).sum())
        n_images = int(gallery.sets.sizes[gallery.codes == code].sum())
        others, counts = np.unique(mistaken, return_counts=True)
        rivals = [str(gallery.classes[o]) for o in others[np.argsort(-counts, kind="stable")]]
        sentences = _few(int(n_sets[code]), n_images)
        if n_tried and len(mistaken) >= OFTEN * n_tried:
            sentences.append(_mistaken(len(mistaken), n_tried, rivals))
        found[str(label)] = Weakness(tuple(sentences), tuple(rivals))
    return found


def _few(n_sets: int, n_images: int) -> list[str]:
    if n_sets == 1:
        return ["It has only one set: a second one would help."]
    if n_images < FEWEST_IMAGES:
        return [f"It has only {counted(n_images, 'photo')}: more would help."]
    return []


def _mistaken(n_wrong: int, n_tried: int, rivals: list[str]) -> str:
    who = " or ".join(rivals[:2])
    look = "looks" if n_wrong == 1 else "look"
    return f"{counted(n_wrong, 'set').capitalize()} of its {n_tried} {look} more like {who}."


def _curve(gallery: Gallery) -> Curve | None:
    """How often sets of known classes, and strangers, are how near."""
    if not gallery.has_vectors or gallery.n_classes < 2:
        return None
    known, strangers = gallery.left_out().nearness, gallery.unknown_nearness()
    if len(known) < 2 or len(strangers) < 2:
        return None
    both = np.concatenate([known, strangers])
    width = max(float(np.std(both)) * len(both) ** -0.2, 1e-6)
    x = np.linspace(both.min() - 2 * width, both.max() + 2 * width, POINTS)
    shown = [_density(values, x, width) for values in (known, strangers)]
    return Curve(x=x.tolist(), known=shown[0].tolist(), strangers=shown[1].tolist())


def _density(values: FloatArray, x: FloatArray, width: float) -> FloatArray:
    """A smooth histogram: a small bell around each value; its area is 1."""
    bells = np.exp(-0.5 * ((x[:, None] - values) / width) ** 2)
    return np.asarray(bells.mean(axis=1) / (width * np.sqrt(2 * np.pi)))
