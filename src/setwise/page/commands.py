"""Commands that change a gallery: one lock, one history, one state before and one after."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Any, TypeAlias

import numpy as np

from setwise._support.files import held
from setwise._support.parallel import quiet
from setwise._support.text import free_names
from setwise.classify import CVC, Gallery, update
from setwise.errors import DataError, SetwiseWarning, reject
from setwise.page.answers import counted
from setwise.page.gallery_file import GalleryFile, GalleryState
from setwise.page.history import Command, History, Transfer
from setwise.page.payload import Done
from setwise.page.transfer import FileTransfer
from setwise.sets import SetBatch

PATIENCE_S = 60.0  # for another process that changes the file
FEWEST = 2  # classes of a gallery
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

    def enroll(
        self, sets: SetBatch, labels: Sequence[str], revision: Revision = None, key: str = ""
    ) -> Done:
        """Add sets, each to the class of its label, which may be new."""
        with self._changing() as state:
            self._check_classes(state, labels, revision)
            typed = [state.typed(label) for label in labels]
            names = free_names(sets.names, state.gallery.sets.names)
            new = sets.replaced(names=names)
            gallery = _updated(state, new, typed, "enroll")
            return self._commit("enroll", _enrolled(new, typed), state, gallery, key)

    def forget(self, set_id: str, key: str = "") -> Done:
        """Remove a set from the gallery."""
        with self._changing() as state:
            i = _place(state, set_id)
            label = state.labels[i]
            if state.labels.count(label) == 1 and len(state.classes) <= FEWEST:
                reject(f"{label} cannot go: a gallery needs two people or things.")
            words = f"Removed {state.gallery.sets.names[i]} from {label}."
            is_kept = np.arange(len(state.labels)) != i
            gallery = update(state.gallery, is_kept=is_kept, learn="later", caller="forget")
            return self._commit("forget", words, state, gallery, key)

    def remove_photos(self, set_id: str, images: Sequence[int], key: str = "") -> Done:
        """Remove photos from a set."""
        with self._changing() as state:
            one = state.gallery.sets[[_place(state, set_id)]]
            without_rows(one, images)  # some must be left
            n_out, label = len(set(images)), state.labels[_place(state, set_id)]
            words = f"Removed {counted(n_out, 'photo')} from {one.names[0]}, of {label}."
            gallery = _regrouped(state, {set_id: images}, None)
            return self._commit("remove_photos", words, state, gallery, key)

    def move_photos(
        self, photos: Mapping[str, Sequence[int]], label: str | None, key: str = ""
    ) -> Done:
        """Give photos of any sets to another class, as sets of it; or take them out."""
        with self._changing() as state:
            typed = None if label is None else state.typed(label)
            gallery = _regrouped(state, photos, typed)
            n_photos = counted(sum(len(set(images)) for images in photos.values()), "photo")
            words = f"Removed {n_photos}." if typed is None else f"Moved {n_photos} to {typed}."
            return self._commit("move_photos", words, state, gallery, key)

    def move(self, set_id: str, label: str, key: str = "") -> Done:
        """Move a set to another class, which may be new."""
        with self._changing() as state:
            i = _place(state, set_id)
            typed = state.typed(label)
            if str(typed) == state.labels[i]:
                reject(f"The album is of {state.labels[i]} already.")
            name = state.gallery.sets.names[i]
            words = f"Moved {name} from {state.labels[i]} to {typed}."
            return self._commit("move", words, state, _relabelled(state, [i], typed), key)

    def rename(self, label: str, to: str, revision: Revision = None, key: str = "") -> Done:
        """Give a class another name; the name of another class makes them one."""
        with self._changing() as state:
            self._check_classes(state, [label, to], revision)
            places = [i for i, one in enumerate(state.labels) if one == label]
            if not places:
                msg = f"There is no {label} in the gallery any more."
                raise ConflictError(msg)
            typed = state.typed(to)
            if str(typed) == label:
                reject(f"That is the name of {label} already.")
            is_merge = str(typed) in state.classes
            if is_merge and len(state.classes) <= FEWEST:
                reject(f"{label} and {typed} are all: a gallery needs two people or things.")
            words = f"{label} and {typed} are one." if is_merge else f"{label} is {typed} now."
            gallery = _relabelled(state, places, typed)
            return self._commit("merge" if is_merge else "rename", words, state, gallery, key)

    def learn(self, state: GalleryState, gallery: Gallery) -> bool:
        """Put what was learnt from a state in its place, if the file is still in it."""
        with self._alone() as now:
            if now.digest != state.digest:
                return False
            changed = _with(state, gallery)
            digest = self.history.learn(state.digest, changed.save)
            if digest is None:
                return False
            self._done("learn", "", self.file.replaced(changed, digest))
            return True

    def undo(self, revision: Revision = None) -> Done:
        """Take the last command back."""
        return self._travel("undo", "Undone: ", revision)

    def redo(self, revision: Revision = None) -> Done:
        """Do the command again that was undone last."""
        return self._travel("redo", "Redone: ", revision)

    def transfer_files(
        self, words: str, moves: dict[str, Any], transfer: Transfer, key: str = ""
    ) -> Done:
        """Copy or move files, with a way back."""
        with self._alone() as state:
            self.history.transfer(words, state.digest, moves, transfer, key)
            return self._done("transfer", words, state)

    def done_by(self, key: str) -> Done | None:
        """What was done under a key that a client has given."""
        entry = self.history.done_by(key)
        if entry is None:
            return None
        return Done(revision=self.file.state.revision, words=entry.words)

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

    def _commit(
        self, command: str, words: str, state: GalleryState, gallery: Gallery, key: str
    ) -> Done:
        changed = _with(state, gallery)
        digest = self.history.commit(command, words, state.digest, changed.save, key)
        return self._done(command, words, self.file.replaced(changed, digest))

    def _done(self, command: str, words: str, state: GalleryState) -> Done:
        self.told(command, words, state.revision)
        return Done(revision=state.revision, words=words)

    def _travel(self, command: Command, said: str, revision: Revision) -> Done:
        with self._alone() as state:
            seen = {one[: len(state.revision)] for one in self.history.same(state.digest)}
            if revision is not None and revision not in seen:
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
    _check_images(n_images, images)
    rows = np.setdiff1d(np.arange(n_images), np.asarray(images, dtype=np.int64))
    if not len(rows):
        reject("No photo would be left. Remove the whole album instead.")
    return one.replaced(
        vectors=one.vectors[rows],
        offsets=np.array([0, len(rows)]),
        origins=None if one.origins is None else one.origins.take(rows),
    )


def _check_images(n_images: int, images: Sequence[int]) -> None:
    if any(not 0 <= image < n_images for image in images):
        reject(f"There is no such photo: the album has {n_images}, counted from 0.")


def _place(state: GalleryState, set_id: str) -> int:
    if set_id not in state.places:
        msg = "That album has changed or is gone meanwhile. Look at the gallery again."
        raise ConflictError(msg)
    return state.places[set_id]


def _with(state: GalleryState, gallery: Gallery) -> CVC:
    """The classifier of a state with another gallery."""
    changed = copy.copy(state.classifier)
    changed.gallery_ = gallery
    return changed


def _updated(
    state: GalleryState,
    sets: SetBatch,
    labels: Sequence[Any],
    caller: str,
    instead: Sequence[int] = (),
) -> Gallery:
    """The gallery with more sets, also in place of some of its own; all is learnt later."""
    gallery = state.gallery
    new = gallery.check(sets.replaced(labels=None), caller)
    joined = np.concatenate([gallery.classes[:1], np.asarray(labels)])[1:]
    stays = ~np.isin(np.arange(len(gallery.codes)), instead)
    return update(gallery, add=(new, joined), is_kept=stays, learn="later", caller=caller)


def _regrouped(state: GalleryState, photos: Mapping[str, Sequence[int]], label: Any) -> Gallery:
    """The gallery with some photos in sets of another class; without them if that is None."""
    gallery, made, labels = state.gallery, list[SetBatch](), list[Any]()
    places = [_place(state, set_id) for set_id in photos]
    for i, images in zip(places, photos.values(), strict=True):
        one, own = gallery.sets[[i]], gallery.classes[gallery.codes[i]]
        _check_images(int(one.sizes[0]), images)
        rest = np.setdiff1d(np.arange(one.sizes[0]), images).tolist()
        if rest:
            made.append(without_rows(one, images))
            labels.append(own)
        if label is not None:
            made.append(without_rows(one, rest) if rest else one)
            labels.append(label)
    stays = ~np.isin(np.arange(len(gallery.codes)), places)
    left = {str(one) for one in labels} | {state.labels[i] for i in np.flatnonzero(stays)}
    if len(left) < FEWEST:
        reject("A gallery needs two people or things, and fewer would be left.")
    if not made:
        return update(gallery, is_kept=stays, learn="later", caller="change")
    taken = [name for name, kept in zip(gallery.sets.names, stays, strict=True) if kept]
    joined = SetBatch.join(made)
    joined = joined.replaced(names=free_names(joined.names, taken))
    return _updated(state, joined, labels, "change", places)


def _relabelled(state: GalleryState, places: Sequence[int], label: Any) -> Gallery:
    """The gallery with another class for some sets."""
    sets = state.gallery.sets[list(places)]
    return _updated(state, sets, [label] * len(places), "change", places)


def _enrolled(new: SetBatch, labels: Sequence[Any]) -> str:
    if len(new) == 1:
        n_images = counted(int(new.sizes[0]), "photo")
        return f"Added {new.names[0]} ({n_images}) to {labels[0]}."
    who = sorted(set(map(str, labels)))
    more = f" and {len(who) - 3} more" if len(who) > 3 else ""
    return f"Added {counted(len(new), 'album')} to {', '.join(who[:3])}{more}."
