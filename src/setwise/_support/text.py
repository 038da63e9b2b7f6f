"""Text of others, made safe to show."""

from __future__ import annotations

__all__ = ["printable"]


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
