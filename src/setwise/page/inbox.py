"""The inbox: a folder of sets, judged in the background and decided on by people."""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import numpy as np

from setwise._support.parallel import quiet
from setwise._support.text import spreadsheet
from setwise.classify import Answer
from setwise.classify.answer import kind_of
from setwise.errors import SetwiseError, SkippedFilesWarning, reject
from setwise.io import LoadedSets, LoadReport, load_sets
from setwise.page import payload
from setwise.page.answers import answer_fields
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile, content_digest, distinct_ids
from setwise.page.identify import loading_options, look
from setwise.page.inbox_rows import Decision, Decisions, Row
from setwise.page.jobs import StoppedError
from setwise.page.parts import parts_of
from setwise.page.watch import Watch
from setwise.plots.answer_picture import choose
from setwise.sets import SetBatch

logger = logging.getLogger("setwise")

COLUMNS = (
    "set", "decided", "label", "most_like", "probability", "runner_up", "is_known", "n_images",
    "state", "words",
)  # fmt: skip
MOST_PHOTOS, MOST_CANDIDATES, MOST_LEFT_OUT = 8, 9, 200  # 9 keys have a digit
PAUSE_S = 0.05  # between two looks whether questions are answered
NO_ANSWER: dict[str, Any] = dict.fromkeys(
    ("label", "most_like", "probability", "runner_up", "is_known", "is_far", "confidence")
)


class Inbox:
    """The sets of a folder, read and judged again whenever folder or gallery change."""

    def __init__(
        self,
        folder: Path,
        file: GalleryFile,
        commands: Commands,
        is_busy: Callable[[], bool] = lambda: False,
        is_unsettled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.folder, self.file, self.commands = folder, file, commands
        self.is_busy, self.is_unsettled = is_busy, is_unsettled
        self._decisions = Decisions(commands.history.folder / "inbox.json")
        self.state = "reading"
        self.error: str | None = None
        self.done = self.total = self.changes = 0
        self._began = time.monotonic()
        self._watch = Watch(folder)
        self._report: LoadReport | None = None
        self._rows: dict[str, Row] = {}
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
        skipped = () if self._report is None else self._report.skipped[:MOST_LEFT_OUT]
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

    def photo_place(self, row_id: str) -> tuple[SetBatch, int]:
        """A batch of sets, and the index of a row's set in it."""
        return self._row(row_id).one, 0

    def photo_file(self, row_id: str, j: int) -> Path | None:
        """The file of a photo; None if there is none."""
        files = self._row(row_id).files
        return files[j] if j < len(files) else None

    def as_csv(self) -> str:
        """All rows as a table, safe for spreadsheets."""
        rows = [dict(row) for row in self.as_payload().rows]
        for row in rows:
            second = row["runner_up"]
            row |= {"set": row["name"], "runner_up": second and second.label}
        return spreadsheet(COLUMNS, rows)

    def _row(self, row_id: str) -> Row:
        if row_id not in self._rows:
            reject("There is no such album in the inbox.")
        return self._rows[row_id]

    def _moved(self) -> frozenset[str]:
        return frozenset() if self.commands.transfer is None else self.commands.history.moved

    def _row_payload(self, row: Row, moved: frozenset[str]) -> payload.InboxRow:
        answer, out = row.answer, set(row.outliers)
        is_out = np.zeros(row.n_images, dtype=np.bool_)
        is_out[list(out)] = True
        fields = NO_ANSWER | {"words": row.error, "reason": "", "candidates": [], "parts": []}
        if answer is not None:
            farthest = self.file.state.farthest
            fields = answer_fields(answer, MOST_CANDIDATES, row.parts, farthest)
        return payload.InboxRow(
            **fields,
            id=row.id,
            name=row.name,
            n_images=row.n_images,
            state=self._state_of(row, moved),  # type: ignore[arg-type]
            uncertainty=1.0 if row.parts else _uncertainty(answer),
            decided=row.decided,
            outliers=list(row.outliers),
            without=list(row.without),
            is_part=row.origin is not None,
            photos=[
                payload.RowPhoto(
                    image=int(j),
                    url=f"/api/v1/inbox/{row.id}/photos/{j}",
                    is_outlier=int(j) in out,
                )
                for j in choose(is_out, MOST_PHOTOS)
            ],
        )

    def _state_of(self, row: Row, moved: frozenset[str]) -> str:
        if not row.contents().isdisjoint(self.file.state.contents):
            return "enrolled"
        if self._is_moved(row, moved):
            return "transferred"
        if row.error:
            return "failed"
        return "waiting" if row.answer is None else "done"

    def _is_moved(self, row: Row, moved: frozenset[str]) -> bool:
        transfer = self.commands.transfer if moved else None
        files = row.kept_files()
        return transfer is not None and bool(files) and transfer.source(files[0]) in moved

    def _estimate(self) -> float | None:
        if self.state in ("ready", "failed"):
            return 0.0
        if self.state != "looking" or not self.done:
            return None
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    def decide(self, wanted: Sequence[payload.RowDecision]) -> list[payload.InboxRow]:
        """Set the classes of sets, or take that back, all at once."""
        rows = [self._row(one.id) for one in wanted]
        decided: dict[str, Decision | None] = {}
        for row, one in zip(rows, wanted, strict=True):
            decided[row.content] = None if one.label is None else self._decision(row, one)
        with self._changed:
            self._decisions.set(decided)
            for row in self._rows.values():
                if row.content in decided:
                    row.decision = decided[row.content]
        self._tell()
        moved = self._moved()
        return [self._row_payload(row, moved) for row in rows]

    def _decision(self, row: Row, one: payload.RowDecision) -> Decision:
        without = one.without
        if without is None and row.answer is not None:
            without = list(row.outliers)  # as people have seen them
        out = None if without is None else tuple(sorted(set(without)))
        if out and (out[-1] >= row.n_images or len(out) == row.n_images):
            reject(f"{row.name} has {row.n_images} photos, and one at least must be kept.")
        return Decision(str(self.file.state.typed(one.label or "")), out)

    def split(self, row_id: str, *, is_joined: bool) -> None:
        """Take the parts of an album for albums of their own, or take that back."""
        row = self._row(row_id)
        if is_joined:
            self._decisions.split((row.origin or row).content, None)
        elif not row.parts:
            reject(f"{row.name} shows one person or thing, so there is nothing to split.")
        else:
            self._decisions.split(row.content, [part.images for part in row.parts])
        whole = row.origin or row
        known = {whole.id} | {one.id for one in self._rows.values() if one.origin is whole}
        kept = {one.id: one for one in self._rows.values() if one.id not in known}
        self._rows = kept | self._made(whole)
        self._tell()

    def enroll(self, ids: Sequence[str], revision: str | None, key: str = "") -> payload.Done:
        """Add sets to the classes that were decided on, without what does not belong."""
        rows = [self._row(row_id) for row_id in dict.fromkeys(ids)]
        known = self.file.state.contents
        rows = [row for row in rows if row.contents().isdisjoint(known)]
        if not rows:
            reject("All of these albums are in the gallery already.")
        labels = [row.label() for row in rows]
        done = self.commands.enroll(
            SetBatch.join([row.kept() for row in rows]), labels, revision, key
        )
        self._tell()
        return done

    def transfer(self, how: str, ids: Sequence[str] | None, key: str = "") -> payload.Done:
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
        wanted = [(row.label(), row.name, row.kept_files()) for row in rows]
        moves = transfer.plan(how, wanted)
        words = transfer.words(moves, len(rows))
        done = self.commands.transfer_files(words, moves, transfer, key)
        self._tell()
        return done

    def _tell(self) -> None:
        with self._changed:
            self.changes += 1
            self._changed.notify()

    def _run(self) -> None:
        try:
            while not self._is_over:
                if self._watch.has_changed():
                    self._read()
                row = self._next()
                if row is not None:
                    self._wait_for_questions()
                    self._judge(row)
                    continue
                if self.state == "looking":
                    self.state = "ready"
                with self._changed:
                    if not self._is_over:
                        self._changed.wait(timeout=0.5)
        except StoppedError:
            return

    def _wait_for_questions(self) -> None:
        while self.is_busy():
            self._check()
            time.sleep(PAUSE_S)
        self._check()

    def _check(self) -> None:
        if self._is_over:
            raise StoppedError

    def _read(self) -> None:
        try:
            self._read_folder()
        except SetwiseError as error:
            self.state, self.error = "failed", str(error)
        except StoppedError:
            raise
        except Exception:
            logger.exception("The inbox could not be read")
            self.state, self.error = "failed", "The inbox cannot be read. The log says why."
        self.changes += 1

    def _read_folder(self) -> None:
        def told(what: str, done: int, total: int) -> None:
            self._wait_for_questions()
            self.done, self.total = done, total

        self.state, self.error = "reading", None
        # What was moved away stays in view, and so does all until the new rows are there.
        moved = self._moved()
        gone = {row.id: row for row in self._rows.values() if self._is_moved(row, moved)}
        options = loading_options(self.file.state.gallery)
        try:
            with quiet("", SkippedFilesWarning):
                sets = load_sets(self.folder, progress=told, **options)
        except SetwiseError:
            self._rows = gone
            if not gone:
                raise
            self.state, self.total = "looking", len(gone)
            return
        rows = self._rows_of(sets)
        missing = {row_id: row for row_id, row in gone.items() if row_id not in rows}
        self._rows, self._report = rows | missing, sets.report
        self.done, self.total, self._began = 0, len(self._rows), time.monotonic()
        self.state = "looking"

    def _rows_of(self, sets: LoadedSets) -> dict[str, Row]:
        contents = list(map(content_digest, sets))
        ids = distinct_ids(zip(sets.names, contents, strict=True))
        rows: dict[str, Row] = {}
        for i, (row_id, content) in enumerate(zip(ids, contents, strict=True)):
            first, end = sets.offsets[i : i + 2].tolist()
            files = sets.report.files[first:end]
            rows |= self._made(Row(row_id, SetBatch.take(sets, [i]), files, content))
        return rows

    def _made(self, row: Row) -> dict[str, Row]:
        """A row as it was, or the rows of its parts if people have split it."""
        split = self._decisions.split_of(row.content)
        made = [row] if split is None else row.divided(split)
        for one in made:
            one.decision = self._decisions.of(one.content)
        return {one.id: self._rows.get(one.id, one) for one in made}

    def _next(self) -> Row | None:
        """A set not yet judged by the gallery as it is now, new ones first."""
        rows, digest = list(self._rows.values()), self.file.state.digest
        old = [row for row in rows if row.judged_by != digest]
        again = not self.is_unsettled()  # or else the answers would soon be old again
        old = [row for row in old if not row.judged_by or (again and row.decided is None)]
        if old and self.state == "ready":
            self.state, self._began = "looking", time.monotonic()
        self.done = len(rows) - len(old) if rows else self.done
        return min(old, key=lambda row: row.answer is not None, default=None)

    def _judge(self, row: Row) -> None:
        state = self.file.state
        try:
            one = state.gallery.check(row.one, "inbox")
            row.answer, _ = look(state, one.names[0], one[0], explains=False)
            row.parts = parts_of(state, one[0])
            row.error = ""
        except SetwiseError as error:
            row.answer, row.error = None, str(error)
        row.judged_by = state.digest
        self.changes += 1


def _uncertainty(answer: Answer | None) -> float:
    """From 0 to 1: the less the gallery knows, the more a decision helps."""
    if answer is None:
        return 0.0
    is_stranger = kind_of(answer) in ("guess", "unknown")
    return 1.0 - 0.05 * answer.margin if is_stranger else 0.95 * (1.0 - answer.margin)


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
