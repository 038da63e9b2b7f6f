"""A class of the gallery on a page of its own: its cover, and doubtful photos first."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

from setwise._support.files import write_whole
from setwise._support.parallel import one_blas_thread
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.faces.sightings import place_of
from setwise.page import payload
from setwise.page.gallery_file import GalleryState
from setwise.sets.origins import has_photos, photo_name

MOST_COVERS = 10_000
SPOT = re.compile(r", face at ([0-9.]+) ([0-9.]+) %$")  # as setwise.faces names faces


class Covers:
    """The photos that people chose to stand for classes, known by the content of their sets.

    They are beside the gallery file: a cover says nothing about whose photos these are, and
    stays with its set when that is moved or renamed.
    """

    def __init__(self, file: Path) -> None:
        self.file, self.changes = file, 0
        self._chosen: dict[str, int] = {}  # image by content of the set, the latest last
        with suppress(OSError, ValueError, AttributeError, TypeError):
            found = json.loads(file.read_text(encoding="utf-8"))
            self._chosen = {str(content): int(image) for content, image in found.items()}

    def choose(self, content: str, image: int) -> None:
        """Let a photo stand for the class of its set."""
        rest = {one: old for one, old in self._chosen.items() if one != content}
        chosen = dict([*rest.items(), (content, image)][-MOST_COVERS:])
        write_whole(self.file, json.dumps(chosen))
        self._chosen = chosen
        self.changes += 1

    def places(self, state: GalleryState) -> list[tuple[int, int]]:
        """Set and image that stand for each class; its first photo where none was chosen."""
        found = [(int(inside[0]), 0) for inside in state.sets_of_class]
        if self._chosen and state.gallery.has_vectors:
            where = {content: i for i, content in enumerate(state.contents_of_sets)}
            sizes, codes = state.gallery.sets.sizes, state.gallery.codes
            for content, image in self._chosen.items():
                i = where.get(content)
                if i is not None and image < sizes[i]:
                    found[int(codes[i])] = i, image
        return found


def class_photos(
    state: GalleryState, code: int, first: int, n_photos: int
) -> payload.ClassPhotos:
    """Some photos of a class, those first that may be of another."""
    gallery, inside = state.gallery, state.sets_of_class[code]
    shows = gallery.has_vectors and has_photos(gallery.sets)
    offsets, sizes = gallery.sets.offsets, gallery.sets.sizes
    rows = np.concatenate([np.arange(offsets[i], offsets[i + 1]) for i in inside])
    sets = np.repeat(inside, sizes[inside])
    doubts: FloatArray = np.zeros(len(rows))
    others: Sequence[str | None] = [None] * len(rows)
    if shows and gallery.n_classes > 1:
        doubts, others = _doubts(state, rows, sets, code)
    order = np.argsort(-doubts, kind="stable") if shows else np.empty(0, dtype=np.int64)
    photos = []
    for k in order[first : first + n_photos].tolist():
        i = int(sets[k])
        one = payload.ClassPhoto(
            **_photo(state, i, int(rows[k] - offsets[i])),
            set_id=state.set_ids[i],
            album=gallery.sets.names[i],
            doubt=float(doubts[k]),
            looks_like=others[k] if doubts[k] > 0 else None,
        )
        photos.append(one)
    n_all = len(order)
    more = first + n_photos if first + n_photos < n_all else None
    return payload.ClassPhotos(
        id=state.class_ids[code],
        name=state.classes[code],
        n_photos=n_all,
        n_doubtful=int((doubts > 0).sum()),
        photos=photos,
        next=more,
    )


def set_photos(state: GalleryState, i: int) -> list[payload.SetPhoto]:
    """The photos of a set; none if the gallery has no pictures."""
    sets = state.gallery.sets
    shows = state.gallery.has_vectors and has_photos(sets)
    n_photos = int(sets.sizes[i]) if shows else 0
    return [payload.SetPhoto(**_photo(state, i, j)) for j in range(n_photos)]


def photo_of(name: str) -> tuple[str, bool]:
    """The file of a photo that a gallery names, and whether it is of a face in it."""
    place = place_of(name)
    return place, place != name


def _photo(state: GalleryState, i: int, j: int) -> dict[str, Any]:
    name = photo_name(state.gallery.sets, i, j)
    found = SPOT.search(name)
    return {
        "image": j,
        "url": f"/api/v1/sets/{state.set_ids[i]}/images/{j}",
        "name": photo_of(name)[0],
        "spot": (float(found[1]) / 100, float(found[2]) / 100) if found else None,
    }


def _doubts(
    state: GalleryState, rows: IntArray, sets: IntArray, code: int
) -> tuple[FloatArray, Sequence[str | None]]:
    """How much more each photo is like one of another class than like one of its own.

    Its own set says nothing: an intruder rarely comes alone. Only where a class has one set,
    the other photos of that set speak for the class.
    """
    owners = np.repeat(np.arange(len(state.gallery.codes)), state.gallery.sets.sizes)
    has_others = len(np.unique(sets)) > 1

    def is_self(part: slice) -> BoolArray:
        if has_others:
            return owners[part] == sets[:, None]
        return np.arange(part.start, part.stop) == rows[:, None]

    with one_blas_thread():
        own, other, who = state.rivals(state.unit_rows(rows), code, is_self)
    return other - own, [state.classes[one] for one in who]
