"""``setwise fit``, ``enroll`` and ``forget``: galleries in files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer

from setwise.cli.common import check_output, say
from setwise.cli.options import Jobs, Output, Reading, Source, Unknown, command
from setwise.cli.reading import check_asked, fitted, load

if TYPE_CHECKING:
    from setwise import CVC
    from setwise.io import LoadedSets

__all__ = ["enroll", "fit", "forget"]

GalleryFile: TypeAlias = Annotated[
    Path, typer.Argument(help="A gallery file, which `setwise fit` wrote.")
]


@command
def fit(
    gallery: Source,
    reading: Reading,
    output: Output,
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    unknown: Unknown = None,
    no_vectors: Annotated[
        bool,
        typer.Option(
            "--no-vectors",
            help="Keep no images or vectors: smaller, private, but never to be changed.",
        ),
    ] = False,
    jobs: Jobs = -1,
) -> None:
    """Learn a gallery of labelled sets, and write it to one file.

    Each folder is a class: anna/*.jpg is one set of anna, anna/holiday/*.jpg another one.
    The file answers `setwise identify` at once, without the photos.

    Example:
      setwise fit gallery/ -o people.setwise --unknown 0.05
    """
    reading.check()
    check_asked(unknown, jobs)
    check_output(out, "--out")
    with output.progress() as progress:
        sets = load(gallery, reading.of_gallery(), output, progress, labelled=True)
        clf = fitted(sets, reading.features, unknown, jobs, output, progress)
        clf.save(out, keep_vectors=not no_vectors)
    words = f"{_counted(clf)} in {out} ({_size(out)})"
    _tell(clf, out, words, output, sets, has_vectors=not no_vectors)


@command
def enroll(
    gallery: GalleryFile,
    source: Source,
    reading: Reading,
    output: Output,
    label: Annotated[
        str | None, typer.Option(help="Class of all these sets; their folder by default.")
    ] = None,
    jobs: Jobs = -1,
) -> None:
    """Add sets to a gallery file: new sets of somebody, or somebody new.

    The file changes at once or not at all, and two that enroll at once wait for each other.

    Example:
      setwise enroll people.setwise new/                   (new/dora/*.jpg: sets of dora)
      setwise enroll people.setwise holiday/ --label anna
    """
    from setwise import edit
    from setwise import load as load_file

    reading.check()
    check_asked(None, jobs)
    with output.progress() as progress:
        shape = load_file(gallery).gallery_.sets.image_shape
        options = reading.of_probes(shape) | {
            "layout": reading.layout,
            "labels": reading.labels,
        }
        new = load(source, options, output, progress, labelled=label is None)
        labels = [label] * len(new) if label is not None else new.labels
        with edit(gallery) as clf:
            clf.set_params(n_jobs=jobs).enroll(_named_anew(new, clf), labels)
    _tell(clf, gallery, f"{len(new)} sets enrolled: {_counted(clf)} in {gallery}", output, new)


def _named_anew(new: LoadedSets, clf: CVC) -> Any:
    """The new sets by names that no set of the gallery has, so that each can be forgotten."""
    taken, names = set(clf.gallery_.sets.names), []
    for name in new.names:
        number, free = 2, name
        while free in taken:
            free, number = f"{name} ({number})", number + 1
        taken.add(free)
        names.append(free)
    return new.replaced(names=names)


@command
def forget(
    gallery: GalleryFile,
    output: Output,
    label: Annotated[list[str] | None, typer.Option(help="Class that goes.")] = None,
    sets: Annotated[
        list[str] | None, typer.Option("--set", help="Single set that goes, by its name.")
    ] = None,
    jobs: Jobs = -1,
) -> None:
    """Take classes or single sets out of a gallery file: as if they had never been there.

    Example:
      setwise forget people.setwise --label bert
      setwise forget people.setwise --set "anna/holiday"
    """
    from setwise import edit

    if not label and not sets:
        msg = "what is to be forgotten? Give --label or --set."
        raise typer.BadParameter(msg)
    with output.progress(), edit(gallery) as clf:
        before = len(clf.gallery_.sets)
        names = [_typed(one, clf) for one in label or ()]
        clf.set_params(n_jobs=jobs).forget(names, sets=sets or ())
    gone = before - len(clf.gallery_.sets)
    _tell(clf, gallery, f"{gone} sets forgotten: {_counted(clf)} in {gallery}", output)


def _typed(label: str, clf: CVC) -> Any:
    """A label as the gallery has it: its classes may be numbers."""
    same = [known for known in clf.classes_.tolist() if str(known) == label]
    return same[0] if same else label


def _counted(clf: CVC) -> str:
    return f"{len(clf.gallery_.sets)} sets of {len(clf.classes_)} classes"


def _size(path: Path) -> str:
    return f"{path.stat().st_size / 1e6:.1f} MB"


def _tell(
    clf: CVC,
    path: Path,
    words: str,
    output: Output,
    sets: LoadedSets | None = None,
    *,
    has_vectors: bool = True,
) -> None:
    if not output.as_json:
        say(words)
        return
    gallery = clf.gallery_
    names = [str(label) for label in clf.classes_]
    counts = [int((gallery.codes == code).sum()) for code in range(len(names))]
    document = {
        "gallery": str(path),
        "n_sets": len(gallery.sets),
        "classes": dict(zip(names, counts, strict=True)),
        "can_say_unknown": gallery.calibration.threshold is not None,
        "views": clf.view_weights_,
        "has_vectors": has_vectors,
        "n_bytes": path.stat().st_size,
        "left_out": None if sets is None else sets.report.to_dict(),
    }
    typer.echo(json.dumps(document, indent=2))
