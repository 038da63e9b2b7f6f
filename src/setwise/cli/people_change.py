"""A file of people while a person corrects it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from setwise._support.text import free_name
from setwise.errors import DataError
from setwise.faces.sightings import place_of

if TYPE_CHECKING:
    from setwise import SetBatch


class Change:
    """Sets of a file and their people, to be changed."""

    def __init__(self, path: Path, sets: SetBatch, owners: list[str]) -> None:
        self.path, self.sets, self.owners = path, sets, owners

    def check_known(self, person: str) -> None:
        """Refuse a person whom the file does not have."""
        if person not in self.owners:
            known = ", ".join(sorted(set(self.owners))[:20])
            msg = f"{self.path} has no {person!r}. Expected one of {known}."
            raise DataError(msg)

    def photos_of(self, person: str) -> set[str]:
        """The photos, or frames of clips, that show a person."""
        return {
            place_of(file)
            for i in range(len(self.sets))
            if self.owners[i] == person
            for file in self._files(i)
        }

    def move(self, person: str, photos: Sequence[str], target: str) -> int:
        """Give the faces of some photos to another person; how many there were."""
        chosen = {
            i: np.array([_is_of(file, photos) for file in self._files(i)])
            for i in range(len(self.sets))
            if self.owners[i] == person
        }
        n_moved = int(sum(mask.sum() for mask in chosen.values()))
        if n_moved == 0:
            msg = f"{person} is in none of {', '.join(photos)}. `setwise inspect` lists photos."
            raise DataError(msg)
        if all(mask.all() for mask in chosen.values()):
            msg = f"{person} would have no face left. To rename: setwise name {self.path} ..."
            raise DataError(msg)
        from setwise import SetBatch

        parts: list[SetBatch] = []
        owners, names = [], list(self.sets.names)
        for i in range(len(self.sets)):
            moved = chosen.get(i, np.zeros(self.sets.sizes[i], dtype=np.bool_))
            for mask, owner in ((~moved, self.owners[i]), (moved, target)):
                if mask.any():
                    name = self.sets.names[i]
                    if owner is target and not mask.all():
                        name = free_name(name, names)
                        names.append(name)
                    parts.append(self._part(i, mask, name))
                    owners.append(owner)
        joined = SetBatch.join(parts)
        self.sets = joined.replaced(names=[part.names[0] for part in parts])
        self.owners = owners
        return n_moved

    def _part(self, i: int, mask: np.ndarray, name: str) -> SetBatch:
        from setwise import SetBatch

        origins = self.sets.of_set(i)
        part = SetBatch.from_list([np.asarray(self.sets[i])[mask]], names=[name])
        if origins is None:
            return part
        return part.replaced(origins=origins.take(np.flatnonzero(mask)))

    def _files(self, i: int) -> tuple[str, ...]:
        origins = self.sets.of_set(i)
        return () if origins is None else origins.files


def _is_of(file: str, photos: Sequence[str]) -> bool:
    place = place_of(file)
    return any(place == photo or place.endswith(f"/{photo}") for photo in photos)


@contextmanager
def changing(path: Path) -> Iterator[Change]:
    """People of a file; what the block changes is written at its end."""
    from setwise import edit
    from setwise.cli.people import _people_in

    with edit(path) as clf:
        change = Change(path, *_people_in(path, clf))
        before = list(change.owners), change.sets
        yield change
        if (change.owners, change.sets) == before:
            return
        if len(set(change.owners)) < 2:
            msg = f"{path} would have a single person. Expected two or more."
            raise DataError(msg)
        clf.fit(change.sets, change.owners)
