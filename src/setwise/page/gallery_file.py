"""The gallery file that is served, read again whenever any process changes it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify import CVC, Gallery, load
from setwise.errors import SetwiseError, reject
from setwise.features.vectors import unit_rows
from setwise.features.views import Images
from setwise.gallery.journal import file_digest
from setwise.gallery.whole import WholeSolution
from setwise.sets.labels import typed_label

CHUNK = 512  # photos of the gallery that are compared at once
MOST_REMEMBERED = 200  # revisions with their classes, which say what a command meant


@dataclass(frozen=True)
class GalleryState:
    """The classifier of one content of the file, and the SHA-256 of that content."""

    classifier: CVC
    digest: str
    learnt: dict[str, float] = field(default_factory=dict, compare=False)

    @property
    def farthest(self) -> float:
        """Nearness of the farthest of the gallery's own albums; infinite until it is known."""
        return self.learnt.get("farthest", np.inf)

    @property
    def gallery(self) -> Gallery:
        """The solved gallery."""
        return self.classifier.gallery_

    @property
    def revision(self) -> str:
        """Short name of this content; an undo brings an earlier one back."""
        return self.digest[:16]

    def typed(self, label: str) -> Any:
        """A name that a client typed as a label of the gallery, or as a new one."""
        classifier = self.classifier
        is_open = self.gallery.calibration.threshold is not None
        reserved = str(classifier.unknown_label) if is_open else None
        return typed_label(label, classifier.classes_, reserved)

    @lazy
    def labels(self) -> tuple[str, ...]:
        """Class of each set."""
        return tuple(self.classes[code] for code in self.gallery.codes)

    @lazy
    def classes(self) -> tuple[str, ...]:
        """All classes, sorted."""
        return tuple(map(str, self.gallery.classes))

    @lazy
    def sets_of_class(self) -> list[np.ndarray[Any, Any]]:
        """Indices of the sets of each class, found in one pass over all sets."""
        codes = self.gallery.codes
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes, minlength=self.gallery.n_classes))
        return np.split(order, ends[:-1])

    @lazy
    def class_ids(self) -> tuple[str, ...]:
        """An id for each class, made of its name."""
        return distinct_ids((one,) for one in self.classes)

    @lazy
    def set_ids(self) -> tuple[str, ...]:
        """An id for each set, made of its class, name and vectors."""
        sets = self.gallery.sets
        contents = self.contents_of_sets or map(str, sets.sizes)
        return distinct_ids(zip(self.labels, sets.names, contents, strict=True))

    @lazy
    def contents_of_sets(self) -> list[str]:
        """Digest of each set; none if the gallery was saved without its vectors."""
        return list(map(content_digest, self.gallery.sets if self.gallery.has_vectors else ()))

    @lazy
    def contents(self) -> frozenset[str]:
        """Digests of all sets, to find out whether a set is in the gallery."""
        return frozenset(self.contents_of_sets)

    @lazy
    def _look(self) -> tuple[Any, Images | None]:
        """The feature of single photos that says most here, and the photos that have it.

        None twice for plain vectors, which are compared as they are.
        """
        solution = self.gallery.solution
        inliers = solution.inliers if isinstance(solution, WholeSolution) else None
        if inliers is not None:
            for name in self.classifier.view_weights_:
                view = self.gallery.views.get(name)
                if view is not None and view.feature is not None and view.rest is None:
                    kept = Images(self.gallery.sets.vectors, self.gallery.sets.image_shape,
                                  inliers.images.tables)  # fmt: skip
                    return view.feature, kept
        return None, None

    def unit_rows(self, rows: IntArray) -> FloatArray:
        """Photos of the gallery, by row, as unit vectors that are compared."""
        feature, images = self._look
        if images is None:
            return unit_rows(np.asarray(self.gallery.sets.vectors[rows], dtype=np.float64))
        return unit_rows(images.where(rows).seen_by(feature))

    def unit_blocks(self) -> Iterator[tuple[int, FloatArray]]:
        """All photos of the gallery as unit vectors, some at a time, and the first row."""
        n_rows = len(self.gallery.sets.vectors)
        for first in range(0, n_rows, CHUNK):
            yield first, self.unit_rows(np.arange(first, min(first + CHUNK, n_rows)))

    def units(self, vectors: FloatArray) -> FloatArray:
        """Photos from elsewhere as unit vectors that are compared."""
        feature, images = self._look
        values = np.asarray(vectors, dtype=np.float64)
        if images is not None:
            values = Images(values, images.shape).seen_by(feature)
        return unit_rows(values)

    def rivals(
        self, units: FloatArray, code: int, hidden: Callable[[slice], BoolArray] | None = None
    ) -> tuple[FloatArray, FloatArray, IntArray]:
        """Cosines of photos with the nearest of a class and with the nearest of all others.

        Also the class of the latter. ``hidden`` tells which photos of the class, between two
        rows, are not to be compared with which.
        """
        codes = np.repeat(self.gallery.codes, self.gallery.sets.sizes)
        own, other = np.full((2, len(units)), -1.0)
        who = np.zeros(len(units), dtype=np.int64)
        for start, block in self.unit_blocks():
            part = slice(start, start + len(block))
            cosines = units @ block.T
            is_own = codes[part] == code
            shown = is_own if hidden is None else is_own & ~hidden(part)
            own = np.maximum(own, np.where(shown, cosines, -1.0).max(axis=1, initial=-1.0))
            theirs = np.where(is_own, -1.0, cosines)
            place = theirs.argmax(axis=1)
            best = theirs[np.arange(len(units)), place]
            who = np.where(best > other, codes[part][place], who)
            other = np.maximum(other, best)
        return own, other, who

    def nearest(self, vectors: FloatArray) -> tuple[IntArray, FloatArray]:
        """Row of the most similar photo of the whole gallery for each, and its distance."""
        units = self.units(vectors)
        rows = np.zeros(len(units), dtype=np.int64)
        best = np.full(len(units), -np.inf)
        for first, block in self.unit_blocks():
            cosines = units @ block.T
            near = cosines.argmax(axis=1)
            largest = cosines[np.arange(len(units)), near]
            rows = np.where(largest > best, near + first, rows)
            best = np.maximum(largest, best)
        return rows, np.sqrt(np.maximum(2.0 - 2.0 * best, 0.0))

    @lazy
    def places(self) -> dict[str, int]:
        """Index of each set by its id."""
        return {set_id: i for i, set_id in enumerate(self.set_ids)}


def distinct_ids(parts: Any) -> tuple[str, ...]:
    """One id per tuple of strings; equal tuples are numbered."""
    ids, n_alike = [], dict[str, int]()
    for strings in parts:
        plain = hashlib.sha256("\0".join(strings).encode()).hexdigest()[:20]
        n_alike[plain] = n_alike.get(plain, 0) + 1
        ids.append(plain if n_alike[plain] == 1 else f"{plain}-{n_alike[plain]}")
    return tuple(ids)


def content_digest(vectors: Any) -> str:
    """Digest of vectors, equal for equal numbers of any type."""
    plain = np.ascontiguousarray(vectors, dtype=np.float32)
    return hashlib.sha256(plain.tobytes()).hexdigest()


class GalleryFile:
    """A gallery file that other processes may replace at any time."""

    def __init__(self, path: Path, *, is_read_only: bool = False) -> None:
        self.path, self.is_read_only = path, is_read_only
        self.trouble: str | None = None  # why the file cannot be read now
        self._lock = Lock()
        self._seen = signature(path)
        self.classes: dict[str, frozenset[str]] = {}  # of revisions, the oldest first
        self.state = self._remember(_read(path, file_digest(path)))

    def refreshed(self, *, surely: bool = False) -> GalleryState:
        """The last readable state; ``surely`` compares contents, not only size and time."""
        with self._lock:
            try:
                seen = signature(self.path)
                if seen == self._seen and not surely:
                    return self.state
                digest = file_digest(self.path)
                if digest != self.state.digest:
                    self.state = self._remember(_read(self.path, digest))
                self._seen, self.trouble = seen, None
            except (OSError, SetwiseError) as error:
                self.trouble = " ".join(str(error).split())
            return self.state

    def replaced(self, classifier: CVC, digest: str) -> GalleryState:
        """The state of a file that was just written, which need not be read again."""
        with self._lock:
            self._seen, self.trouble = signature(self.path), None
            self.state = self._remember(GalleryState(classifier, digest))
            return self.state

    def why_unchangeable(self) -> str | None:
        """Why the gallery cannot be changed; None if it can."""
        if self.trouble is not None:
            return f"The gallery file cannot be read now: {self.trouble}"
        if self.is_read_only:
            return "This server was started with --read-only."
        if not self.state.gallery.has_vectors:
            return "The gallery was saved without its photos, so it cannot be changed."
        if not os.access(self.path.parent, os.W_OK):
            return "The folder of the gallery cannot be written to."
        return None

    def _remember(self, state: GalleryState) -> GalleryState:
        self.classes[state.revision] = frozenset(state.classes)
        while len(self.classes) > MOST_REMEMBERED:
            del self.classes[next(iter(self.classes))]
        return state


def signature(path: Path) -> tuple[int, int, int]:
    """Inode, size and time of a file: they change when it is replaced."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: Path, digest: str) -> GalleryState:
    """The state of a file, read again if it is replaced meanwhile."""
    while True:
        classifier, after = load(path), file_digest(path)
        if after == digest:
            _check_names(path, classifier.gallery_)
            return GalleryState(classifier, digest)
        digest = after


def _check_names(path: Path, gallery: Gallery) -> None:
    """Refuse names that no response can hold."""
    sets = gallery.sets
    files = () if sets.origins is None else sets.origins.files
    for name in (*map(str, gallery.classes), *sets.names, *files):
        try:
            name.encode()
        except UnicodeEncodeError as error:
            told = f"{path.name} holds the name {name!r}, which is no text"
            reject(f"{told}, so it cannot be shown here. Rename it, and fit again.", error)
