"""A study is read as it is written, and what is wrong with it is said by name and place."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import BaseModel

from setwise.errors import DataError, ParameterError
from setwise_paper.kinds.classify import ClassifyItem, classifier_of
from setwise_paper.kinds.fusion import Fusion
from setwise_paper.kinds.methods import Methods
from setwise_paper.spec import Data, Method, Recipe
from setwise_paper.study import Study, read_study, shipped_studies, study_named

METHODS = """
title = "Mine"
[[experiments]]
kind = "methods"
name = "methods"
title = "All"
data = { name = "eth80" }
methods = ["CVC", { of = "MSM", name = "subspaces", parameters = { n_dims = 3 } }]
"""


def written(tmp_path: Path, content: str) -> Path:
    path = tmp_path / "mine.toml"
    path.write_text(content, encoding="utf-8")
    return path


def test_a_bare_name_is_a_method(tmp_path):
    study = read_study(written(tmp_path, METHODS))
    first, second = study.experiments[0].methods
    assert (first.label, first.recipe.of) == ("CVC", "CVC")
    assert (second.label, second.recipe.parameters) == ("subspaces", {"n_dims": 3})


def test_recipes_do_not_know_how_they_are_called():
    named, bare = Method(of="MSM", name="subspaces"), Method(of="MSM")
    assert named.recipe == bare.recipe


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("title = ", "titel = "), "titel is unknown. Did you mean 'title'?"),
        (("methods = [", "metods = ["), "metods is unknown. Did you mean 'methods'?"),
        (('kind = "methods"', 'kind = "magic"'), "magic"),
        (('data = { name = "eth80" }', "data = 3"), "experiments.0.data"),
        (('name = "methods"', 'name = "../../etc"'), "experiments.0.name"),
        (('["CVC", {', '["MSM", {'), None),
        (('name = "subspaces"', 'name = "CVC"'), "two methods are called 'CVC'"),
        (("parameters = { n_dims = 3 }", 'fusions = ["mode"]'), "'subspaces' has fusions"),
        (('title = "All"', 'title = "All"\nexplain = "DCC"'), "explain is 'DCC'"),
        (('title = "All"', 'title = "All"\nseeds = [-1]'), "seeds"),
        (('title = "All"', 'title = "All"\nn_probes = 0'), "n_probes"),
    ],
)
def test_mistakes_are_named(tmp_path, change, said):
    path = written(tmp_path, METHODS.replace(*change))
    if said is None:
        read_study(path)
        return
    with pytest.raises(DataError) as caught:
        read_study(path)
    assert str(path) in str(caught.value)
    assert said in str(caught.value)


def test_experiments_have_names_of_their_own(tmp_path):
    twice = METHODS + METHODS.split('title = "Mine"')[1]
    with pytest.raises(DataError, match="two experiments are called 'methods'"):
        read_study(written(tmp_path, twice))


def test_fusion_needs_fusions():
    with pytest.raises(ValueError, match="fusions is empty"):
        Fusion(kind="fusion", name="f", title="", data={"name": "x"}, method="CVC")


@pytest.mark.parametrize("content", ["title = ", "\x00", "[" * 100_000])
def test_what_is_no_toml_is_refused(tmp_path, content):
    with pytest.raises(DataError, match="is no TOML"):
        read_study(written(tmp_path, content))


def test_files_that_are_not_there_or_too_large(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        read_study(tmp_path / "none.toml")
    with pytest.raises(DataError, match="Expected at most 1000000"):
        read_study(written(tmp_path, "#" * 1_000_001))


def test_the_papers_tables_and_figures_are_shipped():
    studies = shipped_studies()
    assert {"eth80", "honda", "mobo", "youtube", "cambridge", "gaussians"} <= set(studies)
    shown = " ".join(one.shows for one in studies["eth80"].experiments)
    for what in ("Table 1", "Table 2", "Table 3", "Table 4", "Fig. 7b", "Figs. 1 and 3",
                 "Fig. 4", "Fig. 9"):  # fmt: skip
        assert what in shown


@pytest.mark.parametrize("name", ["honda", "mobo", "youtube", "cambridge"])
def test_studies_of_absent_data_say_how_to_point_to_a_copy(name):
    assert "--data" in shipped_studies()[name].missing


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
        _, study = study_named(name)
        methods = next(one for one in study.experiments if one.name == "methods")
        assert isinstance(methods, Methods)
        assert tuple(methods.published[rival].mean for rival in rivals) == row


def test_studies_are_found_by_name_or_file(tmp_path):
    assert study_named("eth80")[1].title.startswith("ETH-80")
    assert study_named(str(written(tmp_path, METHODS)))[0] == "mine"
    with pytest.raises(ParameterError, match="Did you mean 'eth80'"):
        study_named("eth8")


def test_a_study_survives_its_own_dump():
    for study in shipped_studies().values():
        assert Study.model_validate(study.model_dump(mode="json")) == study


@pytest.mark.parametrize("name", ["...toml", ".. .toml", "....toml"])
def test_a_file_whose_name_leads_out_of_the_results_is_refused(tmp_path, name):
    path = tmp_path / name
    path.write_text(METHODS, encoding="utf-8")
    with pytest.raises(ParameterError, match="rename the file"):
        study_named(str(path))


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


@pytest.mark.parametrize("name", shipped_studies())
def test_every_recipe_of_a_shipped_study_describes_a_classifier(name):
    for recipe in recipes(shipped_studies()[name]):
        plain = Recipe(**recipe.model_dump(exclude={"name"}))
        made = classifier_of(
            ClassifyItem(data=Data(name="hands"), fold=0, seed=0, recipe=plain)
        )
        if hasattr(made, "describe"):
            assert made.describe().dims
