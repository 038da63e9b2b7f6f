"""The lasso without a Gram matrix, against the one with it, and what pools promise."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.helpers import fingerprint, unit_columns
from tests.lasso.problems import (
    LARGE,
    SEVERAL_OPTIMA,
    around_classes,
    as_codes,
    assert_margins_hold,
    dense,
    objectives,
    solved,
    violation,
)

from setwise.errors import ConvergenceWarning
from setwise.lasso import Codes, Pools, code_blocks, code_changed, pools, solver

PENALTIES = [1e-6, 1e-3, 0.05, 0.5]


def as_rows(columns):
    return np.ascontiguousarray(columns.T, dtype=np.float32)


@cache
def problem(family, penalty):
    """Rows in float32, the same numbers as float64 columns, and their codes by the Gram."""
    rows = as_rows(LARGE[family](np.random.default_rng(0)))
    columns = rows.T.astype(np.float64)
    return rows, columns, solved(columns, penalty).toarray()


def code_all(rows, penalty, **options):
    """Codes of all rows on all others, and what comes with them."""
    n = len(rows)
    return code_blocks(rows, rows[:0], np.arange(n), penalty, Codes.none(n), rows, **options)


def assert_optimal(columns, codes, penalty, *, expected=None, targets=None):
    """Conditions over all atoms, no worse an objective, and the same codes where unique."""
    assert violation(columns, codes, penalty, targets) <= 1e-9
    if expected is not None:
        ours, theirs = (objectives(columns, c, penalty, targets) for c in (codes, expected))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11)


def is_unique(family, penalty):
    # At 1e-6 rounding decides among vertices of what is nearly a linear programme.
    return family not in SEVERAL_OPTIMA and penalty > 1e-6


@pytest.fixture(params=LARGE)
def family(request):
    return request.param


@pytest.mark.parametrize("pool_size", [1, 4, 16, 256])
@pytest.mark.parametrize("penalty", PENALTIES)
def test_codes_by_pools_are_those_by_the_gram_matrix(monkeypatch, family, penalty, pool_size):
    monkeypatch.setattr(pools, "POOL_SIZE", pool_size)
    rows, columns, expected = problem(family, penalty)
    before = fingerprint(rows)
    found, residuals, known = code_all(rows, penalty)
    assert fingerprint(rows) == before
    codes = dense(found, len(rows))
    assert_optimal(columns, codes, penalty, expected=expected)
    if is_unique(family, penalty):
        np.testing.assert_allclose(codes, expected, rtol=0, atol=1e-9)
    assert residuals.dtype == np.float32
    np.testing.assert_allclose(residuals, (columns - columns @ codes).T, rtol=0, atol=1e-6)
    assert_margins_hold(columns, codes, known, penalty)


@pytest.mark.parametrize("pool_size", [4, 16])
@pytest.mark.parametrize("penalty", PENALTIES)
@pytest.mark.parametrize("start", ["larger penalty", "smaller penalty", "noise"])
def test_any_start_leads_to_the_same_codes(monkeypatch, penalty, pool_size, start):
    monkeypatch.setattr(pools, "POOL_SIZE", pool_size)
    rows, columns, expected = problem("classes", penalty)
    n = len(rows)
    rng = np.random.default_rng(1)
    began = {
        "larger penalty": lambda: solved(columns, 2 * penalty).toarray(),
        "smaller penalty": lambda: solved(columns, 0.5 * penalty).toarray(),
        "noise": lambda: np.where(rng.random((n, n)) < 0.1, rng.standard_normal((n, n)), 0.0),
    }[start]()
    np.fill_diagonal(began, 0.0)
    left = (columns - columns @ began).T.astype(np.float32)
    found, _, known = code_blocks(rows, rows[:0], np.arange(n), penalty, as_codes(began), left)
    codes = dense(found, n)
    assert_optimal(columns, codes, penalty, expected=expected)
    if penalty > 1e-6:
        np.testing.assert_allclose(codes, expected, rtol=0, atol=1e-9)
    assert_margins_hold(columns, codes, known, penalty)


def with_new_atoms(known, n_new, first):
    """Pools are about old atoms: the new ones are all looked at, as if they were in each."""
    atoms = np.pad(known.atoms, ((0, 0), (0, n_new)))
    for row, count in zip(atoms, known.counts, strict=True):
        row[count : count + n_new] = np.arange(first, first + n_new)
    return Pools(atoms, known.counts + n_new, known.margins)


@pytest.mark.parametrize("n_new", [1, 7])
@pytest.mark.parametrize("pool_size", [4, 16])
@pytest.mark.parametrize("penalty", [1e-6, 0.05, 0.5])
def test_new_columns_are_coded_on_all_old_ones_and_on_each_other(
    monkeypatch, family, penalty, pool_size, n_new
):
    monkeypatch.setattr(pools, "POOL_SIZE", pool_size)
    rows, columns, expected = problem(family, penalty)
    n_new = min(n_new, len(rows))
    n_old = len(rows) - n_new
    targets = np.array([*range(0, n_old, 9), *range(n_old, len(rows))])
    old, extra = rows[:n_old], rows[n_old:]
    found, _, known = code_blocks(
        old, extra, targets, penalty, Codes.none(len(targets)), rows[targets]
    )
    codes = dense(found, len(rows))
    assert_optimal(columns, codes, penalty, expected=expected[:, targets], targets=targets)
    if is_unique(family, penalty):
        np.testing.assert_allclose(codes, expected[:, targets], rtol=0, atol=1e-9)
    wider = with_new_atoms(known, n_new, n_old)
    assert_margins_hold(columns, codes, wider, penalty, targets)


@pytest.mark.parametrize("block", [1, 7, 64])
def test_the_size_of_blocks_does_not_matter(monkeypatch, block):
    monkeypatch.setattr(pools, "POOL_SIZE", 16)
    rows, columns, expected = problem("classes", 0.05)
    monkeypatch.setattr(pools, "_BLOCK", block)
    codes, residuals, known = code_all(rows, 0.05)
    np.testing.assert_allclose(dense(codes, len(rows)), expected, rtol=0, atol=1e-9)
    assert len(residuals) == len(known.counts) == len(known.margins) == len(rows)
    assert_margins_hold(columns, dense(codes, len(rows)), known, 0.05)


def test_blocks_shrink_where_gradients_would_take_too_much_memory(monkeypatch):
    monkeypatch.setattr(pools, "BLOCK_BYTES", 4 * 200 * 3)
    seen = []
    code_block = pools._code_block

    def watched(rows, extra, targets, *others):
        seen.append(len(targets))
        return code_block(rows, extra, targets, *others)

    monkeypatch.setattr(pools, "_code_block", watched)
    rows, _, expected = problem("classes", 0.05)
    codes, _, _ = code_all(rows, 0.05)
    assert seen == [3] * 66 + [2]
    np.testing.assert_allclose(dense(codes, len(rows)), expected, rtol=0, atol=1e-9)
    monkeypatch.setattr(pools, "BLOCK_BYTES", 1)
    seen.clear()
    code_all(rows[:5], 0.05)
    assert seen == [1] * 5


@pytest.mark.parametrize("family", ["classes", "duplicated", "nearly equal"])
def test_threads_do_not_change_a_bit(monkeypatch, family):
    monkeypatch.setattr(pools, "POOL_SIZE", 4)
    monkeypatch.setattr(pools, "_BLOCK", 7)
    rows, _, _ = problem(family, 0.05)
    prints = set()
    for n_jobs in (None, 1, 2, 2):
        codes, residuals, known = code_all(rows, 0.05, n_jobs=n_jobs)
        parts = codes.counts, codes.atoms, codes.values, residuals, known.counts, known.margins
        used = np.arange(known.atoms.shape[1]) < known.counts[:, None]
        prints.add(fingerprint(*parts, known.atoms[used]))
    assert len(prints) == 1


@pytest.mark.parametrize("n_targets", [0, 1])
def test_few_targets_or_none_are_no_special_case(n_targets):
    rows, _, expected = problem("classes", 0.05)
    targets = np.arange(n_targets)
    codes, residuals, known = code_blocks(
        rows, rows[:0], targets, 0.05, Codes.none(n_targets), rows[targets]
    )
    assert residuals.shape == (n_targets, rows.shape[1])
    assert len(known.counts) == n_targets
    np.testing.assert_allclose(dense(codes, 200), expected[:, targets], rtol=0, atol=1e-9)


def test_without_old_columns_new_ones_are_coded_on_each_other():
    rows, _, expected = problem("classes", 0.05)
    n = len(rows)
    codes, _, known = code_blocks(rows[:0], rows, np.arange(n), 0.05, Codes.none(n), rows)
    np.testing.assert_allclose(dense(codes, n), expected, rtol=0, atol=1e-9)
    assert not known.counts.any()


@given(
    seed=st.integers(0, 10_000),
    pool_size=st.sampled_from([1, 3, 8]),
    log_penalty=st.floats(-6, 0),
    log_spread=st.floats(-6, 0),
)
def test_any_columns_are_coded_optimally_over_all_atoms(
    seed, pool_size, log_penalty, log_spread
):
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 20), rng.integers(1, 60)
    rows = as_rows(around_classes(rng, *shape, 10**log_spread))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "POOL_SIZE", pool_size)
        found, _, known = code_all(rows, 10**log_penalty)
    codes = dense(found, len(rows))
    assert violation(rows.T, codes, 10**log_penalty) <= 2e-9
    assert_margins_hold(rows.T, codes, known, 10**log_penalty)


# What happens to codes when columns come and go.


@pytest.mark.parametrize("pool_size", [4, 16, 256])
@pytest.mark.parametrize("penalty", [1e-3, 0.05, 0.5])
@pytest.mark.parametrize("n_new", [1, 10])
def test_codes_changed_by_new_columns_are_those_of_solving_from_scratch(
    monkeypatch, family, penalty, pool_size, n_new
):
    monkeypatch.setattr(pools, "POOL_SIZE", pool_size)
    rows, columns, expected = problem(family, penalty)
    if family == "one column":
        n_new = 0
    n_old = len(rows) - n_new
    old, extra = rows[:n_old].copy(), rows[n_old:].copy()
    codes, residuals, known = code_all(old, penalty)
    parts = (
        codes.counts, codes.atoms, codes.values, residuals,
        known.atoms, known.counts, known.margins,
    )  # fmt: skip
    before = fingerprint(old, extra, *parts)
    targets = np.arange(n_old)
    found, left, after = code_changed(old, extra, targets, penalty, codes, residuals, known)
    assert fingerprint(old, extra, *parts) == before
    new = dense(found, len(rows))
    assert_optimal(columns, new, penalty, expected=expected[:, :n_old], targets=targets)
    if is_unique(family, penalty):
        np.testing.assert_allclose(new, expected[:, :n_old], rtol=0, atol=1e-9)
    np.testing.assert_allclose(left, (columns[:, :n_old] - columns @ new).T, rtol=0, atol=1e-6)
    # The margins are those of the old atoms, with the new residuals.
    assert_margins_hold(columns, new, with_new_atoms(after, n_new, n_old), penalty, targets)


@pytest.mark.parametrize("pool_size", [4, 16, 256])
@pytest.mark.parametrize("penalty", [1e-3, 0.05, 0.5])
def test_codes_changed_by_lost_columns_are_those_of_solving_from_scratch(
    monkeypatch, penalty, pool_size
):
    monkeypatch.setattr(pools, "POOL_SIZE", pool_size)
    rows, columns, _ = problem("classes", penalty)
    is_kept = np.random.default_rng(2).random(len(rows)) < 0.7
    kept = np.flatnonzero(is_kept)
    codes, residuals, known = code_all(rows, penalty)
    start, changed = codes.take(kept).without_atoms(is_kept)
    assert 0 < len(changed) <= len(kept)
    found, _, after = code_changed(
        rows[kept], rows[:0], changed, penalty, start.take(changed), residuals[kept][changed],
        known.take(kept).without_atoms(is_kept).take(changed),
    )  # fmt: skip
    new = dense(start.replaced(changed, found), len(kept))
    expected = solved(columns[:, kept], penalty).toarray()
    assert violation(columns[:, kept], new, penalty) <= 1e-9
    np.testing.assert_allclose(new, expected, rtol=0, atol=1e-9)
    assert_margins_hold(columns[:, kept], new[:, changed], after, penalty, changed)


def test_pools_that_know_nothing_are_made_anew():
    rows, columns, expected = problem("classes", 0.05)
    n = len(rows)
    ignorant = Pools(np.zeros((n, 1), np.int32), np.zeros(n, np.int64), np.zeros(n))
    found, _, known = code_changed(
        rows, rows[:0], np.arange(n), 0.05, Codes.none(n), rows[::-1].copy(), ignorant
    )
    np.testing.assert_allclose(dense(found, n), expected, rtol=0, atol=1e-9)
    assert_margins_hold(columns, dense(found, n), known, 0.05)


def test_columns_are_solved_again_only_where_an_atom_outside_the_pool_could_enter(monkeypatch):
    monkeypatch.setattr(pools, "POOL_SIZE", 24)
    rows, columns, _ = problem("classes", 0.05)
    old, extra = rows[:-3].copy(), rows[-3:].copy()
    n = len(old)
    codes, residuals, known = code_all(old, 0.05)
    asked = []
    whole = pools.code_blocks

    def watched(rows, extra, targets, *others):
        asked.append(targets)
        return whole(rows, extra, targets, *others)

    monkeypatch.setattr(pools, "code_blocks", watched)
    _, _, after = code_changed(old, extra, np.arange(n), 0.05, codes, residuals, known)
    # What it should have found, in float64.
    on_pools = dense(
        pools._code_in_pools(old, extra, np.arange(n), 0.05, codes, known)[0], n + 3
    )
    step = columns @ (on_pools - np.pad(dense(codes, n), ((0, 3), (0, 0))))
    margins = known.margins - np.linalg.norm(step, axis=0)
    slopes = np.abs((columns[:, :n] - columns @ on_pools).T @ columns[:, :n])
    np.fill_diagonal(slopes, 0.0)
    for t, count in enumerate(known.counts):
        slopes[t, known.atoms[t, :count]] = 0.0
    is_unsure = margins < 0
    exact = 0.05 - slopes.max(axis=1) - pools.SLACK
    is_asked = np.zeros(n, bool)
    is_asked[np.concatenate(asked)] = True
    is_clear = (np.abs(margins) > 1e-6) & (np.abs(exact) > 1e-6)
    np.testing.assert_array_equal(is_asked[is_clear], (is_unsure & (exact < 0))[is_clear])
    assert 0 < is_asked.sum() < is_unsure.sum() < n  # all three ways are taken
    expected = np.where(is_unsure, exact, margins)
    here = is_clear & ~is_asked
    np.testing.assert_allclose(after.margins[here], expected[here], rtol=0, atol=1e-6)


def test_too_few_steps_give_a_warning(monkeypatch):
    monkeypatch.setattr(solver, "MAX_STEPS", 1)
    rows = as_rows(unit_columns(np.random.default_rng(3), 30, 12))
    with pytest.warns(ConvergenceWarning, match="12 of 12 columns .* in 1 steps"):
        code_all(rows, 0.05)


# Pools as a table.


def example():
    atoms = np.array([[3, 1, 4, 0], [2, 0, 0, 0], [0, 0, 0, 0], [4, 3, 1, 0]], dtype=np.int32)
    return Pools(atoms, np.array([3, 2, 0, 4]), np.array([0.1, 0.2, 0.3, 0.4]))


def members(known):
    return [list(row[:count]) for row, count in zip(known.atoms, known.counts, strict=True)]


def contents(known):
    return fingerprint(known.atoms, known.counts, known.margins)


def test_pools_are_taken_in_the_order_asked_for():
    before = contents(known := example())
    taken = known.take(np.array([3, 0, 0]))
    assert members(taken) == [[4, 3, 1, 0], [3, 1, 4], [3, 1, 4]]
    np.testing.assert_array_equal(taken.margins, [0.4, 0.1, 0.1])
    assert contents(known) == before


@pytest.mark.parametrize("width", [1, 4, 9])
def test_pools_of_any_width_replace_and_are_added(width):
    before = contents(known := example())
    new = Pools(
        np.arange(3 * width, dtype=np.int32).reshape(3, width),
        np.array([1, 0, width]),
        np.array([0.5, 0.6, 0.7]),
    )
    replaced = known.replaced(np.array([1, 4, 5]), new)
    last = list(range(2 * width, 3 * width))
    assert members(replaced) == [[3, 1, 4], [0], [], [4, 3, 1, 0], [], last]
    np.testing.assert_array_equal(replaced.margins, [0.1, 0.5, 0.3, 0.4, 0.6, 0.7])
    assert replaced.atoms.dtype == np.int32
    assert contents(known) == before
    joined = Pools.join([known, new])
    assert members(joined) == members(known) + members(new)


@pytest.mark.parametrize(
    ("gone", "expected"),
    [
        ([], [[3, 1, 4], [2, 0], [], [4, 3, 1, 0]]),
        ([0], [[2, 0, 3], [1], [], [3, 2, 0]]),
        ([1, 3], [[2], [1, 0], [], [2, 0]]),
        ([0, 1, 2, 3, 4], [[], [], [], []]),
    ],
)
def test_pools_without_atoms_keep_the_others_in_order_and_their_margins(gone, expected):
    before = contents(known := example())
    is_kept = ~np.isin(np.arange(5), gone)
    rest = known.without_atoms(is_kept)
    assert members(rest) == expected
    np.testing.assert_array_equal(rest.margins, known.margins)
    assert rest.atoms.dtype == np.int32
    assert contents(known) == before
    again = rest.without_atoms(
        np.ones(is_kept.sum() or 1, bool)
    )  # what is left over does no harm
    assert members(again) == expected


def test_new_atoms_join_a_pool_if_near_and_shrink_its_margin_if_there_is_no_room():
    before = contents(known := example())
    gradients = np.array(
        [
            [0.39, 0.41, 0.6],  # margin 0.1: the first is too far
            [0.31, 0.29, 0.32],  # margin 0.2
            [0.0, 0.1, 0.19],  # margin 0.3
            [0.2, 0.05, 0.3],  # margin 0.4, no room
        ]
    )
    grown = known.with_atoms(gradients, 0.5, 5)
    # Of the first pool's two, the second finds no room, and is above the penalty.
    assert members(grown) == [[3, 1, 4, 6], [2, 0, 5, 7], [], [4, 3, 1, 0]]
    np.testing.assert_allclose(grown.margins, [0.0, 0.2, 0.3, 0.2], rtol=0, atol=1e-15)
    assert contents(known) == before


@given(st.integers(0, 10_000), st.integers(0, 5))
def test_new_atoms_keep_the_promise_of_the_margins(seed, n_new):
    rng = np.random.default_rng(seed)
    penalty, n = 0.5, 6
    width = rng.integers(1, 5)
    old = np.abs(rng.standard_normal((n, n)))
    atoms = np.array([rng.permutation(n)[:width] for _ in range(n)], dtype=np.int32)
    counts = rng.integers(0, width + 1, n)
    outside = np.ones((n, n), bool)
    for t in range(n):
        outside[t, atoms[t, : counts[t]]] = False
    farthest = np.where(outside, old, 0.0).max(axis=1)
    known = Pools(atoms, counts, np.maximum(penalty - farthest, 0.0))
    gradients = np.abs(rng.standard_normal((n, n_new)))
    grown = known.with_atoms(gradients, penalty, n)
    every = np.hstack([old, gradients])
    for t, inside in enumerate(members(grown)):
        assert inside[: counts[t]] == list(atoms[t, : counts[t]])
        assert len(set(inside)) == len(inside)
        rest = np.setdiff1d(np.arange(n + n_new), inside)
        if grown.margins[t] > 0:
            assert (every[t, rest] <= penalty - grown.margins[t] + 1e-15).all()
    assert (grown.margins <= known.margins).all()
    assert (grown.margins >= 0).all()


def test_pools_that_had_to_grow_are_kept_small_and_promise_nothing(monkeypatch):
    monkeypatch.setattr(pools, "POOL_SIZE", 8)
    rows, _, _ = problem("classes", 0.001)
    codes, _, known = code_all(rows, 0.001)
    assert (codes.counts > 8).any()  # so their pools had to grow
    assert known.atoms.shape == (len(rows), 8)
    assert (known.margins[codes.counts > 8] == 0).all()
    assert violation(rows.T, dense(codes, len(rows)), 0.001) <= 1e-8
