"""The inbox: a folder of sets, judged in the background and decided on by people."""

from __future__ import annotations

import logging
import secrets
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Condition, Thread
from typing import Any

from setwise._support.text import spreadsheet
from setwise.errors import SetwiseError, reject
from setwise.io.loading_report import Skipped
from setwise.page import bodies, payload
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile
from setwise.page.grouped import groups_of
from setwise.page.identify import look
from setwise.page.inbox_reading import read_inbox
from setwise.page.inbox_rows import Decision, Decisions, Row, Shown
from setwise.page.inbox_shown import row_payload
from setwise.page.jobs import StoppedError
from setwise.page.parts import parts_of, without_strays
from setwise.page.watch import Watch
from setwise.sets import SetBatch

logger = logging.getLogger("setwise")

COLUMNS = (
    "set", "decided", "label", "most_like", "probability", "runner_up", "is_known", "n_images",
    "state", "words",
)  # fmt: skip
MOST_LEFT_OUT = 200
PAUSE_S = 0.05  # between two looks whether questions are answered


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
        self._skipped: Sequence[Skipped] = ()
        self._run_id = secrets.token_hex(4)  # versions of another run say nothing
        self._grouped: object = None  # what the groups were made of
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
        seen = {name: getattr(self, name) for name in ("state", "done", "total")}
        return seen | {"version": self._version(), "revision": self.file.state.revision}

    def _version(self) -> str:
        return f"{self._run_id}-{self.changes}"

    def as_payload(self, since: str = "") -> payload.Inbox:
        """All rows as JSON, or those that have changed since a version."""
        run, _, number = since.partition("-")
        is_part = run == self._run_id and number.isdecimal()
        n = int(number) if is_part else 0
        moved, version = self._moved(), self._version()
        named = [(_below(one.path, self.folder), one.reason) for one in self._skipped]
        shown = [self._shown(row, moved) for row in list(self._rows.values())]
        return payload.Inbox(
            **self.news() | {"version": version},
            is_whole=not is_part,
            error=self.error,
            estimate_s=self._estimate(),
            left_out=[payload.LeftOut(name=name, reason=reason) for name, reason in named],
            rows=[one.row for one in shown if one.n > n or not is_part],
            ids=[one.row.id for one in shown],
        )

    def photo_place(self, row_id: str) -> tuple[SetBatch, int]:
        """A batch of sets, and the index of a row's set in it."""
        return self._row(row_id).one, 0

    def photo_file(self, row_id: str, j: int) -> tuple[Path | None, payload.Box | None]:
        """The file of a photo, None if there is none; and the box of a face in it."""
        row = self._row(row_id)
        if j >= len(row.files):
            return None, None
        return row.files[j], row.boxes[j] if row.boxes else None

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

    def _shown(self, row: Row, moved: frozenset[str]) -> Shown:
        """A row as JSON shows it, made again only when something has changed."""
        state, now = self._state_of(row, moved), self.file.state
        seen = (state, row.judged_by, row.error, row.decision, row.group, now.farthest)
        if row.shown is None or row.shown.state != seen:
            self.changes += 1
            row.shown = Shown(seen, row_payload(row, state, now.farthest), self.changes)
        return row.shown

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

    def decide(self, wanted: Sequence[bodies.RowDecision]) -> list[payload.InboxRow]:
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
        return [self._shown(row, moved).row for row in rows]

    def _decision(self, row: Row, one: bodies.RowDecision) -> Decision:
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

    def take_apart(self, ids: Sequence[str], *, is_back: bool) -> None:
        """Show albums of a group each by itself, or take that back."""
        rows = [self._row(row_id) for row_id in dict.fromkeys(ids)]
        self._decisions.take_apart((row.content for row in rows), is_back=is_back)
        self._grouped = None
        if not is_back:
            for row in rows:
                row.group = None
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
        if how == "move" and any(row.boxes for row in rows):
            reject("A photo may show several people, so photos are copied here, not moved.")
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
                self._group()
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
        try:
            found = read_inbox(self.folder, self.file.state.gallery, told)
        except SetwiseError:
            self._rows = gone
            if not gone:
                raise
            self.state, self.total = "looking", len(gone)
            return
        rows: dict[str, Row] = {}
        for row in found.rows:
            rows |= self._made(row)
        missing = {row_id: row for row_id, row in gone.items() if row_id not in rows}
        self._rows, self._skipped = rows | missing, found.skipped[:MOST_LEFT_OUT]
        self.done, self.total, self._began = 0, len(self._rows), time.monotonic()
        self.state = "looking"

    def _made(self, row: Row) -> dict[str, Row]:
        """A row as it was, or the rows of its parts if people have split it."""
        split = self._decisions.split_of(row.content)
        made = [row] if split is None else row.divided(split)
        for one in made:
            one.decision = self._decisions.of(one.content)
            if self._decisions.is_apart(one.content):
                one.group = None
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

    def _group(self) -> None:
        """Find unknown albums that belong together, once nothing else is to be done."""
        open_rows = [row for row in self._rows.values() if row.decided is None]
        farthest = self.file.state.farthest
        unknown = [r for r in open_rows if r.is_new(farthest) and not r.boxes and not r.parts]
        unknown = [row for row in unknown if not self._decisions.is_apart(row.content)]
        seen = (self.file.state.digest, [row.content for row in unknown])
        if seen == self._grouped or self.is_unsettled() or self.state != "ready":
            return
        self._wait_for_questions()
        self._grouped = seen
        groups = [-1] * len(unknown)
        if unknown:
            sets = SetBatch.join([row.one for row in unknown])
            groups = groups_of(self.file.state, sets).tolist()
        for row in open_rows:
            if not row.boxes:
                row.group = None
        for row, group in zip(unknown, groups, strict=True):
            row.group = None if group < 0 else group
        self._tell()

    def _judge(self, row: Row) -> None:
        state = self.file.state
        try:
            one = state.gallery.check(row.one, "inbox")
            answer, _ = look(state, one.names[0], one[0], explains=False)
            row.answer = without_strays(state, one[0], answer)
            row.parts = [] if row.boxes else parts_of(state, one[0])
            row.error = ""
        except SetwiseError as error:
            row.answer, row.error = None, str(error)
        row.judged_by = state.digest
        self.changes += 1


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
