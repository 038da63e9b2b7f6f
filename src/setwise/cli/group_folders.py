"""Groups as folders: what a person has renamed and moved there, and how they are written."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from setwise._support.text import distinct_file_names
from setwise.cli.group_record import UNSURE, Record
from setwise.errors import DataError, reject

if TYPE_CHECKING:
    from setwise.io import LoadedSets

# What the folder of sets of no group is called, and how deep entries are looked for.
UNSURE_FOLDER = "unsure"
_DEEPEST = 4


def found_in(folder: Path, record: Record) -> dict[str, str]:
    """The group in which each set of an earlier run is now: the folder that its entry is in."""
    set_of = {entry: one for one, entry in record.entries.items()}
    group_of = {place: group for group, place in record.folders.items()}
    found = {}
    for place, entries in _folders(folder, set_of):
        for entry in entries:
            found[set_of[entry]] = group_of.get(place, place)
    return found


def _folders(folder: Path, known: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Folders below one, as ``"family/Anna"``, and the known entries in them."""
    for here, folders, files in os.walk(folder):
        place = Path(here).relative_to(folder)
        inside = [one for one in (*folders, *files) if one in known]
        if inside and place.parts:
            yield place.as_posix(), inside
        if len(place.parts) >= _DEEPEST:
            folders.clear()
        elif place.parts:  # a group may be called like a set
            folders[:] = [one for one in folders if one not in known]


def files_of(sets: LoadedSets, i: int) -> list[Path]:
    """The files of a set; of a clip, the clip."""
    origins, source = sets.of_set(i), sets.report.source
    root = source if source.is_dir() else source.parent
    found: dict[Path, None] = {}
    for file in origins.files if origins else ():
        path = root / file
        if not path.is_file():  # such as "clip.mp4, frame 12"
            path = root / file.rpartition(", ")[0]
        if path.is_file():
            found[path] = None
    return list(found)


def check_files(sets: LoadedSets) -> None:
    """Refuse sets that are not of files, which cannot be sorted into folders."""
    if not all(files_of(sets, i) for i in range(len(sets))):
        msg = (
            f"--into: {sets.report.source} holds vectors, and no files to sort into folders. "
            "Expected photos or clips; --csv writes a table instead."
        )
        raise DataError(msg)


def write_into(
    folder: Path, sets: LoadedSets, groups: Sequence[str], record: Record, *, copy: bool
) -> tuple[Record, int]:
    """Put the files of each set into the folder of its group; files that are there stay.

    ``record`` knows where the sets are now. Returns it with the new places, and the number of
    files that were put there.
    """
    places = _places(record, groups)
    entries = _entries(sets, record)
    is_at = {one: place for place, one in _where(folder, record)}
    folder.mkdir(parents=True, exist_ok=True)
    n_new = 0
    for i, group in enumerate(groups):
        one = sets.names[i]
        target = folder / places[group] / entries[one]
        old = is_at.get(one)
        if old is not None and old != target:
            _move(folder, old, target)
        n_new += _put_set(target, files_of(sets, i), one in is_at, copy=copy)
    return replace(record, folders=places, entries={**record.entries, **entries}), n_new


def _places(record: Record, groups: Sequence[str]) -> dict[str, str]:
    """Folder of each group: where it is, or one that is called like the group."""
    places = {g: record.folders.get(g, g) for g in record.groups.values() if g != UNSURE}
    places = {group: place for group, place in places.items() if group in groups}
    places[UNSURE] = record.folders.get(UNSURE, UNSURE_FOLDER)
    new = sorted(set(groups) - places.keys())
    names = distinct_file_names([*places.values(), *new])[len(places) :]
    return places | dict(zip(new, names, strict=True))


def _entries(sets: LoadedSets, record: Record) -> dict[str, str]:
    """Name of the file or folder of each set; one name is of one set, wherever it is."""
    known = {one: record.entries[one] for one in sets.names if one in record.entries}
    new = [i for i, one in enumerate(sets.names) if one not in known]
    wanted = []
    for i in new:
        files = files_of(sets, i)
        wanted.append(files[0].name if len(files) == 1 else sets.names[i])
    taken = list(record.entries.values())
    free = _distinct(wanted, taken)
    return known | dict(zip((sets.names[i] for i in new), free, strict=True))


def _distinct(wanted: Sequence[str], taken: Sequence[str]) -> list[str]:
    """File names that differ; numbers stand before suffixes."""
    stems = [Path(name).stem if Path(name).suffix else name for name in wanted]
    suffixes = [Path(name).suffix for name in wanted]
    used = [Path(name).stem if Path(name).suffix else name for name in taken]
    free = distinct_file_names([*used, *stems])[len(used) :]
    return [stem + suffix for stem, suffix in zip(free, suffixes, strict=True)]


def _where(folder: Path, record: Record) -> Iterator[tuple[Path, str]]:
    """Places of the entries that are there, and their sets."""
    set_of = {entry: one for one, entry in record.entries.items()}
    for place, entries in _folders(folder, set_of):
        for entry in entries:
            yield folder / place / entry, set_of[entry]


def _move(folder: Path, old: Path, new: Path) -> None:
    """Move an entry to another group; a folder that is empty then goes."""
    if os.path.lexists(new):
        _refuse(new)
    new.parent.mkdir(parents=True, exist_ok=True)
    old.rename(new)
    if old.parent != folder and not any(old.parent.iterdir()):
        old.parent.rmdir()


def _put_set(target: Path, files: Sequence[Path], is_ours: bool, *, copy: bool) -> int:
    """Copy or link the files of a set; how many were not there."""
    if os.path.lexists(target) and not is_ours:
        _refuse(target)
    if len(files) == 1:
        return _put(target, files[0], copy=copy)
    names = _distinct([file.name for file in files], [])
    pairs = zip(names, files, strict=True)
    return sum(_put(target / name, file, copy=copy) for name, file in pairs)


def _put(place: Path, source: Path, *, copy: bool) -> bool:
    if os.path.lexists(place):
        return False
    place.parent.mkdir(parents=True, exist_ok=True)
    if copy:
        shutil.copy2(source, place)
    else:
        place.symlink_to(source.resolve())
    return True


def _refuse(place: Path) -> None:
    reject(
        f"--into: {place} is there already, and no earlier run has put it there. Expected an "
        "empty folder, or one of `setwise group`: move it, or name another folder."
    )
