"""NumPy archives: what they become, and what is refused."""

from __future__ import annotations

import os
import tracemalloc

import numpy as np
import pytest
from tests.conftest import toy_sets
from tests.io.test_mat import damaged

import setwise
from setwise.errors import DataError, ParameterError
from setwise.io.arrays import load_arrays

N_FUZZ = int(os.environ.get("SETWISE_FUZZ", "100"))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "file.npz"


def archive(**changes):
    """Three sets of 2 x 3 images, the second one in two pieces; ``None`` leaves a key out."""
    arrays = {
        "images": np.arange(36, dtype="u1").reshape(6, 2, 3),
        "set_index": np.array([0, 1, 1, 2, 2, 1]),
        "set_labels": np.array([1, 0, 1]),
        "class_names": np.array(["apple", "pear"]),
        "set_names": np.array(["a", "b", "c"]),
        "view_angles": np.zeros((6, 2)),
        **changes,
    }
    return {key: array for key, array in arrays.items() if array is not None}


def refusal(path, **parameters):
    with pytest.raises(DataError) as caught:
        load_arrays(path, **parameters)
    return str(caught.value)


def test_an_archive_becomes_labels_in_three_lines(path):
    sets, labels = toy_sets(0)
    index = np.repeat(np.arange(len(sets)), [len(s) for s in sets])
    np.savez(path, features=np.concatenate(sets), set_index=index, set_labels=labels)

    batch = load_arrays(path)
    classifier = setwise.CVC().fit(batch[::2], batch.labels[::2])
    predicted = classifier.predict(batch[1::2])

    assert predicted.tolist() == labels[1::2].tolist()


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_images_are_gathered_by_set_index(path, save):
    save(path, **archive())
    batch = load_arrays(path)
    images = archive()["images"]
    assert batch.names == ("a", "b", "c")
    assert batch.labels.tolist() == ["pear", "apple", "pear"]
    assert batch.image_shape == (2, 3)
    assert batch.vectors.dtype == np.uint8
    np.testing.assert_array_equal(batch.images, images[[0, 1, 2, 5, 3, 4]])
    assert batch.sizes.tolist() == [1, 3, 2]
    assert batch.report.layout == "images with set_index"


def test_colour_images_and_plain_features(path):
    np.savez(path, **archive(images=np.zeros((6, 4, 5, 3), "u1")))
    assert load_arrays(path).image_shape == (4, 5, 3)
    np.savez(path, **archive(images=None, features=np.ones((6, 7), "f4")))
    batch = load_arrays(path)
    assert batch.image_shape is None
    assert batch.vectors.dtype == np.float32


def test_other_keys(path):
    given = archive()
    renamed = {"X": given["images"], "g": given["set_index"], "y": np.array([3, 4, 3])}
    np.savez(path, **renamed)
    batch = load_arrays(path, vectors="X", set_index="g", labels="y")
    assert batch.labels.tolist() == [3, 4, 3]
    assert batch.names == ("set 0", "set 1", "set 2")


def test_neither_labels_nor_names_are_needed(path):
    np.savez(path, **archive(set_labels=None, class_names=None, set_names=None))
    assert load_arrays(path).labels is None


def test_one_array_a_set(path):
    np.savez(path, second=np.ones((2, 3)), first=np.zeros((4, 3)), set_labels=np.array([5, 6]))
    batch = load_arrays(path)
    assert batch.names == ("second", "first")
    assert batch.sizes.tolist() == [2, 4]
    assert batch.labels.tolist() == [5, 6]


def test_one_array_of_images_a_set(path):
    np.savez(path, a=np.ones((2, 3, 4)), b=np.zeros((4, 3, 4)))
    assert load_arrays(path).image_shape == (3, 4)


@pytest.mark.parametrize("order", ["C", "F"])
def test_an_array_of_sets(tmp_path, order):
    array = np.arange(24.0).reshape(2, 3, 4)
    np.save(tmp_path / "a.npy", np.asarray(array, order=order))
    batch = load_arrays(tmp_path / "a.npy")
    assert batch.sizes.tolist() == [3, 3]
    np.testing.assert_array_equal(batch[1], array[1])


REFUSED = {
    "no images": ({"images": None}, "no images or features"),
    "both": ({"features": np.ones((6, 2))}, "'images' and 'features'"),
    "text": ({"images": np.full((6, 2), "a")}, "real numbers"),
    "complex": ({"images": np.ones((6, 2), complex)}, "real numbers"),
    "one dimension": ({"images": np.ones(6)}, "shape (6,)"),
    "no pixels": ({"images": np.ones((6, 0, 2))}, "shape (6, 0, 2)"),
    "short index": ({"set_index": np.arange(5)}, "shape (5,)"),
    "real index": ({"set_index": np.arange(6.0)}, "dtype float64"),
    "negative index": ({"set_index": np.array([0, 1, 2, -1, 0, 0])}, "from -1 to 2"),
    "too many sets": ({"set_index": np.array([0, 1, 2, 3, 0, 0])}, "Expected 0 to 2"),
    "huge index": (
        {"set_index": np.array([0, 1, 2, 2**62, 0, 0]), "set_labels": None, "set_names": None},
        "from 0 to 4611686018427387904",
    ),
    "an empty set": ({"set_index": np.array([0, 2, 2, 0, 0, 0])}, "no vector of set 1"),
    "labels of another number": ({"set_labels": np.array([0, 1])}, "2 and 3 labels and names"),
    "no such class": ({"set_labels": np.array([0, 1, 2])}, "count the 2 names"),
    "negative class": ({"set_labels": np.array([0, 1, -1])}, "count the 2 names"),
    "text labels": ({"set_labels": np.array(["a", "b", "a"])}, "count the 2 names"),
    "a table of labels": ({"set_labels": np.zeros((3, 2), int)}, "labels of shape (3, 2)"),
    "a table of names": ({"set_names": np.full((3, 2), "a")}, "names of shape (3, 2)"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_archives_that_do_not_fit_are_refused(path, what):
    changes, words = REFUSED[what]
    np.savez(path, **archive(**changes))
    message = refusal(path)
    assert words in message
    assert str(path) in message


def test_a_missing_array_shows_those_there_are(path):
    np.savez(path, **archive())
    message = refusal(path, vectors="pixels")
    assert "no array 'pixels'" in message
    assert "'images', 'set_index'" in message


@pytest.mark.parametrize(
    "sets", [{"a": np.ones((2, 3)), "b": np.ones((2, 4))}, {"a": np.ones(3)},
             {"a": np.ones((2, 3)), "b": np.ones((0, 3))}, {"a": np.full((2, 2), "x")},
             {"set_labels": np.ones(3)}, {},
             {"a": np.ones((2, 3)), "set_labels": np.ones(3)}]
)  # fmt: skip
def test_sets_that_do_not_fit_are_refused(path, sets):
    np.savez(path, **sets)
    assert str(path) in refusal(path)


@pytest.mark.parametrize("shape", [(), (3,), (3, 4), (2, 3, 4, 5), (2, 0, 3)])
def test_an_array_of_another_shape_is_refused(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    assert "(n_sets, n_vectors, n_features)" in refusal(tmp_path / "a.npy")


def test_a_size_beyond_max_bytes_is_refused(path):
    np.savez(path, **archive())
    assert len(load_arrays(path, max_bytes=200)) == 3
    assert "max_bytes=50" in refusal(path, max_bytes=50)


@pytest.mark.parametrize("parameters", [{"max_bytes": 0}, {"set_index": None}, {"vectors": 3}])
def test_bad_parameters_are_refused(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        load_arrays("nowhere.npz", **parameters)


@pytest.mark.parametrize("kind", ["stored", "compressed", "npy"])
def test_damaged_files_load_or_are_refused(tmp_path, kind):
    path = tmp_path / "whole"
    with path.open("wb") as stream:
        if kind == "npy":
            np.save(stream, np.arange(24.0).reshape(2, 3, 4))
        else:
            (np.savez if kind == "stored" else np.savez_compressed)(stream, **archive())
    content = path.read_bytes()
    rng = np.random.default_rng(0)
    n_refused = 0
    for _ in range(N_FUZZ):
        path.write_bytes(damaged(content, rng))
        try:
            load_arrays(path, max_bytes=2**24)
        except DataError:
            n_refused += 1
    assert n_refused > N_FUZZ // 10


@pytest.mark.data
def test_the_real_archives(real):
    import datasets

    for file in sorted(datasets.data_folder().glob("*.npz")):
        if file.name == "eth80_splits.npz":
            continue
        batch = load_arrays(file)
        table = np.load(file, allow_pickle=False)
        assert len(batch) == len(table["set_labels"])
        assert batch.labels.tolist() == table["class_names"][table["set_labels"]].tolist()
        assert batch.names == tuple(table["set_names"].tolist())
        for i in (0, len(batch) - 1):
            key = "images" if "images" in table else "features"
            rows = table[key][table["set_index"] == i].reshape(batch.sizes[i], -1)
            np.testing.assert_array_equal(batch[i], rows)


@pytest.mark.parametrize("n_sets", [1, 8])
def test_sets_are_not_in_memory_twice(tmp_path, n_sets):
    """The sets of an archive go where they belong one by one."""
    path = tmp_path / "sets.npz"
    np.savez(path, **{str(i): np.ones((400 // n_sets, 2500)) for i in range(n_sets)})
    load_arrays(path)  # whatever is imported at first use
    tracemalloc.start()
    try:
        loaded = load_arrays(path)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert loaded.vectors.shape == (400, 2500)
    assert peak < 1.5 * loaded.vectors.nbytes


def test_sets_of_different_dtypes_get_one_that_holds_both(tmp_path):
    np.savez(tmp_path / "sets.npz", a=np.full((2, 3), 7, "u1"), b=np.full((1, 3), 0.5, "f4"))
    loaded = load_arrays(tmp_path / "sets.npz")
    assert loaded.vectors.dtype == np.float32
    assert loaded.vectors.tolist() == [[7] * 3, [7] * 3, [0.5] * 3]


def saved(path, **arrays):
    np.savez(path / "a.npz", **arrays)
    return path / "a.npz"


def test_vectors_with_the_class_and_the_set_of_each(tmp_path):
    X = np.arange(12.0).reshape(6, 2)
    y, clip = np.array(list("aabbba")), np.array([5, 5, 7, 7, 8, 9])
    path = saved(tmp_path, X=X, y=y, clip=clip)
    batch = load_arrays(path, vectors="X", labels="y", groups="clip")
    assert batch.names == ("5", "7", "8", "9")
    assert batch.labels.tolist() == ["a", "b", "b", "a"]
    assert batch[1].tolist() == X[2:4].tolist()
    by_class = load_arrays(path, vectors="X", labels="y")
    assert by_class.names == ("a", "b")
    assert by_class[0].tolist() == X[[0, 1, 5]].tolist()
    assert load_arrays(path, vectors="X", groups="clip").labels is None


def test_images_in_groups_keep_their_shape(tmp_path):
    path = saved(tmp_path, images=np.ones((3, 4, 5), np.uint8), clip=np.array([0, 1, 0]))
    batch = load_arrays(path, groups="clip")
    assert (batch.image_shape, batch.sizes.tolist()) == ((4, 5), [2, 1])


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({"groups": "none"}, "has no array 'none'"),
        ({"labels": "none"}, "has no array 'none'"),
        ({"groups": "few"}, r"has 'few' of shape \(2,\) for 3 vectors in 'X'"),
        ({"labels": "few"}, r"has 'few' of shape \(2,\) for 3 vectors in 'X'"),
        ({"labels": "y", "groups": "g"}, "set '1' has two labels, '0' and '1' .row 1"),
        ({"vectors": None, "groups": "g"}, "Say which of its arrays"),
    ],
)
def test_groups_and_labels_that_do_not_fit(tmp_path, parameters, said):
    path = saved(tmp_path, X=np.eye(3), y=np.arange(3), g=np.ones(3, int), few=np.arange(2))
    with pytest.raises(DataError, match=f"load_arrays: .*{said}"):
        load_arrays(path, **{"vectors": "X", **parameters})
