"""The albums of an inbox: one per folder of photos; of people, one per folder and person."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

from setwise._support.parallel import quiet
from setwise.classify import Gallery
from setwise.errors import SkippedFilesWarning, reject
from setwise.faces.sightings import Sighting, each_sighting, photos_and_clips_in
from setwise.io import load_sets
from setwise.io.loading_report import Skipped
from setwise.io.scan import natural_key
from setwise.page.gallery_file import content_digest, distinct_ids
from setwise.page.identify import loading_options
from setwise.page.identify_faces import as_set, grouped, is_of_faces, share_of
from setwise.page.inbox_rows import Row
from setwise.sets import SetBatch


class InboxFound(NamedTuple):
    """The rows of an inbox, and the files that are left out."""

    rows: list[Row]
    skipped: Sequence[Skipped]


def read_inbox(
    folder: Path, gallery: Gallery, told: Callable[[str, int, int], None]
) -> InboxFound:
    """Everything in a folder, as rows that are not judged yet."""
    if is_of_faces(gallery):
        return _people(folder, gallery, told)
    with quiet("", SkippedFilesWarning):
        sets = load_sets(folder, progress=told, **loading_options(gallery))
    contents = list(map(content_digest, sets))
    ids = distinct_ids(zip(sets.names, contents, strict=True))
    rows = []
    for i, (row_id, content) in enumerate(zip(ids, contents, strict=True)):
        first, end = sets.offsets[i : i + 2].tolist()
        files = sets.report.files[first:end]
        rows.append(Row(row_id, SetBatch.take(sets, [i]), files, content))
    return InboxFound(rows, sets.report.skipped)


def _people(
    folder: Path, gallery: Gallery, told: Callable[[str, int, int], None]
) -> InboxFound:
    """A row for each person of each album; the unknown ones are grouped over all albums."""
    photos, clips = photos_and_clips_in(folder)
    seen: list[Sighting] = []
    skipped: list[Skipped] = []
    for done, photo in enumerate(each_sighting(folder)):
        told("find faces", done, len(photos) + len(clips))
        seen += photo.sightings
        skipped += photo.skipped
    if not seen:
        reject(f"No photo in {folder} shows a face that is large enough.")
    rows: list[Row] = []
    above = f"{folder.resolve().name}/"
    for number, (is_known, group) in enumerate(grouped(gallery, seen)):
        albums: dict[str, list[Sighting]] = {}
        for face in group:
            albums.setdefault(face.album.removeprefix(above), []).append(face)
        shared = None if is_known or len(albums) == 1 else number
        rows += [_row(album, own, shared) for album, own in albums.items()]
    return InboxFound(_numbered(rows), skipped)


def _row(album: str, group: Sequence[Sighting], number: int | None) -> Row:
    one = as_set(album, group)
    each = [(face.path, share_of(face)) for face in group for _ in face.files]
    files, boxes = zip(*each, strict=True)
    return Row("", one, files, content_digest(one[0]), boxes=boxes, group=number)


def _numbered(rows: list[Row]) -> list[Row]:
    """The rows by album, with ids and names of their own."""
    rows.sort(key=lambda row: natural_key(row.name))
    n_of, counts = Counter(row.name for row in rows), Counter[str]()
    for row in rows:
        name = row.name
        counts[name] += 1
        if n_of[name] > 1:
            row.one = row.one.replaced(names=[f"{name}, {counts[name]}"])
    for row, row_id in zip(rows, distinct_ids((r.name, r.content) for r in rows), strict=True):
        row.id = row_id
    return rows
