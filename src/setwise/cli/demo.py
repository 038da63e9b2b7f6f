"""``setwise demo``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Option

from setwise.cli.common import say, show_rows
from setwise.cli.options import Output, command


@command
def demo(
    output: Output,
    out: Annotated[Path, Option(file_okay=False, help="Folder to write.")] = Path("out/demo"),
    quick: Annotated[bool, Option("--quick", help="One round instead of five.")] = False,
) -> None:
    """Compare sets of handwritten digits with their single images.

    Each set is photographed in its own light. Some sets hold images of another digit, and some
    digits are not in the gallery. Nothing is downloaded. Ends with a saved gallery and a
    picture that explains one answer.

    Example: setwise demo --quick --out out/demo
    """
    with output.progress() as progress:
        from setwise.demo import run_demo

        found = run_demo(out, quick=quick, progress=progress, n_jobs=-1)
    ours, vote = found["accuracy"]["CVC"], found["accuracy"]["vote of the images"]
    picture = found["picture"] or found["advice"]
    if output.as_json:
        typer.echo(json.dumps(found, indent=2))
    elif output.quiet:
        say(
            f"with images of another digit, {100 * ours['mixed']:.1f} % of "
            f"{found['n_probes']['mixed']} sets right, {100 * vote['mixed']:.1f} % by a vote; "
            f"{found['seconds']['total']:.0f} s; {picture}"
        )
    else:
        _show(found, picture)


def _show(found: dict[str, Any], picture: str) -> None:
    say(
        "Which digit does a set of 12 handwritten images show? The gallery has 4 sets of each "
        "of 8 digits,\neach in its own light. CVC(unknown=0.05) may answer: none of these.\n"
    )
    n = found["n_probes"]
    mixed = f"{n['mixed']} with 4 images of another digit"
    columns = ("% right", f"{n['plain']} sets", mixed, f"{n['unknown']} of an unknown digit")
    accuracies = found["accuracy"].items()
    show_rows(columns, [(m, *(f"{100 * v:.1f}" for v in s.values())) for m, s in accuracies])
    say(f"The gallery is one file, {found['gallery']}. Two sets, identified after loading it:")
    for one in found["identified"]:
        known = f"{one['label']}, probability {one['probability']:.2f}"
        label = known if one["label"] != "unknown" else f"unknown; nearest to {one['nearest']}"
        say(f"  {one['set']}: {label}. The vote of its images: {one['vote_of_the_images']}.")
        if one["images_of_another_digit"]:
            say(
                f"    Images out of place: {one['images_out_of_place']}; of another digit are "
                f"{one['images_of_another_digit']}."
            )
    say(f"Why the first was answered so: {picture}")
    times = ", ".join(f"{step} {took:.1f}" for step, took in found["seconds"].items())
    say(f"Seconds: {times}")
