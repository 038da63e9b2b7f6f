"""The gallery as the page shows it: its sets, its weak classes, the nearness of strangers."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from threading import Condition, Thread
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from setwise._support.parallel import one_blas_thread
from setwise.gallery import Gallery
from setwise.page import payload
from setwise.page.answers import counted
from setwise.page.gallery_file import GalleryState
from setwise.sets.origins import has_photos

if TYPE_CHECKING:
    from setwise.page.state import AppState

logger = logging.getLogger("setwise")

PAUSE_S = 0.05  # between two looks whether questions are answered
MOST_STATES, FEWEST_IMAGES, POINTS = 8, 5, 64
SELDOM = 0.05  # share of a gallery's own albums that are farther than is usual
OFTEN = 0.25  # share of left-out sets taken for another class, that makes a class weak


class Weakness(NamedTuple):
    """Why one class may be taken for others, and for which."""

    sentences: tuple[str, ...] = ()
    confused_with: tuple[str, ...] = ()


class Known(NamedTuple):
    """What is known about one state of the gallery."""

    weak: dict[str, Weakness]
    curve: payload.Curve | None


def overview(app: AppState) -> payload.Overview:
    """The whole gallery as JSON."""
    state = app.file.refreshed()
    gallery = state.gallery
    known, reason = app.insight.known(state), app.file.why_unchangeable()
    rate, threshold, unknown = gallery.description.unknown, gallery.calibration.threshold, None
    if rate is not None and threshold is not None:
        unknown = payload.Unknown(rate=rate, threshold=threshold)
    return payload.Overview(
        revision=state.revision,
        file=app.file.path.name,
        can_change=reason is None,
        reason_it_cannot=reason,
        unknown=unknown,
        n_classes=gallery.n_classes,
        n_sets=len(gallery.sets),
        n_images=int(gallery.sets.sizes.sum()),
        features=list(state.classifier.view_weights_),
        weak_state="computing" if known is None else "ready",
        is_learning=app.learner.is_needed,
        learnt_by=app.learner.ends,
        classes=_classes(state, known.weak if known else {}, app.covers.places(state)),
        can_undo=app.history.can("undo", state.digest),
        can_redo=app.history.can("redo", state.digest),
        inbox=app.settings.inbox is not None,
        into=app.settings.into is not None,
        limits=payload.RequestLimits.model_validate(app.settings.limits),
    )


def _classes(
    state: GalleryState, weak: dict[str, Weakness], covers: list[tuple[int, int]]
) -> list[payload.GalleryClass]:
    gallery, made = state.gallery, []
    shows = gallery.has_vectors and has_photos(gallery.sets)
    each = zip(state.set_ids, gallery.sets.names, gallery.sets.sizes.tolist(), strict=True)
    every = [
        payload.GallerySet(id=set_id, name=name, n_images=size, shown=size if shows else 0)
        for set_id, name, size in each
    ]
    each_class = zip(state.class_ids, state.classes, state.sets_of_class, covers, strict=True)
    for class_id, label, inside, (cover, image) in each_class:
        weakness, sets = weak.get(label, Weakness()), [every[i] for i in inside]
        one = payload.GalleryClass(
            id=class_id,
            name=label,
            cover=f"/api/v1/sets/{state.set_ids[cover]}/images/{image}" if shows else None,
            n_sets=len(sets),
            n_images=sum(one.n_images for one in sets),
            weak=list(weakness.sentences),
            confused_with=list(weakness.confused_with),
            sets=sets,
        )
        made.append(one)
    return made


class Insight:
    """Weak classes and curves, computed in a thread once per state of the gallery."""

    def __init__(self, is_busy: Callable[[], bool] = lambda: False) -> None:
        self._is_busy = is_busy  # whether questions come first
        self._known: dict[str, Known] = {}
        self._wanted: GalleryState | None = None  # the last one that was asked for
        self._is_over = False
        self._changed = Condition()

    def start(self) -> None:
        """Start the thread."""
        Thread(target=self._run, name="setwise-page-insight", daemon=True).start()

    def known(self, state: GalleryState) -> Known | None:
        """Weakness of each class, and usual nearness; None while they are computed."""
        with self._changed:
            known = self._known.get(state.digest)
            if known is None:
                self._wanted = state
                self._changed.notify()
            return known

    def close(self) -> None:
        """Stop after the current computation."""
        with self._changed:
            self._is_over = True
            self._changed.notify()

    def _run(self) -> None:
        while not self._is_over:
            with self._changed:
                self._changed.wait_for(lambda: self._wanted or self._is_over)
                state, self._wanted = self._wanted, None
            while self._is_busy() and not self._is_over:
                time.sleep(PAUSE_S)
            if state is None or state.digest in self._known or self._is_over:
                continue
            try:
                with one_blas_thread():
                    known = Known(weaknesses(state), _curve(state.gallery))
                state.learnt["farthest"] = farthest(state.gallery)
            except Exception:  # the page works without
                logger.exception("The gallery could not be tried on itself")
                known = Known({}, None)
            with self._changed:
                self._known[state.digest] = known
                if len(self._known) > MOST_STATES:
                    del self._known[next(iter(self._known))]


def weaknesses(state: GalleryState) -> dict[str, Weakness]:
    """Weakness of each class, found by leaving out the gallery's own sets in turn."""
    gallery = state.gallery
    left_out = gallery.left_out()
    tried, answers = left_out.sets, left_out.codes
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
        sentences, n_images = [], int(gallery.sets.sizes[inside].sum())
        if len(inside) == 1:
            sentences.append("Only one album: a second one would help.")
        elif n_images < FEWEST_IMAGES:
            sentences.append(f"Only {counted(n_images, 'photo')}: more would help.")
        if len(given) and len(mistaken) >= OFTEN * len(given):
            wrong = counted(len(mistaken), "album").capitalize()
            look = "looks" if len(mistaken) == 1 else "look"
            who = " or ".join(rivals[:2])
            sentences.append(f"{wrong} of its {len(given)} {look} more like {who}.")
        found[label] = Weakness(tuple(sentences), tuple(rivals))
    return found


def farthest(gallery: Gallery) -> float:
    """Nearness of the gallery's own albums, of which nearly all are nearer."""
    left_out = gallery.left_out()
    is_right = left_out.codes == gallery.codes[left_out.sets]
    nearness = left_out.nearness[is_right]
    return float(np.quantile(nearness, SELDOM)) if len(nearness) else np.inf


def _curve(gallery: Gallery) -> payload.Curve | None:
    """Distributions of nearness: for sets of known classes, and for strangers."""
    if not gallery.has_vectors or gallery.n_classes < 2:
        return None
    known, strangers = gallery.left_out().nearness, gallery.unknown_nearness()
    if len(known) < 2 or len(strangers) < 2:
        return None
    both = np.concatenate([known, strangers])
    width = max(float(np.std(both)) * len(both) ** -0.2, 1e-6)
    x = np.linspace(both.min() - 2 * width, both.max() + 2 * width, POINTS)
    bells = np.exp(-0.5 * ((x[:, None] - both) / width) ** 2) / (width * np.sqrt(2 * np.pi))
    of_known, of_strangers = bells[:, : len(known)], bells[:, len(known) :]
    shown = [part.mean(axis=1).tolist() for part in (of_known, of_strangers)]
    return payload.Curve(x=x.tolist(), known=shown[0], strangers=shown[1])
