"""``setwise inspect``, ``classify``, ``compare`` and ``faces``: from files to answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from setwise.cli.common import AsJson, Quiet, clean_exit, say, shown_progress
from setwise.cli.inspect import described

if TYPE_CHECKING:
    pass

__all__ = ["faces"]

_SOURCE = "A folder class/set/*.jpg or set/*.jpg, a folder of clips, a video, a .mat or .npz."
Gallery: TypeAlias = Annotated[Path, typer.Argument(help=f"Labelled sets. {_SOURCE}")]
Probes: TypeAlias = Annotated[Path, typer.Argument(help="Sets to judge, of the same kind.")]
Layout: TypeAlias = Annotated[
    str,
    typer.Option(help='"class/set", "set", "single", "bursts", "class/bursts" or "auto".'),
]
Size: TypeAlias = Annotated[int, typer.Option(help="Pixels of a side, for images and video.")]
Colour: TypeAlias = Annotated[bool, typer.Option("--colour", help="Keep the colours.")]
Skip: TypeAlias = Annotated[
    bool, typer.Option("--skip-bad", help="Leave out files that cannot be read (up to 5 %).")
]
Variable: TypeAlias = Annotated[
    str | None, typer.Option(help="Which variable of a .mat file holds the sets.")
]
Labels: TypeAlias = Annotated[
    str | None, typer.Option(help="Which variable of a .mat file holds the class of each set.")
]
ProbeVariable: TypeAlias = Annotated[
    str | None, typer.Option(help="Of a .mat file of probes, where it is another.")
]
Jobs: TypeAlias = Annotated[int, typer.Option(help="Threads; -1 is one per core.")]

_FOR_IMAGES = ("CVC for images", "CVC for turntables")


def faces(
    video: Annotated[Path, typer.Argument(help="A clip.")],
    out: Annotated[Path, typer.Argument(help="New folder: one folder of crops per track.")],
    size: Annotated[int, typer.Option(help="Pixels of a side.")] = 30,
    equalise: Annotated[
        bool, typer.Option("--equalise", help="Equalise the histogram of each face.")
    ] = False,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find and follow the faces of a clip, and write each track as a set of images."""
    with clean_exit(), shown_progress(is_silent=as_json or quiet) as progress:
        from setwise.io import face_tracks, save_images

        tracks = face_tracks(video, size=size, equalise=equalise, progress=progress)
        save_images(tracks, out)
    if as_json:
        typer.echo(json.dumps(described(tracks) | {"folder": str(out)}, indent=2))
    else:
        say(f"{len(tracks)} tracks in {out}")
