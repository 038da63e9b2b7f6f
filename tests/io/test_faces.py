"""Faces of a video: found, followed, cut out; a real face, and detectors made up."""

from __future__ import annotations

import io
import pickle
import sys

import numpy as np
import pytest
from PIL import Image
from tests.io.made_videos import numbered_frames, write_video

from setwise.errors import DataError, MissingExtraError, ParameterError
from setwise.io.detectors import _cascade, cut_out, detect_faces
from setwise.io.faces import FaceTrack, HaarFaces, face_tracks
from setwise.io.frames import Frame

HEIGHT, WIDTH, HEAD = 118, 360, 90


@pytest.fixture(scope="module")
def head():
    """A real face of about 48 pixels, with some of what is around it."""
    pytest.importorskip("cv2")
    data = pytest.importorskip("skimage.data")
    photo = Image.fromarray(data.astronaut()).convert("L")
    return np.asarray(photo.crop((120, 30, 320, 230)).resize((HEAD, HEAD)))


def scene(head, *lefts):
    """A frame with this head at these places, or nowhere."""
    frame = np.full((HEIGHT, WIDTH), 128, dtype=np.uint8)
    for left in lefts:
        frame[14 : 14 + HEAD, left : left + HEAD] = head
    return frame


@pytest.fixture(scope="module")
def frames(head):
    """One head that walks to the right, from frame 4 on a second one; at 7 and 8 none."""
    lefts = [(4 + 2 * i,) if i < 4 else (4 + 2 * i, 234 - i) for i in range(12)]
    return [scene(head, *(() if i in (7, 8) else at)) for i, at in enumerate(lefts)]


def test_two_heads_are_two_sets(frames):
    tracks = face_tracks(frames, name="scene")
    assert tracks.names == ("scene/track 1 (frames 0-11)", "scene/track 2 (frames 4-11)")
    assert tracks.sizes.tolist() == [10, 6]
    assert tracks.image_shape == (30, 30)
    assert tracks.vectors.dtype == np.uint8
    assert tracks.labels is None
    assert tracks.report.layout == "face tracks"
    assert tracks.report.notes == (
        "12 frames looked at, 16 faces found, 0 of them left out in 0 tracks of fewer than 5",
    )


def test_the_crops_show_the_face(frames, head):
    """They are alike, and like the face that the detector sees in the head itself."""
    tracks = face_tracks(frames)
    (box,) = HaarFaces()(scene(head, 4))
    left, top, width, height = box
    assert 4 < left < 4 + HEAD - width
    face = Image.fromarray(scene(head, 4)[top : top + height, left : left + width])
    face = np.asarray(face.resize((30, 30), Image.BILINEAR)).ravel().astype(float)
    for crop in tracks.vectors.astype(float):
        assert np.corrcoef(crop, face)[0, 1] > 0.8
    elsewhere = np.roll(face.reshape(30, 30), 15, axis=1).ravel()
    assert np.corrcoef(elsewhere, face)[0, 1] < 0.5


def test_a_video_file_gives_the_same_tracks(frames, tmp_path):
    path = write_video(tmp_path / "scene.mkv", frames, codec="ffv1", pixel_format="gray")
    from_file, given = face_tracks(path), face_tracks(frames, name="scene")
    assert from_file.names == given.names
    np.testing.assert_array_equal(from_file.vectors, given.vectors)
    assert from_file.report.files == (path,) * 16


def test_faces_in_a_compressed_video(frames, tmp_path):
    path = write_video(tmp_path / "scene.mp4", frames)
    tracks = face_tracks(path, max_gap=3, min_length=4)
    assert [name.split(" (")[0] for name in tracks.names] == ["scene/track 1", "scene/track 2"]
    tracks = face_tracks(path, stop_s=0.4, min_length=4)
    assert tracks.names == ("scene/track 1 (frames 0-3)",)


def test_a_gap_too_long_ends_a_track(frames):
    tracks = face_tracks(frames, max_gap=1, min_length=3, name="s")
    assert [name[2:] for name in tracks.names] == [
        "track 1 (frames 0-6)", "track 2 (frames 4-6)", "track 3 (frames 9-11)",
        "track 4 (frames 9-11)",
    ]  # fmt: skip


def test_every_other_frame_keeps_its_number(frames):
    tracks = face_tracks(frames, every=2, min_length=3, name="s")
    assert tracks.names == ("s/track 1 (frames 0-10)", "s/track 2 (frames 4-10)")
    assert tracks.sizes.tolist() == [5, 3]
    tracks = face_tracks(iter(frames), every=2, max_frames=3, min_length=3, name="s")
    assert tracks.names == ("s/track 1 (frames 0-4)",)


def test_equalised_crops_use_all_greys(frames):
    dull = [frame // 3 for frame in frames]
    crops = face_tracks(dull, equalise=True).images
    assert (crops.min(axis=(1, 2)) == 0).all()
    assert (crops.max(axis=(1, 2)) == 255).all()
    assert face_tracks(dull).images.max() <= 255 // 3


def test_the_detector_can_be_sent_to_another_process():
    detector = HaarFaces(scale_factor=1.2)
    assert pickle.loads(pickle.dumps(detector)) == detector


def test_the_extra_is_named_where_it_is_missing(monkeypatch):
    _cascade.cache_clear()
    monkeypatch.setitem(sys.modules, "cv2", None)
    with pytest.raises(MissingExtraError, match=r"pip install \"setwise\[faces\]\""):
        face_tracks(numbered_frames(3))


# ------------------------------------------------------------- with a detector made up


def bar(grey):
    """Find the white bar of a numbered frame."""
    columns = np.flatnonzero(grey.mean(axis=0) > 128)
    return [] if not len(columns) else [(columns[0], 0, len(columns), grey.shape[0])]


def test_any_callable_can_detect():
    frames = numbered_frames(8)
    tracks = face_tracks(frames, detector=bar, size=6, name="bars")
    assert tracks.names == ("bars/track 1 (frames 0-7)",)
    assert tracks.images.shape == (8, 6, 6)
    assert (tracks.vectors == 255).all()


def test_a_margin_shows_what_is_around():
    frames = numbered_frames(8)
    wide = face_tracks(frames, detector=bar, size=8, margin=0.5).images
    # Bars of 4 columns with 2 more at each side; at the edge of the frame there are no more.
    np.testing.assert_array_equal(wide[3][4] > 128, [0, 0, 1, 1, 1, 1, 0, 0])
    assert (wide[0][4, :4] > 128).all()


def test_short_tracks_are_left_out_and_counted():
    def flash(grey):
        return [*bar(grey), (40, 40, 5, 5)] if grey[0, 4] else bar(grey)

    tracks = face_tracks(numbered_frames(8), detector=flash)
    assert len(tracks) == 1
    assert tracks.report.notes == (
        "8 frames looked at, 10 faces found, 2 of them left out in 1 tracks of fewer than 5",
    )


def test_small_faces_are_left_out_and_counted():
    def two(grey):
        return [*bar(grey), (10, 10, 30, 12), (10, 30, 12, 12)]

    tracks = face_tracks(numbered_frames(8), detector=two, min_size=12)
    assert [track.median_size for track in tracks.tracks] == [12, 12]
    assert tracks.report.notes[1:] == ("left out: 8 faces below 12 pixels",)
    with pytest.raises(DataError, match=r"all 24 faces .* smaller than min_size = 13 pixels"):
        face_tracks(numbered_frames(8), detector=two, min_size=13)


def test_the_cascade_is_told_which_faces_are_too_small(monkeypatch):
    sizes_asked = []

    def look(self, grey):
        sizes_asked.append(self.min_size)
        return [(0, 0, 31, 31), (31, 0, 29, 40)]

    monkeypatch.setattr(HaarFaces, "__call__", look)
    assert face_tracks(numbered_frames(5)).sizes.tolist() == [5, 5]
    assert face_tracks(numbered_frames(5), min_size=29).sizes.tolist() == [5, 5]
    assert face_tracks(numbered_frames(5), min_size=31).sizes.tolist() == [5]
    assert sizes_asked == [30] * 5 + [29] * 5 + [31] * 5


def test_a_forehead_inside_a_face_is_no_set():
    def face_and_forehead(grey):
        return [(4, 4, 30, 30), (10, 6, 10, 10)]

    tracks = face_tracks(numbered_frames(8), detector=face_and_forehead)
    assert tracks.names == ("frames/track 1 (frames 0-7)",)
    assert tracks.tracks[0].median_size == 30
    assert tracks.report.notes == (
        "8 frames looked at, 16 faces found, 0 of them left out in 0 tracks of fewer than 5",
        "left out: 1 tracks inside others, as a forehead in a face",
    )


def test_tracks_know_when_and_how_large_they_were(tmp_path):
    path = write_video(tmp_path / "bars.mp4", numbered_frames(12))
    tracks = face_tracks(
        path, detector=lambda grey: [(0, 0, 8, 20)], every=2, start_s=0.4, min_length=4
    )
    (track,) = tracks.tracks
    assert track == FaceTrack(4, 10, pytest.approx(0.4), pytest.approx(0.6), 4, 8.0)
    given_frames = face_tracks(numbered_frames(12), detector=bar)
    assert np.isnan(given_frames.tracks[0].seconds)


def test_images_remember_their_frame_and_look(frames, tmp_path):
    path = write_video(tmp_path / "scene.mkv", frames, codec="ffv1", pixel_format="gray")
    tracks = face_tracks(path)
    assert tracks.origins.files[:2] == (f"{path}, frame 0", f"{path}, frame 1")
    assert tracks.origins.files[-1] == f"{path}, frame 11"
    assert len(tracks.origins) == len(tracks.vectors)
    for image, thumbnail in zip(tracks.images, tracks.origins.thumbnails, strict=True):
        picture = Image.open(io.BytesIO(thumbnail))
        assert picture.format == "JPEG"
        assert max(picture.size) <= 64
        again = np.asarray(picture.convert("L").resize((30, 30)), dtype=float)
        assert np.corrcoef(again.ravel(), image.ravel().astype(float))[0, 1] > 0.95
    wide = face_tracks(frames, detector=lambda grey: [(0, 0, 300, 100)]).origins
    assert Image.open(io.BytesIO(wide.thumbnails[0])).size == (64, 21)


def test_no_face_at_all_says_how_many_frames_were_looked_at():
    blank = [np.zeros((40, 40), dtype=np.uint8)] * 7
    with pytest.raises(DataError, match=r"7 frames of 'frames' .* found no face in them"):
        face_tracks(blank, detector=bar)


def test_no_track_long_enough():
    with pytest.raises(DataError, match=r"and 4 faces found, .* more than 4 frames"):
        face_tracks(numbered_frames(4), detector=bar)


def test_progress_counts_frames():
    told = []
    face_tracks(numbered_frames(6), detector=bar, progress=lambda *word: told.append(word))
    assert told == [("find faces", i, 6) for i in range(7)]


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (None, "box|shape|failed"),
        ([1, 2, 3, 4], r"shape \(4,\)"),
        (np.ones((2, 5)), r"shape \(2, 5\)"),
        ([["a", "b", "c", "d"]], "failed on frame 0"),
        ([[0, 0, np.nan, 4]], "the box"),
        ([[0, 0, 0, 4]], r"the box \[0.0, 0.0, 0.0, 4.0\]"),
        ([[0, 0, -3, 4]], "the box"),
        ([[64, 0, 3, 4]], "holds no pixel of it"),
        ([[-9, 0, 3, 4]], "holds no pixel of it"),
        ([[0, 0, 5, 4], [0, 0, 1e300, 1e300]], r"the box \[0.0, 0.0, 1e\+300"),
        ([[0, 0], [1, 2, 3, 4]], "failed on frame 0"),
    ],
)
def test_what_a_detector_returns_is_checked(answer, words):
    def spoilt(grey):
        return answer

    with pytest.raises(DataError, match=words) as refused:
        face_tracks(numbered_frames(3), detector=spoilt)
    assert "frame 0" in str(refused.value)
    assert "spoilt" in str(refused.value)


def test_a_detector_that_fails_is_named_with_the_frame():
    def third_time_unlucky(grey):
        if grey[0, 5]:
            raise RuntimeError("out\nof luck")
        return bar(grey)

    with pytest.raises(DataError, match=r"third_time_unlucky.* frame 1, .*: out of luck"):
        face_tracks(numbered_frames(9), detector=third_time_unlucky)


@pytest.mark.parametrize("nothing", [[], (), np.zeros((0, 4)), np.zeros(0), [[]]])
def test_no_face_can_be_said_in_several_ways(nothing):
    frame = Frame(0, np.zeros((9, 9), dtype=np.uint8))
    assert detect_faces("test", lambda grey: nothing, frame).shape == (0, 4)


def test_a_box_is_cut_at_the_edge_of_the_frame():
    frame = np.arange(30, dtype=np.uint8).reshape(5, 6)
    np.testing.assert_array_equal(
        cut_out(frame, np.array([-2.0, 3.0, 4.0, 9.0])), frame[3:5, 0:2]
    )
    np.testing.assert_array_equal(
        cut_out(frame, np.array([2.0, 1.0, 2.0, 2.0]), margin=9.0), frame
    )


@pytest.mark.parametrize(
    ("frames", "words"),
    [
        ([], "there are no frames"),
        ([np.zeros((9, 9))], "frame 0 has shape .* dtype float64"),
        (np.zeros((9, 9), dtype=np.uint8), r"frame 0 has shape \(9,\)"),
        ([np.zeros((9, 9, 4), dtype=np.uint8)], r"frame 0 has shape \(9, 9, 4\)"),
        ([np.zeros((0, 9), dtype=np.uint8)], r"frame 0 has shape \(0, 9\)"),
        (["a.png"], "frame 0 has shape"),
    ],
)
def test_what_are_no_frames(frames, words):
    with pytest.raises(DataError, match=words):
        face_tracks(frames, detector=bar)


@pytest.mark.parametrize(
    "asked",
    [
        {"detector": "haar"}, {"every": 0}, {"size": 0}, {"equalise": 1}, {"margin": -0.5},
        {"margin": np.nan}, {"min_overlap": 0.0}, {"min_overlap": 1.5}, {"max_gap": -1},
        {"min_length": 0}, {"min_size": 0},
    ],
)  # fmt: skip
def test_parameters_out_of_range(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=f"face_tracks: {name} must be"):
        face_tracks(numbered_frames(3), **{"detector": bar, **asked})


def test_times_need_a_file():
    with pytest.raises(ParameterError, match="start_s and stop_s"):
        face_tracks(numbered_frames(3), detector=bar, start_s=1.0)
    with pytest.raises(ParameterError, match="source must be a path or an iterable"):
        face_tracks(5, detector=bar)


@pytest.mark.parametrize(
    "asked", [{"scale_factor": 1.0}, {"min_neighbours": -1}, {"min_size": 0}]
)
def test_parameters_of_the_cascade(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=f"HaarFaces: {name} must be"):
        HaarFaces(**asked)
