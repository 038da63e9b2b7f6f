"""``setwise demo``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from setwise.cli.common import text_table
from setwise.cli.options import Output, command

if TYPE_CHECKING:
    from rich.console import Console

    from setwise.demo import DemoResult

__all__ = ["demo"]


@command
def demo(
    output: Output,
    out: Annotated[
        Path, typer.Option(file_okay=False, help="Folder for the gallery and the pictures.")
    ] = Path("out/demo"),
    quick: Annotated[bool, typer.Option("--quick", help="A smaller job.")] = False,
) -> None:
    """Show why one needs sets, on real handwritten digits.

    Sets are compared with single images and their vote: in changing light, with strangers
    among the images, and with digits that nobody knows. Nothing is downloaded. Ends with a
    saved gallery and with a picture that explains one answer.

    Example: setwise demo --quick --out out/demo
    """
    with output.progress() as progress:
        from setwise.demo import run_demo

        result = run_demo(out, quick=quick, progress=progress, n_jobs=-1)
    if output.as_json:
        typer.echo(json.dumps(result.to_dict(), indent=2))
    elif output.quiet:
        typer.echo(_summary(result))
    else:
        _show_demo(result)


def _summary(result: DemoResult) -> str:
    sets, vote = result.accuracy["CVC"], result.accuracy["vote of the images"]
    known = result.accuracy["CVC(unknown=0.05)"]
    return (
        f"with strangers among the images, {100 * sets.mixed:.1f} % of "
        f"{result.counts()['mixed']} sets right, {100 * vote.mixed:.1f} % by a vote; "
        f"{100 * known.unknown:.1f} % of {result.counts()['unknown']} unknown sets refused; "
        f"{result.seconds['total']:.0f} s; {result.picture or result.advice}"
    )


def _show_demo(result: DemoResult) -> None:
    from rich.console import Console

    console = Console(highlight=False, markup=False)
    document = result.to_dict()
    console.print(_about(document["sets"]), "\n", sep="")
    _show_accuracy(result, document["sets"], console)
    console.print(_remarks(document))
    console.print(f"\nThe gallery is one file now, {result.gallery_file}.", soft_wrap=True)
    console.print("Loaded again, and asked about two sets, chosen to show it:")
    for identified in document["identified"]:
        console.print(_identified(identified))
    console.print(f"\nImages of the first, above the gallery's: {result.sheet}", soft_wrap=True)
    if result.picture is None:
        console.print(f"No explanation drawn: {result.advice}")
    else:
        console.print(f"Why it was answered so: {result.picture}", soft_wrap=True)
    steps = ", ".join(f"{step} {took:.1f}" for step, took in result.seconds.items())
    console.print(f"Seconds: {steps}", style="dim")


def _about(sets: dict[str, Any]) -> str:
    n_known, n_rounds = sets["n_known_digits"], sets["n_rounds"]
    rounds = f" There are {n_rounds} rounds, with others left out." if n_rounds > 1 else ""
    return (
        "Which digit does a set of handwritten images show? The gallery has "
        f"{sets['n_gallery'] // n_known} sets of {sets['n_images']} images of each of "
        f"{n_known} digits; two are left out. Each set was taken in a light of its own, as "
        f"albums are.{rounds}"
    )


def _show_accuracy(result: DemoResult, sets: dict[str, Any], console: Console) -> None:
    n_probes = sets["n_probes"]
    columns = (
        "% right",
        f"{n_probes['plain']} sets",
        f"{n_probes['mixed']} with {sets['n_outliers']} strangers",
        f"{n_probes['unknown']} of an unknown digit",
    )
    rows = [
        (method, *(f"{100 * value:.1f}" for value in (share.plain, share.mixed, share.unknown)))
        for method, share in result.accuracy.items()
    ]
    console.print(text_table(columns, rows, are_numbers=True))


def _remarks(document: dict[str, Any]) -> str:
    sets, found = document["sets"], document["out_of_place"]
    return (
        "It is the light that misleads single images: in even light, their vote is as good as "
        "CVC, and better with so many strangers.\n"
        f"Strangers are images of one other digit, {sets['n_outliers']} of "
        f"{sets['n_images']}. CVC found {found['n_found']} of the {found['n_strangers']} out "
        f"of place, and {found['n_false']} images that were not.\n"
        "A vote always names somebody, so of an unknown digit it cannot be right. CVC may say "
        "unknown, at a price: it also refuses some sets of digits that it knows. "
        f"{sets['n_known_digits']} classes are few to learn from what is unknown."
    )


def _identified(one: dict[str, Any]) -> str:
    if one["label"] == "unknown":
        said = f"unknown; nearest to {one['nearest']}"
    else:
        next_best = f", then {one['runner_up']}" if one["runner_up"] else ""
        said = f"{one['label']}, probability {one['probability']:.2f}{next_best}"
    text = f"  {one['set']}: {said}. The vote of its images says {one['vote_of_the_images']}."
    if one["images_of_another_digit"]:
        text += (
            f"\n    Images out of place: {_list(one['images_out_of_place'])}; of another digit "
            f"are {_list(one['images_of_another_digit'])}."
        )
    return text


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"
