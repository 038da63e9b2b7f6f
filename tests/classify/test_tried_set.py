"""Many left-out sets at a time see what each of them sees alone."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import toy_sets

import setwise.gallery.left_out as left_out
from setwise import CVC
from setwise.gallery.evidence import LayerView
from setwise.gallery.left_out import LeftOutViews

BASES = ("svd", "centred", "mean", "means")


@pytest.fixture(params=["class", "set"])
def gallery(seed, request):
    """Sets of many sizes, one of them a single vector, which has no centred column."""
    sets, labels = toy_sets(seed, n_classes=4, n_sets=4, n_vectors=(2, 9), noise=0.4)
    order = np.random.default_rng(seed).permutation(len(sets))
    sets = [sets[i] for i in order]
    sets[5] = sets[5][:1]
    pairs = [("plain", basis) for basis in BASES]
    clf = CVC(
        (1, 3), representations=pairs, weights=None, outliers=None,
        distributions=request.param,
    )  # fmt: skip
    return clf.fit(sets, labels[order]).gallery_


@pytest.mark.parametrize("block_bytes", [1, 2**24], ids=["one by one", "all together"])
def test_together_they_see_what_each_sees_alone(gallery, block_bytes, monkeypatch):
    monkeypatch.setattr(left_out, "_BLOCK_BYTES", block_bytes)
    chosen = np.array([0, 2, 3, 5, 6, 11, 15])
    for place in range(len(gallery.layers)):
        layer = gallery.everything.layer_graph(place)
        for i, together in zip(chosen, LeftOutViews(layer, chosen), strict=True):
            alone = LayerView(layer, left_out=int(i))
            for ours, expected in zip(together.angles, alone.angles, strict=True):
                np.testing.assert_allclose(ours, expected, atol=1e-12)
            np.testing.assert_allclose(together.edge_shares, alone.edge_shares, atol=1e-14)
            np.testing.assert_array_equal(together.clustered.overlaps, alone.clustered.overlaps)


def test_most_eigenvalues_are_never_computed(seed, monkeypatch):
    """Bounds tell which set of a class is the nearest."""
    sets, labels = toy_sets(seed, n_classes=3, n_sets=20, n_vectors=(8, 9))
    clf = CVC((3,), representations=[("plain", "svd")], weights=None, outliers=None)
    gallery = clf.fit(sets, labels).gallery_
    (solved,) = gallery.layers
    computed = []
    eigvalsh = np.linalg.eigvalsh
    monkeypatch.setattr(
        np.linalg, "eigvalsh", lambda grams: computed.append(len(grams)) or eigvalsh(grams)
    )
    chosen = np.arange(len(sets))
    layer = gallery.everything.layer_graph(0)
    left_out.nearest_angles(solved.graph.columns, layer.targets, chosen, layer.basis)
    assert sum(computed) < 0.4 * len(sets) ** 2
