"""Galleries in files, from the shell: fit, enroll, forget, identify."""

from __future__ import annotations

import csv
import json
import os
from datetime import datetime, timedelta
from functools import partial
from pathlib import Path
from threading import Thread

import numpy as np
import pytest
from PIL import Image
from tests.striped_sets import striped_sets
from typer.testing import CliRunner

import setwise
from setwise import CVC
from setwise.classify import saved
from setwise.cli import app, galleries
from setwise.errors import DataError
from setwise.io import save_images

pytest.importorskip("skimage")


# A network would see more, and take longer; tests/cli/test_features.py asks one.
QUICK = ("--features", "pixels,edges")


def run(command, *arguments):
    options = QUICK if command in ("fit", "identify", "classify", "evaluate") else ()
    return CliRunner().invoke(app, [command, *map(str, arguments), *options])


def document(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


@pytest.fixture(scope="module")
def albums(tmp_path_factory):
    """A gallery as people have it, class/*.png and class/set/*.png, and probes."""
    root = tmp_path_factory.mktemp("albums")
    save_images(striped_sets(2), root / "gallery")
    for name in ("flat", "steep"):  # one set lies directly in the folder of its class
        first = sorted((root / "gallery" / name).iterdir())[0]
        for file in first.iterdir():
            file.rename(root / "gallery" / name / file.name)
        first.rmdir()
    probes = striped_sets(1, seed=1)
    save_images(probes.replaced(labels=None), root / "probes")
    fitted = run("fit", root / "gallery", "-o", root / "people.setwise", "--size", "32")
    assert fitted.exit_code == 0, fitted.output
    return root


@pytest.fixture
def people(albums, tmp_path):
    """A copy of the gallery file that may be changed."""
    path = tmp_path / "people.setwise"
    path.write_bytes((albums / "people.setwise").read_bytes())
    return path


def test_fit_says_what_is_in_the_file(albums, tmp_path):
    out = tmp_path / "again.setwise"
    found = document("fit", albums / "gallery", "-o", out, "--size", "32")
    assert found["classes"] == {"flat": 2, "slanted": 2, "steep": 2}
    assert (found["n_sets"], found["has_vectors"]) == (6, True)
    assert found["n_bytes"] == out.stat().st_size
    assert out.read_bytes() == (albums / "people.setwise").read_bytes()


def test_the_file_answers_as_the_folder_does(albums):
    of_file = document("identify", albums / "people.setwise", albums / "probes")
    of_folder = document("identify", albums / "gallery", albums / "probes", "--size", "32")
    assert of_file["answers"] == of_folder["answers"]
    assert [a["label"] for a in of_file["answers"]] == ["flat", "steep", "slanted"]
    one_shot = document("classify", albums / "gallery", albums / "probes", "--size", "32")
    assert one_shot["answers"] == of_folder["answers"]


def test_an_answer_has_everything(albums):
    found = document("identify", albums / "people.setwise", albums / "probes" / "set 1")
    (answer,) = found["answers"]
    assert answer["set"] == "set 1"
    assert answer["label"] == answer["nearest"] == "steep"
    assert answer["is_known"] is None
    shares = sorted(answer["probabilities"].values())
    assert answer["margin"] == pytest.approx(shares[-1] - shares[-2])
    assert answer["first_file"].endswith("0000.png")
    assert found["gallery"]["classes"] == ["flat", "slanted", "steep"]
    assert found["left_out"][0]["n_images"] == answer["n_images"]


def test_photos_out_of_place_are_named(tmp_path):
    """Two of an album show something else: they are named, and not listened to."""
    rng = np.random.default_rng(0)
    rows, columns = np.indices((32, 32)) * 7.0
    scenes = {"hill": rows, "wall": columns, "hole": np.hypot(rows - 110, columns - 110)}

    def photos(scene, n_photos):
        noise = rng.normal(0, 8, (n_photos, 32, 32))
        return np.clip(scenes[scene] + noise, 0, 255).astype(np.uint8)

    sets = [photos(scene, 10) for scene in scenes for _ in range(3)]
    labels = np.repeat(list(scenes), 3)
    save_images(setwise.SetBatch.from_images(sets, labels=labels), tmp_path / "gallery")
    album = setwise.SetBatch.from_images(
        [np.concatenate([photos("hill", 9), photos("hole", 2)])]
    )
    save_images(album, tmp_path / "album")
    out = tmp_path / "places.setwise"
    assert run("fit", tmp_path / "gallery", "-o", out, "--size", "32").exit_code == 0
    (answer,) = document("identify", out, tmp_path / "album")["answers"]
    assert answer["label"] == "hill"
    names = [Path(one["file"]).name for one in answer["out_of_place"]]
    assert names == ["0009.png", "0010.png"]
    assert [one["image"] for one in answer["out_of_place"]] == [10, 11]
    assert "0009.png" in run("identify", out, tmp_path / "album").stdout


def test_enroll_and_forget_change_the_file(albums, people, tmp_path):
    new = tmp_path / "new" / "dora"
    new.mkdir(parents=True)
    for file in (albums / "probes" / "set 0").iterdir():
        (new / file.name).write_bytes(file.read_bytes())
    found = document("enroll", people, tmp_path / "new")
    assert found["classes"] == {"dora": 1, "flat": 2, "slanted": 2, "steep": 2}
    again = document("enroll", people, new, "--label", "dora")
    assert again["classes"]["dora"] == 2
    assert setwise.load(people).gallery_.sets.names[-2:] == ("dora", "dora (2)")
    one = document("forget", people, "--set", "dora (2)")
    assert one["n_sets"] == 7
    gone = document("forget", people, "--label", "dora", "--label", "flat")
    assert gone["classes"] == {"slanted": 2, "steep": 2}
    said = run("forget", people, "--label", "nobody")
    assert said.exit_code == 1
    assert "there is no class 'nobody'" in said.stderr
    assert run("forget", people).exit_code == 2


@pytest.mark.parametrize("label", ["", "   ", "a\tb", "x" * 101])
def test_a_label_that_is_no_name_is_refused(albums, people, label):
    before = people.read_bytes()
    found = run("enroll", people, albums / "probes", "--label", label)
    assert found.exit_code == 1
    assert "--label" in found.stderr
    assert "Expected 1 to 100 letters" in found.stderr
    assert people.read_bytes() == before


def test_spaces_around_a_label_make_no_new_class_and_the_file_is_loaded_once(
    albums, people, monkeypatch
):
    loaded, load = [], saved.load
    monkeypatch.setattr(saved, "load", lambda path, **o: loaded.append(path) or load(path, **o))
    monkeypatch.setattr(setwise, "load", saved.load)
    found = document("enroll", people, albums / "probes" / "set 0", "--label", "  flat ")
    assert found["classes"] == {"flat": 3, "slanted": 2, "steep": 2}
    assert loaded == [people]


def test_new_labels_have_the_type_of_the_gallery_s():
    sets = [np.eye(6)[[i % 2, 2, 3]] + i / 9 for i in range(4)]
    clf = CVC((1,), weights=None).fit(sets, [1000, 7, 1000, 7])
    checked = partial(galleries._labels_of, clf=clf, where="--label")
    assert checked([" 7 ", "12", 5]) == [7, 12, 5]
    for wrong in ("1_000", "1.5", "anna"):
        with pytest.raises(DataError, match=r"--label: .* are whole numbers, and"):
            checked([wrong])


def test_what_can_be_no_gallery_file_is_refused_before_photos_are_read(tmp_path):
    for content in (
        b"",
        b"x" * 7,
        (2**63).to_bytes(8, "little") + b"{}",
        b"\2" + bytes(7) + b"{}",
    ):
        (tmp_path / "bad.setwise").write_bytes(content)
        found = run("enroll", tmp_path / "bad.setwise", tmp_path / "none")
        assert found.exit_code == 1
        assert "bad.setwise" in found.stderr
        assert "none" not in found.stderr


def test_without_vectors_nothing_can_be_enrolled_and_it_says_so(albums, tmp_path):
    out = tmp_path / "private.setwise"
    found = document("fit", albums / "gallery", "-o", out, "--size", "32", "--no-vectors")
    assert found["has_vectors"] is False
    answers = document("identify", out, albums / "probes")["answers"]
    expected = document("identify", albums / "people.setwise", albums / "probes")["answers"]
    # Members that compare single vectors are gone with them.
    assert [one["label"] for one in answers] == [one["label"] for one in expected]
    refused = run("enroll", out, albums / "probes", "--label", "flat")
    assert refused.exit_code == 1
    assert "saved without its vectors" in refused.stderr


def test_sets_of_other_classes_are_unknown_where_wanted(albums, tmp_path):
    out = tmp_path / "strict.setwise"
    run("fit", albums / "gallery", "-o", out, "--size", "32", "--unknown", "0.02")
    noise = np.random.default_rng(0).integers(0, 9, (9, 32, 32), dtype=np.uint8)
    noise[:, :8, :8] += 200  # a light in a corner of the dark
    save_images(setwise.SetBatch.from_images([noise], ["night"]), tmp_path / "unknown")
    (answer,) = document("identify", out, tmp_path / "unknown")["answers"]
    assert (answer["label"], answer["is_known"]) == ("unknown", False)
    assert answer["note"] == f"most like {answer['nearest']}"
    assert "unknown" in run("identify", out, tmp_path / "unknown").stdout
    refused = run("identify", albums / "people.setwise", albums / "probes", "--unknown", "0.1")
    assert refused.exit_code == 1
    assert "setwise fit ... --unknown 0.1" in refused.stderr


def test_a_card_is_read_in_bursts_whatever_folder_they_lie_in(albums, tmp_path):
    """A camera-trap card: one row per burst, with its first file and time."""
    images = striped_sets(1, seed=1).images
    taken, number = datetime(2024, 5, 1, 6), 0
    for burst in range(3):
        taken += timedelta(minutes=10)
        for image in images[8 * burst : 8 * burst + 5]:
            taken, number = taken + timedelta(seconds=2), number + 1
            folder = tmp_path / "DCIM" / f"{100 + number // 8}EK113"
            folder.mkdir(parents=True, exist_ok=True)
            photo = Image.fromarray(image)
            tags = photo.getexif()
            tags.get_ifd(0x8769)[0x9003] = taken.strftime("%Y:%m:%d %H:%M:%S")
            photo.save(folder / f"EK{number:04d}.jpg", exif=tags, quality=95)
    (tmp_path / "DCIM" / "readme.txt").write_text("a card")
    table = tmp_path / "bursts.csv"
    options = ("--probe-layout", "bursts", "--gap", "60", "--csv", table)
    found = run("identify", albums / "people.setwise", tmp_path / "DCIM", *options)
    assert found.exit_code == 0, found.output
    assert "txt" in found.stderr  # what was left out is said
    rows = list(csv.DictReader(table.read_text("utf-8").splitlines()))
    assert [row["first_time"] for row in rows] == [
        "2024-05-01T06:10:02", "2024-05-01T06:20:12", "2024-05-01T06:30:22",
    ]  # fmt: skip
    assert [Path(row["first_file"]).name for row in rows] == [
        "EK0001.jpg", "EK0006.jpg", "EK0011.jpg",
    ]  # fmt: skip
    assert [row["n_images"] for row in rows] == ["5", "5", "5"]
    unasked = run("identify", albums / "people.setwise", tmp_path / "DCIM")
    assert "`--probe-layout bursts`" in unasked.stderr  # not silently one label for a folder


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--csv", "nowhere/a.csv"), "there is no folder"),
        (("--report", "."), "is a folder"),
        (("--explain", "file.txt"), "is a file"),
        (("--probe-layout", "burst"), "--probe-layout must be one of"),
        (("--gap", "0"), "--gap must be"),
        (("--size", "-3"), "--size must be"),
        (("--jobs", "0"), "n_jobs must be"),
        (("--unknown", "2"), "unknown must be"),
    ],
)
def test_options_are_checked_before_anything_is_read(tmp_path, monkeypatch, options, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_text("")
    found = run("identify", "no gallery.setwise", "no probes", *options)
    assert found.exit_code == 1
    assert words in found.stderr
    assert "no gallery" not in found.stderr


def test_answers_are_said_even_if_a_file_cannot_be_written(albums, tmp_path, monkeypatch):
    def fail(*arguments, **options):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("setwise._support.files.write_atomically", fail)
    table = tmp_path / "a.csv"
    found = run("identify", albums / "people.setwise", albums / "probes", "--csv", table, "-q")
    assert found.exit_code == 1
    assert [line.split("\t")[1] for line in found.stdout.splitlines()] == [
        "flat", "steep", "slanted",
    ]  # fmt: skip
    assert "No space left on device" in found.stderr


def test_several_sources_are_judged_together(albums):
    folders = [albums / "probes" / f"set {i}" for i in (2, 0)]
    found = document("identify", albums / "people.setwise", *folders)
    assert [(a["set"], a["label"]) for a in found["answers"]] == [
        ("set 2", "slanted"), ("set 0", "flat"),
    ]  # fmt: skip
    assert len(found["left_out"]) == 2


def test_a_wrong_gallery_file_is_one_line(albums, tmp_path):
    bad = tmp_path / "bad.setwise"
    bad.write_bytes(b"hello")
    for gallery in (bad, tmp_path / "none.setwise"):
        found = run("identify", gallery, albums / "probes")
        assert found.exit_code == 1
        assert found.stderr.count("setwise: ") == 1


def test_a_table_of_answers_holds_no_formula(albums, tmp_path):
    save_images(striped_sets(1, seed=1).replaced(labels=None), tmp_path / "probes")
    (tmp_path / "probes" / "set 0").rename(tmp_path / "probes" / "=cmd()")
    table = tmp_path / "answers.csv"
    run("identify", albums / "people.setwise", tmp_path / "probes", "--csv", table)
    cells = {cell for row in csv.reader(table.read_text("utf-8").splitlines()) for cell in row}
    assert "'=cmd()" in cells
    assert not {cell for cell in cells if cell.startswith(("=", "+", "@"))}


def test_report_pictures_and_table_are_written(albums, tmp_path):
    pytest.importorskip("jinja2")
    pytest.importorskip("matplotlib")
    places = {"--report": "answers.html", "--explain": "pictures", "--csv": "answers.csv"}
    options = [word for name, file in places.items() for word in (name, tmp_path / file)]
    found = run("identify", albums / "people.setwise", albums / "probes", *options, "-q")
    assert found.exit_code == 0, found.output
    page = (tmp_path / "answers.html").read_text("utf-8")
    assert all(f"set {i}" in page for i in range(3))
    assert "0000.png" in page
    pictures = sorted(file.name for file in (tmp_path / "pictures").iterdir())
    assert pictures == ["set 0.png", "set 1.png", "set 2.png"]
    assert len((tmp_path / "answers.csv").read_text("utf-8").splitlines()) == 4


def test_one_image_against_one_is_not_certain(tmp_path):
    rng = np.random.default_rng(0)
    images = [rng.integers(0, 255, (1, 16, 16), dtype=np.uint8) for _ in range(3)]
    labels = np.array(["anna", "bert", "carl"])
    save_images(setwise.SetBatch.from_images(images, labels=labels), tmp_path / "gallery")
    probe = rng.integers(0, 255, (1, 16, 16), dtype=np.uint8)
    save_images(setwise.SetBatch.from_images([probe]), tmp_path / "probe")
    (answer,) = document("classify", tmp_path / "gallery", tmp_path / "probe")["answers"]
    assert answer["probability"] < 0.9


def test_evaluate_on_ones_own_folder(albums, tmp_path):
    pytest.importorskip("jinja2")
    page = tmp_path / "evaluation.html"
    options = ("--folds", "2", "--size", "32", "--report", page)
    found = document("evaluate", albums / "gallery", *options)
    assert (found["n_judged"], found["n_folds"]) == (6, 2)
    assert found["accuracy"] == found["n_right"] / 6
    assert found["confusion"]["rows"] == ["flat", "slanted", "steep"]
    assert found["left_out"]["n_images"] == sum(
        len(list(folder.rglob("*.png"))) for folder in (albums / "gallery").iterdir()
    )
    assert "How well these sets are told apart" in page.read_text("utf-8")
    line = run("evaluate", albums / "gallery", "--folds", "2", "--size", "32", "--quiet")
    assert line.stdout.count("\n") == 1
    assert run("evaluate", albums / "gallery", "--folds", "1").exit_code == 1


@pytest.mark.parametrize("option", [("--folds", "1"), ("--seed", "-1"), ("--unknown", "2")])
def test_evaluate_checks_its_options_before_anything_is_read(option):
    found = run("evaluate", "no gallery", *option)
    assert found.exit_code == 1
    assert f"{option[0].lstrip('-')} must be" in found.stderr


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_tables_and_pages_are_written_through_links_and_pipes(albums, tmp_path):
    pytest.importorskip("jinja2")
    table, page, pipe = tmp_path / "table.csv", tmp_path / "page.html", tmp_path / "pipe"
    links = [tmp_path / "link.csv", tmp_path / "link.html"]
    for link, file in zip(links, (table, page), strict=True):
        link.symlink_to(file)
    os.mkfifo(pipe)
    asked = "identify", albums / "people.setwise", albums / "probes"
    assert run(*asked, "--csv", links[0], "--report", links[1]).exit_code == 0
    assert all(link.is_symlink() for link in links)
    assert table.read_text().startswith("set,label,")
    assert page.read_text().lower().startswith("<!doctype html>")
    received = []
    reader = Thread(target=lambda: received.append(pipe.read_bytes()), daemon=True)
    reader.start()
    assert run(*asked, "--csv", pipe).exit_code == 0
    reader.join(timeout=10)
    assert received == [table.read_bytes()]
    assert pipe.is_fifo()
