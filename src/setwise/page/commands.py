"""Commands that change a gallery: one lock, one history, one state before and one after."""

from __future__ import annotations

import copy
import re
import unicodedata
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any

import numpy as np

from setwise._support.files import held
from setwise._support.parallel import quiet
from setwise.classify import CVC, Gallery, update
from setwise.errors import DataError, SetwiseWarning, reject
from setwise.page.answers import counted
from setwise.page.gallery_file import GalleryFile, GalleryState
from setwise.page.history import Entry, History, Transfer
from setwise.page.payload import Done
from setwise.page.uploads import free_name
from setwise.sets import SetBatch

# Seconds that a command waits for another process that changes the file.
PATIENCE_S = 60.0
INTEGER, NUMBER = r"-?[0-9]{1,20}", r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]{1,3})?"


class ConflictError(DataError):
    """The gallery has changed, and the command would do something else than was meant."""


class Commands:
    """Changes of one gallery file, each written to its history."""

    def __init__(self, file: GalleryFile, history: History) -> None:
        self.file, self.history = file, history
        self.transfer: Transfer | None = None
        self._lock = Lock()

    def recover(self) -> None:
        """Make history and file agree, when the server starts."""
        if self.history.file.is_file():
            with self._alone():
                pass

    def enroll(
        self, sets: SetBatch, labels: Sequence[str], revision: str | None = None
    ) -> Done:
        """Add sets, each to the class of its label, which may be new."""

        def make(state: GalleryState) -> tuple[Gallery, str]:
            self._check_same_classes(state, labels, revision)
            typed = [checked_label(label, state.classifier) for label in labels]
            gallery = state.gallery
            new = gallery.check(_renamed(sets, gallery), "enroll")
            joined = np.concatenate([gallery.classes[:1], np.asarray(typed)])[1:]
            return update(gallery, add=(new, joined), caller="enroll"), _enrolled(new, typed)

        return self._change("enroll", make)

    def forget(self, set_id: str) -> Done:
        """Remove a set from the gallery."""

        def make(state: GalleryState) -> tuple[Gallery, str]:
            i = _place(state, set_id)
            _check_not_last(state, i)
            words = f"Removed {state.gallery.sets.names[i]} from {state.labels[i]}."
            return update(state.gallery, is_kept=_all_but(state, i), caller="forget"), words

        return self._change("forget", make)

    def remove_photos(self, set_id: str, images: Sequence[int]) -> Done:
        """Remove photos from a set."""

        def make(state: GalleryState) -> tuple[Gallery, str]:
            i, gallery = _place(state, set_id), state.gallery
            rest = without_rows(gallery.sets[[i]], images)
            n_out = counted(int(gallery.sets.sizes[i] - rest.sizes[0]), "photo")
            words = f"Removed {n_out} from {gallery.sets.names[i]}, of {state.labels[i]}."
            return _replaced(state, i, rest, gallery.classes[gallery.codes[i]]), words

        return self._change("remove_photos", make)

    def move(self, set_id: str, label: str) -> Done:
        """Move a set to another class, which may be new."""

        def make(state: GalleryState) -> tuple[Gallery, str]:
            i = _place(state, set_id)
            typed = checked_label(label, state.classifier)
            if str(typed) == state.labels[i]:
                reject(f"The album is of {state.labels[i]} already.")
            name = state.gallery.sets.names[i]
            words = f"Moved {name} from {state.labels[i]} to {typed}."
            return _replaced(state, i, state.gallery.sets[[i]], typed), words

        return self._change("move", make)

    def undo(self, revision: str | None = None) -> Done:
        """Take the last command back."""
        return self._travel(self.history.undo, "Undone: ", revision)

    def redo(self, revision: str | None = None) -> Done:
        """Do the command again that was undone last."""
        return self._travel(self.history.redo, "Redone: ", revision)

    def transfer_files(self, words: str, moves: dict[str, Any], transfer: Transfer) -> Done:
        """Copy or move files, with a way back."""
        with self._alone() as state:
            self.history.transfer(words, state.digest, moves, transfer)
            return Done(revision=state.revision, words=words)

    @contextmanager
    def _alone(self) -> Iterator[GalleryState]:
        """The state of the file while no thread and no other process changes it."""
        try:
            with self._lock, held(self.file.path, wait_s=PATIENCE_S):
                state = self.file.refreshed(surely=True)
                self.history.recover(state.digest, self.transfer)
                yield state
        except OSError as error:
            msg = (
                f"The gallery cannot be written: {error.strerror or error}. Nothing was "
                "changed. Make room on its disk, or check who may write there, and try again."
            )
            raise DataError(msg) from error

    def _change(
        self, command: str, make: Callable[[GalleryState], tuple[Gallery, str]]
    ) -> Done:
        with self._alone() as state:
            reason = self.file.why_unchangeable()
            if reason is not None:
                reject(reason)
            with quiet("", SetwiseWarning):  # the overview shows weak classes
                gallery, words = make(state)
            changed = copy.copy(state.classifier)
            changed.gallery_ = gallery
            self.history.commit(command, words, state.digest, changed.save)
            return Done(revision=self.file.refreshed(surely=True).revision, words=words)

    def _travel(
        self, go: Callable[[str, Transfer | None], Entry], said: str, revision: str | None
    ) -> Done:
        with self._alone() as state:
            if revision not in (None, state.revision):
                msg = "The gallery has changed meanwhile. Look again at what to undo or redo."
                raise ConflictError(msg)
            entry = go(state.digest, self.transfer)
            now = self.file.refreshed(surely=True)
            return Done(revision=now.revision, words=f"{said}{entry.words}")

    def _check_same_classes(
        self, state: GalleryState, labels: Sequence[str], revision: str | None
    ) -> None:
        """Refuse labels whose class was added or removed since the client looked."""
        if revision in (None, state.revision):
            return
        seen = self.file.classes_at(revision or "")
        for label in labels:
            if seen is None or (label in seen) != (label in state.classes):
                msg = f"The gallery has changed meanwhile, also {label}. Look at it again."
                raise ConflictError(msg)


def checked_label(label: str, classifier: CVC) -> Any:
    """A label of the gallery, or a new one of the same type; DataError if it is neither."""
    plain = unicodedata.normalize("NFC", label).strip()
    for known in classifier.classes_.tolist():
        if str(known) == label or str(known) == plain:
            return known
    if not plain or not plain.isprintable() or len(plain) > 100:
        reject("A name needs 1 to 100 letters, and no control characters.")
    gallery = classifier.gallery_
    if gallery.calibration.threshold is not None and plain == str(classifier.unknown_label):
        reject(f"{plain} is the answer for strangers. Choose another name.")
    dtype = gallery.classes.dtype
    if dtype.kind == "U":
        return plain
    if dtype.kind in "iu" and re.fullmatch(INTEGER, plain):
        limits = np.iinfo(dtype)
        if limits.min <= int(plain) <= limits.max:
            return int(plain)
    if dtype.kind == "f" and re.fullmatch(NUMBER, plain) and float(plain).is_integer():
        return float(plain)
    return reject(f"The names of this gallery are whole numbers, and {plain} is none.")


def without_rows(one: SetBatch, images: Sequence[int]) -> SetBatch:
    """A batch of one set without some of its photos, counted from 0."""
    n_images = int(one.sizes[0])
    if any(not 0 <= image < n_images for image in images):
        reject(f"There is no such photo: the album has {n_images}, counted from 0.")
    rows = np.setdiff1d(np.arange(n_images), np.asarray(images, dtype=np.int64))
    if not len(rows):
        reject("No photo would be left. Remove the whole album instead.")
    return one.replaced(
        vectors=one.vectors[rows],
        offsets=np.array([0, len(rows)]),
        origins=None if one.origins is None else one.origins.take(rows),
    )


def _place(state: GalleryState, set_id: str) -> int:
    if set_id not in state.places:
        msg = "That album has changed or is gone meanwhile. Look at the gallery again."
        raise ConflictError(msg)
    return state.places[set_id]


def _check_not_last(state: GalleryState, i: int) -> None:
    label = state.labels[i]
    if state.labels.count(label) == 1 and len(state.classes) <= 2:
        reject(f"{label} cannot go: a gallery needs two people or things to tell apart.")


def _all_but(state: GalleryState, i: int) -> Any:
    is_kept = np.ones(len(state.gallery.codes), dtype=np.bool_)
    is_kept[i] = False
    return is_kept


def _replaced(state: GalleryState, i: int, one: SetBatch, label: Any) -> Gallery:
    """The gallery with another set in place of one of its own."""
    gallery = state.gallery
    new = gallery.check(one.replaced(labels=None), "change")
    labels = np.concatenate([gallery.classes[:1], np.asarray([label])])[1:]
    return update(gallery, add=(new, labels), is_kept=_all_but(state, i), caller="change")


def _renamed(sets: SetBatch, gallery: Gallery) -> SetBatch:
    """The sets under names that the gallery does not have."""
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
    return f"Added {counted(len(new), 'album')} to {', '.join(who[:3])}{more}."
