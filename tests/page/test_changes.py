"""Changes: queued, done once under a key, learnt behind, and undone as before."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest
from tests.page.page_server import album, served, settings_for

from setwise import load
from setwise.page import learning
from setwise.page.changes import MOST_WAITING, BusyError, Changes
from setwise.page.history import History
from setwise.page.payload import Done


def wait(condition, what=""):
    for _ in range(600):
        if condition():
            return
        time.sleep(0.02)
    raise AssertionError(what)


@pytest.fixture
def learning_page(gallery_file, tmp_path):
    with served(settings_for(gallery_file, tmp_path), learns=True) as page:
        yield page


def test_a_change_is_answered_at_once_and_can_be_followed(page):
    body = {"set_id": page.sets()["flat/1"]["id"], "label": "steep", "key": "a-key-of-mine"}
    asked = page.post("/api/v1/commands/move", body, headers={"Prefer": ""})
    assert asked.status_code == 202
    assert (asked.json()["key"], asked.json()["command"]) == ("a-key-of-mine", "move")
    wait(lambda: page.get("/api/v1/changes/a-key-of-mine").json()["state"] == "done")
    done = page.get("/api/v1/changes/a-key-of-mine").json()
    assert done["words"] == "Moved flat/1 from flat to steep."
    assert done["revision"] == page.overview()["revision"]
    assert page.get("/api/v1/changes/unheard-of").status_code == 404


def test_a_change_that_fails_says_why(page):
    body = {"set_id": "gone", "key": "a-key-of-mine"}
    assert page.post("/api/v1/commands/forget", body, headers={"Prefer": ""}).status_code == 202
    wait(lambda: page.get("/api/v1/changes/a-key-of-mine").json()["state"] == "failed")
    assert "is gone" in page.get("/api/v1/changes/a-key-of-mine").json()["error"]
    assert page.post("/api/v1/commands/forget", body).status_code == 409


def test_what_is_sent_twice_under_one_key_is_done_once_by_the_next_server_too(
    gallery_file, tmp_path
):
    settings = settings_for(gallery_file, tmp_path)
    body = {"label": "flat", "key": "a-key-of-mine"}
    with served(settings) as page:
        body |= {"job": page.answered(album("flat"))["id"]}
        done = page.post("/api/v1/commands/enroll", body).json()
        assert page.post("/api/v1/commands/enroll", body).json() == done
    with served(settings) as page:
        # The question is asked again by now, which the change does not wait for.
        again = page.post("/api/v1/commands/enroll", body)
        assert again.status_code == 200
        assert again.json()["words"] == done["words"]
        assert len(page.sets()) == 10
        page.post("/api/v1/commands/undo")
        assert page.post("/api/v1/commands/enroll", body | {"key": "another-key"}).is_success
        assert len(page.sets()) == 10


def test_keys_that_could_be_anything_are_refused(page):
    for key in ("short", "x" * 65, "with space", "../../evil"):
        body = {"set_id": "none", "key": key}
        assert page.post("/api/v1/commands/forget", body).status_code == 422


def test_changes_are_done_one_after_the_other_and_too_many_are_refused():
    go, done = threading.Event(), []

    def work(key):
        assert go.wait(20)
        done.append(key)
        return Done(revision="", words=key)

    changes = Changes(lambda _: None)
    asked = [changes.ask("move", work, f"key-{i:06d}") for i in range(MOST_WAITING)]
    with pytest.raises(BusyError):
        changes.ask("move", work)
    assert changes.ask("move", work, "key-000003") is asked[3]
    changes.start()
    go.set()
    wait(lambda: asked[-1].is_over)
    assert done == [one.key for one in asked]
    assert changes.n_open == 0
    changes.close()


def same(one, other) -> bool:
    """Whether two galleries have learnt the same."""
    mine, others = one.gallery_.calibration, other.gallery_.calibration
    return np.allclose(mine.weights, others.weights) and mine.threshold == others.threshold


def is_learnt(page) -> bool:
    return not page.overview()["is_learning"]


def test_a_change_answers_at_once_and_is_learnt_behind(learning_page, gallery_file):
    page, before = learning_page, learning_page.gallery.read_bytes()
    page.enroll("slanted")
    wait(lambda: is_learnt(page), "learnt")
    found = load(page.gallery)
    assert found.gallery_.calibration.n_changed == 0
    expected = load(gallery_file)
    new = found.gallery_.sets[[9]].replaced(labels=None)
    assert not same(found, expected)
    assert same(found, expected.enroll(new, ["slanted"]))
    learnt = page.gallery.read_bytes()
    assert [line["command"] for line in page.get("/api/v1/history").json()] == ["enroll"]
    page.post("/api/v1/commands/undo")
    assert page.gallery.read_bytes() == before
    page.post("/api/v1/commands/redo")
    assert page.gallery.read_bytes() == learnt
    # What the page answers is what the file answers.
    probe = found.gallery_.sets[[0]].replaced(labels=None)
    both = page.state.file.state.classifier.judge(probe)[0], found.judge(probe)[0]
    assert both[0].probability == both[1].probability


def test_redo_holds_when_the_state_it_starts_from_was_learnt_meanwhile(
    gallery_file, tmp_path, monkeypatch
):
    settings = settings_for(gallery_file, tmp_path)
    with served(settings) as page:  # nothing is learnt
        page.enroll("flat")
        page.enroll("steep", seed=6)
        undone = page.post("/api/v1/commands/undo").json()
    with served(settings, learns=True) as page:
        wait(lambda: is_learnt(page), "learnt")
        assert page.overview()["revision"] != undone["revision"]
        assert page.overview()["can_redo"]["words"].endswith("to steep.")
        assert page.post("/api/v1/commands/redo").status_code == 200
        assert len(page.sets()) == 11
        for n_sets in (10, 9):
            assert page.post("/api/v1/commands/undo").status_code == 200
            assert len(page.sets()) == n_sets
        assert page.gallery.read_bytes() == gallery_file.read_bytes()


def test_what_is_learnt_from_an_old_state_is_dropped(learning_page, monkeypatch):
    page, begun, go = learning_page, threading.Event(), threading.Event()
    learnt, calls = learning.learnt, []

    def slowly(gallery, **options):
        calls.append(gallery)
        begun.set()
        assert go.wait(20)
        return learnt(gallery, **options)

    monkeypatch.setattr(learning, "learnt", slowly)
    page.enroll("flat")
    assert begun.wait(20)
    assert page.overview()["is_learning"]
    began = time.monotonic()
    page.enroll("steep", seed=6)  # which does not wait
    assert time.monotonic() - began < 10
    go.set()
    wait(lambda: is_learnt(page), "learnt")
    assert [len(one.sets) for one in calls] == [10, 11]
    assert len(page.sets()) == 11


def test_a_server_that_ends_between_history_and_file_leaves_work_for_the_next(
    gallery_file, tmp_path, monkeypatch
):
    settings = settings_for(gallery_file, tmp_path)
    with served(settings) as page:
        page.enroll("flat")
        state = page.state.file.state
        with monkeypatch.context() as patch:
            patch.setattr(History, "_put", lambda *_: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                page.state.commands.learn(state, learning.learnt(state.gallery))
    with served(settings, learns=True) as page:
        wait(lambda: is_learnt(page), "learnt")
        assert load(page.gallery).gallery_.calibration.n_changed == 0
        assert page.post("/api/v1/commands/undo").status_code == 200
        assert page.gallery.read_bytes() == gallery_file.read_bytes()


def test_a_gallery_that_cannot_be_learnt_is_given_up_until_it_changes(
    learning_page, monkeypatch
):
    page, learnt = learning_page, learning.learnt
    monkeypatch.setattr(learning, "learnt", lambda *_, **__: 1 / 0)
    page.enroll("flat")
    wait(lambda: is_learnt(page), "given up")
    assert load(page.gallery).gallery_.calibration.n_changed == 1
    monkeypatch.setattr(learning, "learnt", learnt)
    page.enroll("flat", seed=6)
    wait(lambda: is_learnt(page), "learnt")
    assert load(page.gallery).gallery_.calibration.n_changed == 0


# ------------------------------------------------------------ a person or thing as a whole


def labels(page) -> list[str]:
    return [one["name"] for one in page.overview()["classes"]]


def rename(page, label, to, **more):
    return page.post("/api/v1/commands/rename", {"label": label, "to": to} | more)


def test_a_class_is_renamed_and_undo_brings_the_name_back(page):
    before = page.gallery.read_bytes()
    assert rename(page, "flat", "Anna").json()["words"] == "flat is Anna now."
    assert labels(page) == ["Anna", "slanted", "steep"]
    assert len([one for one in page.sets().values() if one["label"] == "Anna"]) == 3
    page.post("/api/v1/commands/undo")
    assert page.gallery.read_bytes() == before


def test_the_name_of_another_class_makes_the_two_one(page):
    assert rename(page, "flat", "steep").json()["words"] == "flat and steep are one."
    assert labels(page) == ["slanted", "steep"]
    assert page.overview()["can_undo"]["command"] == "merge"
    refused = rename(page, "slanted", "steep")
    assert refused.status_code == 422
    assert "two people or things" in refused.json()["error"]


def test_renames_that_mean_nothing_are_refused(page):
    old = page.overview()["revision"]
    assert rename(page, "nobody", "Anna").status_code == 409
    assert rename(page, "flat", "flat").status_code == 422
    assert rename(page, "flat", "unknown").status_code == 422
    rename(page, "flat", "Anna")
    assert rename(page, "steep", "Anna", revision=old).status_code == 409  # which was free then
    assert rename(page, "steep", "Bo", revision=old).status_code == 200


def move_photos(page, label, **photos):
    sets = page.sets()
    chosen = [
        {"set_id": sets[name.replace("_", "/")]["id"], "images": images}
        for name, images in photos.items()
    ]
    return page.post("/api/v1/commands/move_photos", {"photos": chosen, "label": label})


def test_photos_of_several_albums_become_albums_of_somebody_else(page):
    before = page.gallery.read_bytes()
    done = move_photos(page, "steep", flat_1=[0, 3, 3], flat_2=list(range(8)))
    assert done.json()["words"] == "Moved ten photos to steep."
    sets = page.sets()
    assert {name: one["n_images"] for name, one in sets.items() if one["label"] == "flat"} == {
        "flat/0": 8, "flat/1": 6,
    }  # fmt: skip
    steep = {name: one["n_images"] for name, one in sets.items() if one["label"] == "steep"}
    assert steep == {"steep/0": 8, "steep/1": 8, "steep/2": 8, "flat/1 (2)": 2, "flat/2": 8}
    page.post("/api/v1/commands/undo")
    assert page.gallery.read_bytes() == before
    assert move_photos(page, None, flat_1=[0], steep_0=[1, 2]).json()["words"] == (
        "Removed three photos."
    )
    assert (page.sets()["flat/1"]["n_images"], page.sets()["steep/0"]["n_images"]) == (7, 6)
    assert move_photos(page, "x", flat_0=[99]).status_code == 422
    assert move_photos(page, None, flat_0=list(range(9))).status_code == 422
    three, seven = list(range(8)), list(range(7))
    most = {"flat_0": three, "flat_1": seven, "flat_2": three, "slanted_0": three}
    rest = {"slanted_1": three, "slanted_2": three}
    refused = move_photos(page, None, **most, **rest)
    assert "two people or things" in refused.json()["error"]


def cover(page, label) -> str:
    return next(one["cover"] for one in page.overview()["classes"] if one["name"] == label)


def test_a_cover_stays_with_its_album(page):
    one = page.sets()["flat/1"]
    assert cover(page, "flat").endswith(f"{page.sets()['flat/0']['id']}/images/0")
    chosen = {"set_id": one["id"], "image": 3}
    assert page.client.put("/api/v1/cover", json=chosen).status_code == 204
    assert cover(page, "flat") == f"/api/v1/sets/{one['id']}/images/3"
    rename(page, "flat", "Anna")
    assert cover(page, "Anna").endswith("/images/3")
    for wrong in ({"set_id": "none"}, {"image": 99}):
        refused = page.client.put("/api/v1/cover", json=chosen | wrong)
        assert refused.status_code == 404


def test_doubtful_photos_of_a_class_come_first(page):
    flat, steep = (page.sets()[name]["id"] for name in ("flat/1", "steep/1"))
    page.post("/api/v1/commands/move", {"set_id": steep, "label": "flat"})
    found = next(one for one in page.overview()["classes"] if one["name"] == "flat")
    photos = page.get(f"/api/v1/classes/{found['id']}/photos").json()
    assert (photos["name"], photos["n_photos"], photos["n_doubtful"]) == ("flat", 32, 8)
    assert {one["album"] for one in photos["photos"][:8]} == {"steep/1"}
    assert {one["looks_like"] for one in photos["photos"][:8]} == {"steep"}
    assert {one["looks_like"] for one in photos["photos"][8:]} == {None}
    assert page.get(photos["photos"][0]["url"]).status_code == 200
    second = page.get(f"/api/v1/classes/{found['id']}/photos?first=30&limit=10").json()
    assert second["photos"] == photos["photos"][30:]
    assert second["next"] is None
    assert page.get(f"/api/v1/classes/{found['id']}/photos?limit=30").json()["next"] == 30
    assert page.get("/api/v1/classes/none/photos").status_code == 404
    assert flat != steep
