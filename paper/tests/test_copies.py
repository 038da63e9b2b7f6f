"""The paper's other four datasets, on files that this test makes in their layouts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from scipy.io import savemat

from setwise.errors import DataError, SkippedFilesWarning
from setwise_paper.datasets.copies import load_cambridge, load_youtube
from setwise_paper.datasets.known import load, load_honda, load_mobo


def cells(sets: list[np.ndarray], shape: tuple[int, ...]) -> np.ndarray:
    array = np.empty(len(sets), dtype=object)
    array[:] = sets
    return array.reshape(shape)


def together(folds, n_sets: int) -> bool:
    return all(sorted([*gallery, *probes]) == list(range(n_sets)) for gallery, probes in folds)


# --- Honda/UCSD


def write_honda(path: Path, n_sets: int = 59, n_pixels: int = 400) -> None:
    rng = np.random.default_rng(0)
    sets = [rng.integers(0, 256, (n_pixels, 2 + i % 3), np.uint8) for i in range(n_sets)]
    for i, one in enumerate(sets):
        one[20] = i  # row 0, column 1: MATLAB counts down the columns
    savemat(path, {"ImgData": cells(sets, (1, n_sets))})


def test_honda_by_the_papers_protocol(tmp_path):
    write_honda(tmp_path / "honda_heq.mat")
    data = load_honda(tmp_path / "honda_heq.mat")
    assert len(data.sets) == 59
    assert data.sets.image_shape == (20, 20)
    first_images = data.sets.images[data.sets.offsets[:-1]]
    assert first_images[:, 0, 1].tolist() == list(range(59))
    assert len(data.class_names) == 20
    assert (data.labels == "subject1").sum() == 3
    assert data.labels[[2, 3, 56, 57, 58]].tolist() == [
        *("subject1", "subject2", "subject19", "subject20", "subject20")
    ]
    assert [(len(gallery), len(probes)) for gallery, probes in data.folds] == [(20, 39)] * 10
    assert together(data.folds, 59)
    for gallery, _ in data.folds:
        assert set(data.labels[gallery]) == set(data.class_names), "one of each subject"
    assert len({tuple(gallery) for gallery, _ in data.folds}) == 10


def test_honda_by_its_name(tmp_path):
    write_honda(tmp_path / "honda_heq.mat")
    assert load("honda", tmp_path).name == "honda"


def test_honda_with_labels_of_its_owner(tmp_path):
    write_honda(tmp_path / "h.mat", n_sets=6)
    data = load_honda(tmp_path / "h.mat", labels=[7, 7, 7, 9, 9, 9], n_folds=2, seed=3)
    assert data.class_names == (7, 9)
    assert [(len(gallery), len(probes)) for gallery, probes in data.folds] == [(2, 4)] * 2
    assert "2 random folds (seed 3)" in data.note


def test_honda_of_another_number_of_sets(tmp_path):
    write_honda(tmp_path / "h.mat", n_sets=58)
    with pytest.raises(DataError, match=r"h\.mat: ImgData holds 58 sets.*give them as labels"):
        load_honda(tmp_path / "h.mat")
    with pytest.raises(DataError, match="does not fit labels of"):
        load_honda(tmp_path / "h.mat", labels=[1, 2])


# --- CMU MoBo


def write_mobo(path: Path, shape: tuple[int, ...] = (25, 4)) -> None:
    table = np.empty((25, 4), dtype=object)
    for subject in range(25):
        for walk in range(4):
            table[subject, walk] = np.full((6, 2 + walk), 10.0 * subject + walk)
    table[24, 3] = np.empty((0, 0))
    savemat(path, {"MOBO": table.reshape(shape)})


def test_mobo_by_the_papers_protocol(tmp_path):
    write_mobo(tmp_path / "MOBO.mat")
    data = load_mobo(tmp_path / "MOBO.mat")
    assert len(data.sets) == 96
    assert data.sets.n_features == 6
    assert len(data.class_names) == 24
    for label, one in zip(data.labels, data.sets, strict=True):
        assert label == f"subject{int(one[0, 0]) // 10 + 1}"
    assert [(len(gallery), len(probes)) for gallery, probes in data.folds] == [(24, 72)] * 10
    assert together(data.folds, 96)
    for gallery, probes in data.folds:
        assert set(data.labels[gallery]) == set(data.class_names)
        assert np.unique(data.labels[probes], return_counts=True)[1].tolist() == [3] * 24
    assert "left out: subject25" in data.note


def test_mobo_with_everybody(tmp_path):
    write_mobo(tmp_path / "MOBO.mat")
    data = load_mobo(tmp_path / "MOBO.mat", only_complete=False)
    assert len(data.sets) == 99
    assert [(len(gallery), len(probes)) for gallery, probes in data.folds] == [(25, 74)] * 10
    assert "left out: none" in data.note


def test_mobo_that_is_no_table(tmp_path):
    write_mobo(tmp_path / "MOBO.mat", shape=(1, 100))
    with pytest.raises(
        DataError, match=r"MOBO is a row of 99 sets. Expected.*one row per subject"
    ):
        load_mobo(tmp_path / "MOBO.mat")


# --- Cambridge hand gestures


@pytest.fixture(scope="session")
def gestures(tmp_path_factory) -> Path:
    """All 900 sequences, one or two tiny frames each; the colour tells the illumination."""
    root = tmp_path_factory.mktemp("gestures")
    for light in range(1, 6):
        frame = Image.new("L", (8, 6), 40 * light)
        for label in range(9):
            for sequence in range(20):
                folder = root / f"Set{light}" / f"{label:04d}" / f"{sequence:04d}"
                folder.mkdir(parents=True)
                for i in range(1 + sequence % 2):
                    frame.save(folder / f"frame-{i:04d}.jpg")
    (root / "Set1" / "0003" / "Thumbs.db").write_bytes(b"not a folder")
    return root


def test_cambridge_by_the_papers_protocol(gestures):
    data = load_cambridge(gestures)
    assert len(data.sets) == 900
    assert data.sets.image_shape == (20, 20)
    assert np.unique(data.labels, return_counts=True)[1].tolist() == [100] * 9
    [(gallery, probes)] = data.folds
    assert (len(gallery), len(probes)) == (180, 720)
    assert together(data.folds, 900)
    assert all(data.sets.names[i].startswith("Set5/") for i in gallery)
    assert not any(data.sets.names[i].startswith("Set5/") for i in probes)
    assert np.unique(data.labels[gallery], return_counts=True)[1].tolist() == [20] * 9
    grey = data.sets.vectors.mean(axis=1)[data.sets.offsets[:-1]]
    assert grey[gallery].min() > 190 > grey[probes].max(), "the fifth light is the gallery"
    names = [name.split("/") for name in data.sets.names]
    assert [parts[1] for parts in names] == data.labels.tolist()


@pytest.mark.parametrize("gone", ["Set5", "Set2/0007", "Set3/0001/0019"])
def test_cambridge_with_a_folder_missing(gestures, gone):
    hidden = gestures / gone
    hidden.rename(gestures / "aside")
    try:
        with pytest.raises(DataError, match=rf"{hidden.name}.*Expected"):
            load_cambridge(gestures)
    finally:
        (gestures / "aside").rename(hidden)


def test_cambridge_with_a_folder_too_many(gestures):
    extra = gestures / "Set4" / "0009"
    extra.mkdir()
    try:
        with pytest.raises(DataError, match="Set4, the folder '0009' is too many"):
            load_cambridge(gestures)
    finally:
        extra.rmdir()


def test_cambridge_where_there_is_nothing(tmp_path):
    with pytest.raises(DataError, match=r"no folder .*Set1. Expected Set1 to Set5"):
        load_cambridge(tmp_path)


# --- YouTube Celebrities


def write_clip(path: Path, *, n_frames: int = 10, grey: int = 200) -> None:
    """A grey square that moves over black; another, brighter, for a moment only."""
    av = pytest.importorskip("av")
    with av.open(str(path), "w", format="avi") as out:
        stream = out.add_stream("mpeg4", rate=24)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
        for i in range(n_frames):
            frame = np.zeros((48, 64, 3), np.uint8)
            frame[10:30, 5 + i : 25 + i] = grey
            out.mux(stream.encode(av.VideoFrame.from_ndarray(frame, format="rgb24")))
        out.mux(stream.encode())


def bright_square(grey: np.ndarray) -> np.ndarray:
    """A detector of faces that are bright squares."""
    rows, columns = np.nonzero(grey > 100)
    if len(rows) == 0:
        return np.empty((0, 4))
    left, top = columns.min(), rows.min()
    return np.array([[left, top, columns.max() - left + 1, rows.max() - top + 1]])


@pytest.fixture(scope="session")
def clips(tmp_path_factory) -> Path:
    root = tmp_path_factory.mktemp("clips")
    for n, (subject, n_clips) in enumerate((("jane_doe", 9), ("john_q_public", 10))):
        for i in range(n_clips):
            name = f"{100 * n + i:04d}_{n + 1:02d}_{i:03d}_{subject}.avi"
            write_clip(root / name, n_frames=10 + i % 2)
    (root / "readme.txt").write_text("not a clip")
    return root


def test_youtube_by_the_papers_protocol(clips):
    told = []
    data = load_youtube(
        clips, detector=bright_square, progress=lambda *step: told.append(step), n_jobs=2
    )
    assert data.class_names == ("jane_doe", "john_q_public")
    assert len(data.sets) == 19
    assert data.sets.image_shape == (30, 30)
    assert data.sets.sizes.tolist()[:4] == [10, 11, 10, 11]
    assert data.sets.vectors.mean() > 100, "the square, not the black around it"
    assert len(data.folds) == 5
    for gallery, probes in data.folds:
        assert np.unique(data.labels[gallery], return_counts=True)[1].tolist() == [3, 3]
        assert np.unique(data.labels[probes], return_counts=True)[1].tolist() == [6, 6]
        assert not set(gallery) & set(probes)
    assert told[-1][1:] == (19, 19)
    assert data.sets.report.files[-1].name == "0109_02_009_john_q_public.avi"
    assert "0 of 19 clips left out" in data.note


def test_a_clip_without_a_face_is_left_out_aloud(clips):
    dark = clips / "0200_02_099_john_q_public.avi"
    write_clip(dark, grey=0)
    try:
        with pytest.warns(SkippedFilesWarning, match="1 of 20 clips.*0200_02_099"):
            data = load_youtube(clips, detector=bright_square)
    finally:
        dark.unlink()
    assert len(data.sets) == 19
    assert [left.path for left in data.sets.report.skipped] == [dark]
    assert "1 of 20 clips left out" in data.note


def test_a_subject_with_too_few_clips(tmp_path):
    for i in range(8):
        write_clip(tmp_path / f"{i:04d}_01_{i:03d}_jane_doe.avi")
    with pytest.raises(DataError, match=r"class 'jane_doe' has 8 sets. Expected at least 9"):
        load_youtube(tmp_path, detector=bright_square)


def test_no_face_anywhere(tmp_path):
    write_clip(tmp_path / "0000_01_001_jane_doe.avi", grey=0)
    with pytest.raises(DataError, match="1 of 1 clips were left out"):
        load_youtube(tmp_path, detector=bright_square)


@pytest.mark.parametrize(
    "name", ["jane_doe.avi", "0001_1_001_jane_doe.avi", "0001_01_001_.avi", "0001_01_001_7.AVI"]
)
def test_a_misnamed_clip(tmp_path, name):
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(
        DataError, match=f"{name} does not say who is in it. Expected a name such"
    ):
        load_youtube(tmp_path)


def test_no_clips_and_no_folder(tmp_path):
    with pytest.raises(DataError, match="no clips in"):
        load_youtube(tmp_path)
    with pytest.raises(DataError, match="no folder"):
        load_youtube(tmp_path / "elsewhere")
