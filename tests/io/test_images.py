from __future__ import annotations

import io
import signal
import subprocess
import sys
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.io.made_images import damaged_exif, heic, photo, scene, tree, write

from setwise.errors import DataError, ParameterError, SkippedFilesWarning, TooLargeError
from setwise.io import decode
from setwise.io import images as module
from setwise.io.images import load_images

NESTED = ("b/s1/i1.png", "a/s10/i1.png", "a/s2/i10.png", "a/s2/i2.jpg", "a/s2/i3.webp")


def test_classes_of_sets(tmp_path):
    sets = load_images(tree(tmp_path, *NESTED), size=(12, 16))
    assert sets.names == ("a/s2", "a/s10", "b/s1")
    assert list(sets.labels) == ["a", "a", "b"]
    assert list(sets.sizes) == [3, 1, 1]
    assert sets.image_shape == (12, 16)
    assert sets.vectors.dtype == np.uint8
    assert sets.report.layout == "class/set"
    assert [str(f.relative_to(tmp_path)) for f in sets.report.files] == [
        "a/s2/i2.jpg", "a/s2/i3.webp", "a/s2/i10.png", "a/s10/i1.png", "b/s1/i1.png",
    ]  # fmt: skip


def test_rows_are_the_files_of_the_report(tmp_path):
    for i, path in enumerate(["s/a.png", "s/b.png", "t/a.png"]):
        write(tmp_path / path, scene(i))
    sets = load_images(tmp_path, size=None)
    for image, seed in zip(sets.images, range(3), strict=True):
        np.testing.assert_array_equal(image, scene(seed))


def test_sets_without_classes(tmp_path):
    sets = load_images(tree(tmp_path, "s/a.png", "t/a.png"))
    assert sets.names == ("s", "t")
    assert sets.labels is None
    assert sets.image_shape == (64, 64)


def test_one_folder_is_one_set_named_after_it(tmp_path, monkeypatch):
    tree(tmp_path / "holiday", "a.png", "b.png")
    sets = load_images(str(tmp_path / "holiday"), colour=True)
    assert sets.names == ("holiday",)
    assert sets.image_shape == (64, 64, 3)
    monkeypatch.chdir(tmp_path / "holiday")
    assert load_images(".").names == ("holiday",)


def test_bursts(tmp_path):
    photo(tmp_path / "1.jpg", "2024:05:01 12:01:00")
    photo(tmp_path / "2.jpg", "2024:05:01 12:00:10", "9")
    photo(tmp_path / "3.jpg", "2024:05:01 12:00:10", "1")
    sets = load_images(tmp_path, layout="bursts")
    assert sets.names == ("2024-05-01 12:00:10.100000", "2024-05-01 12:01:00")
    assert sets.labels is None
    assert [path.name for path in sets.report.files] == ["3.jpg", "2.jpg", "1.jpg"]
    plain = load_images(tmp_path)
    assert plain.names == (tmp_path.name,)
    np.testing.assert_array_equal(sets.vectors, plain.vectors[[2, 1, 0]])
    assert len(load_images(tmp_path, layout="bursts", gap_s=60)) == 1


def test_bursts_of_classes(tmp_path):
    photo(tmp_path / "cat/1.jpg", "2024:05:01 12:00:00")
    photo(tmp_path / "dog/1.jpg", "2024:05:01 12:00:01")
    photo(tmp_path / "dog/2.jpg", "2024:05:01 13:00:01")
    sets = load_images(tmp_path, layout="class/bursts")
    assert sets.names == (
        "cat/2024-05-01 12:00:00", "dog/2024-05-01 12:00:01", "dog/2024-05-01 13:00:01",
    )  # fmt: skip
    assert list(sets.labels) == ["cat", "dog", "dog"]


def test_bursts_of_a_card_go_over_from_folder_to_folder(tmp_path):
    photo(tmp_path / "DCIM/100EK113/1.jpg", "2024:05:01 12:00:00")
    photo(tmp_path / "DCIM/100EK113/2.jpg", "2024:05:01 12:10:00")
    photo(tmp_path / "DCIM/101EK113/1.jpg", "2024:05:01 12:10:10")
    photo(tmp_path / "loose.jpg", "2024:05:01 12:20:00")
    sets = load_images(tmp_path, layout="bursts")
    assert sets.names == ("2024-05-01 12:00:00", "2024-05-01 12:10:00", "2024-05-01 12:20:00")
    assert sets.origins.files == (
        "DCIM/100EK113/1.jpg", "DCIM/100EK113/2.jpg", "DCIM/101EK113/1.jpg", "loose.jpg",
    )  # fmt: skip
    of_classes = load_images(tmp_path, layout="class/bursts", exclude="loose.jpg")
    assert of_classes.names == ("DCIM/2024-05-01 12:00:00", "DCIM/2024-05-01 12:10:00")
    assert list(of_classes.labels) == ["DCIM", "DCIM"]


def test_a_folder_of_photos_is_one_set_of_its_class(tmp_path):
    tree(tmp_path, "anna/1.png", "anna/2.png", "bert/1.png")
    gallery = load_images(tmp_path, labelled=True)
    assert (gallery.report.layout, gallery.names) == ("class", ("anna", "bert"))
    assert list(gallery.labels) == ["anna", "bert"]
    assert list(gallery.sizes) == [2, 1]
    named = load_images(tmp_path, layout="class")
    assert list(named.labels) == ["anna", "bert"]
    assert load_images(tmp_path).labels is None


def test_photos_in_a_class_and_folders_in_it(tmp_path):
    tree(tmp_path, "anna/a.png", "anna/party/1.png", "anna/z.png", "bert/beach/1.png")
    gallery = load_images(tmp_path, labelled=True)
    assert gallery.names == ("anna", "anna/party", "bert/beach")
    assert list(gallery.labels) == ["anna", "anna", "bert"]
    assert list(gallery.sizes) == [2, 1, 1]
    assert gallery.report.notes[0].startswith("folders at several depths: each with images")


def test_origins_are_where_the_images_come_from(tmp_path):
    photo(tmp_path / "s/1.jpg", "2024:05:01 12:00:00", orientation=6)
    write(tmp_path / "s/2.png", scene(1, height=300, width=400, colour=True))
    write(tmp_path / "t/1.png")
    sets = load_images(tmp_path, size=16)
    assert sets.origins.files == ("s/1.jpg", "s/2.png", "t/1.png")
    assert sets.of_set(1).files == ("t/1.png",)
    assert sets.origins.times[0] == np.datetime64("2024-05-01T12:00:00")
    assert np.isnat(sets.origins.times[1:]).all()
    sizes = [Image.open(io.BytesIO(jpeg)).size for jpeg in sets.origins.thumbnails]
    assert sizes == [(48, 64), (64, 48), (64, 48)]


@pytest.mark.parametrize("colour", [False, True])
def test_images_do_not_depend_on_thumbnails(tmp_path, colour):
    for i, suffix in enumerate((".jpg", ".png", ".webp")):
        write(tmp_path / f"{i}{suffix}", scene(i, height=300, width=400, colour=True))
    with_them = load_images(tmp_path, colour=colour)
    without = load_images(tmp_path, colour=colour, thumbnails=False)
    np.testing.assert_array_equal(with_them.vectors, without.vectors)
    assert all(with_them.origins.thumbnails)
    assert without.origins.thumbnails == (b"",) * 3
    again = load_images(tmp_path, colour=colour, n_jobs=2)
    assert again.origins.thumbnails == with_them.origins.thumbnails


def test_what_is_excluded_is_not_read(tmp_path):
    tree(tmp_path, "s/1.png", "s/thumbs/1.png")
    (tmp_path / "s/broken.png").write_bytes(b"junk")
    sets = load_images(tmp_path, exclude=("thumbs", "BROKEN.*"))
    assert sets.names == ("s",)
    assert sets.report.notes == (
        "excluded by 'thumbs': 1, such as s/thumbs/",
        "excluded by 'BROKEN.*': 1, such as s/broken.png",
    )


def test_links_outside_are_read_on_request(tmp_path):
    tree(tmp_path, "root/s/1.png", "other/2.png")
    (tmp_path / "root/t").symlink_to(tmp_path / "other")
    with pytest.raises(DataError, match="allow it by follow_links"):
        load_images(tmp_path / "root")
    assert load_images(tmp_path / "root", follow_links=True).names == ("s", "t")


def test_every_bad_file_and_set_can_be_listed(tmp_path):
    tree(tmp_path, "s/1.png")
    for path in ("s/2.png", "s/3.png", "t/1.png", "u/1.png", "u/2.png"):
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(b"junk")
    with pytest.warns(SkippedFilesWarning, match="5 of 6 images were left out"):
        sets = load_images(tmp_path, on_error="list")
    assert sets.names == ("s",)
    skipped = [str(left.path.relative_to(tmp_path)) for left in sets.report.skipped]
    assert skipped == ["s/2.png", "s/3.png", "t/1.png", "u/1.png", "u/2.png", "t", "u"]
    assert sets.report.skipped[-1].reason.startswith("is a set with no image that can be read")
    (tmp_path / "s/1.png").write_bytes(b"junk")
    with pytest.raises(DataError, match=r"set 's' of .* has no image that can be read"):
        load_images(tmp_path, on_error="list")


@pytest.fixture
def no_heif(monkeypatch):
    monkeypatch.setattr(decode, "_reads_heif", lambda: False)


@pytest.mark.usefixtures("no_heif")
def test_heic_that_cannot_be_read_is_listed(tmp_path):
    tree(tmp_path, "s/1.png")
    for i in range(5):
        (tmp_path / f"s/IMG_{i}.HEIC").write_bytes(heic())
    for on_error in ("raise", "skip"):
        with pytest.warns(SkippedFilesWarning, match=r"5 of 6 .*IMG_0\.HEIC, which is HEIC"):
            sets = load_images(tmp_path, on_error=on_error)
        assert len(sets.report.skipped) == 5
        reason = 'is HEIC, which is not supported: pip install "setwise[heif]".'
        assert {left.reason for left in sets.report.skipped} == {reason}


@pytest.mark.usefixtures("no_heif")
def test_a_set_of_nothing_but_heic_is_an_error(tmp_path):
    tree(tmp_path, "s/1.png")
    (tmp_path / "t").mkdir()
    (tmp_path / "t/1.heic").write_bytes(heic())
    with pytest.raises(DataError, match=r"set 't' .* which is HEIC, .*setwise\[heif\]"):
        load_images(tmp_path)
    with pytest.raises(DataError, match=r"which is HEIC, .*setwise\[heif\]"):
        load_images(tmp_path / "t")


def test_a_photo_without_time_belongs_to_no_burst(tmp_path):
    photo(tmp_path / "1.jpg", "2024:05:01 12:00:00")
    photo(tmp_path / "2.jpg")
    with pytest.raises(DataError, match=r"2\.jpg has no EXIF time \(DateTimeOriginal\)"):
        load_images(tmp_path, layout="bursts")
    with pytest.warns(SkippedFilesWarning, match=r"2\.jpg, which has no EXIF time"):
        sets = load_images(tmp_path, layout="bursts", on_error="skip", max_bad=0.5)
    assert sets.report.skipped[0].reason.startswith("has no EXIF time")


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_any_number_of_threads_gives_the_same(tmp_path, n_jobs):
    tree(
        tmp_path,
        *(f"s{i}/x{j}.{e}" for i in range(4) for j in range(4) for e in ("jpg", "png")),
    )
    one, other = load_images(tmp_path), load_images(tmp_path, n_jobs=n_jobs)
    np.testing.assert_array_equal(one.vectors, other.vectors)
    assert one.names == other.names
    assert one.report.files == other.report.files


def test_loads_side_by_side_do_not_disturb_each_other(tmp_path):
    for i in range(30):
        damaged_exif(tmp_path / f"{i}.jpg")
    before = (list(warnings.filters), warnings.showwarning)
    with ThreadPoolExecutor(3) as pool:
        loads = list(
            pool.map(lambda n_jobs: load_images(tmp_path, n_jobs=n_jobs), (1, 2, 1, 2))
        )
    assert (list(warnings.filters), warnings.showwarning) == before
    for sets in loads:
        np.testing.assert_array_equal(sets.vectors, loads[0].vectors)
        assert sets.report.notes == (
            f"with damaged metadata, read without it: 30, such as {tmp_path / '0.jpg'}",
        )


def test_sizes_that_differ_need_one_named(tmp_path):
    write(tmp_path / "a.png", scene())
    write(tmp_path / "b.png", scene(height=32))
    with pytest.raises(DataError, match=r"b\.png has 64 x 32 pixels, and .*a\.png 64 x 48\. "):
        load_images(tmp_path, size=None, on_error="skip")
    assert load_images(tmp_path, size=(48, 64)).image_shape == (48, 64)


def bad_tree(root: Path, n_bad: int = 2) -> Path:
    tree(root, *(f"s{i}/x{j}.png" for i in range(2) for j in range(10)))
    for j in range(n_bad):
        (root / f"s0/x{3 + j}.png").write_bytes(b"junk")
    return root


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_the_first_bad_file_is_raised(tmp_path, n_jobs):
    with pytest.raises(DataError, match=r"s0/x3\.png is none of JPEG"):
        load_images(bad_tree(tmp_path), n_jobs=n_jobs)


def test_bad_files_can_be_left_out_and_are_told(tmp_path):
    with pytest.warns(SkippedFilesWarning) as heard:
        sets = load_images(bad_tree(tmp_path), on_error="skip", max_bad=0.1)
    assert len(heard) == 1
    assert "2 of 20 images were left out, the first" in str(heard[0].message)
    assert heard[0].filename == __file__
    assert list(sets.sizes) == [8, 10]
    assert [left.path.name for left in sets.report.skipped] == ["x3.png", "x4.png"]
    assert sets.report.skipped[0].reason.startswith("is none of JPEG")
    assert len(sets.report.files) == len(sets.vectors) == 18
    assert "x3.png" not in {path.name for path in sets.report.files if path.parent.name == "s0"}


@pytest.mark.parametrize("max_bad", [0, 0.05, 0.0999])
def test_too_many_bad_files_are_an_error_after_all(tmp_path, max_bad):
    with pytest.raises(
        DataError, match=r"more than max_bad=.* of its 20 images.*x3\.png, which"
    ):
        load_images(bad_tree(tmp_path), on_error="skip", max_bad=max_bad)


def test_skip_without_bad_files_is_silent(tmp_path):
    assert load_images(bad_tree(tmp_path, 0), on_error="skip").report.skipped == ()


def test_a_set_must_not_lose_all_its_images(tmp_path):
    tree(tmp_path, *(f"a/x{j}.png" for j in range(9)))
    (tmp_path / "b").mkdir()
    (tmp_path / "b/only.png").touch()
    with pytest.raises(DataError, match=r"set 'b' of .* no image .*only\.png, which is empty"):
        load_images(tmp_path, on_error="skip", max_bad=0.5)


def test_links_and_pipes_are_skipped_as_bad_files(tmp_path):
    tree(tmp_path / "root", *(f"s/x{j}.png" for j in range(8)))
    write(tmp_path / "secret.png")
    (tmp_path / "root/s/y.png").symlink_to(tmp_path / "secret.png")
    (tmp_path / "root/broken").symlink_to("nowhere")
    with pytest.warns(SkippedFilesWarning):
        sets = load_images(tmp_path / "root", on_error="skip", max_bad=0.2)
    assert sets.names == ("s",)
    assert [left.path.name for left in sets.report.skipped] == ["broken", "y.png"]
    with pytest.raises(DataError, match="broken is a link that leads nowhere"):
        load_images(tmp_path / "root")


def test_notes_tell_what_was_done(tmp_path):
    photo(tmp_path / "s/a.jpg", orientation=6)
    photo(tmp_path / "s/b.jpg", orientation=3)
    write(tmp_path / "s/c.png", np.dstack([scene(colour=True), scene()]))
    (tmp_path / "Thumbs.db").touch()
    report = load_images(tmp_path).report
    assert report.notes == (
        f"laid on black where transparent: 1, such as {tmp_path / 's/c.png'}",
        f"turned as their EXIF tag says: 2, such as {tmp_path / 's/a.jpg'}",
        "ignored, no images: 1 (1 .db such as Thumbs.db)",
    )
    assert report.seconds > 0
    assert report.source == tmp_path


def test_progress_counts_the_files(tmp_path):
    told = []
    load_images(tree(tmp_path, "a.png", "b.png"), progress=lambda *word: told.append(word))
    assert told == [("load", 0, 2), ("load", 1, 2), ("load", 2, 2)]


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_an_error_of_the_listener_ends_the_load(tmp_path, monkeypatch, n_jobs, error):
    tree(tmp_path, *(f"{i}.png" for i in range(300)))
    begun = []
    attempt = module._attempt

    def slow_attempt(image, wanted):
        begun.append(image)
        time.sleep(0.005)
        return attempt(image, wanted)

    monkeypatch.setattr(module, "_attempt", slow_attempt)

    def stop(what, done, total):
        if done == 3:
            raise error

    before = (list(warnings.filters), warnings.showwarning)
    with pytest.raises(error):
        load_images(tmp_path, n_jobs=n_jobs, progress=stop)
    # Two handfuls are under way; a busy machine may begin two more meanwhile.
    assert len(begun) <= 4 * module.HANDFUL
    assert (list(warnings.filters), warnings.showwarning) == before


def test_ctrl_c_stops_promptly(tmp_path):
    large = np.random.default_rng(0).integers(0, 255, (1500, 1500), dtype=np.uint8)
    first = write(tmp_path / "0.png", large, compress_level=1)
    for i in range(1, 1000):
        (tmp_path / f"{i}.png").symlink_to(first)
    code = (
        "import signal, sys; from setwise.io.images import load_images\n"
        # Whatever runs the tests may ignore it.
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "say = lambda what, done, total: print(done, flush=True) if done == 2 else None\n"
        "load_images(sys.argv[1], n_jobs=2, progress=say)"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, tmp_path],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout.readline() == "2\n"
    child.send_signal(signal.SIGINT)
    sent = time.perf_counter()
    _, told = child.communicate(timeout=30)
    assert time.perf_counter() - sent < 4.0
    assert told.rstrip().endswith("KeyboardInterrupt")


def test_memory_is_asked_for_before_anything_is_read(tmp_path, monkeypatch):
    tree(tmp_path, "a.png", "b.png")
    monkeypatch.setattr("setwise._support.memory.available_memory", lambda: 2 * 64 * 64 - 1)
    monkeypatch.setattr(module, "_attempt", lambda *_, **__: pytest.fail("was read"))
    with pytest.raises(TooLargeError, match="2 images of 64 x 64 pixels needs about"):
        load_images(tmp_path)


def test_memory_of_images_that_keep_their_size(tmp_path, monkeypatch):
    tree(tmp_path, "a.png", "b.png")
    monkeypatch.setattr("setwise._support.memory.available_memory", lambda: 2 * 48 * 64 - 1)
    with pytest.raises(TooLargeError, match="2 images of 48 x 64 pixels needs about"):
        load_images(tmp_path, size=None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"layout": "sets"},
        {"layout": None},
        {"size": 0},
        {"size": 6.5},
        {"size": (3,)},
        {"size": (3, 0)},
        {"size": True},
        {"size": "64"},
        {"colour": "yes"},
        {"gap_s": 0},
        {"gap_s": float("nan")},
        {"on_error": "ignore"},
        {"max_bad": -0.1},
        {"max_bad": 1.1},
        {"max_bad": np.array([1, 2])},
        {"progress": 3},
        {"max_pixels": 0},
        {"max_files": 1.5},
        {"n_jobs": 0},
        {"n_jobs": "2"},
        {"exclude": 7},
        {"follow_links": "yes"},
        {"labelled": "yes"},
        {"thumbnails": "yes"},
    ],
)
def test_parameters_are_checked_first(wrong):
    (name,) = wrong
    with pytest.raises(ParameterError, match=f"load_images: {name} must be .*, got "):
        load_images("/nowhere", **wrong)


@pytest.mark.parametrize("root", [None, 7, ""])
def test_the_root_is_a_path(root):
    with pytest.raises(ParameterError, match="load_images: root must be a str or a path"):
        load_images(root)


@pytest.mark.data
def test_real_images_survive_the_round_trip(tmp_path, real):
    data = real("eth80")
    pixels = data.sets[0][:5].reshape(-1, 20, 20)
    grey = (255 * pixels / pixels.max()).astype(np.uint8)
    for i, image in enumerate(grey):
        write(tmp_path / f"{i}.png", image)
    np.testing.assert_array_equal(load_images(tmp_path, size=None).images, grey)
