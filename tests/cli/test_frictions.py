"""What people stumble over in the shell: photos by name, files that are there, messages."""

from __future__ import annotations

import json
import logging

import numpy as np
import pytest
from PIL import Image
from tests.striped_sets import striped_sets
from typer.testing import CliRunner

import setwise
from setwise.cli import app, common
from setwise.errors import DataError
from setwise.io import save_images
from setwise.io.decode import SUFFIXES

QUICK = ("--features", "pixels", "--size", "16")


def run(*arguments, env=None):
    return CliRunner().invoke(app, list(map(str, arguments)), env=env)


@pytest.fixture(scope="module")
def album(tmp_path_factory):
    """A gallery file, its photos, and photos to identify."""
    root = tmp_path_factory.mktemp("album")
    save_images(striped_sets(2), root / "gallery")
    save_images(striped_sets(1, seed=1).replaced(labels=None), root / "probes")
    fitted = run("fit", root / "gallery", "-o", root / "a.setwise", *QUICK)
    assert fitted.exit_code == 0, fitted.output
    return root


def test_photos_by_name_are_a_set_per_folder(album):
    first, second = (sorted((album / "probes" / f"set {i}").iterdir()) for i in (0, 1))
    found = run("identify", album / "a.setwise", *first, *second[:3], "--json")
    answers = json.loads(found.stdout)["answers"]
    assert [(one["set"], one["n_images"]) for one in answers] == [
        ("set 0", len(first)), ("set 1", 3),
    ]  # fmt: skip
    whole = run("identify", album / "a.setwise", album / "probes", "--json")
    expected = json.loads(whole.stdout)["answers"][0]
    assert answers[0]["probabilities"] == expected["probabilities"]


def test_one_photo_is_a_probe(album):
    photo = album / "probes" / "set 0" / "0000.png"
    found = run("identify", album / "a.setwise", photo, "--quiet")
    assert found.exit_code == 0, found.output
    assert found.stdout.startswith("0000.png\tflat\t")
    with pytest.raises(DataError, match="expected a folder, or photos by name"):
        setwise.load_sets([photo, album])


def test_inspect_lists_classes_and_sets_of_a_gallery_file(album):
    found = json.loads(run("inspect", album / "a.setwise", "--json").stdout)
    assert [(s["class"], s["name"]) for s in found["sets"][:2]] == [
        ("flat", "flat/set 0"), ("flat", "flat/set 3"),
    ]  # fmt: skip
    assert found["reading"]["features"] == ["pixels"]
    told = run("inspect", album / "a.setwise").stdout
    assert "6 sets of 3 classes" in told
    assert "flat/set 0" in told


def test_fit_keeps_a_file_that_is_there(album, tmp_path):
    out = tmp_path / "a.setwise"
    out.write_bytes(b"precious")
    refused = run("fit", album / "gallery", "-o", out, *QUICK)
    assert refused.exit_code == 1
    assert "setwise enroll" in refused.stderr
    assert out.read_bytes() == b"precious"
    forced = run("fit", album / "gallery", "-o", out, *QUICK, "--force")
    assert forced.exit_code == 0
    assert (tmp_path / "a.setwise.bak").read_bytes() == b"precious"
    assert setwise.load(out).classes_.tolist() == ["flat", "slanted", "steep"]


def test_messages_name_options_of_the_shell(album, tmp_path):
    save_images(striped_sets(1), tmp_path / "bad")
    bad = tmp_path / "bad" / "flat" / "set 0" / "0000.png"
    bad.write_bytes(b"no image")
    refused = run("fit", tmp_path / "bad", "-o", tmp_path / "b.setwise", *QUICK)
    assert "--skip-bad" in refused.stderr
    small = run("inspect", album / "gallery", "--max-pixels", "9")
    assert "more than --max-pixels 9" in small.stderr
    assert "max_pixels" not in small.stderr


def test_labels_and_file_names_are_never_cut(tmp_path):
    name = "a very long name of a class of which the last letter counts " * 2 + "X"
    row = {
        "set": name, "label": name, "probability": 0.5, "margin": 0.1, "runner_up": name,
        "is_known": None, "out_of_place": [{"image": 1, "file": f"{name}.jpg"}], "note": "",
    }  # fmt: skip
    from setwise.cli.identify import table_row

    def shown(environment):
        def table():
            common.show_rows(("set", "label", "how sure", "next", "out", ""), [table_row(row)])

        import typer

        one = typer.Typer()
        one.command()(table)
        return CliRunner().invoke(one, env=environment).stdout

    assert shown({"COLUMNS": None}).count(name) == 4
    narrow = shown({"COLUMNS": "80"})
    assert "…" not in narrow
    assert "margin" not in narrow
    letters = "".join(narrow.split())
    assert sum(letters.count(c) for c in "X") == 4


def test_a_gallery_that_cannot_say_unknown_says_so_once(album):
    found = run("identify", album / "a.setwise", album / "probes")
    assert found.stderr.count("--unknown 0.05") == 1
    quiet = run("identify", album / "a.setwise", album / "probes", "--quiet")
    assert "--unknown" not in quiet.stderr


def test_the_same_album_twice_is_noticed(album, tmp_path):
    out = tmp_path / "a.setwise"
    out.write_bytes((album / "a.setwise").read_bytes())
    twice = album / "gallery" / "flat" / "set 0"
    found = run("enroll", out, twice, "--label", "steep")
    assert found.exit_code == 0, found.output
    assert "of set 0 (steep) are in the gallery already, in flat/set 0 (flat)" in found.stderr
    assert "1 set enrolled: 7 sets of 3 classes" in found.stdout


def test_equal_photos_in_two_classes_are_named_by_fit(tmp_path):
    save_images(striped_sets(1), tmp_path / "gallery")
    copied = tmp_path / "gallery" / "copy" / "set 9"
    copied.mkdir(parents=True)
    for file in (tmp_path / "gallery" / "flat" / "set 0").iterdir():
        (copied / file.name).write_bytes(file.read_bytes())
    found = run("fit", tmp_path / "gallery", "-o", tmp_path / "a.setwise", *QUICK)
    assert "are given twice" in found.stderr


def timed(path, second):
    exif = Image.Exif()
    exif.get_ifd(0x8769)[0x9003] = f"2026:05:01 12:{second // 60:02d}:{second % 60:02d}"
    rng = np.random.default_rng(second)
    Image.fromarray(rng.integers(0, 255, (24, 24), np.uint8)).save(path, exif=exif)


def test_a_gallery_file_remembers_bursts_and_gap(tmp_path):
    for label in ("fox", "owl"):
        (tmp_path / "gallery" / label).mkdir(parents=True)
        for second in (0, 50, 300, 350):
            timed(tmp_path / "gallery" / label / f"{second}.jpg", second)
    card = tmp_path / "card" / "100ABCDE"
    card.mkdir(parents=True)
    for second in (0, 50, 300):
        timed(card / f"{second}.jpg", second)
    out = tmp_path / "trap.setwise"
    bursts = ("--layout", "class/bursts", "--gap", "60")
    assert run("fit", tmp_path / "gallery", "-o", out, *bursts, *QUICK).exit_code == 0
    found = json.loads(run("identify", out, card.parent, "--json").stdout)
    assert [one["n_images"] for one in found["answers"]] == [2, 1]
    other = json.loads(run("identify", out, card.parent, "--gap", "10", "--json").stdout)
    assert [one["n_images"] for one in other["answers"]] == [1, 1, 1]
    with setwise.edit(out) as clf:
        clf.forget(sets=[0])
    assert setwise.load(out).reading_["gap_s"] == 60  # an edit keeps it


def test_auto_features_are_told_and_a_gallery_pins_them(album, tmp_path):
    found = run("fit", album / "gallery", "-o", tmp_path / "b.setwise", "--size", "16")
    if found.exit_code == 0:
        assert "features, of those installed: pixels" in found.stderr
    refused = run("identify", album / "a.setwise", album / "probes", "--features", "faces")
    assert refused.exit_code == 1
    assert "was fitted with pixels" in refused.stderr
    assert run(
        "identify", album / "a.setwise", album / "probes", "--features", "pixels", "-q"
    ).exit_code == 0  # fmt: skip


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_tables_of_vectors(tmp_path, suffix):
    pl = pytest.importorskip("polars")
    rng = np.random.default_rng(0)
    rows = {f"x{i}": rng.normal(size=12) + 3 * (np.arange(12) % 2 == i) for i in range(6)}
    table = pl.DataFrame(
        {"track": [f"t{i // 3}" for i in range(12)], "who": ["a"] * 6 + ["b"] * 6} | rows
    )
    path = tmp_path / f"tracks{suffix}"
    table.write_csv(path) if suffix == ".csv" else table.write_parquet(path)
    columns = ("--groups", "track", "--labels", "who")
    found = json.loads(run("inspect", path, *columns, "--json").stdout)
    assert [(s["name"], s["class"], s["n_images"]) for s in found["sets"]] == [
        ("t0", "a", 3), ("t1", "a", 3), ("t2", "b", 3), ("t3", "b", 3),
    ]  # fmt: skip
    missing = run("inspect", path)
    assert missing.exit_code == 1
    assert "there is no column 'set'; the columns are track, who, x0" in missing.stderr


def test_a_gallery_of_vectors_refuses_photos_in_words(album, tmp_path):
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(6, 8)) + 3 * np.eye(8)[i % 2] for i in range(4)]
    out = setwise.CVC(dims=(1,)).fit(sets, [0, 1, 0, 1]).save(tmp_path / "v.setwise")
    found = run("identify", out, album / "probes")
    assert found.exit_code == 1
    assert "holds photos, and" in found.stderr
    assert ".parquet" in found.stderr


def test_swapped_arguments_are_named_before_any_work(album):
    found = run("identify", album / "probes", album / "a.setwise")
    assert found.exit_code == 1
    assert f"setwise identify {album / 'a.setwise'} {album / 'probes'}" in found.stderr


def test_raw_photos_and_clips_among_photos_say_what_to_do(album, tmp_path):
    folder = tmp_path / "card"
    save_images(striped_sets(1), folder)
    (folder / "flat" / "set 0" / "IMG_1.CR2").write_bytes(b"raw")
    (folder / "flat" / "set 0" / "clip.mp4").write_bytes(b"film")
    told = run("inspect", folder).stdout
    if ".cr2" in SUFFIXES:  # their previews are read, and this one has none
        assert "IMG_1.CR2: has no preview" in told
    else:
        assert "1 RAW photos are not read: export them as JPEG" in told
    assert "xport it as JPEG" in told or "xport them as JPEG" in told
    assert "Put videos into a folder of their own" in told
    assert "load_videos" not in told


def test_parts_of_a_step_do_not_show_their_own_progress(capsys):
    steps = common._Steps()
    part = logging.makeLogRecord({"is_part": True})
    assert not steps.hides(part)
    steps.note("classify", 0, 10)
    assert steps.hides(part)
    assert not steps.hides(logging.makeLogRecord({}))
    steps.note("classify", 10, 10)
    assert not steps.hides(part)
    steps.note("fit", 0, 1)  # has no share of its own to show
    assert not steps.hides(part)
