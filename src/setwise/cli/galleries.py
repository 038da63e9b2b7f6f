"""``setwise fit``, ``enroll`` and ``forget``: galleries in files."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias

import typer
from typer import Argument, Option

from setwise._support.text import free_names
from setwise.cli.common import check_output, counted, say
from setwise.cli.options import Jobs, Output, Reading, Source, Unknown, command
from setwise.cli.reading import (
    check_asked,
    check_features,
    fitted,
    gallery_document,
    load,
    tell_repeated,
)
from setwise.errors import DataError

if TYPE_CHECKING:
    from setwise import CVC
    from setwise.io import LoadedSets


GalleryFile: TypeAlias = Annotated[Path, Argument(help="A gallery file of `setwise fit`.")]
_NO_VECTORS = "Keep no images or vectors: a smaller, private file that cannot be changed."
_FORCE = "Replace a file that is there; it is kept as FILE.bak."


@command
def fit(
    gallery: Source,
    reading: Reading,
    output: Output,
    out: Annotated[Path, Option("--out", "-o", help="The file to write.")],
    unknown: Unknown = None,
    no_vectors: Annotated[bool, Option("--no-vectors", help=_NO_VECTORS)] = False,
    force: Annotated[bool, Option("--force", help=_FORCE)] = False,
    jobs: Jobs = -1,
) -> None:
    """Fit a gallery of labelled sets, and write it to one file.

    Each folder is a class: anna/*.jpg is one set of anna, anna/holiday/*.jpg another one.
    `setwise identify` needs the file alone, not the photos.

    Example:
      setwise fit gallery/ -o people.setwise --unknown 0.05
    """
    reading.check()
    check_asked(unknown, jobs)
    check_output(out, "--out")
    check_free(out, force)
    with output.progress() as progress:
        sets = load(gallery, reading.of_gallery(), output, progress, labelled=True)
        tell_repeated(sets, labels_of(sets), 0, output)
        clf = fitted(sets, reading.features, unknown, jobs, output, progress)
        clf.reading_ |= reading.recorded(clf.reading_.get("features", []))
        if out.exists():
            shutil.copy2(out, _backup(out))
        clf.save(out, keep_vectors=not no_vectors)
    words = f"{_counted(clf)} in {out} ({out.stat().st_size / 1e6:.1f} MB)"
    _tell(clf, out, words, output, sets, has_vectors=not no_vectors)


def _backup(path: Path) -> Path:
    return path.with_name(f"{path.name}.bak")


def check_free(out: Path, force: bool) -> None:
    """Refuse to replace a file, with all that was enrolled, unless it is wanted."""
    if out.exists() and not force:
        msg = (
            f"--out {out}: is there already. Add sets to it by `setwise enroll {out} ...`, "
            "name another file, or replace it by --force, which keeps it as "
            f"{_backup(out).name}."
        )
        raise DataError(msg)


def labels_of(sets: LoadedSets) -> list[Any]:
    """The classes of labelled sets."""
    return [] if sets.labels is None else sets.labels.tolist()


@command
def enroll(
    gallery: GalleryFile,
    source: Source,
    reading: Reading,
    output: Output,
    label: Annotated[str | None, Option(help="Class of all sets; else their folders.")] = None,
    jobs: Jobs = -1,
) -> None:
    """Add sets of known or new classes to a gallery file.

    The file changes at once or not at all. Commands that change it wait for each other.

    Example:
      setwise enroll people.setwise new/                   (new/dora/*.jpg: sets of dora)
      setwise enroll people.setwise holiday/ --label anna
    """
    from setwise import edit

    reading.check()
    check_asked(None, jobs)
    with output.progress() as progress:
        shape = gallery_document(gallery).get("image_shape")
        if not isinstance(shape, list) or not all(isinstance(n, int) for n in shape):
            shape = None  # a damaged file is refused when it is loaded
        own = {"layout": reading.layout, "labels": reading.labels}
        recorded = reading.as_recorded(_recorded_by(gallery))
        own |= {"gap_s": recorded.of_gallery()["gap_s"]}
        options = reading.of_probes(tuple(shape) if shape else None) | own
        new = load(source, options, output, progress, labelled=label is None)
        with edit(gallery) as clf:
            if label is not None or new.labels is None:
                labels = _labels_of([label] * len(new), clf, "--label")
            else:
                labels = _labels_of(new.labels.tolist(), clf, str(source))
            check_features(gallery, clf, reading.features)
            _tell_enrolled_before(clf, new, labels, output)
            names = free_names(new.names, clf.gallery_.sets.names)  # so each can be forgotten
            clf.set_params(n_jobs=jobs).enroll(new.replaced(names=names), labels)
    words = f"{counted(len(new), 'set')} enrolled: {_counted(clf)} in {gallery}"
    _tell(clf, gallery, words, output, new)


def _tell_enrolled_before(
    clf: CVC, new: LoadedSets, labels: Sequence[Any], output: Output
) -> None:
    """Name the photos that the gallery has already."""
    from setwise import SetBatch

    gallery = clf.gallery_
    if gallery.has_vectors and gallery.sets.n_features == new.n_features:
        known = gallery.classes[gallery.codes].tolist()
        both = (gallery.sets.replaced(labels=None), new.replaced(labels=None))
        together = SetBatch.join(both).replaced(names=(*gallery.sets.names, *new.names))
        tell_repeated(together, [*known, *labels], len(known), output)


def _recorded_by(gallery: Path) -> dict[str, Any]:
    """What the file records of reading its sets."""
    own = gallery_document(gallery).get("classifier")
    found = own.get("reading") if isinstance(own, dict) else None
    return found if isinstance(found, dict) else {}


def _labels_of(given: Sequence[Any], clf: CVC, where: str) -> list[Any]:
    """Labels as the gallery has them, or new ones of the same type, for each that is given."""
    from setwise.sets.labels import typed_label

    reserved = None if clf.gallery_.calibration.threshold is None else str(clf.unknown_label)
    typed = {
        one: typed_label(one, clf.classes_, reserved, f"{where}: ")
        for one in dict.fromkeys(given)
        if isinstance(one, str)
    }
    return [typed.get(one, one) for one in given]


@command
def forget(
    gallery: GalleryFile,
    output: Output,
    label: Annotated[list[str] | None, Option(help="Class; may be repeated.")] = None,
    sets: Annotated[list[str] | None, Option("--set", help="Set; may be repeated.")] = None,
    jobs: Jobs = -1,
) -> None:
    """Remove classes or single sets from a gallery file, with all that was learnt from them.

    Example:
      setwise forget people.setwise --label bert
      setwise forget people.setwise --set "anna/holiday"
    """
    from setwise import edit

    if not label and not sets:
        msg = "nothing to forget. Give --label or --set."
        raise typer.BadParameter(msg)
    with output.progress(), edit(gallery) as clf:
        before = len(clf.gallery_.sets)
        known = {str(one): one for one in clf.classes_.tolist()}  # which may be numbers
        names = [known.get(one, one) for one in label or ()]
        clf.set_params(n_jobs=jobs).forget(names, sets=sets or ())
    gone = before - len(clf.gallery_.sets)
    words = f"{counted(gone, 'set')} forgotten: {_counted(clf)} in {gallery}"
    _tell(clf, gallery, words, output)


def _counted(clf: CVC) -> str:
    n_sets, n_classes = len(clf.gallery_.sets), len(clf.classes_)
    return f"{counted(n_sets, 'set')} of {counted(n_classes, 'class')}"


def _tell(
    clf: CVC, path: Path, words: str, output: Output, sets: LoadedSets | None = None,
    *, has_vectors: bool = True,
) -> None:  # fmt: skip
    if not output.as_json:
        say(words)
        return
    gallery = clf.gallery_
    counts = Counter(gallery.codes.tolist())
    document = {
        "gallery": str(path),
        "n_sets": len(gallery.sets),
        "classes": {str(label): counts[code] for code, label in enumerate(clf.classes_)},
        "can_say_unknown": gallery.calibration.threshold is not None,
        "views": clf.view_weights_,
        "has_vectors": has_vectors,
        "n_bytes": path.stat().st_size,
        "left_out": None if sets is None else sets.report.to_dict(),
    }
    typer.echo(json.dumps(document, indent=2))
