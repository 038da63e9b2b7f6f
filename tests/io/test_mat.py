"""MATLAB files: what they become, and what is refused."""

from __future__ import annotations

import os
import struct

import h5py
import numpy as np
import pytest
import scipy.io
import scipy.sparse
from scipy.optimize import linear_sum_assignment
from scipy.spatial.distance import cdist
from tests.conftest import toy_sets
from tests.io.mat73_writer import save_mat73, written

import setwise
from setwise.errors import DataError, MissingExtraError, ParameterError
from setwise.io.mat import load_mat

# How many damaged copies of each kind of file are tried.
N_FUZZ = int(os.environ.get("SETWISE_FUZZ", "100"))


def as_cell(values, shape=None):
    cell = np.empty(len(values), dtype=object)
    for i, value in enumerate(values):
        cell[i] = value
    return cell.reshape(shape or (1, -1), order="F")


def save_v5(path, variables):
    scipy.io.savemat(path, variables)
    return path


def save_v7(path, variables):
    scipy.io.savemat(path, variables, do_compression=True)
    return path


WRITERS = {"v5": save_v5, "v7": save_v7, "v7.3": save_mat73}


@pytest.fixture(params=WRITERS)
def save(request, tmp_path):
    """Writes variables as a file of one version, which has no telling name."""
    return lambda **variables: WRITERS[request.param](tmp_path / "file.bin", variables)


@pytest.fixture
def sets():
    """Three sets with vectors in columns, of 2, 3 and 4 vectors of 6 features."""
    rng = np.random.default_rng(0)
    return [rng.standard_normal((6, n)) for n in (2, 3, 4)]


def refusal(path, *args, **parameters):
    with pytest.raises(DataError) as caught:
        load_mat(path, *args, **parameters)
    return str(caught.value)


def test_a_file_becomes_labels_in_three_lines(save):
    sets, labels = toy_sets(0)
    path = save(X=as_cell([s.T for s in sets]), y=labels.astype(float))

    batch = load_mat(path, "X", labels="y")
    classifier = setwise.CVC().fit(batch[::2], batch.labels[::2])
    predicted = classifier.predict(batch[1::2])

    assert predicted.tolist() == labels[1::2].tolist()


def test_each_cell_is_a_set_of_its_columns(save, sets):
    batch = load_mat(save(X=as_cell(sets)), "X")
    assert batch.names == ("X{1}", "X{2}", "X{3}")
    assert batch.labels is None
    for read, matrix in zip(batch, sets, strict=True):
        np.testing.assert_array_equal(read, matrix.T)
    assert batch.report.files == (batch.report.source,) * 9


def test_vectors_may_be_rows(save, sets):
    batch = load_mat(save(X=as_cell([s.T for s in sets])), "X", vectors="rows")
    for read, matrix in zip(batch, sets, strict=True):
        np.testing.assert_array_equal(read, matrix.T)


def test_a_column_of_cells_reads_like_a_row(save, sets):
    assert load_mat(save(X=as_cell(sets, (-1, 1)))).names == ("X{1}", "X{2}", "X{3}")


def test_several_variables_follow_each_other(save, sets):
    path = save(
        train=as_cell(sets[:2]),
        test=as_cell(sets[2:]),
        a=np.array([1.0, 2.0]),
        b=3.0 * np.ones((1, 1)),
    )
    batch = load_mat(path, ["train", "test"], labels=["a", "b"])
    assert batch.names == ("train{1}", "train{2}", "test{1}")
    assert batch.labels.tolist() == [1, 2, 3]


def test_rows_of_a_table_of_cells_are_classes(save):
    cells = [np.full((3, 2), i, dtype=float) for i in range(6)]
    batch = load_mat(save(MOBO=as_cell(cells, (2, 3))), "MOBO")
    assert batch.names[:3] == ("MOBO{1,1}", "MOBO{2,1}", "MOBO{1,2}")
    assert batch.labels.tolist() == [1, 2, 1, 2, 1, 2]
    assert batch.vectors[::2, 0].tolist() == [0, 1, 2, 3, 4, 5]


def test_empty_cells_are_left_out_and_counted(save, sets):
    cells = as_cell([sets[0], np.zeros((0, 0)), sets[1], sets[2]], (2, 2))
    path = save(X=cells, y=np.array([[7.0, 8.0, 9.0, 10.0]]))
    batch = load_mat(path, "X")
    assert batch.names == ("X{1,1}", "X{1,2}", "X{2,2}")
    assert batch.labels.tolist() == [1, 1, 2]
    assert batch.report.notes == ("1 of 4 cells are empty and were left out",)
    assert load_mat(path, "X", labels="y").labels.tolist() == [7, 9, 10]


@pytest.mark.parametrize("dtype", ["f8", "f4", "u1", "i1", "u2", "i2", "u4", "i4", "i8", "u8"])
def test_number_types_are_kept(save, dtype):
    matrix = np.arange(6, dtype=dtype).reshape(2, 3)
    batch = load_mat(save(X=as_cell([matrix, matrix])))
    assert batch.vectors.dtype == np.dtype(dtype)
    np.testing.assert_array_equal(batch[1], matrix.T)


def test_logical_matrices_are_zeros_and_ones(save):
    batch = load_mat(save(X=as_cell([np.eye(3, dtype=bool)] * 2)))
    assert batch.vectors.dtype == np.uint8
    np.testing.assert_array_equal(batch[0], np.eye(3))


def test_images_are_upright(save):
    images = np.arange(2 * 4 * 3, dtype="u1").reshape(2, 4, 3)
    columns = np.stack([image.ravel(order="F") for image in images], axis=1)
    batch = load_mat(save(X=as_cell([columns])), image_shape=(4, 3))
    np.testing.assert_array_equal(batch.images, images)
    assert batch.image_shape == (4, 3)


def test_colour_images_are_upright(save):
    images = np.arange(2 * 4 * 3 * 3, dtype="u1").reshape(2, 4, 3, 3)
    columns = np.stack([image.ravel(order="F") for image in images], axis=1)
    batch = load_mat(save(X=as_cell([columns])), image_shape=(4, 3, 3))
    np.testing.assert_array_equal(batch.images, images)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (np.array([[1.0], [2.0], [1.0]]), [1, 2, 1]),
        (np.array([0.5, 1.5, 0.5]), [0.5, 1.5, 0.5]),
        (np.array([3, 4, 3], dtype="u1"), [3, 4, 3]),
        (as_cell(["apple", "pear", "apple"]), ["apple", "pear", "apple"]),
    ],
)
def test_labels_are_numbers_or_cells_of_text(save, sets, labels, expected):
    path = save(X=as_cell(sets), y=np.atleast_2d(labels))
    assert load_mat(path, labels="y").labels.tolist() == expected


def test_labels_may_be_a_char_matrix(tmp_path, sets):
    words = np.array(["apple", "pear", "fig"])
    path = save_v5(tmp_path / "a.mat", {"X": as_cell(sets), "y": words})
    assert load_mat(path, labels="y").labels.tolist() == ["apple", "pear", "fig"]


def test_labels_beyond_ascii(save, sets):
    path = save(X=as_cell(sets), y=as_cell(["Äpfel", "梨", "x"]))
    assert load_mat(path, labels="y").labels.tolist() == ["Äpfel", "梨", "x"]


def test_the_only_cell_array_of_matrices_needs_no_name(save, sets):
    path = save(names=as_cell(["a", "b", "c"]), X=as_cell(sets), n=np.ones((1, 1)))
    assert load_mat(path).names[0] == "X{1}"


def test_a_big_endian_file(tmp_path):
    """As MATLAB wrote them on a SPARC: everything is turned round."""

    def element(kind, payload):
        return struct.pack(">II", kind, len(payload)) + payload.ljust(
            -(-len(payload) // 8) * 8, b"\0"
        )

    def matrix(kind, shape, name, content):
        head = element(6, struct.pack(">II", kind, 0)) + element(5, struct.pack(">2i", *shape))
        return element(14, head + element(1, name) + content)

    cell = matrix(6, (2, 3), b"", element(3, struct.pack(">6h", 1, 2, 3, 4, 5, -6)))
    path = tmp_path / "sparc.mat"
    path.write_bytes(b"MATLAB 5.0".ljust(124) + b"\x01\x00MI" + matrix(1, (1, 1), b"X", cell))
    assert load_mat(path)[0].tolist() == [[1, 2], [3, 4], [5, -6]]


def test_text_of_two_bytes_a_character(tmp_path, sets):
    """As MATLAB writes text; SciPy writes UTF-8."""
    path = save_v5(tmp_path / "a.mat", {"X": as_cell(sets[:1]), "y": as_cell(["ab"])})
    content = path.read_bytes()
    utf8, utf16 = struct.pack("<HH", 16, 2) + b"ab\0\0", struct.pack("<HH", 17, 4) + b"a\0b\0"
    assert content.count(utf8) == 1
    path.write_bytes(content.replace(utf8, utf16))
    assert load_mat(path, "X", labels="y").labels.tolist() == ["ab"]


def test_hdf5_of_another_program(tmp_path, sets):
    """Neither MATLAB's header nor its classes, and bytes shuffled before compression."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        nodes = [
            file.create_dataset(f"#refs#/{i}", data=s.T, compression="gzip", shuffle=True)
            for i, s in enumerate(sets)
        ]
        file["X"] = np.array([[node.ref] for node in nodes], dtype=h5py.ref_dtype)
    np.testing.assert_array_equal(load_mat(path)[2], sets[2].T)


def test_a_compression_that_matlab_does_not_know(tmp_path, sets):
    path = save_mat73(tmp_path / "a.mat", {"X": as_cell(sets)}, compression="lzf")
    assert "MATLAB does not use" in refusal(path)


def test_what_scipy_reads_is_what_we_read(tmp_path):
    """Small values, which are stored beside their type, and all sizes of padding."""
    rng = np.random.default_rng(1)
    kinds = [(1, "u1"), (3, "u1"), (4, "i2"), (5, "u1"), (7, "f4"), (9, "f8")]
    cells = [rng.integers(0, 9, (1, n)).astype(kind) for n, kind in kinds]
    path = save_v7(tmp_path / "a.mat", {"X": as_cell(cells)})
    theirs = scipy.io.loadmat(path)["X"].ravel()
    for ours, matrix in zip(load_mat(path), theirs, strict=True):
        np.testing.assert_array_equal(ours, matrix.T)


def test_a_missing_variable_shows_those_there_are(save, sets):
    message = refusal(save(train=as_cell(sets), y=np.ones((1, 3)), words="abc"), "X")
    lines = message.splitlines()
    assert "has no variable 'X'" in lines[0]
    assert sorted(line.split() for line in lines[2:]) == [
        ["train", "cell", "1x3"], ["words", "char", "1x3"], ["y", "double", "1x3"],
    ]  # fmt: skip


def test_a_long_table_is_cut_and_an_empty_one_left_out(save):
    message = refusal(save(**{f"v{i}": np.ones((1, 1)) for i in range(50)}))
    assert message.endswith("... and 10 more")
    assert refusal(save()).endswith("It has no variables at all.")


def test_two_cell_arrays_need_a_name(save, sets):
    message = refusal(save(train=as_cell(sets), test=as_cell(sets)))
    assert "needs a variable" in message
    assert "  train  cell" in message


BAD_CELLS = {
    "nested cells": (as_cell([np.eye(2)]), "a cell of size 1x1"),
    "text": ("abc", "a char of size 1x3"),
    "three dimensions": (np.ones((2, 3, 4)), "a double of size 2x3x4"),
}


@pytest.mark.parametrize("what", BAD_CELLS)
def test_a_cell_that_is_no_matrix_is_named(save, what):
    value, described = BAD_CELLS[what]
    message = refusal(save(X=as_cell([np.eye(2), value])), "X")
    assert "X{2}" in message
    assert described in message


BAD_V5 = {
    "complex": (np.eye(2) * 1j, "a complex double of size 2x2"),
    "sparse": (scipy.sparse.csc_array(np.eye(3)), "a sparse of size 3x3"),
    "struct": ({"a": 1.0}, "a struct of size 1x1"),
}


@pytest.mark.parametrize("what", BAD_V5)
def test_other_classes_are_refused_in_version_5(tmp_path, what):
    value, described = BAD_V5[what]
    cells = as_cell([np.eye(2), value])
    assert described in refusal(save_v7(tmp_path / "a.mat", {"X": cells}))
    assert described in refusal(save_v7(tmp_path / "a.mat", {"X": value}), "X")


def test_other_classes_are_refused_in_version_73(tmp_path):
    path = tmp_path / "a.mat"
    compound = np.zeros((2, 2), dtype=[("real", "f8"), ("imag", "f8")])
    with written(path) as writer:
        sparse = writer.refs.create_group("sparse")
        sparse.attrs["MATLAB_sparse"] = np.uint64(3)
        handle = writer.refs.create_dataset("handle", data=np.zeros((1, 6), "u4"))
        handle.attrs["MATLAB_class"] = np.bytes_("function_handle")
        number = writer.refs.create_dataset("complex", data=compound)
        number.attrs["MATLAB_class"] = np.bytes_("double")
        struct_ = writer.refs.create_group("struct")
        struct_.attrs["MATLAB_class"] = np.bytes_("struct")
        nodes = {
            "sparse": sparse,
            "function_handle": handle,
            "complex": number,
            "struct": struct_,
        }
        for name, node in nodes.items():
            writer.put(name, as_cell([np.eye(2), node.ref]))
    for name in nodes:
        assert f"'{name}{{2}}' of" in refusal(path, name)
        assert f"is a {name}" in refusal(path, name)


@pytest.mark.parametrize("value", [np.eye(3), "abc", np.ones((2, 2, 2))])
def test_a_variable_that_is_no_cell_array_is_refused(save, value):
    assert "Expected a cell array" in refusal(save(X=value), "X")


def test_sets_of_different_features_name_two_cells(save):
    message = refusal(save(X=as_cell([np.ones((3, 4)), np.ones((3, 5)), np.ones((4, 5))])))
    assert "X{3}" in message
    assert "X{1}" in message
    assert "4 and 3 features" in message


def test_transposed_sets_are_recognised(save, sets):
    assert "vectors='rows' would fit" in refusal(save(X=as_cell([s.T for s in sets])))


def test_labels_of_another_number_are_refused(save, sets):
    assert "2 labels for 3 cells" in refusal(
        save(X=as_cell(sets), y=np.ones((1, 2))), labels="y"
    )


def test_labels_that_are_none(save, sets):
    path = save(X=as_cell(sets), y=np.ones((3, 3)))
    assert "labels 'y'" in refusal(path, "X", labels="y")
    assert "labels 'X'" in refusal(path, "X", labels="X")


def test_only_empty_cells_are_refused(save):
    assert "only empty ones" in refusal(save(X=as_cell([np.zeros((0, 0))] * 2)))


def test_a_cell_array_without_cells_is_refused(save):
    assert "no set in" in refusal(save(X=np.empty((0, 0), dtype=object)), "X")


def test_images_of_another_size_are_refused(save, sets):
    assert "cannot be images of shape (4, 4)" in refusal(
        save(X=as_cell(sets)), image_shape=(4, 4)
    )


def test_a_size_beyond_max_bytes_is_refused(save, sets):
    path = save(X=as_cell(sets))
    assert len(load_mat(path, max_bytes=10_000)) == 3
    assert "max_bytes=400" in refusal(path, max_bytes=400)


def test_no_file_a_folder_nothing_and_junk(tmp_path):
    path = tmp_path / "x.mat"
    assert "not there" in refusal(path)
    assert "a folder" in refusal(tmp_path)
    path.write_bytes(b"")
    assert "is empty" in refusal(path)
    path.write_bytes(b"junk" * 200)
    assert "no MATLAB file of version 5 to 7.3" in refusal(path)


@pytest.mark.parametrize(
    "parameters",
    [{"vectors": "cols"}, {"max_bytes": 0}, {"image_shape": 20}, {"image_shape": (20, 0)},
     {"variable": 3}, {"labels": [1]}],
)  # fmt: skip
def test_bad_parameters_are_refused_before_the_file_is_touched(parameters):
    with pytest.raises(ParameterError, match=next(iter(parameters))):
        load_mat("nowhere.mat", **parameters)


def test_without_h5py_the_extra_is_named(tmp_path, sets, monkeypatch):
    path = save_mat73(tmp_path / "a.mat", {"X": as_cell(sets)})
    monkeypatch.setitem(__import__("sys").modules, "h5py", None)
    with pytest.raises(MissingExtraError, match=r"setwise\[mat\]"):
        load_mat(path)


def damaged(content, rng):
    """A copy cut short, or with up to eight bytes changed."""
    if rng.random() < 0.2:
        return content[: rng.integers(len(content))]
    copy = bytearray(content)
    for at in rng.integers(len(content), size=rng.integers(1, 9)):
        copy[at] = rng.integers(256)
    return bytes(copy)


def test_damaged_files_load_or_are_refused(save, sets, tmp_path):
    content = save(X=as_cell(sets), y=as_cell(["a", "b", "c"])).read_bytes()
    path = tmp_path / "damaged.mat"
    rng = np.random.default_rng(0)
    n_refused = 0
    for _ in range(N_FUZZ):
        path.write_bytes(damaged(content, rng))
        try:
            load_mat(path, "X", labels="y", max_bytes=2**24)
        except DataError:
            n_refused += 1
    assert n_refused > N_FUZZ // 10


@pytest.mark.data
def test_the_eth80_file_of_others_agrees_with_ours(real):
    """80 sets of 41 images each, in another order, scaled down by another program."""
    import datasets

    folder = datasets.data_folder()
    path = folder / "originals" / "demo-ETH.mat"
    if not path.is_file():
        pytest.skip(f"{path} is not there")
    batch = load_mat(path, ["ETH_train", "ETH_test"], image_shape=(20, 20))
    ours = real("eth80").sets
    assert batch.sizes.tolist() == [41] * 80
    theirs = batch.vectors.reshape(80, 41, 400)
    mine = ours.vectors.astype(float).reshape(80, 41, 400)
    _, partner = linear_sum_assignment(cdist(theirs.mean(axis=1), mine.mean(axis=1)))
    differences = []
    for i, j in enumerate(partner):
        away = cdist(theirs[i], mine[j], "cityblock") / 400
        differences.append(away[linear_sum_assignment(away)].mean())
    assert np.mean(differences) < 1.0  # grey levels; 0.19 measured
    assert np.max(differences) < 1.0


@pytest.fixture
def samples():
    """Seven samples of three features, whose classes and groups are mixed."""
    X = np.arange(21.0).reshape(7, 3)
    return X, np.array([1, 2, 1, 2, 1, 3, 3]), np.array([10, 20, 11, 20, 10, 30, 30])


@pytest.mark.parametrize("side", ["rows", "columns"])
def test_a_matrix_with_labels_is_one_set_per_class(save, samples, side):
    X, gnd, _ = samples
    path = save(fea=X if side == "rows" else X.T, gnd=gnd[:, None].astype(float))
    batch = load_mat(path, "fea", labels="gnd")
    assert batch.names == ("1", "2", "3")
    assert batch.labels.tolist() == [1, 2, 3]
    assert batch[0].tolist() == X[[0, 2, 4]].tolist()
    assert batch.vectors.flags.c_contiguous
    expected = f"'fea' with 'gnd': one set per class, vectors are {side}"
    assert batch.report.layout == expected
    assert batch.origins is None


def test_a_matrix_with_labels_and_groups(save, samples):
    X, gnd, groups = samples
    path = save(X=X, gnd=gnd, clip=groups)
    batch = load_mat(path, "X", labels="gnd", groups="clip")
    assert batch.names == ("10", "20", "11", "30")
    assert batch.labels.tolist() == [1, 2, 1, 3]
    assert batch[0].tolist() == X[[0, 4]].tolist()
    assert load_mat(path, "X", groups="clip").labels is None


def test_the_matrix_need_not_be_named_where_there_is_one(save, samples):
    X, gnd, groups = samples
    path = save(X=X, gnd=gnd, clip=groups)
    assert load_mat(path, labels="gnd").names == ("1", "2", "3")
    assert load_mat(path, groups="clip").names == ("10", "20", "11", "30")
    text = refusal(path)
    assert "needs a variable" in text
    assert "labels=" in text
    two = save(X=X, Y=X, gnd=gnd)
    assert "needs a variable" in refusal(two, labels="gnd")


def test_groups_may_be_text(save, samples):
    X, gnd, _ = samples
    path = save(X=X, gnd=gnd, clip=as_cell(list("abcbadd")))
    batch = load_mat(path, "X", labels="gnd", groups="clip")
    assert batch.names == ("a", "b", "c", "d")


def test_images_of_a_matrix_are_upright(save):
    upright = np.arange(24.0).reshape(2, 3, 4)
    X = np.stack([image.ravel(order="F") for image in upright])
    batch = load_mat(save(X=X, y=np.array([1.0, 2.0])), "X", labels="y", image_shape=(3, 4))
    np.testing.assert_array_equal(batch.images, upright)


@pytest.mark.parametrize(
    ("changes", "parameters", "said"),
    [
        ({"gnd": np.ones(6)}, {}, "'X' of .* is 7x3, and 'gnd' has 6. Expected as many as r"),
        ({"X": np.eye(7)}, {}, "is 7x7, and 'gnd' has 7. Both would fit: say whether vectors="),
        ({}, {"vectors": "columns"}, "'gnd' has 7. Expected as many as columns"),
        ({}, {"groups": "few"}, "'gnd' has 7, 'few' has 2. Expected as many"),
        ({}, {"groups": "none"}, "has no variable 'none'"),
        ({}, {"groups": "X"}, "labels 'X' of .* is a double of size 7x3. Expected a numeric"),
        ({"clip": np.array([1, 1, 1, 2, 2, 3, 3])}, {"groups": "clip"},
         "set '1' has two labels, '1' and '2' .row 1"),
        ({"gnd": np.array([1, 2, np.nan, 2, 1, 3, 3])}, {}, "row 2 belongs to no set"),
        ({}, {"labels": ["gnd", "few"]}, "not known which samples belong together"),
        ({}, {"labels": None}, "not known which samples belong together"),
        ({"X": np.ones((7, 3, 2))}, {}, "Expected a cell array .*, or a full matrix"),
    ],
)  # fmt: skip
def test_matrices_that_do_not_tell_their_sets(save, samples, changes, parameters, said):
    X, gnd, _ = samples
    path = save(**{"X": X, "gnd": gnd.astype(float), "few": np.ones(2), **changes})
    with pytest.raises(DataError, match=rf"(?s)load_mat: .*{said}"):
        load_mat(path, "X", **{"labels": "gnd", **parameters})


def test_a_square_matrix_by_its_named_side(save):
    path = save(X=np.arange(9.0).reshape(3, 3), y=np.arange(1.0, 4.0))
    assert load_mat(path, "X", labels="y", vectors="rows")[0].tolist() == [[0, 1, 2]]
    assert load_mat(path, "X", labels="y", vectors="columns")[0].tolist() == [[0, 3, 6]]


def test_groups_of_cells_are_refused(save, sets):
    path = save(X=as_cell(sets), g=np.arange(3.0))
    assert "groups are for a matrix" in refusal(path, "X", groups="g")
    with pytest.raises(ParameterError, match="load_mat: groups must be the name of a variable"):
        load_mat(path, "X", groups=7)


def test_a_matrix_is_not_read_where_it_is_too_large(save, samples):
    X, gnd, _ = samples
    said = refusal(save(X=X, gnd=gnd), "X", labels="gnd", max_bytes=7 * 3 * 8 - 1)
    assert "variable 'X'" in said
    assert "max_bytes=167" in said
