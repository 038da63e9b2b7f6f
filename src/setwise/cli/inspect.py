"""``setwise inspect``: the sets of a source, and files that cannot be read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from setwise.cli.common import say, show_rows
from setwise.cli.identify import when_and_where
from setwise.cli.options import Jobs, Output, Reading, Source, command

if TYPE_CHECKING:
    from setwise.io import LoadedSets


@command
def inspect(
    source: Source,
    reading: Reading,
    output: Output,
    gallery: Annotated[
        bool, Option("--gallery", help="Read it as `fit` does: folders are classes.")
    ] = False,
    jobs: Jobs = -1,
) -> None:
    """List the classes, sets, photos and times of a source, and every bad file.

    Ends with status 1 if files cannot be read, after all of them are listed.

    Example:
      setwise inspect DCIM/ --layout bursts --gap 60
    """
    from setwise._support.parallel import quiet
    from setwise.errors import SkippedFilesWarning
    from setwise.io import load_sets

    reading.check()
    options = reading.of_gallery() | {"on_error": "list", "n_jobs": jobs, "labelled": gallery}
    with output.progress() as progress, quiet("", SkippedFilesWarning):
        sets = load_sets(source, progress=progress, **options)
    found = described(sets)
    if output.as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        say(str(sets.report))
        if not output.quiet:
            columns = ("class", "name", "n_images", "first_time", "first_file")
            rows = [["" if r[c] is None else str(r[c]) for c in columns] for r in found["sets"]]
            show_rows(("class", "set", "images", "first taken", "first file"), rows)
    if sets.report.skipped:
        raise typer.Exit(1)


def described(sets: LoadedSets) -> dict[str, Any]:
    """Sets as JSON."""
    labels = [None] * len(sets) if sets.labels is None else [str(c) for c in sets.labels]
    rows = zip(sets.names, labels, sets.sizes, strict=True)
    return {
        "report": sets.report.to_dict(),
        "n_features": sets.n_features,
        "image_shape": sets.image_shape,
        "sets": [
            {"name": name, "class": label, "n_images": int(n_images)}
            | when_and_where(sets.of_set(i))
            for i, (name, label, n_images) in enumerate(rows)
        ],
    }
