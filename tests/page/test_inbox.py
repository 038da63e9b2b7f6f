"""Sort: an inbox of sets, decided on, enrolled, carried and carried back."""

from __future__ import annotations

import csv
import io
import os
import shutil
import signal
import time
from contextlib import suppress

import pytest
from tests.page.page_server import photos, served, settings_for

from setwise import load, load_images
from setwise.errors import DataError, ParameterError
from setwise.page import Limits, Settings
from setwise.page import transfer as transfer_module
from setwise.page.gallery_file import file_digest
from setwise.page.history import History
from setwise.page.state import AppState
from setwise.page.transfer import FileTransfer

NAMES = {"a": "flat", "b": "steep", "c, =1+1": "slanted"}


@pytest.fixture
def folders(tmp_path):
    inbox, into = tmp_path / "inbox", tmp_path / "sorted"
    for seed, (name, label) in enumerate(NAMES.items()):
        (inbox / name).mkdir(parents=True)
        for i, one in enumerate(photos(label, 6, seed=20 + seed)):
            (inbox / name / f"{i}.png").write_bytes(one)
    return inbox, into


@pytest.fixture
def page(gallery_file, tmp_path, folders):
    inbox, into = folders
    with served(settings_for(gallery_file, tmp_path, inbox=inbox, into=into)) as running:
        yield running


def ready(page) -> dict:
    for _ in range(400):
        found = page.get("/api/v1/inbox").json()
        if found["state"] in ("ready", "failed"):
            return found
        time.sleep(0.02)
    raise AssertionError(found)


def rows(page) -> dict[str, dict]:
    return {row["name"]: row for row in ready(page)["rows"]}


def decide_all(page) -> dict[str, dict]:
    for name, row in rows(page).items():
        done = page.post(f"/api/v1/inbox/{row['id']}/decide", {"label": NAMES[name]})
        assert done.json()["decided"] == NAMES[name]
    return rows(page)


def tree(folder) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_rows_are_the_answers_of_judge(page, folders):
    found = ready(page)
    assert (found["done"], found["total"], found["estimate_s"]) == (3, 3, 0)
    clf = load(page.gallery)
    sets = load_images(folders[0], size=clf.gallery_.sets.image_shape)
    for row, answer in zip(found["rows"], clf.judge(sets), strict=True):
        assert row["name"] == answer.name
        assert row["most_like"] == answer.label == NAMES[row["name"]]
        assert row["probability"] == answer.probability
        assert row["is_known"] == answer.is_known
        assert row["candidates"][0]["label"] == answer.label
        assert 0 <= row["uncertainty"] <= 1
        assert page.get(row["photos"][0]["url"]).content.startswith(b"\xff\xd8\xff")


def test_those_that_would_teach_most_are_told(page):
    found = list(rows(page).values())
    unknown = [row["uncertainty"] for row in found if row["is_known"] is False]
    known = [row["uncertainty"] for row in found if row["is_known"]]
    assert not unknown or not known or min(unknown) >= max(known)


def test_decisions_are_made_and_taken_back(page):
    row = rows(page)["a"]
    address = f"/api/v1/inbox/{row['id']}/decide"
    assert page.post(address, {"label": "somebody new"}).json()["decided"] == "somebody new"
    assert rows(page)["a"]["decided"] == "somebody new"
    assert page.post(address, {"label": None}).json()["decided"] is None
    assert page.post(address, {"label": "\x00"}).status_code == 422
    assert page.post("/api/v1/inbox/nothing/decide", {"label": "x"}).status_code == 422


def test_enrolling_is_one_act_that_can_be_undone(page, gallery_file):
    undecided = page.post("/api/v1/inbox/enroll", {"ids": [rows(page)["a"]["id"]]})
    assert undecided.status_code == 422
    decided = decide_all(page)
    ids = [row["id"] for row in decided.values()]
    done = page.post("/api/v1/inbox/enroll", {"ids": ids})
    assert done.json()["words"] == "Added three albums to flat, slanted, steep."
    assert {row["state"] for row in rows(page).values()} == {"enrolled"}
    assert page.overview()["n_sets"] == 12
    again = page.post("/api/v1/inbox/enroll", {"ids": ids})
    assert "already" in again.json()["error"]
    page.post("/api/v1/commands/undo")
    assert page.gallery.read_bytes() == gallery_file.read_bytes()
    assert {row["state"] for row in rows(page).values()} == {"done"}


def test_undecided_sets_are_judged_again_when_the_gallery_changes(page):
    before = rows(page)["a"]["probability"]
    stale = page.state.inbox._rows
    digests = {row.judged_by for row in stale.values()}
    first = page.sets()["flat/0"]["id"]
    page.post("/api/v1/commands/move", {"set_id": first, "label": "steep"})
    for _ in range(400):
        if {row.judged_by for row in stale.values()} == {page.state.file.state.digest}:
            break
        time.sleep(0.02)
    assert {row.judged_by for row in stale.values()}.isdisjoint(digests)
    assert rows(page)["a"]["probability"] != before


def test_the_table_is_safe_for_spreadsheets(page):
    decide_all(page)
    found = page.get("/api/v1/inbox.csv")
    assert found.headers["content-type"].startswith("text/csv")
    table = list(csv.DictReader(io.StringIO(found.text)))
    assert {row["set"]: row["decided"] for row in table} == NAMES
    assert all(row["probability"] for row in table)


@pytest.mark.parametrize("how", ["copy", "move"])
def test_files_are_carried_and_carried_back(page, folders, how):
    inbox, into = folders
    before = tree(inbox)
    assert (
        page.post("/api/v1/inbox/transfer", {"how": how}).status_code == 422
    )  # nothing decided
    decide_all(page)
    done = page.post("/api/v1/inbox/transfer", {"how": how}).json()
    assert "18 files" in done["words"]
    assert tree(inbox) == (before if how == "copy" else {})
    wanted = {
        f"{NAMES[name.rpartition('/')[0]]}/{name.replace('=', '_').replace(',', '_')}": content
        for name, content in before.items()
    }
    assert tree(into) == wanted
    assert {row["state"] for row in rows(page).values()} == {"transferred"}
    assert page.post("/api/v1/inbox/transfer", {"how": how}).status_code == 422
    undone = page.post("/api/v1/commands/undo").json()
    assert undone["words"].startswith("Undone: ")
    assert tree(inbox) == before
    assert tree(into) == {}
    assert not any(into.iterdir())
    page.post("/api/v1/commands/redo")
    assert tree(into) == wanted


class FullDisk:
    """A disk on which there is room for half of the third file."""

    def __init__(self, monkeypatch, at_end) -> None:
        self.left, self.at_end = 3, at_end
        monkeypatch.setattr(shutil, "copyfileobj", self)

    def __call__(self, old, new):
        content = old.read()
        self.left -= 1
        if self.left:
            new.write(content)
            return
        new.write(content[: len(content) // 2])
        new.flush()
        self.at_end()


def no_space():
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("how", ["copy", "move"])
def test_a_transfer_that_fails_is_taken_back(page, folders, how, monkeypatch):
    inbox, into = folders
    before = tree(inbox)
    decide_all(page)
    with monkeypatch.context() as patch:
        FullDisk(patch, no_space)
        link = os.link
        patch.setattr(
            os, "link", lambda a, b, **o: link(a, b, **o) if ".part" in str(a) else no_space()
        )
        failed = page.post("/api/v1/inbox/transfer", {"how": how})
    assert failed.status_code == 422
    assert "No space left on device" in failed.json()["error"]
    assert tree(inbox) == before
    assert tree(into) == {}
    assert not any(into.iterdir())
    assert {row["state"] for row in rows(page).values()} == {"done"}
    assert page.overview()["can_undo"] is page.overview()["can_redo"] is None
    assert (
        page.post("/api/v1/inbox/transfer", {"how": how}).json()["words"].count("18 files") == 1
    )
    assert len(tree(into)) == 18


@pytest.mark.parametrize("how", ["copy", "move"])
def test_a_transfer_that_is_killed_leaves_no_half_file_and_is_taken_back(
    gallery_file, tmp_path, folders, how, monkeypatch
):
    inbox, into = folders
    before, whole = tree(inbox), set(tree(inbox).values())
    settings = settings_for(gallery_file, tmp_path, inbox=inbox, into=into)
    history, transfer = History(settings.gallery, Limits()), FileTransfer(inbox, into)
    digest = file_digest(settings.gallery)
    moves = transfer.plan(how, [("flat", "a", sorted((inbox / "a").iterdir()))])
    child = os.fork()
    if not child:
        FullDisk(monkeypatch, lambda: os.kill(os.getpid(), signal.SIGKILL))
        monkeypatch.setattr(
            transfer_module,
            "_linked",
            lambda a, b: ".part" in str(a) and (os.link(a, b) or True),
        )
        with suppress(BaseException):
            history.transfer("words", digest, moves, transfer)
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    half = {name: content for name, content in tree(into).items() if content not in whole}
    assert half
    assert all(name.endswith(".part") for name in half)
    AppState(settings)  # as when the server starts again
    assert tree(inbox) == before
    assert tree(into) == {}
    assert history.can("undo", digest) is history.can("redo", digest) is None


def test_what_was_transferred_is_computed_once_per_change(page):
    decide_all(page)
    history = page.state.history
    page.post("/api/v1/inbox/transfer", {"how": "copy"})
    first = history.moved
    assert len(first) == 18
    ready(page)
    assert history.moved is first


def test_addresses_of_photos_change_with_their_content(gallery_file, tmp_path, folders):
    settings = settings_for(gallery_file, tmp_path, inbox=folders[0])
    with served(settings) as page:
        old = rows(page)
        shown = page.get(old["a"]["photos"][0]["url"])
        assert "immutable" in shown.headers["cache-control"]
    for i, one in enumerate(photos("steep", 6, seed=99)):
        (folders[0] / "a" / f"{i}.png").write_bytes(one)
    with served(settings) as page:
        new = rows(page)
    assert new["a"]["id"] != old["a"]["id"]
    assert new["b"]["id"] == old["b"]["id"]


def test_nothing_is_ever_overwritten(page, folders):
    inbox, into = folders
    (into / "flat" / "a").mkdir(parents=True)
    (into / "flat" / "a" / "0.png").write_bytes(b"mine")
    decide_all(page)
    page.post("/api/v1/inbox/transfer", {"how": "move", "ids": [rows(page)["a"]["id"]]})
    assert (into / "flat" / "a" / "0.png").read_bytes() == b"mine"
    assert len(list((into / "flat" / "a (2)").iterdir())) == 6
    (inbox / "a").mkdir(exist_ok=True)
    (inbox / "a" / "3.png").write_bytes(b"newer")
    page.post("/api/v1/commands/undo")
    assert (inbox / "a" / "3.png").read_bytes() == b"newer"
    assert [path.name for path in (into / "flat" / "a (2)").iterdir()] == ["3.png"]
    assert (into / "flat" / "a" / "0.png").read_bytes() == b"mine"


def test_a_copy_that_somebody_changed_stays(page, folders):
    _, into = folders
    decide_all(page)
    page.post("/api/v1/inbox/transfer", {"how": "copy"})
    (into / "flat" / "a" / "2.png").write_bytes(b"edited")
    page.post("/api/v1/commands/undo")
    assert list(tree(into)) == ["flat/a/2.png"]


def test_a_link_does_not_lead_out_of_the_folder(page, folders, tmp_path):
    _, into = folders
    outside = tmp_path / "outside"
    outside.mkdir()
    into.mkdir()
    (into / "flat").symlink_to(outside)
    decide_all(page)
    refused = page.post(
        "/api/v1/inbox/transfer", {"how": "copy", "ids": [rows(page)["a"]["id"]]}
    )
    assert refused.status_code == 422
    assert not any(outside.iterdir())


def test_labels_are_names_of_folders_and_no_paths(page, folders, tmp_path):
    _, into = folders
    row = rows(page)["a"]
    for label in ("../../evil", "/etc", "..", "a/b", "CON", "x" * 100):
        body = {"label": label}
        assert page.post(f"/api/v1/inbox/{row['id']}/decide", body).status_code == 200
        page.post("/api/v1/inbox/transfer", {"how": "copy"})
        copied = [path for path in tmp_path.rglob("*.png") if folders[0] not in path.parents]
        assert len(copied) == 6
        assert all(path.relative_to(into).parts[1:] == ("a", path.name) for path in copied)
        assert page.post("/api/v1/commands/undo").status_code == 200
        assert not any(into.iterdir())


def test_without_into_files_stay(gallery_file, tmp_path, folders):
    with served(settings_for(gallery_file, tmp_path, inbox=folders[0])) as page:
        decide_all(page)
        refused = page.post("/api/v1/inbox/transfer", {"how": "move"})
        assert refused.status_code == 422
        assert "--into" in refused.json()["error"]


def test_files_are_carried_back_only_with_the_same_folders(gallery_file, tmp_path, folders):
    inbox, into = folders
    settings = settings_for(gallery_file, tmp_path, inbox=inbox, into=into)
    with served(settings) as page:
        decide_all(page)
        page.post("/api/v1/inbox/transfer", {"how": "move"})
    with served(Settings(settings.gallery)) as page:
        refused = page.post("/api/v1/commands/undo")
        assert refused.status_code == 422
        assert "--inbox" in refused.json()["error"]
        assert page.get("/api/v1/inbox").status_code == 404
        assert page.overview()["can_undo"]["command"] == "transfer"


def test_an_inbox_that_cannot_be_read_says_why(gallery_file, tmp_path):
    inbox = tmp_path / "inbox"
    inbox.mkdir()
    with served(settings_for(gallery_file, tmp_path, inbox=inbox)) as page:
        found = ready(page)
        assert found["state"] == "failed"
        assert "no images" in found["error"]
        assert page.overview()["inbox"]


def test_folders_that_lie_in_each_other_are_refused(gallery_file, folders):
    inbox, _ = folders
    for into in (inbox, inbox / "a", inbox.parent):
        with pytest.raises(ParameterError, match="separate"):
            Settings(gallery_file, inbox=inbox, into=into).check()
    with pytest.raises(ParameterError, match="inbox"):
        Settings(gallery_file, into=inbox).check()
    with pytest.raises(ParameterError, match="no folder"):
        Settings(gallery_file, inbox=inbox / "nothing").check()


def test_decisions_outlive_the_server(gallery_file, tmp_path, folders):
    settings = settings_for(gallery_file, tmp_path, inbox=folders[0])
    with served(settings) as page:
        decide_all(page)
        first = next(iter(rows(page).values()))
        page.post(f"/api/v1/inbox/{first['id']}/decide", {"label": None})
    with served(settings) as page:
        decided = {row["name"]: row["decided"] for row in rows(page).values()}
    assert decided == NAMES | {first["name"]: None}


def test_decisions_that_cannot_be_read_are_not_lost(gallery_file, tmp_path, folders):
    settings = settings_for(gallery_file, tmp_path, inbox=folders[0])
    file = settings.gallery.with_name(f"{settings.gallery.name}.journal") / "inbox.json"
    file.parent.mkdir(exist_ok=True)
    file.write_text("[half")
    with pytest.raises(DataError, match="cannot be read"), served(settings):
        pass
    assert file.read_text() == "[half"
    file.write_text("[" * 100_000)
    with pytest.raises(DataError, match="cannot be read"):
        AppState(settings)
