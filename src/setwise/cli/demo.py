"""``setwise demo``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from setwise.cli.common import AsJson, Quiet, clean_exit, shown_progress, text_table

if TYPE_CHECKING:
    from rich.console import Console

    from setwise.demo import DemoResult

__all__ = ["demo"]


def demo(
    out: Annotated[Path, typer.Option(file_okay=False, help="Folder for the picture.")] = Path(
        "out/demo"
    ),
    as_json: AsJson = False,
    quiet: Quiet = False,
    quick: Annotated[bool, typer.Option("--quick", help="A smaller job.")] = False,
) -> None:
    """Do the whole job on real handwritten digits: sets against single images.

    Nothing is downloaded. Ends with a picture that explains one answer.
    """
    with clean_exit(), shown_progress(is_silent=as_json or quiet) as progress:
        from setwise.demo import run_demo

        result = run_demo(out, quick=quick, progress=progress)
    if as_json:
        typer.echo(json.dumps(result.to_dict(), indent=2))
    elif quiet:
        typer.echo(_summary(result))
    else:
        _show_demo(result)


def _summary(result: DemoResult) -> str:
    images, sets = result.accuracy["each image alone"], result.accuracy["coefficient"]
    return (
        f"{100 * sets.all:.1f} % of {len(result.data.probes)} sets right, "
        f"{100 * images.all:.1f} % of their images alone; {result.seconds['total']:.0f} s; "
        f"{result.picture or result.advice}"
    )


def _show_demo(result: DemoResult) -> None:
    from rich.console import Console

    console = Console(highlight=False)
    console.print(_about(result), "\n", sep="")
    _show_accuracy(result, console)
    _show_classes(result, console)
    found = result.to_dict()["explanation"]
    console.print(f"\nOne mixed set, explained ({found['probe']}):", style="bold")
    console.print(found["summary"])
    console.print(f"Images of other digits: {_list(found['images_of_other_digits'])}; ", end="")
    console.print(f"doubted: {_list(found['images_doubted'])}.")
    steps = ", ".join(f"{step} {took:.1f}" for step, took in result.seconds.items())
    console.print(f"\nSeconds: {steps}", style="dim")
    if result.picture is None:
        console.print(f"No picture: {result.advice}", markup=False)
    else:
        console.print(f"Picture: {result.picture}", markup=False, soft_wrap=True)


def _list(numbers: list[int]) -> str:
    return ", ".join(map(str, numbers)) or "none"


def _about(result: DemoResult) -> str:
    sets = result.to_dict()["sets"]
    return (
        f"Handwritten digits: {sets['n_gallery']} gallery and {sets['n_probes']} probe sets of "
        f"{sets['n_images']} images. Into {sets['n_mixed']} of the probes, "
        f"{sets['n_outliers']} images of other digits are mixed."
    )


def _show_accuracy(result: DemoResult, console: Console) -> None:
    rows = []
    for method, share in result.accuracy.items():
        is_cvc = not method.endswith(("alone", "images"))
        numbers = (f"{100 * value:.1f}" for value in (share.all, share.plain, share.mixed))
        rows.append((f"sets, CVC, fusion {method}" if is_cvc else method, *numbers))
    console.print(text_table(("% right", "all", "plain", "mixed"), rows, are_numbers=True))


def _show_classes(result: DemoResult, console: Console) -> None:
    rows = [
        (name, *(f"{100 * shares[row]:.0f}" for shares in result.per_class.values()))
        for row, name in (("images", "each image alone"), ("sets", "sets, CVC"))
    ]
    console.print(text_table(("% right by digit", *result.per_class), rows, are_numbers=True))
