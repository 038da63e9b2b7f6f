"""The photos of each person in a folder, as copies or links."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setwise._support.files import write_whole
from setwise._support.text import distinct_file_names

if TYPE_CHECKING:
    from setwise.faces.sightings import Sighting

# Lists what a run has put into the folders, so that the next one changes that and no more.
LIST = ".setwise-people.json"


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
    try:
        for place in new:
            _put(folder / place, wanted[place], links)
    finally:  # also what was put there before something failed
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
