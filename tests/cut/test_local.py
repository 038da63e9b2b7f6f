"""Cuts of large graphs: around seeds, and by settled signs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import setwise.cluster.clusterers as clusterers_module
import setwise.cluster.tree as tree_module
from setwise.cluster import PROBE, Clusterer, CutTree, shc
from setwise.cut import Edges, SweepCut, bisect, exact_fiedler, fiedler, local_cut, ncut
from setwise.cut.fiedler import LOCAL_STEPS, PRECISE_LIMIT, local_vector


def planted(n_clusters, size, rng, inside=8, across=1.0):
    """Sparse clusters of equal size, about so many edges a vertex inside and across."""
    n = n_clusters * size
    ends = rng.integers(0, n, (int(across * n / 2), 2))
    first = rng.integers(0, n, int(inside * n / 2))
    second = first // size * size + rng.integers(0, size, len(first))
    row = np.concatenate([ends[:, 0], first])
    column = np.concatenate([ends[:, 1], second])
    weights = rng.uniform(0.5, 1.0, len(row)) * (row != column)
    half = sp.csr_array((weights, (row, column)), shape=(n, n))
    # A ring through all vertices, so that the graph is connected.
    ring = sp.csr_array((np.full(n, 0.3), (np.arange(n), (np.arange(n) + 1) % n)), shape=(n, n))
    return sp.csr_array(half + half.T + ring + ring.T)


@pytest.mark.parametrize("cluster", [0, 7, 19])
def test_the_cluster_around_the_seeds_is_parted_from_the_rest(cluster, seed):
    rng = np.random.default_rng(seed)
    graph = Edges.of(planted(20, 60, rng))
    seeds = cluster * 60 + rng.permutation(60)[:10]
    found = local_cut(graph, seeds)
    inside = np.arange(cluster * 60, (cluster + 1) * 60)
    side = found.side if found.side[seeds[0]] else ~found.side
    assert found.kind == "local"
    assert side[inside].mean() >= 0.95
    assert side.sum() <= 70
    assert found.ncut == pytest.approx(ncut(graph, found.side))
    assert found.n_iterations == LOCAL_STEPS


def test_the_local_vector_minimises_the_quotient_over_the_krylov_space(seed):
    graph = planted(5, 20, np.random.default_rng(seed))
    seeds = np.array([3, 17])
    found = local_vector(graph, seeds)
    degree = graph.sum(axis=1)
    operator = graph.toarray() / np.sqrt(np.outer(degree, degree))
    null = np.sqrt(degree / degree.sum())
    vectors = [np.where(np.isin(np.arange(100), seeds), null, 0.0)]
    vectors[0] = vectors[0] - null * (null @ vectors[0])
    for _ in range(LOCAL_STEPS - 1):
        vectors.append(operator @ vectors[-1])
        vectors[-1] -= null * (null @ vectors[-1])
        vectors[-1] /= np.linalg.norm(vectors[-1])
    basis = np.linalg.qr(np.array(vectors).T)[0]
    values, inner = np.linalg.eigh(basis.T @ operator @ basis)
    assert found.connectivity == pytest.approx(1 - values[-1], abs=1e-9)
    assert abs(found.vector @ basis @ inner[:, -1]) == pytest.approx(1, abs=1e-6)
    assert abs(found.vector @ null) < 1e-10


@pytest.fixture
def low_limit(monkeypatch):
    monkeypatch.setattr(tree_module, "LOCAL_ABOVE", 150)
    monkeypatch.setattr(clusterers_module, "LOCAL_ABOVE", 150)


def test_only_large_clusters_that_hold_seeds_are_cut_locally(low_limit, seed):
    graph = planted(10, 40, np.random.default_rng(seed))
    seeds = np.arange(120, 128)
    tree = CutTree(graph, seeds=seeds)
    waiting = [0]
    while waiting:
        index = waiting.pop()
        node = tree.nodes[index]
        if len(node.vertices) < 100:
            continue
        waiting += tree.split(index)
        if node.cut is not None:
            is_local = len(node.vertices) > 150 and np.isin(seeds, node.vertices).any()
            assert node.cut.kind == ("local" if is_local else "sweep")


def test_a_large_graph_gets_a_tree_for_each_probe(low_limit, seed):
    rng = np.random.default_rng(seed)
    graph = planted(10, 40, rng)
    classes = np.repeat(np.arange(10), 40)
    clusterer = Clusterer.of("shc", "CVC")
    make = clusterer.start(graph, lambda: None, cut=SweepCut(), seed=0).under
    for cluster in (2, 9):
        codes = classes.copy()
        probe = cluster * 40 + np.arange(12)
        codes[probe] = PROBE
        found = make(codes)
        assert found.tree.nodes[0].cut.kind == "local"
        for leaf in set(found.labels[probe].tolist()):
            others = codes[(found.labels == leaf) & (codes != PROBE)]
            assert set(others.tolist()) <= {cluster}
        again = shc(CutTree(graph, "sweep", seeds=probe), codes)
        np.testing.assert_array_equal(found.labels, again.labels)


def agreement(one, other):
    same = np.mean((one > 0) == (other > 0))
    return max(same, 1 - same)


@pytest.mark.parametrize("n_clusters", [2, 8])
def test_settled_signs_are_the_signs(n_clusters, seed):
    n = PRECISE_LIMIT + 200
    graph = planted(n_clusters, n // n_clusters, np.random.default_rng(seed), across=0.5)
    found = exact_fiedler(graph)
    precise = exact_fiedler(graph, precise=True)
    assert found.has_converged
    assert precise.has_converged
    assert found.n_iterations <= precise.n_iterations
    assert agreement(found.vector, precise.vector) >= 0.99
    again = exact_fiedler(graph)
    np.testing.assert_array_equal(found.vector, again.vector)


def test_lanczos_with_and_without_full_orthogonality_agree(seed, monkeypatch):
    graph = planted(3, 70, np.random.default_rng(seed), across=2.0)
    values = np.linalg.eigvalsh(np.eye(210) - normalised(graph))
    vectors = []
    for full_limit in (0, 1000):
        monkeypatch.setattr(fiedler, "FULL_LIMIT", full_limit)
        found = exact_fiedler(graph)
        assert found.connectivity == pytest.approx(values[1], abs=1e-9)
        vectors.append(found.vector)
    np.testing.assert_allclose(*vectors, atol=1e-7)


def normalised(graph):
    degree = graph.sum(axis=1)
    return graph.toarray() / np.sqrt(np.outer(degree, degree))


def test_no_dense_matrix_is_formed_of_a_large_graph(monkeypatch, seed):
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    monkeypatch.setattr(sp.csr_array, "todense", None)
    graph = planted(2, 3000, np.random.default_rng(seed), across=0.2)
    side = bisect(graph, "sweep").side
    assert 2900 <= side.sum() <= 3100
