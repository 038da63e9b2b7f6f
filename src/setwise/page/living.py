"""The one reference to the classifier: as the file is now, whoever has changed it."""

from __future__ import annotations

import hashlib
import os
from collections import OrderedDict
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np

from setwise._support.lazy import lazy
from setwise.classify import CVC, Gallery, load
from setwise.errors import SetwiseError

__all__ = ["Living", "State", "content_digest", "file_digest"]

# Earlier states whose class names are remembered, to tell whether an act still means the same.
MOST_REMEMBERED = 200


@dataclass(frozen=True)
class State:
    """The gallery as one content of the file has it.

    Attributes
    ----------
    classifier : CVC
        What judges.
    digest : str
        SHA-256 of the file.
    """

    classifier: CVC
    digest: str

    @property
    def gallery(self) -> Gallery:
        """The solved gallery."""
        return self.classifier.gallery_

    @property
    def revision(self) -> str:
        """Changes whenever the gallery does, and is the old one again after an undo."""
        return self.digest[:16]

    @lazy
    def labels(self) -> tuple[str, ...]:
        """Class of each set."""
        return tuple(str(self.gallery.classes[code]) for code in self.gallery.codes)

    @lazy
    def classes(self) -> tuple[str, ...]:
        """All classes, sorted."""
        return tuple(map(str, self.gallery.classes))

    @lazy
    def set_ids(self) -> tuple[str, ...]:
        """A name for each set that no other content ever has: of its class, name, vectors."""
        sets, ids, n_alike = self.gallery.sets, [], dict[str, int]()
        for i, label in enumerate(self.labels):
            content = self._contents[i] if self.gallery.has_vectors else str(sets.sizes[i])
            about = f"{label}\0{sets.names[i]}\0{content}"
            plain = hashlib.sha256(about.encode()).hexdigest()[:20]
            n_alike[plain] = n_alike.get(plain, 0) + 1
            ids.append(plain if n_alike[plain] == 1 else f"{plain}-{n_alike[plain]}")
        return tuple(ids)

    @lazy
    def _contents(self) -> list[str]:
        if not self.gallery.has_vectors:
            return []
        return [content_digest(vectors) for vectors in self.gallery.sets]

    @lazy
    def contents(self) -> frozenset[str]:
        """What the sets hold, by which one finds out whether a set is in the gallery."""
        return frozenset(self._contents)

    @lazy
    def places(self) -> dict[str, int]:
        """Where in the gallery the set of each id is."""
        return {set_id: i for i, set_id in enumerate(self.set_ids)}


def content_digest(vectors: Any) -> str:
    """The same for equal vectors, whatever number type they are kept in."""
    plain = np.ascontiguousarray(vectors, dtype=np.float32)
    return hashlib.sha256(plain.tobytes()).hexdigest()


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Living:
    """A gallery file that others may change at any time.

    Parameters
    ----------
    path : Path
        The file.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.trouble: str | None = None
        self._lock = Lock()
        self._seen = _signature(path)
        self._classes: OrderedDict[str, frozenset[str]] = OrderedDict()
        self.state = self._remember(_read(path, file_digest(path)))

    def refreshed(self, *, surely: bool = False) -> State:
        """The state of the file now; read again only where it has changed.

        Where it cannot be read, the last one that could, and ``trouble`` says why.

        Parameters
        ----------
        surely : bool
            Compare the content itself, as those do who hold the lock of the file.
        """
        with self._lock:
            try:
                signature = _signature(self.path)
                if signature == self._seen and not surely:
                    return self.state
                digest = file_digest(self.path)
                if digest != self.state.digest:
                    self.state = self._remember(_read(self.path, digest))
                self._seen, self.trouble = signature, None
            except (OSError, SetwiseError) as error:
                self.trouble = " ".join(str(error).split())
            return self.state

    def classes_at(self, revision: str) -> frozenset[str] | None:
        """The classes that a client saw; None where that is too long ago."""
        return self._classes.get(revision)

    def why_unchangeable(self) -> str | None:
        """Why nothing can be enrolled or forgotten; None where it can."""
        if self.trouble is not None:
            return f"The gallery file cannot be read now: {self.trouble}"
        if not self.state.gallery.has_vectors:
            return "The gallery was saved without its photos, so it cannot be changed."
        if not os.access(self.path.parent, os.W_OK):
            return "The folder of the gallery cannot be written to."
        return None

    def _remember(self, state: State) -> State:
        self._classes[state.revision] = frozenset(state.classes)
        while len(self._classes) > MOST_REMEMBERED:
            self._classes.popitem(last=False)
        return state


def _signature(path: Path) -> tuple[int, int, int]:
    """What of a file changes whenever it is replaced."""
    found = path.stat()
    return found.st_ino, found.st_size, found.st_mtime_ns


def _read(path: Path, digest: str) -> State:
    """The state of a file, which may be replaced meanwhile."""
    while True:
        classifier, after = load(path), file_digest(path)
        if after == digest:
            return State(classifier, digest)
        digest = after
