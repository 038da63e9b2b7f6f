"""The table on which a heap of photos is sorted: groups appear while it is read."""

from __future__ import annotations

import json
import logging
import secrets
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import numpy as np

from setwise._support.files import write_whole
from setwise._support.parallel import quiet
from setwise._support.types import IntArray
from setwise.errors import SetwiseError, SetwiseWarning, reject
from setwise.gallery.journal import PHOTOS
from setwise.page.answers import counted
from setwise.page.commands import ConflictError
from setwise.page.start.corrections import Corrections, Stack, stacks
from setwise.page.start.items import Item, Kind
from setwise.page.start.kinds import kind_of

logger = logging.getLogger("setwise")

FILE = "start.json"
# Groups are computed again when this many seconds, and so many times the last computation, are
# over.
REST_S, REST = 0.5, 4.0
PAUSE_S = 0.05  # between two looks whether questions are answered
MOST_COMPARED, MOST_SKIPPED = 1500, 200
FEWEST = 2  # named people or things, that make a gallery


@dataclass
class Heap:
    """What was read so far, and how it is grouped; replaced when another folder is chosen."""

    kind_name: str
    folder: Path
    kind: Kind
    items: list[Item] = field(default_factory=list)
    labels: IntArray = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    alike: list[tuple[int, int]] = field(default_factory=list)  # items of two stacks
    skipped: list[tuple[str, str]] = field(default_factory=list)
    run: str = field(default_factory=lambda: secrets.token_hex(6))
    done: int = 0
    total: int = 0

    @property
    def keys(self) -> list[str]:
        """The key of each item."""
        return [item.key for item in self.items]

    def stacks(self, said: Corrections) -> tuple[list[Stack], list[int]]:
        """The groups, and the items that are with no other."""
        keys = self.keys
        labels = np.full(len(keys), -1)
        labels[: len(self.labels)] = self.labels[: len(keys)]
        return stacks(keys, labels.tolist(), said)


class Start:
    """Sorts a heap of photos into a gallery; what people said outlives the server."""

    def __init__(
        self,
        gallery: Path,
        home: Path,
        told: Callable[[], None],
        is_busy: Callable[[], bool] = lambda: False,
        check: Callable[[Path], object] = lambda _: None,  # that a folder is open
    ) -> None:
        self.gallery, self.home, self.told, self.is_busy = gallery, home, told, is_busy
        self.check_folder = check
        self.state, self.error = "empty", ""
        self.heap: Heap | None = None
        self.said = Corrections()
        self.changes = 0
        self._before: list[tuple[str, Corrections]] = []
        self._after: list[tuple[str, Corrections]] = []
        self._is_over = False
        self._wants_gallery = False
        self._grouped: tuple[int, Corrections] | None = None
        self._next, self._changed = 0.0, Condition()
        self._thread = Thread(target=self._run, name="setwise-page-start", daemon=True)

    def start(self) -> None:
        """Go on where an earlier server stopped, and wait for people."""
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, SetwiseError):
            said = json.loads((self.home / FILE).read_text(encoding="utf-8"))
            folder, kind = Path(said["folder"]), str(said["kind"])
            self.said = Corrections.of_dict(said)
            self.check_folder(folder)  # which the server before was allowed to read
            if folder.is_dir() and kind_of(kind).missing() is None:
                self.heap, self.state = Heap(kind, folder, kind_of(kind)), "reading"
        self._thread.start()

    def close(self) -> None:
        """Stop with the next photo."""
        self._tell(is_over=True)
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def begin(self, folder: Path, kind: str) -> None:
        """Read a folder; what was said of its photos before still holds."""
        missing = kind_of(kind).missing()
        if missing is not None:
            reject(missing)
        if not kind_of(kind).count(folder):
            reject(f"There is no photo and no clip in {folder}. Choose another folder.")
        self.heap = Heap(kind, folder, kind_of(kind))
        self.state, self.error = "reading", ""
        self._write()
        self._tell()

    def forget(self) -> None:
        """Begin anew: forget the folder, and all that was said."""
        (self.home / FILE).unlink(missing_ok=True)
        self.heap, self.state, self.error = None, "empty", ""
        self.said, self._before, self._after = Corrections(), [], []
        self._tell()

    def check(self, run: str) -> Heap:
        """The heap, if the client looks at this one."""
        if self.heap is None or self.heap.run != run:
            msg = "The photos have been read again meanwhile. Look at the groups once more."
            raise ConflictError(msg)
        return self.heap

    def keys(self, run: str, items: Sequence[int]) -> list[str]:
        """The keys of items that a client named by their numbers."""
        heap = self.check(run)
        if not items or max(items) >= len(heap.items):
            reject("There is no such photo.")
        return [heap.items[i].key for i in dict.fromkeys(items)]

    def correct(self, words: str, said: Corrections) -> None:
        """Take a correction; it shows at once, and all is grouped anew behind it."""
        self._before.append((words, self.said))
        self._after = []
        self._take(said)

    def undo(self) -> str:
        """Take the last correction back; its words."""
        return self._travel("undo", self._before, self._after)

    def redo(self) -> str:
        """Make the correction again that was taken back last; its words."""
        return self._travel("redo", self._after, self._before)

    @property
    def undo_words(self) -> str | None:
        """What :meth:`undo` would take back."""
        return self._before[-1][0] if self._before else None

    @property
    def redo_words(self) -> str | None:
        """What :meth:`redo` would make again."""
        return self._after[-1][0] if self._after else None

    def finish(self) -> None:
        """Make the gallery, in the thread of this table."""
        heap = self.heap
        if heap is None:
            reject("There are no photos yet. Choose a folder first.")
        groups, _ = heap.stacks(self.said)
        if len(groups) < FEWEST:
            reject(
                f"A gallery needs two people or things, and {counted(len(groups), 'group')} "
                f"{'was' if len(groups) == 1 else 'were'} found. Add photos of others."
            )
        self._wants_gallery, self.state, self.error = True, "making", ""
        self._tell()

    def _travel(self, how: str, here: list[Any], there: list[Any]) -> str:
        if not here:
            reject(f"There is nothing to {how}.")
        words, said = here.pop()
        there.append((words, self.said))
        self._take(said)
        return str(words)

    def _take(self, said: Corrections) -> None:
        self.said = said
        self._write()
        self._tell()

    def _write(self) -> None:
        if self.heap is None:
            return
        about = {"folder": str(self.heap.folder), "kind": self.heap.kind_name}
        self.home.mkdir(parents=True, exist_ok=True)
        write_whole(self.home / FILE, json.dumps(about | self.said.to_dict()))

    def _tell(self, *, is_over: bool = False) -> None:
        with self._changed:
            self.changes += 1
            self._is_over = self._is_over or is_over
            self._changed.notify()

    def _run(self) -> None:
        while not self._is_over:
            heap = self.heap
            try:
                if heap is not None and self.state == "reading":
                    self._read(heap)
                elif heap is not None and self._grouped != (len(heap.items), self.said):
                    self._group(heap)
                elif heap is not None and self._wants_gallery:
                    self._make(heap)
                    return
            except SetwiseError as error:
                self._fail(str(error))
            except Exception:
                logger.exception("A heap of photos could not be sorted")
                self._fail("These photos cannot be sorted. The log says why.")
            with self._changed:
                self._changed.wait_for(lambda: self._is_over or self._has_work(), timeout=5.0)

    def _has_work(self) -> bool:
        heap = self.heap
        if heap is None or self.state == "failed":
            return False
        is_new = self._grouped != (len(heap.items), self.said)
        return self.state == "reading" or is_new or self._wants_gallery

    def _fail(self, words: str) -> None:
        self.state, self.error, self._wants_gallery = "failed", words, False
        if self.heap is not None and len(self.heap.labels):
            self.state = "ready"  # what is grouped can still be named
        self._grouped = None if self.heap is None else (len(self.heap.items), self.said)
        self.changes += 1

    def _read(self, heap: Heap) -> None:
        heap.total, known = heap.kind.count(heap.folder), set[str]()
        for items, skipped in heap.kind.items(heap.folder):
            if self._is_over or self.heap is not heap:
                return
            while self.is_busy() and not self._is_over:
                time.sleep(PAUSE_S)
            heap.items += [item for item in items if item.key not in known]
            known |= {item.key for item in items}
            heap.skipped += [(one.path.name, one.reason) for one in skipped][:MOST_SKIPPED]
            heap.done += 1
            self.changes += 1
            if time.monotonic() > self._next:
                self._group(heap)
        self._group(heap)
        if self.heap is heap and self.state == "reading":
            self.state = "making" if self._wants_gallery else "ready"
            self.changes += 1

    def _group(self, heap: Heap) -> None:
        began, said, items = time.monotonic(), self.said, list(heap.items)
        keys = [item.key for item in items]
        settled = np.array([said.groups.get(key, -1) for key in keys], dtype=np.int64)
        place = {key: i for i, key in enumerate(keys)}
        first = {number: i for i, number in reversed(list(enumerate(settled.tolist())))}
        apart = [
            (place[key], first[number])
            for key, number in said.apart
            if key in place and number in first
        ]
        labels = heap.kind.groups(items, settled, apart) if items else settled
        heap.labels = np.asarray(labels)
        heap.alike = self._alike(heap, items, said)
        self._grouped = len(items), said
        self._next = time.monotonic() + max(REST_S, REST * (time.monotonic() - began))
        self.changes += 1

    def _alike(self, heap: Heap, items: list[Item], said: Corrections) -> list[tuple[int, int]]:
        """Pairs of items whose stacks may be one; people are asked about these."""
        labels = heap.labels.tolist()
        groups, unsure = stacks([item.key for item in items], labels, said)
        every = [*groups, *(Stack((i,)) for i in unsure)][:MOST_COMPARED]
        pairs = heap.kind.alike(items, [one.items for one in every])
        apart, found = set(said.apart), []
        for a, b in pairs:
            if (every[a].is_settled and every[b].is_settled) or len(every[a].items) < FEWEST:
                continue  # people have said so; two single ones say little
            first, second = every[a].items[0], every[b].items[0]
            one, other = items[first].key, items[second].key
            told = {(one, said.groups.get(other)), (other, said.groups.get(one))}
            if apart.isdisjoint(told):
                found.append((first, second))
        return found

    def _make(self, heap: Heap) -> None:
        if self.gallery.exists():
            reject(f"{self.gallery.name} is there already. Open it, or name another file.")
        groups, _ = heap.stacks(self.said)
        who: list[str | None] = [None] * len(heap.items)
        free = heap.kind.free_names([one.name for one in groups if one.name])
        for one in groups:
            name = one.name or next(free)
            for i in one.items:
                who[i] = name
        with quiet("", SetwiseWarning):
            gallery = heap.kind.gallery(heap.items, who)
        gallery.save(self.gallery)
        write_whole(self.home / PHOTOS, json.dumps([str(heap.folder)]))
        (self.home / FILE).unlink(missing_ok=True)
        self.state, self._wants_gallery = "made", False
        self.told()
        self.changes += 1
