"""From finished items to tables, by hand-made results whose sums are known."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from setwise_paper.accuracy import numbers
from setwise_paper.kinds.classify import ClassifyItem, ExplainItem, Outliers
from setwise_paper.kinds.distributions import Distributions, DistributionsItem
from setwise_paper.kinds.fusion import Fusion
from setwise_paper.kinds.methods import Methods
from setwise_paper.kinds.robustness import Robustness
from setwise_paper.plan import Planned
from setwise_paper.spec import Data, Recipe
from setwise_paper.study import Study, StudyResult
from setwise_paper.worker import Item

DATA = Data(name="eth80")
COMMON = {"name": "x", "title": "Title", "shows": "Table 9", "data": DATA}


def item(fold: int, outliers: Outliers | None = None, of: str = "MSM") -> ClassifyItem:
    return ClassifyItem(data=DATA, recipe=Recipe(of=of), fold=fold, seed=0, outliers=outliers)


def planned(work: Item, label: str, turn: int = 0) -> Planned:
    return Planned(f"{label} {turn} {work.model_dump_json()}", work, label, turn)


def judged(answers: Mapping[str, str], truth: str = "aabb", **more: Any) -> dict[str, Any]:
    """Labels are letters: ``{"": "aaab"}`` has three of four right."""
    return {
        "probes": [f"set {i}" for i in range(len(truth))],
        "indices": list(range(len(truth))),
        "truth": list(truth),
        "answers": {key: list(found) for key, found in answers.items()},
        "fit_seconds": 1.0,
        "probe_seconds": 0.5,
        "n_gallery": 4,
        "outlier_share": 0.0,
        **more,
    }


METHODS = Methods(
    kind="methods",
    methods=("CVC", "MSM", "DCC"),
    explain="CVC",
    published={"CVC": {"mean": 90.0, "std": 4.0}},
    **COMMON,
)


def methods_pairs():
    return [
        (planned(item(0), "CVC", 0), judged({"": "aaab"}, probe_seconds=0.1)),
        (planned(item(1), "CVC", 1), judged({"": "aabb"}, probe_seconds=0.3)),
        (planned(item(0), "MSM", 0), judged({"": "bbbb"})),
    ]


def test_methods_are_averaged_over_folds():
    found = METHODS.summarise(methods_pairs())
    cvc, msm = found.rows
    assert (cvc.name, cvc.mean, cvc.std, cvc.low, cvc.high) == ("CVC", 87.5, 12.5, 75.0, 100.0)
    assert (cvc.n_folds, cvc.n_probes, cvc.probe_seconds) == (2, 8, 0.2)
    assert cvc.difference == -2.5
    assert cvc.standard_error == pytest.approx(12.5 / 2**0.5)
    assert (msm.mean, msm.difference) == (50.0, None)


def test_confusion_counts_truth_by_answer_and_wrong_probes_are_explained():
    pairs = methods_pairs()
    confusion = METHODS.summarise(pairs).confusion
    assert (confusion.classes, confusion.counts) == (("a", "b"), ((4, 0), (1, 3)))
    why = planned(ExplainItem(of=pairs[0][0].item, probes=(2,)), "CVC")
    explanation = {"probe": "set 2", "truth": "b", "answer": "a", "index": 2, "why": {}}
    found = METHODS.summarise([*pairs, (why, {"explanations": [explanation]})])
    (wrong,) = found.wrong
    assert (wrong.probe, wrong.truth, wrong.answer, wrong.fold) == ("set 2", "b", "a", 0)
    assert wrong.explanation is explanation


def test_fusion_by_dimensionality():
    experiment = Fusion(
        kind="fusion",
        method={"of": "CVC as in paper", "fusions": ("mode", "sum")},
        published={"mode": {"mean": 50.0}},
        **COMMON,
    )
    answers = {"mode@1": "bbbb", "mode@2": "aabb", "sum@1": "aaaa", "sum@2": "aaab"}
    # The sets of another fold are larger: beyond 2, the first fold has what it has.
    more = answers | {"mode@3": "bbaa", "sum@3": "aabb"}
    pairs = [
        (planned(item(0), "CVC", 0), judged(answers)),
        (planned(item(1), "CVC", 1), judged(more)),
    ]
    found = experiment.summarise(pairs)
    assert [(row.name, row.mean, row.difference) for row in found.rows] == [
        ("mode", 50.0, 0.0),
        ("sum", 87.5, None),
    ]
    assert [(c.name, c.x, c.mean, c.std) for c in found.curves] == [
        ("mode", (1.0, 2.0, 3.0), (50.0, 100.0, 50.0), (0.0, 0.0, 50.0)),
        ("sum", (1.0, 2.0, 3.0), (50.0, 75.0, 87.5), (0.0, 0.0, 12.5)),
    ]
    assert found.rows[0].probe_seconds is None  # every member was asked: no time of a method


def test_robustness_has_both_sides_and_shares():
    experiment = Robustness(kind="robustness", methods=("CVC",), n_outliers=(1, 2), **COMMON)
    mixed = [
        (None, "aabb", 0.0),
        (Outliers(into="gallery", n=1), "aaab", 19.0),
        (Outliers(into="gallery", n=2), "aaaa", 38.0),
        (Outliers(into="probes", n=1), "aabb", 20.0),
    ]
    pairs = [
        (planned(item(0, outliers), "CVC"), judged({"": answers}, outlier_share=share))
        for outliers, answers, share in mixed
    ]
    found = experiment.summarise(pairs)
    assert found.gallery[0].x == (0.0, 1.0, 2.0)
    assert found.gallery[0].mean == (100.0, 75.0, 50.0)
    assert found.probes[0].mean == (100.0, 100.0)
    assert found.gallery_share == (0.0, 19.0, 38.0)
    assert found.probes_share == (0.0, 20.0)


def clustered(answer: str, distances: list[float | None], snr: float | None) -> dict[str, Any]:
    return {
        "classes": ["a", "b"],
        "truth": "a",
        "answer": answer,
        "table": [[1.0, 0.0], [0.0, 1.0], [1.0, 0.0]],
        "distances": distances,
        "snr": snr,
        "points": [[0.0, 1.0, 2.0]],
        "point_rows": [0],
        "point_clusters": [0],
        "n_clusters": 2,
    }


def test_distributions_take_none_for_infinity():
    experiment = Distributions(
        kind="distributions",
        clusterers=("ssc", "kmeans"),
        published={"ssc": {"snr": 78.84, "distance": 0.00423}},
        **COMMON,
    )

    def one(clusterer, draw):
        work = DistributionsItem(data=DATA, clusterer=clusterer, n_classes=2, draw=draw, seed=0)
        return planned(work, clusterer, draw)

    pairs = [
        (one("ssc", 0), clustered("a", [0.1, None], None)),
        (one("ssc", 1), clustered("a", [0.2, None], None)),
        (one("ssc", 2), clustered("b", [0.4, 0.2], 2.0)),
        (one("kmeans", 0), clustered("a", [None, None], None)),
    ]
    ssc, kmeans = experiment.summarise(pairs).rows
    assert ssc.accuracy == pytest.approx(200 / 3)
    assert (ssc.median_snr, ssc.median_distance, ssc.n_draws) == (None, 0.2, 3)
    assert (ssc.published_snr, kmeans.published_snr) == (78.84, None)
    assert kmeans.median_distance is None


def result_of(*sections) -> StudyResult:
    study = Study(title="T", experiments=(METHODS,))
    return StudyResult(study, sections, (), 3, 3, {}, {}, "a machine")


def test_tables_say_the_papers_number_beside_ours():
    (table,) = METHODS.summarise(methods_pairs()).tables()
    assert table.columns == ("method", "paper", "ours", "difference", "p", "fit", "a probe")
    assert table.rows[0] == (
        *("CVC", "90.00 ± 4.00", "87.50 ± 12.50", "-2.50", "", "1 s", "200 ms"),
    )
    assert table.rows[1][1:4] == ("", "50.00", "")
    assert table.heading == "Table 9: Title"
    lines = table.to_markdown().splitlines()
    assert lines[:2] == ["**Table 9: Title**", ""]
    assert len(lines) == 6
    assert {line.count("|") for line in lines[2:]} == {8}


def test_timed_tables_have_ratios():
    timed = METHODS.model_copy(
        update={
            "is_timed": True,
            "published": {"CVC": METHODS.published["CVC"].model_copy(update={"seconds": 2.0})},
        }
    )
    (table,) = timed.summarise(methods_pairs()).tables()
    assert table.rows[0] == ("CVC", "2 s", "200 ms", "1.00", "1.00")
    assert table.rows[1] == ("MSM", "", "500 ms", "", "2.50")


def test_numbers_without_times_do_not_depend_on_them():
    def found(seconds):
        pairs = [(one, result | {"probe_seconds": seconds}) for one, result in methods_pairs()]
        return result_of(METHODS.summarise(pairs))

    slow, fast = found(9.0), found(0.001)
    assert numbers(slow, with_times=False) == numbers(fast, with_times=False)
    assert numbers(slow) != numbers(fast)
    plain = json.loads(json.dumps(numbers(slow), allow_nan=False))
    assert plain["experiments"]["x"]["rows"][0]["mean"] == 87.5
    assert plain["experiments"]["x"]["rows"][0]["published"] == {"mean": 90.0, "std": 4.0}
