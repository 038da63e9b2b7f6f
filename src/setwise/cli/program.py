"""The ``setwise`` command: its options, its help and its subcommands."""

from __future__ import annotations

import os
from typing import Annotated

import typer
from typer import Option

from setwise.cli.archives import backup, migrate, restore, verify
from setwise.cli.common import DEBUG, EXIT_CODES
from setwise.cli.compare import compare, evaluate
from setwise.cli.demo import demo
from setwise.cli.doctor import doctor
from setwise.cli.faces import faces
from setwise.cli.galleries import enroll, fit, forget
from setwise.cli.group import group
from setwise.cli.identify import classify, identify
from setwise.cli.options import add_command
from setwise.cli.people import merge, name, people, split
from setwise.cli.plugins import WithPlugins
from setwise.cli.reading import inspect
from setwise.cli.serve import serve

_VERSION = "Show the version."
_ABOUT = "Classify sets: one set in, one answer out, with a reason."
_STATUS = "\n".join(f"  {code:<4} {words}" for code, words in EXIT_CODES.items())
_EPILOG = f"""\b
Start with:
  setwise fit gallery/ -o people.setwise      (gallery/anna/*.jpg, gallery/bert/*.jpg, ...)
  setwise identify people.setwise album/

\b
Exit status:
{_STATUS}"""

app = typer.Typer(
    name="setwise",
    cls=WithPlugins,
    help=_ABOUT,
    epilog=_EPILOG,
    no_args_is_help=True,
    pretty_exceptions_show_locals=False,
    rich_markup_mode=None,  # plain help, in half the time
)


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"setwise {version('setwise')}")
        raise typer.Exit


@app.callback(help=_ABOUT)
def main(
    version: Annotated[
        bool, Option("--version", help=_VERSION, callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[bool, Option("--debug", help="Show where an error comes from.")] = False,
) -> None:
    """The program itself."""
    if debug:
        os.environ[DEBUG] = "1"


app.command("version", help=_VERSION)(lambda: _show_version(True))

_OF_SETS = demo, fit, identify, enroll, forget, classify, evaluate, compare, inspect
_OF_FILES = verify, backup, restore, migrate
for function in (
    *_OF_SETS,
    group,
    faces,
    people,
    name,
    merge,
    split,
    serve,
    *_OF_FILES,
    doctor,
):
    add_command(app, function)
