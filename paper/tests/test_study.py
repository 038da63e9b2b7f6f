"""Studies as they are written, their items, and the keys that these have."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from paper.tests.small_sets import objects_at_hand, write_objects
from pydantic import BaseModel

from setwise.errors import DataError, ParameterError
from setwise_paper import plan as planning
from setwise_paper.kinds.classify import ClassifyItem, ExplainItem, Outliers, classifier_of
from setwise_paper.plan import follow_up, key_of, plan
from setwise_paper.spec import Data, Method, Recipe
from setwise_paper.study import Study, read_study, shipped_studies, study_named
from setwise_paper.support import seed_for

METHODS = """
title = "Mine"
[[experiments]]
kind = "methods"
name = "methods"
title = "All"
data = { name = "eth80" }
methods = ["CVC", { of = "MSM", name = "subspaces", parameters = { n_dims = 3 } }]
"""
SHAPE = {"n_classes": 3, "n_sets": 2, "n_views": 6, "size": 8}
at_hand = objects_at_hand(**SHAPE)


def written(folder: Path, content: str, name: str = "mine.toml") -> Path:
    path = folder / name
    path.write_text(content, encoding="utf-8")
    return path


def study(**more) -> Study:
    methods = {"kind": "methods", "name": "methods", "title": ""}
    methods["data"] = {"name": "objects", "protocol": "pairs", "n_folds": 2}
    methods["methods"] = ["MSM", "mean vector"]
    return Study.model_validate({"title": "Made", "experiments": [methods | more]})


# --- as it is written


def test_studies_are_found_by_name_or_file(tmp_path):
    assert study_named("eth80")[1].title.startswith("ETH-80")
    name, mine = study_named(str(written(tmp_path, METHODS)))
    first, second = mine.experiments[0].methods
    assert (name, first.label, first.recipe.of) == ("mine", "CVC", "CVC")
    assert (second.label, second.recipe.parameters) == ("subspaces", {"n_dims": 3})
    assert Method(of="MSM", name="subspaces").recipe == Method(of="MSM").recipe
    with pytest.raises(ParameterError, match="Did you mean 'eth80'"):
        study_named("eth8")
    for name in ("...toml", ".. .toml"):  # which lead out of the folder of results
        with pytest.raises(ParameterError, match="rename the file"):
            study_named(str(written(tmp_path, METHODS, name)))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("title = ", "titel = "), "titel is unknown. Did you mean 'title'?"),
        (("methods = [", "metods = ["), "metods is unknown. Did you mean 'methods'?"),
        (('kind = "methods"', 'kind = "magic"'), "kind is 'magic': expected one of fusion"),
        (('kind = "methods"', 'kind = "fusion"\nmethod = "CVC"'), "methods is unknown"),
        (('data = { name = "eth80" }', "data = 3"), "experiments.0.data"),
        (('name = "methods"', 'name = "../../etc"'), "experiments.0.name"),
        (('name = "subspaces"', 'name = "CVC"'), "two methods are called 'CVC'"),
        (("parameters = { n_dims = 3 }", 'fusions = ["mode"]'), "'subspaces' has fusions"),
        (('title = "All"', 'title = "All"\nexplain = "DCC"'), "explain is 'DCC'"),
        (('title = "All"', 'title = "All"\nseeds = [-1]'), "seeds"),
        (('title = "All"', 'title = "All"\nn_probes = 0'), "n_probes"),
        ((METHODS, METHODS + METHODS.split('"Mine"')[1]), "two experiments are called"),
        ((METHODS, "title = "), "is no TOML"),
        ((METHODS, "[" * 100_000), "is no TOML"),
        ((METHODS, "#" * 1_000_001), "Expected at most 1000000"),
    ],
    ids=range(15),
)  # fmt: skip
def test_mistakes_are_named(tmp_path, change, said):
    path = written(tmp_path, METHODS.replace(*change))
    with pytest.raises(DataError) as caught:
        read_study(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def recipes(value):
    """Every recipe anywhere inside a study."""
    if isinstance(value, Recipe):
        yield value
    elif isinstance(value, BaseModel):
        for name in type(value).model_fields:
            yield from recipes(getattr(value, name))
    elif isinstance(value, list | tuple):
        for part in value:
            yield from recipes(part)


def test_shipped_studies_hold_the_papers_tables_and_real_classifiers():
    studies = shipped_studies()
    shown = " ".join(one.shows for one in studies["eth80"].experiments)
    for what in ("Table 1", "Table 2", "Table 3", "Table 4", "Fig. 7b", "Figs. 1 and 3",
                 "Fig. 4", "Fig. 9"):  # fmt: skip
        assert what in shown
    for name in ("honda", "mobo", "youtube", "cambridge"):
        assert "--data" in studies[name].missing, "how to point to a copy"
    for one in studies.values():
        assert Study.model_validate(one.model_dump(mode="json")) == one
        for recipe in recipes(one):
            plain = Recipe(**recipe.model_dump(exclude={"name"}))
            item = ClassifyItem(data=Data(name="hands"), fold=0, seed=0, recipe=plain)
            assert hasattr(classifier_of(item), "predict")


def test_the_papers_numbers_are_the_papers():
    """Table 2's rows of the seven rivals, typed in a second time from the paper."""
    rivals = ("DCC", "MMD", "MDA", "AHISD", "CHISD", "SANP", "CDL-LDA")
    table = {
        "youtube": (53.9, 54.0, 55.1, 60.7, 60.4, 65.0, 62.2),
        "mobo": (93.6, 93.2, 97.1, 97.4, 96.4, 96.9, 95.8),
        "honda": (94.7, 94.9, 97.4, 89.7, 92.3, 93.1, 100.0),
        "eth80": (90.9, 85.7, 80.5, 74.76, 71.0, 72.4, 89.2),
        "cambridge": (65, 58.1, 20.9, 18.1, 18.3, 22.5, 73.4),
    }
    for name, row in table.items():
        experiments = study_named(name)[1].experiments
        published = next(one for one in experiments if one.name == "methods").published
        assert tuple(published[rival].mean for rival in rivals) == row


# --- its items


def test_every_method_fold_and_seed_is_an_item():
    found = plan(study(seeds=[0, 1]))
    assert [(one.label, one.turn, one.item.seed) for one in found.of["methods"]] == [
        (label, fold, seed)
        for fold in (0, 1)
        for seed in (0, 1)
        for label in ("MSM", "mean vector")
    ]
    assert found.exclusive == frozenset()
    timed = plan(study(is_timed=True))
    assert timed.exclusive == set(timed.work)
    draws = [item.draw for item in plan(study_named("gaussians")[1]).work.values()]
    assert draws == sorted(draws), "first turns come first"
    assert len(draws) == 204


def test_robustness_has_the_clean_sets_once():
    robust = {"kind": "robustness", "methods": ["MSM"], "n_outliers": [1, 2]}
    items = [one.item for one in plan(study(**robust)).of["methods"] if one.item.fold == 0]
    said = [one.outliers and (one.outliers.into, one.outliers.n) for one in items]
    assert said == [None, ("gallery", 1), ("gallery", 2), ("probes", 1), ("probes", 2)]


@pytest.mark.parametrize(
    ("more", "error", "said"),
    [
        ({"folds": [7]}, DataError, r"'methods': there is no fold 7. Expected 0 to 1"),
        ({"methods": ["MSM", "turtles"]}, ParameterError, "no method 'turtles'"),
        ({"methods": [{"of": "MSM", "parameters": {"x": 3}}]}, ParameterError, "parameter 'x'"),
    ],
)
def test_what_cannot_be_done_is_refused_before_anything_is_done(more, error, said, tmp_path):
    with pytest.raises(error, match=said):
        plan(study(**more))
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
    assert (why.label, why.turn) == ("CVC", 0)
    assert why.item == ExplainItem(of=before[0].item, probes=(0,))
    assert set(more.work) == {*found.work, why.key}


# --- their keys


def test_keys_change_with_data_and_code_alone(tmp_path, monkeypatch):
    before = set(plan(study()).work)
    methods = ["GDA", {"of": "MSM", "name": "subspaces"}, "mean vector"]
    assert before < set(plan(study(methods=methods)).work)
    for change in ({"n_views": 7}, {"seed": 1}):
        other = write_objects(tmp_path, **SHAPE | change)
        assert not before & set(plan(study(), other).work)
    monkeypatch.setattr(planning, "code_fingerprint", lambda: "other code")
    assert not before & set(plan(study()).work)


def test_code_that_only_shows_changes_no_key(tmp_path, monkeypatch):
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
        assert now() == empty
        found = {empty}
        for content in "12":
            (tmp_path / "cut" / "fiedler.py").write_text(content)
            found.add(now())
        assert len(found) == 3
    finally:
        planning.code_fingerprint.cache_clear()


def test_everything_an_item_says_is_in_its_key():
    item = ClassifyItem(data=Data(name="eth80"), recipe=Recipe(of="CVC"), fold=0, seed=0)
    changes = [
        {"data": Data(name="eth80", n_vectors=3)},
        {"recipe": Recipe(of="CVC", parameters={"cut": "exact"})},
        {"recipe": Recipe(of="MSM")},
        *({"fold": 1}, {"seed": 1}, {"n_probes": 4}),
        {"outliers": Outliers(into="probes", n=1)},
    ]
    keys = {key_of(item.model_copy(update=change), "code") for change in changes}
    assert len(keys | {key_of(item, "code"), key_of(item, "other code")}) == 9
    assert key_of(item, "code") == key_of(item.model_copy(), "code")
    assert len(pickle.dumps(ExplainItem(of=item, probes=(1, 2)))) < 10_000
    seeds = {seed_for(0), seed_for(1, "a"), seed_for(0, "a"), seed_for(0, "a", 1)}
    assert len(seeds) == 4
    assert all(0 <= one < 2**31 for one in seeds)
