"""A folder of sets to be sorted: read once, judged in the background, decided by people."""

from __future__ import annotations

import csv
import hashlib
import io
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Condition, Thread
from typing import Any

import numpy as np

from setwise._support.parallel import quiet
from setwise._support.text import spreadsheet_cell
from setwise.classify import Answer
from setwise.errors import NoInformationWarning, SetwiseError, SkippedFilesWarning, reject
from setwise.io import LoadedSets, load_sets
from setwise.page import models
from setwise.page.acts import Acts, checked_label
from setwise.page.answering import candidates, runner_up
from setwise.page.asking import loading_options
from setwise.page.carrying import Carrier
from setwise.page.decisions import Decisions
from setwise.page.living import Living, content_digest
from setwise.page.words import answer_words, confidence
from setwise.report.answers import kind_of
from setwise.report.photos import choose

__all__ = ["Inbox"]

logger = logging.getLogger("setwise")

COLUMNS = (
    "set", "decided", "label", "most_like", "probability", "runner_up", "is_known", "n_images",
    "state", "words",
)  # fmt: skip
# As many candidates as there are keys with a digit.
MOST_PHOTOS, MOST_CANDIDATES, MOST_LEFT_OUT = 8, 9, 200


@dataclass
class _Row:
    """A set of the inbox, and what is known of it."""

    id: str
    i: int
    content: str
    answer: Answer | None = None
    judged_by: str = ""
    error: str = ""
    decided: str | None = None


class Inbox:
    """The sets of a folder, judged again whenever the gallery changes.

    Parameters
    ----------
    folder : Path
        Where they are.
    carrier : Carrier, optional
        Copies and moves their files, where that is allowed.
    living : Living
        The gallery.
    acts : Acts
        What is done to it.
    """

    def __init__(
        self, folder: Path, carrier: Carrier | None, living: Living, acts: Acts
    ) -> None:
        self.decisions = Decisions(acts.journal.folder / "inbox.json")
        self.folder, self.carrier, self.living, self.acts = folder, carrier, living, acts
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
        """Begin to read."""
        self._thread.start()

    # ------------------------------------------------------------------- what is seen

    def news(self) -> dict[str, Any]:
        """How far it is, for those who follow."""
        return {
            "state": self.state,
            "done": self.done,
            "total": self.total,
            "changes": self.changes,
        }

    def model(self) -> models.InboxNow:
        """All rows, as they go over the wire."""
        skipped = () if self._sets is None else self._sets.report.skipped[:MOST_LEFT_OUT]
        return models.InboxNow(
            revision=self.living.state.revision,
            state=self.state,  # type: ignore[arg-type]
            error=self.error,
            done=self.done,
            total=self.total,
            estimate_s=self._estimate(),
            left_out=[
                models.LeftOut(name=_below(left.path, self.folder), reason=left.reason)
                for left in skipped
            ],
            rows=[self._row_model(row) for row in self._rows.values()],
        )

    def row_model(self, row_id: str) -> models.InboxRow:
        """One row."""
        return self._row_model(self._row(row_id))

    def photo_place(self, row_id: str) -> tuple[LoadedSets, int]:
        """The sets, and which of them a row is."""
        row = self._row(row_id)
        return self._loaded, row.i

    def as_csv(self) -> str:
        """A table that spreadsheets read, and in which nothing is a formula."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(COLUMNS)
        for row in self._rows.values():
            shown = self._row_model(row).model_dump()
            shown |= {"set": shown["name"]}
            shown["runner_up"] = shown["runner_up"] and shown["runner_up"]["label"]
            writer.writerow([spreadsheet_cell(shown[column]) for column in COLUMNS])
        return text.getvalue()

    def _row(self, row_id: str) -> _Row:
        if row_id not in self._rows:
            reject("There is no such set in the inbox.")
        return self._rows[row_id]

    @property
    def _loaded(self) -> LoadedSets:
        if self._sets is None:
            reject("The inbox has not been read yet.")
        return self._sets

    def _row_model(self, row: _Row) -> models.InboxRow:
        sets, answer = self._loaded, row.answer
        n_images = int(sets.sizes[row.i])
        shown = choose(np.zeros(n_images, dtype=np.bool_), MOST_PHOTOS)
        is_stranger = answer is None or kind_of(answer) in ("guess", "unknown")
        return models.InboxRow(
            id=row.id,
            name=sets.names[row.i],
            n_images=n_images,
            state=self._state_of(row),  # type: ignore[arg-type]
            label=None if answer is None or is_stranger else str(answer.label),
            most_like=None if answer is None else str(answer.label),
            probability=None if answer is None else answer.probability,
            runner_up=None if answer is None else runner_up(answer),
            candidates=[] if answer is None else candidates(answer, MOST_CANDIDATES),
            is_known=None if answer is None else answer.is_known,
            confidence=None if answer is None else confidence(answer),  # type: ignore[arg-type]
            words=row.error if answer is None else answer_words(answer),
            teaches=_teaches(answer),
            decided=row.decided,
            photos=[f"/api/inbox/{row.id}/photos/{j}" for j in shown],
        )

    def _state_of(self, row: _Row) -> str:
        if row.content in self.living.state.contents:
            return "enrolled"
        if self.carrier is not None and self.carrier.has_carried(self._files(row)):
            return "carried"
        if row.error:
            return "failed"
        return "waiting" if row.answer is None else "done"

    def _files(self, row: _Row) -> list[Path]:
        """The files of a set, each once."""
        sets = self._loaded
        rows = range(int(sets.offsets[row.i]), int(sets.offsets[row.i + 1]))
        return list(dict.fromkeys(sets.report.files[j] for j in rows))

    def _estimate(self) -> float | None:
        if self.state in ("ready", "failed"):
            return 0.0
        if self.state != "looking" or not self.done:
            return None
        return (time.monotonic() - self._began) / self.done * (self.total - self.done)

    # ------------------------------------------------------------------- what is done

    def decide(self, row_id: str, label: str | None) -> models.InboxRow:
        """Say whose a set is, or take that back."""
        row = self._row(row_id)
        typed = None if label is None else checked_label(label, self.living.state.classifier)
        with self._changed:
            row.decided = None if typed is None else str(typed)
            self.decisions.set(row.content, row.decided)
            self.changes += 1
            self._changed.notify()
        return self._row_model(row)

    def enroll(self, ids: Sequence[str], revision: str | None) -> models.ActDone:
        """Add sets to the classes that were decided on, all of them in one act."""
        rows = [self._row(row_id) for row_id in dict.fromkeys(ids)]
        chosen = [row for row in rows if self._state_of(row) != "enrolled"]
        if not chosen:
            reject("All of these sets are in the gallery already.")
        labels = [self._decided(row) for row in chosen]
        sets = self._loaded.take([row.i for row in chosen])
        done = self.acts.enroll(sets, labels, revision)
        self._tell()
        return done

    def carry(self, how: str, ids: Sequence[str] | None) -> models.Carried:
        """Copy or move the files of sets to the folders of the classes decided on."""
        if self.carrier is None:
            reject("Files stay where they are: the server was started without --into.")
        rows = list(self._rows.values())
        if ids is not None:
            rows = [self._row(row_id) for row_id in dict.fromkeys(ids)]
        else:
            rows = [row for row in rows if row.decided is not None]
        rows = [row for row in rows if not self.carrier.has_carried(self._files(row))]
        if not rows:
            reject("There is nothing to carry: decide first whose the sets are.")
        wanted = [
            (self._decided(row), self._loaded.names[row.i], self._files(row)) for row in rows
        ]
        moves = self.carrier.plan(how, wanted)
        words = self.carrier.words(moves, len(rows))
        done = self.acts.carry(words, moves)
        self._tell()
        return models.Carried(
            revision=done.revision, words=done.words, n_files=len(moves["files"])
        )

    def _decided(self, row: _Row) -> str:
        if row.decided is None:
            reject(f"{self._loaded.names[row.i]}: decide first whose it is.")
        return row.decided

    def _tell(self) -> None:
        with self._changed:
            self.changes += 1
            self._changed.notify()

    def close(self) -> None:
        """Stop after the set that is being judged."""
        with self._changed:
            self._is_over = True
            self._changed.notify()
        if self._thread.is_alive():
            self._thread.join(timeout=5.0)

    # ------------------------------------------------------------------- in the background

    def _run(self) -> None:
        try:
            self._read()
        except SetwiseError as error:
            self.state, self.error = "failed", str(error)
        except _OverError:
            return
        except Exception:
            logger.exception("The inbox could not be read")
            self.state, self.error = "failed", "The inbox cannot be read; the log says why."
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
                raise _OverError
            self.done, self.total = done, total

        options = loading_options(self.living.state.gallery)
        with quiet("", SkippedFilesWarning):
            sets = load_sets(self.folder, progress=told, **options)
        rows = {}
        for i, name in enumerate(sets.names):
            row_id = hashlib.sha256(f"{i}\0{name}".encode()).hexdigest()[:16]
            content = content_digest(sets[i])
            decided = self.decisions.get(content)
            rows[row_id] = _Row(row_id, i, content, decided=decided)
        self._sets, self._rows = sets, rows
        self.done, self.total, self._began = 0, len(rows), time.monotonic()
        self.state = "looking"

    def _next(self) -> _Row | None:
        """A set that the gallery as it is now has not judged, new ones first."""
        digest = self.living.state.digest
        old = [
            row
            for row in self._rows.values()
            if row.judged_by != digest and (row.decided is None or not row.judged_by)
        ]
        if old and self.state == "ready":
            self.state, self._began = "looking", time.monotonic()
        self.done = self.total - len(old) if self._rows else self.done
        return min(old, key=lambda row: (row.answer is not None, row.i), default=None)

    def _judge(self, row: _Row) -> None:
        state = self.living.state
        try:
            with quiet("", NoInformationWarning):
                (row.answer,) = state.classifier.judge(self._loaded[[row.i]])
            row.error = ""
        except SetwiseError as error:
            row.answer, row.error = None, str(error)
        row.judged_by = state.digest
        self.changes += 1


class _OverError(Exception):
    """The server ends."""


def _teaches(answer: Answer | None) -> float:
    """How much a decision would teach the gallery: most, where it knows least."""
    if answer is None:
        return 0.0
    if kind_of(answer) in ("guess", "unknown"):
        return 1.0 - 0.05 * answer.margin
    return float(0.95 * (1.0 - answer.margin))


def _below(path: Path, folder: Path) -> str:
    return path.relative_to(folder).as_posix() if path.is_relative_to(folder) else path.name
