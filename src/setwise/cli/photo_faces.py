"""Faces of photos as folders and a table, for ``setwise faces`` and ``setwise people``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.text import distinct_file_names, spreadsheet

if TYPE_CHECKING:
    from setwise._support.progress import Progress
    from setwise.faces import PhotoFaces
    from setwise.faces.contact_sheet import SheetRow

COLUMNS = (
    "photo", "folder", "left", "top", "width", "height", "size", "sharpness", "turn", "score",
    "time",
)  # fmt: skip


def photos_and_clips(sources: Sequence[Path]) -> tuple[list[Path], list[Path]]:
    """The sources that hold photos, and those that hold clips; a folder may hold both."""
    from setwise.io.decode import SUFFIXES
    from setwise.io.scan import scan
    from setwise.io.video import VIDEO_SUFFIXES

    photos, clips = [], []
    for source in sources:
        found = [source]
        if source.is_dir():
            wanted = SUFFIXES | VIDEO_SUFFIXES
            images = scan(source, 100_000, wanted, "photos or clips").images
            found = [one.path for one in images]
        kinds = {path.suffix.lower() for path in found}
        if kinds & SUFFIXES:
            photos.append(source)
        if kinds - SUFFIXES or not found:  # what is neither is refused as a clip
            clips.append(source)
    return photos, clips


def faces_of(
    source: Path, min_size: int | None, skip_bad: bool, cache: bool, progress: Progress | None
) -> PhotoFaces:
    """The faces of the photos of a source, kept in the user's cache."""
    from setwise._support.files import cache_folder
    from setwise._support.parallel import quiet
    from setwise.errors import SkippedFilesWarning
    from setwise.faces import find_faces

    how: dict[str, Any] = {"min_size": min_size, "on_error": "skip" if skip_bad else "raise"}
    how["cache"] = cache_folder() / "faces.sqlite" if cache else None
    with quiet("", SkippedFilesWarning):  # said by the command
        return find_faces(source, n_jobs=-1, max_bad=1.0, progress=progress, **how)


def write_faces(found: PhotoFaces, out: Path, size: int) -> list[dict[str, Any]]:
    """Write each face as a set of one image; return the rows of the table."""
    from setwise.io.save import add_images

    if not len(found):
        return []
    sets = found.to_sets(size)
    folders = add_images(sets.replaced(names=distinct_file_names(sets.names)), out)
    rows = []
    for face, folder in zip(found.faces, folders, strict=True):
        left, top, width, height = (round(side, 1) for side in face.box)
        box = {"left": left, "top": top, "width": width, "height": height}
        same = {key: getattr(face, key) for key in ("sharpness", "turn", "score", "time")}
        place = {"photo": face.photo, "folder": folder.relative_to(out).as_posix()}
        rows.append(place | box | {"size": round(face.size, 1)} | same)
    return rows


def write_table(rows: Sequence[dict[str, Any]], path: Path) -> None:
    """Write the table of the faces."""
    path.write_text(spreadsheet(COLUMNS, rows), encoding="utf-8")


def sheet_rows(found: PhotoFaces) -> list[SheetRow]:
    """A row of a contact sheet for each photo with faces."""
    from setwise.faces.contact_sheet import N_PICTURES, SheetRow

    rows = []
    for photo, places in groupby(range(len(found)), key=lambda i: found.faces[i].photo):
        own = list(places)
        number = f"{len(own)} face{'' if len(own) == 1 else 's'}"
        pictures = tuple(found.pictures[i] for i in own[:N_PICTURES])
        folder, _, name = photo.rpartition("/")
        rows.append(SheetRow(folder or "photos", name, (number,), pictures))
    return rows
