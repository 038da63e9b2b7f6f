"""What people do to a gallery: one lock, one journal, one state before and one after."""

from __future__ import annotations

import copy
import unicodedata
from collections.abc import Callable, Sequence
from threading import Lock
from typing import Any

import numpy as np

from setwise._support.locks import held
from setwise._support.shared import quiet
from setwise.classify import CVC, Gallery, update
from setwise.errors import DataError, SetwiseWarning, reject
from setwise.page.journal import Carry, Entry, Journal
from setwise.page.living import Living, State
from setwise.page.models import ActDone
from setwise.page.uploads import free_name
from setwise.page.words import counted
from setwise.sets import SetBatch

__all__ = ["Acts", "ConflictError", "checked_label", "without_rows"]

# How long an act waits for another process that changes the file.
PATIENCE_S = 60.0


class ConflictError(DataError):
    """The gallery has changed, and the act would no longer mean what its client meant."""


class Acts:
    """Changes of the gallery.

    Parameters
    ----------
    living : Living
        The gallery file.
    journal : Journal
        Where acts are written down.
    """

    def __init__(self, living: Living, journal: Journal) -> None:
        self.living, self.journal = living, journal
        self.carrier: Carry | None = None
        self._lock = Lock()

    def recover(self) -> None:
        """Make journal and file agree; at the start."""
        if self.journal.file.is_file():
            with held(self.living.path, wait_s=PATIENCE_S):
                self.journal.recover()

    def enroll(
        self, sets: SetBatch, labels: Sequence[str], revision: str | None = None
    ) -> ActDone:
        """Add sets, each to the class of its label, which may be new."""

        def make(state: State) -> tuple[Gallery, str]:
            self._check_same_classes(state, labels, revision)
            typed = [checked_label(label, state.classifier) for label in labels]
            gallery = state.gallery
            new = gallery.check(_named_anew(sets, gallery), "enroll")
            joined = np.concatenate([gallery.classes[:1], np.asarray(typed)])[1:]
            return update(gallery, add=(new, joined), caller="enroll"), _enrolled(new, typed)

        return self._change("enroll", make)

    def forget(self, set_id: str) -> ActDone:
        """Take a set out of the gallery."""

        def make(state: State) -> tuple[Gallery, str]:
            i = _place(state, set_id)
            _check_not_last(state, i)
            words = f"Took {state.gallery.sets.names[i]} out of {state.labels[i]}."
            return update(state.gallery, is_kept=_all_but(state, i), caller="forget"), words

        return self._change("forget", make)

    def take_out(self, set_id: str, images: Sequence[int]) -> ActDone:
        """Take photos out of a set."""

        def make(state: State) -> tuple[Gallery, str]:
            i = _place(state, set_id)
            rest = without_rows(state.gallery.sets[[i]], images)
            n_out = int(state.gallery.sets.sizes[i] - rest.sizes[0])
            name = state.gallery.sets.names[i]
            words = f"Took {counted(n_out, 'photo')} out of {name}, of {state.labels[i]}."
            return _replaced(
                state, i, rest, state.gallery.classes[state.gallery.codes[i]]
            ), words

        return self._change("take_out", make)

    def rename(self, set_id: str, label: str) -> ActDone:
        """Move a set to another class."""

        def make(state: State) -> tuple[Gallery, str]:
            i = _place(state, set_id)
            typed = checked_label(label, state.classifier)
            if str(typed) == state.labels[i]:
                reject(f"The set is of {state.labels[i]} already.")
            name = state.gallery.sets.names[i]
            words = f"Moved {name} from {state.labels[i]} to {typed}."
            return _replaced(state, i, state.gallery.sets[[i]], typed), words

        return self._change("rename", make)

    def undo(self, revision: str | None = None) -> ActDone:
        """Take the last act back."""
        return self._travel(self.journal.go_back, "Undone: ", revision)

    def redo(self, revision: str | None = None) -> ActDone:
        """Do again what was taken back last."""
        return self._travel(self.journal.go_forward, "Done again: ", revision)

    def carry(self, words: str, moves: dict[str, Any]) -> ActDone:
        """Copy or move files, with a way back."""
        with self._lock, held(self.living.path, wait_s=PATIENCE_S):
            state = self.living.refreshed(surely=True)
            self.journal.note_moves(words, state.digest, moves)
            if self.carrier is not None:
                self.carrier(moves, True)
            return ActDone(revision=state.revision, words=words)

    def _change(self, act: str, make: Callable[[State], tuple[Gallery, str]]) -> ActDone:
        with self._lock, held(self.living.path, wait_s=PATIENCE_S):
            state = self.living.refreshed(surely=True)
            reason = self.living.why_unchangeable()
            if reason is not None:
                reject(reason)
            with quiet("", SetwiseWarning):  # a person reads what the wall says of weak classes
                gallery, words = make(state)
            changed = copy.copy(state.classifier)
            changed.gallery_ = gallery
            self.journal.commit(act, words, state.digest, changed.save)
            return ActDone(revision=self.living.refreshed(surely=True).revision, words=words)

    def _travel(
        self, go: Callable[[str, Carry | None], Entry], said: str, revision: str | None
    ) -> ActDone:
        with self._lock, held(self.living.path, wait_s=PATIENCE_S):
            state = self.living.refreshed(surely=True)
            if revision not in (None, state.revision):
                msg = "The gallery has changed meanwhile. Look again at what would be undone."
                raise ConflictError(msg)
            entry = go(state.digest, self.carrier)
            now = self.living.refreshed(surely=True)
            return ActDone(revision=now.revision, words=f"{said}{entry.words}")

    def _check_same_classes(
        self, state: State, labels: Sequence[str], revision: str | None
    ) -> None:
        """Refuse where a class that the client saw is gone, or one that was new is there."""
        if revision in (None, state.revision):
            return
        seen = self.living.classes_at(revision or "")
        for label in labels:
            if seen is None or (label in seen) != (label in state.classes):
                msg = f"The gallery has changed meanwhile, also {label}. Look at it again."
                raise ConflictError(msg)


def checked_label(label: str, classifier: CVC) -> Any:
    """A label as the gallery has it, or a new one that can be shown everywhere.

    Raises
    ------
    DataError
        When it is none.
    """
    plain = unicodedata.normalize("NFC", label).strip()
    for known in classifier.classes_.tolist():
        if str(known) == label or str(known) == plain:
            return known
    if not plain or not plain.isprintable() or len(plain) > 100:
        reject("A name needs 1 to 100 letters, and no control characters.")
    gallery = classifier.gallery_
    if gallery.calibration.threshold is not None and plain == str(classifier.unknown_label):
        reject(f"{plain} is what strangers are called. Choose another name.")
    kind = gallery.classes.dtype.kind
    if kind == "U":
        return plain
    try:
        return {"i": int, "u": int, "f": float}[kind](plain)
    except (KeyError, ValueError):
        return reject(f"The classes of this gallery are numbers, and {plain} is none.")


def without_rows(one: SetBatch, images: Sequence[int]) -> SetBatch:
    """A batch of one set, without some of its vectors, counted from 0."""
    n_images = int(one.sizes[0])
    if any(not 0 <= image < n_images for image in images):
        reject(f"There is no such photo: the set has {n_images}, counted from 0.")
    rows = np.setdiff1d(np.arange(n_images), np.asarray(images, dtype=np.int64))
    if not len(rows):
        reject("No photo would be left. Take the whole set out instead.")
    return one.replaced(
        vectors=one.vectors[rows],
        offsets=np.array([0, len(rows)]),
        origins=None if one.origins is None else one.origins.take(rows),
    )


def _place(state: State, set_id: str) -> int:
    if set_id not in state.places:
        msg = "That set has changed or is gone meanwhile. Look at the gallery again."
        raise ConflictError(msg)
    return state.places[set_id]


def _check_not_last(state: State, i: int) -> None:
    label = state.labels[i]
    if state.labels.count(label) == 1 and len(state.classes) <= 2:
        reject(f"{label} cannot go: a gallery needs two classes to tell apart.")


def _all_but(state: State, i: int) -> Any:
    is_kept = np.ones(len(state.gallery.codes), dtype=np.bool_)
    is_kept[i] = False
    return is_kept


def _replaced(state: State, i: int, one: SetBatch, label: Any) -> Gallery:
    """The gallery with another set in place of one of its own."""
    gallery = state.gallery
    new = gallery.check(one.replaced(labels=None), "change")
    labels = np.concatenate([gallery.classes[:1], np.asarray([label])])[1:]
    return update(gallery, add=(new, labels), is_kept=_all_but(state, i), caller="change")


def _named_anew(sets: SetBatch, gallery: Gallery) -> SetBatch:
    """The sets by names that no set of the gallery has, so that each can be told apart."""
    names: list[str] = []
    for name in sets.names:
        names.append(free_name(name, {*gallery.sets.names, *names}))
    return sets.replaced(names=names, labels=None)


def _enrolled(new: SetBatch, labels: Sequence[Any]) -> str:
    if len(new) == 1:
        n_images = counted(int(new.sizes[0]), "photo")
        return f"Added {new.names[0]} ({n_images}) to {labels[0]}."
    who = sorted(set(map(str, labels)))
    more = f" and {len(who) - 3} more" if len(who) > 3 else ""
    return f"Added {counted(len(new), 'set')} to {', '.join(who[:3])}{more}."
