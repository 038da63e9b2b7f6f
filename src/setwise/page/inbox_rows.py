"""Rows of the inbox, and the decisions that people make on them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from setwise._support.files import write_whole
from setwise.classify import Answer
from setwise.classify.answer import kind_of
from setwise.errors import reject
from setwise.page.answers import is_far
from setwise.page.commands import without_rows
from setwise.page.gallery_file import content_digest
from setwise.page.payload import Box, InboxRow
from setwise.sets import SetBatch


@dataclass(frozen=True)
class Decision:
    """The class of a set, and its photos that stay out, counted from 0."""

    label: str
    without: tuple[int, ...] | None = None  # None: those that do not belong


class Shown(NamedTuple):
    """A row as JSON shows it, what that depends on, and when it last changed."""

    state: object
    row: InboxRow
    n: int


@dataclass
class Row:
    """A set of the inbox, its answer and its decision."""

    id: str
    one: SetBatch  # of this set alone
    files: tuple[Path, ...]  # of each photo
    content: str
    origin: Row | None = None  # the set that this is a part of
    answer: Answer | None = None
    parts: list[Any] = field(default_factory=list)  # of an album that shows several
    boxes: tuple[Box | None, ...] = ()  # of the face of each photo
    group: int | None = None  # of unknown albums that belong together
    judged_by: str = ""
    error: str = ""
    decision: Decision | None = None
    shown: Shown | None = None
    _digests: dict[tuple[int, ...], str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Name of the set."""
        return self.one.names[0]

    @property
    def n_images(self) -> int:
        """Number of photos."""
        return int(self.one.sizes[0])

    @property
    def is_unknown(self) -> bool:
        """Whether it is of nobody in the gallery."""
        return self.answer is not None and kind_of(self.answer) in ("unknown", "guess")

    def is_new(self, farthest: float) -> bool:
        """Whether it is of nobody in the gallery, and not probably somebody of it."""
        return self.is_unknown and (self.answer is None or not is_far(self.answer, farthest))

    @property
    def outliers(self) -> tuple[int, ...]:
        """Photos that do not belong, as far as they are known."""
        typical = None if self.answer is None else self.answer.is_typical
        return () if typical is None else tuple(np.flatnonzero(~typical).tolist())

    @property
    def without(self) -> tuple[int, ...]:
        """Photos that stay out of the gallery and of the sorted folders."""
        given = None if self.decision is None else self.decision.without
        return self.outliers if given is None else given

    @property
    def decided(self) -> str | None:
        """The class decided on."""
        return None if self.decision is None else self.decision.label

    def label(self) -> str:
        """The class decided on; an error if there is none."""
        if self.decision is None:
            reject(f"{self.name}: decide first whose album it is.")
        if self.answer is None and self.decision.without is None and not self.error:
            reject(f"{self.name} is still being compared. Try again in a moment.")
        return self.decision.label

    def kept(self) -> SetBatch:
        """The set without the photos that stay out."""
        return without_rows(self.one, self.without) if self.without else self.one

    def kept_files(self) -> list[Path]:
        """The files of the photos that are kept, each once."""
        out = set(self.without)
        return list(dict.fromkeys(file for j, file in enumerate(self.files) if j not in out))

    def divided(self, split: Sequence[Sequence[int]]) -> list[Row]:
        """The parts as rows of their own; this row if they are not of its photos."""
        if any(not part or max(part) >= self.n_images for part in split):
            return [self]
        made = []
        for i, part in enumerate(split, start=1):
            out = np.setdiff1d(np.arange(self.n_images), part).tolist()
            one = without_rows(self.one, out).replaced(names=[f"{self.name} {i}"])
            files = tuple(self.files[j] for j in part)
            boxes = tuple(self.boxes[j] for j in part) if self.boxes else ()
            content = content_digest(one[0])
            made.append(Row(f"{self.id}-{i}", one, files, content, self, boxes=boxes))
        return made

    def contents(self) -> set[str]:
        """Digests of the set, and of what is kept of it."""
        out = self.without
        if out and out not in self._digests:
            self._digests[out] = content_digest(self.kept()[0])
        return {self.content, self._digests.get(out, self.content)}


class Decisions:
    """The decisions on one inbox, in a file; by content, so that they outlive new names."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._labels: dict[str, Decision] = {}
        self._splits: dict[str, list[list[int]]] = {}
        self._apart: frozenset[str] = frozenset()
        try:
            found = json.loads(file.read_text(encoding="utf-8"))
            for content, said in found.items():
                self._remember(str(content), said)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, AttributeError, TypeError, RecursionError) as error:
            words = f"{file}: the decisions about the inbox cannot be read ({error}). Move that"
            reject(f"{words} file away to begin anew. The gallery itself is intact.", error)

    def of(self, content: str) -> Decision | None:
        """The decision on a set; None without one."""
        return self._labels.get(content)

    def split_of(self, content: str) -> list[list[int]] | None:
        """The photos of each part of a set that was split."""
        return self._splits.get(content)

    def is_apart(self, content: str) -> bool:
        """Whether people said that a set is not of the group that it was shown in."""
        return content in self._apart

    def take_apart(self, contents: Iterable[str], *, is_back: bool = False) -> None:
        """Write that sets are of no group, or take that back."""
        given = frozenset(contents)
        apart = self._apart - given if is_back else self._apart | given
        self._write(self._labels, self._splits, apart)

    def set(self, decided: dict[str, Decision | None]) -> None:
        """Write some decisions, or what was decided is taken back."""
        labels = self._labels | {c: one for c, one in decided.items() if one is not None}
        gone = {content for content, one in decided.items() if one is None}
        rest = {c: one for c, one in labels.items() if c not in gone}
        self._write(rest, self._splits, self._apart)

    def split(self, content: str, parts: Sequence[Sequence[int]] | None) -> None:
        """Write that a set is split, or joined again."""
        rest = {c: old for c, old in self._splits.items() if c != content}
        more = {} if parts is None else {content: [list(part) for part in parts]}
        self._write(self._labels, rest | more, self._apart)

    def _write(
        self,
        labels: dict[str, Decision],
        splits: dict[str, list[list[int]]],
        apart: frozenset[str],
    ) -> None:
        said: dict[str, Any] = {c: {"split": parts} for c, parts in splits.items()}
        for content in sorted(apart):
            said[content] = said.get(content, {}) | {"apart": True}
        for content, one in labels.items():
            without = {} if one.without is None else {"without": list(one.without)}
            said[content] = said.get(content, {}) | {"label": one.label} | without
        write_whole(self.file, json.dumps(said, indent=0, ensure_ascii=False))
        self._labels, self._splits, self._apart = labels, splits, apart

    def _remember(self, content: str, said: Any) -> None:
        if isinstance(said, str):  # of 0.x
            said = {"label": said}
        if "split" in said:
            self._splits[content] = [[int(j) for j in part] for part in said["split"]]
        if said.get("apart") is True:
            self._apart |= {content}
        if "label" in said:
            given = said.get("without")
            without = None if given is None else tuple(int(j) for j in given)
            self._labels[content] = Decision(str(said["label"]), without)
