"""Which items a study has, under which keys, and in which order they are done."""

from __future__ import annotations

import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st
from paper.tests.small_sets import objects_at_hand, write_objects

from setwise.errors import DataError, ParameterError
from setwise_paper import plan as planning
from setwise_paper.kinds.classify import ClassifyItem, ExplainItem, Outliers
from setwise_paper.kinds.distributions import DistributionsItem
from setwise_paper.kinds.gaussians import GaussiansItem
from setwise_paper.plan import follow_up, key_of, plan
from setwise_paper.spec import Data, Recipe
from setwise_paper.study import Study, study_named
from setwise_paper.support import seed_for

OBJECTS = {"name": "objects", "protocol": "pairs", "n_folds": 2}
SHAPE = {"n_classes": 3, "n_sets": 2, "n_views": 6, "size": 8}
at_hand = objects_at_hand(**SHAPE)


def study(**more) -> Study:
    methods = {
        "kind": "methods",
        "name": "methods",
        "title": "",
        "data": OBJECTS,
        "methods": ["MSM", "mean vector"],
    }
    return Study.model_validate({"title": "Made", "experiments": [methods | more]})


def test_every_method_fold_and_seed_is_an_item():
    found = plan(study(seeds=[0, 1]))
    assert [(one.label, one.turn, one.item.seed) for one in found.of["methods"]] == [
        (label, fold, seed)
        for fold in (0, 1)
        for seed in (0, 1)
        for label in ("MSM", "mean vector")
    ]
    assert len(found.work) == 8
    assert found.exclusive == frozenset()


def test_keys_do_not_depend_on_what_else_is_asked():
    few = plan(study())
    more = plan(study(methods=["GDA", {"of": "MSM", "name": "subspaces"}, "mean vector"]))
    assert set(few.work) < set(more.work)


@pytest.mark.parametrize(
    "change", [{"n_views": 7}, {"seed": 1}], ids=["more images", "other images"]
)
def test_other_data_have_other_keys(change, tmp_path):
    other = write_objects(tmp_path, **SHAPE | change)
    assert not set(plan(study()).work) & set(plan(study(), other).work)


def test_other_code_has_other_keys(monkeypatch):
    before = set(plan(study()).work)
    monkeypatch.setattr(planning, "code_fingerprint", lambda: "other code")
    assert not before & set(plan(study()).work)


def test_the_code_is_what_computes(tmp_path, monkeypatch):
    """A changed file of the mathematics changes the fingerprint, a changed plot does not."""
    for folder in ("cut", "plots", "report"):
        (tmp_path / folder).mkdir(parents=True)

    def now() -> str:
        planning.code_fingerprint.cache_clear()
        return planning.code_fingerprint()

    monkeypatch.setattr(planning.setwise, "__file__", str(tmp_path / "__init__.py"))
    try:
        empty = now()
        for showing in ("plots", "report"):
            (tmp_path / showing / "tree_plot.py").write_text("1")
        (tmp_path / "README.md").write_text("1")
        assert now() == empty
        (tmp_path / "cut" / "fiedler.py").write_text("1")
        first = now()
        (tmp_path / "cut" / "fiedler.py").write_text("2")
        assert len({empty, first, now()}) == 3
    finally:
        planning.code_fingerprint.cache_clear()


def test_timed_items_are_done_alone():
    found = plan(study(is_timed=True))
    assert found.exclusive == set(found.work)


def test_first_turns_of_all_experiments_come_first():
    found = plan(study_named("gaussians")[1])
    draws = [item.draw for item in found.work.values()]
    assert draws == sorted(draws)
    assert len(draws) == 204


def test_robustness_has_the_clean_sets_once():
    robust = {"kind": "robustness", "methods": ["MSM"], "n_outliers": [1, 2]}
    items = [one.item for one in plan(study(**robust)).of["methods"] if one.item.fold == 0]
    said = [None if item.outliers is None else (item.outliers.into, item.outliers.n)
            for item in items]  # fmt: skip
    assert said == [None, ("gallery", 1), ("gallery", 2), ("probes", 1), ("probes", 2)]


def test_a_fold_that_is_not_there_is_refused():
    with pytest.raises(DataError, match=r"'methods': there is no fold 7. Expected 0 to 1"):
        plan(study(folds=[7]))


@pytest.mark.parametrize(
    ("method", "said"),
    [
        ("CVC for turtles", "no method 'CVC for turtles'"),
        ({"of": "MSM", "parameters": {"n_dim": 3}}, "no parameter 'n_dim'"),
    ],
)
def test_an_unknown_method_is_refused_before_anything_is_done(method, said):
    with pytest.raises(ParameterError, match=said):
        plan(study(methods=["mean vector", method]))


def test_missing_data_end_in_what_to_do(tmp_path):
    with pytest.raises(DataError, match=r"--data names the folder of honda_heq\.mat"):
        plan(study_named("honda")[1], tmp_path)


def test_only_wrong_answers_of_the_asked_method_are_explained():
    asked = study(methods=["CVC", "MSM"], explain="CVC")
    found = plan(asked)
    right = {"truth": ["a", "b"], "answers": {"": ["a", "b"]}}
    wrong = {"truth": ["a", "b"], "answers": {"": ["b", "b"]}}
    results = {one.key: wrong if one.turn == 0 else right for one in found.of["methods"]}
    more = follow_up(asked, found, results, None)
    *before, why = more.of["methods"]
    assert tuple(before) == found.of["methods"]
    judged = before[0]
    assert (judged.label, judged.turn) == (why.label, why.turn) == ("CVC", 0)
    assert why.item == ExplainItem(of=judged.item, probes=(0,))
    assert set(more.work) == {*found.work, why.key}


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
