"""The sweep cut against brute force over all thresholds."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.reference.algorithms import GRAPHS, NCut

from setwise.cut import exact_fiedler, ncut, sweep

STORAGES = {"dense": np.array, "sparse": sp.csr_array}


def best_by_brute_force(A, vector):
    return min(NCut(A, vector > threshold) for threshold in np.unique(vector)[:-1])


def graphs(kind, n_graphs, largest=60):
    for seed in range(n_graphs):
        rng = np.random.default_rng(seed)
        yield GRAPHS[kind](int(rng.integers(3, largest)), rng), rng


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_same_as_brute_force(kind, storage):
    for A, rng in graphs(kind, 20, largest=15):
        for vector in (rng.standard_normal(len(A)), rng.integers(0, 3, len(A)) * 1.0):
            side = sweep(STORAGES[storage](A), vector)
            if side is None:
                assert (vector == vector[0]).all()
                continue
            assert vector[side].min() > vector[~side].max()
            assert NCut(A, side) == pytest.approx(best_by_brute_force(A, vector), abs=1e-12)


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("kind", GRAPHS)
def test_never_worse_than_the_signs(kind, storage):
    for A, _ in graphs(kind, 50):
        fiedler = exact_fiedler(STORAGES[storage](A))
        signs = fiedler.vector >= 0
        side = sweep(STORAGES[storage](A), fiedler.vector / np.sqrt(A.sum(axis=0)))
        assert fiedler.connectivity - 1e-12 <= ncut(A, side) <= ncut(A, signs) + 1e-12


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("weight", [1e-3, 1e-9, 1e-17, 1e-40, 1e-200])
@pytest.mark.parametrize("orientation", [1.0, -1.0])
def test_volume_of_a_light_side_is_not_lost_in_rounding(weight, orientation, storage):
    """The path 1 - w: cutting the light edge costs about 1, cutting the heavy one about 2."""
    path = np.array([[0, 1, 0], [1, 0, weight], [0, weight, 0]])
    side = sweep(STORAGES[storage](path), orientation * np.array([-1.0, 0, 1]))
    assert ncut(path, side) == pytest.approx(NCut(path, np.array([True, True, False])))


@pytest.mark.parametrize("storage", STORAGES)
def test_one_wild_value_does_not_hide_the_others(storage):
    """A nearly isolated vertex has ``D^-1/2 v`` of any size; the cut is between the cliques."""
    A = np.kron(np.eye(2), np.ones((5, 5))) - np.eye(10)
    A[4, 5] = A[5, 4] = 0.01
    A = np.pad(A, (0, 1))
    A[0, 10] = A[10, 0] = 1e-60
    side = sweep(STORAGES[storage](A), np.r_[-np.ones(5), np.ones(5), 1e14])
    assert side[:10].tolist() == [False] * 5 + [True] * 5


@pytest.mark.parametrize("storage", STORAGES)
def test_equal_values_stay_together(storage):
    """A threshold between values that differ by rounding would depend on the row order."""
    path = np.eye(6, k=1) + np.eye(6, k=-1)
    vector = np.array([0.0, 1.0, 1.0 + 1e-12, 1.0 - 1e-12, 1.0, 2.0])
    side = sweep(STORAGES[storage](path), vector)
    assert len(set(side[1:5].tolist())) == 1


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("value", [0.0, 1.0, -3.0])
def test_a_constant_vector_has_no_threshold(value, storage):
    assert sweep(STORAGES[storage](np.ones((4, 4)) - np.eye(4)), np.full(4, value)) is None
