"""What a study found as tables of words, and as plain numbers."""

from __future__ import annotations

import html
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from setwise._support.text import printable

if TYPE_CHECKING:
    from setwise.studies.study import StudyResult

__all__ = ["Table", "numbers"]


@dataclass(frozen=True)
class Table:
    """A title, the names of the columns, and rows of words.

    Attributes
    ----------
    shows : str
        Which table or figure of the paper it stands for.
    title : str
        What it is about.
    columns : tuple of str
        Their names.
    rows : tuple of tuple of str
        As many words each as there are columns; empty where nothing is known.
    """

    shows: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def heading(self) -> str:
        """What it shows and what it is about, on one line."""
        return f"{self.shows}: {self.title}" if self.shows else self.title

    def to_markdown(self) -> str:
        """The heading and the table for a Markdown page; names in them cannot be more."""
        lines = [self.columns, ("---",) * len(self.columns), *self.rows]
        cells = (tuple(_as_text(cell) for cell in line) for line in lines)
        table = "\n".join(f"| {' | '.join(line)} |" for line in cells)
        return f"**{_as_text(self.heading)}**\n\n{table}"


def _as_text(name: str) -> str:
    """A name that Markdown shows as it is: no HTML, no marks, no cells of its own."""
    text = html.escape(printable(" ".join(name.split())), quote=False)
    for mark in r"\`*[]|":
        text = text.replace(mark, f"\\{mark}")
    return text


def numbers(result: StudyResult, *, with_times: bool = True) -> dict[str, Any]:
    """Everything but pictures and explanations, in types that JSON knows.

    Without times, the same study gives the same numbers on every run.
    """
    content: dict[str, Any] = {
        "title": result.study.title,
        "is_complete": result.is_complete,
        "experiments": {one.experiment.name: one.numbers() for one in result.sections},
        "failures": [asdict(failure) for failure in result.failures],
    }
    if not with_times:
        timeless: dict[str, Any] = _without_times(content)
        return timeless
    return content | {
        "n_items": result.n_items,
        "n_finished": result.n_finished,
        "warnings": dict(result.warnings),
        "versions": dict(result.versions),
        "machine": result.machine,
        "data": dict(result.data_notes),
    }


def _without_times(content: Any) -> Any:
    """The content without what depends on the machine and on what else it did."""
    if isinstance(content, dict):
        kept = [key for key in content if not str(key).endswith("_seconds")]
        return {key: _without_times(content[key]) for key in kept}
    if isinstance(content, list | tuple):
        return [_without_times(one) for one in content]
    return content
