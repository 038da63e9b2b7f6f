"""Degrees, Laplacian and NCut against the paper's formulas, written out."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference.algorithms import GRAPHS, NCut, laplacian

from setwise.cut import degrees, ncut, normalised_laplacian

STORAGES = {"dense": np.array, "sparse": sp.csr_array}


@pytest.fixture(params=STORAGES)
def stored(request):
    return STORAGES[request.param]


@pytest.fixture(params=GRAPHS)
def graphs(request):
    """Twenty graphs of one kind, and a random bipartition of each."""
    made = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        A = GRAPHS[request.param](int(rng.integers(4, 25)), rng)
        side = rng.random(len(A)) < 0.5
        side[:2] = True, False
        made.append((A, side))
    return made


def test_hand_example(stored):
    """The path a - b - c with weights 1 and 3."""
    path = stored([[0.0, 1, 0], [1, 0, 3], [0, 3, 0]])
    assert degrees(path).tolist() == [1, 4, 3]
    expected = [[1, -1 / 2, 0], [-1 / 2, 1, -3 / np.sqrt(12)], [0, -3 / np.sqrt(12), 1]]
    np.testing.assert_allclose(_dense(normalised_laplacian(path)), expected, atol=1e-15)
    assert ncut(path, np.array([True, False, False])) == pytest.approx(1 / 1 + 1 / 7)
    assert ncut(path, np.array([True, True, False])) == pytest.approx(3 / 5 + 3 / 3)


def test_laplacian_is_the_literal_one(graphs, stored):
    for A, _ in graphs:
        L = _dense(normalised_laplacian(stored(A)))
        np.testing.assert_allclose(L, laplacian(A), atol=1e-13)
        root = np.sqrt(degrees(stored(A)))
        assert np.linalg.norm(L @ root) < 1e-14 * np.linalg.norm(root)


def test_ncut_is_the_double_sum_and_the_rayleigh_quotient(graphs, stored):
    for A, side in graphs:
        D = np.diag(A.sum(axis=0))
        v_r, v_l = A[side].sum(), A[~side].sum()
        y_r = np.where(side, v_l, -v_r)
        rayleigh = (y_r @ (D - A) @ y_r) / (y_r @ D @ y_r)
        value = ncut(stored(A), side)
        assert value == pytest.approx(NCut(A, side), rel=1e-12)
        assert value == pytest.approx(rayleigh, rel=1e-10)
        assert value == pytest.approx(ncut(stored(A), ~side), rel=1e-12)


def test_connectivity_is_a_lower_bound_of_every_ncut(graphs):
    for A, side in graphs:
        assert np.linalg.eigvalsh(laplacian(A))[1] <= ncut(A, side) + 1e-12


def test_cutting_between_components_is_free(stored):
    two = stored(np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6))
    assert ncut(two, np.arange(6) < 3) == 0.0


@pytest.mark.parametrize("weight", [1e-310, 1e-160, 1e160, 1e300])
def test_ncut_does_not_depend_on_the_unit_of_the_weights(weight, stored):
    barbell = np.kron(np.eye(2), np.ones((3, 3))) - np.eye(6)
    barbell[2, 3] = barbell[3, 2] = 0.5
    side = np.arange(6) < 3
    with np.errstate(all="raise", under="ignore"):
        assert ncut(stored(weight * barbell), side) == pytest.approx(NCut(barbell, side))


def _dense(matrix):
    return matrix.toarray() if sp.issparse(matrix) else matrix
