"""The photos of each person in a folder, as copies or links."""

from __future__ import annotations

import json
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from setwise._support.files import write_whole
from setwise._support.text import distinct_file_names

if TYPE_CHECKING:
    from setwise.faces.sightings import Sighting

# Lists the files that a run has put into the folders: others are never touched.
LIST = ".setwise-people.json"


def write_folders(
    folder: Path, sightings: Sequence[Sighting], who: Sequence[str | None], *, links: bool
) -> int:
    """Copy or link the photos of each person; only what changed is written or removed."""
    folder.mkdir(parents=True, exist_ok=True)
    before = _listed(folder)
    wanted = _wanted(folder, before, sightings, who)
    write_whole(folder / LIST, json.dumps(sorted({*before, *wanted}), indent=0))
    for place in before - wanted.keys():
        path = folder / place
        path.unlink(missing_ok=True)
        if path.parent.is_dir() and not any(path.parent.iterdir()):
            path.parent.rmdir()
    n_new = sum(_put(folder / place, source, links) for place, source in wanted.items())
    write_whole(folder / LIST, json.dumps(sorted(wanted), indent=0))
    return n_new


def _listed(folder: Path) -> set[str]:
    """The files of earlier runs, all of them below the folder."""
    try:
        places = json.loads((folder / LIST).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return set()
    root = folder.resolve()
    return {
        place
        for place in (places if isinstance(places, list) else [])
        if isinstance(place, str) and (folder / place).parent.resolve().parent == root
    }


def _wanted(
    folder: Path, before: set[str], sightings: Sequence[Sighting], who: Sequence[str | None]
) -> dict[str, Path]:
    """The photo of each file, by the person and the name of the photo."""
    people = sorted({person for person in who if person is not None})
    folder_of = dict(zip(people, distinct_file_names(people), strict=True))
    wanted: dict[str, Path] = {}
    for one, person in zip(sightings, who, strict=True):
        if person is None:
            continue
        own, number = f"{folder_of[person]}/{one.path.name}", 1
        while wanted.get(own, one.path) != one.path or _is_foreign(folder / own, own, before):
            number += 1
            own = f"{folder_of[person]}/{one.path.stem} ({number}){one.path.suffix}"
        wanted[own] = one.path
    return wanted


def _is_foreign(path: Path, place: str, before: set[str]) -> bool:
    return place not in before and (path.exists() or path.is_symlink())


def _put(path: Path, source: Path, links: bool) -> bool:
    """Copy or link a photo; whether it was not there, or another one."""
    if path.is_symlink() or path.exists():
        here, there = path.stat() if path.exists() else None, source.stat()
        is_same = here is not None and here.st_size == there.st_size
        is_same = is_same and int(here.st_mtime) == int(there.st_mtime)  # type: ignore[union-attr]
        if is_same and path.is_symlink() == links:
            return False
        path.unlink()
    path.parent.mkdir(parents=True, exist_ok=True)
    if links:
        path.symlink_to(source.resolve())
    else:
        shutil.copy2(source, path)
    return True
