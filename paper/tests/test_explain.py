"""Why some probes got their labels."""

from __future__ import annotations

import json

import numpy as np
import pytest
from paper.tests.small_sets import write_hands, write_objects

from setwise.classify import Explanation
from setwise.errors import DataError, ParameterError
from setwise.features import unit_rows
from setwise_paper.data import read_data
from setwise_paper.kinds.classify import MOST_PAIRS, ClassifyItem, ExplainItem, Outliers
from setwise_paper.plan import perform
from setwise_paper.spec import Data, Recipe

DATA = Data(name="hands")
OBJECTS = Data(name="objects", protocol="pairs")
PARAMETERS = {"dims": [1, 2, 3]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_hands(tmp_path_factory.mktemp("data"))
    return write_objects(folder, n_classes=8, n_sets=2, n_views=10, size=10)


def judged(of="CVC as in paper", **more) -> ClassifyItem:
    recipe = Recipe(of=of, parameters=PARAMETERS if "CVC" in of else {})
    return ClassifyItem(**{"data": DATA, "recipe": recipe, "fold": 0, "seed": 0} | more)


@pytest.mark.parametrize("outliers", [None, Outliers(into="probes", n=1)])
def test_the_answers_explained_are_those_given(folder, outliers):
    of = judged(outliers=outliers, n_probes=5)
    answered = perform(of, folder)
    found = perform(ExplainItem(of=of, probes=(4, 0, 2)), folder)["explanations"]
    for place, one in zip((4, 0, 2), found, strict=True):
        assert one["place"] == place
        assert one["answer"] == answered["answers"][""][place] == one["why"]["label"]
        assert one["truth"] == answered["truth"][place]
        assert one["index"] == answered["indices"][place]
        assert one["probe"] == answered["probes"][place]


def test_it_can_be_drawn_from_json(folder, tmp_path):
    pytest.importorskip("matplotlib")
    one = perform(ExplainItem(of=judged(), probes=(1,)), folder)["explanations"][0]
    why = Explanation.from_dict(json.loads(json.dumps(one["why"], allow_nan=False)))
    why.plot(tmp_path / "why.png")
    assert (tmp_path / "why.png").stat().st_size > 10_000


@pytest.mark.parametrize("which", ["nearest", "nearest_of_truth"])
def test_pairs_are_the_closest_images(folder, which):
    found = read_data(OBJECTS, folder)
    gallery, _ = found.folds[0]
    of = judged(data=OBJECTS)
    labels = set()
    for one in perform(ExplainItem(of=of, probes=tuple(range(8))), folder)["explanations"]:
        truth = found.labels[one["index"]]
        pairs = one[which]
        probe = unit_rows(found.sets[one["index"]])
        assert len(pairs) == MOST_PAIRS < len(probe)
        assert len({pair["image"] for pair in pairs}) == len(pairs)
        assert len({(pair["set"], pair["gallery_image"]) for pair in pairs}) == len(pairs)
        for pair in pairs:
            assert pair["set"] in gallery
            assert pair["set_name"] == found.sets.names[pair["set"]]
            assert pair["label"] == found.labels[pair["set"]]
            other = unit_rows(found.sets[pair["set"]])[pair["gallery_image"]]
            distance = np.linalg.norm(probe[pair["image"]] - other)
            assert pair["distance"] == pytest.approx(distance, abs=2e-6)
            labels.add(pair["label"] == truth)
        assert [pair["distance"] for pair in pairs] == sorted(p["distance"] for p in pairs)
        sets = gallery if which == "nearest" else gallery[found.labels[gallery] == truth]
        every = unit_rows(found.sets[sets].vectors)
        least = np.linalg.norm(probe[:, None] - every, axis=2).min()
        assert pairs[0]["distance"] == pytest.approx(least, abs=2e-6)
    assert labels == ({True} if which == "nearest_of_truth" else {True, False})


def test_what_cannot_be_is_refused(folder):
    with pytest.raises(ParameterError, match=r"'MSM': it explains nothing. Expected CVC"):
        perform(ExplainItem(of=judged("MSM"), probes=(0,)), folder)
    with pytest.raises(DataError, match=r"no probe 6\. Expected 0 to 5"):
        perform(ExplainItem(of=judged(), probes=(0, 6)), folder)
