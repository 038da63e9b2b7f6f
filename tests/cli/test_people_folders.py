"""The folders of `setwise people`: what was not put there by it is never changed."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest

from setwise.cli.people_folders import LIST, write_folders


@pytest.fixture
def photos(tmp_path):
    """Two people with photos of one name, in folders that are called like them."""
    for name, content in {"anna/1.jpg": b"Anna", "bo/1.jpg": b"Bo and Anna"}.items():
        path = tmp_path / "photos" / name
        path.parent.mkdir(parents=True)
        path.write_bytes(content)
    return tmp_path / "photos"


def seen(*paths):
    return [SimpleNamespace(path=path) for path in paths]


def files(folder):
    found = sorted(path for path in folder.rglob("*") if path.name != LIST)
    return {str(p.relative_to(folder)): p.read_bytes() for p in found if p.is_file()}


@pytest.mark.parametrize("links", [False, True])
def test_photos_that_are_there_are_neither_replaced_nor_removed(photos, links):
    before = files(photos)
    both = seen(photos / "bo" / "1.jpg", photos / "anna" / "1.jpg")
    assert write_folders(photos, both, ["anna", "bo"], links=links) == 2
    added = {"anna/1 (2).jpg": b"Bo and Anna", "bo/1 (2).jpg": b"Anna"}
    assert files(photos) == before | added
    assert write_folders(photos, both, ["anna", "bo"], links=links) == 0
    assert write_folders(photos, both, [None, None], links=links) == 0
    assert files(photos) == before
    assert not any((photos / name).is_symlink() for name in before)


def test_a_copy_that_was_edited_since_stays(photos, tmp_path):
    folder, one = tmp_path / "who", seen(photos / "bo" / "1.jpg")
    assert write_folders(folder, one, ["bo"], links=False) == 1
    (folder / "bo" / "1.jpg").write_bytes(b"with a frame")
    assert write_folders(folder, one, ["bo"], links=False) == 1
    assert files(folder) == {"bo/1.jpg": b"with a frame", "bo/1 (2).jpg": b"Bo and Anna"}


@pytest.mark.parametrize(
    "listed",
    ["[]", "no list", '["anna/1.jpg"]', '{"anna/1.jpg": [null, null]}', '{"anna/1.jpg": 5}',
     '{"anna/1.jpg": [[4, 0], 1]}', '{"anna": [null, null]}', "[" * 100_000],
)  # fmt: skip
def test_a_list_of_somebody_else_removes_nothing(photos, listed):
    (photos / LIST).write_text(listed)
    before = files(photos)
    write_folders(photos, [], [], links=False)
    assert files(photos) == before


def test_a_list_removes_nothing_outside_of_its_folder(photos, tmp_path):
    other = tmp_path / "thesis.docx"
    other.write_bytes(b"three years")
    stamp = [other.stat().st_size, other.stat().st_mtime_ns]
    (photos / "out").symlink_to(tmp_path)
    places = ("../thesis.docx", str(other), "out/thesis.docx")
    (photos / LIST).write_text(json.dumps({key: [stamp, stamp] for key in places}))
    write_folders(photos, [], [], links=False)
    assert other.read_bytes() == b"three years"
