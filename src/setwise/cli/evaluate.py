"""``setwise evaluate``: how well one's own sets are told apart."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from setwise.cli.common import check_output, say
from setwise.cli.options import Jobs, Output, Reading, Source, Unknown, command
from setwise.cli.reading import check_asked, classifier_for, load

if TYPE_CHECKING:
    from setwise._support.progress import Progress
    from setwise.evaluation import Evaluation
    from setwise.io import LoadedSets

__all__ = ["evaluate"]


@command
def evaluate(
    gallery: Source,
    reading: Reading,
    output: Output,
    folds: Annotated[int, typer.Option(help="Parts; each is judged by all others.")] = 5,
    report: Annotated[
        Path | None, typer.Option(help="One HTML page: what is taken for what, and why.")
    ] = None,
    unknown: Unknown = None,
    seed: Annotated[int, typer.Option(help="Which sets come together in a part.")] = 0,
    jobs: Jobs = -1,
) -> None:
    """Cross-validate on labelled sets: accuracy, confusion, and which sets are wrong.

    Every set is judged by a gallery of others; no set is ever on both sides.

    Example:
      setwise evaluate gallery/ --folds 2 --report evaluation.html
    """
    from setwise._support.parameters import check_count

    reading.check()
    check_asked(unknown, jobs)
    check_count("setwise", "--folds", folds, at_least=2)
    check_count("setwise", "--seed", seed, at_least=0)
    check_output(report, "--report")
    with output.progress() as progress:
        from setwise.evaluation import cross_validate

        sets = load(gallery, reading.of_gallery(), output, progress, labelled=True)
        found = cross_validate(
            classifier_for(sets, reading.features, unknown),
            sets,
            sets.labels,
            folds=folds,
            seed=seed,
            n_jobs=jobs,
            keep_fitted=report is not None,
            progress=progress,
        )
    # First of all: nothing that comes later can lose what is known now.
    if output.as_json:
        document = found.to_dict() | {"left_out": sets.report.to_dict()}
        typer.echo(json.dumps(document, indent=2))
    else:
        say(found.summary() if output.quiet else str(found))
    if report is not None:
        with output.progress() as progress:
            _write_report(report, found, sets, progress)
        say(f"report: {report}", err=True)


def _write_report(
    path: Path, found: Evaluation, sets: LoadedSets, progress: Progress | None
) -> None:
    from setwise.report import write_answers

    judged = [one.index for one in found.results]
    write_answers(
        path,
        [found.fitted[one.fold].gallery_ for one in found.results],
        sets[judged],
        [one.answer for one in found.results if one.answer is not None],
        truth=[one.truth for one in found.results],
        title="How well these sets are told apart",
        command=f"setwise evaluate {sets.report.source}",
        left_out=sets.report.skipped,
        progress=progress,
    )
