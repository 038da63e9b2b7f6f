"""Answers as a table, lines, JSON and CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.text import printable, spreadsheet_cell

if TYPE_CHECKING:
    from setwise import Answer, SetBatch
    from setwise.sets import Origins

COLUMNS = (
    "set", "label", "probability", "margin", "runner_up", "is_known", "n_images",
    "n_out_of_place", "out_of_place", "first_file", "first_time", "last_time", "note",
)  # fmt: skip


def answer_row(answer: Answer, probes: SetBatch, i: int, unknown_label: str) -> dict[str, Any]:
    """One answer as JSON; docs/command.md has its schema."""
    origins = probes.of_set(i)
    shares = zip(answer.classes, answer.probabilities, strict=True)
    is_stranger = answer.is_known is False
    return {
        "set": answer.name,
        "label": unknown_label if is_stranger else str(answer.label),
        "nearest": str(answer.label),
        "is_known": answer.is_known,
        "probability": answer.probability,
        "runner_up": None if answer.runner_up is None else str(answer.runner_up),
        "margin": answer.margin,
        "nearness": answer.nearness,
        "n_images": len(answer.is_typical),
        "out_of_place": _out_of_place(answer, origins),
        **when_and_where(origins),
        "note": _note(answer),
        "probabilities": {str(label): float(share) for label, share in shares},
    }


def _out_of_place(answer: Answer, origins: Origins | None) -> list[dict[str, Any]]:
    """Images out of place, numbered from 1, and their files."""
    places = [place for place, fits in enumerate(answer.is_typical) if not fits]
    return [
        {"image": place + 1, "file": origins.files[place] if origins else None}
        for place in places
    ]


def when_and_where(origins: Origins | None) -> dict[str, Any]:
    """The first file of a set, and when its photos were taken."""
    if origins is None:
        return {"first_file": None, "first_time": None, "last_time": None}
    times = sorted(time for time in origins.times.tolist() if time is not None)
    return {
        "first_file": origins.files[0],
        "first_time": times[0].isoformat() if times else None,
        "last_time": times[-1].isoformat() if times else None,
    }


def _note(answer: Answer) -> str:
    if not answer.is_informed:
        return "has nothing in common with any class: a guess"
    return f"most like {answer.label}" if answer.is_known is False else ""


def table_row(row: dict[str, Any]) -> tuple[str, ...]:
    """An answer as a row of the printed table."""
    is_stranger = row["is_known"] is False  # the numbers are of its nearest class
    strange = [one["file"] or f"image {one['image']}" for one in row["out_of_place"]]
    shown = ", ".join(Path(name).name for name in strange[:3])
    more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
    return (
        row["set"],
        row["label"],
        "" if is_stranger else f"{row['probability']:.2f}",
        "" if is_stranger else f"{row['margin']:.2f}",
        "" if is_stranger else row["runner_up"] or "",
        shown + more,
        row["note"],
    )


def line(row: dict[str, Any]) -> str:
    """An answer as one line for pipes: set, label, probability, between tabs.

    Tabs and ends of lines in names are escaped.
    """
    fields = (row["set"], row["label"], f"{row['probability']:.3f}")
    return "\t".join(map(printable, fields))


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Answers as a table for spreadsheets, in which nothing is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        strange = row["out_of_place"]
        cells = row | {
            "n_out_of_place": len(strange),
            "out_of_place": "; ".join(str(one["file"] or one["image"]) for one in strange),
        }
        writer.writerow([spreadsheet_cell(cells[column]) for column in COLUMNS])
    return text.getvalue()
