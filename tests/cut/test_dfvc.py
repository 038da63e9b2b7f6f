"""DFVC against the literal Algorithm 3, and against what its fixed point should be."""

import numpy as np
import pytest
import scipy.sparse as sp
from tests.named_graphs import path
from tests.reference.algorithms import DFVC, GRAPHS, laplacian, one_percent

from setwise.cut import dfvc, sign_switches
from setwise.cut.fiedler import DFVC_LIMIT

N_GRAPHS = 50  # of each kind
ENDLESS = -1.0  # a share of sign changes that no iteration can stay below


def graphs(kind):
    """Connected graphs with eta < lambda_2, and their spectra."""
    for seed in range(N_GRAPHS):
        rng = np.random.default_rng(seed)
        A = GRAPHS[kind](int(rng.integers(8, 60)), rng)
        values, vectors = np.linalg.eigh(laplacian(A))
        if 1 / A.sum() ** 2 < values[1]:
            yield A, values, vectors


def literal(A, **options):
    degree = A.sum(axis=0)
    shift = 1 / degree.sum() ** 2
    options = {"epsilon_s": one_percent(len(A))} | options
    return DFVC(laplacian(A), np.sqrt(degree), shift, **options)


def aligned(vector, other):
    return vector if vector @ other > 0 else -vector


@pytest.mark.parametrize("kind", GRAPHS)
def test_same_result_as_the_literal_algorithm(kind):
    n_compared = 0
    for A, _, _ in graphs(kind):
        u, connectivity, iterates = literal(A)
        found = dfvc(A)
        assert found.n_iterations == len(iterates) - 1
        np.testing.assert_allclose(aligned(found.vector, u), u, atol=1e-9)
        clear = np.abs(u) > 1e-9
        assert ((aligned(found.vector, u) > 0) == (u > 0))[clear].all()
        assert found.connectivity == pytest.approx(connectivity, abs=1e-9)
        assert found.has_converged
        n_compared += 1
    assert n_compared > 0.8 * N_GRAPHS


def test_exactly_one_percent_of_changes_is_few_enough():
    """The paper stops at "<= 1.00 %", here one vertex in a hundred."""
    n_stopped_at_one = 0
    for seed in range(20):
        A = GRAPHS["gaussian"](100, np.random.default_rng(seed))
        _, _, iterates = literal(A)
        last, before = iterates[-1] > 0, iterates[-2] > 0
        n_changes = int((last ^ before).sum())
        n_stopped_at_one += min(n_changes, 100 - n_changes) == 1
        assert dfvc(A).n_iterations == len(iterates) - 1
    assert n_stopped_at_one > 0


@pytest.mark.parametrize("kind", GRAPHS)
def test_same_iterates_as_the_literal_algorithm(kind):
    for A, _, _ in list(graphs(kind))[::10]:
        _, _, iterates = literal(A, epsilon_s=-1, max_k=8)
        for k in range(1, 9):
            v_k = dfvc(A, max_changes=ENDLESS, max_iter=k).vector
            np.testing.assert_allclose(aligned(v_k, iterates[k]), iterates[k], atol=1e-9)


@pytest.mark.parametrize("kind", GRAPHS)
def test_sign_switches_are_counted_on_the_iterates(kind):
    for A, _, _ in list(graphs(kind))[::5]:
        _, _, iterates = literal(A)
        signs = np.array(iterates) > 0
        changed = signs[1:] ^ signs[:-1]
        flipped = 2 * changed.sum(axis=1) > len(A)
        if not (2 * changed.sum(axis=1) == len(A)).any():  # which half switched is open there
            expected = (changed ^ flipped[:, None]).sum(axis=0)
            assert dfvc(A).sign_switches.tolist() == expected.tolist()


@pytest.mark.parametrize("kind", GRAPHS)
def test_limit_is_the_fiedler_vector_moved_along_the_null_vector(kind):
    """``v + c u`` with ``c = -(1'v) / (lambda_2 + 1'u)``, not ``v``."""
    n_compared = 0
    for A, values, vectors in graphs(kind):
        v, u = vectors[:, 1], np.sqrt(A.sum(axis=0))
        shift = 1 / A.sum() ** 2
        others = np.abs(np.r_[values[2:], -u.sum()] - shift)
        if values[1] - shift > 0.9 * others.min():
            continue  # 300 iterations would not be enough
        limit = v - v.sum() / (values[1] + u.sum()) * u
        limit /= np.linalg.norm(limit)
        found = dfvc(A, max_changes=ENDLESS, max_iter=300).vector
        np.testing.assert_allclose(aligned(found, limit), limit, atol=1e-6)
        n_compared += 1
    assert n_compared > 0.5 * N_GRAPHS


def test_limit_differs_from_the_fiedler_vector():
    """Otherwise the test above would not tell the two apart."""
    distances = []
    for A, _, vectors in graphs("gaussian"):
        found = dfvc(A, max_changes=ENDLESS, max_iter=300).vector
        distances.append(np.abs(aligned(found, vectors[:, 1]) - vectors[:, 1]).max())
    assert np.median(distances) > 0.01


def test_ends_where_the_literal_count_never_falls():
    """With eta > lambda_2 the vector flips in every iteration (Algorithm 3 loops for ever)."""
    cliques = np.kron(np.eye(2), np.ones((6, 6))) - np.eye(12)
    cliques[5, 6] = cliques[6, 5] = 1e-3
    cliques *= 0.1
    assert 1 / cliques.sum() ** 2 > np.linalg.eigvalsh(laplacian(cliques))[1]
    _, _, iterates = literal(cliques, epsilon_s=-1, max_k=20)
    signs = np.array(iterates) > 0
    assert (signs[11:] ^ signs[10:-1]).all()
    found = dfvc(cliques)
    assert found.has_converged
    assert (found.vector > 0).tolist() in ([True] * 6 + [False] * 6, [False] * 6 + [True] * 6)
    assert found.sign_switches.max() < found.n_iterations


def test_says_when_it_gave_up():
    A = next(graphs("sparse"))[0]
    found = dfvc(A, max_changes=ENDLESS, max_iter=7)
    assert not found.has_converged
    assert found.n_iterations == 7


def test_sparse_input_gives_the_same():
    A = next(graphs("lasso"))[0]
    dense, sparse = dfvc(A), dfvc(sp.csr_array(A))
    np.testing.assert_array_equal(dense.vector, sparse.vector)
    assert dense.vector.max() == np.abs(dense.vector).max()


# ------------------------------------------------------------------- the order of the vertices


def test_no_start_that_ignores_the_order_finds_the_fiedler_vector_of_a_path():
    """``docs/theory.md``: such a start is its own mirror image, the Fiedler vector is not."""
    n = 12
    A = path(n)
    u = np.sqrt(A.sum(axis=0))
    v = np.linalg.eigh(laplacian(A))[1][:, 1]
    np.testing.assert_allclose(v[::-1], -v, atol=1e-12)
    iterated = np.linalg.inv(laplacian(A) - u[:, None] - np.eye(n) / A.sum() ** 2)
    distance_from_end = np.minimum(np.arange(n), np.arange(n)[::-1])
    for start in (u**2, np.sin(7 * u), 1.0 / (1 + distance_from_end), (A @ A @ A).sum(axis=0)):
        vector = start
        for _ in range(12):  # rounding would grow fourfold each time, and decide in the end
            vector = iterated @ vector
            vector /= np.linalg.norm(vector)
            np.testing.assert_allclose(vector[::-1], vector, atol=1e-6)
        assert abs(vector @ v) < 1e-6
        assert (vector[0] > 0) == (vector[-1] > 0) != (vector[n // 2] > 0)
    found = dfvc(A, max_changes=ENDLESS, max_iter=50).vector
    np.testing.assert_allclose(aligned(found, v), v, atol=1e-6)


def test_the_order_decides_when_the_iteration_stops_and_not_where_it_goes():
    stopped, limits = set(), set()
    A = GRAPHS["gaussian"](40, np.random.default_rng(3))
    for seed in range(20):
        order = np.random.default_rng(seed).permutation(len(A))
        permuted = A[order][:, order]
        for found, many in ((stopped, dfvc(permuted)), (limits, endless(permuted))):
            side = np.empty(len(A), dtype=bool)
            side[order] = many.vector >= 0
            found.add(tuple(side == side[0]))
    assert len(limits) == 1
    assert len(stopped) > 1


def endless(A):
    return dfvc(A, max_changes=ENDLESS, max_iter=500)


# ------------------------------------------------------------------------------ sign switches


@pytest.mark.parametrize("storage", [np.array, sp.csr_array])
def test_sign_switches_are_those_of_the_algorithm(storage):
    n_switches = 0
    for A, _, _ in list(graphs("gaussian"))[::10]:
        switches = sign_switches(storage(A))
        assert switches.tolist() == dfvc(A).sign_switches.tolist()
        n_switches += switches.sum()
    assert n_switches > 0


def test_sign_switches_of_a_large_graph_are_not_counted(monkeypatch):
    """Nothing dense is made of it."""
    monkeypatch.setattr(sp.csr_array, "toarray", None)
    n = DFVC_LIMIT + 1
    assert sign_switches(sp.diags_array([np.ones(n - 1)] * 2, offsets=[-1, 1])) is None
