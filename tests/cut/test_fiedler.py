"""The exact Fiedler vector and how well it is known, against ``numpy.linalg.eigh``."""

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.linalg import eigh
from tests.named_graphs import LARGE, band, complete, path, same_partition, star
from tests.reference.algorithms import GRAPHS, laplacian

from setwise.cluster import CutTree
from setwise.cut import bisect, exact_fiedler, fiedler, ncut
from setwise.cut.fiedler import WEAK, with_canonical_sign

STORAGES = {"dense": np.array, "sparse": sp.csr_array}
# Smallest and largest number of vertices, on both sides of full orthogonality.
SIZES = {"small": (5, 80), "large": (LARGE + 1, LARGE + 30)}
GRAPHS_PER_CASE = 13  # times 4 kinds and 2 sizes: 104 graphs


def with_gap(kind, size, n_graphs):
    """Random connected graphs with relative gap > 1e-3, and their spectra."""
    seed = 0
    while n_graphs:
        rng = np.random.default_rng(seed)
        A = GRAPHS[kind](int(rng.integers(*SIZES[size])), rng)
        values, vectors = np.linalg.eigh(laplacian(A))
        if values[1] > 1e-9 and values[2] - values[1] > 1e-3 * values[2]:
            n_graphs -= 1
            yield A, values, vectors[:, 1]
        seed += 1


def agreement(signs, other):
    """Share of equal signs, up to the sign of the whole."""
    same = np.mean((signs > 0) == (other > 0))
    return max(same, 1 - same)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_same_as_eigh(kind, size):
    for A, values, vector in with_gap(kind, size, GRAPHS_PER_CASE):
        found = exact_fiedler(sp.csr_array(A))
        assert found.connectivity == pytest.approx(values[1], abs=1e-8)
        assert agreement(found.vector, vector) >= 0.99
        assert np.linalg.norm(found.vector) == pytest.approx(1)
        assert abs(found.vector @ np.sqrt(A.sum(axis=0))) < 1e-6 * np.sqrt(A.sum())
        assert found.vector.max() == np.abs(found.vector).max()
        assert found.has_converged


def cycle(n):
    i = np.arange(n)
    A = np.zeros((n, n))
    A[i, (i + 1) % n] = A[(i + 1) % n, i] = 1
    return A


def triangle_of_cliques(k):
    A = np.kron(np.eye(3), complete(k))
    for i, j in ((0, k + 1), (k, 2 * k + 1), (2 * k, 1)):
        A[i, j] = A[j, i] = 0.5
    return A


def hypercube(d):
    bits = np.arange(2**d)
    return np.isin(bits[:, None] ^ bits[None], 2 ** np.arange(d)).astype(float)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    ("A", "connectivity"),
    [
        (path(2), 2.0),
        (path(3), 1.0),
        (path(40), 1 - np.cos(np.pi / 39)),
        (path(LARGE + 20), 1 - np.cos(np.pi / (LARGE + 19))),
        (cycle(60), 1 - np.cos(2 * np.pi / 60)),
        (cycle(LARGE + 20), 1 - np.cos(2 * np.pi / (LARGE + 20))),
        (complete(30), 30 / 29),
        (star(12), 1.0),
        (hypercube(5), 2 / 5),
    ],
)
def test_connectivity_known_in_closed_form(A, connectivity, storage):
    found = exact_fiedler(STORAGES[storage](A)).connectivity
    assert found == pytest.approx(connectivity, abs=1e-12, rel=1e-9)


@pytest.mark.parametrize("storage", STORAGES)
def test_two_vertices_have_opposite_signs(storage):
    found = exact_fiedler(STORAGES[storage](0.3 * path(2)))
    np.testing.assert_allclose(found.vector * found.vector[::-1], -0.5)
    assert found.has_converged


@pytest.mark.parametrize(
    "A",
    [
        cycle(60),
        cycle(LARGE + 20),
        cycle(LARGE + 100),
        complete(30),
        complete(LARGE + 20),
        star(LARGE + 20),
        triangle_of_cliques(8),
        triangle_of_cliques(LARGE // 3 + 10),
        hypercube(4),
        hypercube(9),
    ],
    ids=lambda A: f"{len(A)}",
)
def test_one_vector_of_a_multiple_eigenvalue_is_found(A):
    """Any of them: which one, rounding may decide."""
    found = exact_fiedler(sp.csr_array(A))
    values = np.linalg.eigvalsh(laplacian(A))
    assert values[2] - values[1] < 1e-9
    residual = laplacian(A) @ found.vector - values[1] * found.vector
    assert np.linalg.norm(residual) < 1e-7


def nearly_symmetric(n, size, seed):
    """A cycle whose weights differ by ``size``: two eigenvalues about that far apart."""
    rng = np.random.default_rng(seed)
    noise = np.triu(1 + size * rng.standard_normal((n, n)))
    return cycle(n) * (noise + noise.T)


@pytest.mark.parametrize("n", [40, LARGE + 20])
@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6])
def test_the_vector_is_as_accurate_as_it_says_where_the_gap_is_small(size, n):
    for seed in range(3):
        check_accuracy(nearly_symmetric(n, size, seed))


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_the_vector_is_as_accurate_as_it_says(kind, size):
    for A, _, _ in with_gap(kind, size, 3):
        check_accuracy(A)


def check_accuracy(A):
    """Entries are right to the accuracy claimed, so that signs above it are true."""
    found = exact_fiedler(sp.csr_array(A))
    values, vectors = np.linalg.eigh(laplacian(A))
    of_eigh = 100 * np.finfo(float).eps / (values[2] - values[1])
    true = vectors[:, 1] * np.sign(vectors[:, 1] @ found.vector)
    assert found.has_converged
    assert np.linalg.norm(found.vector - true) <= found.accuracy + of_eigh


@pytest.mark.parametrize("n", [41, LARGE + 21])
def test_an_entry_that_is_zero_is_below_the_accuracy(n):
    """The middle of a path that is its own mirror image: its sign is rounding."""
    for seed in range(5):
        half = np.random.default_rng(seed).uniform(0.5, 1.0, n // 2)
        A = np.diag(np.r_[half, half[::-1]], k=1)
        found = exact_fiedler(sp.csr_array(A + A.T))
        assert np.flatnonzero(np.abs(found.vector) <= found.accuracy).tolist() == [n // 2]


def test_the_first_of_the_largest_entries_is_positive():
    """Whichever of them rounding makes the largest."""
    for rounding in (-1e-15, 0.0, 1e-15):
        vector = np.array([0.1, -0.5 - rounding, 0.5, -0.5 + rounding])
        assert with_canonical_sign(vector).tolist() == (-vector).tolist()
        assert with_canonical_sign(-vector).tolist() == (-vector).tolist()


@pytest.mark.parametrize("most_steps", [20, LARGE + 19])
def test_too_few_steps_have_not_converged(most_steps, monkeypatch):
    """As many as there are vertices are too few where rounding brings copies."""
    monkeypatch.setattr(fiedler, "MOST_STEPS", most_steps)
    monkeypatch.setattr(fiedler, "ENOUGH", 1e-30)
    found = exact_fiedler(sp.csr_array(band(LARGE + 20)))
    assert found.connectivity > WEAK
    assert not found.has_converged


# ------------------------------------------------------------- clusters with weak links


def chain_of_clusters(seed):
    """Four random clusters of equal size in a row, with equal links of 1e-7 to 1e-4."""
    rng = np.random.default_rng(seed)
    k, m = 4, int(rng.integers(60, 110))
    half = np.triu((rng.random((m, m)) < 0.3) * rng.random((m, m)), 1)
    half += np.diag(np.full(m - 1, 0.5), 1)
    A = np.kron(np.eye(k), half + half.T)
    first = np.arange(k - 1) * m
    A[first, first + m] = A[first + m, first] = 10 ** rng.uniform(-7, -4)
    return A, rng.permutation(len(A))


def fiedler_by_eigh(A):
    """The vector, and the distance of its eigenvalue to the next."""
    root = np.sqrt(A.sum(axis=0))
    deflated = laplacian(A) + 3 * np.outer(root, root) / (root @ root)
    values, vectors = eigh(deflated, subset_by_index=[0, 1])
    return vectors[:, 0], values[1] - values[0]


def distance(vector, other):
    return np.linalg.norm(vector - np.sign(vector @ other) * other)


@pytest.mark.parametrize("seed", range(40))
def test_weak_links_in_a_chain_of_clusters_spoil_neither_vector_nor_cut(seed):
    """A Krylov space may take the small eigenvalues of such a graph for a single one."""
    A, order = chain_of_clusters(seed)
    true, gap = fiedler_by_eigh(A)
    found = exact_fiedler(sp.csr_array(A))
    assert found.has_converged
    assert distance(found.vector, true) <= found.accuracy + 1e-13 / gap
    side = np.empty(len(A), dtype=bool)
    side[order] = bisect(sp.csr_array(A[order][:, order])).side
    straight = bisect(sp.csr_array(A))
    assert same_partition(straight.side, side)
    tree = CutTree(sp.csr_array(A))
    tree.split(0)
    assert same_partition(tree.nodes[0].cut.side, side)
    middle = np.arange(len(A)) < len(A) // 2
    assert straight.ncut <= 1.05 * ncut(A, middle)


def test_where_starts_disagree_and_no_direct_solver_can_be_asked_it_says_so(monkeypatch):
    for seed in range(40):
        A, _ = chain_of_clusters(seed)
        monkeypatch.setattr(fiedler, "PRECISE_LIMIT", 3000)
        settled = exact_fiedler(sp.csr_array(A))
        if settled.n_iterations > 0:  # not by the direct solver
            continue
        monkeypatch.setattr(fiedler, "PRECISE_LIMIT", 100)
        found = exact_fiedler(sp.csr_array(A), precise=True)
        assert not found.has_converged
        if found.accuracy > 1e-6:  # both starts ended, and disagree
            break
    assert found.accuracy > 1e-6
    assert distance(found.vector, settled.vector) <= 2 * found.accuracy


def test_a_multiple_eigenvalue_of_weak_links_needs_no_agreement():
    """A star of equal clusters: every vector of a plane is a Fiedler vector."""
    A = np.kron(np.eye(4), chain_of_clusters(0)[0][:60, :60])
    A[0, [60, 120, 180]] = A[[60, 120, 180], 0] = 1e-6
    found = exact_fiedler(sp.csr_array(A))
    assert found.has_converged
    assert np.linalg.norm(laplacian(A) @ found.vector) < 1e-5


def test_a_dense_array_of_few_edges_is_taken_for_the_sparse_graph_it_is():
    A = path(LARGE + 20)
    dense, sparse = exact_fiedler(A), exact_fiedler(sp.csr_array(A))
    np.testing.assert_array_equal(dense.vector, sparse.vector)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scale_of_the_weights_does_not_matter(scale, size):
    for A, _, _ in with_gap("sparse", size, 3):
        plain = exact_fiedler(sp.csr_array(A))
        scaled = exact_fiedler(sp.csr_array(scale * A))
        assert scaled.connectivity == pytest.approx(plain.connectivity, abs=1e-10)
        assert (scaled.vector > 0).tolist() == (plain.vector > 0).tolist()
