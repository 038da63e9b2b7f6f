"""Sets and galleries from files, messages on what was left out, and ``setwise inspect``."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Option

from setwise.cli.common import counted, in_shell_words, say, show_rows
from setwise.cli.options import Jobs, Output, Reading, Source, command
from setwise.errors import ParameterError

if TYPE_CHECKING:
    from setwise import CVC, SetBatch
    from setwise._support.progress import Progress
    from setwise.io import LoadedSets, LoadReport
    from setwise.sets import Origins

# Files of sets, which are no galleries.
KNOWN_SUFFIXES = (".mat", ".npz", ".npy", ".csv", ".parquet")
# Folders of a camera's card, by the rule that cameras follow (DCF): 100EK113, 101_PANA, ...
_OF_A_CARD = re.compile(r"DCIM|[1-9]\d\d\w{5}")
CARD = (
    "these are folders of a camera, each read as one set; `--probe-layout bursts` "
    "(for a gallery, `--layout class/bursts`) makes each burst a set."
)
_EXTRA_OF = {"edges": "image", "network": "network"}
WHOLE_FRAMES = "whole frames are read; to judge faces, cut them out first: `setwise faces`."


def load(
    source: Path | Sequence[Path], options: dict[str, Any], output: Output,
    progress: Progress | None,
    *, labelled: bool = False,
) -> LoadedSets:  # fmt: skip
    """Read sets, which need classes if ``labelled``, and print what was left out."""
    sets = _loaded(source, options | {"labelled": labelled}, progress)
    tell(sets.report, output)
    folders = (part for name in sets.names for part in name.split("/"))
    is_of_card = "bursts" not in sets.report.layout and any(map(_OF_A_CARD.fullmatch, folders))
    if is_of_card and not output.is_silent:
        say(f"{sets.report.source}: {CARD}", err=True)
    return sets


def _loaded(
    source: Path | Sequence[Path], options: dict[str, Any], progress: Progress | None
) -> LoadedSets:
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
            say(in_shell_words(str(report)), err=True)
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


def tell_repeated(sets: SetBatch, labels: Sequence[Any], n_known: int, output: Output) -> None:
    """Name photos that are in a new set and in another one; the first ``n_known`` are old."""
    from setwise.evaluation.leakage import sets_that_share

    if output.is_silent:
        return
    noun = "vector" if sets.image_shape is None else "photo"
    for (i, j), n in sets_that_share(sets).items():
        if j >= n_known and (n_known or labels[i] != labels[j]):
            where = "in the gallery already" if i < n_known else "given twice"
            say(
                f"{counted(n, noun)} of {sets.names[j]} ({labels[j]}) "
                f"{'is' if n == 1 else 'are'} {where}, in {sets.names[i]} ({labels[i]})",
                err=True,
            )


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
    clf.reading_ = {}
    report("fit", 1, 1)
    if sets.image_shape is not None:
        clf.reading_["features"] = _told_features(features, output)
    if sets.image_shape is not None and not output.is_silent:
        shares = ", ".join(f"{name} {100 * w:.0f} %" for name, w in clf.view_weights_.items())
        say(f"feature weights: {shares}", err=True)
    return clf


def _told_features(features: str, output: Output) -> list[str]:
    """The features that are used; what ``auto`` chose is printed."""
    from setwise.classify.image_features import named_features

    names = list(named_features(features, "setwise --features"))
    if features == "auto" and not output.is_silent:
        missing = [f'"setwise[{extra}]" adds {name}' for name, extra in _EXTRA_OF.items()]
        missing = [
            one for one, name in zip(missing, _EXTRA_OF, strict=True) if name not in names
        ]
        more = f" (pip install {'; '.join(missing)})" if missing else ""
        say(f"features, of those installed: {', '.join(names)}{more}", err=True)
    return names


def check_features(gallery: Path, clf: CVC, features: str) -> None:
    """Refuse other features than those of a gallery file, which it pins."""
    from setwise.classify.image_features import named_features

    if features == "auto":
        return
    own = clf.reading_.get("features")
    wanted = list(named_features(features, "setwise --features"))
    if not isinstance(own, list) or set(wanted) != set(own):
        has = ", ".join(map(str, own)) if isinstance(own, list) else "features of its own"
        msg = (
            f"--features {features}: {gallery} was fitted with {has}, which only `setwise fit` "
            "can change. Leave the option out."
        )
        raise ParameterError(msg)


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

    Ends with status 1 if files cannot be read, after all of them are listed. Of a gallery
    file, it lists the classes and sets that `enroll` and `forget` change.

    Example:
      setwise inspect DCIM/ --layout bursts --gap 60
      setwise inspect people.setwise
    """
    if is_gallery_file(source):
        _inspect_gallery(source, output)
        return
    reading.check()
    options = reading.of_gallery() | {"on_error": "list", "n_jobs": jobs, "labelled": gallery}
    with output.progress() as progress:
        sets = _loaded(source, options, progress)
    found = described(sets)
    if output.as_json:
        typer.echo(json.dumps(found, indent=2))
    else:
        say(in_shell_words(str(sets.report)))
        if not output.quiet:
            columns = ("class", "set", "images", "first taken", "first file")
            show_rows(columns, _cells(found["sets"]))
    if sets.report.skipped:
        raise typer.Exit(1)


def is_gallery_file(path: Path) -> bool:
    """Whether a file holds a gallery, by its first bytes."""
    if not path.is_file() or path.suffix.lower() in KNOWN_SUFFIXES:
        return False
    with path.open("rb") as file:
        return b'"setwise"' in file.read(4096)


def _inspect_gallery(path: Path, output: Output) -> None:
    from setwise import load as load_file

    clf = load_file(path)
    sets, labels = clf.gallery_.sets, clf.classes_[clf.gallery_.codes]
    rows = [
        {"class": str(label), "name": name, "n_images": int(n_images)}
        | when_and_where(sets.of_set(i))
        for i, (label, name, n_images) in enumerate(
            zip(labels, sets.names, sets.sizes, strict=True)
        )
    ]
    own = {"n_features": sets.n_features, "image_shape": sets.image_shape}
    own |= {"unknown": clf.unknown, "reading": clf.reading_}
    if output.as_json:
        typer.echo(json.dumps({"gallery": str(path)} | own | {"sets": rows}, indent=2))
        return
    say(f"{path}: {counted(len(rows), 'set')} of {counted(len(clf.classes_), 'class')}")
    if output.quiet:
        return
    order = sorted(rows, key=lambda row: str(row["class"]))
    show_rows(("class", "set", "images", "first taken", "first file"), _cells(order))


def _cells(rows: Sequence[dict[str, Any]]) -> list[list[str]]:
    columns = ("class", "name", "n_images", "first_time", "first_file")
    return [["" if row[c] is None else str(row[c]) for c in columns] for row in rows]


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
