"""Text of others, made safe to show."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

__all__ = ["distinct_file_names", "file_name", "printable", "spreadsheet_cell"]


# Beginning of a formula.
_FORMULA = re.compile(r"(^|;\s*)(?=[=+\-@|%＝＋－＠])")  # noqa: RUF001


def printable(text: str) -> str:
    r"""Text with every character escaped that a terminal would act on instead of showing it.

    Control characters, escape codes, marks of direction, ends of lines: a file names its sets
    as it likes.

    Examples
    --------
    >>> print(printable("anna\t\x1b[31m é"))
    anna\t\x1b[31m é
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def spreadsheet_cell(value: Any) -> Any:
    """Content of a cell of a CSV file: text that spreadsheets take for a formula is quoted.

    Full-width signs count as well, and signs after a semicolon, which parts cells in many
    countries.

    >>> spreadsheet_cell("=1+1"), spreadsheet_cell(-0.5), spreadsheet_cell(None)
    ("'=1+1", -0.5, '')
    >>> spreadsheet_cell("a;=1+1")
    "a;'=1+1"
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    return _FORMULA.sub(r"\1'", printable(value))


def file_name(name: str) -> str:
    """A name that is one file or folder on every system.

    Examples
    --------
    >>> file_name("../anna: May?")
    '_anna_ May_'
    """
    return re.sub(r"[^\w .()+-]", "_", name).strip(". ") or "_"


def distinct_file_names(names: Iterable[str], longest: int = 200) -> list[str]:
    """Names of files or folders, different also where capital letters do not count.

    Parameters
    ----------
    names : iterable of str
        What they are to be called after.
    longest : int, default=200
        Bytes that a name may take; file systems allow 255, and something may follow.

    Examples
    --------
    >>> distinct_file_names(["anna", "Anna", "a?", "a*"])
    ['anna', 'Anna (2)', 'a_', 'a_ (2)']
    """
    taken: dict[str, str] = {}
    n_alike: dict[str, int] = {}
    for name in names:
        plain = chosen = file_name(name).encode()[:longest].decode(errors="ignore")
        while chosen.casefold() in taken:
            n_alike[plain] = n_alike.get(plain, 1) + 1
            chosen = f"{plain} ({n_alike[plain]})"
        taken[chosen.casefold()] = chosen
    return list(taken.values())
