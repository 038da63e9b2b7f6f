"""``setwise compare`` and ``evaluate``: the accuracy of methods on one's own sets."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from setwise.cli.common import check_output, say
from setwise.cli.options import Jobs, Output, Reading, Source, Unknown, command
from setwise.cli.reading import check_asked, classifier_for, load

if TYPE_CHECKING:
    from setwise._support.progress import Progress
    from setwise.evaluation import Evaluation
    from setwise.io import LoadedSets

_FOR_IMAGES = ("CVC for images", "CVC for turntables")


@command
def compare(
    gallery: Source,
    probes: Annotated[Path, Argument(help="Labelled sets to judge, of the same kind.")],
    reading: Reading,
    output: Output,
    methods: Annotated[list[str] | None, Option(help='As "CVC,MSM,mean vector".')] = None,
    pixels: Annotated[int, Option(help="Side of images for other methods.")] = 20,
    splits: Annotated[int, Option(min=1, help="Deal all sets anew so often.")] = 1,
    jobs: Jobs = 1,
    picture: Annotated[
        Path | None, Option(help="Draw accuracy against time (.png, .svg).")
    ] = None,
) -> None:
    """Compare methods on your own sets: one table, with confidence intervals.

    Of images, `CVC for images` and `CVC for turntables` get all, read at --size. Other methods
    get the pixels at --pixels. With --splits 10, gallery and probes are put together and dealt
    again ten times, so that the table holds for other choices of sets, too.

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
        chosen: Any = names
        if known.image_shape is not None:
            chosen = _on_images(names, pixels, reading.features)
        how = {"methods": chosen, "n_jobs": jobs, "n_splits": splits, "progress": progress}
        comparison = compare_methods(known, known.labels, judged, judged.labels, **how)
    output.show(comparison.to_dict(), comparison.summary(), str(comparison))
    if picture is not None:  # after the table, which an error must not lose
        comparison.plot(picture)


def _on_images(names: list[str] | None, size: int, features: str) -> dict[str, Any]:
    """Methods by name: ours get images, the others their pixels."""
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


@command
def evaluate(
    gallery: Source,
    reading: Reading,
    output: Output,
    folds: Annotated[int, Option(help="Parts; each is judged by the others.")] = 5,
    report: Annotated[Path | None, Option(help="Write an HTML page that explains all.")] = None,
    unknown: Unknown = None,
    seed: Annotated[int, Option(help="Seed of the parts.")] = 0,
    jobs: Jobs = -1,
) -> None:
    """Cross-validate on labelled sets: accuracy, confusion, and which sets are wrong.

    Every set is judged once, by a gallery of the sets in the other parts.

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
        clf = classifier_for(sets, reading.features, unknown)
        how: dict[str, Any] = {"folds": folds, "seed": seed, "n_jobs": jobs}
        how |= {"keep_fitted": report is not None, "progress": progress}
        found = cross_validate(clf, sets, sets.labels, **how)
    document = found.to_dict() | {"left_out": sets.report.to_dict()}
    output.show(document, found.summary(), str(found))  # before the report, which may fail
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
