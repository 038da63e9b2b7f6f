"""Exit codes, messages, tables and progress of all commands."""

from __future__ import annotations

import logging
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer import Option

from setwise._support.compiled import plain_interrupts
from setwise._support.text import counted as counted
from setwise._support.text import printable
from setwise.errors import DataError, SetwiseError, SetwiseWarning

if TYPE_CHECKING:
    from rich.table import Table

    from setwise._support.progress import Progress

EXIT_CODES = {
    0: "success",
    1: "a file, a set or a parameter was refused; stderr says which, and what to do",
    2: "usage error: an unknown option, or a value that the option does not take",
    3: "a bug in setwise: --debug shows where",
    130: "interrupted with Ctrl-C; finished work is kept",
}

AsJson: TypeAlias = Annotated[bool, Option("--json", help="Print one JSON document alone.")]
Quiet: TypeAlias = Annotated[bool, Option("--quiet", "-q", help="One line, no progress.")]
DEBUG = "SETWISE_DEBUG"
_ANY_WIDTH = 10_000


# What arguments of Python are called in the shell.
_OPTIONS = (
    "every_s", "follow_links", "max_bad", "max_files", "max_pixels", "min_length", "min_size",
)  # fmt: skip
_FUNCTION = re.compile(
    r"^(CVC(\.\w+)?|load_\w+|find_faces|face_tracks|compare|cross_validate): "
)
_ARGUMENT = re.compile(rf"\b({'|'.join(_OPTIONS)})\b( ?= ?(?=[\d.]))?")


def in_shell_words(text: str) -> str:
    """A message of the library without functions and arguments of Python, with shell options.

    >>> in_shell_words('load_images: more than max_pixels=3071. Or use on_error="skip".')
    'more than --max-pixels 3071. Or use --skip-bad.'
    """
    plain = _FUNCTION.sub("", text).replace('on_error="skip"', "--skip-bad")
    return _ARGUMENT.sub(lambda m: f"--{m[1].replace('_', '-')}" + (" " if m[2] else ""), plain)


def say(text: str, *, err: bool = False) -> None:
    """Print lines, with control characters escaped."""
    typer.echo("\n".join(map(printable, text.split("\n"))), err=err)


def show_rows(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table, in which nothing is cut; lines are folded on a terminal alone."""
    from rich.console import Console

    shown = Console(highlight=False)
    if not shown.is_terminal and "COLUMNS" not in os.environ:
        shown = Console(highlight=False, width=_ANY_WIDTH)
    shown.print(text_table(columns, rows))


def text_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, are_numbers: bool = False
) -> Table:
    """A table of texts as they are, without markup, with control characters escaped."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for i, column in enumerate(columns):
        justify: Any = "right" if are_numbers and i else "left"
        table.add_column(Text(printable(column)), justify=justify, overflow="fold")
    for row in rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    return table


@contextmanager
def clean_exit() -> Iterator[None]:
    """End errors with their message and an exit status; with a traceback only for --debug."""
    try:
        with plain_interrupts(), _told_warnings():
            yield
    except KeyboardInterrupt:
        typer.echo("setwise: interrupted.", err=True)
        raise typer.Exit(130) from None
    except (typer.Exit, typer.Abort, typer.BadParameter):
        raise
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        if isinstance(error, SetwiseError | OSError):
            words = in_shell_words(str(error))
            one_line = words if isinstance(error, SetwiseError) else " ".join(words.split())
            say(f"setwise: {one_line}", err=True)
            raise typer.Exit(1) from None
        what = " ".join(f"{type(error).__name__}: {error}".split())
        say(f"setwise: a bug ({what}). Run `setwise --debug ...` to see where.", err=True)
        raise typer.Exit(3) from None


@contextmanager
def _told_warnings() -> Iterator[None]:
    """Print each warning of setwise as one line, without its place in the code."""
    before = warnings.showwarning

    def show(message: Warning | str, category: type[Warning], *rest: Any) -> None:
        if issubclass(category, SetwiseWarning):
            words = in_shell_words(" ".join(str(message).split()))
            say(f"setwise: note: {words}", err=True)
        else:
            before(message, category, *rest)

    with warnings.catch_warnings():  # which puts back showwarning, too
        warnings.simplefilter("default", SetwiseWarning)
        warnings.showwarning = show  # type: ignore[assignment]
        yield


def check_output(path: Path | None, option: str, *, is_folder: bool = False) -> None:
    """Refuse, before any work, a file or folder of an option that cannot be written."""
    if path is None:
        return
    above = path.resolve().parent
    while is_folder and not above.exists() and above != above.parent:
        above = above.parent
    if not above.is_dir():
        msg = f"{option} {path}: there is no folder {above}. Make it first."
    elif path.is_dir() and not is_folder:
        msg = f"{option} {path}: is a folder. Expected the name of a file."
    elif path.exists() and is_folder and not path.is_dir():
        msg = f"{option} {path}: is a file. Expected a folder."
    elif not os.access(path if path.exists() else above, os.W_OK):
        msg = f"{option} {path}: cannot be written. Name another one."
    else:
        return
    raise DataError(msg)


@contextmanager
def shown_progress(*, is_silent: bool) -> Iterator[Progress | None]:
    """A progress bar on a terminal, plain lines elsewhere, with what the library logs."""
    if is_silent:
        with _logging(logging.ERROR, None):
            yield None
    elif not sys.stderr.isatty():
        lines = _PlainLines()
        with _logging(logging.INFO, lambda message: say(message, err=True), lines.steps):
            yield lines
    else:
        with _bar() as report:
            yield report


class _Steps:
    """The steps that are under way: the parts of one of them are not shown beside it."""

    def __init__(self) -> None:
        self._open: set[str] = set()

    def note(self, what: str, done: int, total: int) -> None:
        """Remember a step until it is done; a single step has no share to show itself."""
        if total > 1 and done < total:
            self._open.add(what)
        else:
            self._open.discard(what)

    def hides(self, record: logging.LogRecord) -> bool:
        """Whether a message is the progress of a part."""
        return bool(self._open) and getattr(record, "is_part", False)


@contextmanager
def _logging(
    level: int, show: Callable[[str], None] | None, steps: _Steps | None = None
) -> Iterator[None]:
    """Show what setwise logs for a while, from a level on."""
    logger, handler = logging.getLogger("setwise"), logging.Handler()
    before = logger.level

    def emit(record: logging.LogRecord) -> None:
        if show is not None and not (steps and steps.hides(record)):
            show(record.getMessage())

    if show is not None:
        handler.emit = emit  # type: ignore[method-assign]
        logger.addHandler(handler)
    logger.setLevel(level)
    try:
        yield
    finally:
        logger.setLevel(before)
        logger.removeHandler(handler)


class _PlainLines:
    """A line when work begins, and progress every few seconds."""

    EVERY_S = 10.0

    def __init__(self) -> None:
        self._first: dict[str, float] = {}  # when the first part of a step was done
        self._shown = 0.0
        self.steps = _Steps()

    def __call__(self, what: str, done: int, total: int) -> None:
        from setwise._support.progress import words

        now = time.monotonic()
        self.steps.note(what, done, total)
        if done > 0:
            self._first.setdefault(what, now)
        if done == 0:
            self._first.pop(what, None)
            self._shown = now
            say(f"{what} ...", err=True)
        elif done < total and now - self._shown >= self.EVERY_S:
            self._shown = now
            say(words(what, done, total, now - self._first[what]), err=True)


@contextmanager
def _bar() -> Iterator[Progress]:
    from rich import progress as shown
    from rich.console import Console

    name = shown.TextColumn("{task.description:<9}", markup=False)
    times = shown.TimeElapsedColumn(), shown.TimeRemainingColumn()
    columns = (name, shown.BarColumn(), shown.MofNCompleteColumn(), *times)

    def dim(message: str) -> None:
        bar.console.print(printable(message), style="dim", markup=False)

    steps = _Steps()
    with (
        shown.Progress(*columns, console=Console(stderr=True), transient=True) as bar,
        _logging(logging.INFO, dim, steps),
    ):
        tasks = {}

        def report(what: str, done: int, total: int) -> None:
            steps.note(what, done, total)
            if what not in tasks:
                tasks[what] = bar.add_task(printable(what), total=None)
            # A step that is its own only part has no share done to show before its end.
            is_known = total > 1 or done > 0
            bar.update(tasks[what], completed=done, total=total if is_known else None)

        yield report
