"""Modules of walkers: the map equation by its definition, and no move that would shorten it."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from setwise.together.modules import Flow, code_length, in_order, walker_modules


def random_flow(n, seed, share=0.4):
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    loops = rng.random(n) * (rng.random(n) < 0.5)
    return Flow.of(sp.csr_array(weights + weights.T), loops)


def entropy(shares):
    shares = np.array(shares)[np.array(shares) > 0]
    total = shares.sum()
    return float(-(shares / total * np.log2(shares / total)).sum()) if total > 0 else 0.0


def by_definition(flow, modules):
    """Index codebook and module codebooks, each used as often as its words are said."""
    table = flow.between.toarray() + np.diag(flow.stay)
    visits = table.sum(axis=1)
    leaves = [table[np.ix_(modules == m, modules != m)].sum() for m in range(modules.max() + 1)]
    bits = sum(leaves) * entropy(leaves)
    for m, out in enumerate(leaves):
        words = [out, *visits[modules == m]]
        bits += sum(words) * entropy(words)
    return bits


@given(st.integers(0, 10_000))
def test_code_length_is_the_map_equation(seed):
    flow = random_flow(9, seed)
    modules = in_order(np.random.default_rng(seed).integers(0, 4, 9))
    assert code_length(flow, modules) == pytest.approx(by_definition(flow, modules), abs=1e-9)


@given(st.integers(0, 10_000))
def test_no_vertex_could_move_and_shorten_the_description(seed):
    flow = random_flow(12, seed, 0.3)
    found = walker_modules(flow)
    shortest = code_length(flow, found)
    for i in range(12):
        for module in range(found.max() + 2):
            other = found.copy()
            other[i] = module
            assert code_length(flow, in_order(other)) > shortest - 1e-9


@given(st.integers(0, 10_000))
def test_pairs_that_are_apart_share_no_module(seed):
    flow = random_flow(12, seed)
    rng = np.random.default_rng(seed)
    pairs = np.triu(rng.random((12, 12)) < 0.2, 1)
    apart = sp.csr_array((pairs | pairs.T).astype(float))
    found = walker_modules(flow, apart)
    first, second = np.nonzero(pairs)
    assert (found[first] != found[second]).all()


def test_blocks_are_found_wherever_their_vertices_stand():
    rng = np.random.default_rng(0)
    truth = np.repeat(np.arange(6), 5)
    weights = np.where(truth[:, None] == truth, 1.0, 0.02) * rng.uniform(0.5, 1, (30, 30))
    weights = np.triu(weights, 1)
    order = rng.permutation(30)
    for places in (np.arange(30), order):
        table = (weights + weights.T)[np.ix_(places, places)]
        found = walker_modules(Flow.of(sp.csr_array(table), np.zeros(30)))
        np.testing.assert_array_equal(found, in_order(truth[places]))


def test_vertices_without_edges_stay_alone():
    flow = Flow.of(sp.csr_array((3, 3)), np.ones(3))
    assert walker_modules(flow).tolist() == [0, 1, 2]
    assert walker_modules(Flow.of(sp.csr_array((3, 3)), np.zeros(3))).tolist() == [0, 1, 2]


def test_joined_flow_is_that_between_modules():
    flow = random_flow(8, 1)
    modules = np.array([0, 0, 1, 2, 1, 0, 2, 2])
    joined = flow.joined(modules)
    table = flow.between.toarray() + np.diag(flow.stay)
    expected = np.array(
        [[table[np.ix_(modules == a, modules == b)].sum() for b in range(3)] for a in range(3)]
    )
    np.testing.assert_allclose(joined.between.toarray() + np.diag(joined.stay), expected)
    assert joined.between.diagonal().sum() == 0
