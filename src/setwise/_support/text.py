"""Text of others, made safe to show."""

from __future__ import annotations

from typing import Any

__all__ = ["printable", "spreadsheet_cell"]


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
    """What is written into a cell of a CSV file: text that would be a formula is quoted.

    Examples
    --------
    >>> spreadsheet_cell("=1+1"), spreadsheet_cell(-0.5), spreadsheet_cell(None)
    ("'=1+1", -0.5, '')
    """
    if value is None:
        return ""
    if not isinstance(value, str):
        return value
    safe = printable(value)
    return f"'{safe}" if safe.startswith(("=", "+", "-", "@", "|", "%")) else safe
