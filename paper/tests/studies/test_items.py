"""Keys and seeds depend on what an item says, and on nothing else."""

from __future__ import annotations

import pickle

from hypothesis import given
from hypothesis import strategies as st

from setwise_paper.plan import key_of, seed_for
from setwise_paper.kinds.classify import ClassifyItem, Outliers
from setwise_paper.kinds.distributions import DistributionsItem
from setwise_paper.kinds.classify import ExplainItem
from setwise_paper.kinds.gaussians import GaussiansItem
from setwise_paper.spec import Data, Recipe

CLASSIFY = ClassifyItem(data=Data(name="eth80"), recipe=Recipe(of="CVC"), fold=0, seed=0)
ITEMS = (
    CLASSIFY,
    ExplainItem(of=CLASSIFY, probes=(1, 2)),
    DistributionsItem(data=Data(name="eth80"), clusterer="ssc", n_classes=5, draw=1, seed=0),
    GaussiansItem(distance=2, size=100, variance=2.0, draw=0, seed=0),
)


def test_items_are_read_as_they_were_written():
    for item in ITEMS:
        assert type(item).model_validate_json(item.model_dump_json()) == item


def test_items_are_small_to_send():
    assert all(len(pickle.dumps(item)) < 10_000 for item in ITEMS)


def test_everything_an_item_says_is_in_its_key():
    changes = [
        {"data": Data(name="eth80", n_vectors=3)},
        {"recipe": Recipe(of="CVC", parameters={"cut": "exact"})},
        {"recipe": Recipe(of="MSM")},
        {"fold": 1},
        {"seed": 1},
        {"n_probes": 4},
        {"outliers": Outliers(into="probes", n=1)},
    ]
    keys = {key_of(CLASSIFY.model_copy(update=change), "code") for change in changes}
    assert len(keys | {key_of(CLASSIFY, "code"), key_of(CLASSIFY, "other code")}) == 9
    assert key_of(CLASSIFY, "code") == key_of(CLASSIFY.model_copy(), "code")


@given(
    st.integers(0, 2**32 - 1),
    st.lists(st.one_of(st.text(), st.integers()), min_size=1, max_size=4, unique=True),
)
def test_seeds_are_their_own_and_stay(seed, words):
    found = seed_for(seed, *words)
    assert found == seed_for(seed, *words)
    assert 0 <= found < 2**31
    assert found != seed_for(seed, *words, "more")


def test_seeds_of_ten_thousand_purposes_hardly_meet():
    seeds = {seed_for(0, "eth80", fold, f"m{i}") for fold in range(100) for i in range(100)}
    assert len(seeds) > 9_990
