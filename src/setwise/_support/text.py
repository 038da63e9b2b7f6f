"""Untrusted text, made safe to show and to use as file names."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

# Beginning of a formula.
_FORMULA = re.compile(r"(^|;\s*)(?=[=+\-@|%＝＋－＠])")  # noqa: RUF001


def printable(text: str) -> str:
    """Text with control characters, escape codes, marks of direction and newlines escaped."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def counted(number: int, noun: str) -> str:
    """A number of things: ``"1 set"``, ``"2 sets"``, ``"2 classes"``."""
    plural = f"{noun}es" if noun.endswith("s") else f"{noun}s"
    return f"{number} {noun if number == 1 else plural}"


def spreadsheet_cell(value: Any) -> Any:
    """A value for a cell of a CSV file: text that would be a formula is quoted.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell("a;=1+1"), spreadsheet_cell(None)
    ("'=1+1", "a;'=1+1", '')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    return _FORMULA.sub(r"\1'", printable(value))


def spreadsheet(columns: Sequence[str], rows: Iterable[Mapping[str, Any]]) -> str:
    """A CSV table with these columns of each row, in which nothing is a formula."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([spreadsheet_cell(row[column]) for column in columns] for row in rows)
    return text.getvalue()


def file_name(name: str) -> str:
    """A name that is one file or folder on every system: ``_anna_`` for ``../anna?``."""
    return re.sub(r"[^\w .()+-]", "_", name).strip(". ") or "_"


def free_name(name: str, taken: Iterable[str]) -> str:
    """The name, with a number behind it if it is taken."""
    used, number, free = set(taken), 2, name
    while free in used:
        free, number = f"{name} ({number})", number + 1
    return free


def free_names(names: Iterable[str], taken: Iterable[str]) -> list[str]:
    """The names, with a number behind each taken or repeated one."""
    used, free = set(taken), []
    for name in names:
        free.append(free_name(name, used))
        used.add(free[-1])
    return free


def distinct_file_names(names: Iterable[str], longest: int = 200) -> list[str]:
    """File names of at most ``longest`` bytes that differ also where capitals do not count."""
    taken: dict[str, str] = {}
    n_alike: dict[str, int] = {}
    for name in names:
        plain = chosen = file_name(name).encode()[:longest].decode(errors="ignore")
        while chosen.casefold() in taken:
            n_alike[plain] = n_alike.get(plain, 1) + 1
            chosen = f"{plain} ({n_alike[plain]})"
        taken[chosen.casefold()] = chosen
    return list(taken.values())
