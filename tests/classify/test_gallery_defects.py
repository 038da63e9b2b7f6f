"""Threads, orders and warnings: what a gallery must do however it is used."""

from __future__ import annotations

import copy
import pickle
import threading
import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone

from setwise import CVC
from setwise._support.parameters import Seed
from setwise.classify import Inference, update
from setwise.errors import CalibrationWarning, DataError, GuessingWarning
from setwise.features import is_typical
from setwise.gallery.evidence import LayerView
from setwise.gallery.outliers import two_parts

FAST = {
    "dims": (1, 2),
    "representations": [("plain", "mean"), ("plain", "svd")],
    "evidence": ("edges", "all angles"),
    "random_state": 0,
}


def albums(n_classes: int, n_sets: int, *, seed: int = 0, n_vectors: int = 7):
    rng = np.random.default_rng(seed)
    centres = 2 * np.random.default_rng(9).normal(size=(n_classes, 16))
    labels = np.repeat([f"c{i}" for i in range(n_classes)], n_sets)
    shake = rng.normal(size=(len(labels), n_vectors, 16))
    return [centres[int(c[1:])] + v for c, v in zip(labels, shake, strict=True)], labels


@pytest.fixture(scope="module")
def fitted():
    return CVC(**FAST).fit(*albums(4, 2))


@pytest.mark.parametrize("ask", ["predict_proba", "decision_function", "predict"])
def test_numbers_are_of_one_gallery_while_another_replaces_it(fitted, ask, monkeypatch):
    """The gallery is replaced between judging and the answer (repro 01)."""
    clf, probes = copy.deepcopy(fitted), albums(4, 1, seed=1)[0]
    expected = getattr(clf, ask)(probes)
    answers = CVC._answers

    def then_forget(self, *args, **options):
        found = answers(self, *args, **options)
        self.gallery_ = update(self.gallery_, is_kept=self.gallery_.codes != 0)
        return found

    monkeypatch.setattr(CVC, "_answers", then_forget)
    np.testing.assert_array_equal(getattr(clf, ask)(probes), expected)


def test_threads_that_enroll_lose_nothing(fitted):
    """Repro 07."""
    clf = copy.deepcopy(fitted)
    sets, _ = albums(4, 1, seed=2)
    threads = [
        threading.Thread(target=clf.enroll, args=([vectors], [f"new{i}"]))
        for i, vectors in enumerate(sets)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(clf.gallery_.sets) == 12
    assert [label for label in clf.classes_ if label.startswith("new")] == [
        f"new{i}" for i in range(4)
    ]


def test_a_classifier_with_a_lock_can_be_copied(fitted):
    clf = copy.deepcopy(fitted).forget(sets=[0])
    for other in (pickle.loads(pickle.dumps(clf)), copy.deepcopy(clf)):
        assert len(other.gallery_.sets) == 7
        assert len(other.forget(sets=[0]).gallery_.sets) == 6
    assert not hasattr(clone(clf), "gallery_")


def test_threads_compute_views_at_the_same_time(fitted, monkeypatch):
    """Repro 06: one lock per class made them wait for each other."""
    under_way, most, lock = [0], [0], threading.Lock()
    plain = LayerView._angles

    def slow(self):
        with lock:
            under_way[0] += 1
            most[0] = max(most[0], under_way[0])
        time.sleep(0.05)
        found = plain(self)
        with lock:
            under_way[0] -= 1
        return found

    monkeypatch.setattr(LayerView, "_angles", slow)
    copy.deepcopy(fitted).set_params(n_jobs=4).predict(albums(4, 2, seed=1)[0])
    assert most[0] > 1


def test_the_order_of_vectors_does_not_choose_the_outliers():
    """Repro 10: medians of an odd number of cosines are often tied."""
    for seed in range(400):
        rng = np.random.default_rng(seed)
        features, m = rng.normal(size=(3, 24)), int(rng.integers(4, 13))
        vectors = (rng.normal(size=(m, 3)) + 1) @ features + 0.35 * rng.normal(size=(m, 24))
        order = rng.permutation(m)
        np.testing.assert_array_equal(is_typical(vectors)[order], is_typical(vectors[order]))
        cosine, is_larger = two_parts(vectors)
        turned, is_larger_turned = two_parts(vectors[order])
        assert cosine == turned
        np.testing.assert_array_equal(is_larger[order], is_larger_turned)


def test_the_order_of_vectors_does_not_change_probabilities():
    rng = np.random.default_rng(13)
    features = [rng.normal(size=(3, 40)) for _ in range(4)]

    def album(c, m):
        return (rng.normal(size=(m, 3)) + 1) @ features[c] + 1.5 * rng.normal(size=(m, 40))

    gallery = [album(c, int(rng.integers(4, 13))) for c in range(4) for _ in range(3)]
    labels = np.repeat(np.arange(4), 3)
    probes = [album(c, 9) for c in range(4)]
    turned = [x[np.random.default_rng(1).permutation(len(x))] for x in gallery]
    one, other = (
        CVC((1, 2), random_state=0).fit(sets, labels).predict_proba(probes)
        for sets in (gallery, turned)
    )
    np.testing.assert_allclose(one, other, atol=1e-6)


def test_enrolling_into_a_gallery_of_zeros_is_refused(fitted):
    """Repro 11: a signed gallery file may hold anything."""
    gallery = fitted.gallery_
    nothing = gallery.sets.replaced(vectors=np.zeros_like(gallery.sets.vectors))
    clf = copy.deepcopy(fitted)
    clf.gallery_ = replace(gallery, sets=nothing)
    with pytest.raises(DataError, match=r"CVC.enroll: set .* holds nothing but"):
        clf.enroll(albums(4, 1, seed=3)[0], ["d"] * 4)


def test_a_set_that_is_zero_in_one_view_can_be_tried_as_unknown():
    from sklearn.preprocessing import FunctionTransformer

    sets, labels = albums(6, 2)
    sets = [np.abs(vectors) for vectors in sets]
    sets[0] = -sets[0]  # all zero once negative numbers are cut off
    cut = FunctionTransformer(lambda X: np.maximum(X, 0.0))
    pairs = [("plain", "svd"), (("cut", cut), "svd"), (("cut", cut), "mean")]
    how = FAST | {"representations": pairs, "unknown": 0.4}
    clf = CVC(**how).fit(sets, labels)
    assert clf.gallery_.calibration.threshold is not None


def test_no_fusion_with_learnt_weights_uses_members_that_have_one():
    """All members of the largest dimensionality may have weight 0."""
    sets, labels = albums(4, 2)
    clf = CVC(**FAST | {"fusion": "none"}).fit(sets, labels)
    gallery = clf.gallery_
    dims = gallery.ensemble.dims
    weights = np.where(dims == dims.max(), 0.0, 1.0)
    clf.gallery_ = gallery.calibrated(weights=weights)
    inference = Inference.of(clf.gallery_, sets[0])
    assert set(inference.score_matrix.dims) == {1}
    assert clf.predict(sets[:1]).tolist() == ["c0"]


def test_the_threshold_is_that_of_the_nearness_that_is_judged():
    """Sets of unknown classes, judged by a gallery without theirs: the same numbers."""
    sets, labels = albums(8, 2)
    how = FAST | {"weights": None, "outliers": None}
    clf = CVC(**how).fit(sets, labels)
    found = clf.gallery_.unknown_nearness()
    expected = []
    for fold in range(4):
        is_out = np.isin(labels, clf.classes_[np.arange(8) % 4 == fold])
        known = [s for s, out in zip(sets, is_out, strict=True) if not out]
        rest = CVC(**how).fit(known, labels[~is_out])
        out = [s for s, is_one in zip(sets, is_out, strict=True) if is_one]
        expected += [answer.nearness for answer in rest.judge(out)]
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_warnings_point_at_the_line_that_calls_fit():
    rng = np.random.default_rng(0)
    noise, labels = [rng.normal(size=(5, 60)) for _ in range(12)], np.repeat(np.arange(6), 2)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        CVC(**FAST | {"unknown": 0.05, "unknown_label": -1}).fit(noise, labels)
    ours = [w for w in caught if w.category in (GuessingWarning, CalibrationWarning)]
    assert {w.category for w in ours} == {GuessingWarning, CalibrationWarning}
    assert {w.filename for w in ours} == {__file__}


def test_a_loaded_classifier_refits_with_its_seed(fitted, tmp_path):
    from setwise import load

    loaded = load(fitted.save(tmp_path / "a.setwise"))
    seed = fitted.gallery_.description.seed
    assert loaded.describe().seed == seed
    assert CVC(random_state=Seed(seed)).describe().seed == seed
    assert clone(loaded).describe().seed == seed


def test_an_answer_and_its_explanation_share_their_views(fitted, monkeypatch):
    inserted = []
    probe = albums(4, 1, seed=1)[0][0]
    graph = type(fitted.gallery_.layers[0].graph)
    plain = graph.insertion
    monkeypatch.setattr(
        graph, "insertion", lambda self, *given: inserted.append(1) or plain(self, *given)
    )
    inference = Inference.of(fitted.gallery_, probe)
    answer, why = inference.answer("album"), inference.explanation("album")
    assert len(inserted) == len(inference.views)
    assert why.name == "album"
    assert why.label == answer.label
    np.testing.assert_array_equal(why.probabilities, answer.probabilities)
