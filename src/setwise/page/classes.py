"""A class of the gallery on a page of its own: its cover, and doubtful photos first."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from setwise._support.files import write_whole
from setwise._support.parallel import one_blas_thread
from setwise._support.types import FloatArray, IntArray
from setwise.page import payload
from setwise.page.gallery_file import GalleryState
from setwise.sets.origins import has_photos

MOST_COVERS = 10_000


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
        set_id, image = state.set_ids[sets[k]], int(rows[k] - offsets[sets[k]])
        one = payload.ClassPhoto(
            set_id=set_id,
            album=gallery.sets.names[sets[k]],
            image=image,
            url=f"/api/v1/sets/{set_id}/images/{image}",
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


def _doubts(
    state: GalleryState, rows: IntArray, sets: IntArray, code: int
) -> tuple[FloatArray, Sequence[str | None]]:
    """How much more each photo is like one of another class than like one of its own.

    Its own set says nothing: an intruder rarely comes alone. Only where a class has one set,
    the other photos of that set speak for the class.
    """
    codes = np.repeat(state.gallery.codes, state.gallery.sets.sizes)
    owners = np.repeat(np.arange(len(state.gallery.codes)), state.gallery.sets.sizes)
    has_others = len(np.unique(sets)) > 1
    own, other = np.full((2, len(rows)), -1.0)
    who = np.zeros(len(rows), dtype=np.int64)
    with one_blas_thread():
        units = state.unit_rows(rows)
        for start, block in state.unit_blocks():
            part = slice(start, start + len(block))
            cosines = units @ block.T
            is_own = codes[part] == code
            is_self = np.arange(part.start, part.stop) == rows[:, None]
            if has_others:
                is_self = owners[part] == sets[:, None]
            mine = np.where(is_own & ~is_self, cosines, -1.0)
            own = np.maximum(own, mine.max(axis=1, initial=-1.0))
            theirs = np.where(is_own, -1.0, cosines)
            place = theirs.argmax(axis=1)
            best = theirs[np.arange(len(rows)), place]
            who = np.where(best > other, codes[part][place], who)
            other = np.maximum(other, best)
    return other - own, [state.classes[one] for one in who]
