"""Judging: one answer per set, by one gallery or the next, never by a mixture."""

from __future__ import annotations

import copy
import sys
import threading
import warnings
from dataclasses import replace

import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import CVC, SetBatch
from setwise.classify import Fusion, judge
from setwise.errors import DataError, GuessingWarning

PLAIN = {"dims": (1, 2), "representations": [("plain", "svd")], "random_state": 0}


@pytest.fixture
def clf_and_probes(seed):
    sets, labels = toy_sets(seed, n_classes=4, noise=1.0)
    names = np.array(["dora", "anna", "carl", "bert"])[labels]
    probes = SetBatch.from_list(sets[1::3], names=[f"clip {i}" for i in range(len(sets[1::3]))])
    return CVC((1, 2, 3), random_state=0).fit(
        sets[::3] + sets[2::3], np.r_[names[::3], names[2::3]]
    ), probes


def test_answers_say_what_predict_and_predict_proba_say(clf_and_probes):
    clf, probes = clf_and_probes
    answers = list(clf.judge(probes))
    assert [answer.name for answer in answers] == list(probes.names)
    np.testing.assert_array_equal([a.label for a in answers], clf.predict(probes))
    shares = clf.predict_proba(probes)
    np.testing.assert_array_equal([a.probabilities for a in answers], shares)
    for answer, share in zip(answers, shares, strict=True):
        first, second = np.sort(share)[::-1][:2]
        assert answer.probability == first
        assert answer.margin == first - second
        assert answer.is_known is None
        assert answer.is_informed
        assert answer.runner_up is None or answer.runner_up != answer.label
        assert answer.votes.shape == (len(answer.score_matrix.weights), 4)
        assert len(answer.score_matrix.weights) <= np.count_nonzero(clf.weights_)
        np.testing.assert_array_equal(answer.classes, clf.classes_)


def test_another_fusion_of_the_same_layers(clf_and_probes):
    clf, probes = clf_and_probes
    answers = list(clf.judge(probes))
    for fusion in ("mode", "sum", "coefficient"):
        described = replace(clf.gallery_.description, fusion=Fusion.of(fusion, "test"))
        fused = judge(replace(clf.gallery_, description=described), probes)
        assert [answer.fused_by(fusion) for answer in answers] == [a.nearest for a in fused]


def test_progress_is_told_and_answers_come_one_by_one(clf_and_probes):
    clf, probes = clf_and_probes
    told = []
    answers = clf.iter_judge(probes, progress=lambda *step: told.append(step))
    next(answers)
    assert told[0] == ("classify", 0, len(probes))
    list(answers)
    assert told[-1] == ("classify", len(probes), len(probes))


def test_probes_are_refused_before_the_first_answer(clf_and_probes):
    clf, _ = clf_and_probes
    with pytest.raises(DataError, match=r"CVC.judge: set 0 has 7 features"):
        clf.judge([np.ones((3, 7))])


def test_a_set_that_nothing_is_known_of_says_so():
    rng = np.random.default_rng(0)
    gallery = [np.hstack([rng.normal(size=(5, 4)), np.zeros((5, 4))]) for _ in range(4)]
    probe = np.hstack([np.zeros((5, 4)), rng.normal(size=(5, 4))])
    clf = CVC(**PLAIN | {"weights": None}).fit(gallery, [0, 0, 1, 1])
    (answer,) = clf.judge([probe])
    assert not answer.is_informed
    assert (answer.probability, answer.margin, answer.runner_up) == (0.5, 0.0, None)
    assert "No answer" in str(clf.explain(probe))


def test_predicting_while_another_thread_enrolls_answers_by_one_gallery():
    """Repro r01: 18 % of the labels used to be of neither the old nor the new gallery."""
    sets, labels = toy_sets(0, n_classes=6, n_sets=3, noise=0.3)
    names = np.array([f"c{label}" for label in labels])
    probes, new = sets[2:15:3], sets[15:16]  # of c0 to c4, and of c5
    is_gallery = (np.arange(18) % 3 < 2) & (labels < 5)
    clf = CVC(**PLAIN).fit(
        [s for s, g in zip(sets, is_gallery, strict=True) if g], names[is_gallery]
    )
    old = clf.predict(probes).tolist()
    # "aaa" sorts first, so that all codes change.
    both = (old, copy.deepcopy(clf).enroll(new, ["aaa"]).predict(probes).tolist())
    seen, stop = [], threading.Event()

    def predict() -> None:
        while not stop.is_set():
            try:
                seen.append(clf.predict(probes).tolist())
            except Exception as error:
                seen.append(repr(error))

    before, threads = sys.getswitchinterval(), []
    sys.setswitchinterval(1e-6)
    try:
        threads = [threading.Thread(target=predict) for _ in range(2)]
        for thread in threads:
            thread.start()
        for _ in range(10):
            clf.enroll(new, ["aaa"]).forget(["aaa"])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
        sys.setswitchinterval(before)
    assert seen
    assert [labels for labels in seen if labels not in both] == []


def test_a_gallery_is_never_changed(seed):
    sets, labels = toy_sets(seed)
    clf = CVC(**PLAIN).fit(sets[:-1], labels[:-1])
    gallery = clf.gallery_
    before = [solved.graph.adjacency.toarray() for solved in gallery.layers]
    clf.enroll(sets[-1:], labels[-1:]).forget(sets=[0])
    assert clf.gallery_ is not gallery
    assert len(gallery.sets) == len(sets) - 1
    for solved, adjacency in zip(gallery.layers, before, strict=True):
        np.testing.assert_array_equal(solved.graph.adjacency.toarray(), adjacency)
    with pytest.raises(AttributeError):
        gallery.calibration.weights = None


# --- a gallery at chance


def bursts(rng, points, n_sets, noise):
    """Sets of nearly one picture each: a point plus noise (repro r15)."""
    labels = np.repeat(np.arange(len(points)), n_sets)
    noisy = [points[c] + noise * rng.normal(size=(6, points.shape[1])) for c in labels]
    return [np.clip(burst, 0, 255) for burst in noisy], labels


def test_a_gallery_that_knows_no_better_than_guessing_says_so():
    rng = np.random.default_rng(0)
    noise, labels = [rng.normal(size=(5, 60)) for _ in range(12)], np.repeat(np.arange(6), 2)
    clf = CVC((1, 2), random_state=0)
    with pytest.warns(
        GuessingWarning, match=r"hardly better than by guessing \(\d of \d+ right"
    ):
        clf.fit(noise, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares = clf.predict_proba(noise)
        labels_again = clf.predict(noise)
    assert shares.max() < 0.6
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.classes_[shares.argmax(axis=1)], labels_again)


def test_what_a_view_has_learnt_by_heart_is_not_taken_for_knowledge():
    """Repro r15: left-out sets are recognised because the whitener has seen them."""
    rng = np.random.default_rng(0)
    points = rng.uniform(0, 255, size=(6, 576))
    gallery, labels = bursts(rng, points, 2, noise=200.0)
    clf = CVC(
        (5,),
        representations=[("plain", "centred"), ("whitened", "centred")],
        evidence="clusters",
        fusion="mode",
        random_state=0,
    )
    with pytest.warns(GuessingWarning, match=r"\d of 6 right, 1.0 by guessing"):
        clf.fit(gallery, labels)
    # Left out of the graph alone, twice as many as by guessing were recognised.
    assert max(clf.gallery_accuracy_.values()) >= 2 / 6
    probes, truth = bursts(rng, points, 3, noise=200.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        shares = clf.predict_proba(probes)
    assert np.mean(shares.argmax(axis=1) == truth) < 0.5
    assert shares.max() < 0.6


def test_a_gallery_that_knows_its_sets_does_not_warn(seed):
    sets, labels = toy_sets(seed)
    assert CVC(**PLAIN).fit(sets, labels).gallery_.calibration.shrinkage == 1.0
    # Four sets can never be sure by any test, but all of them are right.
    few, two = toy_sets(seed, n_classes=2, n_sets=2)
    assert CVC(**PLAIN).fit(few, two).gallery_.calibration.shrinkage == 1.0


@pytest.mark.parametrize("distance", ["bhattacharyya", "hellinger"])
def test_the_left_out_set_does_not_tell_whose_it_is(distance):
    """The row of a left-out set is empty: no distance may be the nearer for it."""
    rng = np.random.default_rng(1)
    noise, labels = [rng.normal(size=(5, 60)) for _ in range(24)], np.repeat(np.arange(12), 2)
    clf = CVC((2,), representations=[("plain", "svd")], distributions="set",
              distance=distance, random_state=0)  # fmt: skip
    with pytest.warns(GuessingWarning):
        clf.fit(noise, labels)
    assert clf.gallery_accuracy_["plain svd, d=2: clusters"] < 0.4
