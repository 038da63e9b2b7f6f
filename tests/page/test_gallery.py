"""The gallery: classes, thumbnails, weak classes, events."""

from __future__ import annotations

import json
import shutil
import time
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from tests.page.page_server import SHAPE, album, gallery_sets, served, settings_for
from tests.striped_sets import stripes

from setwise import CVC, SetBatch, edit, load
from setwise.errors import DataError
from setwise.gallery.file import save_gallery
from setwise.page import create_app
from setwise.page.gallery_file import GalleryState
from setwise.page.overview import weaknesses


def test_the_overview_has_every_class_and_set(shared_page):
    found = shared_page.overview()
    assert (found["n_classes"], found["n_sets"], found["n_images"]) == (3, 9, 72)
    assert [group["name"] for group in found["classes"]] == ["flat", "slanted", "steep"]
    assert [group["n_sets"] for group in found["classes"]] == [3, 3, 3]
    assert found["can_change"]
    assert found["can_undo"] is found["can_redo"] is None
    assert found["unknown"]["rate"] == 0.34
    assert not found["inbox"]
    ids = [one["id"] for group in found["classes"] for one in group["sets"]]
    assert len(set(ids)) == 9


def test_a_gallery_with_names_that_no_response_can_hold_is_not_served(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    whole = settings.gallery.read_bytes()
    clf = load(settings.gallery)
    names = ["a\udcff", *clf.gallery_.sets.names[1:]]
    odd = replace(clf.gallery_, sets=clf.gallery_.sets.replaced(names=names))
    save_gallery(odd, settings.gallery)
    with pytest.raises(DataError, match="which is no text"):
        create_app(settings)
    settings.gallery.write_bytes(whole)
    with served(settings) as page:
        save_gallery(odd, settings.gallery)
        page.state.file.refreshed(surely=True)
        assert page.get("/readyz").status_code == 503
        assert page.overview()["n_sets"] == 9


def test_thumbnails_are_those_of_the_gallery_and_never_change(shared_page):
    first = shared_page.overview()["classes"][0]["sets"][0]
    found = shared_page.get(f"/api/v1/sets/{first['id']}/images/3")
    sets = load(shared_page.gallery).gallery_.sets
    assert found.content == sets.origins.thumbnails[3]
    assert found.headers["content-type"] == "image/jpeg"
    assert "immutable" in found.headers["cache-control"]


@pytest.mark.parametrize(
    "path",
    [
        "/api/v1/sets/nobody/images/0",
        "/api/v1/sets/{id}/images/8",
        "/api/v1/sets/{id}/images/-1",
    ],
)
def test_what_is_not_there_is_said_in_a_sentence(shared_page, path):
    first = shared_page.overview()["classes"][0]["sets"][0]
    found = shared_page.get(path.format(id=first["id"]))
    assert found.status_code in (404, 422)
    assert set(found.json()) == {"error"}


def test_weak_classes_are_found_from_left_out_sets():
    """A class of one set, and one of which a set is another's, are weak; the rest are not."""
    sets = gallery_sets()
    labels = np.asarray(sets.labels).astype("<U9")
    labels[-1] = "flat"  # which it does not look like
    lonely = SetBatch.from_images([stripes(2.3, 8, np.random.default_rng(1), SHAPE)])
    labels = np.append(labels, "lonely")
    clf = CVC(dims=(1, 2), weights=None, random_state=0)
    clf.fit(SetBatch.join([sets, lonely]), labels)
    weak = weaknesses(GalleryState(clf, "x"))
    assert weak["slanted"].sentences == ()
    assert "Only one album" in weak["lonely"].sentences[0]
    assert "One album of its 4 looks more like steep." in weak["flat"].sentences
    assert "steep" in weak["flat"].confused_with


def test_sets_are_grouped_by_class_in_one_pass():
    codes = np.random.default_rng(0).permutation(np.repeat(np.arange(100_000), 2))
    gallery = SimpleNamespace(codes=codes, n_classes=100_000)
    began = time.process_time()
    inside = GalleryState(SimpleNamespace(gallery_=gallery), "x").sets_of_class
    assert time.process_time() - began < 3
    for code in (0, 7, 99_999):
        assert inside[code].tolist() == np.flatnonzero(codes == code).tolist()


def test_weak_classes_come_later(shared_page):
    for _ in range(200):
        found = shared_page.overview()
        if found["weak_state"] == "ready":
            break
        time.sleep(0.05)
    assert found["weak_state"] == "ready"


def next_event(lines, name, is_wanted=lambda data: True):
    """The data of the next event of a name in the lines of a stream."""
    current = ""
    for line in lines:
        if line.startswith("event: "):
            current = line.removeprefix("event: ")
        elif line.startswith("data: ") and current == name:
            data = json.loads(line.removeprefix("data: "))
            if is_wanted(data):
                return data
    raise AssertionError(name)


def test_two_windows_see_each_other_s_changes(page):
    old = page.overview()["revision"]
    with page.new_client() as other, other.stream("GET", "/api/v1/events") as stream:
        lines = stream.iter_lines()
        assert next_event(lines, "gallery")["revision"] == old
        done = page.enroll("somebody new").json()
        changed = next_event(lines, "gallery", lambda data: data["revision"] != old)
        assert changed["revision"] == done["revision"] == page.overview()["revision"]


def test_a_change_from_elsewhere_is_picked_up(page):
    old = page.overview()["revision"]
    with page.new_client() as other, other.stream("GET", "/api/v1/events") as stream:
        lines = stream.iter_lines()
        next_event(lines, "gallery")
        with edit(page.gallery) as clf:
            clf.forget(sets=["steep/0"])
        next_event(lines, "gallery", lambda data: data["revision"] != old)
    assert "steep/0" not in page.sets()


def test_a_gallery_that_becomes_unreadable_says_so_and_keeps_answering(page):
    good = page.gallery.read_bytes()
    page.gallery.write_bytes(b"no gallery")
    found = page.overview()
    assert not found["can_change"]
    assert "cannot be read" in found["reason_it_cannot"]
    assert page.answered(album())["answers"][0]["label"] == "flat"
    page.gallery.write_bytes(good)
    assert page.overview()["can_change"]


def test_a_gallery_without_vectors_is_shown_but_not_changed(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    load(gallery_file).save(settings.gallery, keep_vectors=False)
    with served(settings) as page:
        found = page.overview()
        assert not found["can_change"]
        first = found["classes"][0]["sets"][0]
        assert first["shown"] == 0
        assert page.get(f"/api/v1/sets/{first['id']}/images/0").status_code == 404
        refused = page.post("/api/v1/commands/forget", {"set_id": first["id"]})
        assert refused.status_code == 422
        found = page.answered(album())["answers"][0]
        assert found["label"] == "flat"
        assert found["photos"][0]["nearest"] is None


def test_behind_a_link_the_file_itself_is_changed(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    there = tmp_path / "elsewhere"
    there.mkdir()
    shutil.move(settings.gallery, there / "real.setwise")
    settings.gallery.symlink_to(there / "real.setwise")
    with served(settings) as page:
        assert page.enroll("anna").status_code == 200
    assert settings.gallery.is_symlink()
    assert "anna" in load(there / "real.setwise").classes_
