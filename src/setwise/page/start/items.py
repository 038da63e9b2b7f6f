"""The items of a heap, and what a kind of heap can do with them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, TypeAlias

from setwise._support.types import IntArray
from setwise.classify import CVC
from setwise.io.loading_report import Skipped
from setwise.page.payload import Box

# The target rate of new people who are taken for known ones.
UNKNOWN, UNKNOWN_LABEL = 0.05, "unknown"


@dataclass(frozen=True)
class Item:
    """One thing that is grouped: a face, a photo or an album."""

    key: str  # outlives the server
    name: str
    path: Path
    picture: bytes  # a small JPEG
    content: Any
    box: Box | None = None


Found: TypeAlias = tuple[list[Item], tuple[Skipped, ...]]


class Kind(Protocol):
    """How the items of a heap are found, grouped, and made a gallery."""

    noun: str

    def missing(self) -> str | None:
        """Why it cannot be done here; None if it can."""

    def count(self, folder: Path) -> int:
        """Number of files that will be read."""

    def items(self, folder: Path) -> Iterator[Found]:
        """The items of one file after the other."""

    def groups(
        self, items: Sequence[Item], settled: IntArray, apart: Sequence[tuple[int, int]]
    ) -> IntArray:
        """Group of each item; settled ones keep together, and those apart are never joined."""

    def alike(
        self, items: Sequence[Item], groups: Sequence[Sequence[int]]
    ) -> list[tuple[int, int]]:
        """Pairs of groups that may be one, the most similar first."""

    def gallery(self, items: Sequence[Item], who: Sequence[str | None]) -> CVC:
        """A gallery of the items that have a name."""

    def free_names(self, taken: Sequence[str]) -> Iterator[str]:
        """Names for groups that have none."""
