"""The inbox: a folder of sets, judged in the background and decided on by people."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import numpy as np

from setwise._support.files import write_whole
from setwise._support.parallel import quiet
from setwise._support.text import spreadsheet
from setwise.classify import Answer
from setwise.classify.answer import kind_of
from setwise.errors import SetwiseError, SkippedFilesWarning, reject
from setwise.io import LoadedSets, load_sets
from setwise.page import payload
from setwise.page.answers import answer_fields
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile, content_digest, distinct_ids
from setwise.page.identify import loading_options, look
from setwise.page.jobs import StoppedError
from setwise.plots.answer_picture import choose

logger = logging.getLogger("setwise")

COLUMNS = (
    "set", "decided", "label", "most_like", "probability", "runner_up", "is_known", "n_images",
    "state", "words",
)  # fmt: skip
MOST_PHOTOS, MOST_CANDIDATES, MOST_LEFT_OUT = 8, 9, 200  # 9 keys have a digit
NO_ANSWER: dict[str, Any] = dict.fromkeys(
    ("label", "most_like", "probability", "runner_up", "is_known", "confidence")
)


@dataclass
class _Row:
    """A set of the inbox, its answer and its decision."""

    id: str
    i: int
    content: str
    answer: Answer | None = None
    judged_by: str = ""
    error: str = ""
    decided: str | None = None


class Inbox:
    """The sets of a folder, judged again whenever the gallery changes."""

    def __init__(self, folder: Path, file: GalleryFile, commands: Commands) -> None:
        self.folder, self.file, self.commands = folder, file, commands
        self._file_of_decisions = commands.history.folder / "inbox.json"
        self._decisions = _read_decisions(self._file_of_decisions)
        self.state = "reading"
        self.error: str | None = None
        self.done = self.total = self.changes = 0
        self._began = time.monotonic()
        self._sets: LoadedSets | None = None
        self._rows: dict[str, _Row] = {}
        self._is_over = False
        self._changed = Condition()
        self._thread = Thread(target=self._run, name="setwise-page-inbox", daemon=True)

    def start(self) -> None:
        """Start to read."""
        self._thread.start()

    def close(self) -> None:
        """Stop after the current set."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    def news(self) -> dict[str, Any]:
        """Progress, for streams of events."""
        return {name: getattr(self, name) for name in ("state", "done", "total", "changes")}

    def as_payload(self) -> payload.Inbox:
        """All rows as JSON."""
        skipped = () if self._sets is None else self._sets.report.skipped[:MOST_LEFT_OUT]
        named = [(_below(one.path, self.folder), one.reason) for one in skipped]
        moved = self._moved()
        return payload.Inbox(
            **self.news(),
            revision=self.file.state.revision,
            error=self.error,
            estimate_s=self._estimate(),
            left_out=[payload.LeftOut(name=name, reason=reason) for name, reason in named],
            rows=[self._row_payload(row, moved) for row in self._rows.values()],
        )

    def photo_place(self, row_id: str) -> tuple[LoadedSets, int]:
        """All sets, and the index of a row among them."""
        return self._loaded, self._row(row_id).i

    def as_csv(self) -> str:
        """All rows as a table, safe for spreadsheets."""
        rows = [dict(row) for row in self.as_payload().rows]
        for row in rows:
            second = row["runner_up"]
            row |= {"set": row["name"], "runner_up": second and second.label}
        return spreadsheet(COLUMNS, rows)

    def _row(self, row_id: str) -> _Row:
        if row_id not in self._rows:
            reject("There is no such album in the inbox.")
        return self._rows[row_id]

    @property
    def _loaded(self) -> LoadedSets:
        if self._sets is None:
            reject("The inbox is still being read.")
        return self._sets

    def _moved(self) -> frozenset[str]:
        return frozenset() if self.commands.transfer is None else self.commands.history.moved

    def _row_payload(self, row: _Row, moved: frozenset[str]) -> payload.InboxRow:
        sets, answer = self._loaded, row.answer
        shown = choose(np.zeros(int(sets.sizes[row.i]), dtype=np.bool_), MOST_PHOTOS)
        fields = NO_ANSWER | {"words": row.error, "candidates": []}
        if answer is not None:
            fields = answer_fields(answer, MOST_CANDIDATES)
        return payload.InboxRow(
            **fields,
            id=row.id,
            name=sets.names[row.i],
            n_images=int(sets.sizes[row.i]),
            state=self._state_of(row, moved),  # type: ignore[arg-type]
            uncertainty=_uncertainty(answer),
            decided=row.decided,
            photos=[f"/api/inbox/{row.id}/photos/{j}" for j in shown],
        )

    def _state_of(self, row: _Row, moved: frozenset[str]) -> str:
        if row.content in self.file.state.contents:
            return "enrolled"
        if self._is_moved(row, moved):
            return "transferred"
        if row.error:
            return "failed"
        return "waiting" if row.answer is None else "done"

    def _is_moved(self, row: _Row, moved: frozenset[str]) -> bool:
        transfer = self.commands.transfer if moved else None
        return transfer is not None and transfer.source(self._files(row)[0]) in moved

    def _files(self, row: _Row) -> list[Path]:
        """The files of a set, each once."""
        first, end = self._loaded.offsets[row.i : row.i + 2].tolist()
        return list(dict.fromkeys(self._loaded.report.files[first:end]))

    def _estimate(self) -> float | None:
        if self.state in ("ready", "failed"):
            return 0.0
        if self.state != "looking" or not self.done:
            return None
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    def decide(self, row_id: str, label: str | None) -> payload.InboxRow:
        """Set the class of a set, or take that back."""
        row = self._row(row_id)
        decided = None if label is None else str(self.file.state.typed(label))
        with self._changed:
            labels = {one: old for one, old in self._decisions.items() if one != row.content}
            labels |= {row.content: decided} if decided is not None else {}
            text = json.dumps(labels, indent=0, ensure_ascii=False)
            write_whole(self._file_of_decisions, text)
            self._decisions, row.decided = labels, decided
        self._tell()
        return self._row_payload(row, self._moved())

    def enroll(self, ids: Sequence[str], revision: str | None) -> payload.Done:
        """Add sets to the classes that were decided on, with one command."""
        rows = [self._row(row_id) for row_id in dict.fromkeys(ids)]
        rows = [row for row in rows if row.content not in self.file.state.contents]
        if not rows:
            reject("All of these albums are in the gallery already.")
        sets = self._loaded.take([row.i for row in rows])
        done = self.commands.enroll(sets, [self._decided(row) for row in rows], revision)
        self._tell()
        return done

    def transfer(self, how: str, ids: Sequence[str] | None) -> payload.Transferred:
        """Copy or move the files of sets to the folders of the classes decided on."""
        transfer, moved = self.commands.transfer, self._moved()
        if transfer is None:
            reject("Files stay where they are: the server was started without --into.")
        rows = [row for row in self._rows.values() if row.decided is not None]
        if ids is not None:
            rows = [self._row(row_id) for row_id in dict.fromkeys(ids)]
        rows = [row for row in rows if not self._is_moved(row, moved)]
        if not rows:
            reject("There is nothing to copy or move: decide first whose the albums are.")
        names = self._loaded.names
        wanted = [(self._decided(row), names[row.i], self._files(row)) for row in rows]
        moves = transfer.plan(how, wanted)
        done = self.commands.transfer_files(transfer.words(moves, len(rows)), moves, transfer)
        self._tell()
        return payload.Transferred(**done.model_dump(), n_files=len(moves["files"]))

    def _decided(self, row: _Row) -> str:
        if row.decided is None:
            reject(f"{self._loaded.names[row.i]}: decide first whose album it is.")
        return row.decided

    def _tell(self) -> None:
        with self._changed:
            self.changes += 1
            self._changed.notify()

    def _run(self) -> None:
        try:
            self._read()
        except SetwiseError as error:
            self.state, self.error = "failed", str(error)
        except StoppedError:
            return
        except Exception:
            logger.exception("The inbox could not be read")
            self.state, self.error = "failed", "The inbox cannot be read. The log says why."
        while not self._is_over:
            row = self._next()
            if row is not None:
                self._judge(row)
                continue
            if self.state == "looking":
                self.state = "ready"
            with self._changed:
                if not self._is_over:
                    self._changed.wait(timeout=0.5)

    def _read(self) -> None:
        def told(what: str, done: int, total: int) -> None:
            if self._is_over:
                raise StoppedError
            self.done, self.total = done, total

        options = loading_options(self.file.state.gallery)
        with quiet("", SkippedFilesWarning):
            sets = load_sets(self.folder, progress=told, **options)
        contents = list(map(content_digest, sets))
        ids = distinct_ids(zip(sets.names, contents, strict=True))
        rows = {
            row_id: _Row(row_id, i, content, decided=self._decisions.get(content))
            for i, (row_id, content) in enumerate(zip(ids, contents, strict=True))
        }
        self._sets, self._rows = sets, rows  # in this order: rows need sets
        self.done, self.total, self._began = 0, len(sets), time.monotonic()
        self.state = "looking"

    def _next(self) -> _Row | None:
        """A set not yet judged by the gallery as it is now, new ones first."""
        rows, digest = self._rows.values(), self.file.state.digest
        old = [row for row in rows if row.judged_by != digest]
        old = [row for row in old if row.decided is None or not row.judged_by]
        if old and self.state == "ready":
            self.state, self._began = "looking", time.monotonic()
        self.done = self.total - len(old) if self._rows else self.done
        return min(old, key=lambda row: (row.answer is not None, row.i), default=None)

    def _judge(self, row: _Row) -> None:
        state = self.file.state
        try:
            one = state.gallery.check(self._loaded[[row.i]], "inbox")
            row.answer, _ = look(state, one.names[0], one[0], explains=False)
            row.error = ""
        except SetwiseError as error:
            row.answer, row.error = None, str(error)
        row.judged_by = state.digest
        self.changes += 1


def _read_decisions(file: Path) -> dict[str, str]:
    """Decisions by content of the set."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {str(content): str(label) for content, label in found.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError, RecursionError) as error:
        words = f"{file}: the decisions about the inbox cannot be read ({error}). Move that"
        reject(f"{words} file away to begin anew. The gallery itself is intact.", error)


def _uncertainty(answer: Answer | None) -> float:
    """From 0 to 1: the less the gallery knows, the more a decision helps."""
    if answer is None:
        return 0.0
    is_stranger = kind_of(answer) in ("guess", "unknown")
    return 1.0 - 0.05 * answer.margin if is_stranger else 0.95 * (1.0 - answer.margin)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
