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


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_objects(write_hands(tmp_path_factory.mktemp("data")), **SHAPE)


def hands(**more) -> Data:
    return Data(name="hands", **more)


def objects(**more) -> Data:
    return Data(**{"name": "objects", "protocol": "pairs"} | more)


def feature(name, **parameters):
    return hands(feature=Feature(name=name, parameters=parameters))


def test_the_given_folds_are_those_of_the_dataset(folder):
    found, original = read_data(hands(), folder), load("hands", folder)
    np.testing.assert_array_equal(found.sets.vectors, original.sets.vectors)
    assert found.sets.vectors.dtype == np.uint8
    assert found.sets.names == original.sets.names
    assert found.sets.image_shape == found.images.image_shape == (16, 24)
    assert found.labels.tolist() == found.sets.labels.tolist() == original.labels.tolist()
    np.testing.assert_array_equal(found.folds, original.folds)
    assert str(folder) in found.note
    assert not found.sets.vectors.flags.writeable


def test_data_are_read_once_for_all_threads_and_anew_from_another_place(tmp_path, monkeypatch):
    n_reads = []
    monkeypatch.setattr(module, "load", lambda *args: n_reads.append(args) or load(*args))
    for name, seed in (("a", 0), ("b", 1)):
        write_hands(tmp_path / name, seed=seed)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda _: read_data(hands(), tmp_path / "a"), range(16)))
    assert len(n_reads) == 1
    assert all(one is found[0] for one in found)
    digests = []
    for name in ("a", "b", "a"):
        monkeypatch.setenv("SETWISE_DATA", str(tmp_path / name))
        digests.append(read_data(hands()).digest)
    assert digests[0] == digests[2] == found[0].digest != digests[1]


def test_the_digest_is_of_the_content_alone(tmp_path):
    same, other = write_hands(tmp_path / "same"), write_hands(tmp_path / "other")
    digest = read_data(hands(), same).digest
    assert read_data(hands(), other).digest == digest
    names = np.array([f"another hand {i}" for i in range(12)])
    for change in ({"seed": 1}, {"set_names": names}, {"set_is_test": np.arange(12) > 5}):
        changed = write_hands(tmp_path / f"changed {next(iter(change))}", **change)
        assert read_data(hands(), changed).digest != digest
    assert read_data(feature("pixels", size=8), same).digest != digest


@pytest.mark.parametrize(
    ("name", "parameters", "expected"),
    [
        ("pixels", {"size": [8, 6]}, Pixels(size=(8, 6))),
        ("equalised", {}, Equalised()),
        ("lbp", {"patch": 8, "root": False}, LBP(patch=8, root=False)),
        ("hog", {"cell": 8}, HOG(cell=8)),
    ],
)
def test_features_are_those_of_the_images(folder, name, parameters, expected):
    found = read_data(feature(name, **parameters), folder)
    made = expected.transform(load("hands", folder).sets)
    np.testing.assert_array_equal(found.sets.vectors, made.vectors)
    assert (found.sets.names, found.sets.image_shape) == (made.names, made.image_shape)
    assert found.images.n_features == 16 * 24
    assert f"feature {name}" in found.note


def test_pairs_are_two_sets_of_each_class(folder):
    found = read_data(objects(n_classes=2, n_folds=2), folder)
    for gallery, probes in found.folds:
        assert len(gallery) == len(set(found.labels[gallery])) == 2
        np.testing.assert_array_equal(found.labels[gallery], found.labels[probes])
        assert not set(gallery) & set(probes)
    (first, _), (second, _) = found.folds
    assert not set(found.labels[first]) & set(found.labels[second])
    everything = read_data(objects(n_folds=3), folder)
    assert [len(gallery) for gallery, _ in everything.folds] == [5, 5, 5]
    assert len({tuple(gallery) for gallery, _ in everything.folds}) > 1


def test_halves_are_all_images_of_a_class_in_two_sets(folder, tmp_path):
    whole = read_data(objects(), folder)
    found = read_data(objects(protocol="halves", n_classes=2, n_folds=2), folder)
    assert (len(set(found.sets.names)), found.sets.image_shape) == (8, (16, 16))
    for gallery, probes in found.folds:
        for one, other in zip(gallery, probes, strict=True):
            assert found.labels[one] == found.labels[other]
            assert len(found.sets[one]) == len(found.sets[other]) == 6
            halves = np.concatenate([found.sets[one], found.sets[other]])
            expected = whole.sets[np.flatnonzero(whole.labels == found.labels[one])].vectors
            assert sorted(map(bytes, halves)) == sorted(map(bytes, expected))
    assert sorted(np.array(found.folds).ravel()) == list(range(8))
    odd = write_objects(tmp_path, **SHAPE | {"n_views": 3})
    found = read_data(objects(protocol="halves"), odd)
    sizes = [set(found.sets.sizes[side]) for side in found.folds[0]]
    assert sizes == [{5}, {4}], "an odd image goes to the gallery"


@pytest.mark.parametrize("protocol", ["pairs", "halves"])
def test_more_folds_leave_the_first_as_it_is(folder, protocol):
    one = read_data(objects(protocol=protocol, n_classes=2), folder)
    two = read_data(objects(protocol=protocol, n_classes=2, n_folds=2), folder)
    np.testing.assert_array_equal(one.folds[0], two.folds[0])
    first = np.ravel(one.folds[0])
    np.testing.assert_array_equal(one.sets[first].vectors, two.sets[first].vectors)


def test_sets_are_limited_before_features_are_computed(folder):
    found = read_data(feature("pixels", size=8).model_copy(update={"n_vectors": 4}), folder)
    assert set(found.sets.sizes) == {4}
    expected = Pixels(size=8).transform(found.images).vectors
    np.testing.assert_array_equal(found.sets.vectors, expected)
    whole = read_data(hands(), folder)
    for few, images in zip(found.images, whole.images, strict=True):
        assert set(map(bytes, few)) <= set(map(bytes, images))


@pytest.mark.parametrize(
    ("data", "error", "message"),
    [
        (Data(name="eht80"), ParameterError, r"nor a dataset 'eht80'.*Did you mean 'eth80'\?"),
        (hands(n_classes=2), DataError, 'has 1 folds of its own, and n_classes.*"halves"'),
        (objects(protocol="given"), DataError, "objects has no folds of its own"),
        (objects(n_classes=2, n_folds=3), DataError, "need 6 classes, and objects has 5"),
        (feature("hog", cells=8), ParameterError, r"'hog'.*'cells'.*Did you mean 'cell'\?"),
        (feature("equalised", size=3), ParameterError, "'size'. Expected none at all"),
    ],
)
def test_what_cannot_be_is_refused(folder, data, error, message):
    with pytest.raises(error, match=message):
        read_data(data, folder)


def test_leaks_and_classes_of_one_set_are_refused(folder, tmp_path):
    images = load("hands", folder).sets.images.copy()
    images[-1] = images[0]
    leaking = write_hands(tmp_path, images=images)
    with pytest.raises(LeakageError, match=r"hands, fold 0: .* of 'hand 11', a probe"):
        read_data(hands(), leaking)
    with pytest.raises(DataError, match="has 1 of the at least 2 sets"):
        read_data(objects(), write_objects(tmp_path, **SHAPE | {"n_sets": 1}))


def test_own_copies_are_read_from_their_folder_or_asked_for(tmp_path, monkeypatch):
    monkeypatch.setenv("SETWISE_DATA", str(tmp_path))
    for name in ("youtube", "cambridge"):
        with pytest.raises(DataError, match=f"no folder '{name}' in .*Bring your own copy"):
            read_data(Data(name=name))

    def read(path):
        sets = SetBatch.from_images(np.arange(4 * 5 * 4).reshape(4, 5, 2, 2))
        fold = np.array([0, 1]), np.array([2, 3])
        return Dataset("youtube", sets, np.array([0, 1, 0, 1]), [fold], (0, 1), f"{path}.")

    (tmp_path / "youtube").mkdir()
    monkeypatch.setitem(module.OWN_COPIES, "youtube", read)
    found = read_data(Data(name="youtube"))
    assert str(tmp_path / "youtube") in found.note
    assert found.labels.tolist() == ["0", "1", "0", "1"]


def test_vectors_are_no_images(tmp_path):
    np.savez_compressed(
        tmp_path / "japanese_vowels.npz",
        features=np.random.default_rng(0).normal(size=(12, 5)),
        set_index=np.arange(12, dtype=np.int32) // 3,
        set_labels=np.array([0, 1, 0, 1]),
        set_is_test=np.array([False, False, True, True]),
    )
    assert read_data(Data(name="vowels"), tmp_path).images is None
    with pytest.raises(DataError, match="holds vectors, not images"):
        read_data(Data(name="vowels", feature=Feature(name="hog")), tmp_path)
