"""Acts and the way back: every one of them, byte for byte."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.page.page_server import album, gallery_sets, served, settings_for

from setwise import CVC, SetBatch, edit, load
from setwise._support.files import held
from setwise.errors import DataError
from setwise.page import Limits, Settings
from setwise.page import history as history_module
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile, GalleryState, file_digest
from setwise.page.history import History
from setwise.page.overview import overview
from setwise.page.state import AppState


def enroll(page, label="anna", **body):
    done = page.enroll(label, **body)
    assert done.status_code == 200, done.text
    return done.json()


def forget(page):
    return page.post("/api/v1/commands/forget", {"set_id": page.sets()["flat/1"]["id"]}).json()


def remove_photos(page):
    body = {"set_id": page.sets()["flat/1"]["id"], "images": [0, 3]}
    return page.post("/api/v1/commands/remove_photos", body).json()


def move(page):
    body = {"set_id": page.sets()["flat/1"]["id"], "label": "steep"}
    return page.post("/api/v1/commands/move", body).json()


@pytest.mark.parametrize("act", [enroll, forget, remove_photos, move])
def test_every_act_can_be_undone_and_done_again_byte_for_byte(page, act):
    before, old = page.gallery.read_bytes(), page.overview()
    done = act(page)
    after = page.gallery.read_bytes()
    assert after != before
    assert page.overview()["can_undo"] == {"command": act.__name__, "words": done["words"]}
    undone = page.post("/api/v1/commands/undo").json()
    assert page.gallery.read_bytes() == before
    assert undone["revision"] == old["revision"]
    assert undone["words"] == f"Undone: {done['words']}"
    new = page.overview()
    assert new["can_redo"] == {"command": act.__name__, "words": done["words"]}
    assert new["can_undo"] is None
    assert new["classes"] == old["classes"] or new["weak_state"] != old["weak_state"]
    assert page.post("/api/v1/commands/redo").json()["revision"] == done["revision"]
    assert page.gallery.read_bytes() == after
    assert [line["undone"] for line in page.get("/api/v1/history").json()] == [False]


def test_enroll_is_that_of_the_classifier(page):
    enroll(page, "flat")
    clf = load(page.gallery)
    assert list(clf.classes_) == ["flat", "slanted", "steep"]
    expected = load(page.state.history.folder / f"{file_before(page)}.setwise")
    new = SetBatch.from_list([clf.gallery_.sets[9]], [clf.gallery_.sets.names[9]])
    expected.enroll(new, ["flat"], learn="later")
    assert np.array_equal(
        expected.gallery_.calibration.weights, clf.gallery_.calibration.weights
    )
    assert expected.gallery_.calibration.threshold == clf.gallery_.calibration.threshold
    assert clf.gallery_.sets.names[9] == "album"
    assert clf.gallery_.sets.origins.files[-1] == "album/7.png"


def file_before(page):
    return page.state.history.entries[-1].before


def test_removing_photos_and_moving_change_that_set_only(page):
    remove_photos(page)
    sets = page.sets()
    assert sets["flat/1"]["n_images"] == 6
    rest = load(page.gallery).gallery_.sets
    i = rest.names.index("flat/1")
    original = gallery_sets()[1]
    assert np.array_equal(rest[i], original[[1, 2, 4, 5, 6, 7]])
    assert [name.rpartition("/")[2] for name in rest.of_set(i).files] == [
        f"{j}.png" for j in (1, 2, 4, 5, 6, 7)
    ]
    body = {"set_id": sets["flat/1"]["id"], "label": "brand new"}
    assert page.post("/api/v1/commands/move", body).json()["words"] == (
        "Moved flat/1 from flat to brand new."
    )
    assert page.sets()["flat/1"]["label"] == "brand new"
    assert len(page.sets()) == 9


def test_enroll_leaves_photos_out_and_finds_a_free_name(page):
    enroll(page, "flat", without=[0, 1])
    enroll(page, "flat", seed=6)
    sets = page.sets()
    assert sets["album"]["n_images"] == 6
    assert sets["album (2)"]["n_images"] == 8


def test_undo_goes_back_through_many_acts_and_a_new_act_ends_redo(page):
    states = [page.gallery.read_bytes()]
    for act in (forget, enroll, enroll):
        act(page)
        states.append(page.gallery.read_bytes())
    for state in states[-2::-1]:
        assert page.post("/api/v1/commands/undo").status_code == 200
        assert page.gallery.read_bytes() == state
    refused = page.post("/api/v1/commands/undo")
    assert (refused.status_code, refused.json()["error"]) == (422, "There is nothing to undo.")
    page.post("/api/v1/commands/redo")
    assert page.gallery.read_bytes() == states[1]
    page.post("/api/v1/commands/undo")
    move(page)
    assert page.overview()["can_redo"] is None
    assert page.post("/api/v1/commands/redo").status_code == 422
    page.post("/api/v1/commands/undo")
    assert page.overview()["can_redo"]["command"] == "move"
    undone = [line["undone"] for line in page.get("/api/v1/history").json()]
    assert undone == [True] * 4


def test_undo_survives_a_restart(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    with served(settings) as page:
        enroll(page)
    with served(settings) as page:
        assert page.overview()["can_undo"]["command"] == "enroll"
        page.post("/api/v1/commands/undo")
        assert page.gallery.read_bytes() == gallery_file.read_bytes()


def test_undo_is_refused_where_it_would_lose_a_change_from_elsewhere(page):
    enroll(page)
    with edit(page.gallery) as clf:
        clf.forget(sets=["steep/0"])
    changed = page.gallery.read_bytes()
    assert page.overview()["can_undo"] is None
    refused = page.post("/api/v1/commands/undo")
    assert refused.status_code == 422
    assert "Another program has changed" in refused.json()["error"]
    assert page.gallery.read_bytes() == changed
    forget(page)
    assert page.post("/api/v1/commands/undo").status_code == 200
    assert page.gallery.read_bytes() == changed


@pytest.fixture(scope="module")
def job(shared_page):
    return shared_page.answered(album())["id"]


@pytest.mark.parametrize(
    ("label", "reason"),
    [("   ", "1 to 100 letters"), ("a\x1bb", "control"), ("a‮b", "control"),
     ("unknown", "unknown sets"), ("x" * 150, "100 letters")],
)  # fmt: skip
def test_names_that_nobody_could_read_are_refused(shared_page, job, label, reason):
    body = {"job": job, "label": label}
    refused = shared_page.post("/api/v1/commands/enroll", body)
    assert refused.status_code == 422
    assert reason in refused.json()["error"]
    assert shared_page.get("/api/v1/history").json() == []


def test_classes_that_are_numbers_stay_numbers(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    sets = gallery_sets()
    labels = np.repeat([3, 5, 7], 3)
    CVC(dims=(1, 2), weights=None, random_state=0).fit(sets, labels).save(settings.gallery)
    with served(settings) as page:
        job = page.answered(album())["id"]
        for label in ("anna", "1_000", "9" * 20, "1.5", "٣"):
            body = {"job": job, "label": label}
            assert page.post("/api/v1/commands/enroll", body).status_code == 422
        enroll(page, "5")
        enroll(page, "9", seed=6)
    assert load(settings.gallery).classes_.tolist() == [3, 5, 7, 9]


@pytest.mark.parametrize(
    ("label", "number"),
    [
        ("7.0", 7.0),
        ("-1e2", -100.0),
        ("2.5", None),
        ("nan", None),
        ("1e999", None),
        ("1_0", None),
    ],
)
def test_classes_that_are_floats_stay_finite_floats(label, number):
    sets = gallery_sets()
    clf = CVC(dims=(1,), weights=None, random_state=0).fit(sets, np.repeat([0.0, 1.0, 3.0], 3))
    if number is None:
        with pytest.raises(DataError, match="whole numbers"):
            GalleryState(clf, "").typed(label)
    else:
        assert GalleryState(clf, "").typed(label) == number


def test_what_would_leave_no_gallery_is_refused(page):
    sets = page.sets()
    body = {"set_id": sets["flat/1"]["id"], "images": list(range(8))}
    assert (
        "No photo would be left"
        in page.post("/api/v1/commands/remove_photos", body).json()["error"]
    )
    body = {"set_id": sets["flat/1"]["id"], "images": [99]}
    assert "no such photo" in page.post("/api/v1/commands/remove_photos", body).json()["error"]
    for name in [name for name in sets if not name.startswith("steep")][:-1]:
        assert (
            page.post("/api/v1/commands/forget", {"set_id": sets[name]["id"]}).status_code
            == 200
        )
    last = page.post("/api/v1/commands/forget", {"set_id": sets["slanted/2"]["id"]})
    assert last.status_code == 422
    assert "two people or things" in last.json()["error"]


# ------------------------------------------------------------------------- two at once


def test_an_act_on_a_set_that_has_changed_is_a_conflict(page):
    stale = page.sets()["flat/1"]["id"]
    move(page)
    for command, more in (
        ("forget", {}),
        ("remove_photos", {"images": [0]}),
        ("move", {"label": "x"}),
    ):
        refused = page.post(f"/api/v1/commands/{command}", {"set_id": stale} | more)
        assert refused.status_code == 409
        assert "changed or is gone" in refused.json()["error"]


def test_an_old_revision_is_a_conflict_only_where_the_act_means_something_else(page):
    old = page.overview()["revision"]
    job = page.answered(album())["id"]
    enroll(page, "anna")
    body = {"job": job, "revision": old}
    refused = page.post(
        "/api/v1/commands/enroll", body | {"label": "anna"}
    )  # no longer a new class
    assert refused.status_code == 409
    assert page.post("/api/v1/commands/enroll", body | {"label": "steep"}).status_code == 200
    assert page.post("/api/v1/commands/undo", {"revision": old}).status_code == 409
    assert (
        page.post(
            "/api/v1/commands/undo", {"revision": page.overview()["revision"]}
        ).status_code
        == 200
    )
    assert (
        page.post("/api/v1/commands/enroll", body | {"label": "x", "revision": "?"}).status_code
        == 409
    )


def test_acts_of_many_clients_are_all_kept(page):
    jobs = [page.answered(album("flat", 5, seed=seed))["id"] for seed in range(5)]
    answers = []

    def act(i):
        with page.new_client() as client:
            body = {"job": jobs[i], "label": f"class {i}"}
            answers.append(client.post("/api/v1/commands/enroll", json=body).status_code)

    threads = [threading.Thread(target=act, args=(i,)) for i in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [200] * 5
    assert len(page.sets()) == 14
    assert len(page.get("/api/v1/history").json()) == 5


def test_an_act_waits_for_another_process_that_changes_the_file(page):
    answers = []
    with held(page.gallery):
        thread = threading.Thread(target=lambda: answers.append(forget(page)))
        thread.start()
        time.sleep(0.2)
        assert not answers
    thread.join(timeout=20)
    assert "Removed flat/1" in answers[0]["words"]


# ------------------------------------------------------------------------- the journal


def history_of(gallery_file, tmp_path, **limits):
    settings = settings_for(gallery_file, tmp_path)
    file = GalleryFile(settings.gallery)
    history = History(settings.gallery, Limits(**limits))
    return Commands(file, history), file, history


def sets_of(seed):
    return gallery_sets(1, seed=seed)[[0]].replaced(labels=None)


def test_the_journal_is_bounded_and_says_what_is_too_long_ago(gallery_file, tmp_path):
    commands, file, history = history_of(gallery_file, tmp_path, undo_steps=3)
    for seed in range(6):
        commands.enroll(sets_of(seed), ["flat"])
    kept = list(history.folder.glob("*.setwise"))
    assert len(kept) <= 5
    n_back = 0
    while history.can("undo", file.state.digest):
        commands.undo()
        n_back += 1
    assert 2 <= n_back < 6
    with pytest.raises(Exception, match="Too long ago"):
        commands.undo()


def test_the_journal_is_bounded_in_bytes(gallery_file, tmp_path):
    size = gallery_file.stat().st_size
    commands, file, history = history_of(gallery_file, tmp_path, undo_bytes=int(2.5 * size))
    for seed in range(6):
        commands.enroll(sets_of(seed), ["flat"])
    current = file.path.stat().st_ino
    kept = [p.stat() for p in history.folder.glob("*.setwise")]
    assert sum(one.st_size for one in kept if one.st_ino != current) < 4 * size
    assert history.can("undo", file.state.digest)


def test_the_state_before_costs_no_copy(gallery_file, tmp_path):
    commands, file, history = history_of(gallery_file, tmp_path)
    inode = file.path.stat().st_ino
    commands.enroll(sets_of(0), ["flat"])
    before = history.folder / f"{history.entries[0].before}.setwise"
    assert before.stat().st_ino == inode


def test_where_links_are_not_known_copies_are_made(gallery_file, tmp_path, monkeypatch):
    def refuse(*arguments, **options):
        raise PermissionError

    monkeypatch.setattr(os, "link", refuse)
    commands, file, _ = history_of(gallery_file, tmp_path)
    before = file.path.read_bytes()
    commands.enroll(sets_of(0), ["flat"])
    commands.undo()
    assert file.path.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == [
        "people.setwise",
        "people.setwise.journal",
    ]


def test_a_damaged_copy_is_not_put_back(gallery_file, tmp_path):
    commands, file, history = history_of(gallery_file, tmp_path)
    commands.enroll(sets_of(0), ["flat"])
    now = file.path.read_bytes()
    copy = history.folder / f"{history.entries[0].before}.setwise"
    copy.unlink()
    copy.write_bytes(b"something else")
    with pytest.raises(Exception, match="damaged"):
        commands.undo()
    assert file.path.read_bytes() == now


def test_a_damaged_journal_is_refused_at_the_start_and_not_overwritten(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    folder = settings.gallery.with_name("people.setwise.journal")
    folder.mkdir()
    (folder / "journal.jsonl").write_text("{not json\n")
    with pytest.raises(DataError, match="history is damaged"):
        AppState(settings)
    assert (folder / "journal.jsonl").read_text() == "{not json\n"


DIGEST = "0" * 64
SOUND = {"n": 1, "time": "t", "act": "enroll", "words": "w", "before": DIGEST, "after": DIGEST}
ODD = [
    {"n": "1"}, {"n": True}, {"words": None}, {"time": 5}, {"before": "../evil"}, {"after": 7},
    {"state": "x"}, {"state": []}, {"moves": []}, {"moves": {"how": "copy", "files": 1}},
    {"moves": {"how": "copy", "files": [["a"]]}}, {"moves": {"how": "eat", "files": []}},
    {"more": 1},
]  # fmt: skip


@pytest.mark.parametrize(
    "line", [*(json.dumps(SOUND | odd) for odd in ODD), "[" * 100_000, "[1]", "5", "\xff"]
)
def test_odd_lines_of_a_history_are_refused_in_a_sentence(gallery_file, tmp_path, line):
    history = History(settings_for(gallery_file, tmp_path).gallery, Limits())
    history.folder.mkdir()
    history.file.write_text(f"{json.dumps(SOUND)}\n{line}\n", encoding="latin-1")
    with pytest.raises(DataError, match="history is damaged"):
        _ = history.entries


def test_a_history_that_is_damaged_meanwhile_is_no_bug(page):
    enroll(page)
    page.state.history.file.write_text(json.dumps(SOUND | {"words": None}) + "\n")
    for path in ("/api/v1/history", "/api/v1/gallery"):
        found = page.get(path)
        assert found.status_code == 422
        assert "history is damaged" in found.json()["error"]
    assert page.post("/api/v1/commands/undo").status_code == 422


def test_a_history_of_an_earlier_version_is_read(gallery_file, tmp_path):
    commands, file, history = history_of(gallery_file, tmp_path)
    before = file.path.read_bytes()
    commands.remove_photos(file.state.set_ids[0], [0])
    text = history.file.read_text()
    history.file.write_text(text.replace('"command": "remove_photos"', '"act": "take_out"'))
    assert [line.command for line in history.lines()] == ["remove_photos"]
    commands.undo()
    assert file.path.read_bytes() == before


@pytest.mark.parametrize("place", ["CVC.save", "History._put", "history.write_whole"])
def test_a_full_disk_changes_nothing_and_is_said_in_a_sentence(
    gallery_file, tmp_path, monkeypatch, place
):
    def refuse(*arguments, **options):
        raise OSError(28, "No space left on device")

    commands, file, kept = history_of(gallery_file, tmp_path)
    before = file.path.read_bytes()
    owner = {"CVC": CVC, "History": History, "history": history_module}[place.split(".")[0]]
    with monkeypatch.context() as patch:
        patch.setattr(owner, place.split(".")[1], refuse)
        with pytest.raises(DataError, match="No space left"):
            commands.enroll(sets_of(0), ["flat"])
    assert file.path.read_bytes() == before
    assert not (kept.folder / "next.setwise").exists()
    assert kept.can("undo", file.state.digest) is None
    commands.enroll(sets_of(0), ["flat"])
    commands.undo()
    assert file.path.read_bytes() == before


# Where a process is killed, at which call, and what is in the file afterwards.
PLACES = [
    ("file_digest", 1, "old"),
    ("History._add", 1, "old"),
    ("History._put", 1, "old"),
    ("settle", 1, "old"),
    ("settle", 2, "new"),
    ("History._prune", 1, "new"),
]
# One process imports and compiles everything; forks of it do the work, and die.
KILLED = """
import os, shutil, signal, sys
from pathlib import Path
from tests.page.page_server import gallery_sets
from setwise.page import Limits, history
from setwise.page.commands import Commands
from setwise.page.gallery_file import GalleryFile

def enroll(path, seed, label):
    commands = Commands(GalleryFile(path), history.History(path, Limits()))
    commands.enroll(gallery_sets(1, seed=seed)[[0]].replaced(labels=None), [label])

def killed(path, place, left):
    owner = history.History if "." in place else history
    original = getattr(owner, place.rpartition(".")[2])

    def die(*arguments, **options):
        nonlocal left
        left -= 1
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*arguments, **options)

    setattr(owner, place.rpartition(".")[2], die)
    enroll(path, 2, "killed")

enroll(Path(sys.argv[1]), 1, "steep")
for argument in sys.argv[2:]:
    path, place, left = argument.split("|")
    Path(path).parent.rmdir()
    shutil.copytree(Path(sys.argv[1]).parent, Path(path).parent)
    child = os.fork()
    if not child:
        killed(Path(path), place, int(left))
        os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL, argument
"""


@pytest.fixture(scope="module")
def killed(gallery_file, tmp_path_factory):
    """Galleries that processes were enrolling into when they were killed."""
    first = settings_for(gallery_file, tmp_path_factory.mktemp("first")).gallery
    made = [Settings(tmp_path_factory.mktemp("killed") / first.name) for _ in PLACES]
    arguments = [
        f"{settings.gallery}|{place}|{times}"
        for settings, (place, times, _) in zip(made, PLACES, strict=True)
    ]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([*sys.path, str(Path.cwd())])}
    command = [sys.executable, "-c", KILLED, str(first), *arguments]
    subprocess.run(command, env=environment, check=True)
    return made


@pytest.mark.parametrize("i", range(len(PLACES)), ids=[f"{p}-{n}" for p, n, _ in PLACES])
def test_killed_in_mid_enroll_gallery_and_history_agree(i, killed):
    is_new = "killed" in load(killed[i].gallery).classes_
    assert is_new == (PLACES[i][2] == "new")
    check_agreement(killed[i], is_new)


def check_agreement(settings: Settings, is_new: bool) -> None:
    """What the history says was done is in the file, and can be undone; no rest is left."""
    digest = file_digest(settings.gallery)
    app = AppState(settings)
    found = overview(app)
    done = [line for line in app.history.lines() if not line.undone]
    assert found.n_sets == 9 + len(done)
    assert ("killed" in done[0].words) == is_new
    assert found.can_undo.words == done[0].words
    assert file_digest(settings.gallery) == digest
    app.commands.undo()
    assert overview(app).n_sets == 9 + len(done) - 1
    app.commands.redo()
    assert file_digest(settings.gallery) == digest
    app.commands.forget(app.file.state.set_ids[0])
    names = {path.name for path in settings.gallery.parent.iterdir()}
    assert names == {"people.setwise", "people.setwise.journal"}


def test_a_server_killed_at_any_time_leaves_a_gallery_that_opens(gallery_file, tmp_path):
    settings = settings_for(gallery_file, tmp_path)
    command = "from setwise.cli import run; import sys; sys.argv[0] = 'setwise'; run()"
    arguments = ["serve", str(settings.gallery), "--port", "0", "--no-browser"]
    process = subprocess.Popen(
        [sys.executable, "-c", command, *arguments], stdout=subprocess.PIPE, text=True
    )
    try:
        address = process.stdout.readline().split(" is at ")[1].split()[0]
        with httpx.Client(base_url=address, timeout=60) as client:
            job = client.post("/api/v1/identify", files=album()).json()["id"]
            while client.get(f"/api/v1/identify/{job}").json()["state"] != "done":
                time.sleep(0.05)

            def act():
                with suppress(httpx.HTTPError):
                    for i in range(1000):
                        body = {"job": job, "label": f"class {i}"}
                        httpx.post(f"{address}api/v1/commands/enroll", json=body, timeout=60)

            thread = threading.Thread(target=act)
            thread.start()
            while len(client.get("/api/v1/history").json()) < 3:  # the last may not be done
                time.sleep(0.02)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()
    thread.join(timeout=20)
    with served(settings) as page:
        done = [line for line in page.get("/api/v1/history").json() if not line["undone"]]
        assert page.overview()["n_sets"] == 9 + len(done) >= 11
        for _ in done:
            assert page.post("/api/v1/commands/undo").status_code == 200
        assert page.gallery.read_bytes() == gallery_file.read_bytes()
