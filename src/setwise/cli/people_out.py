"""Who is in which photo, for other programs: a table, folders and sidecars."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Option

from setwise._support.files import write_whole
from setwise._support.text import spreadsheet
from setwise.cli.common import check_output, counted
from setwise.errors import DataError

if TYPE_CHECKING:
    from setwise.faces.sightings import Seen, Sighting

COLUMNS = (
    "photo", "person", "left", "top", "width", "height", "size", "sharpness", "turn", "score",
    "time", "file",
)  # fmt: skip
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

    def check(self, sources: Sequence[Path]) -> None:
        """Refuse, before any work, what cannot be written, or lies among the photos."""
        check_output(self.csv, "--csv")
        check_output(self.sheet, "--sheet")
        check_output(self.folders, "--folders", is_folder=True)
        if self.folders is None:
            return
        own = self.folders.resolve()
        for there, source in ((one.resolve(), one) for one in sources):
            if own.is_relative_to(there) or there.is_relative_to(own):
                msg = (
                    f"--folders {self.folders}: lies among the photos of {source}, which are "
                    "never changed. Name a folder outside of them."
                )
                raise DataError(msg)

    def write(
        self, seen: Seen, who: Sequence[str | None], rows: Sequence[dict[str, Any]]
    ) -> Iterator[str]:
        """Write what is wanted, and say so."""
        if self.csv is not None:
            write_whole(self.csv, spreadsheet(COLUMNS, rows))
            yield f"table: {self.csv}"
        if self.sheet is not None:
            write_sheet(self.sheet, seen.sightings, who)
            yield f"faces of each person: {self.sheet}"
        if self.folders is not None:
            from setwise.cli.people_folders import write_folders

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
