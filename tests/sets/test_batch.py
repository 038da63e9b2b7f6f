"""SetBatch: a list of arrays in one block, and the ways to make one."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.decomposition import PCA
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import KFold, cross_val_score, train_test_split

from setwise.errors import DataError
from setwise.sets import SetBatch, check_sets


@pytest.fixture
def arrays():
    rng = np.random.default_rng(0)
    return [rng.standard_normal((size, 3)) for size in (2, 1, 4, 3)]


@pytest.fixture
def batch(arrays):
    return SetBatch.from_list(arrays, ["a", "b", "c", "d"], np.array([1, 0, 1, 0]))


def assert_holds(batch, arrays):
    assert len(batch) == len(arrays)
    for found, expected in zip(batch, arrays, strict=True):
        np.testing.assert_array_equal(found, expected)


def test_a_batch_behaves_like_the_list_it_was_made_of(batch, arrays):
    assert_holds(batch, arrays)
    assert batch.n_features == 3
    assert batch.shape == (4,)
    np.testing.assert_array_equal(batch.sizes, [2, 1, 4, 3])
    np.testing.assert_array_equal(batch[-1], arrays[-1])
    np.testing.assert_array_equal(batch[np.int64(2)], arrays[2])
    with pytest.raises(IndexError):
        batch[4]


def test_without_names_a_set_is_called_by_its_number(arrays):
    assert SetBatch.from_list(arrays).names == ("set 0", "set 1", "set 2", "set 3")


@pytest.mark.parametrize(
    ("key", "kept"),
    [
        (slice(1, 3), [1, 2]),
        (slice(None, None, -1), [3, 2, 1, 0]),
        ([2, 0, 2], [2, 0, 2]),
        (np.array([-1, 1]), [3, 1]),
        (np.array([True, False, False, True]), [0, 3]),
        ([], []),
        (slice(2, 2), []),
    ],
)
def test_indexing_by_many_gives_a_batch_with_names_and_labels(batch, arrays, key, kept):
    part = batch[key]
    assert isinstance(part, SetBatch)
    assert_holds(part, [arrays[i] for i in kept])
    assert part.names == tuple("abcd"[i] for i in kept)
    np.testing.assert_array_equal(part.labels, np.array([1, 0, 1, 0])[kept])
    assert part.n_features == 3


def test_take_is_indexing(batch, arrays):
    assert_holds(batch.take([3, 1]), [arrays[3], arrays[1]])
    assert SetBatch.from_list(arrays).take([0]).labels is None
    with pytest.raises(IndexError):
        batch.take([4])


def test_repr_says_how_much_there_is(batch):
    assert repr(batch) == "SetBatch of 4 sets of 1 to 4 vectors, 3 features"
    assert repr(batch[:0]) == "SetBatch of 0 sets of no vectors, 3 features"


@pytest.mark.parametrize(
    ("names", "labels", "culprit"),
    [(["a"], None, "expected 4 names.*got 1"), (None, [1, 2, 3], "expected 4 labels.*got 3")],
)
def test_names_and_labels_must_be_one_a_set(arrays, names, labels, culprit):
    with pytest.raises(DataError, match=culprit):
        SetBatch.from_list(arrays, names, labels)


def test_from_rows_makes_every_row_a_set():
    rows = SetBatch.from_rows(np.eye(3), names=["x", "y", "z"])
    assert_holds(rows, np.eye(3)[:, None])
    assert rows.names == ("x", "y", "z")


def test_from_groups_gathers_interleaved_rows_in_order_of_first_appearance():
    X = np.arange(10).reshape(5, 2)
    groups = SetBatch.from_groups(X, ["z", "a", "z", "m", "a"])
    assert groups.names == ("z", "a", "m")
    assert_holds(groups, [X[[0, 2]], X[[1, 4]], X[[3]]])


@given(st.lists(st.integers(0, 4), min_size=1, max_size=20))
def test_from_groups_equals_a_dictionary_of_rows(ids):
    X = np.arange(len(ids))[:, None]
    expected: dict[int, list[int]] = {}
    for row, group in enumerate(ids):
        expected.setdefault(group, []).append(row)
    batch = SetBatch.from_groups(X, ids)
    assert batch.names == tuple(map(str, expected))
    assert [set_.ravel().tolist() for set_ in batch] == list(expected.values())


@pytest.mark.parametrize(
    ("X", "groups", "culprit"),
    [
        (np.eye(3), [1, 2], r"one id for each of the 3 rows, got an array of shape \(2,\)"),
        (np.eye(3), [[1], [2, 3], [4]], "groups is ragged"),
        (np.eye(3), ["a", None, "b"], r"row 1 belongs to no set, its id is missing \(None\)"),
        (np.eye(3), ["a", "b", np.nan], "row 2 belongs to no set"),
        (np.eye(3), [0.0, np.nan, 1.0], "row 1 belongs to no set"),
        (np.eye(3), [0, "a", 1], "the set ids mix int and str"),
        (np.ones(3), [1, 2, 3], r"X has shape \(3,\)\. Expected a 2-D array"),
        ([[1, 2], [3]], [1, 2], "X is ragged"),
    ],
)
def test_from_groups_refuses_what_it_cannot_gather(X, groups, culprit):
    with pytest.raises(DataError, match=rf"^SetBatch\.from_groups: .*{culprit}"):
        SetBatch.from_groups(X, groups)


def test_from_rows_refuses_what_is_not_2d():
    with pytest.raises(DataError, match=r"^SetBatch\.from_rows: X has shape \(2, 2, 2\)"):
        SetBatch.from_rows(np.ones((2, 2, 2)))


FRAMES = pytest.mark.parametrize("library", [pd, pl], ids=["pandas", "polars"])
TABLE = {
    "clip": ["b", "a", "b", "c"],
    "x": [1.0, 2.0, 3.0, 4.0],
    "person": ["ben", "anna", "ben", "anna"],
    "y": [5, 6, 7, 8],
}


@FRAMES
def test_from_frame_reads_sets_and_labels_by_column(library):
    batch = SetBatch.from_frame(library.DataFrame(TABLE), set="clip", label="person")
    assert batch.names == ("b", "a", "c")
    assert batch.labels.tolist() == ["ben", "anna", "anna"]
    assert_holds(batch, [[[1, 5], [3, 7]], [[2, 6]], [[4, 8]]])


@FRAMES
def test_from_frame_without_label_takes_every_other_column_as_feature(library):
    frame = library.DataFrame({k: v for k, v in TABLE.items() if k != "person"})
    batch = SetBatch.from_frame(frame, set="clip")
    assert batch.labels is None
    assert batch.n_features == 2


def test_the_index_of_a_frame_does_not_matter():
    frame = pd.DataFrame(TABLE, index=[3, 3, 0, 9])
    assert_holds(
        SetBatch.from_frame(frame, set="clip", label="person"),
        [[[1, 5], [3, 7]], [[2, 6]], [[4, 8]]],
    )


@FRAMES
def test_a_missing_label_stays_missing(library):
    frame = library.DataFrame({**TABLE, "person": ["ben", None, "ben", "anna"]})
    labels = SetBatch.from_frame(frame, set="clip", label="person").labels
    assert [labels[0], labels[2]] == ["ben", "anna"]
    assert labels[1] is None or labels[1] != labels[1]


@FRAMES
@pytest.mark.parametrize(
    ("changes", "culprit"),
    [
        ({"person": ["ben", "anna", "eva", "anna"]}, "set 'b' has two labels, 'ben' and 'eva'"),
        ({"person": ["ben", "anna", None, "anna"]}, "set 'b' has two labels, 'ben' and"),
        ({"clip": ["b", None, "b", "c"]}, "row 1 belongs to no set"),
        ({"clip": None}, "there is no column 'clip'; the columns are 'x', 'person', 'y'"),
        ({"person": None}, "there is no column 'person'; the columns are 'clip', 'x', 'y'"),
        ({"x": None, "y": None}, "no feature columns beside 'clip', 'person'"),
    ],
)
def test_from_frame_refuses_frames_that_do_not_describe_sets(library, changes, culprit):
    table = {k: v for k, v in {**TABLE, **changes}.items() if v is not None}
    with pytest.raises(DataError, match=rf"^SetBatch\.from_frame: .*{culprit}"):
        SetBatch.from_frame(library.DataFrame(table), set="clip", label="person")


def test_train_test_split_keeps_sets_whole_and_labels_beside_them(batch, arrays):
    train, test, y_train, y_test = train_test_split(
        batch, batch.labels, test_size=2, random_state=0
    )
    for part, y in ((train, y_train), (test, y_test)):
        assert isinstance(part, SetBatch)
        np.testing.assert_array_equal(part.labels, y)
        assert_holds(part, [arrays["abcd".index(name)] for name in part.names])
    assert sorted(train.names + test.names) == ["a", "b", "c", "d"]


def test_cross_validation_indexes_a_batch(batch, arrays):
    tested = []
    for train, test in KFold(2).split(batch):
        assert_holds(batch[train], [arrays[i] for i in train])
        tested += batch[test].names
    assert tested == ["a", "b", "c", "d"]
    scores = cross_val_score(DummyClassifier(), batch, batch.labels, cv=2)
    np.testing.assert_array_equal(scores, [0.5, 0.5])


def test_images_keep_their_shape_through_slices_and_joins():
    batch = SetBatch.from_images([np.full((3, 4, 5), 2.0), np.ones((2, 4, 5))], ["a", "b"])
    assert batch.image_shape == (4, 5)
    assert batch.images.shape == (5, 4, 5)
    assert batch[[1]].image_shape == batch[:0].image_shape == (4, 5)
    assert SetBatch.join([batch, batch]).image_shape == (4, 5)
    vectors = SetBatch.from_rows(np.ones((2, 20)))
    assert SetBatch.join([batch, vectors]).image_shape is None
    assert check_sets(batch).image_shape == (4, 5)
    np.testing.assert_array_equal(batch[1].reshape(2, 4, 5), np.ones((2, 4, 5)))


def test_vectors_have_no_images():
    with pytest.raises(DataError, match="holds vectors, not images"):
        _ = SetBatch.from_rows(np.eye(3)).images


@pytest.mark.parametrize(
    ("sets", "words"),
    [
        ([], "no sets given"),
        ([[np.ones((3, 3)), np.ones((3, 4))]], "differ in size"),
        ([np.ones((2, 3))], r"set 0 has shape \(2, 3\)"),
        ([np.ones((2, 3, 3)), np.ones((2, 3, 4))], r"set 1 has shape \(2, 3, 4\).*set 0 has"),
        ([np.ones((2, 3, 3)), np.ones((2, 3, 3, 3))], "set 1 has shape"),
    ],
)
def test_what_are_no_images_is_refused_by_name(sets, words):
    with pytest.raises(DataError, match=words):
        SetBatch.from_images(sets)


def test_a_shape_that_the_vectors_do_not_have():
    with pytest.raises(DataError, match=r"20 features cannot be images of shape \(3, 3\)"):
        SetBatch(np.ones((1, 20)), np.array([0, 1]), image_shape=(3, 3))


def test_names_by_default_number_on_when_batches_are_joined():
    three, two = SetBatch.from_rows(np.ones((3, 2))), SetBatch.from_rows(np.ones((2, 2)))
    assert SetBatch.join([three, two]).names == SetBatch.from_rows(np.ones((5, 2))).names
    assert SetBatch.join([three, two, two]).names[-2:] == ("set 5", "set 6")
    named = SetBatch.from_rows(np.ones((2, 2)), ["anna", "set 0"])
    assert SetBatch.join([named, two]).names == ("anna", "set 0", "set 2", "set 3")
    assert SetBatch.join([two, named]).names == ("set 0", "set 1", "anna", "set 0")


def test_a_set_joined_after_others_were_taken_out_gets_a_name_of_its_own():
    left = SetBatch.from_rows(np.ones((4, 2)))[[0, 3]]
    joined = SetBatch.join([left, SetBatch.from_rows(np.ones((2, 2)))])
    assert joined.names == ("set 0", "set 3", "set 4", "set 5")


def test_columns_may_be_numbers():
    wide = pd.DataFrame(np.arange(12.0).reshape(4, 3)).assign(track=list("aabb"), person=1)
    batch = SetBatch.from_frame(wide, set="track", label="person")
    np.testing.assert_array_equal(batch.vectors, np.arange(12.0).reshape(4, 3))
    twice = pd.DataFrame(np.ones((2, 2)), columns=[1, "1"]).assign(track="a")
    with pytest.raises(DataError, match="two columns are called '1'"):
        SetBatch.from_frame(twice, set="track")


def test_a_lazy_frame_is_named_with_what_to_do():
    lazy = pl.DataFrame({"track": ["a"], "x": [1.0]}).lazy()
    with pytest.raises(
        DataError, match=r"got LazyFrame. Expected its rows: give frame.collect"
    ):
        SetBatch.from_frame(lazy, set="track")


def test_a_bare_transformer_of_rows_is_told_of_per_vector(batch):
    with pytest.raises(DataError, match=r"PerVector\(PCA\(50\)\)"):
        PCA(1).fit(batch)
