"""Solved lasso graphs of both kinds: probes are inserted, columns come and go, exactly."""

from __future__ import annotations

import itertools
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from tests.graph.galleries import (
    CLOSE,
    GALLERIES,
    OPTIMAL,
    assert_well_solved,
    codes_of,
    codes_with,
    columns_as_kept,
    contents,
    solve,
)
from tests.helpers import fingerprint, unit_columns
from tests.lasso.problems import around_classes, violation

from setwise.graph import LassoGraph, lasso_gallery
from setwise.graph.lasso_gallery import GramLasso, PooledLasso
from setwise.lasso import pools

KINDS = {"Gram": GramLasso, "pools": PooledLasso}


@pytest.fixture(params=KINDS)
def kind(request, monkeypatch):
    # Pools of a few atoms, so that small galleries see what large ones do.
    monkeypatch.setattr(pools, "POOL_SIZE", 6)
    return KINDS[request.param]


@pytest.fixture(params=GALLERIES)
def gallery_and_probe(request):
    together = GALLERIES[request.param](np.random.default_rng(0))
    return together[:, :-5], together[:, -5:]


# Probes.


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_inserting_a_probe_gives_the_codes_of_solving_from_scratch(
    kind, gallery_and_probe, alpha
):
    gallery, probe = gallery_and_probe
    together = np.hstack([gallery, probe])
    solution, scratch = solve(kind, gallery, alpha), solve(kind, together, alpha)
    codes = codes_with(solution, probe)
    assert isinstance(codes, sp.csc_array)
    np.testing.assert_allclose(codes.toarray(), codes_of(scratch), rtol=0, atol=CLOSE[kind])
    assert violation(columns_as_kept(kind, together), codes.toarray(), alpha) <= OPTIMAL[kind]
    inserted = solution.insert(probe)
    assert isinstance(inserted, sp.csr_array)
    np.testing.assert_allclose(
        inserted.toarray(), scratch.adjacency.toarray(), rtol=0, atol=2 * CLOSE[kind]
    )


@pytest.mark.parametrize("alpha", [0.02, 0.1])
def test_a_probe_changes_the_codes_it_violates_and_keeps_the_others_to_the_bit(
    kind, gallery_and_probe, alpha
):
    gallery, probe = gallery_and_probe
    n = gallery.shape[1]
    solution = solve(kind, gallery, alpha)
    left = gallery - gallery @ codes_of(solution)
    nearest = np.abs(left.T @ probe).max(axis=1)
    is_violated, is_clear = nearest > alpha, np.abs(nearest - alpha) > 2e-5
    codes = codes_with(solution, probe).toarray()
    kept = is_clear & ~is_violated
    np.testing.assert_array_equal(codes[:n, :n][:, kept], codes_of(solution)[:, kept])
    assert not codes[n:, :n][:, kept].any()
    uses_probe = codes[n:, :n].any(axis=0)
    np.testing.assert_array_equal(uses_probe[is_clear], is_violated[is_clear])
    targets, _ = solution.recoded(probe)
    np.testing.assert_array_equal(targets[-5:], np.arange(n, n + 5))
    is_target = np.isin(np.arange(n), targets)
    np.testing.assert_array_equal(is_target[is_clear], is_violated[is_clear])


def test_inserting_leaves_the_gallery_and_the_probe_as_they_were(kind, gallery_and_probe):
    gallery, probe = gallery_and_probe
    solution = solve(kind, gallery, 0.05)
    before = contents(solution), fingerprint(probe)
    first = solution.insert(probe)
    again = solution.insert(probe)
    assert (contents(solution), fingerprint(probe)) == before
    np.testing.assert_array_equal(first.toarray(), again.toarray())


def test_probes_do_not_see_each_other_in_any_order(kind):
    rng = np.random.default_rng(4)
    solution = solve(kind, around_classes(rng, 20, 50), 0.05)
    probes = [around_classes(rng, 20, n) for n in (1, 4, 2)]
    alone = [contents(solution.insert(probe)) for probe in probes]
    for order in itertools.permutations(range(3)):
        assert [contents(solution.insert(probes[i])) for i in order] == [
            alone[i] for i in order
        ]


@pytest.mark.parametrize("copy", [1, -1])
def test_a_probe_that_copies_the_gallery_is_still_coded_optimally(kind, copy):
    # Copies have more than one optimum, so the conditions are checked instead of the codes.
    rng = np.random.default_rng(1)
    gallery = around_classes(rng, 20, 25)
    probe = np.hstack([copy * gallery[:, :2], unit_columns(rng, 20, 1)])
    together = columns_as_kept(kind, np.hstack([gallery, probe]))
    codes = codes_with(solve(kind, gallery, 0.05), probe).toarray()
    assert violation(together, codes, 0.05) <= OPTIMAL[kind]
    assert codes[[25, 26], [0, 1]].all() or codes[[0, 1], [25, 26]].all()
    enrolled = solve(kind, gallery, 0.05).with_columns(probe)
    assert_well_solved(enrolled, 0.05)
    assert_well_solved(enrolled.without_columns(np.arange(28) != 0), 0.05)


def test_a_probe_that_is_the_whole_gallery_again_is_coded_optimally(kind):
    gallery = around_classes(np.random.default_rng(5), 20, 30)
    codes = codes_with(solve(kind, gallery, 0.05), gallery).toarray()
    together = columns_as_kept(kind, np.hstack([gallery, gallery]))
    assert violation(together, codes, 0.05) <= OPTIMAL[kind]


def test_a_probe_orthogonal_to_everything_stands_alone(kind):
    gallery = np.vstack([around_classes(np.random.default_rng(2), 10, 15), np.zeros((1, 15))])
    probe = np.eye(11)[:, -1:]
    solution = solve(kind, gallery, 0.05)
    adjacency = solution.insert(probe).toarray()
    np.testing.assert_array_equal(adjacency[:15, :15], solution.adjacency.toarray())
    assert not adjacency[15].any()


def test_a_probe_without_columns_changes_nothing(kind):
    gallery = around_classes(np.random.default_rng(3), 10, 15)
    solution = solve(kind, gallery, 0.05)
    nothing = np.empty((10, 0))
    inserted = solution.insert(nothing)
    np.testing.assert_array_equal(inserted.toarray(), solution.adjacency.toarray())
    assert contents(solution.with_columns(nothing)) == contents(solution)


@given(
    seed=st.integers(0, 10_000),
    n_new=st.integers(1, 4),
    alpha=st.floats(0.01, 0.5),
    name=st.sampled_from(sorted(KINDS)),
    pool_size=st.sampled_from([1, 4, 256]),
)
def test_any_probe_is_inserted_optimally(seed, n_new, alpha, name, pool_size):
    rng = np.random.default_rng(seed)
    kind = KINDS[name]
    together = around_classes(rng, rng.integers(3, 15), 15 + n_new, 10 ** rng.uniform(-3, 0))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "POOL_SIZE", pool_size)
        gallery = solve(kind, together[:, :15], alpha)
        codes = codes_with(gallery, together[:, 15:]).toarray()
        enrolled = gallery.with_columns(together[:, 15:])
    assert violation(columns_as_kept(kind, together), codes, alpha) <= OPTIMAL[kind]
    assert_well_solved(enrolled, alpha)
    assert_well_solved(enrolled.without_columns(rng.random(15 + n_new) < 0.7), alpha)


# Columns that come and go.


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_enrolling_is_solving_from_scratch(kind, gallery_and_probe, alpha):
    gallery, new = gallery_and_probe
    solution = solve(kind, gallery, alpha)
    before = contents(solution), fingerprint(new)
    enrolled = solution.with_columns(new)
    assert (contents(solution), fingerprint(new)) == before
    assert type(enrolled) is kind
    assert_well_solved(enrolled, alpha, close_to=np.hstack([gallery, new]))
    inserted = solution.insert(new)
    np.testing.assert_array_equal(enrolled.adjacency.toarray(), inserted.toarray())


@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.3])
def test_forgetting_is_solving_from_scratch(kind, gallery_and_probe, alpha):
    columns = np.hstack(gallery_and_probe)
    is_kept = np.random.default_rng(6).random(columns.shape[1]) < 0.8
    solution = solve(kind, columns, alpha)
    before = contents(solution), fingerprint(is_kept)
    rest = solution.without_columns(is_kept)
    assert (contents(solution), fingerprint(is_kept)) == before
    assert type(rest) is kind
    assert_well_solved(rest, alpha, close_to=columns[:, is_kept])


def test_forgetting_what_was_enrolled_gives_back_the_gallery(kind, gallery_and_probe):
    gallery, new = gallery_and_probe
    n = gallery.shape[1]
    solution = solve(kind, gallery, 0.05)
    back = solution.with_columns(new).without_columns(np.arange(n + 5) < n)
    np.testing.assert_allclose(
        back.adjacency.toarray(), solution.adjacency.toarray(), rtol=0, atol=2 * CLOSE[kind]
    )
    assert_well_solved(back, 0.05, close_to=gallery)


def test_forgetting_leaves_codes_without_the_lost_columns_alone_to_the_bit(
    kind, gallery_and_probe
):
    columns = np.hstack(gallery_and_probe)
    is_kept = np.ones(columns.shape[1], bool)
    is_kept[[1, 8]] = False
    solution = solve(kind, columns, 0.1)
    before, after = codes_of(solution), codes_of(solution.without_columns(is_kept))
    uses_lost = before[~is_kept].any(axis=0)[is_kept]
    same = (before[np.ix_(is_kept, is_kept)] == after).all(axis=0)
    assert same[~uses_lost].all()
    assert (~uses_lost).any()
    assert not same[uses_lost].any()


def test_a_gallery_may_lose_no_column_or_all_but_one_or_all(kind):
    columns = around_classes(np.random.default_rng(7), 10, 20)
    solution = solve(kind, columns, 0.05)
    assert contents(solution.without_columns(np.ones(20, bool))) == contents(solution)
    alone = solution.without_columns(np.arange(20) == 3)
    assert_well_solved(alone, 0.05, close_to=columns[:, 3:4])
    assert alone.adjacency.nnz == 0
    nobody = solution.without_columns(np.zeros(20, bool))
    assert nobody.adjacency.shape == (0, 0)
    for empty in (nobody, alone):
        again = empty.with_columns(columns[:, :15])
        assert_well_solved(again, 0.05)


@pytest.mark.parametrize("alpha", [0.02, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_a_long_life_of_enrolling_and_forgetting_stays_exact(kind, seed, alpha):
    rng = np.random.default_rng(seed)
    directions = around_classes(rng, 12, 400)
    columns, ahead = directions[:, :40], 40
    gallery = solve(kind, columns, alpha)
    for _ in range(15):
        if rng.random() < 0.55 or columns.shape[1] < 10:
            new = directions[:, ahead : ahead + rng.integers(1, 12)]
            ahead += new.shape[1]
            gallery, columns = gallery.with_columns(new), np.hstack([columns, new])
        else:
            is_kept = rng.random(columns.shape[1]) < rng.uniform(0.5, 1.0)
            gallery, columns = gallery.without_columns(is_kept), columns[:, is_kept]
        assert_well_solved(gallery, alpha, close_to=columns)
    probe = directions[:, -3:]
    together = np.hstack([columns, probe])
    np.testing.assert_allclose(
        codes_with(gallery, probe).toarray(),
        codes_of(solve(kind, together, alpha)),
        rtol=0,
        atol=CLOSE[kind],
    )


def test_a_life_among_copies_stays_optimal(kind):
    rng = np.random.default_rng(8)
    some = around_classes(rng, 10, 12)
    gallery = solve(kind, some, 0.05)
    for _ in range(8):
        gallery = gallery.with_columns(rng.choice([-1, 1]) * some[:, rng.permutation(12)[:4]])
        assert_well_solved(gallery, 0.05)
        gallery = gallery.without_columns(rng.random(len(gallery.codes)) < 0.85)
        assert_well_solved(gallery, 0.05)


def test_a_column_that_a_full_pool_has_no_room_for_comes_back_into_the_code(monkeypatch):
    # The pool of column 0 has room for two. Column 4, enrolled, enters its code but not its
    # pool; the next replaces it in the code, being close; the probe brings it back.
    monkeypatch.setattr(pools, "POOL_SIZE", 2)
    columns = np.array(
        [
            [1.0, 0.68, 0.82, -0.05, 0.6, 0.65, 0.98],
            [0.0, -0.43, 0.17, 0.02, -0.1, -0.04, 0.14],
            [0.0, 0.09, 0.34, 0.0, -0.45, -0.41, 0.14],
            [0.0, 0.59, 0.44, 1.0, -0.66, -0.64, 0.07],
        ]
    )
    columns = columns / np.linalg.norm(columns, axis=0)
    gallery = solve(PooledLasso, columns[:, :4], 0.1).with_columns(columns[:, 4:5])
    gallery = gallery.without_columns(np.arange(5) != 1).with_columns(columns[:, 5:6])
    assert_well_solved(gallery, 0.1)
    codes = codes_with(gallery, columns[:, 6:]).toarray()
    fresh = codes_of(solve(PooledLasso, np.delete(columns, 1, axis=1), 0.1))
    np.testing.assert_allclose(codes, fresh, rtol=0, atol=CLOSE[PooledLasso])


def test_many_small_probes_in_a_row_do_not_wear_margins_out_wrongly():
    # Each enrolment moves residuals a little; margins must shrink by all of it together.
    rng = np.random.default_rng(9)
    columns = around_classes(rng, 15, 60)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pools, "POOL_SIZE", 12)
        gallery = solve(PooledLasso, columns, 0.1)
        for _ in range(40):
            new = around_classes(rng, 15, 1)
            gallery, columns = gallery.with_columns(new), np.hstack([columns, new])
            assert_well_solved(gallery, 0.1)
        assert_well_solved(gallery, 0.1, close_to=columns)


def test_inverses_that_are_kept_change_no_graph_and_are_changed_by_none(gallery_and_probe):
    gallery, probe = gallery_and_probe
    solution = GramLasso.solved(LassoGraph(0.02), gallery, 0.02)
    without = GramLasso.solved(LassoGraph(0.02), gallery, 0.02)
    vars(without)["inverses"] = np.empty(0), np.full(gallery.shape[1], -1)
    kept, kept_at = solution.inverses
    before = kept.copy(), kept_at.copy()
    rng = np.random.default_rng(8)
    for _ in range(20):
        other = probe + 0.1 * rng.standard_normal(probe.shape)
        other /= np.linalg.norm(other, axis=0)
        graph, rebuilt = solution.insert(other), without.insert(other)
        np.testing.assert_allclose(graph.toarray(), rebuilt.toarray(), rtol=0, atol=1e-9)
    assert solution.inverses[0] is kept
    np.testing.assert_array_equal(kept, before[0])
    np.testing.assert_array_equal(kept_at, before[1])


def test_each_inverse_that_is_kept_is_that_of_its_atoms(gallery_and_probe):
    gallery, _ = gallery_and_probe
    solution = GramLasso.solved(LassoGraph(0.02), gallery, 0.02)
    kept, kept_at = solution.inverses
    pointers, atoms, _ = solution.codes.arrays
    for first, last, at in zip(pointers[:-1], pointers[1:], kept_at, strict=True):
        k, own = last - first, atoms[first:last]
        if at >= 0:
            inverse = np.zeros((k, k))
            inverse[np.tril_indices(k)] = kept[at : at + k * (k + 1) // 2]
            inverse += np.tril(inverse, -1).T
            products = solution.gram[np.ix_(own, own)]
            np.testing.assert_allclose(inverse @ products, np.eye(k), rtol=0, atol=1e-7)
    assert (kept_at >= 0).any()


def test_inverses_are_neither_sent_nor_kept_where_they_are_large(
    gallery_and_probe, monkeypatch
):
    gallery, probe = gallery_and_probe
    solution = GramLasso.solved(LassoGraph(0.02), gallery, 0.02)
    graph = solution.insert(probe)
    again = pickle.loads(pickle.dumps(solution))
    assert "inverses" in vars(solution)
    assert "inverses" not in vars(again)
    monkeypatch.setattr(lasso_gallery, "_INVERSE_BYTES", -solution.gram.nbytes)
    assert (again.inverses[1] == -1).all()
    np.testing.assert_allclose(again.insert(probe).toarray(), graph.toarray(), atol=1e-9)
