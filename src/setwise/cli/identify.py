"""``setwise identify`` and ``classify``: the class of each set, how sure, and why."""

from __future__ import annotations

import gc
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from setwise._support.text import printable, spreadsheet
from setwise.cli.common import check_output, say, show_rows
from setwise.cli.options import Jobs, Output, Reading, Source, Unknown, command
from setwise.cli.quick_start import import_estimators
from setwise.cli.reading import (
    KNOWN_SUFFIXES,
    check_asked,
    check_features,
    fitted,
    is_gallery_file,
    joined,
    load,
    when_and_where,
)
from setwise.errors import DataError, ParameterError

if TYPE_CHECKING:
    from setwise import CVC, Answer, Explanation, SetBatch
    from setwise._support.progress import Progress
    from setwise.io import LoadedSets
    from setwise.sets import Origins

_NAMES_ALL = (
    "This gallery names a class for every set, also for sets of none of its classes; one of "
    "`setwise fit ... --unknown 0.05` can say unknown."
)
COLUMNS = (
    "set", "label", "probability", "margin", "runner_up", "is_known", "n_images",
    "n_out_of_place", "out_of_place", "first_file", "first_time", "last_time", "note",
)  # fmt: skip


@dataclass(frozen=True)
class Files:
    """Options for files to write."""

    explain: Annotated[Path | None, Option(metavar="DIR", help="Draw each answer.")] = None
    report: Annotated[Path | None, Option(help="Write an HTML page of all answers.")] = None
    csv: Annotated[Path | None, Option(help="Write a table for spreadsheets.")] = None

    def check(self) -> None:
        """Refuse, before any work, files that cannot be written."""
        check_output(self.explain, "--explain", is_folder=True)
        check_output(self.report, "--report")
        check_output(self.csv, "--csv")


Together = Annotated[
    bool,
    Option("--together", help="Let unlabelled sets pass labels on: for few labelled sets."),
]


@command
def identify(
    gallery: Annotated[Path, Argument(help="A file of `setwise fit`, or a folder of sets.")],
    probes: Annotated[list[Path], Argument(help="Sets to judge: folders, clips, files.")],
    files: Files,
    reading: Reading,
    output: Output,
    unknown: Unknown = None,
    together: Together = False,
    jobs: Jobs = -1,
) -> None:
    """Print the class of each set, how sure that is, and which photos look out of place.

    Example:
      setwise identify people.setwise album/
      setwise identify people.setwise DCIM/ --probe-layout bursts --gap 60 --csv bursts.csv
      setwise identify gallery/ albums/ --unknown 0.05 --report answers.html
      setwise identify few.setwise albums/ --together
    """
    _identify(gallery, probes, reading, output, files, unknown, jobs, together)


@command
def classify(
    gallery: Source,
    probes: Annotated[Path, Argument(help="Sets to judge, of the same kind.")],
    files: Files,
    reading: Reading,
    output: Output,
    unknown: Unknown = None,
    jobs: Jobs = -1,
) -> None:
    """Label sets by a folder of labelled sets: `fit` and `identify` together.

    Example:
      setwise classify gallery/ albums/ --csv answers.csv
    """
    _identify(gallery, [probes], reading, output, files, unknown, jobs)


def _identify(
    gallery: Path, probes: Sequence[Path], reading: Reading, output: Output, files: Files,
    unknown: float | None, jobs: int, together: bool = False,
) -> None:  # fmt: skip
    swapped = [one for one in probes if is_gallery_file(one)]
    if swapped:
        command = f"setwise identify {swapped[0]} {gallery}"
        msg = f"{swapped[0]} is a gallery file. Expected it first: {command}"
        raise DataError(msg)
    import_estimators()
    reading.check()
    check_asked(unknown, jobs)
    files.check()
    with output.progress() as progress:
        clf = _classifier(gallery, reading, output, unknown, jobs, progress)
        gc.enable()  # off until all is imported and loaded
        options = reading.as_recorded(clf.reading_).of_probes(clf.gallery_.sets.image_shape)
        sources = [load(source, options, output, progress) for source in _sources(probes)]
        _check_kind(gallery, clf, sources)
        sets = joined(sources)
        whys: Mapping[int, Explanation] = {}
        if files.report is None or together:
            answers = clf.judge(sets, progress=progress, together=together)
        else:  # needs explanations, which take no second look at a set
            from setwise.report import judge_and_explain

            how: dict[str, Any] = {"n_jobs": jobs, "progress": progress}
            answers, whys = judge_and_explain(clf.gallery_, sets, **how)
    told = [answer_row(answer, sets, i, clf.unknown_label) for i, answer in enumerate(answers)]
    _show(told, clf, gallery, sources, output)  # before the files, of which one may fail
    with output.progress() as progress:
        left_out = [left for source in sources for left in source.report.skipped]
        of_report = {"explanations": whys, "left_out": left_out}
        _write(files, clf, sets, answers, told, progress, **of_report)


def _classifier(
    gallery: Path, reading: Reading, output: Output, unknown: float | None, jobs: int,
    progress: Progress | None,
) -> CVC:  # fmt: skip
    """The classifier of a gallery file, or one that is fitted to a folder."""
    if gallery.is_dir() or gallery.suffix.lower() in KNOWN_SUFFIXES:
        sets = load(gallery, reading.of_gallery(), output, progress, labelled=True)
        return fitted(sets, reading.features, unknown, jobs, output, progress)
    from setwise import load as load_file

    clf = load_file(gallery)
    check_features(gallery, clf, reading.features)
    if unknown is not None and unknown != clf.unknown:
        had = "cannot say unknown" if clf.unknown is None else f"has --unknown {clf.unknown:g}"
        msg = (
            f"--unknown {unknown:g}: {gallery} {had}, which only `setwise fit` can change. "
            f"Leave the option out, or run `setwise fit ... --unknown {unknown:g}`."
        )
        raise ParameterError(msg)
    return clf.set_params(n_jobs=jobs)


def _sources(probes: Sequence[Path]) -> list[Path | list[Path]]:
    """The probes, those that are single photos as one source."""
    from setwise.io.decode import SUFFIXES

    photos = [one for one in probes if one.suffix.lower() in SUFFIXES and not one.is_dir()]
    others: list[Path | list[Path]] = [one for one in probes if one not in photos]
    return [*others, photos] if photos else others


def _check_kind(gallery: Path, clf: CVC, sources: Sequence[LoadedSets]) -> None:
    """Refuse photos where the gallery holds vectors of a network outside of setwise."""
    sets = clf.gallery_.sets
    for source in sources:
        if sets.image_shape is None and source.image_shape is not None:
            msg = (
                f"{source.report.source} holds photos, and {gallery} vectors of "
                f"{sets.n_features} numbers. Expected vectors by the same network: give them "
                "as .npz, .csv or .parquet, or fit a gallery of photos."
            )
            raise DataError(msg)


def _show(
    told: list[dict[str, Any]], clf: CVC, gallery: Path, sources: Sequence[LoadedSets],
    output: Output,
) -> None:  # fmt: skip
    if output.as_json:
        document = {
            "format": 1,
            "gallery": {
                "source": str(gallery),
                "n_sets": len(clf.gallery_.sets),
                "classes": [str(label) for label in clf.classes_],
                "can_say_unknown": clf.gallery_.calibration.threshold is not None,
            },
            "answers": told,
            "left_out": [sets.report.to_dict() for sets in sources],
        }
        typer.echo(json.dumps(document, indent=2))
    elif output.quiet:
        for row in told:
            typer.echo(line(row))
    else:
        columns = ("set", "label", "how sure", "next", "out of place", "")
        show_rows(columns, [table_row(row) for row in told])
        if clf.gallery_.calibration.threshold is None:
            say(_NAMES_ALL, err=True)


def _write(
    files: Files, clf: CVC, sets: SetBatch, answers: Sequence[Answer],
    told: list[dict[str, Any]], progress: Progress | None, **of_report: Any,
) -> None:  # fmt: skip
    from setwise._support.files import write_whole

    if files.csv is not None:
        write_whole(files.csv, as_csv(told))
        say(f"table: {files.csv}", err=True)
    if files.explain is not None:
        from setwise.report import draw_answers

        drawn = draw_answers(files.explain, clf.gallery_, sets, answers, progress=progress)
        say(f"{len(drawn)} pictures: {files.explain}", err=True)
    if files.report is not None:
        from setwise.report import write_answers

        of_report["progress"] = progress
        write_answers(files.report, clf.gallery_, sets, answers, **of_report)
        say(f"report: {files.report}", err=True)


def answer_row(answer: Answer, probes: SetBatch, i: int, unknown_label: str) -> dict[str, Any]:
    """One answer as JSON; docs/command.md has its schema."""
    origins = probes.of_set(i)
    shares = zip(answer.classes, answer.probabilities, strict=True)
    is_stranger = answer.is_known is False
    return {
        "set": answer.name,
        "label": unknown_label if is_stranger else str(answer.nearest),
        "nearest": str(answer.nearest),
        "is_known": answer.is_known,
        "probability": answer.probability,
        "runner_up": None if answer.runner_up is None else str(answer.runner_up),
        "margin": answer.margin,
        "nearness": answer.nearness,
        "n_images": len(answer.is_typical),
        "out_of_place": _out_of_place(answer, origins),
        **when_and_where(origins),
        "note": _note(answer),
        "carried_by": [{"set": name, "share": share} for name, share in answer.carried_by],
        "probabilities": {str(label): float(share) for label, share in shares},
    }


def _out_of_place(answer: Answer, origins: Origins | None) -> list[dict[str, Any]]:
    """Images out of place, numbered from 1, and their files."""
    files = origins.files if origins else [None] * len(answer.is_typical)
    images = enumerate(zip(files, answer.is_typical, strict=True), start=1)
    return [{"image": i, "file": file} for i, (file, is_typical) in images if not is_typical]


def _note(answer: Answer) -> str:
    if not answer.is_informed:
        return "has nothing in common with any class: a guess"
    if answer.is_known is False:
        return f"most like {answer.nearest}"
    carriers = [f"{name} {share:.2f}" for name, share in answer.carried_by[:2]]
    return f"by {', '.join(carriers)}" if carriers else ""


def table_row(row: dict[str, Any]) -> tuple[str, ...]:
    """An answer as a row of the printed table."""
    numbers = f"{row['probability']:.2f}", row["runner_up"] or ""
    if row["is_known"] is False:  # the numbers are of its nearest class
        numbers = "", ""
    strange = [one["file"] or f"image {one['image']}" for one in row["out_of_place"]]
    shown = ", ".join(Path(name).name for name in strange[:3])
    more = f" and {len(strange) - 3} more" if len(strange) > 3 else ""
    return row["set"], row["label"], *numbers, shown + more, row["note"]


def line(row: dict[str, Any]) -> str:
    """An answer as one line for pipes: set, label and probability between tabs, escaped."""
    return "\t".join(map(printable, (row["set"], row["label"], f"{row['probability']:.3f}")))


def as_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Answers as a table for spreadsheets, in which nothing is a formula."""
    cells = []
    for row in rows:
        outliers = [str(one["file"] or one["image"]) for one in row["out_of_place"]]
        own = {"n_out_of_place": len(outliers), "out_of_place": "; ".join(outliers)}
        cells.append(row | own)
    return spreadsheet(COLUMNS, cells)
