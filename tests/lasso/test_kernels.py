"""The kernels one by one, compiled and as plain Python, and how they are compiled."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.helpers import unit_columns
from tests.lasso.problems import ATOMS, FAMILIES, around_one_direction, as_codes, solved

import setwise
from setwise.lasso import (
    descent_kernels,
    factor_kernels,
    kernels,
    pool_kernels,
    working_set_kernels,
)

# The kernels as plain Python: nested calls still go to compiled code, so each is run alone.


def both_ways(kernel, *arguments):
    """Results and changed arguments of the compiled kernel and of its Python source."""
    outcomes = []
    for run in (kernel, kernel.py_func):
        own = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        result = run(*own)
        results = result if isinstance(result, tuple) else (result,)
        outcomes.append([r for r in (*results, *own) if r is not None])
    return outcomes


def assert_same_both_ways(kernel, *arguments):
    for compiled, plain in zip(*both_ways(kernel, *arguments), strict=True):
        np.testing.assert_allclose(compiled, plain, rtol=0, atol=1e-12)


def test_plain_python_agrees_on_the_linear_algebra():
    rng = np.random.default_rng(11)
    columns = unit_columns(rng, 6, 5)
    gram = columns.T @ columns
    factor, active = np.zeros((5, 5)), np.zeros(5, np.int64)
    assert_same_both_ways(factor_kernels.subtract, gram[0].copy(), 0.3, gram[1], 3)
    for k in range(4):
        assert_same_both_ways(factor_kernels.append, factor, gram, active, k, k + 1, 1e-11)
        assert factor_kernels.append(factor, gram, active, k, k + 1, 1e-11)
    lower = np.tril(factor)[:4, :4]
    np.testing.assert_allclose(lower @ lower.T, gram[1:, 1:], atol=1e-14)
    assert not factor_kernels.append.py_func(factor, gram, active, 4, 2, 1e-11)  # already in
    right = rng.standard_normal(4)
    assert_same_both_ways(factor_kernels.solve, factor, 4, right)
    factor_kernels.solve.py_func(factor, 4, right_in_place := right.copy())
    np.testing.assert_allclose(gram[1:, 1:] @ right_in_place, right, atol=1e-13)
    for gone in range(4):
        left, order = factor.copy(), active.copy()
        assert_same_both_ways(factor_kernels.delete, left, order, 4, gone)
        assert factor_kernels.delete.py_func(left, order, 4, gone) == 3
        kept = order[:3]
        np.testing.assert_allclose(
            (np.tril(left) @ np.tril(left).T)[:3, :3], gram[np.ix_(kept, kept)], atol=1e-14
        )


def test_plain_python_agrees_on_the_worst_violators():
    rng = np.random.default_rng(12)
    g, is_offered = rng.standard_normal(40), rng.random(40) < 0.2
    picked = np.full(working_set_kernels.ENTER_AT_ONCE, -1)
    assert_same_both_ways(working_set_kernels.worst_violators, g, 40, 0.1, is_offered, picked)
    count = working_set_kernels.worst_violators.py_func(g, 40, 0.1, is_offered, picked)
    allowed = np.flatnonzero(~is_offered & (np.abs(g) > 0.1))
    expected = allowed[np.argsort(-np.abs(g[allowed]), kind="stable")][:count]
    assert count == 16
    np.testing.assert_array_equal(picked, expected)


@pytest.mark.parametrize("penalty", [0.0, 1e-3, 0.05])
@pytest.mark.parametrize("start", [0.0, 1.0])
@pytest.mark.parametrize("max_steps", [1, 10_000])
def test_plain_python_agrees_on_the_lasso(columns, penalty, start, max_steps):
    gram = columns.T @ columns
    atoms = np.ascontiguousarray(gram[1:, 1:])
    code = np.full(len(atoms), start)
    assert_same_both_ways(
        kernels.lasso_on_gram, atoms, gram[0, 1:].copy(), penalty, code, max_steps
    )


def test_plain_python_agrees_on_the_descent(columns):
    """The loop itself, which lasso_on_gram's plain Python would leave to the compiled one."""
    gram = columns.T @ columns
    atoms, q = np.ascontiguousarray(gram[1:, 1:]), gram[0, 1:].copy()
    m = len(atoms)
    state = (np.zeros(m), np.zeros((m, m)), np.zeros(m, np.int64), np.zeros(m))
    assert_same_both_ways(descent_kernels._descend, atoms, q, 0.01, *state, 0, m, 10_000)


def bordered(columns, n_new=0):
    """The Gram matrix as the kernel takes it, the last columns being new."""
    gram = columns.T @ columns
    n = len(gram) - n_new
    parts = gram[:n, :n], gram[:n, n:], gram[n:]
    return [np.ascontiguousarray(part) for part in parts]


@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize(("cap", "max_steps"), [(30, 1), (2, 10_000), (30, 10_000)])
def test_plain_python_agrees_on_all_columns(columns, cap, max_steps, n_new):
    columns = columns[:, :20]
    n = columns.shape[1]
    start = solved(columns, 0.02)
    compiled, plain = both_ways(
        kernels.code_columns,
        *bordered(columns, n_new),
        np.arange(n),
        0.05,
        start.indptr.astype(np.int64),
        start.indices.astype(np.int64),
        start.data,
        cap,
        max_steps,
    )
    counts = compiled[2]
    np.testing.assert_array_equal(plain[2], counts)
    np.testing.assert_array_equal(plain[3], compiled[3])
    used = np.arange(cap) < counts[:, None]
    np.testing.assert_array_equal(plain[0][used], compiled[0][used])
    np.testing.assert_allclose(plain[1][used], compiled[1][used], atol=1e-12)


def test_plain_python_agrees_on_a_large_working_set():
    """Large enough for coordinate sweeps, which find most of the support at once."""
    rng = np.random.default_rng(14)
    columns = unit_columns(rng, 30, 60)
    gram = columns.T @ columns
    atoms, q = np.ascontiguousarray(gram[1:, 1:]), gram[0, 1:].copy()
    m = len(atoms)
    assert m > descent_kernels.SWEEP_ABOVE
    a = rng.standard_normal(m) * (rng.random(m) < 0.3)
    assert_same_both_ways(descent_kernels._coordinate_sweeps, atoms, q, 0.01, a, np.zeros(m), m)
    state = (np.zeros((m, m)), np.zeros(m, np.int64), np.zeros(m), np.zeros(m))
    k = descent_kernels._align.py_func(atoms, a, *state[:3], 0, m)
    assert_same_both_ways(descent_kernels._align, atoms, a, *state[:3], k, m)
    a[state[1][: k // 2]] = 0.0  # some leave, others come
    a[np.flatnonzero(a == 0)[-5:]] = 0.1
    assert_same_both_ways(descent_kernels._align, atoms, a, *state[:3], k, m)
    arguments = atoms, q, 0.01, a, *state, k, m, 10_000
    assert descent_kernels.settle.py_func(*arguments) == np.count_nonzero(a)
    slopes = q - atoms @ a
    bound = np.where(a != 0, 0.01 * np.sign(a), np.clip(slopes, -0.01, 0.01))
    np.testing.assert_allclose(slopes, bound, rtol=0, atol=1e-11)


@pytest.mark.parametrize("kind", ATOMS)
@pytest.mark.parametrize("max_steps", [1, 2, 10_000])
def test_plain_python_agrees_on_the_ball(kind, max_steps):
    rng = np.random.default_rng(13)
    atoms, vectors = ATOMS[kind](rng), rng.standard_normal((5, 8))
    codes = np.ones((5, atoms.shape[1]))
    for radius in (0.3, 50.0):
        assert_same_both_ways(
            kernels.code_in_l1_ball, atoms.T @ atoms, vectors @ atoms, radius, codes, max_steps
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
        assert kernels.lasso_on_gram.py_func(
            np.ascontiguousarray(gram[1:, 1:]), q, penalty, code, 10_000
        )
        slopes = q - gram[1:, 1:] @ code
        bound = np.where(code != 0, penalty * np.sign(code), np.clip(slopes, -penalty, penalty))
        np.testing.assert_allclose(slopes, bound, rtol=0, atol=1e-9)
        codes = np.zeros((3, 6))
        atoms, vectors = columns[:, :6], rng.standard_normal((3, len(columns)))
        arguments = atoms.T @ atoms, vectors @ atoms, 1.0, codes, 10_000
        assert kernels.code_in_l1_ball.py_func(*arguments).all()
        assert np.abs(codes).sum(axis=1).max() <= 1 + 1e-12


PLAIN = pytest.mark.parametrize("lasso", [kernels.lasso_on_gram, kernels.lasso_on_gram.py_func])


def at_angle(angle):
    return np.array([np.cos(angle), np.sin(angle)])


@PLAIN
@pytest.mark.parametrize("angle", [1e-5, 2e-6])
def test_an_atom_very_close_to_another_still_enters(lasso, angle):
    atoms = np.column_stack([at_angle(0), at_angle(angle)])
    x = np.array([0.3, 0.4])
    code = np.zeros(2)
    assert lasso(atoms.T @ atoms, atoms.T @ x, 0.0, code, 100)
    np.testing.assert_allclose(atoms @ code, x, atol=1e-3)  # coefficients of 0.4 / angle


@PLAIN
def test_an_atom_no_further_than_rounding_is_taken_for_a_copy(lasso):
    atoms = np.column_stack([at_angle(0), at_angle(1e-7)])
    code = np.zeros(2)
    assert lasso(atoms.T @ atoms, atoms.T @ np.array([0.3, 0.4]), 0.0, code, 100)
    assert np.count_nonzero(code) == 1
    assert code.sum() == pytest.approx(0.3, abs=1e-6)


@PLAIN
def test_copies_whose_correlations_differ_by_rounding_do_not_cycle(lasso):
    code = np.zeros(2)
    assert lasso(np.ones((2, 2)), np.array([0.5, 0.5 + 1e-9]), 0.0, code, 100)
    np.testing.assert_array_equal(code, [0.0, 0.5 + 1e-9])


def exchange_for_a_copy():
    """Atoms 0 and 1 are active; 2 violates by 1e-8, and without atom 1 is a copy of atom 0."""
    penalty = 1e-6
    atoms = np.column_stack([at_angle(0), at_angle(2e-5), at_angle(-1e-7)])
    residual = np.linalg.solve(atoms[:, :2].T, [penalty, -penalty])
    start = np.array([1.0, -1e-3, 0.0])
    return atoms, atoms @ start + residual, start, penalty


@PLAIN
def test_an_exchange_for_a_copy_is_taken_back(lasso):
    atoms, x, start, penalty = exchange_for_a_copy()
    assert np.abs(atoms[:, 2] @ (x - atoms @ start)) > penalty + 5e-9
    code = start.copy()
    assert lasso(atoms.T @ atoms, atoms.T @ x, penalty, code, 100)
    np.testing.assert_allclose(code, start, atol=1e-5)
    assert code[2] == 0


@pytest.mark.parametrize("code", [kernels.code_columns, kernels.code_columns.py_func])
def test_a_violation_left_behind_counts_as_not_converged(code):
    atoms, x, start, penalty = exchange_for_a_copy()
    columns = np.column_stack([atoms, x])
    *_, converged = code(
        *bordered(columns),
        np.array([3]),
        penalty,
        np.array([0, 2]),
        np.array([0, 1]),
        start[:2].copy(),
        3,
        100,
    )
    assert not converged[0]


# Pools.


@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize("most", [1, 4, 17, 40, 100])
@pytest.mark.parametrize(
    "choose", [pool_kernels.choose_pools, pool_kernels.choose_pools.py_func]
)
def test_pools_are_the_atoms_above_a_cutoff_and_nearly_as_many_as_asked(choose, most, n_new):
    rng = np.random.default_rng(15)
    gradients = rng.standard_normal((6, 40)).astype(np.float32)
    gradients[1] = 0.0
    gradients[2] = np.where(np.arange(40) < 30, 0.5, -0.5)  # a tie of all
    gradients[3, 5:] = 0.0
    gradients[4] *= 1e-12
    gradients[5, :25] = 1e-6 * rng.standard_normal(25)
    owns = np.array([0, 7, 39, 2, 11, 12]) + np.array([0, 0, 0, 0, n_new and 40, n_new and 40])
    given_gradients = gradients.copy()
    atoms, counts, cutoffs = choose(given_gradients, owns, most)
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
    assert_same_both_ways(pool_kernels.choose_pools, gradients, owns, most)
    nothing = gradients[:, :0].copy()
    assert_same_both_ways(pool_kernels.choose_pools, nothing, owns, 0)


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
    assert_same_both_ways(pool_kernels.largest_outside, gradients, owns, pools, counts)
    everything = np.tile(np.arange(40, dtype=np.int32), (8, 1))
    full = np.full(8, 40)
    assert not pool_kernels.largest_outside(gradients, owns, everything, full).any()


@pytest.mark.parametrize(("first", "last"), [(0, 0), (0, 1), (0, 7), (3, 9), (4, 9), (8, 9)])
def test_plain_python_agrees_on_the_products_of_new_rows(first, last):
    rows = np.random.default_rng(20).standard_normal((9, 5))
    before = np.full((9, 9), np.nan)
    assert_same_both_ways(pool_kernels._fill_products, rows, first, last, before)
    products = before.copy()
    pool_kernels._fill_products(rows, first, last, products)
    expected = before.copy()
    expected[first:last, :last] = (rows @ rows.T)[first:last, :last]
    expected[:last, first:last] = (rows @ rows.T)[:last, first:last]
    np.testing.assert_allclose(products, expected, rtol=0, atol=1e-13)


def test_plain_python_agrees_on_the_gradients_of_candidates():
    rng = np.random.default_rng(21)
    rows, extra = (rng.standard_normal((n, 5)).astype(np.float32) for n in (6, 3))
    candidates, r = np.array([8, 0, 5, 6, 2, 0]), rng.standard_normal(5)
    g = np.full(6, np.nan)
    assert_same_both_ways(pool_kernels._gradients, rows, extra, candidates, 5, r, g)
    pool_kernels._gradients(rows, extra, candidates, 5, r, g)
    expected = np.concatenate([rows, extra]).astype(np.float64)[candidates[:5]] @ r
    np.testing.assert_allclose(g[:5], expected, rtol=0, atol=1e-14)
    assert np.isnan(g[5])


def pooled_both_ways(columns, n_new, targets, penalty, start, pool_size, cap, max_steps):
    """Codes on pools, the last columns being new: compiled, plain, and what they should be."""
    rows = np.ascontiguousarray(columns.T, dtype=np.float32)
    n_old = len(rows) - n_new
    old, extra = rows[:n_old].copy(), rows[n_old:].copy()
    pools, counts, _ = pool_kernels.choose_pools(rows[targets] @ old.T, targets, pool_size)
    compiled, plain = both_ways(
        pool_kernels.code_on_pools, old, extra, targets, penalty, start.pointers, start.atoms,
        start.values, pools, counts, cap, max_steps,
    )  # fmt: skip
    for found, expected in zip(plain[2:4], compiled[2:4], strict=True):
        np.testing.assert_array_equal(found, expected)
    used = np.arange(cap) < compiled[2][:, None]
    np.testing.assert_array_equal(plain[0][used], compiled[0][used])
    np.testing.assert_allclose(plain[1][used], compiled[1][used], rtol=0, atol=1e-11)
    np.testing.assert_allclose(plain[4], compiled[4], rtol=0, atol=1e-7)  # float32
    for argument, changed in zip(plain[5:], compiled[5:], strict=True):
        np.testing.assert_array_equal(argument, changed)
    return rows, pools, counts, compiled


# Rounding decides the way among nearly equal columns: those are in the next test only.
@pytest.mark.parametrize("family", sorted(FAMILIES.keys() - {"nearly equal"}))
@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize("pool_size", [2, 40])
@pytest.mark.parametrize(("cap", "max_steps"), [(30, 1), (2, 10_000), (30, 10_000)])
def test_plain_python_agrees_on_codes_on_pools(columns, cap, max_steps, n_new, pool_size):
    columns = columns[:, :20]
    n = columns.shape[1]
    start = as_codes(solved(columns, 0.02).toarray())
    pooled_both_ways(
        columns, min(n_new, n - 1), np.arange(n), 0.05, start, pool_size, cap, max_steps
    )


@pytest.mark.parametrize("n_new", [0, 3])
@pytest.mark.parametrize("pool_size", [0, 3, 40])
@pytest.mark.parametrize("with_start", [False, True])
@pytest.mark.parametrize(
    "code", [pool_kernels.code_on_pools, pool_kernels.code_on_pools.py_func]
)
def test_codes_on_pools_are_optimal_over_pool_start_and_new_columns(
    columns, n_new, pool_size, with_start, code
):
    columns = columns[:, :20]
    n = columns.shape[1]
    n_new = min(n_new, n - 1)
    rows = np.ascontiguousarray(columns.T, dtype=np.float32)
    old, extra = rows[: n - n_new].copy(), rows[n - n_new :].copy()
    targets = np.arange(n)
    start = solved(columns, 0.05).toarray() if with_start else np.zeros((n, n))
    codes = as_codes(start)
    rng = np.random.default_rng(16)
    pools = np.array([rng.permutation(len(old))[:pool_size] for _ in targets], dtype=np.int32)
    counts = rng.integers(0, pools.shape[1] + 1, n)
    atoms, values, sizes, converged, residuals = code(
        old, extra, targets, 0.01, codes.pointers, codes.atoms, codes.values, pools, counts,
        min(columns.shape), 10_000,
    )  # fmt: skip
    assert converged.all()
    exact = rows.astype(np.float64)
    for t in targets:
        offered = {*pools[t, : counts[t]], *range(len(old), n), *np.flatnonzero(start[:, t])}
        offered = np.array(sorted(offered - {t}), dtype=int)
        used = atoms[t, : sizes[t]]
        assert (np.diff(used) > 0).all()
        assert np.isin(used, offered).all()
        code_of_t = np.zeros(n)
        code_of_t[used] = values[t, : sizes[t]]
        residual = exact[t] - code_of_t @ exact
        np.testing.assert_allclose(residuals[t], residual, rtol=0, atol=1e-7)
        slopes, part = exact[offered] @ residual, code_of_t[offered]
        bound = np.where(part != 0, 0.01 * np.sign(part), np.clip(slopes, -0.01, 0.01))
        np.testing.assert_allclose(slopes, bound, rtol=0, atol=1e-9)


def test_plain_python_agrees_on_pools_with_more_atoms_than_there_is_room_for_at_first():
    columns = unit_columns(np.random.default_rng(17), 90, 150)
    start = np.zeros((150, 1))
    for part in (start, np.where(np.arange(150)[:, None] > 60, 0.1, 0.0)):
        _, _, _, (_, _, sizes, converged, *_) = pooled_both_ways(
            columns, 0, np.array([5]), 1e-4, as_codes(part), 150, 90, 10_000
        )
        assert sizes[0] > 64
        assert converged.all()


def test_a_violation_left_behind_in_a_pool_counts_as_not_converged():
    atoms, x, start, penalty = exchange_for_a_copy()
    # Plain Python, because the case is finer than the float32 that the other is compiled for.
    rows = np.column_stack([atoms, x]).T.copy()
    pools = np.array([[0, 1, 2]], dtype=np.int32)
    _, _, sizes, converged, _ = pool_kernels.code_on_pools.py_func(
        rows, rows[:0], np.array([3]), penalty, np.array([0, 2]), np.array([0, 1]),
        start[:2].copy(), pools, np.array([3]), 3, 100,
    )  # fmt: skip
    assert not converged[0]
    assert sizes[0] == 2


def test_the_offered_atoms_of_one_column_are_forgotten_before_the_next():
    # The same column twice: had the first left a mark, the second would miss atoms.
    columns = unit_columns(np.random.default_rng(18), 10, 30)
    _, _, _, (atoms, values, sizes, *_) = pooled_both_ways(
        columns, 2, np.array([4, 4]), 0.05, as_codes(np.zeros((30, 2))), 28, 10, 10_000
    )
    assert sizes[0] == sizes[1] > 0
    np.testing.assert_array_equal(*atoms[:, : sizes[0]])
    np.testing.assert_array_equal(*values[:, : sizes[0]])


_FIRST_START = """
import logging, sys
import numpy as np
from setwise.lasso import kernels, lasso_codes
logging.basicConfig(stream=sys.stderr, format="%(message)s")
lasso_codes(np.eye(3), 0.1, rank=3)
kernels.code_in_l1_ball(np.eye(3), np.ones((2, 3)), 1.0, np.zeros((2, 3)), 1000)
compiled = [k for k in vars(kernels).values() if hasattr(k, "stats")]
print(sum(sum(k.stats.cache_misses.values()) for k in compiled))
"""


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
    assert int(runs[0].stdout) > 10
    assert runs[1].stderr == ""
    assert int(runs[1].stdout) == 0
