"""Descriptions: parts by name or with parameters, ours or others', and back from JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from sklearn.preprocessing import FunctionTransformer
from tests.conftest import toy_sets

from setwise import CVC, HOG, GaussianGraph, LassoGraph, Whitener
from setwise._support import parts
from setwise.basis import Basis, Dictionary, Spread
from setwise.classify import Description, Distance, Fusion
from setwise.cluster import Clusterer, FlatClusters
from setwise.errors import ParameterError
from setwise.gallery.defaults import REPRESENTATIONS
from setwise.gallery.evidence import ClusterOverlap
from setwise.graph import Graph, OMPGraph


# One of each, as a user would write it: a file of its own, and nothing else.
@dataclass(frozen=True)
class Corners(Basis):
    """The vectors with the largest entries, as they are."""

    name: ClassVar[str] = "corners"
    power: float = 1.0

    def columns(self, vectors, dims, rng):
        order = np.argsort(-np.abs(vectors**self.power).max(axis=1), kind="stable")
        return [np.ascontiguousarray(vectors[order[:d]].T) for d in dims]


@dataclass(frozen=True)
class Cosines(Graph):
    """Cosines above a threshold."""

    name: ClassVar[str] = "cosines"
    above: float = 0.1

    def adjacency(self, columns):
        cosines = np.abs(columns.T @ columns)
        np.fill_diagonal(cosines, 0.0)
        return sp.csr_array(np.where(cosines > self.above, cosines, 0.0))


@dataclass(frozen=True)
class TotalVariation(Distance):
    """Half of the sum of absolute differences."""

    name: ClassVar[str] = "total variation"
    scale: float = 1.0

    def between(self, p, q):
        return self.scale * 0.5 * np.abs(p - q).sum(axis=-1)


@dataclass(frozen=True)
class Best(Fusion):
    """The layer that is surest."""

    name: ClassVar[str] = "best"
    sharpness: float = 1.0

    def scores(self, score_matrix):
        scores = score_matrix.by_class(-score_matrix.distances).max(axis=0)
        shares = np.exp(self.sharpness * scores)
        return scores, shares / shares.sum()


@dataclass(frozen=True)
class ByNearest(Clusterer):
    """Every column with the gallery column that it is nearest to."""

    name: ClassVar[str] = "nearest"
    floor: float = 0.0

    def start(self, adjacency, columns, *, cut, seed):
        @dataclass
        class Nearest:
            cosines: np.ndarray

            def under(self, class_codes):
                gallery = np.flatnonzero(class_codes >= 0)
                labels = np.arange(len(class_codes))
                probes = np.flatnonzero(class_codes < 0)
                labels[probes] = gallery[self.cosines[np.ix_(probes, gallery)].argmax(axis=1)]
                return FlatClusters(np.unique(labels, return_inverse=True)[1])

        return Nearest(np.abs(columns().T @ columns()))


# Known to these tests alone.
PARTS = (Corners, Cosines, TotalVariation, Best, ByNearest)
for _part in PARTS:
    del parts._KNOWN[_part.family][_part.name]


@pytest.fixture(autouse=True)
def known(monkeypatch):
    for part in PARTS:
        monkeypatch.setitem(parts._KNOWN[part.family], part.name, part)


OUTSIDE = {
    "basis": {"representations": [("plain", "corners")]},
    "basis with parameters": {"representations": [("plain", Corners(power=2.0))]},
    "graph": {"graph": "cosines"},
    "graph with parameters": {"graph": Cosines(above=0.3)},
    "distance": {"distance": "total variation"},
    "distance with parameters": {"distance": TotalVariation(scale=2.0)},
    "fusion": {"fusion": "best"},
    "fusion with parameters": {"fusion": Best(sharpness=2.0)},
    "clusterer": {"clusterer": "nearest"},
    "clusterer with parameters": {"clusterer": ByNearest(floor=0.1)},
}


@pytest.mark.parametrize("case", OUTSIDE)
def test_a_part_from_outside_classifies_explains_and_is_written_down(case, seed):
    sets, labels = toy_sets(seed, noise=0.2)
    plain = {"dims": (1, 2), "representations": [("plain", "svd")], "random_state": 0}
    clf = CVC(**plain | OUTSIDE[case]).fit(sets[::2], labels[::2])
    assert clf.score(sets[1::2], labels[1::2]) >= 0.8
    assert clf.explain(sets[1]).label in labels
    config = clf.describe().to_config()
    back = Description.from_config(json.loads(json.dumps(config)))
    assert back.to_config() == config
    assert clone(clf).describe().to_config() == config


@pytest.mark.filterwarnings("ignore::setwise.errors.NoInformationWarning")  # at 0.999
def test_a_part_from_outside_is_searched_like_any_other(seed):
    sets, labels = toy_sets(seed, n_sets=4, noise=0.3)
    clf = CVC((1, 2), representations=[("plain", "svd")], graph="cosines", weights=None)
    search = GridSearchCV(clf, {"graph__above": [0.05, 0.999999]}, cv=2).fit(sets, labels)
    assert search.best_params_ == {"graph__above": 0.05}
    assert search.best_estimator_.graph == Cosines(above=0.05)


@pytest.mark.parametrize("graph", ["lasso", LassoGraph(0.2)])
def test_parameters_of_parts_are_parameters_of_the_classifier(graph):
    clf = CVC(graph=graph)
    assert clf.get_params()["graph__alpha"] == (0.05 if graph == "lasso" else 0.2)
    assert clf.set_params(graph__alpha=0.5, cut="exact") is clf
    assert (clf.graph, clf.cut) == (LassoGraph(0.5), "exact")
    with pytest.raises(ParameterError, match=r"no parameter 'alhpa'.*Did you mean 'alpha'"):
        clf.set_params(graph__alhpa=1.0)
    if isinstance(graph, LassoGraph):
        assert graph == LassoGraph(0.2)  # parts are values: the one given stays as it is


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    dims=st.lists(st.integers(1, 30), min_size=1, max_size=5),
    pairs=st.lists(
        st.tuples(
            st.sampled_from(["plain", "whitened"]),
            st.one_of(
                st.sampled_from(["svd", "centred", "means"]),
                st.builds(Dictionary, st.floats(0.1, 9.0), st.integers(1, 3)),
            ),
        ),
        min_size=1,
        max_size=4,
    ),
    graph=st.one_of(
        st.builds(LassoGraph, st.floats(1e-6, 1.0)),
        st.builds(OMPGraph, st.integers(1, 9)),
        st.builds(GaussianGraph, st.one_of(st.none(), st.floats(0.1, 9.0))),
    ),
    distance=st.sampled_from(["bhattacharyya", "hellinger"]),
    fusion=st.sampled_from(["mode", "sum", "coefficient", "none"]),
    clusterer=st.sampled_from([None, "shc", "kmeans", "ssc", "spectral", "skms"]),
    seed=st.integers(0, 99),
)
def test_descriptions_come_back_from_json(
    dims, pairs, graph, distance, fusion, clusterer, seed
):
    made = CVC(
        dims, representations=pairs, graph=graph, distance=distance, fusion=fusion,
        clusterer=clusterer, random_state=seed,
    ).describe()  # fmt: skip
    back = Description.from_config(json.loads(json.dumps(made.to_config())))
    assert back.to_config() == made.to_config()
    assert (back.dims, back.distance, back.cut) == (made.dims, made.distance, made.cut)
    assert list(map(str, back.representations)) == list(map(str, made.representations))


def test_image_views_are_written_down_and_others_refused():
    config = CVC.for_images(random_state=0).describe().to_config()
    assert Description.from_config(config).to_config() == config
    steps = config["representations"][4]["view"]["steps"]
    assert [step["name"] for step in steps] == ["HOG", "Whitener"]
    mine = CVC(representations=[(FunctionTransformer(np.tanh), "svd")]).describe()
    with pytest.raises(ParameterError, match="FunctionTransformer is not one of HOG"):
        mine.to_config()


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"name": "lassso"}, "no graph 'lassso'.*Did you mean 'lasso'"),
        ({"name": "lasso", "beta": 1}, "no parameter 'beta'"),
        ({"name": "lasso", "alpha": -1.0}, "alpha must be a positive number"),
        ({}, "config must be a mapping with the name"),
        ("lasso", "config must be a mapping with the name"),
    ],
)
def test_what_no_part_wrote_down_is_refused(config, words):
    with pytest.raises(ParameterError, match=words):
        Graph.from_config(config)


def test_giving_the_default_gives_the_default(seed):
    sets, labels = toy_sets(seed, noise=1.0)
    spelled_out = CVC(
        representations=[
            ("plain", "mean"), ("whitened", "svd"), ("plain", "centred"),
            ("plain", "vectors"), ("whitened", "vectors"),
            ("plain", "spread"), ("whitened", "spread"),
            ("plain", Spread(centred=True)), ("whitened", Spread(centred=True)),
        ],
        dims=(5,), fusion="pool", outliers="drop",
        evidence=[
            ClusterOverlap("middle"), "edges", "smallest angle", "all angles", "regression",
        ],
        graph=LassoGraph(0.05), clusterer="shc", distance="bhattacharyya", random_state=0,
    )  # fmt: skip
    expected = CVC(random_state=0).fit(sets, labels).predict_proba(sets)
    np.testing.assert_array_equal(spelled_out.fit(sets, labels).predict_proba(sets), expected)
    own = {"whitened": ("whitened", Whitener())}
    pairs = [(own.get(view, view), basis) for view, basis in REPRESENTATIONS]
    own_whitener = CVC(representations=pairs, random_state=0).fit(sets, labels)
    np.testing.assert_array_equal(own_whitener.predict_proba(sets), expected)


def test_generators_are_read_once(seed):
    sets, labels = toy_sets(seed)
    pairs = (pair for pair in [("plain", "svd")])
    clf = CVC((d for d in (1, 2)), representations=pairs).fit(sets, labels)
    assert [layer.n_columns for layer in clf.layers_] == [1, 2]


def test_an_image_view_says_which_parameters_it_has():
    view = CVC(representations=[(HOG(cell=4), "svd")]).describe().representations[0].view
    assert view.to_config()["steps"][0]["cell"] == 4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"graph": ...}, "KeyError: 'graph'. Expected what Description.to_config gave"),
        ({"representations": [5]}, "TypeError.*Expected what Description.to_config gave"),
        ({"representations": [{"view": {"name": "x"}}]}, "KeyError: 'steps'"),
        ({"dims": []}, "dims must be a sequence of ints"),
    ],
    ids=str,
)
def test_what_no_description_wrote_down_is_refused_in_one_way(change, words):
    config = CVC(random_state=0).describe().to_config() | change
    config = {key: value for key, value in config.items() if value is not ...}
    with pytest.raises(ParameterError, match=words):
        Description.from_config(config)
