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


def n_of_each(labels) -> list[int]:
    return np.unique(labels, return_counts=True)[1].tolist()


def check_random_folds(data, n_sets: int, n_gallery: int) -> None:
    """Ten different folds of all sets, with one gallery set of each class."""
    assert len(data.sets) == n_sets
    assert len({tuple(gallery) for gallery, _ in data.folds}) == 10
    for gallery, probes in data.folds:
        assert len(gallery) == n_gallery == len(data.class_names)
        assert sorted([*gallery, *probes]) == list(range(n_sets))
        assert set(data.labels[gallery]) == set(data.class_names)


def write_honda(path: Path, n_sets: int = 59) -> None:
    rng = np.random.default_rng(0)
    sets = np.empty((1, n_sets), dtype=object)
    for i in range(n_sets):
        sets[0, i] = rng.integers(0, 256, (400, 2 + i % 3), np.uint8)
        sets[0, i][20] = i  # row 0, column 1: MATLAB counts down the columns
    savemat(path, {"ImgData": sets})


def test_honda_by_the_papers_protocol(tmp_path):
    write_honda(tmp_path / "honda_heq.mat")
    data = load("honda", tmp_path)
    check_random_folds(data, 59, 20)
    first_images = data.sets.images[data.sets.offsets[:-1]]
    assert first_images.shape[1:] == (20, 20)
    assert first_images[:, 0, 1].tolist() == list(range(59))
    subjects = [int(label.removeprefix("subject")) for label in data.labels]
    assert [subjects[i] for i in (0, 2, 3, 56, 57, 58)] == [1, 1, 2, 19, 20, 20]


def test_honda_of_another_number_of_sets_needs_labels(tmp_path):
    write_honda(tmp_path / "h.mat", n_sets=6)
    data = load_honda(tmp_path / "h.mat", labels=[7, 7, 7, 9, 9, 9], n_folds=2, seed=3)
    assert data.class_names == (7, 9)
    assert [(len(gallery), len(probes)) for gallery, probes in data.folds] == [(2, 4)] * 2
    assert "2 random folds (seed 3)" in data.note
    with pytest.raises(DataError, match=r"h\.mat: ImgData holds 6 sets.*give them as labels"):
        load_honda(tmp_path / "h.mat")
    with pytest.raises(DataError, match="does not fit labels of"):
        load_honda(tmp_path / "h.mat", labels=[1, 2])


def write_mobo(path: Path, shape: tuple[int, ...] = (25, 4)) -> None:
    table = np.empty((25, 4), dtype=object)
    for subject in range(25):
        for walk in range(4):
            table[subject, walk] = np.full((6, 2 + walk), 10.0 * subject + walk)
    table[24, 3] = np.empty((0, 0))
    savemat(path, {"MOBO": table.reshape(shape)})


def test_mobo_by_the_papers_protocol(tmp_path):
    write_mobo(tmp_path / "MOBO.mat")
    data = load("mobo", tmp_path)
    check_random_folds(data, 96, 24)
    assert data.sets.n_features == 6
    for label, one in zip(data.labels, data.sets, strict=True):
        assert label == f"subject{int(one[0, 0]) // 10 + 1}"
    assert "left out: subject25" in data.note
    everybody = load_mobo(tmp_path / "MOBO.mat", only_complete=False)
    check_random_folds(everybody, 99, 25)
    assert "left out: none" in everybody.note
    write_mobo(tmp_path / "flat.mat", shape=(1, 100))
    with pytest.raises(DataError, match=r"MOBO is a row of 99 sets. Expected.*one row per"):
        load_mobo(tmp_path / "flat.mat")


@pytest.fixture(scope="module")
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
    assert (len(data.sets), data.sets.image_shape) == (900, (20, 20))
    [(gallery, probes)] = data.folds
    assert sorted([*gallery, *probes]) == list(range(900))
    assert (n_of_each(data.labels), n_of_each(data.labels[gallery])) == ([100] * 9, [20] * 9)
    names = [name.split("/") for name in data.sets.names]
    assert [parts[1] for parts in names] == data.labels.tolist()
    assert [i for i, parts in enumerate(names) if parts[0] == "Set5"] == gallery.tolist()
    grey = data.sets.vectors.mean(axis=1)[data.sets.offsets[:-1]]
    assert grey[gallery].min() > 190 > grey[probes].max(), "the fifth light is the gallery"


def test_cambridge_with_wrong_folders(gestures, tmp_path):
    for gone in ("Set5", "Set2/0007", "Set3/0001/0019"):
        hidden = gestures / gone
        hidden.rename(gestures / "aside")
        with pytest.raises(DataError, match=rf"{hidden.name}.*Expected"):
            load_cambridge(gestures)
        (gestures / "aside").rename(hidden)
    extra = gestures / "Set4" / "0009"
    extra.mkdir()
    with pytest.raises(DataError, match="Set4, the folder '0009' is too many"):
        load_cambridge(gestures)
    extra.rmdir()
    with pytest.raises(DataError, match=r"no folder .*Set1. Expected Set1 to Set5"):
        load_cambridge(tmp_path)


def write_clip(path: Path, *, n_frames: int = 10, grey: int = 200) -> None:
    """A grey square that moves over black."""
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


def test_youtube_by_the_papers_protocol(tmp_path):
    for n, (subject, n_clips) in enumerate((("jane_doe", 9), ("john_q_public", 10))):
        for i in range(n_clips):
            name = f"{100 * n + i:04d}_{n + 1:02d}_{i:03d}_{subject}.avi"
            write_clip(tmp_path / name, n_frames=10 + i % 2)
    (tmp_path / "readme.txt").write_text("not a clip")
    dark = tmp_path / "0200_02_099_john_q_public.avi"
    write_clip(dark, grey=0)
    told = []
    with pytest.warns(SkippedFilesWarning, match="1 of 20 clips.*0200_02_099"):
        data = load_youtube(
            tmp_path, detector=bright_square, progress=lambda *step: told.append(step), n_jobs=2
        )
    assert data.class_names == ("jane_doe", "john_q_public")
    assert (len(data.sets), data.sets.image_shape) == (19, (30, 30))
    assert data.sets.sizes.tolist()[:4] == [10, 11, 10, 11]
    assert data.sets.vectors.mean() > 100, "the square, not the black around it"
    assert len(data.folds) == 5
    for gallery, probes in data.folds:
        assert n_of_each(data.labels[gallery]) == [3, 3]
        assert n_of_each(data.labels[probes]) == [6, 6]
        assert not set(gallery) & set(probes)
    assert told[-1][1:] == (20, 20)
    assert data.sets.report.files[-1].name == "0109_02_009_john_q_public.avi"
    assert [left.path for left in data.sets.report.skipped] == [dark]
    assert "1 of 20 clips left out" in data.note


def test_clips_that_cannot_be_used(tmp_path):
    write_clip(tmp_path / "0000_01_001_jane_doe.avi", grey=0)
    with pytest.raises(DataError, match="1 of 1 clips were left out"):
        load_youtube(tmp_path, detector=bright_square)
    write_clip(tmp_path / "0000_01_001_jane_doe.avi")
    with pytest.raises(DataError, match=r"class 'jane_doe' has 1 sets. Expected at least 9"):
        load_youtube(tmp_path, detector=bright_square)
    for name in ("jane_doe.avi", "0001_1_001_jane_doe.avi", "0001_01_001_7.AVI"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(DataError, match=f"{name} does not say who is in it. Expected a"):
            load_youtube(tmp_path)
        (tmp_path / name).unlink()
    (tmp_path / "empty").mkdir()
    for folder, said in (("empty", "no clips in"), ("elsewhere", "no folder")):
        with pytest.raises(DataError, match=said):
            load_youtube(tmp_path / folder)
