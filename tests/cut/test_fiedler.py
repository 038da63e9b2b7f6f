"""The exact Fiedler vector and its certificate, against ``numpy.linalg.eigh``."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.named_graphs import complete, path, star
from tests.reference.algorithms import GRAPHS, laplacian

from setwise.cut import exact_fiedler, fiedler
from setwise.cut.fiedler import DENSE_LIMIT, OPEN_FRACTION

STORAGES = {"dense": np.array, "sparse": sp.csr_array}
# Smallest and largest number of vertices, on both sides of the switch to Lanczos.
SIZES = {"small": (5, 80), "large": (DENSE_LIMIT + 1, DENSE_LIMIT + 30)}
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
        (path(DENSE_LIMIT + 20), 1 - np.cos(np.pi / (DENSE_LIMIT + 19))),
        (cycle(60), 1 - np.cos(2 * np.pi / 60)),
        (cycle(DENSE_LIMIT + 20), 1 - np.cos(2 * np.pi / (DENSE_LIMIT + 20))),
        (complete(30), 30 / 29),
        (star(12), 1.0),
        (hypercube(5), 2 / 5),
    ],
)
def test_connectivity_known_in_closed_form(A, connectivity, storage):
    found = exact_fiedler(STORAGES[storage](A)).connectivity
    assert found == pytest.approx(connectivity, abs=1e-12, rel=1e-9)


def test_two_vertices_have_opposite_signs_and_no_doubt():
    found = exact_fiedler(0.3 * path(2))
    np.testing.assert_allclose(found.vector * found.vector[::-1], -0.5)
    assert not found.is_ambiguous


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize(
    "A",
    [
        cycle(60),
        cycle(DENSE_LIMIT + 20),
        cycle(DENSE_LIMIT + 100),
        complete(30),
        complete(DENSE_LIMIT + 20),
        star(DENSE_LIMIT + 20),
        triangle_of_cliques(8),
        triangle_of_cliques(DENSE_LIMIT // 3 + 10),
        hypercube(4),
        hypercube(9),
    ],
    ids=lambda A: f"{len(A)}",
)
def test_multiple_eigenvalue_is_ambiguous(A, storage):
    """A Krylov space sees one vector of an eigenspace; the certificate must not."""
    assert exact_fiedler(STORAGES[storage](A)).is_ambiguous


def nearly_symmetric(n, size, seed):
    """A cycle whose weights differ by ``size``: two eigenvalues about that far apart."""
    rng = np.random.default_rng(seed)
    noise = np.triu(1 + size * rng.standard_normal((n, n)))
    return cycle(n) * (noise + noise.T)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [40, DENSE_LIMIT + 20])
@pytest.mark.parametrize("size", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10])
def test_certified_signs_are_right_where_the_gap_is_small(size, n, storage):
    for seed in range(3):
        check_certificate(nearly_symmetric(n, size, seed), storage)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_certified_signs_are_right(kind, size, storage):
    for A, _, _ in with_gap(kind, size, 3):
        check_certificate(A, storage)


def check_certificate(A, storage):
    """All but the ``n_open`` smallest entries are certified, so their signs must be true."""
    found = exact_fiedler(STORAGES[storage](A))
    values, vectors = np.linalg.eigh(laplacian(A))
    true_within = 100 * np.finfo(float).eps / (values[2] - values[1])
    certified = np.argsort(np.abs(found.vector))[found.n_open :]
    certified = certified[np.abs(vectors[certified, 1]) > true_within]
    signs = (found.vector[certified] > 0) == (vectors[certified, 1] > 0)
    assert signs.all() or not signs.any()
    assert found.is_ambiguous == (found.n_open > OPEN_FRACTION * len(A))


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [41, DENSE_LIMIT + 21])
def test_an_entry_that_is_zero_is_open(n, storage):
    """The middle of a path that is its own mirror image: its sign is rounding."""
    for seed in range(5):
        half = np.random.default_rng(seed).uniform(0.5, 1.0, n // 2)
        A = np.diag(np.r_[half, half[::-1]], k=1)
        found = exact_fiedler(STORAGES[storage](A + A.T))
        assert np.abs(found.vector).argmin() == n // 2
        assert found.n_open == 1


def test_too_few_steps_certify_nothing(monkeypatch):
    monkeypatch.setattr(fiedler, "_MOST_STEPS", 20)
    found = exact_fiedler(sp.csr_array(path(DENSE_LIMIT + 20)))
    assert not found.has_converged
    assert found.is_ambiguous


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("scale", [1e-200, 1e200])
def test_scale_of_the_weights_does_not_matter(scale, size, storage):
    for A, _, _ in with_gap("sparse", size, 3):
        plain = exact_fiedler(STORAGES[storage](A))
        scaled = exact_fiedler(STORAGES[storage](scale * A))
        assert scaled.connectivity == pytest.approx(plain.connectivity, abs=1e-10)
        assert (scaled.vector > 0).tolist() == (plain.vector > 0).tolist()
        assert scaled.is_ambiguous == plain.is_ambiguous
