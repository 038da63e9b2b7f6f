"""The gallery as the page shows it: its sets, its weak classes, the nearness of strangers."""

from __future__ import annotations

import logging
from collections import OrderedDict
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING

import numpy as np

from setwise._support.parallel import one_blas_thread
from setwise._support.types import FloatArray, IntArray
from setwise.classify import Gallery, large
from setwise.classify.evidence import own_sets
from setwise.classify.fusion import fuse
from setwise.classify.gallery_weights import MOST_OWN_SETS, Trials, tried_sets
from setwise.classify.large import MOST_TRIED, left_out_answers
from setwise.classify.unknown import nearness, stranger_nearness
from setwise.page import payload
from setwise.page.answers import counted
from setwise.page.gallery_file import GalleryState
from setwise.sets.origins import has_photos

if TYPE_CHECKING:
    from setwise.page.app import AppState


logger = logging.getLogger("setwise")

MOST_STATES = 8
FEWEST_IMAGES = 5
OFTEN = 0.25  # share of left-out sets taken for another class, that makes a class weak
POINTS = 64


@dataclass(frozen=True)
class Weakness:
    """Why one class may be taken for others, and for which."""

    sentences: tuple[str, ...] = ()
    confused_with: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Known:
    weak: dict[str, Weakness]
    curve: payload.Curve | None


def overview(app: AppState) -> payload.Overview:
    """The whole gallery as JSON."""
    state = app.file.refreshed()
    gallery, limits = state.gallery, app.settings.limits
    weak, reason = app.insight.weak(state), app.file.why_unchangeable()
    rate, threshold = gallery.description.unknown, gallery.threshold
    return payload.Overview(
        revision=state.revision,
        file=app.file.path.name,
        can_change=reason is None,
        reason_it_cannot=reason,
        unknown=None
        if rate is None or threshold is None
        else payload.Unknown(rate=rate, threshold=threshold),
        n_classes=gallery.n_classes,
        n_sets=len(gallery.sets),
        n_images=int(gallery.sets.sizes.sum()),
        features=list(state.classifier.view_weights_),
        weak_state="computing" if weak is None else "ready",
        classes=_classes(state, weak or {}),
        can_undo=app.history.can_undo(state.digest),
        can_redo=app.history.can_redo(state.digest),
        inbox=app.settings.inbox is not None,
        into=app.settings.into is not None,
        limits=payload.RequestLimits(
            upload_bytes=limits.upload_bytes, files=limits.files, seconds=limits.seconds
        ),
    )


def _classes(state: GalleryState, weak: dict[str, Weakness]) -> list[payload.GalleryClass]:
    gallery, made = state.gallery, []
    shows = gallery.has_vectors and has_photos(gallery.sets)
    sizes, ids, names = gallery.sets.sizes.tolist(), state.set_ids, gallery.sets.names
    for label, inside in zip(state.classes, state.sets_of_class, strict=True):
        weakness = weak.get(label, Weakness())
        sets = [
            payload.GallerySet(
                id=ids[i], name=names[i], n_images=sizes[i], shown=sizes[i] if shows else 0
            )
            for i in inside.tolist()
        ]
        made.append(
            payload.GalleryClass(
                name=label,
                n_sets=len(sets),
                n_images=sum(one.n_images for one in sets),
                weak=list(weakness.sentences),
                confused_with=list(weakness.confused_with),
                sets=sets,
            )
        )
    return made


class Insight:
    """Weak classes and curves, computed in a thread once per state of the gallery."""

    def __init__(self) -> None:
        self._known: OrderedDict[str, _Known] = OrderedDict()
        self._wanted: SimpleQueue[GalleryState | None] = SimpleQueue()
        self._asked: set[str] = set()
        self._thread = Thread(target=self._run, name="setwise-page-insight", daemon=True)

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def weak(self, state: GalleryState) -> dict[str, Weakness] | None:
        """Weakness of each class; None while it is computed."""
        known = self._ask(state)
        return None if known is None else known.weak

    def curve(self, state: GalleryState) -> payload.Curve | None:
        """Usual nearness of sets; None if it is not known, or not yet."""
        known = self._ask(state)
        return None if known is None else known.curve

    def close(self) -> None:
        """Stop after the current computation."""
        self._wanted.put(None)

    def _ask(self, state: GalleryState) -> _Known | None:
        known = self._known.get(state.digest)
        if known is None and state.digest not in self._asked:
            self._asked.add(state.digest)
            self._wanted.put(state)
        return known

    def _run(self) -> None:
        while (state := self._latest()) is not None:
            try:
                with one_blas_thread():
                    known = _Known(weaknesses(state), _curve(state.gallery))
            except Exception:  # the page works without
                logger.exception("The gallery could not be tried on itself")
                known = _Known({}, None)
            self._known[state.digest] = known
            while len(self._known) > MOST_STATES:
                self._asked.discard(self._known.popitem(last=False)[0])

    def _latest(self) -> GalleryState | None:
        """The state that was asked for last; earlier ones are outdated."""
        state = self._wanted.get()
        while True:
            try:
                newer = self._wanted.get_nowait()
            except Empty:
                return state
            if state is not None:
                self._asked.discard(state.digest)
            state = newer


def weaknesses(state: GalleryState) -> dict[str, Weakness]:
    """Weakness of each class, found by leaving out the gallery's own sets in turn."""
    gallery = state.gallery
    tried, answers = _left_out_answers(gallery)
    answers_of: dict[int, list[int]] = {}
    for code, answer in zip(gallery.codes[tried].tolist(), answers.tolist(), strict=True):
        answers_of.setdefault(code, []).append(answer)
    found = {}
    classes = zip(state.classes, state.sets_of_class, strict=True)
    for code, (label, inside) in enumerate(classes):
        given = np.array(answers_of.get(code, []), dtype=np.int64)
        mistaken = given[given != code]
        others, counts = np.unique(mistaken, return_counts=True)
        rivals = [state.classes[o] for o in others[np.argsort(-counts, kind="stable")]]
        sentences = _few(len(inside), int(gallery.sets.sizes[inside].sum()))
        if len(given) and len(mistaken) >= OFTEN * len(given):
            sentences.append(_mistaken(len(mistaken), len(given), rivals))
        found[label] = Weakness(tuple(sentences), tuple(rivals))
    return found


def _few(n_sets: int, n_images: int) -> list[str]:
    if n_sets == 1:
        return ["Only one album: a second one would help."]
    if n_images < FEWEST_IMAGES:
        return [f"Only {counted(n_images, 'photo')}: more would help."]
    return []


def _mistaken(n_wrong: int, n_tried: int, rivals: list[str]) -> str:
    who = " or ".join(rivals[:2])
    look = "looks" if n_wrong == 1 else "look"
    return f"{counted(n_wrong, 'album').capitalize()} of its {n_tried} {look} more like {who}."


def _with_others(gallery: Gallery) -> IntArray:
    """Some sets whose class has other sets too."""
    most = MOST_OWN_SETS if gallery.directory is None else MOST_TRIED
    n_sets = np.bincount(gallery.codes, minlength=gallery.n_classes)
    chosen = tried_sets(len(gallery.codes), most)
    return chosen[n_sets[gallery.codes[chosen]] > 1]


def _left_out_answers(gallery: Gallery) -> tuple[IntArray, IntArray]:
    """Sets whose class has others, and the class that each is taken for without it."""
    chosen = _with_others(gallery)
    if not len(chosen):
        return chosen, chosen
    if gallery.directory is not None:
        labels = [answer.label for answer in left_out_answers(gallery, chosen)]
        return chosen, np.searchsorted(gallery.classes, labels)
    trials = Trials.of(gallery, chosen, None).counted(
        gallery.weights, gallery.inverse_temperatures
    )
    fusion = gallery.description.fusion
    return chosen, np.array(
        [fuse(score_matrix, fusion).code for score_matrix in trials.score_matrices]
    )


def _curve(gallery: Gallery) -> payload.Curve | None:
    """Distributions of nearness: for sets of known classes, and for strangers."""
    if not gallery.has_vectors or gallery.n_classes < 2:
        return None
    if gallery.directory is None:
        known = _own_nearness(gallery)
        strangers = np.concatenate(list(stranger_nearness(gallery)))
    else:
        answers = left_out_answers(gallery, _with_others(gallery))
        known = np.array([answer.nearness for answer in answers])
        strangers = large.stranger_nearness(gallery)
    if len(known) < 2 or len(strangers) < 2:
        return None
    both = np.concatenate([known, strangers])
    width = max(float(np.std(both)) * len(both) ** -0.2, 1e-6)
    x = np.linspace(both.min() - 2 * width, both.max() + 2 * width, POINTS)
    shown = [_density(values, x, width) for values in (known, strangers)]
    return payload.Curve(x=x.tolist(), known=shown[0].tolist(), strangers=shown[1].tolist())


def _density(values: FloatArray, x: FloatArray, width: float) -> FloatArray:
    """A smooth histogram of area 1: a small bell around each value."""
    bells = np.exp(-0.5 * ((x[:, None] - values) / width) ** 2)
    return np.asarray(bells.mean(axis=1) / (width * np.sqrt(2 * np.pi)))


def _own_nearness(gallery: Gallery) -> FloatArray:
    """Nearness of gallery sets to the nearest class, each left out."""
    chosen = _with_others(gallery)
    seen = {
        int(i): list(
            own_sets(
                gallery.layers[i].graph,
                gallery.columns(gallery.layers[i]),
                chosen,
                gallery.layers[i].layer.representation.basis,
                gallery.comparison,
            )
        )
        for i in np.flatnonzero(gallery.layer_weights)
    }
    return np.array(
        [
            nearness(gallery, {i: sets[k] for i, sets in seen.items()})
            for k in range(len(chosen))
        ]
    )
