"""The exact Fiedler vector and how well it is known, against ``numpy.linalg.eigh``."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.named_graphs import LARGE, complete, path, star
from tests.reference.algorithms import GRAPHS, laplacian

from setwise.cut import exact_fiedler, fiedler
from setwise.cut.fiedler import with_canonical_sign

STORAGES = {"dense": np.array, "sparse": sp.csr_array}
# Smallest and largest number of vertices, on both sides of full orthogonality.
SIZES = {"small": (5, 80), "large": (LARGE + 1, LARGE + 30)}
GRAPHS_PER_CASE = 13  # times 4 kinds, 2 storages and 2 sizes: 208 graphs


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


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_same_as_eigh(kind, size, storage):
    for A, values, vector in with_gap(kind, size, GRAPHS_PER_CASE):
        found = exact_fiedler(STORAGES[storage](A))
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


@pytest.mark.parametrize("storage", STORAGES)
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
def test_one_vector_of_a_multiple_eigenvalue_is_found(A, storage):
    """Any of them: which one, rounding may decide."""
    found = exact_fiedler(STORAGES[storage](A))
    values = np.linalg.eigvalsh(laplacian(A))
    assert values[2] - values[1] < 1e-9
    residual = laplacian(A) @ found.vector - values[1] * found.vector
    assert np.linalg.norm(residual) < 1e-7


def nearly_symmetric(n, size, seed):
    """A cycle whose weights differ by ``size``: two eigenvalues about that far apart."""
    rng = np.random.default_rng(seed)
    noise = np.triu(1 + size * rng.standard_normal((n, n)))
    return cycle(n) * (noise + noise.T)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [40, LARGE + 20])
@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6])
def test_the_vector_is_as_accurate_as_it_says_where_the_gap_is_small(size, n, storage):
    for seed in range(3):
        check_accuracy(nearly_symmetric(n, size, seed), storage)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_the_vector_is_as_accurate_as_it_says(kind, size, storage):
    for A, _, _ in with_gap(kind, size, 3):
        check_accuracy(A, storage)


def check_accuracy(A, storage):
    """Entries are right to the accuracy claimed, so that signs above it are true."""
    found = exact_fiedler(STORAGES[storage](A))
    values, vectors = np.linalg.eigh(laplacian(A))
    of_eigh = 100 * np.finfo(float).eps / (values[2] - values[1])
    true = vectors[:, 1] * np.sign(vectors[:, 1] @ found.vector)
    assert found.has_converged
    assert np.linalg.norm(found.vector - true) <= found.accuracy + of_eigh


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [41, LARGE + 21])
def test_an_entry_that_is_zero_is_below_the_accuracy(n, storage):
    """The middle of a path that is its own mirror image: its sign is rounding."""
    for seed in range(5):
        half = np.random.default_rng(seed).uniform(0.5, 1.0, n // 2)
        A = np.diag(np.r_[half, half[::-1]], k=1)
        found = exact_fiedler(STORAGES[storage](A + A.T))
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
    assert not exact_fiedler(sp.csr_array(path(LARGE + 20))).has_converged


def test_a_dense_array_of_few_edges_is_taken_for_the_sparse_graph_it_is():
    A = path(LARGE + 20)
    dense, sparse = exact_fiedler(A), exact_fiedler(sp.csr_array(A))
    np.testing.assert_array_equal(dense.vector, sparse.vector)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scale_of_the_weights_does_not_matter(scale, size, storage):
    for A, _, _ in with_gap("sparse", size, 3):
        plain = exact_fiedler(STORAGES[storage](A))
        scaled = exact_fiedler(STORAGES[storage](scale * A))
        assert scaled.connectivity == pytest.approx(plain.connectivity, abs=1e-10)
        assert (scaled.vector > 0).tolist() == (plain.vector > 0).tolist()
