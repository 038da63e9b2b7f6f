"""Commands that change a gallery: one lock, one history, one state before and one after."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from setwise._support.files import held
from setwise._support.parallel import quiet
from setwise._support.text import free_names
from setwise.classify import Gallery, update
from setwise.errors import DataError, SetwiseWarning, reject
from setwise.page.answers import counted
from setwise.page.gallery_file import GalleryFile, GalleryState
from setwise.page.history import Command, History, Transfer
from setwise.page.payload import Done
from setwise.page.transfer import FileTransfer
from setwise.sets import SetBatch

PATIENCE_S = 60.0  # for another process that changes the file
Revision: TypeAlias = str | None  # as the client has seen it; None not to be compared


class ConflictError(DataError):
    """The gallery has changed, and the command would do something else than was meant."""


class Commands:
    """Changes of one gallery file, each written to its history."""

    def __init__(self, file: GalleryFile, history: History) -> None:
        self.file, self.history = file, history
        self.transfer: FileTransfer | None = None
        # Called with each change that is done: command, sentence, revision.
        self.told: Callable[[str, str, str], None] = lambda *_: None
        self._lock = Lock()

    def recover(self) -> None:
        """Make history and file agree, when the server starts."""
        if self.history.file.is_file():
            with self._alone():
                pass

    def enroll(self, sets: SetBatch, labels: Sequence[str], revision: Revision = None) -> Done:
        """Add sets, each to the class of its label, which may be new."""
        with self._changing() as state:
            self._check_classes(state, labels, revision)
            typed = [state.typed(label) for label in labels]
            names = free_names(sets.names, state.gallery.sets.names)
            new = sets.replaced(names=names)
            gallery = _updated(state, new, typed, "enroll")
            return self._commit("enroll", _enrolled(new, typed), state, gallery)

    def forget(self, set_id: str) -> Done:
        """Remove a set from the gallery."""
        with self._changing() as state:
            i = _place(state, set_id)
            label = state.labels[i]
            if state.labels.count(label) == 1 and len(state.classes) <= 2:
                reject(f"{label} cannot go: a gallery needs two people or things.")
            words = f"Removed {state.gallery.sets.names[i]} from {label}."
            is_kept = np.arange(len(state.labels)) != i
            gallery = update(state.gallery, is_kept=is_kept, caller="forget")
            return self._commit("forget", words, state, gallery)

    def remove_photos(self, set_id: str, images: Sequence[int]) -> Done:
        """Remove photos from a set."""
        with self._changing() as state:
            i, gallery = _place(state, set_id), state.gallery
            rest = without_rows(gallery.sets[[i]], images)
            n_out = counted(int(gallery.sets.sizes[i] - rest.sizes[0]), "photo")
            words = f"Removed {n_out} from {gallery.sets.names[i]}, of {state.labels[i]}."
            label = gallery.classes[gallery.codes[i]]
            gallery = _updated(state, rest, [label], "change", i)
            return self._commit("remove_photos", words, state, gallery)

    def move(self, set_id: str, label: str) -> Done:
        """Move a set to another class, which may be new."""
        with self._changing() as state:
            i = _place(state, set_id)
            typed = state.typed(label)
            if str(typed) == state.labels[i]:
                reject(f"The album is of {state.labels[i]} already.")
            name = state.gallery.sets.names[i]
            words = f"Moved {name} from {state.labels[i]} to {typed}."
            gallery = _updated(state, state.gallery.sets[[i]], [typed], "change", i)
            return self._commit("move", words, state, gallery)

    def undo(self, revision: Revision = None) -> Done:
        """Take the last command back."""
        return self._travel("undo", "Undone: ", revision)

    def redo(self, revision: Revision = None) -> Done:
        """Do the command again that was undone last."""
        return self._travel("redo", "Redone: ", revision)

    def transfer_files(self, words: str, moves: dict[str, Any], transfer: Transfer) -> Done:
        """Copy or move files, with a way back."""
        with self._alone() as state:
            self.history.transfer(words, state.digest, moves, transfer)
            return self._done("transfer", words, state)

    @contextmanager
    def _alone(self) -> Iterator[GalleryState]:
        """The state of the file while no thread and no other process changes it."""
        try:
            with self._lock, held(self.file.path, wait_s=PATIENCE_S):
                state = self.file.refreshed(surely=True)
                self.history.recover(state.digest, self.transfer)
                yield state
        except OSError as error:
            why = error.strerror or error
            hint = "Make room on its disk, or check who may write there, and try again."
            reject(f"The gallery cannot be written: {why}. Nothing was changed. {hint}", error)

    @contextmanager
    def _changing(self) -> Iterator[GalleryState]:
        """The state of the file while it may be changed; the overview shows weak classes."""
        with self._alone() as state, quiet("", SetwiseWarning):
            reason = self.file.why_unchangeable()
            if reason is not None:
                reject(reason)
            yield state

    def _commit(self, command: str, words: str, state: GalleryState, gallery: Gallery) -> Done:
        changed = copy.copy(state.classifier)
        changed.gallery_ = gallery
        self.history.commit(command, words, state.digest, changed.save)
        return self._done(command, words, self.file.refreshed(surely=True))

    def _done(self, command: str, words: str, state: GalleryState) -> Done:
        self.told(command, words, state.revision)
        return Done(revision=state.revision, words=words)

    def _travel(self, command: Command, said: str, revision: Revision) -> Done:
        with self._alone() as state:
            if revision not in (None, state.revision):
                msg = "The gallery has changed meanwhile. Look again at what to undo or redo."
                raise ConflictError(msg)
            words = self.history.travel(command, state.digest, self.transfer)
            return self._done(command, said + words, self.file.refreshed(surely=True))

    def _check_classes(self, state: GalleryState, labels: Iterable[str], old: Revision) -> None:
        """Refuse labels whose class was added or removed since the client looked."""
        if old in (None, state.revision):
            return
        seen = self.file.classes.get(old or "")
        for label in labels:
            if seen is None or (label in seen) != (label in state.classes):
                msg = f"The gallery has changed meanwhile, also {label}. Look at it again."
                raise ConflictError(msg)


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


def _updated(
    state: GalleryState, sets: SetBatch, labels: Sequence[Any], caller: str, instead: int = -1
) -> Gallery:
    """The gallery with more sets, also in place of one of its own."""
    gallery = state.gallery
    new = gallery.check(sets.replaced(labels=None), caller)
    joined = np.concatenate([gallery.classes[:1], np.asarray(labels)])[1:]
    is_kept = None if instead < 0 else np.arange(len(gallery.codes)) != instead
    return update(gallery, add=(new, joined), is_kept=is_kept, caller=caller)


def _enrolled(new: SetBatch, labels: Sequence[Any]) -> str:
    if len(new) == 1:
        n_images = counted(int(new.sizes[0]), "photo")
        return f"Added {new.names[0]} ({n_images}) to {labels[0]}."
    who = sorted(set(map(str, labels)))
    more = f" and {len(who) - 3} more" if len(who) > 3 else ""
    return f"Added {counted(len(new), 'album')} to {', '.join(who[:3])}{more}."
