"""Any clusterer inside CVC: by name, as an object, with and without labels."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    KMeans,
    MeanShift,
    SpectralClustering,
)
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from tests.conftest import toy_sets

from setwise import CVC, SKMS, SSC, load
from setwise.cluster import PROBE, SHC, Clusterer, GivenClusterer
from setwise.errors import DataError, NoInformationWarning, ParameterError

CLUSTERERS = ("shc", "kmeans", "ssc", "ssc-admm", "spectral", "skms")
PLAIN = {"representations": [("plain", "svd")]}


def cluster_maker(clusterer, cut, adjacency, columns, seed=0):
    """Clusters under a labelling, by what CVC's ``clusterer`` may be."""
    return Clusterer.of(clusterer, "CVC").start(adjacency, columns, cut=cut, seed=seed).under


@pytest.fixture(scope="module")
def toy():
    """Gallery, its labels, probes and theirs."""
    sets, labels = toy_sets(0, n_classes=3, n_sets=8)
    is_probe = np.arange(24) % 8 > 5
    pick = lambda chosen: [s for s, c in zip(sets, chosen, strict=True) if c]  # noqa: E731
    return pick(~is_probe), labels[~is_probe], pick(is_probe), labels[is_probe]


class Recorder(ClusterMixin, BaseEstimator):
    """Remembers what it was fitted with; everything is one cluster."""

    seen: list = []  # noqa: RUF012

    def fit_predict(self, X, y=None):
        self.seen.append((X, y))
        return np.zeros(len(X), dtype=int)


class Informed(Recorder):
    is_semi_supervised = True
    seen: list = []  # noqa: RUF012


# ---------------------------------------------------------------------------- cluster_maker


def two_lines(n=10):
    X = np.zeros((2 * n, 4))
    rng = np.random.default_rng(0)
    X[:n, :2] = 1 + 0.1 * rng.standard_normal((n, 2))
    X[n:, 2:] = 1 + 0.1 * rng.standard_normal((n, 2))
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("name", CLUSTERERS)
def test_names_make_as_many_clusters_as_classes(name):
    X = two_lines()
    truth = np.repeat([0, 1], 10)
    codes = truth.copy()
    codes[[0, 19]] = PROBE
    inside = sp.csr_array(np.where(truth == truth[:, None], X @ X.T, 0.0) - np.eye(20))
    make = cluster_maker(name, "sweep", inside, lambda: X.T)
    labels = make(codes).labels
    assert labels.dtype == np.int64
    if name == "skms":  # finds how many, and keeps classes apart
        assert len(set(zip(labels, truth, strict=True))) == len(set(labels))
    else:
        assert adjusted_rand_score(labels, truth) == 1.0
    if name in ("kmeans", "ssc", "ssc-admm", "spectral"):
        assert len(set(make(np.arange(20) % 4).labels)) == 4


def test_flat_clusterers_cluster_once_and_see_no_labels():
    Recorder.seen.clear()
    make = cluster_maker(Recorder(), "sweep", None, lambda: np.eye(3, 4))
    first = make(np.array([0, 1, 1, PROBE]))
    assert make(np.array([0, 0, PROBE, 0])) is first
    assert [(X.shape, y) for X, y in Recorder.seen] == [((4, 3), None)]


def test_semi_supervised_clusterers_see_every_labelling():
    Informed.seen.clear()
    make = cluster_maker(Informed(), "sweep", None, lambda: np.eye(3, 4))
    labellings = [[0, 1, 1, PROBE], [0, 0, PROBE, 0]]
    for codes in labellings:
        make(np.array(codes))
    assert [y.tolist() for _, y in Informed.seen] == labellings


@pytest.mark.parametrize("clusterer", [SHC(), SKMS(random_state=0)], ids=str)
def test_ours_that_look_at_labels_say_so(clusterer):
    X = two_lines()
    codes = np.repeat([0, 1], 10)
    codes[[0, 19]] = PROBE
    make = cluster_maker(clusterer, "sweep", None, lambda: X.T)
    np.testing.assert_array_equal(make(codes).labels, clusterer.fit_predict(X, codes))
    assert not getattr(KMeans, "is_semi_supervised", False)
    assert not getattr(SSC, "is_semi_supervised", False)


def test_names_get_the_seed_and_others_stay():
    for name in ("kmeans", "ssc", "ssc-admm", "spectral", "skms"):
        assert Clusterer.of(name, "CVC").estimator(3, 7).random_state == 7
    assert Clusterer.of(None, "CVC") == Clusterer.of("shc", "CVC")
    kmeans = KMeans(random_state=3)
    assert Clusterer.of(kmeans, "CVC") == GivenClusterer(kmeans)
    assert GivenClusterer(kmeans).estimator(5, 7).random_state == 3


@pytest.mark.parametrize(
    ("clusterer", "points", "message"),
    [
        (KMeans(9), np.eye(4), r"clusterer KMeans failed on 4 columns: n_samples=4 should be"),
        (SSC(9), np.eye(4), "SSC.fit: 4 points cannot make 9 clusters"),
        (SHC("knn"), np.eye(4), "graph must be one of"),
    ],
    ids=["scikit-learn", "ours", "parameter"],
)
def test_failures_are_one_clear_message(clusterer, points, message):
    make = cluster_maker(clusterer, "sweep", None, lambda: points)
    with pytest.raises(ValueError, match=message):
        make(np.array([0, 0, 1, PROBE]))


def test_labels_of_another_length_are_refused():
    class Short(Recorder):
        def fit_predict(self, X, y=None):
            return np.zeros(2)

    make = cluster_maker(Short(), "sweep", None, lambda: np.eye(4))
    with pytest.raises(DataError, match=r"Short gave labels of shape \(2,\).* 4 columns"):
        make(np.zeros(4, dtype=int))


# ------------------------------------------------------------------------------------ in CVC


# The sign of a column means nothing, but to k-means: one column per set is all it can take.
@pytest.mark.parametrize(
    ("name", "dim"), [*((name, 1) for name in CLUSTERERS), ("ssc", 3), ("spectral", 3)]
)
def test_cvc_takes_names(toy, name, dim):
    gallery, y, probes, expected = toy
    clf = CVC((dim,), **PLAIN, clusterer=name, random_state=0).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)
    again = pickle.loads(pickle.dumps(clf))
    np.testing.assert_array_equal(again.predict(probes), expected)
    assert clf.clusterer == name  # parameters are left alone


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(3, n_init=3, random_state=0),
        SpectralClustering(3, affinity="precomputed", random_state=0),
        AgglomerativeClustering(3),
        SSC(3, max_iter=2000, random_state=0),
        SKMS(random_state=0),
        SHC(),
        make_pipeline(PCA(3), KMeans(3, n_init=3, random_state=0)),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_cvc_takes_objects(toy, clusterer):
    gallery, y, probes, expected = toy
    clf = CVC((1,), **PLAIN, clusterer=clusterer).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)
    assert not hasattr(clusterer, "labels_")


def test_cvc_takes_density_methods(toy):
    gallery, y, probes, expected = toy
    clf = CVC((1,), **PLAIN, clusterer=DBSCAN(eps=0.8, min_samples=2)).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)
    apart = {"clusterer": DBSCAN(eps=1e-9), "evidence": "clusters", "weights": None}
    nothing = CVC((2,), **PLAIN, **apart).fit(gallery, y)
    with pytest.warns(NoInformationWarning):
        nothing.predict(probes)


@pytest.mark.parametrize("name", CLUSTERERS)
def test_same_seed_same_answers_whatever_the_jobs_and_the_order(name, seed):
    sets, labels = toy_sets(seed, n_classes=4, noise=1.5)
    parameters = {**PLAIN, "clusterer": name, "random_state": seed, "weights": None}
    one = CVC((2, 3), **parameters).fit(sets[::2], labels[::2])
    two = CVC((2, 3), **parameters, n_jobs=2).fit(sets[::2], labels[::2])
    expected = one.predict_proba(sets[1::2])
    np.testing.assert_array_equal(two.predict_proba(sets[1::2]), expected)
    np.testing.assert_array_equal(one.predict_proba(sets[1::2][::-1]), expected[::-1])


@pytest.mark.parametrize("name", ["kmeans", "skms", "spectral"])
def test_members_are_tried_on_the_gallery_with_names_too(toy, name):
    gallery, y, probes, expected = toy
    clf = CVC((2,), clusterer=name, random_state=0).fit(gallery, y)
    assert set(clf.gallery_accuracy_) == set(map(str, clf.members_))
    assert clf.predict_proba(probes).shape == (len(expected), 3)


@pytest.mark.parametrize("clusterer", ["k-means", "", KMeans, 5, ["kmeans"]], ids=str)
def test_unknown_names_are_told_the_known_ones(toy, clusterer):
    gallery, y, _, _ = toy
    names = "'shc', 'kmeans', 'spectral', 'ssc', 'ssc-admm', 'skms'"
    with pytest.raises(ParameterError, match=f"clusterer must be None, one of {names}"):
        CVC((1,), clusterer=clusterer).fit(gallery, y)


def test_a_clusterer_that_fails_in_cvc_says_who_it_was(toy):
    gallery, y, probes, _ = toy
    clf = CVC((1,), **PLAIN, clusterer=KMeans(99), weights=None)
    clf.fit(gallery, y)
    with pytest.raises(DataError, match="clusterer KMeans failed on 19 columns"):
        clf.predict(probes)


def test_components_of_the_graph_are_no_reason_to_warn():
    blocks = sp.csr_array(np.kron(np.eye(3), np.ones((4, 4)) - np.eye(4)))
    make = cluster_maker("spectral", "sweep", blocks, lambda: np.eye(12))
    codes = np.repeat([0, 1, 2], 4)
    assert adjusted_rand_score(make(codes).labels, codes) == 1.0  # warnings are errors here


def test_a_clusterer_of_scikit_learn_is_saved_and_loaded(tmp_path):
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(8, 12)) + 3 * np.eye(12)[i % 2] for i in range(8)]
    clf = CVC(dims=(1, 2), clusterer=AgglomerativeClustering(np.int64(3)), evidence="clusters")
    clf.fit(sets[:6], ["anna", "bert"] * 3)
    again = load(clf.save(tmp_path / "a.setwise"))
    np.testing.assert_array_equal(again.predict_proba(sets), clf.predict_proba(sets))
    assert again.gallery_.description.clusterer.to_config()["kind"] == "AgglomerativeClustering"
    assert (
        again.save(tmp_path / "b.setwise").read_bytes() == (tmp_path / "a.setwise").read_bytes()
    )


@pytest.mark.parametrize(
    "config",
    [
        {"kind": "os.system", "parameters": {}},
        {"kind": "KMeans", "parameters": {"nonsense": 1}},
        {"kind": "AgglomerativeClustering", "parameters": {"memory": "/tmp/place"}},
        {"kind": "KMeans", "parameters": {"init": {"a": 1}}},
        {"kind": "KMeans"},
        {"kind": "KMeans", "parameters": {"n_init": 10**7}},
        {"kind": "KMeans", "parameters": {"max_iter": 1e9}},
    ],
)
def test_a_file_names_no_other_clusterer_no_place_and_no_endless_work(config):
    with pytest.raises(ParameterError):
        Clusterer.from_config({"name": "scikit-learn"} | config)


def test_how_many_processes_work_is_neither_saved_nor_read():
    """A file of strangers could start a hundred thousand of them."""
    given = Clusterer.of(MeanShift(n_jobs=2), "CVC")
    config = given.to_config()
    assert "n_jobs" not in config["parameters"]
    config["parameters"] |= {"n_jobs": 100_000, "verbose": 1}
    made = Clusterer.from_config(config).estimator(2, 0)
    assert made.n_jobs is None


def test_a_clusterer_with_parts_that_are_no_numbers_cannot_be_saved():
    given = Clusterer.of(KMeans(3, random_state=np.random.RandomState(0)), "CVC")
    with pytest.raises(ParameterError, match="random_state must be a number, a text or None"):
        given.to_config()
