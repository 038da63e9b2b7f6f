"""Sets and galleries from files, messages on what was left out, and ``setwise inspect``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from setwise.cli.common import say, show_rows
from setwise.cli.options import Jobs, Output, Reading, Source, command

if TYPE_CHECKING:
    from setwise import CVC, SetBatch
    from setwise._support.progress import Progress
    from setwise.io import LoadedSets, LoadReport
    from setwise.sets import Origins

# Folders of a camera's card, by the rule that cameras follow (DCF): 100EK113, 101_PANA, ...
_OF_A_CARD = re.compile(r"DCIM|[1-9]\d\d\w{5}")
CARD = (
    "these are folders of a camera, each read as one set; `--probe-layout bursts` "
    "(for a gallery, `--layout class/bursts`) makes each burst a set."
)
WHOLE_FRAMES = "whole frames are read; to judge faces, cut them out first: `setwise faces`."


def load(
    source: Path, options: dict[str, Any], output: Output, progress: Progress | None,
    *, labelled: bool = False,
) -> LoadedSets:  # fmt: skip
    """Read sets, which need classes if ``labelled``, and print what was left out."""
    sets = _loaded(source, options | {"labelled": labelled}, progress)
    tell(sets.report, output)
    folders = (part for name in sets.names for part in name.split("/"))
    is_of_card = "bursts" not in sets.report.layout and any(map(_OF_A_CARD.fullmatch, folders))
    if is_of_card and not output.is_silent:
        say(f"{source}: {CARD}", err=True)
    return sets


def _loaded(source: Path, options: dict[str, Any], progress: Progress | None) -> LoadedSets:
    from setwise._support.parallel import quiet
    from setwise.errors import SkippedFilesWarning
    from setwise.io import load_sets

    with quiet("", SkippedFilesWarning):  # said here
        return load_sets(source, progress=progress, **options)


def tell(report: LoadReport, output: Output) -> None:
    """Print on stderr what was left out of a source; `--json` has it in its document."""
    if output.as_json:
        return
    if not output.quiet:
        if report.notes or report.skipped:
            say(str(report), err=True)
        if report.what == "frames":
            say(f"{report.source}: {WHOLE_FRAMES}", err=True)
    elif report.skipped:
        n_left = len(report.skipped)
        say(f"{report.source}: {n_left} left out; `setwise inspect` lists them.", err=True)


def joined(sources: Sequence[LoadedSets]) -> SetBatch:
    """The sets of all sources as one batch."""
    from setwise import SetBatch

    if len(sources) == 1:
        return sources[0]
    names = [name for one in sources for name in one.names]
    if len(set(names)) < len(names):  # sets of several folders may have one name
        names = [f"{one.report.source}: {name}" for one in sources for name in one.names]
    return SetBatch.join(sources).replaced(names=names)


def gallery_document(path: Path) -> dict[str, Any]:
    """The JSON document of a gallery file, unchecked, without loading its arrays."""
    from setwise import load as load_file
    from setwise.io.untrusted import regular_file

    try:
        with regular_file("setwise", path).open("rb") as file:
            length = min(int.from_bytes(file.read(8), "little"), path.stat().st_size)
            document = json.loads(json.loads(file.read(length))["__metadata__"]["setwise"])
        return dict(document)
    except (OSError, ValueError, TypeError, KeyError, RecursionError, MemoryError):
        load_file(path)
        raise


def check_asked(unknown: float | None, jobs: int) -> None:
    """Refuse wrong parameters of the classifier before any set is read."""
    from setwise import CVC

    CVC(unknown=unknown, n_jobs=jobs).describe()


def classifier_for(
    sets: LoadedSets, features: str, unknown: float | None, jobs: int | None = None
) -> CVC:
    """A classifier of images by these features, or of vectors."""
    from setwise import CVC

    own: dict[str, Any] = {} if sets.image_shape is None else {"features": features}
    make = CVC if sets.image_shape is None else CVC.for_images
    return make(unknown=unknown, n_jobs=jobs, random_state=0, **own)


def fitted(
    sets: LoadedSets, features: str, unknown: float | None, jobs: int, output: Output,
    progress: Progress | None,
) -> CVC:  # fmt: skip
    """A classifier fitted to the sets; the weights of image features are printed."""
    report = progress or (lambda what, done, total: None)
    report("fit", 0, 1)
    clf = classifier_for(sets, features, unknown, jobs).fit(sets, sets.labels)
    report("fit", 1, 1)
    if sets.image_shape is not None and not output.is_silent:
        shares = ", ".join(f"{name} {100 * w:.0f} %" for name, w in clf.view_weights_.items())
        say(f"feature weights: {shares}", err=True)
    return clf


def when_and_where(origins: Origins | None) -> dict[str, Any]:
    """The first file of a set, and when its photos were taken."""
    if origins is None:
        return {"first_file": None, "first_time": None, "last_time": None}
    times = sorted(time for time in origins.times.tolist() if time is not None)
    first, last = (times[0].isoformat(), times[-1].isoformat()) if times else (None, None)
    return {"first_file": origins.files[0], "first_time": first, "last_time": last}


@command
def inspect(
    source: Source,
    reading: Reading,
    output: Output,
    gallery: Annotated[bool, Option("--gallery", help="Read it as `fit` does.")] = False,
    jobs: Jobs = -1,
) -> None:
    """List the classes, sets, photos and times of a source, and every bad file.

    Ends with status 1 if files cannot be read, after all of them are listed.

    Example:
      setwise inspect DCIM/ --layout bursts --gap 60
    """
    reading.check()
    options = reading.of_gallery() | {"on_error": "list", "n_jobs": jobs, "labelled": gallery}
    with output.progress() as progress:
        sets = _loaded(source, options, progress)
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
