"""`setwise verify`, `backup`, `restore` and `migrate`."""

from __future__ import annotations

import hashlib
import json
import shutil
import zipfile
from pathlib import Path

import numpy as np
import pytest
from tests.conftest import toy_sets
from typer.testing import CliRunner

import setwise
from setwise.cli import app
from setwise.gallery.journal import journal_of
from setwise.io.tensors import read_tensors, write_tensors

GALLERIES = Path(__file__).resolve().parents[1] / "data" / "galleries"


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def document(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def fitted():
    sets, labels = toy_sets(5, n_classes=3, n_sets=3, noise=1.0)
    return setwise.CVC((1, 2), random_state=0).fit(sets, labels), sets


@pytest.fixture
def gallery(fitted, tmp_path):
    """A gallery with a history of two changes and a decision about an inbox."""
    pytest.importorskip("fastapi", reason='needs pip install "setwise[serve]"')
    from setwise.page.commands import Commands
    from setwise.page.gallery_file import GalleryFile
    from setwise.page.history import History
    from setwise.page.settings import Limits

    path = fitted[0].save(tmp_path / "people.setwise")
    file = GalleryFile(path)
    commands = Commands(file, History(path, Limits()))
    for _ in range(2):
        commands.forget(file.refreshed().set_ids[0])
    (journal_of(path) / "inbox.json").write_text('{"abc": "anna"}')
    return path


def tree(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    found = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in found}


def test_a_backup_comes_back_byte_for_byte(gallery, tmp_path):
    archive = tmp_path / "backup.zip"
    done = document("backup", gallery, archive)
    assert done["n_states"] == 3
    before = tree(gallery.parent)
    before.pop(archive.name)
    other = tmp_path / "other"
    other.mkdir()
    again = document("restore", archive, other / "people.setwise")
    assert again["digest"] == done["digest"]
    assert tree(other) == before
    assert document("verify", other / "people.setwise")["ok"]


def test_what_was_restored_can_be_undone(gallery, tmp_path):
    from setwise.page.commands import Commands
    from setwise.page.gallery_file import GalleryFile
    from setwise.page.history import History
    from setwise.page.settings import Limits

    run("backup", gallery, tmp_path / "backup.zip")
    (tmp_path / "other").mkdir()
    restored = tmp_path / "other" / "renamed.setwise"
    assert run("restore", tmp_path / "backup.zip", restored).exit_code == 0
    commands = Commands(GalleryFile(restored), History(restored, Limits()))
    for _ in range(2):
        commands.undo()
    assert len(setwise.load(restored).gallery_.sets) == 9


def test_the_same_content_gives_the_same_archive(gallery, tmp_path):
    for name in ("a.zip", "b.zip"):
        run("backup", gallery, tmp_path / name)
    assert (tmp_path / "a.zip").read_bytes() == (tmp_path / "b.zip").read_bytes()


def test_a_gallery_without_a_history_is_one_state(fitted, tmp_path):
    path = fitted[0].save(tmp_path / "people.setwise")
    assert document("backup", path, tmp_path / "backup.zip")["n_states"] == 1
    document("restore", tmp_path / "backup.zip", tmp_path / "again.setwise")
    assert (tmp_path / "again.setwise").read_bytes() == path.read_bytes()
    assert not journal_of(tmp_path / "again.setwise").exists()


def test_a_damaged_gallery_never_replaces_a_good_archive(gallery, tmp_path):
    archive = tmp_path / "backup.zip"
    run("backup", gallery, archive)
    good = archive.read_bytes()
    gallery.unlink()  # not the state that it is linked to
    gallery.write_bytes(b"no gallery at all")
    found = run("backup", gallery, archive)
    assert found.exit_code == 1
    assert "people.setwise" in found.stderr
    assert archive.read_bytes() == good


def test_damaged_states_are_found_and_left_out(gallery, tmp_path):
    digest = run("verify", gallery)
    assert digest.exit_code == 0, digest.output
    current = gallery.stat().st_ino
    old = [one for one in journal_of(gallery).glob("*.setwise") if one.stat().st_ino != current]
    content = old[0].read_bytes()
    old[0].unlink()
    old[0].write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    found = run("verify", gallery)
    assert found.exit_code == 1
    assert old[0].name in found.stdout
    done = document("backup", gallery, tmp_path / "backup.zip")
    assert done["left_out"] == [old[0].name]
    assert done["n_states"] == 2


@pytest.mark.parametrize("part", ["gallery", "journal.jsonl", "inbox.json"])
def test_verify_names_what_is_damaged(gallery, part):
    file = gallery if part == "gallery" else journal_of(gallery) / part
    content = file.read_bytes()
    file.unlink()
    file.write_bytes(content[: len(content) // 3])
    found = run("verify", gallery)
    assert found.exit_code == 1
    broken = [line for line in found.stdout.splitlines() if line.startswith("BROKEN")]
    assert len(broken) == 1
    assert file.name in broken[0]
    assert file.read_bytes() == content[: len(content) // 3]  # nothing is repaired


def test_verify_tells_of_a_change_by_another_program(gallery):
    with setwise.edit(gallery) as clf:
        clf.forget(sets=[clf.gallery_.sets.names[0]])
    found = document("verify", gallery)
    assert [one["what"] for one in found["checks"]][-2:] == ["last change", "decisions"]
    assert found["ok"]


def test_nothing_is_overwritten_by_a_restore(gallery, tmp_path):
    run("backup", gallery, tmp_path / "backup.zip")
    before = tree(tmp_path)
    for _ in range(2):
        found = run("restore", tmp_path / "backup.zip", gallery)
        assert found.exit_code == 1
        assert "is there already" in found.stderr
    assert tree(tmp_path) == before


def rewritten(archive: Path, change) -> None:
    """An archive whose entries were changed by somebody."""
    with zipfile.ZipFile(archive) as source:
        entries = {name: source.read(name) for name in source.namelist()}
    compression = change(entries) or zipfile.ZIP_STORED
    with zipfile.ZipFile(archive, "w", compression) as target:
        for name, content in entries.items():
            target.writestr(name, content)


def lie(entries, **files):
    manifest = json.loads(entries["manifest.json"])
    manifest["files"].update(files)
    entries["manifest.json"] = json.dumps(manifest).encode()


def lie_about(entries, **about):
    entries["manifest.json"] = json.dumps(json.loads(entries["manifest.json"]) | about).encode()


def lie_in_history(entries):
    entries["journal.jsonl"] = b"no history\n"
    digest = hashlib.sha256(entries["journal.jsonl"]).hexdigest()
    lie(entries, **{"journal.jsonl": digest})


def state(entries) -> str:
    return next(name for name in entries if name.startswith("states/"))


ATTACKS = {
    "cut": lambda e: e.update({state(e): e[state(e)][:-1]}),
    "another state": lambda e: e.update({state(e): b"x"}),
    "gone": lambda e: e.pop(state(e)) and None,
    "no manifest": lambda e: e.pop("manifest.json") and None,
    "odd manifest": lambda e: e.update({"manifest.json": b"[]"}),
    "outside": lambda e: (e.update({"../x": b""}), lie(e, **{"../x": "0"}))[1],
    "absolute": lambda e: (e.update({"/tmp/x": b""}), lie(e, **{"/tmp/x": "0"}))[1],
    "packed": lambda e: zipfile.ZIP_DEFLATED,
    "elsewhere": lambda e: lie_about(e, gallery=str(GALLERIES / "v1" / "people")),
    "nowhere": lambda e: lie_about(e, gallery="0" * 64),
    "no files": lambda e: lie_about(e, files=[]),
    "no format": lambda e: lie_about(e, format=None),
    "no gallery": lambda e: e.update({"manifest.json": b'{"format": 1, "files": {}}'}),
    "deep": lambda e: e.update({"manifest.json": b"[" * 100_000}),
    "history": lambda e: lie_in_history(e),
    "later": lambda e: e.update({"manifest.json": b'{"format": 99, "files": {}}'}),
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_archives_that_lie_are_refused_and_leave_nothing(gallery, tmp_path, attack):
    archive, home = tmp_path / "backup.zip", tmp_path / "home"
    run("backup", gallery, archive)
    rewritten(archive, ATTACKS[attack])
    home.mkdir()
    before = tree(tmp_path)
    found = run("restore", archive, home / "people.setwise")
    assert found.exit_code == 1, found.output
    assert len(found.stderr.splitlines()) == 1
    assert "backup.zip" in found.stderr
    assert tree(tmp_path) == before
    assert not list(home.iterdir())


@pytest.mark.parametrize("compression", [zipfile.ZIP_DEFLATED, zipfile.ZIP_LZMA])
def test_a_packed_and_damaged_manifest_is_one_sentence(gallery, tmp_path, compression):
    archive = tmp_path / "backup.zip"
    run("backup", gallery, archive)
    rewritten(archive, lambda _: compression)
    content = bytearray(archive.read_bytes())
    start = content.index(b"manifest.json") + 21
    content[start : start + 32] = bytes(32)
    archive.write_bytes(content)
    found = run("restore", archive, tmp_path / "b.setwise")
    assert (found.exit_code, len(found.stderr.splitlines())) == (1, 1)


def test_a_damaged_history_never_replaces_a_good_archive(gallery, tmp_path):
    archive = tmp_path / "backup.zip"
    run("backup", gallery, archive)
    good = archive.read_bytes()
    (journal_of(gallery) / "journal.jsonl").write_text("no history")
    found = run("backup", gallery, archive)
    assert found.exit_code == 1
    assert "history is damaged" in found.stderr
    assert archive.read_bytes() == good


def test_what_is_no_archive_is_refused(gallery, tmp_path):
    for content in (b"", b"no zip", gallery.read_bytes()):
        (tmp_path / "a.zip").write_bytes(content)
        found = run("restore", tmp_path / "a.zip", tmp_path / "b.setwise")
        assert (found.exit_code, len(found.stderr.splitlines())) == (1, 1)


def corpus() -> list[Path]:
    return sorted(GALLERIES.glob("v*/*.setwise"))


@pytest.mark.parametrize("file", corpus(), ids=lambda f: f"{f.parent.name} {f.stem}")
def test_files_of_every_version_migrate_and_answer_as_before(file, tmp_path):
    if file.stem == "faiss":
        pytest.importorskip("faiss")
    own = Path(shutil.copy(file, tmp_path / "old.setwise"))
    read = read_tensors(own, "test", 9)
    read[0]["versions"]["setwise"] = "0.0.9"  # or it would be of today
    del read[0]["sha256"]
    write_tensors(own, *read)
    before, old = own.read_bytes(), setwise.load(own)
    done = document("migrate", own)
    assert done["before"]["setwise"] == "0.0.9"
    assert Path(done["kept"]).read_bytes() == before
    new = setwise.load(own)
    about = json.loads((file.parent / "expected.json").read_text())[file.stem]
    if "vectors" in about:
        probes = [np.array(probe) for probe in about["vectors"]]
        np.testing.assert_allclose(
            new.predict_proba(probes), old.predict_proba(probes), rtol=0, atol=1e-9
        )
    again = document("migrate", own)
    assert again["kept"] is None
    assert {path.name for path in tmp_path.iterdir()} == {own.name, Path(done["kept"]).name}


def test_a_file_that_would_answer_otherwise_stays(fitted, tmp_path, monkeypatch):
    from setwise.classify import migrated

    path = fitted[0].save(tmp_path / "people.setwise")
    read = read_tensors(path, "test", 9)
    read[0]["versions"]["setwise"] = "0.0.9"
    del read[0]["sha256"]
    write_tensors(path, *read)
    before, answers = path.read_bytes(), iter([np.zeros(3), np.ones(3)])
    monkeypatch.setattr(migrated, "_answers", lambda _: next(answers))
    found = run("migrate", path)
    assert found.exit_code == 1
    assert "would answer otherwise" in found.stderr
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["people.setwise"]
