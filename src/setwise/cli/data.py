"""``setwise data``: public datasets, fetched only when asked."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from setwise.cli.common import AsJson, say
from setwise.cli.options import Output, add_command, command

__all__ = ["data"]

data = typer.Typer(
    help="Public datasets: what is known, and fetching them.", no_args_is_help=True
)


def list_command(as_json: AsJson = False) -> None:
    """Show the known datasets: where they come from, their licence and their protocol.

    Example:
      setwise data list
    """
    from setwise.io.datasets import SOURCES

    if as_json:
        typer.echo(json.dumps([source.to_dict() for source in SOURCES.values()], indent=2))
        return
    for source in SOURCES.values():
        typer.echo(f"{source.name}: {source.title}")
        typer.echo(f"    {source.protocol}")
        typer.echo(f"    licence: {source.licence}")
        for file in source.files:
            typer.echo(f"    {file.address}")


@command
def fetch_command(
    name: Annotated[str, typer.Argument(help="One of `setwise data list`.")],
    output: Output,
    folder: Annotated[
        Path | None, typer.Option(file_okay=False, help="Where to; $SETWISE_DATA or a cache.")
    ] = None,
    mirror: Annotated[
        str | None, typer.Option(help="Address of a folder with the same files.")
    ] = None,
    accept_unverified: Annotated[
        bool, typer.Option("--accept-unverified", help="Where no checksum is known.")
    ] = False,
) -> None:
    """Download a dataset, verified; run again, it goes on where it stopped.

    Example:
      setwise data fetch eth80 --folder data/
    """
    with output.progress() as progress:
        from setwise.io.datasets import fetch

        paths = fetch(
            name,
            folder,
            mirror=mirror,
            accept_unverified=accept_unverified,
            progress=progress,
        )
    if output.as_json:
        typer.echo(json.dumps([str(path) for path in paths], indent=2))
    else:
        for path in paths:
            say(str(path))


add_command(data, list_command, "list")
add_command(data, fetch_command, "fetch")
