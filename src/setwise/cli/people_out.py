"""Who is in which photo, for other programs: a table, folders and sidecars."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from setwise._support.text import distinct_file_names, spreadsheet
from setwise.cli.common import check_output, counted

if TYPE_CHECKING:
    from setwise.faces.sightings import Seen, Sighting

COLUMNS = (
    "photo", "person", "left", "top", "width", "height", "size", "sharpness", "turn", "score",
    "time", "file",
)  # fmt: skip
# Lists the files that a run has put into the folders, so that the next one can remove them.
LIST = ".setwise-people.json"
_FOLDERS = "Copy the photos of each person to DIR/person/."
_XMP = "Write names and faces beside each photo, as photo.jpg.xmp."
_SHEET = "Draw faces of each person, and the unsure ones, on pages (.pdf)."


@dataclass(frozen=True)
class Outputs:
    """Options for what is written of people besides their file."""

    csv: Annotated[Path | None, Option(help="Write a table: a row per face.")] = None
    folders: Annotated[Path | None, Option(metavar="DIR", help=_FOLDERS)] = None
    links: Annotated[bool, Option("--links", help="Links instead of copies.")] = False
    xmp: Annotated[bool, Option("--xmp", help=_XMP)] = False
    sheet: Annotated[Path | None, Option(metavar="PDF", help=_SHEET)] = None

    def check(self) -> None:
        """Refuse, before any work, files that cannot be written."""
        check_output(self.csv, "--csv")
        check_output(self.sheet, "--sheet")
        check_output(self.folders, "--folders", is_folder=True)

    def write(
        self, seen: Seen, who: Sequence[str | None], rows: Sequence[dict[str, Any]]
    ) -> Iterator[str]:
        """Write what is wanted, and say so."""
        from setwise._support.files import write_whole

        if self.csv is not None:
            write_whole(self.csv, spreadsheet(COLUMNS, rows))
            yield f"table: {self.csv}"
        if self.sheet is not None:
            write_sheet(self.sheet, seen.sightings, who)
            yield f"faces of each person: {self.sheet}"
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


def write_sheet(path: Path, sightings: Sequence[Sighting], who: Sequence[str | None]) -> None:
    """A row of faces for each person, who is seen most first, and rows of unsure faces."""
    from setwise.faces.contact_sheet import N_PICTURES, SheetRow, save_contact_sheet, spread

    of: dict[str | None, list[bytes]] = {}
    n_seen = Counter(who)
    for one, person in zip(sightings, who, strict=True):
        of.setdefault(person, []).extend(one.pictures)
    unsure, rows = of.pop(None, []), []
    for person in sorted(of, key=lambda one: (-n_seen[one], str(one))):
        pictures = tuple(of[person][i] for i in spread(len(of[person])))
        rows.append(
            SheetRow("People", str(person), (f"seen {n_seen[person]} times",), pictures)
        )
    for start in range(0, len(unsure), N_PICTURES):
        part = tuple(unsure[start : start + N_PICTURES])
        rows.append(SheetRow("Unsure", f"{start + 1} to {start + len(part)}", (), part))
    save_contact_sheet(rows, path)


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
    """Copy or link the photos of each person; only what changed is written or removed."""
    people = sorted({person for person in who if person is not None})
    folder_of = dict(zip(people, distinct_file_names(people), strict=True))
    wanted: dict[str, Path] = {}
    for one, person in zip(sightings, who, strict=True):
        if person is not None:
            own = f"{folder_of[person]}/{one.path.name}"
            number = 2
            while own in wanted and wanted[own] != one.path:
                own = f"{folder_of[person]}/{one.path.stem} ({number}){one.path.suffix}"
                number += 1
            wanted[own] = one.path
    folder.mkdir(parents=True, exist_ok=True)
    _remove_old(folder, set(wanted))
    n_new = sum(_put(folder / place, source, links) for place, source in wanted.items())
    (folder / LIST).write_text(json.dumps(sorted(wanted), indent=0), encoding="utf-8")
    return n_new


def _remove_old(folder: Path, wanted: set[str]) -> None:
    """Remove what an earlier run has put there and nobody wants now."""
    try:
        before = json.loads((folder / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return
    for place in before if isinstance(before, list) else []:
        path = folder / str(place)
        if (
            place in wanted
            or ".." in path.parts
            or not path.resolve().parent.is_relative_to(folder.resolve())
        ):
            continue
        path.unlink(missing_ok=True)
        if path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()


def _put(place: Path, source: Path, links: bool) -> bool:
    """Copy or link a photo; whether it was not there."""
    if place.is_symlink() or place.exists():
        is_same = place.exists() and place.stat().st_size == source.stat().st_size
        if is_same and place.is_symlink() == links:
            return False
        place.unlink()
    place.parent.mkdir(parents=True, exist_ok=True)
    if links:
        place.symlink_to(source.resolve())
    else:
        shutil.copy2(source, place)
    return True


def write_sidecars(seen: Seen, who: Sequence[str | None]) -> tuple[int, list[Path]]:
    """Write the sidecars that have to change; also those of other programs, left alone."""
    from setwise.faces.sightings import UNNAMED
    from setwise.io.decode import orientation_of
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
        written = write_sidecar(photo, size, orientation_of(photo), regions)
        n_written += bool(written)
        if written is None:
            others.append(sidecar_of(photo))
    return n_written, others
