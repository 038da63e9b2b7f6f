"""Bisection: components first, then a spectral cut, never an empty side."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from scipy.optimize import brentq
from tests.named_graphs import LARGE, band, complete, path, same_partition, star
from tests.reference.algorithms import GRAPHS, NCut, connected_components, laplacian

from setwise.cut import ExactCut, Fiedler, PaperCut, bisect, exact_fiedler, fiedler, ncut
from setwise.errors import ConvergenceWarning, DegenerateSplitWarning, ParameterError

STORAGES = {"dense": np.array, "sparse": sp.csr_array}


@dataclass(frozen=True)
class GivenVector(ExactCut):
    """Cuts at zero a vector that is given."""

    name: ClassVar[str] = ""
    given: Fiedler | None = None

    def vector(self, adjacency):
        return self.given


@pytest.fixture(params=STORAGES)
def stored(request):
    return STORAGES[request.param]


@pytest.fixture(params=["exact", "paper", "sweep"])
def cut(request):
    return request.param


def blocks(*parts):
    return sp.block_diag(parts).toarray()


def weakly_joined(weight):
    A = blocks(complete(4), complete(5))
    A[3, 4] = A[4, 3] = weight
    return A


def random_graphs(n_graphs, smallest=3, largest=50):
    for kind, make in GRAPHS.items():
        for seed in range(n_graphs):
            rng = np.random.default_rng(seed)
            yield kind, make(int(rng.integers(smallest, largest)), rng), rng


def has_gap(A):
    """Whether the graph has one Fiedler vector, and not a plane of them."""
    values = np.linalg.eigvalsh(laplacian(A))
    return len(values) < 3 or values[2] - values[1] > 1e-5 * values[2]


def check_proper(found, A):
    assert found.side.dtype == bool
    assert found.side.shape == (len(A),)
    assert 0 < found.side.sum() < len(A)
    assert found.ncut == pytest.approx(NCut(A, found.side) if found.ncut else 0.0, rel=1e-9)


# ---------------------------------------------------------------------------- components


@pytest.mark.parametrize(
    ("A", "expected"),
    [
        (blocks(complete(3), complete(5), complete(4)), [3, 4, 5, 6, 7]),
        (blocks(complete(4), complete(4), complete(2)), [0, 1, 2, 3]),  # first of the largest
        (blocks(complete(2), np.zeros((3, 3))), [0, 1]),  # isolated vertices
        (np.zeros((4, 4)), [0]),  # nothing but isolated vertices
        (blocks(path(3), star(4)), [3, 4, 5, 6]),
    ],
)
def test_largest_component_against_the_rest(A, expected, cut, stored):
    found = bisect(stored(A), cut)
    assert np.flatnonzero(found.side).tolist() == expected
    assert (found.kind, found.ncut, found.connectivity) == ("components", 0.0, 0.0)


@pytest.mark.parametrize("weight", [1e-3, 1e-8, 1e-9, 1e-15, 1e-60, 1e-300])
def test_a_weak_edge_is_an_edge(weight, cut, stored):
    """And it is where to cut, whether stored dense or sparse."""
    found = bisect(stored(weakly_joined(weight)), cut)
    assert found.kind == cut
    assert same_partition(found.side, np.arange(9) < 4)
    assert found.ncut == pytest.approx(weight / (12 + weight) + weight / (20 + weight))


def test_a_stored_zero_is_no_edge(cut):
    rows, columns = np.array([[0, 1, 1, 2], [1, 0, 2, 1]])
    for weights in ([1.0, 1.0, 0.0, 0.0], [0.0] * 4, [1e300, 1e300, 1e-300, 1e-300]):
        A = sp.csr_array((np.array(weights), (rows, columns)), shape=(3, 3))
        before = A.copy()
        assert bisect(A, cut).kind == "components"
        assert A.nnz == before.nnz == 4
        np.testing.assert_array_equal(A.data, before.data)


# ---------------------------------------------------------------------------- never empty


@pytest.mark.parametrize(
    "A",
    [
        path(2),
        path(3),
        path(17),
        complete(3),
        complete(30),
        star(9),
        weakly_joined(0.1),
        blocks(complete(3), complete(3), complete(3)) + 1e-12 * complete(9),
        np.kron(complete(4), np.ones((3, 3))),  # every row three times
        path(LARGE + 5),
        star(LARGE + 5),
    ],
    ids=lambda A: f"{len(A)}-{A.sum():.3g}",
)
@pytest.mark.filterwarnings("ignore::setwise.errors.DegenerateSplitWarning")
def test_neither_side_is_empty(A, cut, stored):
    found = bisect(stored(A), cut)
    check_proper(found, A)
    assert found.kind == cut


def test_neither_side_is_empty_on_random_graphs(cut):
    for _, A, _ in random_graphs(15):
        found = bisect(sp.csr_array(A), cut)
        check_proper(found, A)
        assert found.has_converged
        assert found.n_iterations > 0 or cut != "paper"


@pytest.mark.parametrize("kind", ["exact", "sweep"])
def test_two_vertices_need_no_fallback(kind, stored):
    found = bisect(stored(0.3 * path(2)), kind)
    assert found.fallback == ""
    assert found.ncut == pytest.approx(2.0)
    assert found.connectivity == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("vector", "fallback", "side"),
    [
        ([1.0, 2.0, 3.0, 4.0], "sweep", [False, False, True, True]),
        ([1.0, 1.0, 1.0, 1.0], "median", [False, False, True, True]),
        ([-1.0, -1.0, -1.0, -1.0], "median", [False, False, True, True]),
    ],
)
def test_an_improper_split_falls_back_and_says_so(vector, fallback, side):
    # On a cycle all degrees are equal, so a constant vector is constant for the sweep too.
    found_vector = Fiedler(vector=np.array(vector), connectivity=0.0)
    cycle = path(4) + np.eye(4, k=3) + np.eye(4, k=-3)
    with pytest.warns(DegenerateSplitWarning, match=f"4 vertices.*the {fallback} was used"):
        found = bisect(cycle, GivenVector(found_vector))
    assert found.fallback == fallback
    assert found.side.tolist() == side


def test_a_cut_that_did_not_converge_says_so(cut, stored, monkeypatch):
    monkeypatch.setattr(fiedler, "MOST_STEPS", 20)
    # The paper's iteration converges at once; it has a limit of its own.
    rule = PaperCut(max_iter=1) if cut == "paper" else cut
    with pytest.warns(ConvergenceWarning, match=rf"{cut}' cut of 320 .* \d+ iterations"):
        found = bisect(stored(band(LARGE + 20)), rule)
    assert not found.has_converged


# -------------------------------------------------------------------------- entries of zero


def mirrored_path(left, right):
    return np.diag([*left, *right[::-1]], k=1) + np.diag([*left, *right[::-1]], k=-1)


SCALES = (1.0, 3.7, 0.1, 7.0, 1e-140)


def test_scale_does_not_decide_about_the_centre_of_a_path_of_three():
    """Its entry is zero whatever the weights; it stays with the heavier edge."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        a, b = rng.uniform(0.1, 1, 2)
        A = mirrored_path([a], [b])
        for scale in SCALES:
            side = bisect(sp.csr_array(A * scale), "exact").side
            assert (side[1] == side[0]) == (a > b)


def test_order_does_not_decide_about_entries_of_zero():
    """A vertex in the middle with leaves of its own: the three have entry zero, and stay."""
    A = np.zeros((11, 11))
    for i, j, weight in [
        *((0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 4, 1.0)),  # one arm
        *((4, 5, 0.7), (4, 6, 0.3)),  # the middle
        *((4, 7, 1.0), (7, 8, 1.0), (8, 9, 1.0), (9, 10, 1.0)),  # the other arm
    ]:
        A[i, j] = A[j, i] = weight
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(11)
        side = np.empty(11, dtype=bool)
        side[order] = bisect(sp.csr_array(A[order][:, order]), "exact").side
        assert len(set(side[[0, 1, 2, 3]])) == len(set(side[[7, 8, 9, 10]])) == 1
        assert side[0] != side[7]
        assert side[4] == side[5] == side[6]
        # A mirror image of itself: the first vertex with a sign keeps the middle.
        first = order[~np.isin(order, [4, 5, 6])][0]
        assert side[4] == side[first]


def test_a_tie_of_ncut_goes_to_the_lighter_side(stored):
    """Vertices 0 and 1 against 3 and 4; vertex 2, between them, has entry zero."""

    def weighted(inside):
        return mirrored_path([inside, 1.0], [1.0, 1.2])

    def advantage(inside):
        with_first, with_second = np.arange(5) < 3, np.arange(5) < 2
        return NCut(weighted(inside), with_first) - NCut(weighted(inside), with_second)

    inside = brentq(advantage, 0.1, 10.0, xtol=1e-15)
    A = weighted(inside)
    assert A[:2].sum() < 0.9 * A[3:].sum()
    for vector in ([1.0, 1.0, 1e-17, -1.0, -1.0], [-1.0, -1.0, 1e-17, 1.0, 1.0]):
        given = Fiedler(np.array(vector), 0.0, accuracy=1e-8)
        assert same_partition(bisect(stored(A), GivenVector(given)).side, np.arange(5) < 3)


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_entries_of_zero_are_a_side_where_one_would_be_empty(sign, stored):
    """A side of next to no volume has nearly all of the vector."""
    given = Fiedler(sign * np.array([1.0, -1e-12, 1e-12]), 0.0, accuracy=1e-8)
    assert same_partition(bisect(stored(path(3)), GivenVector(given)).side, np.arange(3) < 1)


# ---------------------------------------------------------------------------- what it says


def test_sweep_is_never_worse_than_the_signs():
    for _, A, _ in random_graphs(30):
        by_sweep, by_sign = bisect(sp.csr_array(A), "sweep"), bisect(sp.csr_array(A), "exact")
        assert by_sweep.ncut <= by_sign.ncut + 1e-12
        assert by_sweep.connectivity <= by_sweep.ncut + 1e-12
        assert by_sign.connectivity == pytest.approx(np.linalg.eigvalsh(laplacian(A))[1])


def test_exact_cut_is_by_the_signs_of_the_fiedler_vector():
    for _, A, _ in random_graphs(10):
        assert (bisect(A, "exact").side == (exact_fiedler(A / A.max()).vector >= 0)).all()


def test_dense_and_sparse_agree(cut):
    for _, A, _ in random_graphs(5, LARGE + 1, LARGE + 20):
        dense, sparse = bisect(A, cut), bisect(sp.csr_array(A), cut)
        if has_gap(A):
            assert same_partition(dense.side, sparse.side)
            assert dense.ncut == pytest.approx(sparse.ncut)


@pytest.mark.parametrize("kind", ["exact", "sweep"])
def test_the_order_of_the_rows_does_not_matter(kind):
    """Not so for "paper", whose start vector comes from a QR in row order."""
    n_compared = 0
    for _, A, rng in random_graphs(30, smallest=10):
        order = rng.permutation(len(A))
        found, permuted = (
            bisect(sp.csr_array(A), kind),
            bisect(sp.csr_array(A[order][:, order]), kind),
        )
        if has_gap(A):
            assert same_partition(found.side[order], permuted.side)
            n_compared += 1
    assert n_compared > 100


def test_the_order_of_the_rows_does_not_matter_between_unequal_components(cut, stored):
    A = blocks(complete(3), complete(5), np.zeros((1, 1)), path(4))
    found = bisect(stored(A), cut)
    for seed in range(10):
        order = np.random.default_rng(seed).permutation(len(A))
        assert (bisect(stored(A[order][:, order]), cut).side == found.side[order]).all()


# ------------------------------------------------------------------------------- numerics


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e-10, 1e10, 1e200, 1e306])
@pytest.mark.parametrize("cut", ["exact", "sweep"])
def test_scale_of_the_weights_does_not_matter(scale, cut):
    """But to "paper", whose eta is not scale free."""
    for _, A, _ in random_graphs(5, smallest=10):
        A = A / A.max()
        # Keep what stays representable: subnormal numbers have few digits.
        A[A < 1e-3] = 0.0
        if connected_components(A).max() > 0:
            continue
        plain, scaled = bisect(sp.csr_array(A), cut), bisect(sp.csr_array(scale * A), cut)
        if has_gap(A):
            assert same_partition(plain.side, scaled.side)
            assert scaled.ncut == pytest.approx(plain.ncut, rel=1e-6)


@pytest.mark.filterwarnings("ignore::setwise.errors.SetwiseWarning")
@pytest.mark.parametrize("n", [2, 3, 8, 40, LARGE + 10])
def test_weights_of_any_size_raise_nothing(n, cut):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        A = np.triu(10.0 ** rng.uniform(-300, 300, (n, n)), 1)
        A[rng.random((n, n)) < 0.7 * (n > 5)] = 0.0
        A = A + A.T
        with np.errstate(all="raise"):
            found = bisect(sp.csr_array(A), cut)
        assert 0 < found.side.sum() < n
        assert 0.0 <= found.ncut <= 2.0 + 1e-12


@pytest.mark.parametrize("n", [2, 3, 8, 40])
def test_signs_and_sweep_with_weights_of_any_size(n):
    """Best threshold, recomputed; rounding cannot hide a light vertex."""
    for seed in range(10):
        rng = np.random.default_rng(seed)
        A = np.triu(10.0 ** rng.uniform(-40, 0, (n, n)), 1)
        A = A + A.T
        by_sweep, by_sign = bisect(sp.csr_array(A), "sweep"), bisect(sp.csr_array(A), "exact")
        assert by_sweep.ncut == pytest.approx(NCut(A, by_sweep.side), rel=1e-9)
        assert by_sweep.ncut <= by_sign.ncut + 1e-12


def test_input_is_not_modified(cut, stored):
    for _, A, _ in random_graphs(2):
        given = stored(7.0 * A)
        bisect(given, cut)
        np.testing.assert_array_equal(sp.csr_array(given).toarray(), 7.0 * A)


def test_integer_weights(cut, stored):
    A = weakly_joined(1)
    found = bisect(stored(A.astype(np.int64)), cut)
    assert same_partition(found.side, bisect(A, cut).side)
    assert found.ncut == pytest.approx(ncut(A, found.side))


# --------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("n", [0, 1])
def test_needs_two_vertices(n, cut, stored):
    with pytest.raises(ParameterError, match=f"at least 2 vertices is needed to cut, got {n}"):
        bisect(stored(np.zeros((n, n))), cut)


def test_names_the_cuts_it_knows(stored):
    with pytest.raises(ParameterError, match=r"'sweep', 'exact', 'paper', .* got 'ratio'"):
        bisect(stored(path(3)), "ratio")
