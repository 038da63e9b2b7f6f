"""Text of others, made safe to show."""

from __future__ import annotations

import re

__all__ = ["file_name", "printable"]


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


def file_name(name: str) -> str:
    """A name that is one file or folder on every system.

    Examples
    --------
    >>> file_name("../anna: May?")
    '_anna_ May_'
    """
    return re.sub(r"[^\w .()+-]", "_", name).strip(". ") or "_"
