"""Graphs solved on a device are kept as the processor's, and probes inserted there the same."""

from __future__ import annotations

import numpy as np
import pytest
from tests.device.reference import PlainHost
from tests.device.test_device_lasso import columns_of_classes

from setwise.graph import LassoGraph
from setwise.graph.lasso_gallery import (
    GramLasso,
    PooledLasso,
    recoded_on,
    solved_by_gram_on,
    solved_by_pools_on,
)

pytest.importorskip("array_api_compat", reason='needs pip install "setwise[cuda]"')
GRAPH = LassoGraph(alpha=0.05)


@pytest.fixture(scope="module")
def columns():
    return columns_of_classes(np.random.default_rng(0), 20, 40).T


def solve_both(columns, kind):
    if kind is PooledLasso:
        plain = PooledLasso.solved(GRAPH, columns, 0.05, 1)
        return plain, solved_by_pools_on(PlainHost(), GRAPH, columns, 0.05)
    plain = GramLasso.solved(GRAPH, columns, 0.05)
    return plain, solved_by_gram_on(PlainHost(), GRAPH, columns, 0.05)


@pytest.mark.parametrize("kind", [GramLasso, PooledLasso])
def test_the_same_graph_and_the_same_insertions(columns, kind):
    plain, device = solve_both(columns[:, :85], kind)
    assert type(device) is kind
    assert abs(device.adjacency - plain.adjacency).max() < 1e-10
    probes = [columns[:, 85:90], columns[:, 90:93]]
    recoded = recoded_on(PlainHost(), device, probes)
    for probe, changed in zip(probes, recoded, strict=True):
        expected = plain.insert(probe)
        assert abs(device.with_codes(*changed) - expected).max() < 1e-10
        # And the processor can go on with what the device has solved.
        assert abs(device.insert(probe) - expected).max() < 1e-10


@pytest.mark.parametrize("kind", [GramLasso, PooledLasso])
def test_copies_are_solved_by_the_processor(columns, kind):
    twice = np.hstack([columns[:, :40], columns[:, :10]])
    plain, device = solve_both(twice, kind)
    # Where columns are copies the code is not unique, but what it leaves is.
    rows = twice.T if kind is GramLasso else twice.T.astype(np.float32).astype(np.float64)
    everybody = np.arange(50)
    left, expected = (one.codes.residuals(rows, everybody) for one in (device, plain))
    assert left == pytest.approx(expected, abs=1e-8)


def test_a_gallery_is_put_on_the_device_once(columns, monkeypatch):
    host = PlainHost()
    _, device = solve_both(columns[:, :50], GramLasso)
    puts = []
    monkeypatch.setattr(host, "put", lambda array: puts.append(array.shape) or array)
    for _ in range(2):
        recoded_on(host, device, [columns[:, 50:52]])
    assert puts.count((50, 40)) == 2  # columns and residuals, at the first time
    n_kept = len(host._cache)
    del device
    assert len(host._cache) == n_kept - 1
