"""Every kind of item: JSON out, the same each time."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from paper.tests.small_sets import write_hands

from setwise_paper.kinds.classify import ClassifyItem, ExplainItem
from setwise_paper.kinds.distributions import DistributionsItem
from setwise_paper.kinds.gaussians import GaussiansItem
from setwise_paper.plan import perform
from setwise_paper.spec import Data, Feature, Recipe

DATA = Data(name="hands", feature=Feature(name="pixels", parameters={"size": (8, 12)}))
JUDGED = ClassifyItem(
    data=DATA, recipe=Recipe(of="CVC", parameters={"dims": (1, 2, 3)}), fold=0, seed=0
)
ITEMS = (
    JUDGED,
    ExplainItem(of=JUDGED, probes=(0, 2)),
    DistributionsItem(data=DATA, clusterer="skms", n_classes=3, draw=1, seed=0),
    GaussiansItem(distance=3, size=40, variance=2, draw=0, seed=0),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return write_hands(tmp_path_factory.mktemp("data"))


def outcome(item, folder):
    """The result as it is written down, without the times."""
    result = perform(item, folder)
    again = json.loads(json.dumps(result, allow_nan=False))
    assert again == result
    return {name: value for name, value in again.items() if not name.endswith("seconds")}


def test_results_are_plain_and_the_same_again_in_threads_and_from_json(folder):
    state = np.random.get_state()  # noqa: NPY002 (that nobody draws from it is the test)
    alone = [outcome(item, folder) for item in ITEMS]
    written = [type(item).model_validate_json(item.model_dump_json()) for item in ITEMS]
    with ThreadPoolExecutor(4) as pool:
        beside = list(pool.map(lambda item: outcome(item, folder), [*ITEMS, *written]))
    assert beside == alone + alone
    assert str(np.random.get_state()) == str(state)  # noqa: NPY002
