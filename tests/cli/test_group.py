"""`setwise group`: a heap of photos into groups, and what stays when it is run again."""

import csv
import json
import shutil

import pytest
from tests.striped_sets import striped_sets
from typer.testing import CliRunner

from setwise.cli import app
from setwise.io import save_images

pytest.importorskip("skimage")


@pytest.fixture(scope="module")
def albums(tmp_path_factory):
    """Nine albums of striped images, three of a kind, in one folder and without labels."""
    root = tmp_path_factory.mktemp("albums")
    made = striped_sets(3)
    kinds = [str(label) for label in made.labels]
    made.labels = None
    save_images(made, root / "heap")
    return root / "heap", dict(zip(made.names, kinds, strict=True))


@pytest.fixture
def heap(albums, tmp_path):
    return shutil.copytree(albums[0], tmp_path / "heap")


def run(*arguments):
    options = ("--features", "pixels", "--size", "20", "--jobs", "1")
    found = CliRunner().invoke(app, ["group", *map(str, arguments), *options])
    assert found.exit_code == 0, found.output
    return found


def document(*arguments):
    return json.loads(run(*arguments, "--json").stdout)


def kinds_of(document, kinds):
    """The kinds of the sets of each group."""
    return {one["group"]: {kinds[name] for name in one["sets"]} for one in document["groups"]}


def test_sets_that_belong_together_are_told(albums):
    heap, kinds = albums
    found = document(heap)
    assert sorted(map(len, kinds_of(found, kinds).values())) == [1, 1, 1]
    assert sorted(kinds_of(found, kinds)) == ["group 1", "group 2", "group 3"]
    assert found["unsure"] == []
    assert set(found["suggestions"]) == {"merge", "move", "name_next"}
    assert [row["set"] for row in found["sets"]] == sorted(kinds)
    assert all(0.5 <= row["probability"] <= 1 for row in found["sets"])
    assert not any(one["is_named"] for one in found["groups"])


def test_a_run_again_keeps_names_and_corrections(heap, tmp_path):
    into = tmp_path / "groups"
    first = document(heap, "--into", into, "--copy")
    (into / "group 1").rename(into / "slopes")
    moved = sorted(path.name for path in (into / "group 2").iterdir())[0]
    (into / "odd").mkdir()
    (into / "group 2" / moved).rename(into / "odd" / moved)
    again = document(heap, "--into", into, "--copy")
    groups = {one["group"]: one["sets"] for one in again["groups"]}
    named = next(one for one in first["groups"] if one["group"] == "group 1")
    assert groups["slopes"] == named["sets"]
    assert groups["odd"] == [moved]
    assert moved not in groups["group 2"]
    assert {one["group"] for one in again["groups"] if one["is_named"]} == {"slopes", "odd"}
    third = document(heap, "--into", into, "--copy")
    assert third["groups"] == again["groups"]


def test_a_changed_table_is_a_correction(heap, albums, tmp_path):
    table, kinds = tmp_path / "groups.csv", albums[1]
    run(heap, "--csv", table)
    rows = list(csv.DictReader(table.read_text(encoding="utf-8-sig").splitlines()))
    assert [row["set"] for row in rows] == sorted(kinds)
    first = rows[0]["group"]
    text = table.read_text(encoding="utf-8-sig").replace(f",{first},", ",mine,")
    table.write_text(text, encoding="utf-8")
    again = document(heap, "--csv", table)
    (mine,) = (one for one in again["groups"] if one["group"] == "mine")
    assert mine["sets"] == [row["set"] for row in rows if row["group"] == first]


def test_new_sets_come_to_named_groups(heap, albums, tmp_path):
    kinds, into = albums[1], tmp_path / "groups"
    late = sorted(kinds)[0]
    shutil.move(heap / late, tmp_path / late)
    run(heap, "--into", into)
    entry = next(path for path in (into / "group 1").iterdir())
    assert entry.is_symlink() or any(one.is_symlink() for one in entry.iterdir())
    for number in (1, 2, 3):
        folder = into / f"group {number}"
        if folder.is_dir():
            (name,) = {kinds[path.name] for path in folder.iterdir()}
            folder.rename(into / name)
    shutil.move(tmp_path / late, heap / late)
    found = document(heap, "--into", into)
    assert kinds_of(found, kinds)[kinds[late]] == {kinds[late]}
    assert late in {path.name for path in (into / kinds[late]).iterdir()}


def test_links_are_read_from_files(heap, albums, tmp_path):
    kinds = albums[1]
    names = sorted(kinds)
    same = [name for name in names if kinds[name] == kinds[names[0]]]
    (tmp_path / "apart.csv").write_text(f"{same[0]},{same[1]}\n", encoding="utf-8")
    other = next(name for name in names if kinds[name] != kinds[names[0]])
    (tmp_path / "bound.csv").write_text(f"{same[0]},{other}\n", encoding="utf-8")
    links = "--cannot-link", tmp_path / "apart.csv", "--must-link", tmp_path / "bound.csv"
    rows = {row["set"]: row["group"] for row in document(heap, *links)["sets"]}
    assert rows[same[0]] == rows[other] != ""
    assert rows[same[0]] != rows[same[1]]


def test_the_contact_sheet_shows_sure_groups_first(heap, tmp_path):
    found = document(heap, "--report", tmp_path / "groups.html")
    page = (tmp_path / "groups.html").read_text(encoding="utf-8")
    places = [page.index(f"""-title">{one["group"]} <""") for one in found["groups"]]
    chances = [one["probability"] for one in found["groups"]]
    assert chances == sorted(chances, reverse=True)
    assert places == sorted(places)
    assert page.count("data:image") >= 9


def test_known_classes_are_recognised_and_a_named_group_is_enrolled(tmp_path):
    gallery, strangers = striped_sets(2), striped_sets(3, seed=1)
    kept = [i for i, label in enumerate(gallery.labels) if label != "steep"]
    known = gallery[kept]
    known.labels = [gallery.labels[i] for i in kept]
    save_images(known, tmp_path / "gallery")
    kinds = dict(zip(strangers.names, map(str, strangers.labels), strict=True))
    strangers.labels = None
    save_images(strangers, tmp_path / "heap")
    people = tmp_path / "people.setwise"
    fit = ["fit", tmp_path / "gallery", "-o", people, "--unknown", "0.5"]
    options = ["--features", "pixels", "--size", "20"]
    done = CliRunner().invoke(app, [*map(str, fit), *options])
    assert done.exit_code == 0, done.output

    def group(*more):
        words = ["group", tmp_path / "heap", "--gallery", people, "--json", *more]
        done = CliRunner().invoke(app, list(map(str, words)))
        assert done.exit_code == 0, done.output
        return json.loads(done.stdout)

    into = tmp_path / "groups"
    found = kinds_of(group("--into", into, "--copy"), kinds)
    assert found["flat"] == {"flat"}
    (new,) = (name for name in found if name.startswith("group"))
    assert found[new] == {"steep"}
    (into / new).rename(into / "steep")
    group("--into", into, "--copy", "--enroll")
    shutil.rmtree(into)
    assert kinds_of(group(), kinds)["steep"] == {"steep"}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--copy",), "--into DIR"),
        (("--enroll",), "--gallery FILE"),
        (("-n", "10"), "at most as many"),
    ],
)
def test_wrong_options_are_refused(albums, arguments, said):
    found = CliRunner().invoke(app, ["group", str(albums[0]), *arguments])
    assert found.exit_code != 0
    assert said in " ".join(found.output.split())
