"""Labels are joined and compared as they are: none is changed into another."""

from __future__ import annotations

import datetime

import numpy as np
import pytest

from setwise.errors import DataError
from setwise.sets.labels import join_labels, same_label, typed_label

BIG = 2**53
JOINED = {
    "ints": ([BIG, BIG + 1], [7]),
    "ints of both signs": ([-1], np.array([2**63 + 1, 2**63], dtype=np.uint64)),
    "short and long ints": (np.array([1], dtype=np.int8), [10**6]),
    "floats": ([1.0], np.array([2.0], dtype=np.float32)),
    "strings": (["a"], ["longer"]),
    "strings and objects": (["a"], np.array(["a\0"], dtype=object)),
    "bytes": ([b"a"], [b"bc"]),
    "truths": ([True], [False]),
    "huge ints": (np.array([10**30], dtype=object), [1]),
    "days": (np.array(["2020-01-01"], "M8[D]"), np.array(["2021-01-01"], "M8[D]")),
    "days and hours": (np.array(["2020-01-01"], "M8[D]"), np.array(["2021-01-01T07"], "M8[h]")),
}


@pytest.mark.parametrize("case", JOINED)
def test_labels_of_one_kind_are_joined_unchanged(case):
    old, new = map(np.asarray, JOINED[case])
    joined = join_labels(old, new, "CVC.enroll")
    for found, given in zip(joined, [*old, *new], strict=True):
        assert found == given
        assert same_label(joined, given).tolist().count(True) == 1
    assert len(set(joined.tolist())) == len(joined)


OF_TWO_KINDS = {
    "ints and floats": ([BIG, BIG + 1, 5], [7.0]),
    "truths and ints": ([True, False], [2]),
    "strings and ints": (["a"], [1]),
    "strings and bytes": (["a"], [b"a"]),
    "dates and ints": (np.array(["2020-01-01"], "M8[D]"), [3]),
    "far days and nanoseconds": (
        np.array(["3000-01-01"], "M8[D]"),
        np.array(["2000-01-01"], "M8[ns]"),
    ),
}


@pytest.mark.parametrize("case", OF_TWO_KINDS)
@pytest.mark.parametrize("is_swapped", [False, True])
def test_labels_that_no_type_holds_are_refused_by_both_names(case, is_swapped):
    old, new = map(np.asarray, OF_TWO_KINDS[case][:: -1 if is_swapped else 1])
    with pytest.raises(DataError) as refusal:
        join_labels(old, new, "CVC.enroll")
    assert str(refusal.value).startswith(
        f"CVC.enroll: the labels are of dtype {new.dtype}, those of the gallery of dtype "
        f"{old.dtype}. Expected"
    )


@pytest.mark.parametrize(
    ("labels", "label", "expected"),
    [
        ([1, 0, 1], 1, [True, False, True]),
        ([1, 0, 1], np.uint8(1), [True, False, True]),
        ([1, 0, 1], True, [False, False, False]),
        ([1, 0, 1], 1.0, [False, False, False]),
        ([1, 0, 1], "1", [False, False, False]),
        ([True, False], 1, [False, False]),
        ([True, False], np.True_, [True, False]),
        ([1.0, 2.0], 2.0, [False, True]),
        (["a", "b"], "a\0", [False, False]),
        (["a", "b"], "b", [False, True]),
        ([1, 2], np.array([1, 2]), [False, False]),
        ([1, 2], np.array(1), [False, False]),
        ([1, 2], None, [False, False]),
        (np.array(["2020-01-01"], "M8[D]"), datetime.date(2020, 1, 1), [True]),
        (np.array(["2020-01-01"], "M8[D]"), 18262, [False]),
    ],
)
def test_a_label_is_found_among_those_of_its_kind(labels, label, expected):
    found = same_label(np.asarray(labels), label)
    assert found.dtype == bool
    assert found.tolist() == expected


TYPED = [
    (["anna", "\u00e9va"], "  anna ", "anna"),
    (["anna", "\u00e9va"], "e\u0301va", "\u00e9va"),
    (["anna", "bert"], " dora", "dora"),
    ([3, 1000], " 1000 ", 1000),
    (np.array([3, 5], dtype=np.int8), "1000", 1000),
    (np.array([3, 2**63], dtype=np.uint64), str(2**63 + 1), 2**63 + 1),
    ([3, 5], "-7", -7),
    ([3.0, 5.0], "7.0", 7.0),
    (np.array(["anna", "bert"], dtype=object), "dora", "dora"),
    ([True, False], "True", True),
]


@pytest.mark.parametrize(("classes", "given", "label"), TYPED)
def test_a_typed_name_becomes_a_label_of_the_gallery_s_type(classes, given, label):
    found = typed_label(given, np.asarray(classes))
    assert found == label
    assert type(found) is type(label)


@pytest.mark.parametrize(
    ("classes", "given", "words"),
    [
        (["a", "b"], " ", "1 to 100 letters"),
        (["a", "b"], "a\x1bb", "control characters"),
        (["a", "b"], "x" * 101, "1 to 100 letters"),
        (["a", "b"], " unknown ", "the answer for unknown sets"),
        ([1, 2], "1_000", "whole numbers"),
        ([1, 2], "9" * 20, "whole numbers"),
        ([1.0, 2.0], "1.5", "whole numbers"),
        ([1.0, 2.0], "1e999", "whole numbers"),
        ([True, False], "maybe", "dtype bool"),
    ],
)
def test_a_typed_name_that_can_be_no_label_is_refused(classes, given, words):
    with pytest.raises(DataError, match=rf"^--label: .*{words}"):
        typed_label(given, np.asarray(classes), "unknown", "--label: ")
