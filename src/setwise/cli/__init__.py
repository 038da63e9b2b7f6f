"""The ``setwise`` command.

Nothing heavy is imported before a command needs it: ``setwise --help`` should not have to wait
for scikit-learn. Results go to stdout, progress and errors to stderr.
"""

from __future__ import annotations

from typing import Annotated

import typer

from setwise.cli.data import data
from setwise.cli.demo import demo
from setwise.cli.doctor import EXAMPLE as DOCTOR_EXAMPLE
from setwise.cli.doctor import doctor
from setwise.cli.reproduce import reproduce
from setwise.cli.sets import classify, compare, faces, inspect

__all__ = ["app"]

app = typer.Typer(
    name="setwise",
    help="Classify sets: one set in, one answer out, with a reason.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"setwise {version('setwise')}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option(
            "--version", help="Show the version.", callback=_show_version, is_eager=True
        ),
    ] = False,
) -> None:
    """Classify sets: one set in, one answer out, with a reason."""


@app.command("version")
def version_command() -> None:
    """Show the version."""
    _show_version(True)


for command in (demo, inspect, classify, compare, faces, reproduce):
    app.command()(command)
app.command(epilog=DOCTOR_EXAMPLE)(doctor)
app.add_typer(data, name="data")
