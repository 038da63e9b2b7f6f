"""Who is in which photo, for other programs: a table, folders and sidecars."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from setwise._support.files import write_whole
from setwise._support.text import distinct_file_names, spreadsheet
from setwise.cli.common import check_output, counted

if TYPE_CHECKING:
    from setwise.faces.sightings import Seen, Sighting

COLUMNS = (
    "photo", "person", "left", "top", "width", "height", "size", "sharpness", "turn", "score",
    "time", "file",
)  # fmt: skip
# Lists what a run has put into the folders, so that the next one changes that and no more.
LIST = ".setwise-people.json"
_FOLDERS = "Copy the photos of each person to DIR/person/."
_XMP = "Write names and faces beside each photo, as photo.jpg.xmp."


@dataclass(frozen=True)
class Outputs:
    """Options for what is written of people besides their file."""

    csv: Annotated[Path | None, Option(help="Write a table: a row per face.")] = None
    folders: Annotated[Path | None, Option(metavar="DIR", help=_FOLDERS)] = None
    links: Annotated[bool, Option("--links", help="Links instead of copies.")] = False
    xmp: Annotated[bool, Option("--xmp", help=_XMP)] = False

    def check(self) -> None:
        """Refuse, before any work, files that cannot be written."""
        check_output(self.csv, "--csv")
        check_output(self.folders, "--folders", is_folder=True)

    def write(
        self, seen: Seen, who: Sequence[str | None], rows: Sequence[dict[str, Any]]
    ) -> Iterator[str]:
        """Write what is wanted, and say so."""
        if self.csv is not None:
            write_whole(self.csv, spreadsheet(COLUMNS, rows))
            yield f"table: {self.csv}"
        if self.folders is not None:
            n = write_folders(self.folders, seen.sightings, who, links=self.links)
            yield f"{counted(n, 'photo')} new in {self.folders}"
        if self.xmp:
            n_written, others = write_sidecars(seen, who)
            yield f"{counted(n_written, 'sidecar')} written"
            if others:
                yield (
                    f"{counted(len(others), 'sidecar')} of other programs left as they are, "
                    f"the first {others[0]}"
                )


def face_rows(sightings: Sequence[Sighting], who: Sequence[str | None]) -> list[dict[str, Any]]:
    """A row for each face; person is empty where it is unsure, boxes where it is a track."""
    rows = []
    for one, person in zip(sightings, who, strict=True):
        row: dict[str, Any] = dict.fromkeys(COLUMNS)
        row |= {"photo": one.album, "person": person or "", "file": str(one.path)}
        if one.face is not None:
            left, top, width, height = (round(side, 1) for side in one.face.box)
            row |= {"left": left, "top": top, "width": width, "height": height}
            row |= {"photo": one.face.photo, "size": round(one.face.size, 1)}
            same = ("sharpness", "turn", "score", "time")
            row |= {key: getattr(one.face, key) for key in same}
        rows.append(row)
    return rows


def write_folders(
    folder: Path, sightings: Sequence[Sighting], who: Sequence[str | None], *, links: bool
) -> int:
    """Copy or link the photos of each person; what this has not put there stays as it is."""
    people = sorted({person for person in who if person is not None})
    folder_of = dict(zip(people, distinct_file_names(people), strict=True))
    folder.mkdir(parents=True, exist_ok=True)
    ours = _put_before(folder)
    wanted: dict[str, Path] = {}
    for one, person in zip(sightings, who, strict=True):
        if person is not None:
            own, number = f"{folder_of[person]}/{one.path.name}", 2
            while wanted.get(own, one.path) != one.path or (
                own not in ours and os.path.lexists(folder / own)
            ):
                own = f"{folder_of[person]}/{one.path.stem} ({number}){one.path.suffix}"
                number += 1
            wanted[own] = one.path
    for place in ours.keys() - wanted.keys():
        _remove(folder / place)
    stamps = {place: _source_stamp(source, links) for place, source in wanted.items()}
    new = [place for place, stamp in stamps.items() if ours.get(place) != stamp]
    for place in new:
        _put(folder / place, wanted[place], links)
    listed = {place: [_stamp(folder / place), stamp] for place, stamp in stamps.items()}
    write_whole(folder / LIST, json.dumps(listed, indent=0, sort_keys=True))
    return len(new)


def _put_before(folder: Path) -> dict[str, Any]:
    """Places that an earlier run has filled and nobody has changed since, and their sources."""
    try:
        listed = json.loads((folder / LIST).read_text(encoding="utf-8"))
        pairs = {str(place): (found, of) for place, (found, of) in listed.items()}
    except (OSError, ValueError, TypeError, AttributeError, RecursionError):
        return {}
    root = folder.resolve()
    return {
        place: of
        for place, (found, of) in pairs.items()
        if found is not None
        and ".." not in Path(place).parts
        and (folder / place).parent.resolve().is_relative_to(root)
        and _stamp(folder / place) == found
    }


def _stamp(place: Path) -> Any:
    """Where a link leads, or size and time of a file; None for anything else."""
    if place.is_symlink():
        return os.readlink(place)  # noqa: PTH115 (as it was written)
    if not place.is_file():
        return None
    about = place.stat()
    return [about.st_size, about.st_mtime_ns]


def _source_stamp(source: Path, links: bool) -> Any:
    return str(source.resolve()) if links else _stamp(source.resolve())


def _remove(place: Path) -> None:
    place.unlink(missing_ok=True)
    if place.parent.is_dir() and not any(place.parent.iterdir()):
        place.parent.rmdir()


def _put(place: Path, source: Path, links: bool) -> None:
    """Copy or link a photo, in place of what an earlier run has put there."""
    place.unlink(missing_ok=True)
    place.parent.mkdir(parents=True, exist_ok=True)
    if links:
        place.symlink_to(source.resolve())
    else:
        shutil.copy2(source, place)


def write_sidecars(seen: Seen, who: Sequence[str | None]) -> tuple[int, list[Path]]:
    """Write the sidecars that have to change; also those of other programs, left alone."""
    from setwise.faces.sightings import UNNAMED
    from setwise.io.xmp import Region, sidecar_of, write_sidecar

    of_photo: dict[Path, list[tuple[Sighting, str | None]]] = {}
    for one, person in zip(seen.sightings, who, strict=True):
        if one.face is not None:
            of_photo.setdefault(one.path, []).append((one, person))
    n_written, others = 0, []
    for photo, members in of_photo.items():
        regions = []
        for one, person in members:
            assert one.face is not None  # noqa: S101 (chosen above)
            (left, top, width, height), size = one.face.box, one.face.photo_size
            named = None if person is None or UNNAMED.fullmatch(person) else person
            x, y = (left + width / 2) / size[0], (top + height / 2) / size[1]
            regions.append(Region(named, x, y, width / size[0], height / size[1]))
        written = write_sidecar(photo, size, _orientation(photo), regions)
        n_written += bool(written)
        if written is None:
            others.append(sidecar_of(photo))
    return n_written, others


def _orientation(photo: Path) -> int:
    from PIL import Image

    if photo.suffix.lower() in (".heic", ".heif", ".hif"):
        return 1  # its reader turns it, and programs show it upright
    with Image.open(photo) as image:
        value = image.getexif().get(0x0112, 1)
    return value if value in range(1, 9) else 1
