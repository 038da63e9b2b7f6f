"""The input gate: everything comes out as one valid batch, or as one DataError."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.exceptions import DataConversionWarning
from tests.helpers import fingerprint

from setwise.errors import DataError
from setwise.sets import SetBatch, check_labels, check_sets

ONE = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
TWO = np.array([[7.0, 8.0]])


def with_value(value):
    """A set whose vector 1, feature 0 is ``value``."""
    changed = ONE.copy()
    changed[1, 0] = value
    return changed


def of_objects(*sets):
    array = np.empty(len(sets), dtype=object)
    array[:] = sets
    return array


ACCEPTED = {
    "list": lambda: [ONE, TWO],
    "tuple": lambda: (ONE, TWO),
    "generator": lambda: (array for array in [ONE, TWO]),
    "array of arrays": lambda: of_objects(ONE, TWO),
    "nested lists": lambda: [ONE.tolist(), TWO.tolist()],
    "data frames": lambda: [pd.DataFrame(ONE), pl.DataFrame(TWO)],
    "series of arrays": lambda: pd.Series([ONE, TWO]),
    "batch": lambda: SetBatch.from_list([ONE, TWO]),
}


@pytest.mark.parametrize("form", ACCEPTED)
def test_every_form_of_sets_gives_the_same_batch(form):
    batch = check_sets(ACCEPTED[form]())
    assert isinstance(batch, SetBatch)
    assert batch.names == ("set 0", "set 1")
    np.testing.assert_array_equal(batch.vectors, np.vstack([ONE, TWO]))
    np.testing.assert_array_equal(batch.offsets, [0, 3, 4])


def test_a_3d_array_is_sets_of_equal_size():
    batch = check_sets(np.arange(1, 13).reshape(2, 3, 2))
    np.testing.assert_array_equal(batch.sizes, [3, 3])
    np.testing.assert_array_equal(batch[1], [[7, 8], [9, 10], [11, 12]])


def test_names_and_labels_of_a_batch_survive():
    batch = check_sets(SetBatch.from_list([ONE, TWO], ["anna", "ben"], np.array([1, 2])))
    assert batch.names == ("anna", "ben")
    np.testing.assert_array_equal(batch.labels, [1, 2])


def read_only(array):
    locked = array.copy()
    locked.flags.writeable = False
    return locked


LAYOUTS = {
    "read-only": read_only,
    "Fortran": np.asfortranarray,
    "every other": lambda a: np.repeat(np.repeat(a, 2, axis=0), 3, axis=1)[::2, ::3],
    "reversed": lambda a: np.ascontiguousarray(a[::-1, ::-1])[::-1, ::-1],
    "big-endian": lambda a: a.astype(">f8"),
    "float16": lambda a: a.astype(np.float16),
    "float32": lambda a: a.astype(np.float32),
    "longdouble": lambda a: a.astype(np.longdouble),
    "int8": lambda a: a.astype(np.int8),
    "uint64": lambda a: a.astype(np.uint64),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_layout_and_precision_do_not_matter_and_the_input_stays_as_it_was(layout):
    given_set = LAYOUTS[layout](ONE)
    before = fingerprint(given_set)
    batch = check_sets([given_set, TWO])
    assert batch.vectors.dtype == np.float64
    assert batch.vectors.flags.c_contiguous
    np.testing.assert_array_equal(batch[0], ONE)
    batch.vectors[:] = -1
    assert fingerprint(given_set) == before


def test_a_batch_given_is_copied_too():
    original = SetBatch.from_list([ONE, TWO])
    before = fingerprint(original.vectors, original.offsets)
    check_sets(original).vectors[:] = -1
    assert fingerprint(original.vectors, original.offsets) == before


def test_a_memmap_is_read(tmp_path):
    stored = np.memmap(tmp_path / "set.bin", dtype=np.float64, mode="w+", shape=ONE.shape)
    stored[:] = ONE
    stored.flush()
    read = np.memmap(tmp_path / "set.bin", dtype=np.float64, mode="r", shape=ONE.shape)
    np.testing.assert_array_equal(check_sets([read])[0], ONE)


@pytest.mark.parametrize(
    ("given_set", "expected"),
    [
        (np.array([[True, False]]), [[1.0, 0.0]]),
        (np.array([[2**64 - 1]], dtype=np.uint64), [[2.0**64]]),
        (np.array([[-(2**63)]]), [[-(2.0**63)]]),
        (np.array([[0.0, 0.0], [1.0, 0.0]]), [[0.0, 0.0], [1.0, 0.0]]),
        (np.array([[3.0]]), [[3.0]]),
        (np.array([[1.0, 1.0], [1.0, 1.0]]), [[1.0, 1.0], [1.0, 1.0]]),
        (np.array([[1e149]]), [[1e149]]),
        (np.array([[1e-149, 1e-300]]), [[1e-149, 1e-300]]),
        (np.ma.masked_array([[1.0]], mask=[[False]]), [[1.0]]),
    ],
    ids=[
        "bool",
        "huge ints",
        "negative ints",
        "zero vector inside",
        "one vector of one feature",
        "constant",
        "large",
        "small",
        "masked array, nothing masked",
    ],
)
def test_odd_but_usable_sets_are_used_as_they_are(given_set, expected):
    np.testing.assert_array_equal(check_sets([given_set]).vectors, expected)


REFUSED_WHOLE = {
    "empty list": ([], "no sets given"),
    "empty 3-D array": (np.empty((0, 3, 2)), "no sets given"),
    "empty batch": (SetBatch.from_rows(ONE)[:0], "no sets given"),
    "sparse matrix": (sp.csr_array(ONE), r"sparse matrix.*`\.toarray\(\)`"),
    "2-D array": (ONE, r"2-D array of shape \(3, 2\).*\[X\].*SetBatch\.from_rows\(X\)"),
    "1-D array": (ONE[0], "a 1-D array"),
    "4-D array": (np.ones((2, 2, 2, 2)), "a 4-D array.*from_images"),
    "0-D array": (np.array(1.0), "a 0-D array"),
    "0-D object array": (np.array(None, dtype=object), "a 0-D array"),
    "pandas frame": (pd.DataFrame(ONE), r"data frame.*SetBatch\.from_frame"),
    "polars frame": (pl.DataFrame(ONE), r"data frame.*SetBatch\.from_frame"),
    "lazy frame": (pl.LazyFrame({"a": [1.0]}), "LazyFrame was given"),
    "dict": ({"anna": ONE}, "dict was given"),
    "str": ("anna", "str was given"),
    "bytes": (b"anna", "bytes was given"),
    "None": (None, "NoneType was given"),
    "number": (3, "int was given"),
}
REFUSED_SET = {
    "no vectors": (np.empty((0, 2)), r"no vectors \(shape \(0, 2\)\).*leave the set out"),
    "no features": (np.empty((3, 0)), r"no features \(shape \(3, 0\)\).*leave the set out"),
    "NaN": (with_value(np.nan), "contains NaN .vector 1, feature 0; 1 such"),
    "inf": (with_value(np.inf), "contains inf .vector 1, feature 0"),
    "-inf": (with_value(-np.inf), "contains inf .vector 1, feature 0"),
    "overflowing longdouble": (
        np.full((1, 2), np.finfo(np.longdouble).max),
        "contains inf|values up to",
    ),
    "too large": (with_value(1e160), r"1e\+160, whose squares overflow.*rescale"),
    "too small": (np.full((2, 2), 1e-200), "1e-200, whose squares underflow.*rescale"),
    "object": (ONE.astype(object), "holds Python objects.*astype"),
    "ints beyond 64 bits": ([[10**30, 1]], "holds Python objects.*astype"),
    "complex": (ONE.astype(complex), "holds complex numbers.*astype"),
    "strings": (ONE.astype(str), "holds strings.*astype"),
    "bytes": (ONE.astype("S3"), "holds bytes.*astype"),
    "dates": (np.zeros((2, 2), "datetime64[s]"), "holds something other.*astype"),
    "sparse": (sp.csr_array(ONE), r"is a sparse matrix.*`\.toarray\(\)`"),
    "masked": (np.ma.masked_equal(ONE, 3.0), r"masked values.*\.filled"),
    "ragged": ([[1.0, 2.0], [3.0]], "is ragged.*one size"),
    "all zero": (np.zeros((3, 2)), r"nothing but zeros \(3 vectors\).*leave the set out"),
    "1-D": (ONE[0], r"shape \(2,\).*x\.reshape\(1, -1\)"),
    "3-D": (np.ones((2, 3, 4)), r"shape \(2, 3, 4\).*SetBatch\.from_images"),
    "number": (1.5, r"shape \(\).*\[X\]"),
    "None": (None, r"shape \(\).*\[X\]"),
    "other features": (np.ones((4, 3)), r"3 features \(shape \(4, 3\)\), but set 0 has 2"),
    "transposed": (np.ones((2, 5)), r"5 features.*but set 0 has 2.*Pass `\.T`"),
}


@pytest.mark.parametrize("case", REFUSED_WHOLE)
def test_what_is_no_sequence_of_sets_is_refused_whole(case):
    X, culprit = REFUSED_WHOLE[case]
    with pytest.raises(DataError, match=rf"^CVC\.fit: .*{culprit}"):
        check_sets(X, caller="CVC.fit")


@pytest.mark.parametrize("case", REFUSED_SET)
@pytest.mark.parametrize("position", [1, 2])
def test_a_bad_set_is_refused_by_its_number(case, position):
    bad, culprit = REFUSED_SET[case]
    sets = [ONE, TWO, TWO]
    sets[position] = bad
    with pytest.raises(DataError, match=rf"^CVC\.fit: set {position} .*{culprit}"):
        check_sets(sets, caller="CVC.fit")


@pytest.mark.parametrize("case", [*REFUSED_WHOLE, *REFUSED_SET])
def test_every_refusal_names_culprit_and_expectation_and_says_what_to_do(case):
    X = REFUSED_WHOLE[case][0] if case in REFUSED_WHOLE else [ONE, REFUSED_SET[case][0]]
    with pytest.raises(DataError) as refusal:
        check_sets(X, caller="CVC.fit")
    message = str(refusal.value)
    assert re.match(r"CVC\.fit: (set 1 |no sets given|.* was given)", message)
    assert re.search(r"Expected|, but set 0 has \d+\.", message)
    assert re.search(
        r"use |[Ww]rap|leave the set out|drop the vector|rescale|convert|bring all|write |"
        r"Pass |must come from|[Mm]ake |Expected a list of",
        message,
    )
    assert message.endswith(".")


@pytest.mark.parametrize("case", ["NaN", "inf", "complex", "all zero", "3-D", "transposed"])
def test_refused_arrays_stay_as_they_were(case):
    bad = REFUSED_SET[case][0]
    before = fingerprint(bad)
    with pytest.raises(DataError):
        check_sets([ONE, bad])
    assert fingerprint(bad) == before


def test_the_name_of_a_set_replaces_its_number():
    batch = SetBatch.from_list([ONE, with_value(np.nan)], names=["anna/1", "ben/7"])
    with pytest.raises(DataError, match=r"^CVC\.fit: ben/7 contains NaN"):
        check_sets(batch, caller="CVC.fit")


def test_probes_must_have_the_features_of_the_gallery():
    with pytest.raises(DataError, match=r"set 0 has 2 features.*but the gallery has 5"):
        check_sets([ONE], n_features=5)
    with pytest.raises(DataError, match=r"but the gallery has 3\. Is it transposed\? Pass"):
        check_sets([ONE], n_features=3)
    assert check_sets([ONE], n_features=2).n_features == 2


@given(
    st.lists(
        hnp.arrays(
            hnp.scalar_dtypes(),
            hnp.array_shapes(min_dims=0, max_dims=4, min_side=0, max_side=3),
        ),
        max_size=3,
    )
)
def test_any_arrays_give_a_valid_batch_or_a_data_error(arrays):
    try:
        batch = check_sets(arrays)
    except DataError:
        return
    assert batch.vectors.dtype == np.float64
    assert np.isfinite(batch.vectors).all()
    assert (batch.sizes >= 1).all()
    assert all(set_.any() for set_ in batch)
    assert len(batch) == len(arrays)


GOOD_LABELS = {
    "strings": (["b", "a", "b"], ["a", "b"], [1, 0, 1]),
    "negative ints": ([-1, -7, -1], [-7, -1], [1, 0, 1]),
    "bool": ([True, False, True], [False, True], [1, 0, 1]),
    "whole floats": ([2.0, 1.0, 2.0], [1.0, 2.0], [1, 0, 1]),
    "bytes": ([b"b", b"a", b"b"], [b"a", b"b"], [1, 0, 1]),
    "objects": (np.array(["b", "a", "b"], dtype=object), ["a", "b"], [1, 0, 1]),
    "series": (pd.Series(["b", "a", "b"]), ["a", "b"], [1, 0, 1]),
    "polars": (pl.Series(["b", "a", "b"]), ["a", "b"], [1, 0, 1]),
    "zero characters": (["a\0", "a", "a\0"], ["a", "a\0"], [1, 0, 1]),
    "ints no float can tell apart": (
        [2**53 + 1, 2.0**53, 2**53 + 1],
        [2**53, 2**53 + 1],
        [1, 0, 1],
    ),
    "signed and unsigned": ([2**63 + 1, -1, 2**63], [-1, 2**63, 2**63 + 1], [2, 0, 1]),
    "huge ints": ([10**30, 1, 10**30], [1, 10**30], [1, 0, 1]),
}


@pytest.mark.parametrize("kind", GOOD_LABELS)
def test_labels_become_sorted_classes_and_codes(kind):
    y, expected_classes, expected_codes = GOOD_LABELS[kind]
    classes, codes = check_labels(y, 3, caller="CVC.fit")
    assert classes.tolist() == expected_classes
    assert codes.tolist() == expected_codes
    assert codes.dtype == np.int64


@pytest.mark.parametrize("y", [[[5], [3], [5]], np.array([["b"], ["a"], ["b"]], dtype=object)])
def test_a_column_of_labels_is_read_with_scikit_learns_warning(y):
    with pytest.warns(DataConversionWarning, match="column-vector y"):
        classes, codes = check_labels(y, 3, caller="CVC.fit")
    assert codes.tolist() == [1, 0, 1]
    assert len(classes) == 2


BAD_LABELS = {
    "None": (None, "y is None"),
    "too few": (["a", "b"], r"one label for each of the 3 sets.*shape \(2,\)"),
    "too many": (["a"] * 4, r"one label for each of the 3 sets.*shape \(4,\)"),
    "a number": (1, r"one label for each of the 3 sets.*shape \(\)"),
    "two columns": (np.ones((3, 2)), r"one label for each of the 3 sets.*shape \(3, 2\)"),
    "ragged": ([["a"], ["b", "c"], ["d"]], "y is ragged"),
    "single class": (["a", "a", "a"], "all 3 sets have the label 'a'.*at least two"),
    "NaN": ([1.0, np.nan, 2.0], "label 1 is nan"),
    "inf": ([1.0, np.inf, 2.0], "label 1 is inf"),
    "None among strings": (["a", None, "b"], r"label 1 is missing \(None\)"),
    "NaN among strings": (["a", np.nan, "b"], r"label 1 is missing \(nan\)"),
    "NaN among objects": (np.array(["a", "b", np.nan], dtype=object), "label 2 is missing"),
    "NA": (pd.array(["a", pd.NA, "b"], dtype="string"), "label 1 is missing"),
    "NA among ints": (pd.array([1, pd.NA, 2]), "label 1 is (nan|missing)"),
    "NaT": (np.array(["2026-01-01", "NaT", "2026-01-02"], "M8[D]"), "label 1 is missing"),
    "ints and strings": ([1, "a", 1], "labels mix int and str"),
    "truths and ints": ([True, 1, 0], "labels mix bool and int"),
    "truths and floats": ([True, 1.0, 0.0], "labels mix bool and float"),
    "truths among objects": (np.array([True, 1, 0], dtype=object), "labels mix bool and int"),
    "mixed objects": (np.array([1, "a", 1], dtype=object), "labels mix int and str"),
    "arrays": (of_objects(np.ones(2), np.ones(3), np.ones(2)), "labels mix ndarray"),
    "continuous": ([0.5, 1.5, 0.5], "Unknown label type: y is continuous"),
}


@pytest.mark.parametrize("kind", BAD_LABELS)
def test_unusable_labels_are_refused(kind):
    y, culprit = BAD_LABELS[kind]
    with pytest.raises(DataError, match=rf"^CVC\.fit: .*{culprit}") as refusal:
        check_labels(y, 3, caller="CVC.fit")
    assert re.search("Expected|must", str(refusal.value))


@pytest.mark.parametrize("y", [np.array(["b", "a", "b"]), np.array([2.0, 1.0, 2.0])])
def test_labels_given_stay_as_they_were(y):
    before = fingerprint(y)
    check_labels(y, 3, caller="CVC.fit")
    assert fingerprint(y) == before


@given(
    st.lists(
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text("ab ", max_size=2)
        ),
        min_size=1,
        max_size=5,
    )
)
def test_any_labels_give_classes_or_a_data_error(y):
    try:
        classes, codes = check_labels(y, len(y), caller="CVC.fit")
    except DataError:
        return
    assert len(classes) >= 2
    assert [classes[code] for code in codes] == y
