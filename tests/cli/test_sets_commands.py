"""Folders, videos and archives on the command line: what is there, whose is it."""

import json

import numpy as np
import pytest
from scipy.io import savemat
from tests.striped_sets import striped_sets
from typer.testing import CliRunner

from setwise.cli import app
from setwise.io import save_images

pytest.importorskip("skimage")


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """Folders of striped images: a gallery with classes, and probes with and without."""
    root = tmp_path_factory.mktemp("album")
    save_images(striped_sets(2), root / "gallery")
    probes = striped_sets(1, seed=1)
    save_images(probes, root / "labelled")
    probes.labels = None
    save_images(probes, root / "probes")
    return root


def run(command, *arguments):
    options = () if command == "faces" else ("--features", "pixels,edges")  # quick ones
    return CliRunner().invoke(app, [command, *map(str, arguments), *options])


def document(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def test_inspect_counts_what_it_read(album):
    found = document("inspect", album / "gallery", "--size", "16")
    assert found["image_shape"] == [16, 16]
    assert found["report"]["layout"] == "class/set"
    classes = ["flat", "flat", "slanted", "slanted", "steep", "steep"]
    assert [row["class"] for row in found["sets"]] == classes
    assert sum(row["n_images"] for row in found["sets"]) == found["report"]["n_images"]


def test_inspect_shows_a_table_to_people(album):
    found = run("inspect", album / "gallery")
    assert found.exit_code == 0
    assert "class/set" in found.stdout
    assert "steep" in found.stdout


def test_classify_labels_a_folder(album):
    found = document("classify", album / "gallery", album / "probes", "--size", "32")
    answers = {answer["set"]: answer for answer in found["answers"]}
    assert {name: a["label"] for name, a in answers.items()} == {
        "set 0": "flat", "set 1": "steep", "set 2": "slanted",
    }  # fmt: skip
    for answer in answers.values():
        assert sum(answer["probabilities"].values()) == pytest.approx(1)
        assert answer["probability"] == max(answer["probabilities"].values())


@pytest.mark.parametrize("option", [(), ("--quiet",)])
def test_classify_speaks_to_people_and_to_pipes(album, option):
    found = run("classify", album / "gallery", album / "probes", "--size", "32", *option)
    assert found.exit_code == 0
    lines = found.stdout.splitlines()
    assert any("set 1" in line and "steep" in line for line in lines)
    if option:
        assert [line.split("\t")[1] for line in lines] == ["flat", "steep", "slanted"]


def test_compare_tries_the_named_methods(album):
    found = document(
        "compare", album / "gallery", album / "labelled", "--methods", "MSM, mean vector"
    )
    assert {row["method"] for row in found["methods"]} == {"MSM", "mean vector"}


def test_compare_knows_names_with_commas_and_checks_them_before_loading(album, tmp_path):
    chosen = ("--methods", "CHISD, rbf kernel", "--methods", "MSM")
    found = document("compare", album / "gallery", album / "labelled", *chosen)
    assert {row["method"] for row in found["methods"]} == {"CHISD, rbf kernel", "MSM"}
    nowhere = run("compare", tmp_path / "none", tmp_path / "none", "--methods", "MSN")
    assert nowhere.exit_code == 1
    assert "Did you mean 'MSM'?" in nowhere.stderr


def test_compare_needs_labels(album, tmp_path):
    np.savez(tmp_path / "sets.npz", **{f"set {i}": np.ones((5, 4)) for i in range(3)})
    found = run("compare", tmp_path / "sets.npz", tmp_path / "sets.npz")
    assert found.exit_code == 1
    assert "the sets need classes" in found.stderr
    assert "gallery/anna/*.jpg" in found.stderr
    others = run("compare", album / "gallery", album / "probes")
    assert others.exit_code == 1
    assert "'set 0', which is no class of the gallery" in others.stderr


def test_archives_are_sets_too(album, tmp_path):
    rng = np.random.default_rng(0)
    sets = {f"set {i}": rng.normal(size=(5, 4)) for i in range(3)}
    np.savez(tmp_path / "sets.npz", **sets)
    found = document("inspect", tmp_path / "sets.npz")
    assert [row["n_images"] for row in found["sets"]] == [5, 5, 5]
    assert found["n_features"] == 4


@pytest.mark.parametrize("name", ["nowhere", "notes.txt"])
def test_what_is_no_source_gets_one_line(tmp_path, name):
    (tmp_path / "notes.txt").write_text("hello")
    found = run("inspect", tmp_path / name)
    assert found.exit_code == 1
    assert found.stderr.startswith("setwise: ")
    assert name in found.stderr
    assert len(found.stderr.splitlines()) == 1


def test_inspect_lists_every_bad_file(tmp_path):
    save_images(striped_sets(8), tmp_path / "sets")
    bad = [tmp_path / "sets" / "flat" / f"set {i}" / "0000.png" for i in (0, 3)]
    for file in bad:
        file.write_bytes(b"no image")
    for option in ((), ("--quiet",), ("--json",)):
        found = run("inspect", tmp_path / "sets", *option)
        assert found.exit_code == 1
        assert all(str(file) in found.stdout for file in bad)


def test_a_bad_file_stops_or_is_skipped(album, tmp_path):
    save_images(striped_sets(8), tmp_path / "sets")
    bad = tmp_path / "sets" / "flat" / "set 0" / "0000.png"
    bad.write_bytes(b"no image")
    command = ("classify", tmp_path / "sets", album / "probes", "--size", "16")
    refused = run(*command)
    assert refused.exit_code == 1
    assert str(bad) in refused.stderr
    skipped = run(*command, "--skip-bad")
    assert skipped.exit_code == 0
    assert str(bad) in skipped.stderr
    assert run(*command, "--skip-bad", "--max-bad", "0").exit_code == 1
    assert len(document(*command, "--exclude", "0000.png")["answers"]) == 3


def test_compare_on_images_tries_the_one_that_looks_at_images(album):
    both = ("--methods", "CVC for images, frame vote", "--size", "8")
    found = document("compare", album / "gallery", album / "labelled", *both)
    assert {row["method"] for row in found["methods"]} == {"CVC for images", "frame vote"}
    quiet = run("compare", album / "gallery", album / "labelled", *both, "--quiet")
    assert quiet.stdout.startswith("Best on these 3 probes")


def test_an_unknown_method_is_named(album):
    found = run("compare", album / "gallery", album / "labelled", "--methods", "CVC, MSN")
    assert found.exit_code == 1
    assert "'MSN'" in found.stderr


def test_compare_draws_a_picture(album, tmp_path):
    picture = tmp_path / "methods.png"
    run(
        "compare", album / "gallery", album / "labelled",
        "--methods", "MSM,mean vector", "--picture", picture,
    )  # fmt: skip
    assert picture.read_bytes().startswith(b"\x89PNG")


def test_a_matlab_file_is_labelled_by_another_part_of_it(tmp_path):
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(2, 20, 3))
    known = np.empty(6, dtype=object)
    known[:] = [bases[i % 2] @ (rng.normal(size=(3, 9)) + 1) for i in range(6)]
    new = np.empty(2, dtype=object)
    new[:] = [bases[i] @ (rng.normal(size=(3, 9)) + 1) for i in (1, 0)]
    people = np.array(["anna", "bert"] * 3, dtype=object)
    path = tmp_path / "sets.mat"
    savemat(path, {"known": known, "new": new, "people": people})
    of_file = (path, path, "--variable", "known", "--labels", "people")
    found = document("classify", *of_file, "--probe-variable", "new")
    assert [answer["label"] for answer in found["answers"]] == ["bert", "anna"]
    refused = run("classify", path, path, "--variable", "known")
    assert refused.exit_code == 1
    assert "--labels" in refused.stderr


EVIL = "a\tb\nforged\tanna\t1.000\n\x1b]0;title\x07\u202e"


@pytest.fixture(scope="module")
def evil(tmp_path_factory):
    """Archives whose names and labels hold tabs, ends of lines and escape codes."""
    rng = np.random.default_rng(0)
    bases = rng.normal(size=(2, 3, 20))
    sets = [(rng.normal(size=(9, 3)) + 1) @ bases[i % 2] for i in range(4)]
    path = tmp_path_factory.mktemp("evil") / "gallery.npz"
    np.savez(
        path,
        features=np.vstack(sets),
        set_index=np.repeat(np.arange(4), 9),
        set_labels=np.array([EVIL, "anna"] * 2),
        set_names=np.array([f"{i}{EVIL}" for i in range(4)]),
    )
    return path


@pytest.mark.parametrize("option", [(), ("--quiet",)])
@pytest.mark.parametrize("command", ["inspect", "classify"])
def test_names_and_labels_cannot_act_on_the_terminal_or_forge_lines(evil, command, option):
    sources = (evil,) if command == "inspect" else (evil, evil)
    found = run(command, *sources, *option)
    assert found.exit_code == 0, found.output
    assert not {c for c in found.output if c not in "\n\t" and not c.isprintable()}
    assert not [line for line in found.output.splitlines() if line.startswith("forged")]
    if command == "classify" and option:
        rows = [line.split("\t") for line in found.stdout.splitlines()]
        assert [len(row) for row in rows] == [3] * 4
        assert r"a\tb\nforged\tanna\t1.000\n\x1b]0;title\x07\u202e" in {row[1] for row in rows}


def test_errors_cannot_act_on_the_terminal(tmp_path):
    found = run("inspect", tmp_path / "no\x1b[31mwhere")
    assert found.exit_code == 1
    assert r"no\x1b[31mwhere" in found.stderr
    assert "\x1b" not in found.stderr


def test_a_picture_that_cannot_be_drawn_is_refused_first(tmp_path):
    found = run("compare", "none", "none", "--picture", tmp_path / "nosuch" / "x.png")
    assert found.exit_code == 1
    assert "--picture" in found.stderr
    assert "there is no folder" in found.stderr
