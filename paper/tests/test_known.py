"""Known datasets from the files at hand: what is read, which folds, and what is missing."""

from __future__ import annotations

import os
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from setwise.errors import DataError, ParameterError
from setwise_paper.datasets.known import (
    OBJECTS,
    eth80_original,
    load,
    pair_folds,
    random_folds,
    rotated_folds,
    spread_folds,
)

REAL = Path(
    os.environ.get("SETWISE_DATA") or Path(__file__).resolve().parents[4] / "shared" / "data"
)
ORDERS = np.random.default_rng(5).permuted(np.tile(np.arange(10), (10, 8, 1)), axis=2)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch, tmp_path):
    def asked(*args, **kwargs):
        pytest.fail("load asked the network")

    monkeypatch.setattr(socket.socket, "connect", asked)
    monkeypatch.delenv("SETWISE_DATA", raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def write(path: Path, n_classes: int, sets_a_class: int, **more) -> None:
    """A small archive of the prepared layout; image ``i`` of set ``s`` is filled with ``s``."""
    n_sets = n_classes * sets_a_class
    index = np.repeat(np.arange(n_sets), np.arange(n_sets) % 3 + 1)
    table = {
        "images": np.broadcast_to(index[:, None, None], (len(index), 4, 3)).astype(np.uint8),
        "set_index": index.astype(np.int32),
        "set_labels": np.repeat(np.arange(n_classes), sets_a_class),
        "class_names": np.array([f"class{n_classes - c}" for c in range(n_classes)]),
        "set_names": np.array([f"s{i}" for i in range(n_sets)]),
        **more,
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(path, **table)


def write_eth80(folder: Path) -> None:
    classes = list(dict.fromkeys(name for name, _ in OBJECTS))
    write(folder / "eth80_20x20.npz", 8, 10, class_names=np.array(classes))


def check(folds, n_sets: int) -> None:
    """Every fold parts the sets into two."""
    for gallery, probes in folds:
        assert sorted([*gallery, *probes]) == list(range(n_sets))


# --- layouts and protocols


def test_a_given_split(tmp_path):
    is_test = np.array([False, True, False, True])
    write(tmp_path / "tsukuba_hand_24x24.npz", 2, 2, set_is_test=is_test)
    data = load("hands", tmp_path)
    assert (data.sets.image_shape, data.sets.vectors.dtype) == ((4, 3), np.uint8)
    assert [set(one.ravel()) for one in data.sets] == [{0}, {1}, {2}, {3}]
    assert data.sets.names == ("s0", "s1", "s2", "s3")
    assert data.labels.tolist() == ["class2", "class2", "class1", "class1"]
    assert data.class_names == ("class2", "class1"), "in the order of the source"
    [(gallery, probes)] = data.folds
    assert (gallery.tolist(), probes.tolist()) == ([0, 2], [1, 3])
    assert "tsukuba_hand_24x24.npz; the given split" in data.note


def test_light_is_rotated_and_quadrants_are_paired(tmp_path):
    write(tmp_path / "yaleb_24x21.npz", 3, 5, set_subset=np.tile(np.arange(1, 6), 3))
    data = load("yaleb", tmp_path)
    check(data.folds, 15)
    galleries = [gallery.tolist() for gallery, _ in data.folds]
    assert galleries == [[i, i + 5, i + 10] for i in range(5)]
    write(tmp_path / "coil20_32x32.npz", 12, 4)
    data = load("coil20", tmp_path)
    check(data.folds, 48)
    galleries = [tuple(gallery[:2].tolist()) for gallery, _ in data.folds]
    assert galleries == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]


def test_eth80_draws_splits_or_takes_the_published_ones(tmp_path):
    write_eth80(tmp_path)
    drawn = load("eth80", tmp_path)
    check(drawn.folds, 80)
    assert "ten random splits (seed 0)" in drawn.note
    for gallery, _ in drawn.folds:
        assert np.unique(drawn.labels[gallery], return_counts=True)[1].tolist() == [5] * 8
    cells = np.empty(10, dtype=object)
    cells[:] = list((ORDERS + 1).astype(float))
    savemat(tmp_path / "random_index_eth80.mat", {"random_index": cells.reshape(1, 10)})
    theirs = load("eth80", tmp_path)
    assert "random_index_eth80.mat" in theirs.note
    np.savez(tmp_path / "eth80_splits.npz", object_order=ORDERS)
    data = load("eth80", tmp_path)
    assert "ten published splits of eth80_splits.npz" in data.note
    check(data.folds, 80)
    gallery, probes = data.folds[3]
    assert gallery[5:10].tolist() == (10 + ORDERS[3, 1, :5]).tolist()
    assert probes[5:10].tolist() == (10 + ORDERS[3, 1, 5:]).tolist()
    assert np.array_equal(np.array(theirs.folds), np.array(data.folds))
    for wrong in (np.zeros((10, 8, 10), int), np.tile(np.arange(10), (10, 7, 1))):
        np.savez(tmp_path / "eth80_splits.npz", object_order=wrong)
        with pytest.raises(DataError, match=r"splits\.npz.*Expected 10 splits of 8 classes"):
            load("eth80", tmp_path)


def write_demo_eth(path: Path, n: int = 40) -> None:
    """Sets of two images: the number of the set above that of the image, in column order."""
    cells = np.empty((2, n), dtype=object)
    for i in range(2 * n):
        image = np.zeros((20, 20))
        image[0, 1] = i
        cells[i // n, i % n] = np.tile(image.reshape(-1, 1, order="F"), 2)
    savemat(path, {"ETH_train": cells[:1], "ETH_test": cells[1:]})


def test_eth80_from_its_original(tmp_path):
    (tmp_path / "originals").mkdir()
    write_demo_eth(tmp_path / "originals" / "demo-ETH.mat")
    data = load("eth80", tmp_path)
    assert "demo-ETH.mat" in data.note
    assert data.sets.names == tuple(f"{name}{n}" for name, n in OBJECTS)
    assert data.sets.image_shape == (20, 20)
    held = dict(zip(data.sets.names, data.sets.images[::2, 0, 1], strict=True))
    # ETH_train begins with apples 2, 5, 10; its cars are 2, 6, 14, 11, 3.
    assert [held[name] for name in ("apple2", "apple5", "apple10")] == [0, 1, 2]
    assert [held[f"car{n}"] for n in (2, 6, 14, 11, 3)] == [5, 6, 7, 8, 9]
    assert [held[f"car{n}"] for n in (5, 12, 9, 7, 1)] == [45, 46, 47, 48, 49]
    assert sorted(held.values()) == list(range(80))
    write_demo_eth(tmp_path / "demo-ETH.mat", n=39)
    with pytest.raises(DataError, match=r"demo-ETH\.mat: holds 78 sets. Expected the 80"):
        load("eth80", tmp_path)


def test_an_archive_of_ones_own_is_read_by_its_name(tmp_path):
    write(tmp_path / "mine.npz", 3, 2)
    data = load("mine", tmp_path)
    assert (data.name, len(data.sets), len(data.class_names), data.folds) == ("mine", 6, 3, [])
    assert data.note == f"{tmp_path / 'mine.npz'}; without folds."


# --- where it looks, and what is missing or broken


def test_the_environment_comes_before_the_cache(tmp_path, monkeypatch):
    write(tmp_path / "cache" / "setwise" / "coil20_32x32.npz", 3, 4)
    assert len(load("coil20").sets) == 12
    write(tmp_path / "mine" / "coil20_32x32.npz", 2, 4)
    monkeypatch.setenv("SETWISE_DATA", str(tmp_path / "mine"))
    assert len(load("coil20").sets) == 8
    with pytest.raises(DataError, match=r"no coil20_32x32.npz in .*elsewhere"):
        load("coil20", tmp_path / "elsewhere")  # a named folder is the only one


@pytest.mark.parametrize(
    ("name", "error", "said"),
    [
        ("eth80", DataError, "no eth80_20x20.npz or demo-ETH.mat in .*data fetch eth80`"),
        ("coil20", DataError, "coil20_32x32.npz in .*It must be prepared"),
        ("honda", DataError, "`setwise data fetch honda`"),
        ("youtube", DataError, "load_youtube"),
        ("eht80", ParameterError, r"no archive eht80\.npz in .*Did you mean 'eth80'\?"),
    ],
)
def test_what_is_missing_is_told_with_the_ways_out(tmp_path, name, error, said):
    with pytest.raises(error, match=said):
        load(name, tmp_path)


def test_broken_archives_are_named(tmp_path):
    path = tmp_path / "yaleb_24x21.npz"
    write(path, 3, 5)
    with pytest.raises(DataError, match="no array 'set_subset'"):
        load("yaleb", tmp_path)
    whole = path.read_bytes()
    for kept in (0, 20, 300):
        path.write_bytes(whole[:kept])
        with pytest.raises(DataError, match=r"yaleb_24x21\.npz"):
            load("yaleb", tmp_path)
    np.savez(tmp_path / "coil20_32x32.npz", features=np.ones((4, 3)), set_index=[0, 0, 1, 1])
    with pytest.raises(DataError, match="has no labels"):
        load("coil20", tmp_path)


# --- folds


def test_random_folds_are_those_of_their_seed():
    labels = np.repeat(["a", "b"], 6)
    drawn = [random_folds(labels, 2, 3, seed=seed) for seed in (4, 4, 5)]
    first, again, other = (np.array([gallery for gallery, _ in folds]) for folds in drawn)
    assert (first == again).all()
    assert (first != other).any()
    for gallery, probes in random_folds(["a", "a", "b"], 1, 4):
        assert 2 in gallery
        assert len(probes) == 1, "a class may have no probe"
    with pytest.raises(ParameterError, match="n_gallery"):
        random_folds(["a", "a"], True, 1)


@pytest.mark.parametrize("n_sets", [9, 14, 45, 60])
def test_spread_folds_overlap_as_little_as_can_be(n_sets):
    labels = np.repeat(["a", "b"], n_sets)
    used = np.zeros(2 * n_sets, dtype=int)
    for gallery, probes in spread_folds(labels, 3, 6, 5):
        assert (labels[gallery] == "a").sum() == 3
        assert (labels[probes] == "b").sum() == 6
        assert not set(gallery) & set(probes)
        used[gallery] += 1
        used[probes] += 1
    assert used.max() - used.min() <= 1
    assert used.max() == -(-45 // n_sets)
    with pytest.raises(DataError, match=r"class 'b' has 8 sets. Expected at least 9"):
        spread_folds(["a"] * 9 + ["b"] * 8, 3, 6, 5)


def test_small_protocols_by_hand():
    [(gallery, probes), _] = rotated_folds(["x", "y", "x"])
    assert (gallery.tolist(), probes.tolist()) == ([0, 2], [1])
    galleries = [gallery.tolist() for gallery, _ in pair_folds([*"bababa"])]
    assert galleries == [[0, 1, 2, 3], [0, 1, 4, 5], [2, 3, 4, 5]]


# --- the real files


@pytest.fixture
def at_hand():
    if not (REAL / "eth80_20x20.npz").is_file():
        pytest.skip("real datasets found neither in ../shared/data nor in $SETWISE_DATA")
    return REAL


@pytest.mark.parametrize(
    ("name", "n_classes", "n_sets", "n_vectors", "sizes"),
    [
        ("eth80", 8, 80, 3280, [(40, 40)] * 10),
        ("eth80-64", 8, 80, 3280, [(40, 40)] * 10),
        ("yaleb", 38, 190, 2414, [(38, 152)] * 5),
        ("coil20", 20, 80, 1440, [(40, 40)] * 6),
        ("hands", 6, 12, 1200, [(6, 6)]),
        ("vowels", 9, 640, 9961, [(270, 370)]),
    ],
)
def test_the_real_files(at_hand, name, n_classes, n_sets, n_vectors, sizes):
    data = load(name, at_hand)
    assert (len(data.class_names), len(data.labels)) == (n_classes, n_sets)
    assert (len(data.sets), len(data.sets.vectors)) == (n_sets, n_vectors)
    assert [(len(gallery), len(probes)) for gallery, probes in data.folds] == sizes
    check(data.folds, n_sets)
    for gallery, _ in data.folds:
        assert set(data.labels[gallery]) == set(data.class_names)


def test_the_original_of_eth80_is_what_was_prepared(at_hand):
    original = eth80_original(at_hand / "originals" / "demo-ETH.mat")
    prepared = load("eth80", at_hand).sets
    assert original.names == prepared.names
    assert np.array_equal(original.labels, prepared.labels)
    apart = np.abs(original.vectors - prepared.vectors.astype(float))
    # Resized by another program: the same but for rounding, image by image.
    assert apart.mean(axis=1).max() < 1
    assert apart.max() <= 10
