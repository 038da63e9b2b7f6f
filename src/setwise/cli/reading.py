"""Sets and galleries from files, and messages on files that were left out."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise.cli.common import say

if TYPE_CHECKING:
    from setwise import CVC, SetBatch
    from setwise._support.progress import Progress
    from setwise.cli.options import Output
    from setwise.io import LoadedSets, LoadReport

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
    from setwise._support.parallel import quiet
    from setwise.errors import SkippedFilesWarning
    from setwise.io import load_sets

    with quiet("", SkippedFilesWarning):  # said here
        sets = load_sets(source, progress=progress, labelled=labelled, **options)
    tell(sets.report, output)
    folders = (part for name in sets.names for part in name.split("/"))
    is_of_card = "bursts" not in sets.report.layout and any(map(_OF_A_CARD.fullmatch, folders))
    if is_of_card and not output.is_silent:
        say(f"{source}: {CARD}", err=True)
    return sets


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
    """The JSON document of a gallery file, without its arrays. Nothing in it is checked.

    Files without a readable one are refused as :func:`setwise.load` refuses them.
    """
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
