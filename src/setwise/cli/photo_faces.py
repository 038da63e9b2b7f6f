"""Faces of photos as folders and a table, for ``setwise faces`` and ``setwise people``."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.text import distinct_file_names, spreadsheet

if TYPE_CHECKING:
    from setwise.faces import PhotoFaces
    from setwise.faces.contact_sheet import SheetRow

COLUMNS = (
    "photo", "folder", "left", "top", "width", "height", "size", "sharpness", "turn", "score",
    "time",
)  # fmt: skip


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
