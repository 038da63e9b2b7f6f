"""``setwise inspect``, ``classify`` and ``compare``: from files to answers."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from setwise._support.text import printable
from setwise.cli.common import AsJson, Quiet, clean_exit, say, shown_progress, text_table

if TYPE_CHECKING:
    from setwise._support.progress import Progress
    from setwise.classify import Answer
    from setwise.io import LoadedSets

__all__ = ["classify", "compare", "inspect"]

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


def inspect(
    source: Annotated[Path, typer.Argument(help=_SOURCE)],
    layout: Layout = "auto",
    size: Size = 64,
    colour: Colour = False,
    skip_bad: Skip = False,
    variable: Variable = None,
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Read sets and say what was read: classes, sets, images, what was left out."""
    options = _options(layout, size, colour, skip_bad, variable, jobs)
    with clean_exit(), shown_progress(is_silent=as_json or quiet) as progress:
        sets = _load(source, options, progress)
    description = _described(sets)
    if as_json:
        typer.echo(json.dumps(description, indent=2))
        return
    say(str(sets.report))
    if not quiet:
        rows = [
            (row["class"] or "", row["name"], str(row["n_images"]))
            for row in description["sets"]
        ]
        _show_rows(("class", "set", "images"), rows)


def classify(
    gallery: Gallery,
    probes: Probes,
    layout: Layout = "auto",
    size: Size = 64,
    colour: Colour = False,
    skip_bad: Skip = False,
    variable: Variable = None,
    labels: Labels = None,
    probe_variable: ProbeVariable = None,
    jobs: Jobs = -1,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Label sets by a labelled gallery: which class, and how sure.

    The layout is the gallery's; that of the probes is found. Images are looked at through
    pixels, fine and coarse edges together; other vectors as they are.
    """
    options = _options(layout, size, colour, skip_bad, variable, jobs)
    with clean_exit(), shown_progress(is_silent=as_json or quiet) as progress:
        known = _load_labelled(gallery, options | {"labels": labels}, progress)
        of_probes = {"layout": "auto", "variable": probe_variable or variable}
        unknown = _load(probes, options | of_probes, progress)
        answers = _answers(known, unknown, jobs, progress)
    if as_json:
        typer.echo(json.dumps({"answers": answers}, indent=2))
    elif quiet:
        for answer in answers:
            fields = (answer["set"], answer["label"], f"{answer['probability']:.3f}")
            typer.echo("\t".join(map(printable, fields)))
    else:
        rows = [
            (a["set"], a["label"], f"{a['probability']:.2f}", a["runner_up"] or "", a["note"])
            for a in answers
        ]
        _show_rows(("set", "label", "how sure", "next", ""), rows)


def compare(
    gallery: Gallery,
    probes: Annotated[Path, typer.Argument(help="Labelled sets to judge, of the same kind.")],
    methods: Annotated[
        list[str] | None,
        typer.Option(help='Names such as "CVC,MSM,mean vector"; may be repeated.'),
    ] = None,
    layout: Layout = "auto",
    size: Size = 20,
    colour: Colour = False,
    skip_bad: Skip = False,
    variable: Variable = None,
    labels: Labels = None,
    probe_variable: ProbeVariable = None,
    jobs: Jobs = 1,
    picture: Annotated[
        Path | None, typer.Option(help="Draw accuracy against time here (.png, .svg).")
    ] = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Try every method on your own sets: one table, with what may be chance.

    Of images, methods see the pixels at --size; `CVC for images` and `CVC for turntables`
    look at the images themselves.
    """
    options = _options(layout, 64, colour, skip_bad, variable, jobs)
    with clean_exit(), shown_progress(is_silent=as_json or quiet) as progress:
        from setwise.evaluation import check_methods
        from setwise.evaluation import compare as compare_methods

        names = check_methods(methods, others=_FOR_IMAGES) if methods else None
        known = _load_labelled(gallery, options | {"labels": labels}, progress)
        of_probes = {"labels": labels, "variable": probe_variable or variable}
        judged = _load_labelled(probes, options | of_probes, progress)
        chosen = names if known.image_shape is None else _on_images(names, size)
        comparison = compare_methods(
            known,
            known.labels,
            judged,
            judged.labels,
            methods=chosen,
            n_jobs=jobs,
            progress=progress,
        )
        if picture is not None:
            comparison.plot(picture)
    if as_json:
        typer.echo(json.dumps(comparison.to_dict(), indent=2))
    else:
        say(comparison.summary() if quiet else str(comparison))


def _options(
    layout: str, size: int, colour: bool, skip_bad: bool, variable: str | None, jobs: int
) -> dict[str, Any]:
    return {
        "layout": layout,
        "size": size,
        "colour": colour,
        "on_error": "skip" if skip_bad else "raise",
        "variable": variable,
        "n_jobs": jobs,
    }


def _load(source: Path, options: dict[str, Any], progress: Progress | None) -> LoadedSets:
    from setwise._support.shared import quiet
    from setwise.errors import SkippedFilesWarning
    from setwise.io import load_sets

    with quiet("", SkippedFilesWarning):  # said here, in one line
        sets = load_sets(source, progress=progress, **options)
    if sets.report.skipped and progress is not None:
        say(f"{source}: {len(sets.report.skipped)} files skipped", err=True)
    return sets


def _load_labelled(
    source: Path, options: dict[str, Any], progress: Progress | None
) -> LoadedSets:
    from setwise.errors import reject

    sets = _load(source, options, progress)
    if sets.labels is None:
        reject(
            f"{source}: the sets have no labels, they were read as "
            f"{sets.report.layout if sets.report else 'sets'}. Expected one folder per class "
            "(class/set/*.jpg), or of a .mat file --labels."
        )
    return sets


def _on_images(names: list[str] | None, size: int) -> dict[str, Any]:
    """Methods by name that first make pixels of images, and those that look at images."""
    from sklearn.pipeline import make_pipeline

    from setwise import CVC
    from setwise.evaluation.methods import named_methods
    from setwise.features import Pixels

    ours = dict(zip(_FOR_IMAGES, (CVC.for_images, CVC.for_turntables), strict=True))
    others = names if names is None else [name for name in names if name not in ours]
    named = {} if others == [] else named_methods(others, 0)
    on_pixels = {name: make_pipeline(Pixels(size), rival) for name, rival in named.items()}
    chosen = [name for name in ours if names is None or name in names]
    return on_pixels | {name: ours[name](random_state=0) for name in chosen}


def _answers(
    gallery: LoadedSets, probes: LoadedSets, jobs: int, progress: Progress | None
) -> list[dict[str, Any]]:
    from setwise import CVC

    make = CVC if gallery.image_shape is None else CVC.for_images
    report = progress or (lambda what, done, total: None)
    report("fit", 0, 1)
    clf = make(n_jobs=jobs, random_state=0).fit(gallery, gallery.labels)
    report("fit", 1, 1)
    return [_answer(answer) for answer in clf.judge(probes, progress=progress)]


def _answer(answer: Answer) -> dict[str, Any]:
    shares = zip(answer.classes, answer.probabilities, strict=True)
    return {
        "set": answer.name,
        "label": str(answer.label),
        "probability": answer.probability,
        "runner_up": None if answer.runner_up is None else str(answer.runner_up),
        "note": "" if answer.is_informed else "shares no cluster with any class: a guess",
        "probabilities": {str(label): float(share) for label, share in shares},
    }


def _described(sets: LoadedSets) -> dict[str, Any]:
    labels = [None] * len(sets) if sets.labels is None else [str(c) for c in sets.labels]
    return {
        "report": sets.report.to_dict(),
        "n_features": sets.n_features,
        "image_shape": sets.image_shape,
        "sets": [
            {"name": name, "class": label, "n_images": int(size)}
            for name, label, size in zip(sets.names, labels, sets.sizes, strict=True)
        ],
    }


def _show_rows(columns: tuple[str, ...], rows: Sequence[tuple[str, ...]]) -> None:
    from rich.console import Console

    Console(highlight=False).print(text_table(columns, rows))
