"""SHC against the literal Algorithm 2, and what its clusters promise."""

import sys
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN, KMeans, SpectralClustering
from tests.named_graphs import LARGE, complete, star
from tests.reference.algorithms import (
    CVC,
    GRAPHS,
    ImproperSplit,
    Indivisible,
    clusters_of_SHC,
    exact_fiedler,
    paper_fiedler,
)

from setwise.cluster import PROBE, SHC, Clusterer, CutTree, is_indivisible, shc
from setwise.cut import CutRule, Fiedler, SweepCut
from setwise.errors import DataError, ParameterError
from setwise.gallery.distributions import (
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    conditional_orthogonality,
)

N_CLASSES = 3
N_GRAPHS = 50  # of each kind


def labelled(kind, seed, largest=40):
    """A random graph, gallery first and probe last, with labels as setwise has them."""
    rng = np.random.default_rng(seed)
    A = GRAPHS[kind](int(rng.integers(12, largest)), rng)
    n_probe = int(rng.integers(2, 6))
    codes = np.full(len(A), PROBE)
    codes[:-n_probe] = np.arange(len(A) - n_probe) % N_CLASSES
    return A, codes


def as_in_paper(codes):
    """Labels 1, ..., n_c, and n_c + 1 for the probe."""
    return np.where(codes == PROBE, N_CLASSES + 1, codes + 1)


def same_clusters(labels, other):
    pairs = set(zip(labels.tolist(), other.tolist(), strict=True))
    return len(pairs) == len(set(labels.tolist())) == len(set(other.tolist()))


class Watched:
    """An exact Fiedler vector that remembers how clear its signs were."""

    smallest_gap = smallest_entry = np.inf

    def __call__(self, L_s, D_c):
        values, vector = np.linalg.eigvalsh(L_s), exact_fiedler(L_s, D_c)
        if len(values) > 2:
            self.smallest_gap = min(self.smallest_gap, (values[2] - values[1]) / values[2])
        self.smallest_entry = min(self.smallest_entry, np.abs(vector).min())
        return vector

    @property
    def is_clear(self):
        return self.smallest_gap > 1e-6 and self.smallest_entry > 1e-9


# ------------------------------------------------------------- against the literal algorithms


@pytest.mark.parametrize("kind", GRAPHS)
def test_exact_cut_same_as_algorithm_2_with_eigh(kind):
    n_clear = 0
    for seed in range(N_GRAPHS):
        A, codes = labelled(kind, seed)
        fiedler = Watched()
        found = shc(CutTree(A, "exact"), codes)
        try:
            literal, _ = clusters_of_SHC(A, as_in_paper(codes), N_CLASSES + 1, fiedler)
            is_same = same_clusters(found.labels, literal)
        except ImproperSplit:
            is_same = False
        assert is_same or not fiedler.is_clear
        n_clear += fiedler.is_clear
    assert n_clear > 0.3 * N_GRAPHS  # sparse graphs end in many small symmetric ones


@pytest.mark.parametrize("kind", GRAPHS)
def test_paper_cut_same_as_algorithm_2_with_algorithm_3(kind):
    n_compared = 0
    for seed in range(N_GRAPHS):
        A, codes = labelled(kind, seed)
        try:
            literal, _ = clusters_of_SHC(A, as_in_paper(codes), N_CLASSES + 1, paper_fiedler)
        except ImproperSplit:
            continue
        assert same_clusters(shc(CutTree(A, "paper"), codes).labels, literal)
        n_compared += 1
    assert n_compared > 0.9 * N_GRAPHS


@pytest.mark.parametrize("cut", ["exact", "paper"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_label_and_distances_same_as_algorithm_1(kind, cut):
    n_compared = 0
    for seed in range(N_GRAPHS, N_GRAPHS + 25):
        A, codes = labelled(kind, seed)
        found = shc(CutTree(A, cut), codes)
        fiedler = Watched() if cut == "exact" else paper_fiedler
        try:
            ell_p, B = CVC(
                as_in_paper(codes)[codes != PROBE],
                int((codes == PROBE).sum()),
                lambda ell_D, ell_hat_p, A=A, fiedler=fiedler: clusters_of_SHC(
                    A, ell_D, ell_hat_p, fiedler
                ),
            )
        except ImproperSplit:  # all signs equal: the paper has no answer
            continue
        if cut == "exact" and not fiedler.is_clear:
            continue
        distances = distances_from_probe(codes, found.labels)
        np.testing.assert_allclose(distances, B, rtol=1e-12, atol=1e-15)
        assert distances.argmin() + 1 == ell_p
        n_compared += 1
    assert n_compared > 5


def distances_from_probe(codes, labels):
    rows = np.where(codes == PROBE, N_CLASSES, codes)
    histogram = class_cluster_histogram(rows, labels, N_CLASSES + 1)
    distributions = class_cluster_distributions(histogram)
    return bhattacharyya(distributions[:-1], distributions[-1])


@given(st.lists(st.integers(0, N_CLASSES), min_size=1, max_size=6).map(np.array))
def test_indivisible_same_as_the_definition(labels):
    codes = np.where(labels == N_CLASSES, PROBE, labels)
    assert is_indivisible(codes) == Indivisible(labels + 1, N_CLASSES + 1)


# ------------------------------------------------------------------ what the clusters promise


def check_contract(found, codes):
    n = len(codes)
    tree = found.tree
    n_cuts = sum(len(tree.nodes[index].children) - 1 for index in found.inner)
    assert n_cuts <= n - 1
    assert len(found.leaves) == n_cuts + 1
    clusters = [tree.nodes[index].vertices for index in found.leaves]
    assert np.sort(np.concatenate(clusters)).tolist() == list(range(n))
    for number, cluster in enumerate(clusters):
        assert (found.labels[cluster] == number).all()
        assert len(cluster) == 1 or is_indivisible(codes[cluster])
    for index in found.inner:
        node = tree.nodes[index]
        assert not is_indivisible(codes[node.vertices])
        sizes = [len(tree.nodes[child].vertices) for child in node.children]
        assert min(sizes) > 0
        assert sum(sizes) == len(node.vertices)
    rows = np.where(codes == PROBE, N_CLASSES, codes)
    histogram = class_cluster_histogram(rows, found.labels, N_CLASSES + 1)
    distributions = class_cluster_distributions(histogram)
    assert conditional_orthogonality(distributions[:-1], distributions[-1]) == 0.0


DEGENERATE = {
    "no edge": np.zeros((20, 20)),
    "disconnected": np.kron(np.eye(5), complete(4)),
    "isolated vertices": np.pad(complete(15), (0, 5)),
    "complete": complete(20),
    "star": star(20),
    "path": np.eye(20, k=1) + np.eye(20, k=-1),
    "every row four times": np.kron(complete(5), np.ones((4, 4))),
    "every row of a star twice": np.kron(star(10), np.ones((2, 2))),
    "nearly no edge": 1e-300 * complete(20),
    "weights of any size": 10.0 ** (-30.0 * np.abs(np.subtract.outer(range(20), range(20))))
    - np.eye(20),
}


@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
@pytest.mark.parametrize("cut", ["exact", "paper", "sweep"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_ends_on_degenerate_graphs(name, cut, storage):
    codes = np.tile([0, 1, 2, PROBE], 5)
    check_contract(shc(CutTree(storage(DEGENERATE[name]), cut), codes), codes)


@given(
    kind=st.sampled_from(sorted(GRAPHS)),
    seed=st.integers(0, 10**6),
    cut=st.sampled_from(["exact", "paper", "sweep"]),
    codes=st.lists(st.sampled_from([0, 1, 2, PROBE]), min_size=6, max_size=40),
)
def test_contract_holds_for_any_labelling(kind, seed, cut, codes):
    codes = np.array(codes)
    A = GRAPHS[kind](len(codes), np.random.default_rng(seed))
    check_contract(shc(CutTree(A, cut), codes), codes)


@pytest.mark.parametrize("kind", GRAPHS)
def test_contract_holds_above_the_dense_limit(kind):
    rng = np.random.default_rng(0)
    A = GRAPHS[kind](LARGE + 40, rng)
    codes = rng.integers(-1, N_CLASSES, len(A))
    for storage in (np.array, sp.csr_array):
        check_contract(shc(CutTree(storage(A)), codes), codes)


@pytest.mark.parametrize(
    "codes",
    [
        [0, 1, 2, 0, 1, 2],  # no probe
        [PROBE] * 6,  # nothing else
        [1, 1, PROBE, 1, PROBE, 1],  # one class
    ],
)
def test_nothing_to_decide_is_one_cluster(codes):
    found = shc(CutTree(complete(6)), np.array(codes))
    assert found.leaves == (0,)
    assert found.inner == ()
    assert found.labels.tolist() == [0] * 6


def test_hand_example():
    """Two cliques and the probe in the second: one cut settles it."""
    A = np.kron(np.eye(2), complete(3))
    A[2, 3] = A[3, 2] = 0.1
    found = shc(CutTree(A), np.array([0, 0, 1, 2, 2, PROBE]))
    assert found.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert (found.leaves, found.inner) == ((1, 2), (0,))


def test_one_tree_serves_every_labelling():
    A = GRAPHS["lasso"](40, np.random.default_rng(5))
    shared = CutTree(A)
    rng = np.random.default_rng(6)
    for _ in range(20):
        codes = rng.integers(-1, N_CLASSES, len(A))
        n_nodes = len(shared.nodes)
        assert (shc(shared, codes).labels == shc(CutTree(A), codes).labels).all()
        again = shc(shared, codes)
        assert len(shared.nodes) >= n_nodes
        assert len(again.inner) <= (len(shared.nodes) - 1) // 2
    assert len(shared.nodes) <= 2 * len(A) - 1


@dataclass(frozen=True)
class SweepFromOutside(SweepCut):
    """The sweep, as somebody from outside would bring it: called from Python for each cut."""

    name: ClassVar[str] = ""


@pytest.mark.parametrize("kind", GRAPHS)
def test_a_walk_that_stops_at_every_cut_goes_where_the_compiled_one_goes(kind):
    A = sp.csr_array(GRAPHS[kind](40, np.random.default_rng(7)))
    compiled, stopping = CutTree(A), CutTree(A, SweepFromOutside())
    rng = np.random.default_rng(8)
    for _ in range(5):  # later labellings find some cuts made
        codes = rng.integers(-1, N_CLASSES, 40)
        found, expected = shc(compiled, codes), shc(stopping, codes)
        assert found.labels.tolist() == expected.labels.tolist()
        assert (found.leaves, found.inner) == (expected.leaves, expected.inner)


@dataclass(frozen=True)
class FirstOff(CutRule):
    """Takes off the first vertex."""

    name: ClassVar[str] = ""

    def vector(self, adjacency):
        return Fiedler(np.arange(float(adjacency.n_vertices)), 0.0)

    def halves(self, adjacency, fiedler):
        return fiedler.vector > 0


def test_a_tree_deeper_than_the_recursion_limit():
    """Cuts that take off one vertex each make the tree as deep as the graph is large."""
    n = sys.getrecursionlimit() + 200
    path = sp.csr_array(sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1]))
    codes = np.arange(n) % 2
    codes[-1] = PROBE
    found = shc(CutTree(path, FirstOff()), codes)
    assert max(node.depth for node in found.tree.nodes) > sys.getrecursionlimit()
    assert len(found.leaves) == n - 1  # the last two vertices: one class and the probe


def test_a_long_path_of_alternating_classes():
    n = 1000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    codes = np.tile([0, PROBE, 1, PROBE], n // 4)
    check_contract(shc(CutTree(sp.csr_array(path)), codes), codes)


# ----------------------------------------------------------------------------- the estimator


def cluster_maker(clusterer, cut, adjacency, columns, seed=0):
    """Clusters under a labelling, by what CVC's ``clusterer`` may be."""
    return Clusterer.of(clusterer, "CVC").start(adjacency, columns, cut=cut, seed=seed).under


def two_lines(n, rng):
    X = np.zeros((2 * n, 4))
    X[:n, :2] = 1 + 0.1 * rng.standard_normal((n, 2))
    X[n:, 2:] = 1 + 0.1 * rng.standard_normal((n, 2))
    return X


@pytest.mark.parametrize("cut", ["exact", "paper", "sweep"])
@pytest.mark.parametrize("graph", ["lasso", "gaussian"])
def test_estimator_finds_two_lines(graph, cut):
    X = two_lines(10, np.random.default_rng(0))
    y = np.repeat([7, 3], 10)
    y[[0, 1]] = -1
    clusterer = SHC(graph=graph, cut=cut)
    assert clusterer.fit(X, y).n_clusters_ == len(clusterer.clusters_.leaves)
    assert same_clusters(clusterer.fit_predict(X, y), np.repeat([0, 1], 10))
    assert (clusterer.labels_ == clusterer.clusters_.labels).all()


def test_estimator_wants_one_class_for_each_row():
    with pytest.raises(DataError, match="one class for each of the 6 rows"):
        SHC().fit(two_lines(3, np.random.default_rng(0)), [0, 1])


# --------------------------------------------------------------- any other way to cluster


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(2, random_state=0),
        SpectralClustering(2, affinity="precomputed", random_state=0),
        DBSCAN(eps=0.5),
    ],
    ids=lambda clusterer: type(clusterer).__name__,
)
def test_other_clusterers_see_columns_or_graph_and_no_labels(clusterer):
    X = two_lines(10, np.random.default_rng(0))
    make = cluster_maker(clusterer, "sweep", sp.csr_array(X @ X.T + 0.01), lambda: X.T)
    for codes in (np.zeros(20, dtype=int), np.arange(20) % 3):
        assert same_clusters(make(codes).labels, np.repeat([0, 1], 10))
    assert not hasattr(clusterer, "labels_")  # a clone was fitted


def test_noise_of_a_density_method_is_clusters_of_one():
    X = np.r_[np.zeros((5, 2)), [[9.0, 9.0], [-9.0, 9.0]]]
    labels = cluster_maker(DBSCAN(eps=0.5), "sweep", None, lambda: X.T)(
        np.zeros(7, dtype=int)
    ).labels
    assert same_clusters(labels, np.array([0, 0, 0, 0, 0, 1, 2]))
    everything_noise = cluster_maker(DBSCAN(eps=1e-9), "sweep", None, lambda: np.eye(4))
    assert sorted(everything_noise(np.zeros(4, dtype=int)).labels.tolist()) == [0, 1, 2, 3]


def test_no_clusterer_is_shc_on_one_shared_tree():
    A = GRAPHS["lasso"](30, np.random.default_rng(5))
    make = cluster_maker(None, "exact", sp.csr_array(A), lambda: np.eye(30))
    codes = np.random.default_rng(6).integers(-1, N_CLASSES, len(A))
    first, again = make(codes), make(codes)
    assert first.tree is again.tree
    assert (first.labels == shc(CutTree(A, "exact"), codes).labels).all()


def test_a_clusterer_must_cluster():
    with pytest.raises(ParameterError, match="clusterer must be None, one of 'shc'"):
        Clusterer.of("k-means", "CVC")
