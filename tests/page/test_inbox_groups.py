"""The inbox: unknown albums that belong together, people, and what has changed since."""

from __future__ import annotations

import time

import numpy as np
import pytest
from tests.page.page_server import SHAPE, png, served, settings_for
from tests.striped_sets import stripes

from setwise.page.gallery_file import GalleryState
from setwise.page.grouped import groups_of
from setwise.page.inbox_rows import Decisions

NEW = {"round 1": 20, "round 2": 21, "noise 1": 22, "noise 2": 23, "noise 3": 24}


def rings(rng, n_images):
    """Rings around a middle that moves: like no stripes."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    found = []
    for _ in range(n_images):
        far = np.hypot(
            y - SHAPE[0] / 2 - rng.normal(0, 0.4), x - SHAPE[1] / 2 - rng.normal(0, 0.4)
        )
        found.append((127 + 120 * np.cos(far * 1.6)).astype(np.uint8))
    return found


def chequers(rng, n_images):
    """Chequered boards."""
    y, x = np.mgrid[: SHAPE[0], : SHAPE[1]]
    board = 255 * ((y // 3 + x // 3) % 2)
    return [
        np.clip(board * rng.uniform(0.7, 1) + rng.normal(0, 9, SHAPE), 0, 255).astype(np.uint8)
        for _ in range(n_images)
    ]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    inbox = tmp_path_factory.mktemp("groups") / "inbox"
    for name, seed in NEW.items():
        rng = np.random.default_rng(seed)
        make = rings if name.startswith("round") else chequers
        (inbox / name).mkdir(parents=True)
        for i, image in enumerate(make(rng, 8)):
            (inbox / name / f"{i}.png").write_bytes(png(image))
    (inbox / "flat").mkdir()
    for i, image in enumerate(stripes(0.1, 8, np.random.default_rng(30), SHAPE)):
        (inbox / "flat" / f"{i}.png").write_bytes(png(image))
    return inbox


@pytest.fixture(scope="module")
def sorting(gallery_file, folder, tmp_path_factory):
    settings = settings_for(gallery_file, tmp_path_factory.mktemp("sorting"), inbox=folder)
    with served(settings) as page:
        yield page


def grouped(page, n=2) -> dict[str, dict]:
    """The rows, once there are so many groups."""
    for _ in range(1000):
        found = page.get("/api/v1/inbox").json()
        groups = {row["group"] for row in found["rows"]} - {None}
        if found["state"] == "ready" and len(groups) == n:
            return {row["name"]: row for row in found["rows"]}
        time.sleep(0.02)
    raise AssertionError(found)


def test_unknown_albums_that_belong_together_are_one_group(sorting):
    found = grouped(sorting)
    assert found["flat"]["group"] is None
    assert {row["is_known"] for name, row in found.items() if name in NEW} == {False}
    assert found["round 1"]["group"] == found["round 2"]["group"]
    assert len({found[f"noise {i}"]["group"] for i in (1, 2, 3)}) == 1
    assert found["round 1"]["group"] != found["noise 1"]["group"]


def test_a_group_is_taken_apart_for_good_and_together_again(sorting, gallery_file):
    found = grouped(sorting)
    ids = [found["round 1"]["id"], found["round 2"]["id"]]
    assert sorting.post("/api/v1/inbox/apart", {"ids": ids}).status_code == 204
    assert grouped(sorting, 1)["round 1"]["group"] is None
    decisions = Decisions(sorting.state.history.folder / "inbox.json")
    rows = sorting.state.inbox._rows
    assert all(decisions.is_apart(rows[one].content) for one in ids)
    back = {"ids": ids, "is_back": True}
    assert sorting.post("/api/v1/inbox/apart", back).status_code == 204
    assert grouped(sorting)["round 1"]["group"] is not None
    assert sorting.post("/api/v1/inbox/apart", {"ids": ["none"]}).status_code == 422


def test_few_albums_of_different_things_are_no_group(sorting):
    state = GalleryState(sorting.state.file.state.classifier, "")
    rows = {row.name: row.one for row in sorting.state.inbox._rows.values()}
    from setwise import SetBatch

    for names in (["round 1", "noise 1"], ["round 1"]):
        found = groups_of(state, SetBatch.join([rows[name] for name in names]))
        assert found.tolist() == [-1] * len(names)
    pair = groups_of(state, SetBatch.join([rows["round 1"], rows["round 2"]]))
    assert pair[0] == pair[1] >= 0


def test_only_what_has_changed_since_is_sent(sorting):
    grouped(sorting)
    everything = sorting.get("/api/v1/inbox").json()
    assert everything["is_whole"]
    assert everything["ids"] == [row["id"] for row in everything["rows"]]
    since = {"since": everything["version"]}
    assert sorting.get("/api/v1/inbox", params=since).json()["rows"] == []
    row = everything["rows"][0]
    sorting.post(f"/api/v1/inbox/{row['id']}/decide", {"label": "flat"})
    changed = sorting.get("/api/v1/inbox", params=since).json()
    assert not changed["is_whole"]
    assert [one["id"] for one in changed["rows"]] == [row["id"]]
    assert changed["ids"] == everything["ids"]
    sorting.post(f"/api/v1/inbox/{row['id']}/decide", {"label": None})
    for other in ("another-3", "nonsense", f"{everything['version']}x"):  # of another server
        assert sorting.get("/api/v1/inbox", params={"since": other}).json()["is_whole"]
