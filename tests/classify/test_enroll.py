"""Enrolling and forgetting sets: equal to a fresh fit, and cheap where nothing changes."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.conftest import toy_sets

import setwise.graph.lasso as lasso_graph
from setwise import CVC, SetBatch
from setwise.errors import DataError
from setwise.features.views import KNOWN, Images, View

PLAIN = [("plain", "svd"), ("plain", "centred")]
FAST = {"dims": (1, 2, 3), "random_state": 0}
SETTINGS = {
    "default": {},
    "plain views only": {"representations": PLAIN},
    "dictionary": {"representations": [("plain", "dictionary")]},
    "a view without memory": {
        "representations": [(("root", FunctionTransformer(np.cbrt)), "svd")]
    },
    "a view that cannot be compared": {
        "representations": [(("cubes", FunctionTransformer(lambda x: x**3)), "svd")]
    },
    "a view that learns": {"representations": [(("scaled", StandardScaler()), "svd")]},
    "one row a set": {"distributions": "set"},
    "gaussian": {"graph": "gaussian"},
    "least squares": {"graph": "least_squares"},
    "omp": {"graph": "omp"},
    "the paper's": {"cut": "paper", "weights": None},
}


def assert_same_classifier(changed, fresh, probes):
    np.testing.assert_array_equal(changed.classes_, fresh.classes_)
    assert changed.layers_ == fresh.layers_
    # Fitted to scores in the graph, which agree to rounding.
    np.testing.assert_allclose(changed.weights_, fresh.weights_, rtol=1e-9)
    assert changed.gallery_accuracy_ == fresh.gallery_accuracy_
    pairs = zip(changed.gallery_.layers, fresh.gallery_.layers, strict=True)
    for i, (mine, other) in enumerate(pairs):
        np.testing.assert_array_equal(mine.column_sets, other.column_sets)
        one, two = (clf.gallery_.everything.layer_graph(i).targets for clf in (changed, fresh))
        np.testing.assert_array_equal(one.targets, two.targets)
        np.testing.assert_array_equal(one.classes, two.classes)
        np.testing.assert_allclose(
            mine.graph.adjacency.toarray(), other.graph.adjacency.toarray(), atol=1e-9
        )
    np.testing.assert_array_equal(changed.predict(probes), fresh.predict(probes))
    np.testing.assert_allclose(
        changed.predict_proba(probes), fresh.predict_proba(probes), atol=1e-12
    )
    one, other = changed.explain(probes[0]), fresh.explain(probes[0])
    np.testing.assert_allclose(one.gallery_points, other.gallery_points, atol=1e-9)


@pytest.fixture(scope="module")
def sets_and_labels(seed):
    return toy_sets(seed, n_classes=4, n_sets=5, noise=0.3)


@pytest.fixture(params=["gram", "pools"])
def storage(request, monkeypatch):
    if request.param == "pools":
        monkeypatch.setattr(lasso_graph, "GRAM_LIMIT", 0)


# Lasso graphs alone have pools, and they do not know of the rest of a setting. OMP is slow, and
# tests/graph shows that it can be enrolled into.
WITH_POOLS = ("default", "plain views only", "a view that learns")
CASES = [
    pytest.param(name, storage, marks=[] if is_quick else pytest.mark.slow)
    for name in SETTINGS
    for storage in ("gram", "pools")
    for is_quick in [name in WITH_POOLS or (storage == "gram" and name != "omp")]
]
each_setting = pytest.mark.parametrize(("name", "storage"), CASES, indirect=["storage"])


@each_setting
def test_enrolling_equals_a_fresh_fit(sets_and_labels, storage, name):
    sets, labels = sets_and_labels
    order = np.random.default_rng(1).permutation(len(sets))
    gallery, new, probes = order[:10], order[10:14], order[14:]
    clf = CVC(**FAST | SETTINGS[name]).fit([sets[i] for i in gallery], labels[gallery])
    clf.enroll([sets[i] for i in new], labels[new])
    together = np.concatenate([gallery, new])
    fresh = CVC(**FAST | SETTINGS[name]).fit([sets[i] for i in together], labels[together])
    assert_same_classifier(clf, fresh, [sets[i] for i in probes])


@each_setting
def test_forgetting_equals_a_fresh_fit(sets_and_labels, storage, name):
    sets, labels = sets_and_labels
    gallery, probes = np.arange(0, 20, 2), [sets[i] for i in (1, 7, 13)]
    gallery = np.concatenate([gallery, [3, 9, 15]])
    clf = CVC(**FAST | SETTINGS[name]).fit([sets[i] for i in gallery], labels[gallery])
    clf.forget(sets=[0, 5, "set 11"])
    kept = np.delete(gallery, [0, 5, 11])
    fresh = CVC(**FAST | SETTINGS[name]).fit([sets[i] for i in kept], labels[kept])
    assert_same_classifier(clf, fresh, probes)


def test_a_class_can_come_and_go(sets_and_labels, storage):
    sets, labels = sets_and_labels
    names = np.array(["dora", "anna", "carl", "bert"])[labels]
    is_bert = names == "bert"
    others = [s for s, bert in zip(sets, is_bert, strict=True) if not bert]
    clf = CVC(**FAST).fit(others, names[~is_bert])
    fresh = CVC(**FAST).fit(others, names[~is_bert])
    probe = [sets[-1] + 0.01]
    assert clf.predict(probe)[0] != "bert"
    clf.enroll([s for s, bert in zip(sets, is_bert, strict=True) if bert][:-1], ["bert"] * 4)
    assert clf.classes_.tolist() == ["anna", "bert", "carl", "dora"]
    assert clf.predict(probe)[0] == "bert"
    clf.forget(["bert"])
    assert_same_classifier(clf, fresh, probe)


def test_many_changes_in_a_row_stay_exact(sets_and_labels, storage, seed):
    sets, labels = sets_and_labels
    rng = np.random.default_rng(seed)
    inside = list(range(0, 20, 3))
    clf = CVC(**FAST, representations=PLAIN).fit([sets[i] for i in inside], labels[inside])
    for _ in range(8):
        outside = [i for i in range(len(sets)) if i not in inside]
        if rng.random() < 0.5 and len(inside) > 4:
            place = int(rng.integers(len(inside)))
            if len(set(labels[np.delete(inside, place)])) > 1:
                clf.forget(sets=[place])
                inside.pop(place)
        elif outside:
            new = int(rng.choice(outside))
            clf.enroll([sets[new]], labels[[new]])
            inside.append(new)
    fresh = CVC(**FAST, representations=PLAIN).fit([sets[i] for i in inside], labels[inside])
    assert_same_classifier(clf, fresh, [sets[i] + 0.05 for i in (0, 6, 12)])


def test_what_a_plain_view_does_not_need_is_not_solved_again(sets_and_labels, monkeypatch):
    sets, labels = sets_and_labels
    clf = CVC(**FAST, representations=PLAIN).fit(sets[:-1], labels[:-1])
    monkeypatch.setattr(lasso_graph.LassoGraph, "solve", None)  # nothing from scratch
    clf.enroll(sets[-1:], labels[-1:]).forget(sets=[2])
    assert len(clf.gallery_.sets) == len(sets) - 1


def test_views_that_have_learnt_the_same_show_the_same(seed):
    vectors = np.random.default_rng(seed).normal(size=(30, 6))
    one, same = (KNOWN["whitened"].fit(Images(vectors, None)) for _ in range(2))
    other = KNOWN["whitened"].fit(Images(vectors[1:], None))
    assert one.shows_as(same)
    assert not one.shows_as(other)
    assert KNOWN["plain"].fit(Images(vectors, None)).shows_as(KNOWN["plain"].unfitted())
    nameless = View("cubes", FunctionTransformer(lambda x: x**3))
    assert not nameless.fit(Images(vectors, None)).shows_as(nameless.fit(Images(vectors, None)))


def test_a_larger_set_may_bring_more_dimensionalities(seed):
    sets, labels = toy_sets(seed, n_sets=4)
    small = [s[:2] for s in sets[:-1]]
    clf = CVC(**FAST).fit(small, labels[:-1]).enroll(sets[-1:], labels[-1:])
    fresh = CVC(**FAST).fit([*small, sets[-1]], labels)
    assert clf.layers_[-1].n_columns == 3
    assert_same_classifier(clf, fresh, sets[:2])


def test_names_stay_with_their_sets(sets_and_labels):
    sets, labels = sets_and_labels
    first = SetBatch.from_list(sets[:6], names=list("abcdef"))
    clf = CVC(**FAST).fit(first, labels[:6])
    clf.enroll(SetBatch.from_list(sets[6:8], names=["g", "h"]), labels[6:8]).forget(sets=["b"])
    assert clf.gallery_.sets.names == tuple("acdefgh")
    np.testing.assert_array_equal(clf.gallery_.sets[-1], sets[7])


def bad_calls(sets, labels):
    return {
        "features": (lambda c: c.enroll([np.ones((3, 7))], ["x"]), "7 features.*has 20"),
        "NaN": (lambda c: c.enroll([np.full((3, 20), np.nan)], [0]), "set 0 contains NaN"),
        "label missing": (lambda c: c.enroll(sets[:2], labels[:1]), "enroll"),
        "kind of label": (lambda c: c.enroll(sets[:1], ["anna"]), "labels of one kind"),
        "class": (lambda c: c.forget([17]), "no class 17 .*one of 0, 1"),
        "name": (lambda c: c.forget(sets=["carl"]), "no set named 'carl'"),
        "number": (lambda c: c.forget(sets=[99]), "no set number 99"),
        "one label, not in a list": (
            lambda c: c.forget(1),
            r"labels must be a sequence.*\[1\]",
        ),
        "one name, not in a list": (
            lambda c: c.forget(sets="set 1"),
            r"sets must be a sequence.*\['set 1'\]",
        ),
        "a scalar array": (lambda c: c.forget(np.array(1)), "labels must be a sequence"),
        "a set by an array": (
            lambda c: c.forget(sets=[np.array([1, 2])]),
            r"no set named array",
        ),
        "all": (lambda c: c.forget([0, 1, 2, 3]), "nothing would be left"),
    }


@pytest.fixture(scope="module")
def fitted(sets_and_labels):
    """One classifier for the calls that are refused, with its answers."""
    sets, labels = sets_and_labels
    clf = CVC(**FAST).fit(sets, labels)
    return clf, clf.predict_proba(sets[:3])


@pytest.mark.parametrize("case", bad_calls(None, None))
def test_a_refused_change_changes_nothing(sets_and_labels, fitted, case):
    sets, labels = sets_and_labels
    clf, before = fitted
    ensemble = clf.gallery_
    call, message = bad_calls(sets, labels)[case]
    with pytest.raises(DataError, match=message):
        call(clf)
    assert clf.gallery_ is ensemble
    np.testing.assert_array_equal(clf.predict_proba(sets[:3]), before)


def test_forgetting_nothing_is_free(sets_and_labels):
    sets, labels = sets_and_labels
    clf = CVC(**FAST).fit(sets, labels)
    ensemble = clf.gallery_
    assert clf.forget([]).gallery_ is ensemble


def test_two_sets_of_one_name_must_be_told_apart(sets_and_labels):
    sets, labels = sets_and_labels
    clf = CVC(**FAST).fit(SetBatch.from_list(sets, names=["same"] * len(sets)), labels)
    with pytest.raises(DataError, match=r"20 sets named 'same'.*its place"):
        clf.forget(sets=["same"])


def test_crossing_the_limit_of_the_gram_matrix_is_exact_too(sets_and_labels, monkeypatch):
    """Larger galleries are kept in single precision; a fresh fit of a smaller one is not."""
    sets, labels = sets_and_labels
    settings = FAST | {"representations": PLAIN, "dims": (3,)}
    clf = CVC(**settings).fit(sets[:-2], labels[:-2])
    small = CVC(**settings).fit(sets[:-2], labels[:-2])
    monkeypatch.setattr(lasso_graph, "GRAM_LIMIT", 3 * (len(sets) - 2))
    large = CVC(**settings).fit(sets, labels)
    assert type(clf.gallery_.layers[0].graph).__name__ == "GramLasso"
    clf.enroll(sets[-2:], labels[-2:])
    assert type(clf.gallery_.layers[0].graph).__name__ == "PooledLasso"
    assert_same_classifier(clf, large, sets[:3])
    clf.forget(sets=[len(sets) - 2, len(sets) - 1])
    assert type(clf.gallery_.layers[0].graph).__name__ == "GramLasso"
    assert_same_classifier(clf, small, sets[:3])
    for gallery in clf.gallery_.layers:
        assert gallery.graph.columns.dtype == np.float64
