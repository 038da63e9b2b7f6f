"""Galleries of many sets keep what they have learnt as sets come and go; the rest is exact."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import toy_sets

import setwise
import setwise.graph.lasso as lasso_graph
from setwise import CVC
from setwise.gallery.bases import InlierSets, SetBases
from setwise.gallery.layers import solve_layers
from setwise.gallery.trials import Trials
from setwise.gallery.whole import WholeSolution

HOW = {"dims": (1, 2, 3), "random_state": 0}
LEARNT = (
    "weights",
    "inverse_temperatures",
    "accuracy",
    "pool_inverse_temperature",
    "shrinkage",
    "outliers",
    "threshold",
)
SETTINGS = {
    "default": {},
    "unknown": {"unknown": 0.3, "unknown_label": -1},
    "each set a row": {"distributions": "set"},
    "gaussian": {"graph": "gaussian"},
    "evenly": {"weights": None, "outliers": None},
}


@pytest.fixture(autouse=True)
def _small_limit(monkeypatch):
    """Twelve sets are many here."""
    monkeypatch.setattr(sys.modules["setwise.gallery.solve"], "MOST_ANEW", 12)


@pytest.fixture
def sets_and_labels(seed):
    sets, labels = toy_sets(seed, n_classes=4, n_sets=6, noise=0.3)
    order = np.random.default_rng(seed).permutation(len(sets))
    return [sets[i] for i in order], labels[order]


def fitted(sets, labels, n, **parameters):
    return CVC(**HOW | parameters).fit(sets[:n], labels[:n])


def solved_afresh(gallery):
    """The same sets, by what the gallery has learnt, from scratch."""
    kept = InlierSets.of(gallery.description, gallery.sets)
    args = gallery.views, gallery.description, gallery.dims
    bases = [SetBases(images, *args) for images in kept]
    layers = solve_layers(gallery.description, gallery.dims, gallery.views, bases, None, None)
    return replace(gallery, solution=WholeSolution(layers))


def assert_as_learnt(clf, before):
    """What is learnt is that of before; all else as solved afresh with it."""
    gallery = clf.gallery_
    for name in LEARNT:
        assert getattr(gallery.calibration, name) is getattr(before.calibration, name)
    assert gallery.dims is before.dims
    assert gallery.views is before.views
    fresh = solved_afresh(gallery)
    for mine, other in zip(gallery.layers, fresh.layers, strict=True):
        assert mine.layer == other.layer
        np.testing.assert_array_equal(mine.column_sets, other.column_sets)
        np.testing.assert_array_equal(mine.graph.columns, other.graph.columns)
        np.testing.assert_allclose(
            mine.graph.adjacency.toarray(), other.graph.adjacency.toarray(), atol=1e-9
        )
    probes = [vectors + 0.05 for vectors in gallery.sets[[0, 4, 9]]]
    ours, theirs = (
        setwise.classify.judge(gallery, probes),
        setwise.classify.judge(fresh, probes),
    )
    for answer, expected in zip(ours, theirs, strict=True):
        assert answer.label == expected.label
        np.testing.assert_allclose(answer.probabilities, expected.probabilities, atol=1e-9)
        assert answer.is_known == expected.is_known


@pytest.mark.parametrize("storage", ["gram", "pools"])
@pytest.mark.parametrize("name", SETTINGS)
def test_what_was_learnt_is_kept_and_all_else_is_exact(
    sets_and_labels, name, storage, monkeypatch
):
    if storage == "pools":
        monkeypatch.setattr(lasso_graph, "GRAM_LIMIT", 0)
    sets, labels = sets_and_labels
    clf = fitted(sets, labels, 20, **SETTINGS[name])
    before = clf.gallery_
    clf.enroll(sets[20:22], labels[20:22])
    assert clf.gallery_.calibration.n_changed == 2
    assert_as_learnt(clf, before)
    clf.forget(sets=[3])
    assert clf.gallery_.calibration.n_changed == 3
    assert_as_learnt(clf, before)


def test_one_by_one_over_the_limit(sets_and_labels):
    """Anew as long as there are few; then kept, until a fifth have changed; then anew."""
    sets, labels = sets_and_labels
    how = {"dims": (2,), "representations": [("whitened", "svd"), ("plain", "mean")]}
    clf = fitted(sets, labels, 11, **how)
    n_changed = []
    for i in range(11, len(sets)):
        before = clf.gallery_
        clf.enroll([sets[i]], labels[[i]])
        n_changed.append(clf.gallery_.calibration.n_changed)
        if n_changed[-1]:
            assert_as_learnt(clf, before)
            continue
        fresh = fitted(sets, labels, i + 1, **how)
        np.testing.assert_allclose(clf.weights_, fresh.weights_, rtol=1e-9)
        np.testing.assert_allclose(
            clf.predict_proba(sets), fresh.predict_proba(sets), atol=1e-12
        )
    #                   12 13 14 15 16 17 18 19 20 21 22 23 24 sets
    assert n_changed == [0, 1, 2, 3, 0, 1, 2, 3, 4, 0, 1, 2, 3]


def test_the_order_of_enrolments_does_not_matter(sets_and_labels):
    sets, labels = sets_and_labels
    one, other = (fitted(sets, labels, 20) for _ in range(2))
    for i in (20, 21, 22):
        one.enroll([sets[i]], labels[[i]])
    for i in (22, 20, 21):
        other.enroll([sets[i]], labels[[i]])
    probes = [vectors + 0.05 for vectors in sets[:6]]
    np.testing.assert_allclose(
        one.predict_proba(probes), other.predict_proba(probes), atol=1e-9
    )


def test_a_set_that_came_and_went_leaves_nothing_but_the_count(sets_and_labels):
    sets, labels = sets_and_labels
    clf = fitted(sets, labels, 20)
    before, probabilities = clf.gallery_, clf.predict_proba(sets[:4])
    clf.enroll(sets[20:21], labels[20:21]).forget(sets=[20])
    assert clf.gallery_.calibration.n_changed == 2
    assert_as_learnt(clf, before)
    np.testing.assert_allclose(clf.predict_proba(sets[:4]), probabilities, atol=1e-9)


def test_a_class_comes_with_its_first_set_and_goes_with_its_last(sets_and_labels):
    sets, labels = sets_and_labels
    names = np.array(["anna", "bert", "carl", "dora"])[labels]
    is_bert = names == "bert"
    others = [vectors for vectors, bert in zip(sets, is_bert, strict=True) if not bert]
    berts = [vectors for vectors, bert in zip(sets, is_bert, strict=True) if bert]
    clf = CVC(**HOW).fit(others, names[~is_bert])
    before = clf.gallery_
    clf.enroll(berts[:2], ["bert"] * 2)
    assert clf.classes_.tolist() == ["anna", "bert", "carl", "dora"]
    assert clf.predict([berts[2]]).tolist() == ["bert"]
    assert_as_learnt(clf, before)
    clf.forget(sets=[len(others)])
    assert_as_learnt(clf, before)
    assert clf.predict([berts[2]]).tolist() == ["bert"]
    clf.forget(["bert"])
    # Four changes are more than a fifth of eighteen sets.
    assert clf.gallery_.calibration.n_changed == 0
    assert clf.classes_.tolist() == ["anna", "carl", "dora"]
    fresh = CVC(**HOW).fit(others, names[~is_bert])
    np.testing.assert_allclose(clf.weights_, fresh.weights_, rtol=1e-9)


def test_a_larger_set_brings_no_dimensionality_that_was_not_learnt(seed):
    sets, labels = toy_sets(seed, n_sets=6)
    small = [vectors[:2] for vectors in sets[:-1]]
    clf = CVC(**HOW).fit(small, labels[:-1])
    before = clf.gallery_
    clf.enroll(sets[-1:], labels[-1:])
    assert clf.gallery_.dims == (1, 2)
    assert_as_learnt(clf, before)


def test_crossing_the_limit_of_the_gram_matrix_is_exact(sets_and_labels, monkeypatch):
    sets, labels = sets_and_labels
    clf = fitted(sets, labels, 20, representations=[("whitened", "svd")], dims=(3,))
    before = clf.gallery_
    monkeypatch.setattr(lasso_graph, "GRAM_LIMIT", 3 * 20)
    clf.enroll(sets[20:21], labels[20:21])
    assert type(clf.gallery_.layers[0].graph).__name__ == "PooledLasso"
    assert_as_learnt(clf, before)
    clf.forget(sets=[20])
    assert type(clf.gallery_.layers[0].graph).__name__ == "GramLasso"
    assert_as_learnt(clf, before)


def test_nothing_is_learnt_or_solved_from_scratch(sets_and_labels, monkeypatch):
    """Neither views nor graphs nor weights: only the new set is looked at."""
    sets, labels = sets_and_labels
    clf = fitted(sets, labels, 20, unknown=0.3, unknown_label=-1)
    monkeypatch.setattr(setwise.features.Whitener, "fit", None)
    monkeypatch.setattr(lasso_graph.LassoGraph, "solve", None)
    monkeypatch.setattr(Trials, "of", None)
    looked = []
    inliers = type(clf.gallery_.description).inliers
    monkeypatch.setattr(
        type(clf.gallery_.description),
        "inliers",
        lambda self, vectors: looked.append(len(vectors)) or inliers(self, vectors),
    )
    clf.enroll(sets[20:21], labels[20:21]).forget(sets=[4])
    assert looked == [len(sets[20])]


def test_a_file_remembers_how_much_has_changed(sets_and_labels, tmp_path):
    sets, labels = sets_and_labels
    clf = fitted(sets, labels, 20)
    clf.enroll(sets[20:22], labels[20:22])
    loaded = setwise.load(clf.save(tmp_path / "some.setwise"))
    assert loaded.gallery_.calibration.n_changed == 2
    for classifier in (clf, loaded):
        classifier.enroll(sets[22:23], labels[22:23])
        assert classifier.gallery_.calibration.n_changed == 3
    np.testing.assert_array_equal(loaded.weights_, clf.weights_)
    np.testing.assert_allclose(
        loaded.predict_proba(sets[:4]), clf.predict_proba(sets[:4]), atol=1e-9
    )


def test_fitting_again_learns_anew(sets_and_labels):
    """The way that the documentation of enroll names."""
    sets, labels = sets_and_labels
    clf = fitted(sets, labels, 20)
    clf.enroll(sets[20:22], labels[20:22])
    clf.fit(clf.gallery_.sets, clf.classes_[clf.gallery_.codes])
    assert clf.gallery_.calibration.n_changed == 0
    np.testing.assert_array_equal(clf.weights_, fitted(sets, labels, 22).weights_)
