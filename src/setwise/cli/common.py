"""What all commands share: options, exits, progress."""

from __future__ import annotations

import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from setwise._support.compiled import plain_interrupts
from setwise._support.text import printable
from setwise.errors import SetwiseError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from setwise._support.progress import Progress

__all__ = ["AsJson", "Quiet", "clean_exit", "say", "shown_progress", "text_table"]

AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON document and nothing else.")
]
Quiet: TypeAlias = Annotated[
    bool, typer.Option("--quiet", "-q", help="One line instead of tables and progress.")
]


def say(text: str, *, err: bool = False) -> None:
    """Print lines, whose characters cannot do anything to the terminal."""
    typer.echo("\n".join(map(printable, text.split("\n"))), err=err)


def text_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, are_numbers: bool = False
) -> Table:
    """A table of words as they are: names may hold anything, markup and escape codes too."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        justify: Any = "right" if are_numbers and i else "left"
        table.add_column(Text(printable(column)), justify=justify)
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


@contextmanager
def clean_exit() -> Iterator[None]:
    """Errors that are no bugs end in what they say and a status, not in a traceback."""
    try:
        with plain_interrupts():
            yield
    except KeyboardInterrupt:
        typer.echo("setwise: interrupted.", err=True)
        raise typer.Exit(130) from None
    except SetwiseError as error:
        say(f"setwise: {error}", err=True)
        raise typer.Exit(1) from None
    except OSError as error:
        say(f"setwise: {' '.join(str(error).split())}", err=True)
        raise typer.Exit(1) from None


@contextmanager
def shown_progress(*, is_silent: bool) -> Iterator[Progress | None]:
    """A bar with an estimate where somebody watches, plain lines where a file does.

    What the library logs meanwhile is shown too: that it compiles, and how far long work is.
    """
    if is_silent:
        with _logging(logging.ERROR, None):
            yield None
    elif not sys.stderr.isatty():
        with _logging(logging.INFO, lambda message: say(message, err=True)):
            yield _PlainLines()
    else:
        with _bar() as report:
            yield report


@contextmanager
def _logging(level: int, show: Callable[[str], None] | None) -> Iterator[None]:
    """Hear what setwise logs for a while, from a level on."""
    logger, handler = logging.getLogger("setwise"), logging.Handler()
    before = logger.level
    if show is not None:
        handler.emit = lambda record: show(record.getMessage())  # type: ignore[method-assign]
        logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


class _PlainLines:
    """A line when work begins, and now and then how far it is."""

    EVERY_S = 10.0

    def __init__(self) -> None:
        self._began: dict[str, float] = {}
        self._spoken = 0.0

    def __call__(self, what: str, done: int, total: int) -> None:
        from setwise._support.progress import words

        now = time.monotonic()
        if done == 0:
            self._began[what] = self._spoken = now
            say(f"{what} ...", err=True)
        elif done < total and now - self._spoken >= self.EVERY_S:
            self._spoken = now
            say(words(what, done, total, now - self._began[what]), err=True)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<9}", markup=False),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        Progress(*columns, console=Console(stderr=True), transient=True) as bar,
        _logging(logging.INFO, lambda message: _dim(bar.console, message)),
    ):
        tasks = {}

        def report(what: str, done: int, total: int) -> None:
            if what not in tasks:
                tasks[what] = bar.add_task(printable(what), total=None)
            # A step that is its own only part has no share done to show before its end.
            is_known = total > 1 or done > 0
            bar.update(tasks[what], completed=done, total=total if is_known else None)

        yield report


def _dim(console: Console, message: str) -> None:
    console.print(printable(message), style="dim", markup=False)
