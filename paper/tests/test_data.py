"""The sets of an experiment: read, divided, checked, as features."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from paper.tests.small_sets import write_hands, write_objects

import setwise_paper.data as module
from setwise.errors import DataError, LeakageError, ParameterError
from setwise.features import HOG, LBP, Equalised, Pixels
from setwise.sets import SetBatch
from setwise_paper.data import read_data
from setwise_paper.datasets import Dataset, load
from setwise_paper.spec import Data, Feature

SHAPE = {"n_classes": 5, "n_sets": 3, "n_views": 4, "size": 16}


@pytest.fixture
def folder(tmp_path):
    return write_objects(write_hands(tmp_path / "data"), **SHAPE)


def hands(**more) -> Data:
    return Data(name="hands", **more)


def objects(**more) -> Data:
    return Data(**{"name": "objects", "protocol": "pairs"} | more)


def test_the_given_folds_are_those_of_the_dataset(folder):
    found = read_data(hands(), folder)
    original = load("hands", folder)
    np.testing.assert_array_equal(found.sets.vectors, original.sets.vectors)
    assert found.sets.vectors.dtype == np.uint8
    assert found.sets.names == original.sets.names
    assert found.sets.image_shape == found.images.image_shape == (16, 24)
    assert found.labels.tolist() == [str(label) for label in original.labels]
    assert found.labels.tolist() == found.sets.labels.tolist()
    for mine, theirs in zip(found.folds, original.folds, strict=True):
        np.testing.assert_array_equal(mine[0], theirs[0])
        np.testing.assert_array_equal(mine[1], theirs[1])
    assert str(folder) in found.note
    assert not found.sets.vectors.flags.writeable
    with pytest.raises(DataError, match=r"no fold 1\. Expected 0 to 0"):
        found.fold(1)


def test_threads_share_one_copy_that_is_read_once(folder, monkeypatch):
    n_reads = []

    def counted(*args):
        n_reads.append(args)
        return load(*args)

    monkeypatch.setattr(module, "load", counted)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: read_data(hands(), folder), range(16)))
    assert len(n_reads) == 1
    assert all(one is found[0] for one in found)


def test_another_place_is_read_anew(tmp_path, monkeypatch):
    for name, seed in (("a", 0), ("b", 1)):
        write_hands(tmp_path / name, seed=seed)
    digests = []
    for name in ("a", "b", "a"):
        monkeypatch.setenv("SETWISE_DATA", str(tmp_path / name))
        digests.append(read_data(hands()).digest)
    assert digests[0] == digests[2] != digests[1]


def test_the_digest_is_of_the_content_alone(tmp_path):
    same, other = write_hands(tmp_path / "same"), write_hands(tmp_path / "other")
    assert read_data(hands(), same).digest == read_data(hands(), other).digest
    names = [f"another hand {i}" for i in range(12)]
    is_test = np.arange(12) // 6 == 1
    for change in ({"seed": 1}, {"set_names": np.array(names)}, {"set_is_test": is_test}):
        changed = write_hands(tmp_path / f"changed {next(iter(change))}", **change)
        assert read_data(hands(), changed).digest != read_data(hands(), same).digest
    half = read_data(hands(feature=Feature(name="pixels", parameters={"size": 8})), same)
    assert half.digest != read_data(hands(), same).digest


@pytest.mark.parametrize(
    ("name", "parameters", "feature"),
    [
        ("pixels", {"size": [8, 6]}, Pixels(size=(8, 6))),
        ("equalised", {}, Equalised()),
        ("lbp", {"patch": 8, "root": False}, LBP(patch=8, root=False)),
        ("hog", {"cell": 8}, HOG(cell=8)),
    ],
)
def test_features_are_those_of_the_images(folder, name, parameters, feature):
    found = read_data(hands(feature=Feature(name=name, parameters=parameters)), folder)
    expected = feature.transform(load("hands", folder).sets)
    np.testing.assert_array_equal(found.sets.vectors, expected.vectors)
    assert found.sets.names == expected.names
    assert found.sets.image_shape == expected.image_shape
    assert found.images.n_features == 16 * 24
    assert f"feature {name}" in found.note


def test_wrong_features_are_refused_by_name(folder):
    wrong = Feature(name="hog", parameters={"cells": 8})
    with pytest.raises(ParameterError, match=r"'hog'.*'cells'.*Did you mean 'cell'\?"):
        read_data(hands(feature=wrong), folder)
    with pytest.raises(ParameterError, match=r"parameter 'size'\. Expected none at all"):
        read_data(hands(feature=Feature(name="equalised", parameters={"size": 3})), folder)
    with pytest.raises(ParameterError, match=r"Pixels: size must be .* got 0"):
        read_data(hands(feature=Feature(name="pixels", parameters={"size": 0})), folder)


def test_pairs_are_two_sets_of_each_class(folder):
    found = read_data(objects(n_classes=2, n_folds=2), folder)
    assert len(found.folds) == 2
    for gallery, probes in found.folds:
        assert len(gallery) == len(set(found.labels[gallery])) == 2
        np.testing.assert_array_equal(found.labels[gallery], found.labels[probes])
        assert not set(gallery) & set(probes)
    (first, _), (second, _) = found.folds
    assert not set(found.labels[first]) & set(found.labels[second])
    everything = read_data(objects(n_folds=3), folder)
    assert [len(gallery) for gallery, _ in everything.folds] == [5, 5, 5]
    assert len({tuple(gallery) for gallery, _ in everything.folds}) > 1


@pytest.mark.parametrize("protocol", ["pairs", "halves"])
def test_more_folds_leave_the_first_as_it_is(folder, protocol):
    one = read_data(objects(protocol=protocol, n_classes=2), folder)
    two = read_data(objects(protocol=protocol, n_classes=2, n_folds=2), folder)
    for mine, theirs in zip(one.folds[0], two.folds[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)
        np.testing.assert_array_equal(one.sets[mine].vectors, two.sets[theirs].vectors)


def test_halves_are_all_images_of_a_class_in_two_sets(folder):
    whole = read_data(objects(), folder)
    found = read_data(objects(protocol="halves", n_classes=2, n_folds=2), folder)
    assert len(found.sets) == 8
    assert found.sets.image_shape == (16, 16)
    seen = []
    for gallery, probes in found.folds:
        seen += [*gallery, *probes]
        for one, other in zip(gallery, probes, strict=True):
            assert found.labels[one] == found.labels[other]
            halves = np.concatenate([found.sets[one], found.sets[other]])
            assert {len(found.sets[one]), len(found.sets[other])} == {6}
            of_class = np.flatnonzero(whole.labels == found.labels[one])
            expected = whole.sets[of_class].vectors
            assert sorted(map(bytes, halves)) == sorted(map(bytes, expected))
    assert sorted(seen) == list(range(8))
    assert len(set(found.sets.names)) == 8


def test_an_odd_image_goes_to_the_gallery(tmp_path):
    odd = write_objects(tmp_path, **SHAPE | {"n_views": 3})
    found = read_data(objects(protocol="halves"), odd)
    gallery, probes = found.folds[0]
    assert set(found.sets.sizes[gallery]) == {5}
    assert set(found.sets.sizes[probes]) == {4}


def test_sets_are_limited_before_features_are_computed(folder):
    feature = Feature(name="pixels", parameters={"size": 8})
    found = read_data(hands(n_vectors=4, feature=feature), folder)
    assert set(found.sets.sizes) == {4}
    np.testing.assert_array_equal(
        found.sets.vectors, Pixels(size=8).transform(found.images).vectors
    )
    whole = read_data(hands(), folder)
    for i in range(len(found.sets)):
        assert set(map(bytes, found.images[i])) <= set(map(bytes, whole.images[i]))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (Data(name="eht80"), ParameterError, r"nor a dataset 'eht80'.*Did you mean 'eth80'\?"),
        (hands(n_classes=2), DataError, "has 1 folds of its own, and n_classes"),
        (hands(n_folds=2), DataError, 'protocol "halves"'),
        (objects(protocol="given"), DataError, "objects has no folds of its own"),
        (objects(n_classes=2, n_folds=3), DataError, "need 6 classes, and objects has 5"),
    ],
)
def test_what_cannot_be_is_refused(folder, data, error, message):
    with pytest.raises(error, match=message):
        read_data(data, folder)


def test_a_class_of_one_set_makes_no_pair(tmp_path):
    folder = write_objects(tmp_path, **SHAPE | {"n_sets": 1})
    with pytest.raises(DataError, match="has 1 of the at least 2 sets"):
        read_data(objects(), folder)


@pytest.mark.parametrize("name", ["youtube", "cambridge"])
def test_own_copies_are_read_from_their_folder_or_asked_for(tmp_path, monkeypatch, name):
    monkeypatch.setenv("SETWISE_DATA", str(tmp_path))
    with pytest.raises(DataError) as error:
        read_data(Data(name=name))
    message = str(error.value)
    assert f"no folder '{name}' in {tmp_path}" in message
    assert "Bring your own copy" in message
    assert "set SETWISE_DATA" in message

    def read(path):
        sets = SetBatch.from_images(np.arange(4 * 5 * 4).reshape(4, 5, 2, 2))
        fold = np.array([0, 1]), np.array([2, 3])
        return Dataset(name, sets, np.array([0, 1, 0, 1]), [fold], (0, 1), f"{path}.")

    (tmp_path / name).mkdir()
    monkeypatch.setitem(module.OWN_COPIES, name, read)
    found = read_data(Data(name=name))
    assert str(tmp_path / name) in found.note
    assert found.labels.tolist() == ["0", "1", "0", "1"]


def test_a_leak_is_refused(tmp_path):
    images = load("hands", write_hands(tmp_path / "sound")).sets.images.copy()
    images[-1] = images[0]
    folder = write_hands(tmp_path / "leaking", images=images)
    with pytest.raises(LeakageError, match=r"hands, fold 0: .* of 'hand 11', a probe"):
        read_data(hands(), folder)


def test_vectors_are_no_images(tmp_path):
    rng = np.random.default_rng(0)
    np.savez_compressed(
        tmp_path / "japanese_vowels.npz",
        features=rng.normal(size=(12, 5)),
        set_index=np.arange(12, dtype=np.int32) // 3,
        set_labels=np.array([0, 1, 0, 1]),
        set_is_test=np.array([False, False, True, True]),
    )
    found = read_data(Data(name="vowels"), tmp_path)
    assert found.images is None
    with pytest.raises(DataError, match="holds vectors, not images"):
        read_data(Data(name="vowels", feature=Feature(name="hog")), tmp_path)
