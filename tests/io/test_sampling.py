"""Frames by time: those that all frames would give, and few others decoded."""

from __future__ import annotations

import numpy as np
import pytest
from tests.io.made_videos import numbered_frames, write_video

from setwise.errors import DataError, ParameterError
from setwise.io import load_video, load_videos
from setwise.io.frames import Reading, open_video

av = pytest.importorskip("av")
N_FRAMES, RATE = 30, 10


def film(path, codec="libx264", pixel_format="yuv420p", **coding):
    """30 frames, 10 per second, coded in groups as asked for."""
    frames = numbered_frames(N_FRAMES)
    with av.open(str(path), "w") as container:
        stream = container.add_stream(codec, rate=RATE, options=coding)
        stream.height, stream.width = frames[0].shape[:2]
        stream.pix_fmt = pixel_format
        for pixels in frames:
            container.mux(stream.encode(av.VideoFrame.from_ndarray(pixels, format="rgb24")))
        container.mux(stream.encode())
    return path


FILMS = {
    "groups.mp4": {"g": "5", "bf": "2"},
    "one_group.mp4": {"g": "250", "bf": "3"},
    "open.mkv": {"g": "8", "bf": "3", "x264-params": "open-gop=1:b-pyramid=normal"},
    "plain.avi": {"codec": "mpeg4", "g": "4"},
    "stream.ts": {"codec": "mpeg2video", "g": "6", "bf": "2"},
    "stills.mkv": {"codec": "ffv1", "pixel_format": "yuv420p"},
}


@pytest.mark.parametrize("name", FILMS)
@pytest.mark.parametrize("every_s", [0.05, 0.1, 0.25, 0.3, 0.7, 2.0, 9.0])
@pytest.mark.parametrize("start_s", [0.0, 0.85])
def test_the_frames_are_the_first_at_or_after_each_time(tmp_path, name, every_s, start_s):
    path = film(tmp_path / name, **FILMS[name])
    with open_video("test", path, Reading(thumbnails=False)) as video:
        everything = [(frame, round(video.end_s, 6)) for frame in video]
    expected, slots = [], set()
    for frame, time in everything:
        slot = int((time - start_s + 1e-6) // every_s)
        if time >= start_s and slot not in slots:
            slots.add(slot)
            expected.append(frame)
    with open_video("test", path, Reading(every_s=every_s, start_s=start_s)) as video:
        taken = list(video)
        assert video.notes() == ()
    assert [frame.number for frame in taken] == [frame.number for frame in expected]
    for frame, other in zip(taken, expected, strict=True):
        np.testing.assert_array_equal(frame.pixels, other.pixels)


def test_most_of_a_film_is_not_decoded(tmp_path):
    path = film(tmp_path / "groups.mp4", g="5", bf="0")
    with open_video("test", path, Reading(every_s=1.0)) as video:
        assert [frame.number for frame in video] == [0, 10, 20]
        # The first of each group of five that holds one; after the last keyframe, the rest.
        assert video.n_decoded <= 3 + 5
        assert video.expected == 3


def test_frames_that_help_no_other_are_not_decoded(tmp_path):
    path = film(tmp_path / "one_group.mp4", g="250", bf="3", b_strategy="0")
    with open_video("test", path, Reading(every_s=0.4)) as video:
        assert [frame.number for frame in video] == [0, 4, 8, 12, 16, 20, 24, 28]
        assert video.n_decoded < N_FRAMES


def test_a_film_is_a_set_of_frames_by_time(tmp_path):
    (tmp_path / "clips").mkdir()
    path = film(tmp_path / "clips" / "a.mp4")
    sets = load_video(path, every_s=0.5)
    assert sets.sizes.tolist() == [6]
    assert sets.origins.files[1] == "a.mp4, frame 5"
    assert load_videos(tmp_path / "clips", every_s=1.5).sizes.tolist() == [2]
    assert load_video(path, every_s=0.5, max_frames=2, stop_s=2.0).sizes.tolist() == [2]


def test_a_damaged_film_is_refused_as_before(tmp_path):
    path = write_video(tmp_path / "a.mp4", numbered_frames(N_FRAMES))
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[200:middle] = bytes(middle - 200)
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"a\.mp4"):
        load_video(path, every_s=0.2)


@pytest.mark.parametrize("asked", [{"every_s": 0}, {"every_s": -1}, {"every_s": np.nan},
                                   {"every_s": "1"}, {"every": 2, "every_s": 1.0}])  # fmt: skip
def test_parameters_out_of_range(tmp_path, asked):
    name = next(iter(asked))
    with pytest.raises(ParameterError, match=f"load_video: {name} must be"):
        load_video(film(tmp_path / "a.mp4"), **asked)
