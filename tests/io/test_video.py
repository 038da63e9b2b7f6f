"""Videos in: the frames asked for, of the right pixels, and what is said of bad files."""

from __future__ import annotations

import io
import os
import struct
import sys
from fractions import Fraction
from types import SimpleNamespace

import numpy as np
import pytest
from PIL import Image
from tests.io.made_videos import (
    HEIGHT,
    WIDTH,
    number_of,
    numbered_frames,
    turned,
    write_sound,
    write_video,
)

from setwise import CVC
from setwise.errors import (
    DataError,
    MissingExtraError,
    ParameterError,
    SkippedFilesWarning,
    TooLargeError,
)
from setwise.io.frames import Reading, VideoFrames
from setwise.io.heads import is_other_container
from setwise.io.video import load_video, load_videos

pytest.importorskip("av")


@pytest.fixture(scope="module")
def clip(tmp_path_factory):
    return write_video(tmp_path_factory.mktemp("clips") / "clip.mp4", numbered_frames(30))


def numbers(loaded):
    return [number_of(image) for image in loaded.images]


@pytest.mark.parametrize(
    ("suffix", "codec", "pixel_format"),
    [
        ("mp4", "libx264", "yuv420p"),
        ("mp4", "mpeg4", "yuv420p"),
        ("mov", "libx264", "yuv420p"),
        ("avi", "mpeg4", "yuv420p"),
        ("avi", "mjpeg", "yuvj420p"),
        ("mkv", "libx264", "yuv420p"),
        ("webm", "libvpx", "yuv420p"),
        ("mpg", "mpeg2video", "yuv420p"),
        ("ts", "mpeg2video", "yuv420p"),
        ("flv", "flv", "yuv420p"),
        ("wmv", "wmv2", "yuv420p"),
        ("gif", "gif", "rgb8"),
    ],
)
def test_all_frames_of_every_common_kind(tmp_path, suffix, codec, pixel_format):
    path = tmp_path / f"some clip.{suffix}"
    write_video(path, numbered_frames(12), codec=codec, pixel_format=pixel_format)
    loaded = load_video(path)
    assert numbers(loaded) == list(range(12))
    assert loaded.names == ("some clip",)
    assert loaded.labels is None
    assert loaded.image_shape == (64, 64)
    assert loaded.vectors.dtype == np.uint8
    assert loaded.report.files == (path,) * 12
    assert loaded.report.notes == ()
    assert loaded.report.layout == "video"


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ({"every": 7}, [0, 7, 14, 21, 28]),
        ({"max_frames": 3}, [0, 1, 2]),
        ({"max_frames": 99}, list(range(30))),
        ({"every": 10, "max_frames": 2}, [0, 10]),
        ({"start_s": 2.5}, [25, 26, 27, 28, 29]),
        ({"stop_s": 0.3}, [0, 1, 2]),
        ({"start_s": 1.0, "stop_s": 2.0, "every": 4}, [10, 14, 18]),
        ({"start_s": 1.0, "stop_s": 2.0, "max_frames": 1}, [10]),
    ],
)
def test_the_frames_asked_for(clip, asked, expected):
    assert numbers(load_video(clip, **asked)) == expected


def test_time_counts_from_the_first_frame(tmp_path):
    # A transport stream does not begin at zero.
    path = write_video(tmp_path / "late.ts", numbered_frames(20), codec="mpeg2video")
    assert numbers(load_video(path, start_s=1.0, stop_s=1.3)) == [10, 11, 12]


def test_pixels_are_those_of_the_frame_resized(tmp_path):
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (48, 64), dtype=np.uint8) for _ in range(4)]
    path = write_video(tmp_path / "exact.mkv", frames, codec="ffv1", pixel_format="gray")
    np.testing.assert_array_equal(load_video(path, size=None).images, frames)
    small = [np.asarray(Image.fromarray(f).resize((20, 10), Image.BILINEAR)) for f in frames]
    np.testing.assert_array_equal(load_video(path, size=(10, 20)).images, small)


def test_colour_is_red_green_and_blue(tmp_path):
    frame = np.zeros((48, 64, 3), dtype=np.uint8)
    frame[:, :32] = (200, 30, 60)
    path = write_video(tmp_path / "red.mp4", [frame] * 3)
    colours = load_video(path, colour=True, size=16).images
    assert colours.shape == (3, 16, 16, 3)
    np.testing.assert_allclose(colours[1, 8, 3], (200, 30, 60), atol=12)
    np.testing.assert_allclose(colours[1, 8, 12], 0, atol=12)
    grey = load_video(path, size=16).images
    luma = np.asarray(Image.fromarray(frame).convert("L"))
    np.testing.assert_allclose(grey[1, 8, 3], luma[24, 8], atol=6)


def test_the_file_decides_not_its_name(clip, tmp_path):
    renamed = tmp_path / "clip.png"
    renamed.write_bytes(clip.read_bytes())
    assert len(load_video(renamed, name="mine").images) == 30
    assert load_video(renamed, name="mine").names == ("mine",)


def test_a_turned_video_is_shown_upright(clip, tmp_path):
    path = turned(clip, tmp_path / "turned.mp4")
    loaded = load_video(path, size=None)
    assert loaded.image_shape == (WIDTH, HEIGHT)
    # A quarter clockwise: left becomes top.
    upright = load_video(clip, size=None)
    np.testing.assert_array_equal(loaded.images, np.rot90(upright.images, -1, axes=(1, 2)))
    assert loaded.report.notes == ("30 frames of turned.mp4 were turned, as it asks for",)


def test_a_lie_about_the_number_of_frames_is_noted(tmp_path):
    path = write_video(tmp_path / "lie.avi", numbered_frames(10), codec="mpeg4")
    content = bytearray(path.read_bytes())
    header = content.index(b"strh")
    assert struct.unpack_from("<I", content, header + 40) == (10,)
    struct.pack_into("<I", content, header + 40, 100_000_000)
    path.write_bytes(content)
    loaded = load_video(path)
    assert numbers(loaded) == list(range(10))
    assert loaded.report.notes == (
        "lie.avi announces 100000000 frames, and 10 could be decoded",
    )
    assert load_video(path, max_frames=5).report.notes == ()


def test_a_video_cut_short_is_noted(tmp_path):
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (48, 64, 3), dtype=np.uint8) for _ in range(30)]
    path = write_video(tmp_path / "cut.mkv", frames)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 3])
    loaded = load_video(path, on_error="skip", max_bad=0.5)
    assert 0 < len(loaded.vectors) < 15
    (note,) = loaded.report.notes
    assert note.startswith("cut.mkv announces 3.0 s, and its last frame is at ")


@pytest.fixture
def damaged(tmp_path):
    """A clip of 30 frames, of which 7 and 8 have no picture header."""
    frames = numbered_frames(30)
    path = write_video(tmp_path / "damaged.avi", frames, codec="png", pixel_format="rgb24")
    content = bytearray(path.read_bytes())
    start = -1
    for number in range(9):
        start = content.index(b"IHDR", start + 1)
        if number >= 7:
            content[start : start + 4] = b"spam"
    path.write_bytes(content)
    return path


def test_a_damaged_frame_is_an_error_that_says_where(damaged):
    with pytest.raises(DataError, match=r"frame 7 of '.*damaged.avi' cannot be decoded"):
        load_video(damaged)
    assert numbers(load_video(damaged, max_frames=7)) == list(range(7))


def test_damaged_frames_are_left_out_on_demand(damaged):
    with pytest.warns(SkippedFilesWarning, match="2 frames of "):
        loaded = load_video(damaged, on_error="skip", max_bad=0.1)
    assert numbers(loaded) == [i for i in range(30) if i not in (7, 8)]
    assert [left.path for left in loaded.report.skipped] == [damaged] * 2
    assert loaded.report.skipped[0].reason.startswith("frame 7 cannot be decoded")
    assert loaded.report.notes == ("damaged.avi announces 30 frames, and 28 could be decoded",)


def test_too_many_damaged_frames_are_an_error(damaged):
    with pytest.raises(DataError, match=r"2 bad frames among 30, more than max_bad = 0.05"):
        load_video(damaged, on_error="skip")


def test_frames_may_change_their_size(tmp_path):
    path = tmp_path / "sizes.mpg"
    pieces = []
    for i, side in enumerate((48, 96)):
        frames = [np.full((side, side), 90, dtype=np.uint8)] * 4
        piece = write_video(tmp_path / f"{i}.ts", frames, codec="mpeg2video")
        pieces.append(piece.read_bytes())
    path.write_bytes(b"".join(pieces))
    loaded = load_video(path, size=8)
    assert loaded.image_shape == (8, 8)
    assert len(loaded.vectors) > 4
    with pytest.raises(DataError, match=r"frames of shape \(48, 48\) and of \(96, 96\)"):
        load_video(path, size=None)


def test_large_frames_are_refused_before_they_are_decoded(clip):
    with pytest.raises(DataError, match=r"of 64 x 48 pixels, more than max_pixels = 3071"):
        load_video(clip, max_pixels=WIDTH * HEIGHT - 1)
    assert len(load_video(clip, max_pixels=WIDTH * HEIGHT).images) == 30


def test_no_more_is_kept_than_memory_allows(clip, monkeypatch):
    monkeypatch.setattr("setwise._support.memory.available_memory", lambda: 100_000)
    with pytest.raises(TooLargeError, match=r"load_video: .*every, max_frames"):
        load_video(clip)


def test_times_outside_of_the_video(clip):
    with pytest.raises(DataError, match="has 30 frames, and none of them between start_s = 60"):
        load_video(clip, start_s=60)


def test_progress_counts_frames(clip):
    told = []
    load_video(clip, every=10, progress=lambda *word: told.append(word))
    assert told == [("load", 0, 3), ("load", 1, 3), ("load", 2, 3), ("load", 3, 3)]


@pytest.mark.parametrize(
    "asked",
    [
        {"every": 0}, {"every": 1.5}, {"max_frames": 0}, {"max_frames": -1}, {"start_s": -1},
        {"start_s": "1"}, {"stop_s": 0.0}, {"start_s": 2.0, "stop_s": 1.0}, {"size": 0},
        {"size": (3,)}, {"size": (3, 4, 5)}, {"size": 2.5}, {"colour": "yes"},
        {"max_pixels": 0}, {"on_error": "ignore"}, {"max_bad": 1.5}, {"max_bad": -0.1},
        {"start_s": float("nan")}, {"max_bad": float("nan")}, {"start_s": None},
    ],
)  # fmt: skip
def test_parameters_out_of_range(clip, asked):
    (name, *_) = reversed(asked)
    with pytest.raises(ParameterError, match=rf"load_video: {name} must be .*, got "):
        load_video(clip, **asked)


def test_what_is_no_video(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty.mp4").touch()
    (tmp_path / "text.mp4").write_text("not a video\n" * 100)
    Image.new("RGB", (64, 64)).save(tmp_path / "picture.png")
    write_sound(tmp_path / "sound.wav")
    write_sound(tmp_path / "sound.mkv")
    for path, words in {
        "missing.mp4": "not there",
        ".": "a folder",
        "empty.mp4": "empty",
        "text.mp4": "no video",
        "picture.png": "no video",
        "sound.wav": "no video",
        "sound.mkv": "only ['audio']",
        "http://example.org/clip.mp4": "not there",
        "file:text.mp4": "not there",
        "concat:text.mp4|text.mp4": "not there",
    }.items():
        with pytest.raises(DataError) as refused:
            load_video(path)
        assert words in str(refused.value), path
        assert "\n" not in str(refused.value)


def test_a_rare_codec_is_refused(tmp_path):
    path = write_video(
        tmp_path / "rare.avi", numbered_frames(3), codec="zmbv", pixel_format="bgr0"
    )
    with pytest.raises(DataError, match=r"coded in a rare way \(zmbv\)\. Convert it"):
        load_video(path)


def test_a_file_without_any_frame(clip, tmp_path):
    path = write_video(tmp_path / "bare.mkv", numbered_frames(3))
    content = path.read_bytes()
    path.write_bytes(content[: content.index(b"\x1f\x43\xb6\x75")])
    with pytest.raises(DataError, match=r"holds no frame that can be decoded|is no video"):
        load_video(path)


def test_frames_that_ffmpeg_mends_are_left_out_as_well(tmp_path):
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (48, 64), dtype=np.uint8) for _ in range(30)]
    path = write_video(tmp_path / "noise.ts", frames, codec="mpeg2video")
    content = bytearray(path.read_bytes())
    for place in rng.integers(len(content) // 2, len(content), 40):
        content[place] ^= 255
    path.write_bytes(content)
    with pytest.warns(SkippedFilesWarning):
        loaded = load_video(path, on_error="skip", max_bad=1.0)
    assert any("is damaged" in left.reason for left in loaded.report.skipped)
    assert len(loaded.vectors) + len(loaded.report.skipped) >= 25


def test_frames_without_times(tmp_path):
    silent, rated = SimpleNamespace(pts=None), SimpleNamespace(average_rate=Fraction(25))
    video = VideoFrames("test", tmp_path / "clip.avi", Reading(start_s=1.0))
    video._stream = rated
    assert video._time(50, silent) == 2.0
    video._stream = SimpleNamespace(average_rate=None)
    with pytest.raises(DataError, match="does not say when a frame is shown"):
        video._time(50, silent)
    video.reading = Reading()
    assert video._time(50, silent) == 0.0


def test_what_is_no_path():
    with pytest.raises(ParameterError, match="load_video: path must be a str or a path, got 5"):
        load_video(5)
    with pytest.raises(ParameterError, match="load_videos: root must be a str or a path"):
        load_videos(None)


def test_only_the_headers_of_an_mp4_are_searched_for_lies(clip, tmp_path):
    lie = struct.pack(">I4sIII", 20, b"stsz", 0, 1, 2**32 - 1)
    for kind, is_refused in ((b"mdat", False), (b"free", True)):
        path = tmp_path / f"{kind.decode()}.mp4"
        path.write_bytes(clip.read_bytes() + struct.pack(">I4s", 28, kind) + lie)
        if is_refused:
            with pytest.raises(DataError, match="announces 4294967325 frames"):
                load_video(path)
        else:
            assert len(load_video(path).vectors) == 30


def test_the_extra_is_named_where_it_is_missing(clip, monkeypatch):
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"setwise\[video\]\""):
        load_video(clip)


def test_metadata_may_be_no_text(tmp_path):
    options = {"title": "wrong"}
    path = write_video(tmp_path / "clip.mp4", numbered_frames(3), metadata=options)
    content = path.read_bytes()
    assert b"wrong" in content
    path.write_bytes(content.replace(b"wrong", b"\xff\xfe\xfd\xff\xfe"))
    assert numbers(load_video(path)) == [0, 1, 2]


# ---------------------------------------------------------------------------- folders


@pytest.fixture(scope="module")
def classes(tmp_path_factory):
    root = tmp_path_factory.mktemp("classes")
    for kind in ("wave", "point"):
        for i in (1, 2, 10):
            write_video(root / kind / f"clip{i}.mp4", numbered_frames(i))
    (root / "wave" / ".hidden.mp4").write_bytes(b"")
    (root / "wave" / "notes.txt").write_text("")
    return root


def test_a_folder_of_classes(classes):
    loaded = load_videos(classes, size=32)
    assert loaded.names == (
        "point/clip1", "point/clip2", "point/clip10", "wave/clip1", "wave/clip2", "wave/clip10",
    )  # fmt: skip
    assert loaded.labels.tolist() == ["point"] * 3 + ["wave"] * 3
    assert loaded.sizes.tolist() == [1, 2, 10] * 2
    assert numbers(loaded)[-10:] == list(range(10))
    assert loaded.report.layout == "class/set"
    assert len(loaded.report.files) == 26
    assert loaded.report.files[1:3] == (classes / "point" / "clip2.mp4",) * 2


def test_a_folder_of_clips_has_no_labels(classes):
    loaded = load_videos(classes / "wave", max_frames=2)
    assert loaded.names == ("clip1", "clip2", "clip10")
    assert loaded.labels is None
    assert loaded.report.layout == "set"
    assert loaded.sizes.tolist() == [1, 2, 2]


def test_threads_change_nothing(classes):
    one, many = load_videos(classes), load_videos(classes, n_jobs=2)
    np.testing.assert_array_equal(one.vectors, many.vectors)
    assert one.names == many.names


def test_progress_counts_clips(classes):
    told = []
    load_videos(classes, progress=lambda *word: told.append(word))
    assert told == [("load", i, 6) for i in range(7)]


def test_names_tell_apart_what_only_the_suffix_does(tmp_path):
    for name in ("a.mp4", "a.avi", "b.mp4"):
        write_video(tmp_path / name, numbered_frames(2), codec="mpeg4")
    assert load_videos(tmp_path).names == ("a.avi", "a.mp4", "b")


def test_clips_at_two_depths(classes, tmp_path):
    write_video(tmp_path / "clip.mp4", numbered_frames(2))
    write_video(tmp_path / "class" / "clip.mp4", numbered_frames(2))
    with pytest.raises(DataError, match="lies 1 folders below"):
        load_videos(tmp_path)
    with pytest.raises(DataError, match=r"lies 1 folders below .*, and the layout 'set'"):
        load_videos(classes, layout="set")
    with pytest.raises(ParameterError, match="layout must be one of"):
        load_videos(classes, layout="bursts")
    with pytest.raises(ParameterError, match="n_jobs must be a number of threads"):
        load_videos(classes, n_jobs=0)


def test_clips_too_deep(tmp_path):
    write_video(tmp_path / "a" / "b" / "clip.mp4", numbered_frames(2))
    with pytest.raises(DataError, match="lies 2 folders below"):
        load_videos(tmp_path)


def test_folders_that_are_none(clip, tmp_path):
    for path, words in (
        (clip, "is a file"),
        (tmp_path / "no", "not exist"),
        (tmp_path, "no vid"),
    ):
        with pytest.raises(DataError, match=words):
            load_videos(path)


def test_links_out_of_the_folder_are_refused(clip, tmp_path):
    inside = write_video(tmp_path / "root" / "a.mp4", numbered_frames(2))
    (tmp_path / "root" / "b.mp4").symlink_to(inside)
    assert load_videos(tmp_path / "root").names == ("a", "b")
    (tmp_path / "root" / "c.mp4").symlink_to(clip)
    with pytest.raises(DataError, match=r"c.mp4 is a link out of .*root"):
        load_videos(tmp_path / "root")
    (tmp_path / "root" / "c.mp4").unlink()
    (tmp_path / "root" / "loop").symlink_to(tmp_path / "root")
    with pytest.raises(DataError, match="loop is a link to a folder above it"):
        load_videos(tmp_path / "root")


def test_names_that_would_break_a_line(tmp_path):
    write_video(tmp_path / "two\nlines" / "clip.mp4", numbered_frames(2))
    with pytest.raises(DataError, match=r"two\\nlines'.*rename it"):
        load_videos(tmp_path)


def test_a_folder_that_cannot_be_listed(classes, monkeypatch):
    def denied(folder):
        raise PermissionError(13, "Permission denied", folder)

    monkeypatch.setattr(os, "scandir", denied)
    with pytest.raises(DataError, match="cannot be listed: Permission denied"):
        load_videos(classes)


def test_too_many_files(classes):
    with pytest.raises(DataError, match="more than max_files=5 files"):
        load_videos(classes, max_files=5)


def test_a_bad_clip_is_left_out_on_demand(tmp_path):
    for i in range(3):
        write_video(tmp_path / f"{i}.mp4", numbered_frames(3))
    (tmp_path / "1.mp4").write_bytes(b"spam" * 100)
    with pytest.raises(DataError, match=r"1.mp4' is no video"):
        load_videos(tmp_path)
    with pytest.raises(
        DataError, match=r"1 of the 3 clips .* max_bad = 0.05 .*1.mp4' is no video"
    ):
        load_videos(tmp_path, on_error="skip")
    with pytest.warns(SkippedFilesWarning, match="1 clips or frames"):
        loaded = load_videos(tmp_path, on_error="skip", max_bad=0.5)
    assert loaded.names == ("0", "2")
    assert [left.path.name for left in loaded.report.skipped] == ["1.mp4"]


def test_a_video_becomes_a_label_in_three_lines(tmp_path):
    rng = np.random.default_rng(0)

    def waves(across):
        """Stripes that drift across or down, with some noise."""
        phase, step = rng.uniform(0, 6), rng.uniform(0.3, 0.6)
        ramp = np.arange(48) * 0.8
        for i in range(20):
            wave = 127 + 90 * np.sin(ramp + phase + step * i)
            frame = np.tile(wave, (48, 1)) + rng.normal(0, 12, (48, 48))
            yield np.clip(frame if across else frame.T, 0, 255).astype(np.uint8)

    for kind in ("across", "down"):
        for i in range(4):
            path = tmp_path / "gallery" / kind / f"{i}.mp4"
            write_video(path, list(waves(kind == "across")))
    write_video(tmp_path / "probe.mp4", list(waves(across=False)))

    gallery = load_videos(tmp_path / "gallery", size=12)
    model = CVC(random_state=0).fit(gallery, gallery.labels)
    answer = model.predict(load_video(tmp_path / "probe.mp4", size=12))

    assert answer.tolist() == ["down"]


@pytest.mark.parametrize(
    ("head", "is_other"),
    [
        (b"\0\0\0\x18ftyp", False),
        (b"\x12\x34\x56\x78G\x40\0\x10", True),
        (b"RIFF\0\0\0\0", True),
        (b"\0\0\x01\xbafree", False),
        (b"\0\0\x01\xbaD\0\4\0", True),
    ],
)
def test_how_containers_begin(head, is_other):
    """The second is an m2ts, of which nothing is searched for tables of frames."""
    assert is_other_container(io.BytesIO(head)) == is_other


def test_frames_remember_where_they_come_from(tmp_path):
    write_video(tmp_path / "class" / "clip.mp4", numbered_frames(6))
    loaded = load_video(tmp_path / "class" / "clip.mp4", every=3, size=8)
    assert loaded.origins.files == ("clip.mp4, frame 0", "clip.mp4, frame 3")
    small = [Image.open(io.BytesIO(jpeg)) for jpeg in loaded.origins.thumbnails]
    assert [(image.mode, image.size) for image in small] == [("RGB", (64, 48))] * 2
    assert [number_of(np.asarray(image)) for image in small] == [0, 3]
    assert np.isnat(loaded.origins.times).all()
    clips = load_videos(tmp_path, every=3, size=8)
    assert clips.origins.files == ("class/clip.mp4, frame 0", "class/clip.mp4, frame 3")
    assert clips.origins.thumbnails == loaded.origins.thumbnails


def test_frames_do_not_depend_on_thumbnails(tmp_path):
    clip = write_video(tmp_path / "clip.mp4", numbered_frames(4))
    without = load_video(clip, thumbnails=False)
    np.testing.assert_array_equal(load_video(clip).vectors, without.vectors)
    assert without.origins.thumbnails == (b"",) * 4


def test_thumbnails_of_a_turned_clip_are_upright(tmp_path):
    clip = write_video(tmp_path / "clip.mp4", numbered_frames(2))
    loaded = load_video(turned(clip, tmp_path / "turned.mp4"))
    assert Image.open(io.BytesIO(loaded.origins.thumbnails[0])).size == (48, 64)


def test_every_bad_clip_can_be_listed(tmp_path):
    write_video(tmp_path / "a.mp4", numbered_frames(2))
    for name in "bcd":
        (tmp_path / f"{name}.mp4").write_bytes(b"junk" * 100)
    with pytest.warns(SkippedFilesWarning, match="3 clips or frames"):
        loaded = load_videos(tmp_path, on_error="list")
    assert loaded.names == ("a",)
    assert len(loaded.report.skipped) == 3


def test_clips_that_are_excluded_or_linked(tmp_path):
    write_video(tmp_path / "root" / "a.mp4", numbered_frames(2))
    write_video(tmp_path / "b.mp4", numbered_frames(2))
    (tmp_path / "root/b.mp4").symlink_to(tmp_path / "b.mp4")
    assert load_videos(tmp_path / "root", exclude="B.*").names == ("a",)
    assert load_videos(tmp_path / "root", follow_links=True).names == ("a", "b")
