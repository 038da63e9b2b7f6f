"""The kernels one by one, compiled and as plain Python, and how they are compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import warnings
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
from tests.helpers import unit_columns
from tests.lasso.plain import PLAIN
from tests.lasso.problems import (
    ATOMS,
    FAMILIES,
    around_one_direction,
    as_codes,
    dense,
    solved,
    violation,
)

import setwise
from setwise.errors import ConvergenceWarning
from setwise.lasso import (
    Codes,
    Pools,
    ball_kernels,
    code_by_gram,
    code_with_new,
    descent_kernels,
    inverse_kernels,
    inverses_of,
    kernels,
    pool_kernels,
    pools,
    solver,
)

COMPILED = SimpleNamespace(
    descent_kernels=descent_kernels,
    inverse_kernels=inverse_kernels,
    kernels=kernels,
    pool_kernels=pool_kernels,
    ball_kernels=ball_kernels,
)
BOTH = pytest.mark.parametrize("way", [COMPILED, PLAIN], ids=["compiled", "plain"])


# Rounding decides the way among nearly equal columns: only their optimality is tested.
CLEAR = pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"nearly equal"}))


def both_ways(module, name, *arguments):
    """Results and changed arguments of a compiled function and of its Python source."""
    outcomes = []
    for run in (getattr(getattr(way, module), name) for way in (COMPILED, PLAIN)):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        result = run(*own)
        results = result if isinstance(result, tuple) else (result,)
        outcomes.append([r for r in (*results, *own) if r is not None])
    return outcomes


def assert_same_both_ways(module, name, *arguments, atol=1e-12):
    for by_compiled, by_plain in zip(*both_ways(module, name, *arguments), strict=True):
        np.testing.assert_allclose(by_compiled, by_plain, rtol=0, atol=atol)


@pytest.fixture
def use(monkeypatch):
    """Have the Python around the kernels call compiled ones, or plain ones."""

    def choose(way, max_steps=100_000):
        monkeypatch.setattr(solver, "MAX_STEPS", max_steps)
        for module in (solver, pools):
            monkeypatch.setattr(
                module, "kernels_of", lambda _, name="kernels": getattr(way, name)
            )

    return choose


def test_the_factor_grows_shrinks_and_solves():
    rng = np.random.default_rng(11)
    columns = unit_columns(rng, 6, 5)
    gram = columns.T @ columns
    factor, active = np.zeros((5, 5)), np.zeros(5, np.int64)
    append, delete, forward, backward = (
        getattr(PLAIN.descent_kernels, name)
        for name in ("append", "delete", "forward", "backward")
    )
    for k in range(4):
        arguments = factor, gram, active, k, k + 1, 1e-11
        assert append(*arguments)
    assert not append(factor, gram, active, 4, 2, 1e-11)  # already in
    right = rng.standard_normal(4)
    forward(factor, 4, y := right.copy())
    backward(factor, 4, z := y.copy())
    np.testing.assert_allclose(gram[1:, 1:] @ z, right, atol=1e-13)
    for gone in range(4):
        left, order, rotated = factor.copy(), active.copy(), y.copy()
        assert delete(left, order, rotated, 4, gone) == 3
        kept = order[:3]
        np.testing.assert_allclose(
            (np.tril(left) @ np.tril(left).T)[:3, :3], gram[np.ix_(kept, kept)], atol=1e-14
        )
        np.testing.assert_allclose(
            np.tril(left)[:3, :3] @ rotated[:3], np.delete(right, gone), atol=1e-14
        )


def test_the_inverse_grows_and_shrinks():
    rng = np.random.default_rng(11)
    columns = unit_columns(rng, 6, 5)
    gram, way = columns.T @ columns, PLAIN.inverse_kernels
    K, active = np.full((5, 5), np.nan), np.array([1, 2, 3, 4, 2])
    a, z, sign, h, u = np.zeros((5, 5))
    for k in range(4):
        assert way._grow(gram, gram, gram, K, active, h, u, k)
    assert not way._grow(gram, gram, gram, K, active, h, u, 4)  # already in
    np.testing.assert_allclose(K[:4, :4] @ gram[1:, 1:], np.eye(4), atol=1e-13)
    right = rng.standard_normal(4)
    for gone in range(4):
        inverse, order, solution = K.copy(), active.copy(), z.copy()
        solution[:4] = K[:4, :4] @ right
        assert way._leave(inverse, order, a, solution, sign, u, 4, gone) == 3
        places = np.array([3 if r == gone else r for r in range(3)])
        np.testing.assert_array_equal(order[:3], active[places])
        expected = np.linalg.inv(gram[np.ix_(order[:3], order[:3])])
        np.testing.assert_allclose(inverse[:3, :3], expected, atol=1e-12)
        np.testing.assert_allclose(solution[:3], expected @ right[places], atol=1e-12)


@pytest.mark.parametrize("first", [0, 10])
def test_the_worst_violators_are_let_in(first):
    rng = np.random.default_rng(12)
    g, is_in = rng.standard_normal(40), rng.random(40) < 0.2
    work, a, sign = np.full(40, -1), np.ones(40), np.ones(40)
    arguments = g, first, 40, 0.1, np.arange(100, 140), is_in, work, a, sign, 3
    allowed = np.flatnonzero(~is_in & (np.abs(g) > 0.1) & (np.arange(40) >= first))
    count, worst = PLAIN.kernels.let_in(*arguments)
    expected = allowed[np.argsort(-np.abs(g[allowed]), kind="stable")][:count]
    assert count == kernels.ENTER_AT_ONCE
    assert worst == np.abs(g[expected[0]])
    np.testing.assert_array_equal(work[3 : 3 + count], expected + 100)
    assert is_in[expected].all()
    assert not a[3 : 3 + count].any()
    assert not sign[3 : 3 + count].any()
    assert PLAIN.kernels.let_in(0 * g, *arguments[1:]) == (0, 0.0)


@CLEAR
@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize("max_steps", [1, 10_000])
def test_plain_python_agrees_on_the_lasso(columns, penalty, start, max_steps):
    gram = columns.T @ columns
    atoms = np.ascontiguousarray(gram[1:, 1:])
    code = np.full(len(atoms), start)
    assert_same_both_ways(
        *("kernels", "lasso_on_gram", atoms, gram[0, 1:].copy(), penalty, code, max_steps),
        atol=1e-9,  # of coefficients, where atoms are much alike
    )


def coded_both_ways(use, max_steps, *arguments, **options):
    """Codes by the compiled kernel and by plain Python, which must be the same."""
    outcomes = []
    for way in (COMPILED, PLAIN):
        use(way, max_steps)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            outcomes.append(
                (code_by_gram(*arguments, **options), [str(w.message) for w in caught])
            )
    (by_compiled, said), (by_plain, said_plainly) = outcomes
    assert said == said_plainly
    np.testing.assert_array_equal(by_compiled.counts, by_plain.counts)
    np.testing.assert_array_equal(by_compiled.atoms, by_plain.atoms)
    np.testing.assert_allclose(by_compiled.values, by_plain.values, rtol=0, atol=1e-9)
    return by_compiled, said


@CLEAR
@pytest.mark.parametrize(("cap", "max_steps"), [(30, 1), (2, 10_000), (30, 10_000)])
def test_plain_python_agrees_on_all_columns(columns, cap, max_steps, use):
    columns = columns[:, :20]
    start = as_codes(solved(columns, 0.02).toarray())
    coded_both_ways(
        use,
        max_steps,
        columns.T @ columns,
        0.05,
        np.arange(columns.shape[1]),
        rank=cap,
        start=start,
    )


@CLEAR
@pytest.mark.parametrize("with_inverses", [False, True])
def test_plain_python_agrees_on_columns_that_new_ones_change(columns, with_inverses, use):
    columns = columns[:, :20]
    n = columns.shape[1]
    n_old = n - min(3, n - 1)
    gram, rank = columns.T @ columns, min(columns.shape)
    old = np.ascontiguousarray(gram[:n_old, :n_old])
    known = code_by_gram(old, 0.05, np.arange(n_old), rank=rank)
    violations = np.abs(gram[n_old:, :n_old] - gram[n_old:, :n_old] @ dense(known, n_old))
    expected = np.flatnonzero(violations.max(axis=0, initial=0.0) > 0.05)
    found = []
    for way in (COMPILED, PLAIN):
        use(way)
        inverses = inverses_of(old, known)
        found.append(inverses[1])
        if not with_inverses:
            inverses = np.empty(0), np.full(n_old, -1)
        targets, codes = code_with_new(
            old, 0.05, gram[n_old:], rank=rank, known=known, inverses=inverses
        )
        np.testing.assert_array_equal(targets, np.append(expected, np.arange(n_old, n)))
        found.append(dense(codes, n))
    np.testing.assert_array_equal(found[0], found[2])
    np.testing.assert_allclose(found[1], found[3], rtol=0, atol=1e-9)
    assert violation(columns, found[1], 0.05, targets) <= 1e-9


def test_a_working_set_larger_than_its_room_is_given_more(use, monkeypatch):
    columns = unit_columns(np.random.default_rng(14), 30, 50)
    arguments = columns.T @ columns, 1e-3, np.arange(3)
    at_once = code_by_gram(*arguments, rank=30)
    monkeypatch.setattr(solver, "_ROOM", 3)
    codes, said = coded_both_ways(use, 10_000, *arguments, rank=30)
    assert codes.counts.min() > 12
    assert not said
    np.testing.assert_array_equal(codes.atoms, at_once.atoms)
    np.testing.assert_array_equal(codes.values, at_once.values)


def test_a_descent_from_coefficients_that_depend_on_each_other_ends_optimal():
    rng = np.random.default_rng(14)
    columns = unit_columns(rng, 30, 60)
    gram = columns.T @ columns
    atoms, q = np.ascontiguousarray(gram[1:, 1:]), gram[0, 1:].copy()
    a = rng.standard_normal(59)  # more than can be independent
    factor, active, sign = np.zeros((59, 59)), np.zeros(59, np.int64), np.zeros(59)
    k = PLAIN.descent_kernels.align(atoms, a, factor, active, sign, 59)
    assert k == np.count_nonzero(a) == 30
    spare = np.empty((descent_kernels.N_SPARE, 59))
    state = atoms, q, 0.01, a, factor, active, sign, spare
    assert PLAIN.descent_kernels.settle(*state, k, 59, 10_000) == np.count_nonzero(a)
    slopes = q - atoms @ a
    bound = np.where(a != 0, 0.01 * np.sign(a), np.clip(slopes, -0.01, 0.01))
    np.testing.assert_allclose(slopes, bound, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ATOMS)
@pytest.mark.parametrize("max_steps", [2, 10_000])
def test_plain_python_agrees_on_the_ball(kind, max_steps):
    rng = np.random.default_rng(13)
    atoms, vectors = ATOMS[kind](rng), rng.standard_normal((5, 8))
    codes = np.ones((5, atoms.shape[1]))
    for radius in (0.3, 50.0):
        assert_same_both_ways(
            "ball_kernels",
            "code_in_l1_ball",
            atoms.T @ atoms,
            vectors @ atoms,
            radius,
            codes,
            max_steps,
        )


@pytest.mark.parametrize("seed", range(4))
def test_plain_python_ends_optimal_among_nearly_equal_atoms(seed):
    # Rounding decides the way here, so the end is compared with the conditions instead.
    rng = np.random.default_rng(seed)
    for _ in range(40):
        spread = 10.0 ** rng.uniform(-6, 0) * rng.choice([1, 1e-2, 1e-4], size=15)
        columns = around_one_direction(rng, rng.integers(2, 9), 15, spread)
        gram = columns.T @ columns
        code = np.zeros(14)
        penalty = 10.0 ** rng.uniform(-5, 0)
        q = gram[0, 1:].copy()
        assert PLAIN.kernels.lasso_on_gram(
            np.ascontiguousarray(gram[1:, 1:]), q, penalty, code, 10_000
        )
        slopes = q - gram[1:, 1:] @ code
        bound = np.where(code != 0, penalty * np.sign(code), np.clip(slopes, -penalty, penalty))
        np.testing.assert_allclose(slopes, bound, rtol=0, atol=1e-9)
        codes = np.zeros((3, 6))
        atoms, vectors = columns[:, :6], rng.standard_normal((3, len(columns)))
        arguments = atoms.T @ atoms, vectors @ atoms, 1.0, codes, 10_000
        assert PLAIN.ball_kernels.code_in_l1_ball(*arguments).all()
        assert np.abs(codes).sum(axis=1).max() <= 1 + 1e-12


def at_angle(angle):
    return np.array([np.cos(angle), np.sin(angle)])


@BOTH
@pytest.mark.parametrize("angle", [1e-5, 2e-6])
def test_an_atom_very_close_to_another_still_enters(way, angle):
    atoms = np.column_stack([at_angle(0), at_angle(angle)])
    x = np.array([0.3, 0.4])
    code = np.zeros(2)
    assert way.kernels.lasso_on_gram(atoms.T @ atoms, atoms.T @ x, 0.0, code, 100)
    np.testing.assert_allclose(atoms @ code, x, atol=1e-3)  # coefficients of 0.4 / angle


@BOTH
def test_an_atom_no_further_than_rounding_is_taken_for_a_copy(way):
    atoms = np.column_stack([at_angle(0), at_angle(1e-7)])
    code = np.zeros(2)
    assert way.kernels.lasso_on_gram(
        atoms.T @ atoms, atoms.T @ np.array([0.3, 0.4]), 0.0, code, 100
    )
    assert np.count_nonzero(code) == 1
    assert code.sum() == pytest.approx(0.3, abs=1e-6)


@BOTH
def test_copies_whose_correlations_differ_by_rounding_do_not_cycle(way):
    code = np.zeros(2)
    assert way.kernels.lasso_on_gram(
        np.ones((2, 2)), np.array([0.5, 0.5 + 1e-9]), 0.0, code, 100
    )
    np.testing.assert_array_equal(code, [0.0, 0.5 + 1e-9])


def exchange_for_a_copy():
    """Atoms 0 and 1 are active; 2 violates by 1e-8, and without atom 1 is a copy of atom 0."""
    penalty = 1e-6
    atoms = np.column_stack([at_angle(0), at_angle(2e-5), at_angle(-1e-7)])
    residual = np.linalg.solve(atoms[:, :2].T, [penalty, -penalty])
    start = np.array([1.0, -1e-3, 0.0])
    return atoms, atoms @ start + residual, start, penalty


@BOTH
def test_an_exchange_for_a_copy_is_taken_back(way):
    atoms, x, start, penalty = exchange_for_a_copy()
    assert np.abs(atoms[:, 2] @ (x - atoms @ start)) > penalty + 5e-9
    code = start.copy()
    assert way.kernels.lasso_on_gram(atoms.T @ atoms, atoms.T @ x, penalty, code, 100)
    np.testing.assert_allclose(code, start, atol=1e-5)
    assert code[2] == 0


@BOTH
def test_a_violation_left_behind_counts_as_not_converged(way, use):
    atoms, x, start, penalty = exchange_for_a_copy()
    columns = np.column_stack([atoms, x])
    use(way)
    begin = Codes(np.array([2]), np.array([0, 1]), start[:2].copy())
    with pytest.warns(ConvergenceWarning, match="1 of 1 columns"):
        code_by_gram(columns.T @ columns, penalty, np.array([3]), rank=3, start=begin)


# Pools.


@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize("most", [1, 4, 17, 40, 100])
@BOTH
def test_pools_are_the_atoms_above_a_cutoff_and_nearly_as_many_as_asked(way, most, n_new):
    rng = np.random.default_rng(15)
    gradients = rng.standard_normal((6, 40)).astype(np.float32)
    gradients[1] = 0.0
    gradients[2] = np.where(np.arange(40) < 30, 0.5, -0.5)  # a tie of all
    gradients[3, 5:] = 0.0
    gradients[4] *= 1e-12
    gradients[5, :25] = 1e-6 * rng.standard_normal(25)
    owns = np.array([0, 7, 39, 2, 11, 12]) + np.array([0, 0, 0, 0, n_new and 40, n_new and 40])
    given_gradients = gradients.copy()
    atoms, counts, cutoffs = way.pool_kernels.choose_pools(given_gradients, owns, most)
    assert atoms.shape == (6, most)
    for t in range(6):
        chosen = atoms[t, : counts[t]]
        assert (np.diff(chosen) > 0).all()
        g = np.abs(gradients[t]).astype(np.float64)
        if owns[t] < 40:
            g[owns[t]] = 0.0
        outside = np.setdiff1d(np.arange(40), chosen)
        assert (g[outside] <= cutoffs[t]).all()
        assert (g[chosen] > cutoffs[t]).all()
        if most >= 40:
            assert counts[t] == 40
        else:
            assert owns[t] not in chosen
    if most < 40:
        assert counts[0] >= 0.75 * most - 1
        assert cutoffs[1] == 0
        assert counts[2] == 0  # which of equals to take would be arbitrary


@pytest.mark.parametrize("most", [1, 4, 17, 40, 100])
def test_plain_python_agrees_on_the_pools(columns, most):
    gradients = (columns.T @ columns).astype(np.float32)
    owns = np.arange(len(gradients))[::-1].copy()
    assert_same_both_ways("pool_kernels", "choose_pools", gradients, owns, most)
    nothing = gradients[:, :0].copy()
    assert_same_both_ways("pool_kernels", "choose_pools", nothing, owns, 0)


@pytest.mark.parametrize("n_new", [0, 40])
def test_the_largest_gradient_outside_a_pool_is_that_of_no_atom_inside_or_of_the_column(n_new):
    rng = np.random.default_rng(19)
    gradients = rng.standard_normal((8, 40)).astype(np.float32)
    owns = rng.permutation(40)[:8] + n_new
    pools = np.array([rng.permutation(40)[:10] for _ in range(8)], dtype=np.int32)
    counts = np.array([0, 1, 2, 5, 9, 10, 10, 10])
    pools[0] = 39  # beyond the count: means nothing
    expected = np.abs(gradients).astype(np.float64)
    for t in range(8):
        expected[t, pools[t, : counts[t]]] = 0.0
        if n_new == 0:
            expected[t, owns[t]] = 0.0
    largest = pool_kernels.largest_outside(gradients, owns, pools, counts)
    np.testing.assert_array_equal(largest, expected.max(axis=1))
    assert_same_both_ways("pool_kernels", "largest_outside", gradients, owns, pools, counts)
    everything = np.tile(np.arange(40, dtype=np.int32), (8, 1))
    full = np.full(8, 40)
    assert not pool_kernels.largest_outside(gradients, owns, everything, full).any()


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (0, 7), (3, 9), (4, 9), (8, 9)])
def test_products_of_new_rows(first, last):
    rows = np.random.default_rng(20).standard_normal((9, 5))
    before = np.full((9, 9), np.nan)
    products = before.copy()
    PLAIN.pool_kernels._fill_products(rows, first, last, products)
    expected = before.copy()
    expected[first:last, :last] = (rows @ rows.T)[first:last, :last]
    expected[:last, first:last] = (rows @ rows.T)[:last, first:last]
    np.testing.assert_allclose(products, expected, rtol=0, atol=1e-13)


def test_gradients_of_candidates():
    rng = np.random.default_rng(21)
    rows, extra = (rng.standard_normal((n, 5)).astype(np.float32) for n in (6, 3))
    candidates, r = np.array([8, 0, 5, 6, 2, 0]), rng.standard_normal(5)
    g, W = np.full(6, np.nan), r[None].copy()
    PLAIN.pool_kernels.compute_gradients(rows, extra, candidates, 5, W, g)
    expected = np.concatenate([rows, extra]).astype(np.float64)[candidates[:5]] @ r
    np.testing.assert_allclose(g[:5], expected, rtol=0, atol=1e-14)
    assert np.isnan(g[5])


def pooled_both_ways(use, columns, n_new, targets, penalty, start, pool_size, max_steps):
    """Codes on pools, the last columns being new; plain Python must give the same."""
    rows = np.ascontiguousarray(columns.T, dtype=np.float32)
    n_old = len(rows) - n_new
    old, extra = rows[:n_old].copy(), rows[n_old:].copy()
    atoms, counts, cutoffs = pool_kernels.choose_pools(
        rows[targets] @ old.T, targets, pool_size
    )
    outcomes = []
    for way in (COMPILED, PLAIN):
        use(way, max_steps)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            codes, residuals = pools._code_in_pools(
                old, extra, targets, penalty, start, Pools(atoms, counts, cutoffs)
            )
        outcomes.append((codes, residuals, [str(w.message) for w in caught]))
    (codes, residuals, said), (plain, plain_residuals, said_plainly) = outcomes
    assert said == said_plainly
    np.testing.assert_array_equal(plain.counts, codes.counts)
    np.testing.assert_array_equal(plain.atoms, codes.atoms)
    np.testing.assert_allclose(plain.values, codes.values, rtol=0, atol=1e-11)
    np.testing.assert_allclose(plain_residuals, residuals, rtol=0, atol=1e-7)  # float32
    return codes, said


@CLEAR
@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize("pool_size", [2, 40])
@pytest.mark.parametrize("max_steps", [1, 10_000])
def test_plain_python_agrees_on_codes_on_pools(columns, max_steps, n_new, pool_size, use):
    columns = columns[:, :20]
    n = columns.shape[1]
    start = as_codes(solved(columns, 0.02).toarray())
    pooled_both_ways(
        use, columns, min(n_new, n - 1), np.arange(n), 0.05, start, pool_size, max_steps
    )


@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize("pool_size", [0, 3, 40])
@pytest.mark.parametrize("with_start", [False, True])
@BOTH
def test_codes_on_pools_are_optimal_over_pool_start_and_new_columns(
    columns, n_new, pool_size, with_start, way, use
):
    columns = columns[:, :20]
    n = columns.shape[1]
    n_new = min(n_new, n - 1)
    rows = np.ascontiguousarray(columns.T, dtype=np.float32)
    old, extra = rows[: n - n_new].copy(), rows[n - n_new :].copy()
    targets = np.arange(n)
    start = solved(columns, 0.05).toarray() if with_start else np.zeros((n, n))
    rng = np.random.default_rng(16)
    offers = np.array([rng.permutation(len(old))[:pool_size] for _ in targets], dtype=np.int32)
    counts = rng.integers(0, offers.shape[1] + 1, n)
    use(way)
    codes, residuals = pools._code_in_pools(
        old, extra, targets, 0.01, as_codes(start), Pools(offers, counts, np.zeros(n))
    )
    exact, dense = rows.astype(np.float64), codes.to_csc(n).toarray()
    for t in targets:
        offered = {*offers[t, : counts[t]], *range(len(old), n), *np.flatnonzero(start[:, t])}
        offered = np.array(sorted(offered - {t}), dtype=int)
        used = np.flatnonzero(dense[:, t])
        assert np.isin(used, offered).all()
        residual = exact[t] - dense[:, t] @ exact
        np.testing.assert_allclose(residuals[t], residual, rtol=0, atol=1e-7)
        slopes, part = exact[offered] @ residual, dense[offered, t]
        bound = np.where(part != 0, 0.01 * np.sign(part), np.clip(slopes, -0.01, 0.01))
        np.testing.assert_allclose(slopes, bound, rtol=0, atol=1e-9)


def test_plain_python_agrees_on_pools_with_more_atoms_than_there_is_room_for_at_first(
    use, monkeypatch
):
    monkeypatch.setattr(solver, "_ROOM", 3)
    columns = unit_columns(np.random.default_rng(17), 20, 40)
    start = np.zeros((40, 1))
    for part in (start, np.where(np.arange(40)[:, None] > 30, 0.1, 0.0)):
        codes, said = pooled_both_ways(
            use, columns, 0, np.array([5]), 1e-3, as_codes(part), 40, 10_000
        )
        assert codes.counts[0] > 12
        assert not said


def test_a_violation_left_behind_in_a_pool_counts_as_not_converged(use):
    atoms, x, start, penalty = exchange_for_a_copy()
    # Plain Python, because the case is finer than the float32 that the other is compiled for.
    use(PLAIN)
    rows = np.column_stack([atoms, x]).T.copy()
    offers = Pools(np.array([[0, 1, 2]], dtype=np.int32), np.array([3]), np.zeros(1))
    begin = Codes(np.array([2]), np.array([0, 1]), start[:2].copy())
    with pytest.warns(ConvergenceWarning, match="1 of 1 columns"):
        codes, _ = pools._code_in_pools(rows, rows[:0], np.array([3]), penalty, begin, offers)
    assert codes.counts[0] == 2


def test_the_offered_atoms_of_one_column_are_forgotten_before_the_next(use):
    # The same column twice: had the first left a mark, the second would miss atoms.
    columns = unit_columns(np.random.default_rng(18), 10, 30)
    codes, _ = pooled_both_ways(
        use, columns, 2, np.array([4, 4]), 0.05, as_codes(np.zeros((30, 2))), 28, 10_000
    )
    first, second = codes.take(np.array([0])), codes.take(np.array([1]))
    assert len(first.atoms) > 0
    np.testing.assert_array_equal(first.atoms, second.atoms)
    np.testing.assert_array_equal(first.values, second.values)


_FIRST_START = """
import logging, sys
import numpy as np
from setwise.lasso import ball_kernels, kernels, lasso_codes
logging.basicConfig(stream=sys.stderr, format="%(message)s")
lasso_codes(np.eye(3), 0.1, rank=3)
ball_kernels.code_in_l1_ball(np.eye(3), np.ones((2, 3)), 1.0, np.zeros((2, 3)), 1000)
compiled = [k for m in (kernels, ball_kernels) for k in vars(m).values() if hasattr(k, "stats")]
print(sum(sum(k.stats.cache_misses.values()) for k in compiled))
"""


@pytest.mark.slow  # tests/_support/test_compiled.py shows it on one kernel
def test_the_kernels_say_that_they_compile_and_do_it_once(tmp_path):
    # A copy, so that nobody edits a kernel between the two runs, which is to compile again.
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(Path(setwise.__file__).parent, tmp_path / "setwise", ignore=ignored)
    environment = {
        **os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": str(tmp_path)
    }  # fmt: skip
    runs = [
        subprocess.run(
            [sys.executable, "-c", _FIRST_START],
            env=environment,
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=True,
        )
        for _ in range(2)
    ]
    assert runs[0].stderr.count("compiling, once") == 1
    assert int(runs[0].stdout) > 1
    assert runs[1].stderr == ""
    assert int(runs[1].stdout) == 0
