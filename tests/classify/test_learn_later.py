"""A changed gallery answers at once by what was learnt before, and learns anew when asked."""

from __future__ import annotations

import sys
from threading import Thread

import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import CVC, load
from setwise.errors import ParameterError
from setwise.gallery import Shortlist, learnt, update

LEARNT = ("weights", "inverse_temperatures", "accuracy", "threshold", "shrinkage")
HOW = {"dims": (1, 2, 3), "unknown": 0.3, "unknown_label": -1, "random_state": 0}


@pytest.fixture(scope="module")
def data():
    sets, labels = toy_sets(3, n_classes=4, n_sets=4, noise=0.3)
    order = np.random.default_rng(0).permutation(len(sets))
    return [sets[i] for i in order], labels[order]


@pytest.fixture
def clf(data):
    sets, labels = data
    return CVC(**HOW).fit(sets[:12], labels[:12])


def assert_as_fitted(clf, sets, labels):
    """What a fresh fit would answer and have learnt."""
    fresh = CVC(**HOW).fit(sets, labels)
    mine, other = clf.gallery_.calibration, fresh.gallery_.calibration
    assert mine.n_changed == 0
    np.testing.assert_allclose(mine.weights, other.weights, atol=1e-8)
    assert mine.threshold == pytest.approx(other.threshold, abs=1e-8)
    probes = [vectors + 0.05 for vectors in sets[:4]]
    np.testing.assert_array_equal(clf.predict(probes), fresh.predict(probes))
    np.testing.assert_allclose(
        clf.predict_proba(probes), fresh.predict_proba(probes), atol=1e-8
    )


def test_until_it_learns_it_judges_by_what_was_learnt(clf, data):
    sets, labels = data
    before = clf.gallery_
    clf.enroll(sets[12:14], labels[12:14], learn="later").forget(sets=[2], learn="later")
    now = clf.gallery_
    assert now.views is before.views
    for name in LEARNT:
        assert getattr(now.calibration, name) is getattr(before.calibration, name)
    assert now.calibration.n_changed == 3
    assert (clf.predict(sets[12:14]) == labels[12:14]).all()


def test_learning_then_gives_what_a_fit_would(clf, data):
    sets, labels = data
    clf.enroll(sets[12:14], labels[12:14], learn="later").forget(sets=[2], learn="later")
    stay = [i for i in range(14) if i != 2]
    assert_as_fitted(clf.learn(), [sets[i] for i in stay], labels[stay])


def test_a_change_that_learns_now_learns_of_earlier_changes_too(clf, data):
    sets, labels = data
    clf.enroll(sets[12:13], labels[12:13], learn="later")
    clf.enroll(sets[13:14], labels[13:14])
    assert_as_fitted(clf, sets[:14], labels[:14])


def test_a_class_may_come_and_go_meanwhile(clf, data):
    sets = data[0]
    clf.enroll([sets[0] + 9.0], [99], learn="later")
    assert clf.predict([sets[0] + 9.0]) == 99
    clf.forget([99], learn="later")
    assert 99 not in clf.classes_


def test_both_states_are_saved(clf, data, tmp_path):
    sets, labels = data
    clf.enroll(sets[12:14], labels[12:14], learn="later")
    read = load(clf.save(tmp_path / "a.setwise"))
    assert read.gallery_.calibration.n_changed == 2
    np.testing.assert_allclose(read.predict_proba(sets), clf.predict_proba(sets), atol=1e-12)
    learned = load(read.learn().save(tmp_path / "b.setwise"))
    assert_as_fitted(learned, sets[:14], labels[:14])


def test_nothing_is_learnt_where_nothing_has_changed(clf):
    before = clf.gallery_
    assert clf.learn().gallery_ is before


def test_a_change_while_it_learns_is_not_lost(clf, data, monkeypatch):
    sets, labels = data
    module, n_times = sys.modules["setwise.classify.cvc"], []

    def with_a_change_meanwhile(gallery, **options):
        if (
            not n_times
        ):  # in another thread, which would wait for ever if learning held the lock
            change = Thread(target=lambda: clf.forget(sets=[0], learn="later"))
            change.start()
            change.join(60)
            assert not change.is_alive()
        n_times.append(len(gallery.sets))
        return learnt(gallery, **options)

    monkeypatch.setattr(module, "learnt", with_a_change_meanwhile)
    clf.enroll(sets[12:13], labels[12:13], learn="later").learn()
    assert n_times == [13, 12]
    assert_as_fitted(clf, sets[1:13], labels[1:13])


def test_a_gallery_that_outgrows_its_kind_learns_now(data):
    sets, labels = data
    few = Shortlist(n_classes=2, n_compared=3, above=3)
    known = np.flatnonzero(labels != 3)
    clf = CVC(dims=(1, 2), shortlist=few).fit([sets[i] for i in known], labels[known])
    assert not clf.gallery_.solution.is_shortlist
    others = np.flatnonzero(labels == 3)
    clf.enroll([sets[i] for i in others], labels[others], learn="later")
    assert clf.gallery_.solution.is_shortlist
    assert clf.gallery_.calibration.n_changed == 0


def test_a_large_gallery_learns_when_asked(data):
    sets, labels = data
    few = Shortlist(n_classes=2, n_compared=3, above=3)
    clf = CVC(dims=(1, 2), shortlist=few).fit(sets[:14], labels[:14])
    clf.enroll(sets[14:], labels[14:], learn="later")
    assert clf.gallery_.calibration.n_changed == 2
    fresh = CVC(dims=(1, 2), shortlist=few).fit(sets, labels)
    np.testing.assert_array_equal(clf.learn().weights_, fresh.weights_)


@pytest.mark.parametrize("change", ["enroll", "forget", "update"])
def test_only_now_and_later_are_times(clf, data, change):
    sets, labels = data
    work = {
        "enroll": lambda: clf.enroll(sets[12:13], labels[12:13], learn="soon"),
        "forget": lambda: clf.forget(sets=[0], learn="soon"),
        "update": lambda: update(clf.gallery_, learn="soon"),
    }
    with pytest.raises(ParameterError, match=r"learn.*'now'.*'later'.*'soon'"):
        work[change]()
