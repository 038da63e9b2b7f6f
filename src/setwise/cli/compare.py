"""``setwise compare``: every method on one's own sets."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from setwise.cli.common import check_output, say
from setwise.cli.options import Jobs, Output, Reading, Source, command
from setwise.cli.reading import load

__all__ = ["compare"]

_FOR_IMAGES = ("CVC for images", "CVC for turntables")


@command
def compare(
    gallery: Source,
    probes: Annotated[Path, typer.Argument(help="Labelled sets to judge, of the same kind.")],
    reading: Reading,
    output: Output,
    methods: Annotated[
        list[str] | None,
        typer.Option(help='Names such as "CVC,MSM,mean vector"; may be repeated.'),
    ] = None,
    pixels: Annotated[
        int, typer.Option(help="Side of the images whose pixels methods see.")
    ] = 20,
    jobs: Jobs = 1,
    picture: Annotated[
        Path | None, typer.Option(help="Draw accuracy against time here (.png, .svg).")
    ] = None,
) -> None:
    """Try every method on your own sets: one table, with what may be chance.

    Of images, methods see the pixels at --pixels; `CVC for images` and `CVC for turntables`
    look at the images themselves, read at --size.

    Example:
      setwise compare gallery/ labelled/ --methods "CVC, mean cosine" --picture table.png
    """
    reading.check()
    check_output(picture, "--picture")
    with output.progress() as progress:
        from setwise.evaluation import check_methods
        from setwise.evaluation import compare as compare_methods

        names = check_methods(methods, others=_FOR_IMAGES) if methods else None
        known = load(gallery, reading.of_gallery(), output, progress, labelled=True)
        options = reading.of_probes(known.image_shape)
        if reading.probe_layout is None:
            options["layout"] = reading.layout
        options["labels"] = reading.labels
        judged = load(probes, options, output, progress, labelled=True)
        chosen = (
            names if known.image_shape is None else _on_images(names, pixels, reading.features)
        )
        comparison = compare_methods(
            known,
            known.labels,
            judged,
            judged.labels,
            methods=chosen,
            n_jobs=jobs,
            progress=progress,
        )
    if output.as_json:
        typer.echo(json.dumps(comparison.to_dict(), indent=2))
    else:
        say(comparison.summary() if output.quiet else str(comparison))
    if picture is not None:  # after the table, which it must not lose
        comparison.plot(picture)


def _on_images(names: list[str] | None, size: int, features: str) -> dict[str, Any]:
    """Methods by name that first make pixels of images, and those that look at images."""
    from sklearn.pipeline import make_pipeline

    from setwise import CVC
    from setwise.evaluation.compare import named_methods
    from setwise.features import Pixels

    makers = (partial(CVC.for_images, features), CVC.for_turntables)
    ours = dict(zip(_FOR_IMAGES, makers, strict=True))
    others = names if names is None else [name for name in names if name not in ours]
    named = {} if others == [] else named_methods(others, 0)
    on_pixels = {name: make_pipeline(Pixels(size), rival) for name, rival in named.items()}
    chosen = [name for name in ours if names is None or name in names]
    return on_pixels | {name: ours[name](random_state=0) for name in chosen}
