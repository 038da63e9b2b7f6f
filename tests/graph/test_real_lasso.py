"""The lasso graph on the real datasets: exact insertion, and single precision suffices."""

from __future__ import annotations

import numpy as np
import pytest
from tests.graph.galleries import CLOSE, codes_of, codes_with, columns_as_kept, solve
from tests.lasso.problems import assert_margins_hold, violation

import datasets
from setwise import CVC
from setwise.basis import svd_bases
from setwise.features import unit_rows
from setwise.graph import lasso
from setwise.graph.lasso_gallery import GramLasso, PooledLasso
from setwise.lasso import pools

pytestmark = pytest.mark.data

N_DIMS, ALPHA = 4, 0.05


@pytest.fixture(params=datasets.PROTOCOLS)
def name(request):
    return request.param


def columns_of(vectors):
    return svd_bases(unit_rows(vectors), [N_DIMS])[0]


@pytest.mark.parametrize("kind", [GramLasso, PooledLasso])
def test_probes_are_inserted_as_if_all_were_solved_from_scratch(real, name, kind, monkeypatch):
    # Fewer atoms than columns, so that galleries of this size need their pools.
    monkeypatch.setattr(pools, "POOL_SIZE", 32)
    data = real(name)
    fold, probes = data.folds[0]
    gallery = np.hstack([columns_of(data.sets[i]) for i in fold])
    solution = solve(kind, gallery, ALPHA)
    assert violation(columns_as_kept(kind, gallery), codes_of(solution), ALPHA) <= 1e-9
    if kind is PooledLasso:
        assert_margins_hold(solution.columns, codes_of(solution), solution.pools, ALPHA)
    for i in probes[:: max(1, len(probes) // 3)][:3]:
        together = np.hstack([gallery, columns_of(data.sets[i])])
        codes = codes_with(solution, columns_of(data.sets[i])).toarray()
        assert violation(columns_as_kept(kind, together), codes, ALPHA) <= 1e-9
        scratch = solve(kind, together, ALPHA)
        np.testing.assert_allclose(codes, codes_of(scratch), rtol=0, atol=CLOSE[kind])
        np.testing.assert_allclose(
            solution.insert(columns_of(data.sets[i])).toarray(),
            scratch.adjacency.toarray(),
            rtol=0,
            atol=2 * CLOSE[kind],
        )


# One layer alone knows nothing of some faces, and says so.
@pytest.mark.filterwarnings("ignore::setwise.errors.NoInformationWarning")
def test_a_gallery_in_single_precision_gives_the_same_labels(real, name, monkeypatch):
    monkeypatch.setattr(pools, "POOL_SIZE", 32)
    data = real(name)
    fold, probes = data.folds[0]
    some = probes[:: max(1, len(probes) // 20)]
    made = []
    solve_gallery = lasso.LassoGraph.solve

    def watched(*arguments, **options):
        made.append(solve_gallery(*arguments, **options))
        return made[-1]

    monkeypatch.setattr(lasso.LassoGraph, "solve", watched)
    labels = {}
    for kind, limit in ((GramLasso, 10_000), (PooledLasso, 0)):
        monkeypatch.setattr(lasso, "GRAM_LIMIT", limit)
        made.clear()
        clf = CVC(dims=(N_DIMS,), representations=[("plain", "svd")], weights=None)
        clf.fit(data.sets[fold], data.labels[fold])
        assert [type(gallery) for gallery in made] == [kind]
        labels[kind] = clf.predict(data.sets[some])
    np.testing.assert_array_equal(labels[PooledLasso], labels[GramLasso])
