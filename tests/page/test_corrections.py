"""What people said about a heap: by hand, and what always holds."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("fastapi", reason='needs pip install "setwise[serve]"')
from setwise.page.start.corrections import Corrections, stacks

KEYS = list("abcdef")
SOME = st.lists(st.sampled_from(KEYS), min_size=1, max_size=4, unique=True)
SAID = st.lists(
    st.tuples(st.sampled_from(["same", "named", "different", "split", "out"]), SOME, SOME),
    max_size=8,
)


def shown(keys, labels, said):
    groups, unsure = stacks(keys, labels, said)
    return [([keys[i] for i in one.items], one.name) for one in groups], [
        keys[i] for i in unsure
    ]


def test_what_was_computed_is_shown_until_people_say_otherwise():
    labels = [0, 0, 1, 1, 2, -1]
    groups, unsure = shown(KEYS, labels, Corrections())
    assert groups == [(["a", "b"], None), (["c", "d"], None)]
    assert unsure == ["e"]  # f was not looked at yet


def test_a_correction_shows_before_anything_is_computed_again():
    labels = [0, 0, 1, 1, 2, 2]
    said = Corrections().named(["a", "b"], "Anna")
    assert shown(KEYS, labels, said)[0][0] == (["a", "b"], "Anna")
    said = said.same(["b", "c"])
    assert shown(KEYS, labels, said)[0][0] == (["a", "b", "c", "d"], "Anna")
    out = said.out(["d"], ["a", "b", "c"])
    assert shown(KEYS, labels, out) == ([(["a", "b", "c"], "Anna"), (["e", "f"], None)], ["d"])


def test_a_name_that_is_given_twice_is_one_person():
    said = Corrections().named(["a"], "Anna").named(["c"], "Bo").named(["e"], "Anna")
    assert shown(KEYS, [0, 1, 2, 3, 4, 5], said)[0] == [(["a", "e"], "Anna"), (["c"], "Bo")]
    assert said.named(["a", "e"], None).names == {said.groups["c"]: "Bo"}


def test_groups_that_are_not_the_same_stay_apart_though_computed_as_one():
    said = Corrections().different(["a", "b"], ["c"])
    groups, unsure = shown(KEYS[:3], [0, 0, 0], said)
    assert (groups, unsure) == ([(["a", "b"], None)], ["c"])


def test_a_group_that_was_settled_is_split():
    said = Corrections().named(["a", "b", "c", "d"], "Anna").split(["c", "d"], ["a", "b"])
    groups, unsure = shown(KEYS[:4], [0, 0, 0, 0], said)
    assert (groups, unsure) == ([(["a", "b"], "Anna"), (["c", "d"], None)], [])


@given(SAID, st.lists(st.integers(-1, 3), min_size=6, max_size=6))
def test_each_item_is_shown_once_and_all_can_be_written(acts, labels):
    said = Corrections()
    for how, some, others in acts:
        others = [key for key in others if key not in some]
        if how == "same":
            said = said.same(some)
        elif how == "named":
            said = said.named(some, "Anna" if len(some) % 2 else "Bo")
        elif others:
            said = getattr(said, how)(some, others)
    groups, unsure = stacks(KEYS, labels, said)
    seen = [i for one in groups for i in one.items] + unsure
    assert len(seen) == len(set(seen))
    assert {i for i in range(6) if labels[i] >= 0 or KEYS[i] in said.groups} <= set(seen)
    assert all((key, n) not in said.apart for key, n in said.groups.items())
    assert Corrections.of_dict(json.loads(json.dumps(said.to_dict()))) == said
    names = [one.name for one in groups if one.name]
    assert len(names) == len(set(names))
