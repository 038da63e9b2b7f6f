"""The exact lasso: optimality conditions, scikit-learn and SciPy as oracles."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.optimize import minimize
from scipy.spatial.distance import pdist
from sklearn.linear_model import Lasso
from tests.helpers import fingerprint, unit_columns
from tests.lasso.problems import (
    ATOMS,
    FAMILIES,
    around_one_direction,
    as_codes,
    coded,
    dense,
    solved,
)
from tests.reference.l1_ball import l1_ball_codes

from setwise.errors import ConvergenceWarning
from setwise.lasso import (
    ball_kernels,
    code_by_gram,
    descent_kernels,
    lasso_codes,
    optimality_violation,
    solver,
)


def literal_violation(columns, codes, penalty):
    """The optimality conditions, one column and one atom at a time."""
    worst = 0.0
    for i, code in enumerate(codes.toarray().T):
        residual = columns[:, i] - columns @ code
        for j, coefficient in enumerate(code):
            if j == i:
                continue
            slope = columns[:, j] @ residual
            if coefficient != 0:
                worst = max(worst, abs(slope - penalty * np.sign(coefficient)))
            else:
                worst = max(worst, abs(slope) - penalty)
    return worst


def objective(columns, i, code, penalty):
    residual = columns[:, i] - columns @ code
    return 0.5 * residual @ residual + penalty * np.abs(code).sum()


@pytest.mark.parametrize("penalty", [1e-3, 0.05, 0.3])
def test_codes_are_optimal_and_never_use_their_own_column(family, columns, penalty):
    codes = solved(columns, penalty)
    assert codes.shape == (columns.shape[1],) * 2
    # What counts as a violation matters only where columns differ by next to nothing.
    bound = 2 * descent_kernels.TOLERANCE if family == "nearly equal" else 1e-12
    assert literal_violation(columns, codes, penalty) <= bound
    assert not codes.diagonal().any()
    assert np.diff(codes.indptr).max() <= min(columns.shape)
    assert codes.data.all()


@pytest.mark.parametrize("seed", range(10))
def test_nearly_equal_columns_of_many_scales_end_optimal_and_without_a_warning(seed):
    # Clusters of columns 1e-8 to 1 apart: every atom is almost dependent on some others.
    rng = np.random.default_rng(seed)
    for _ in range(150):
        spread = 10.0 ** rng.uniform(-4, 0) * rng.choice([1, 1e-2, 1e-4], size=30)
        columns = around_one_direction(rng, rng.integers(2, 9), 30, spread)
        penalty = 10.0 ** rng.uniform(-6, 0)
        gram = columns.T @ columns
        codes = lasso_codes(gram, penalty, rank=min(columns.shape))
        assert optimality_violation(gram, codes, penalty) <= 1e-10


@given(
    hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 5), st.integers(1, 8)),
        elements=st.floats(-1, 1, width=16),
    ).filter(lambda columns: (np.linalg.norm(columns, axis=0) > 0.1).all()),
    st.floats(1e-3, 1),
)
def test_any_gram_matrix_is_solved(columns, penalty):
    columns = columns / np.linalg.norm(columns, axis=0)
    codes = solved(columns, penalty)
    assert literal_violation(columns, codes, penalty) <= 1e-10
    assert not codes.diagonal().any()


@pytest.mark.parametrize("family", ["random", "correlated"])
def test_scikit_learn_finds_the_same_codes_and_no_better_objective(family):
    columns = FAMILIES[family](np.random.default_rng(1))
    n_features, n_columns = columns.shape
    penalty = 0.05
    codes = solved(columns, penalty).toarray()
    oracle = Lasso(
        alpha=penalty / n_features, fit_intercept=False, tol=1e-10, max_iter=1_000_000
    )
    for i in range(n_columns):
        others = np.delete(np.arange(n_columns), i)
        expected = np.zeros(n_columns)
        expected[others] = oracle.fit(columns[:, others], columns[:, i]).coef_
        np.testing.assert_allclose(codes[:, i], expected, atol=1e-4)
        ours = objective(columns, i, codes[:, i], penalty)
        assert ours == pytest.approx(objective(columns, i, expected, penalty), abs=1e-9)
        assert ours <= objective(columns, i, expected, penalty) + 1e-14


def test_orthogonal_atoms_are_soft_thresholded():
    # One column against the axes: a_j = sign(x_j) max(|x_j| - penalty, 0).
    x = np.array([0.8, -0.5, 0.3, -0.1, 0.1])
    x[-1] = np.sqrt(1 - (x[:-1] ** 2).sum())
    columns = np.column_stack([np.eye(5), x])
    code = dense(coded(columns, 0.2, [5]), 6)[:5, 0]
    np.testing.assert_allclose(code, np.sign(x) * np.maximum(np.abs(x) - 0.2, 0), atol=1e-15)


def test_a_penalty_above_every_correlation_leaves_all_codes_empty(columns):
    gram = columns.T @ columns
    largest = np.abs(gram - np.diag(gram.diagonal())).max()
    assert solved(columns, largest + 1e-9).nnz == 0


def test_the_penalty_at_which_the_first_coefficient_appears_is_exact():
    columns = unit_columns(np.random.default_rng(2), 10, 6)
    gram = columns.T @ columns
    largest = np.abs(gram - np.eye(6)).max()
    assert solved(columns, largest - 1e-6).nnz == 2  # the closest pair, each by the other


def starts_of(columns):
    n = columns.shape[1]
    rng = np.random.default_rng(3)
    noise = np.where(rng.random((n, n)) < 0.3, rng.standard_normal((n, n)), 0.0)
    starts = {
        "its own solution": solved(columns, 0.05).toarray(),
        "that of a smaller penalty": solved(columns, 0.01).toarray(),
        "that of a larger penalty": solved(columns, 0.3).toarray(),
        "the signs turned around": -solved(columns, 0.05).toarray(),
        "noise": noise,
        "all other columns": np.ones((n, n)),
        "one tiny coefficient": 1e-14 * np.roll(np.eye(n), 1, axis=0),
        "huge coefficients": 1e6 * noise,
    }
    for start in starts.values():
        np.fill_diagonal(start, 0.0)
    return {name: as_codes(start) for name, start in starts.items()}


@pytest.mark.parametrize("start", starts_of(np.eye(2)))
@pytest.mark.parametrize(
    "family", ["random", "correlated", "more columns than features", "rank deficient"]
)
def test_any_start_leads_to_the_same_codes_and_stays_as_it_was(family, start):
    columns = FAMILIES[family](np.random.default_rng(0))
    n = columns.shape[1]
    given_start = starts_of(columns)[start]
    before = fingerprint(given_start.counts, given_start.atoms, given_start.values)
    codes = dense(coded(columns, 0.05, range(n), start=given_start), n)
    after = fingerprint(given_start.counts, given_start.atoms, given_start.values)
    assert after == before
    np.testing.assert_allclose(codes, solved(columns, 0.05).toarray(), rtol=0, atol=1e-12)
    assert not codes.diagonal().any()


@given(seed=st.integers(0, 10_000), share=st.floats(0, 1), log_penalty=st.floats(-3, 0))
def test_any_valid_start_leads_to_the_same_codes(seed, share, log_penalty):
    rng = np.random.default_rng(seed)
    columns = unit_columns(rng, rng.integers(2, 10), rng.integers(1, 15))
    n = columns.shape[1]
    start = np.where(rng.random((n, n)) < share, rng.standard_normal((n, n)), 0.0)
    np.fill_diagonal(start, 0.0)
    codes = dense(coded(columns, 10**log_penalty, range(n), start=as_codes(start)), n)
    expected = solved(columns, 10**log_penalty)
    np.testing.assert_allclose(codes, expected.toarray(), rtol=0, atol=1e-9)


@pytest.mark.parametrize("asked", [[3], [11, 0, 5], [4, 4], []])
def test_a_subset_of_columns_gets_the_same_codes(asked):
    columns = FAMILIES["random"](np.random.default_rng(0))
    every = solved(columns, 0.05).toarray()
    some = coded(columns, 0.05, np.array(asked, dtype=np.int64))
    assert len(some) == len(asked)
    np.testing.assert_array_equal(dense(some, 12), every[:, asked])


@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"one column"}))
@pytest.mark.parametrize("n_new", [0, 1, 4])
def test_a_border_is_as_if_the_gram_matrix_had_more_rows(family, n_new):
    columns = FAMILIES[family](np.random.default_rng(0))
    n = columns.shape[1]
    gram, rank = columns.T @ columns, min(columns.shape)
    n_old = n - n_new
    targets = np.array([0, n - 1, n_old // 2])
    old, border = np.asfortranarray(gram[:n_old, :n_old]), np.asfortranarray(gram[n_old:])
    before = fingerprint(old, border, targets)
    bordered = code_by_gram(old, 0.05, targets, rank=rank, border=border)
    assert fingerprint(old, border, targets) == before
    whole = code_by_gram(gram, 0.05, targets, rank=rank)
    np.testing.assert_allclose(dense(bordered, n), dense(whole, n), rtol=0, atol=1e-12)


def test_a_border_without_rows_is_none():
    columns = FAMILIES["random"](np.random.default_rng(0))
    without, empty = (
        coded(columns, 0.05, range(12), border=border) for border in (None, np.empty((0, 12)))
    )
    np.testing.assert_array_equal(dense(without, 12), dense(empty, 12))


def test_columns_that_are_all_new_are_coded_on_each_other():
    columns = FAMILIES["random"](np.random.default_rng(0))
    codes = code_by_gram(
        np.empty((0, 0)), 0.05, np.arange(12), rank=12, border=columns.T @ columns
    )
    np.testing.assert_allclose(dense(codes, 12), solved(columns, 0.05).toarray(), atol=1e-14)


def test_of_exact_copies_the_first_keeps_the_weight():
    columns = unit_columns(np.random.default_rng(4), 10, 3)
    columns = np.column_stack([columns[:, 0] + 0.3 * columns[:, 1], columns[:, 0], columns])
    columns = columns / np.linalg.norm(columns, axis=0)
    code = dense(coded(columns, 0.05, [0]), 5)[:, 0]
    assert code[1] != 0
    assert code[2] == 0  # the same column again


def test_gram_and_targets_stay_as_they_were():
    columns = FAMILIES["duplicated"](np.random.default_rng(0))
    gram = np.asfortranarray(columns.T @ columns)
    asked = np.array([2, 1])
    before = fingerprint(gram, asked)
    lasso_codes(gram, 0.05, rank=15)
    code_by_gram(gram, 0.05, asked, rank=15)
    assert fingerprint(gram, asked) == before


@pytest.mark.parametrize("change", [0.0, 1e-3, -1e-6])
def test_optimality_violation_is_the_literal_one(change):
    columns = FAMILIES["random"](np.random.default_rng(5))
    codes = solved(columns, 0.05)
    codes.data[7] += change
    found = optimality_violation(columns.T @ columns, codes, 0.05)
    assert found == pytest.approx(literal_violation(columns, codes, 0.05), abs=1e-15)
    assert (found > 1e-8) == (change != 0)


def test_optimality_violation_sees_a_missing_coefficient():
    columns = FAMILIES["random"](np.random.default_rng(5))
    nothing = sp.csc_array((12, 12))
    gram = columns.T @ columns
    expected = np.abs(gram - np.eye(12)).max() - 0.05
    assert optimality_violation(gram, nothing, 0.05) == pytest.approx(expected, abs=1e-12)


def test_too_few_steps_give_a_warning(monkeypatch):
    monkeypatch.setattr(solver, "MAX_STEPS", 1)
    columns = FAMILIES["random"](np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="12 of 12 columns .* in 1 steps"):
        solved(columns, 0.05)


def test_a_rank_below_the_true_one_gives_a_warning_and_no_more_atoms():
    columns = FAMILIES["random"](np.random.default_rng(0))
    with pytest.warns(ConvergenceWarning, match="with at most 2 atoms"):
        codes = lasso_codes(columns.T @ columns, 0.01, rank=2)
    assert np.diff(codes.indptr).max() == 2


# Codes in the l1 ball.


def in_ball(atoms, vectors, radius, **options):
    return l1_ball_codes(atoms.T @ atoms, vectors @ atoms, radius, **options)


def ball_conditions(atoms, vectors, codes, radius):
    """How far codes leave the ball, and their duality gap: both zero at the optimum only."""
    slopes = (vectors - codes @ atoms.T) @ atoms
    outside = np.abs(codes).sum(axis=1) - radius
    gap = radius * np.abs(slopes).max(axis=1) - (slopes * codes).sum(axis=1)
    return outside.max(), gap.max()


@pytest.mark.parametrize("kind", ATOMS)
@pytest.mark.parametrize("radius", [0.05, 1.0, 100.0])
def test_codes_are_the_optimum_in_the_ball(kind, radius):
    rng = np.random.default_rng(6)
    atoms, vectors = ATOMS[kind](rng), rng.standard_normal((30, 8))
    vectors[3] = 0.0
    outside, gap = ball_conditions(atoms, vectors, in_ball(atoms, vectors, radius), radius)
    assert outside <= 1e-12 * radius
    assert gap <= 1e-10


@pytest.mark.parametrize("spread", [1e-3, 1e-5, 1e-6, 1e-7])
@pytest.mark.parametrize("radius", [0.1, 1.0, 100.0])
def test_nearly_equal_atoms_neither_leave_the_ball_nor_cycle(spread, radius):
    rng = np.random.default_rng(0)
    atoms = around_one_direction(rng, 10, 6, spread)
    vectors = rng.standard_normal((50, 10))
    outside, gap = ball_conditions(atoms, vectors, in_ball(atoms, vectors, radius), radius)
    assert outside <= 1e-12 * radius
    # A Gram matrix cannot tell atoms 1e-7 apart: taking one for another costs this much.
    taken_for_equal = radius * np.linalg.norm(vectors, axis=1).max() * pdist(atoms.T).max()
    assert gap <= (1e-8 if spread > 1e-7 else taken_for_equal)


@pytest.mark.parametrize("radius", [0.3, 1.0, 2.0])
def test_scipy_finds_the_same_codes_in_the_ball(radius):
    rng = np.random.default_rng(7)
    atoms, vectors = ATOMS["independent"](rng), rng.standard_normal((6, 8))
    codes = in_ball(atoms, vectors, radius)
    split = np.hstack([atoms, -atoms])  # a = p - m with p, m >= 0
    for vector, code in zip(vectors, codes, strict=True):
        oracle = minimize(
            lambda pm, x=vector: 0.5 * ((x - split @ pm) ** 2).sum(),
            np.zeros(8),
            jac=lambda pm, x=vector: split.T @ (split @ pm - x),
            bounds=[(0, None)] * 8,
            constraints={
                "type": "ineq",
                "fun": lambda pm: radius - pm.sum(),
                "jac": lambda pm: -np.ones(8),
            },
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        )
        np.testing.assert_allclose(code, oracle.x[:4] - oracle.x[4:], atol=1e-6)
        assert 0.5 * ((vector - atoms @ code) ** 2).sum() <= oracle.fun + 1e-12


def test_a_bound_that_does_not_bind_gives_least_squares():
    rng = np.random.default_rng(8)
    atoms, vectors = ATOMS["independent"](rng), rng.standard_normal((10, 8))
    expected = np.linalg.lstsq(atoms, vectors.T)[0].T
    radius = np.abs(expected).sum(axis=1).max() * 1.001
    np.testing.assert_allclose(in_ball(atoms, vectors, radius), expected, atol=1e-12)


def test_the_start_and_the_type_of_the_numbers_do_not_matter():
    rng = np.random.default_rng(9)
    atoms = ATOMS["independent"](rng)
    vectors = rng.integers(-3, 4, (10, 8))
    expected = in_ball(atoms, vectors.astype(float), 1.0)
    start = rng.standard_normal((10, 4))
    before = fingerprint(start)
    np.testing.assert_allclose(in_ball(atoms, vectors, 1.0, start=start), expected, atol=1e-12)
    assert fingerprint(start) == before
    whole = l1_ball_codes(np.eye(2, dtype=int), np.array([[3, 2]]), 1.5)
    np.testing.assert_allclose(whole, [[1.25, 0.25]], atol=1e-13)  # q minus 1.75
    fortran = np.asfortranarray(vectors @ atoms)
    np.testing.assert_array_equal(l1_ball_codes(atoms.T @ atoms, fortran, 1.0), expected)


def test_too_few_steps_in_the_ball_are_told_and_keep_the_bound():
    rng = np.random.default_rng(10)
    atoms, vectors = ATOMS["independent"](rng), rng.standard_normal((10, 8))
    codes = np.ones((10, 4))
    assert not ball_kernels.code_in_l1_ball(
        atoms.T @ atoms, vectors @ atoms, 0.5, codes, 1
    ).any()
    assert np.abs(codes).sum(axis=1).max() <= 0.5 * (1 + 1e-12)
