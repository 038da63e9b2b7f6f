"""A file of people: its faces, and what a person corrects of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from setwise.errors import DataError
from setwise.faces.known import KnownFace, faces_in, sets_of

if TYPE_CHECKING:
    from setwise import CVC


def faces_of_file(path: Path, clf: CVC) -> list[KnownFace]:
    """The faces of a file, which has to be one of people."""
    sets = clf.gallery_.sets
    if not clf.gallery_.has_vectors or sets.n_features != 128 or sets.origins is None:
        msg = f"{path} holds no people. Expected a file of `setwise people`."
        raise DataError(msg)
    return faces_in(sets, [str(one) for one in clf.classes_[clf.gallery_.codes]])


class Change:
    """The faces of a file, to be changed."""

    def __init__(self, path: Path, faces: list[KnownFace]) -> None:
        self.path, self.faces = path, faces

    @property
    def people(self) -> list[str]:
        """The people of the file, in the order of their faces."""
        return list(dict.fromkeys(face.person for face in self.faces))

    def check_known(self, person: str) -> None:
        """Refuse a person whom the file does not have."""
        if person not in self.people:
            known = ", ".join(sorted(self.people)[:20])
            msg = f"{self.path} has no {person!r}. Expected one of {known}."
            raise DataError(msg)

    def photos_of(self, person: str) -> set[str]:
        """The photos, or frames of clips, that show a person."""
        return {face.place for face in self.faces if face.person == person}

    def rename(self, old: str, new: str) -> None:
        """Give all faces of a person to another name."""
        self.faces = [
            replace(face, person=new) if face.person == old else face for face in self.faces
        ]

    def move(self, person: str, photos: Sequence[str], target: str) -> int:
        """Give the faces of some photos to another person; how many there were."""
        own = [face for face in self.faces if face.person == person]
        moved = [face for face in own if _is_of(face.place, photos)]
        if not moved:
            msg = f"{person} is in none of {', '.join(photos)}. `setwise inspect` lists photos."
            raise DataError(msg)
        if len(moved) == len(own):
            msg = f"{person} would have no face left. To rename: setwise name {self.path} ..."
            raise DataError(msg)
        chosen = set(map(id, moved))
        self.faces = [
            replace(face, person=target) if id(face) in chosen else face for face in self.faces
        ]
        return len(moved)


def _is_of(place: str, photos: Sequence[str]) -> bool:
    """Whether a photo, or the clip of a frame, is among some that are named.

    >>> _is_of("trip/beach/1.jpg", ["beach/1.jpg"]), _is_of("trip/a.mp4, frame 7", ["a.mp4"])
    (True, True)
    """
    named = [place, place.rpartition(", frame ")[0]]
    return any(one == photo or one.endswith(f"/{photo}") for photo in photos for one in named)


@contextmanager
def changing(path: Path) -> Iterator[Change]:
    """The faces of a file; what the block changes is written at its end."""
    from setwise import edit

    with edit(path) as clf:
        change = Change(path, faces_of_file(path, clf))
        before = change.faces
        yield change
        if change.faces == before:
            return
        if len(change.people) < 2:
            msg = f"{path} would have a single person. Expected two or more."
            raise DataError(msg)
        clf.fit(*sets_of(change.faces))
