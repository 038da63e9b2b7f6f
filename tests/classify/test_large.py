"""Galleries of many classes: judged around the probe, and by nobody who is not there."""

from __future__ import annotations

import pickle
import sys

import numpy as np
import pytest

import setwise
from setwise import CVC, SetBatch
from setwise.classify import judge, update
from setwise.errors import DataError, ParameterError, TooLargeError
from setwise.gallery import Shortlist
from setwise.gallery.index_rows import index_rows, shown
from setwise.gallery.solve import MOST_CHANGED

N_CLASSES, N_FEATURES = 20, 24
HOW = Shortlist(n_classes=4, n_compared=8, above=12)


def sets_of(n_sets: int, *, seed: int, n_classes: int = N_CLASSES, n_vectors: int = 7):
    """Sets of each class, one class after the other, and their labels."""
    people = np.random.default_rng(7).normal(size=(60, N_FEATURES))[:n_classes]
    rng = np.random.default_rng(seed)
    made = [
        person
        + 0.5 * rng.normal(size=N_FEATURES)
        + 0.6 * rng.normal(size=(n_vectors, N_FEATURES))
        for person in people
        for _ in range(n_sets)
    ]
    names = np.array([f"person {i:02d}" for i in range(n_classes)])
    return [vectors.astype(np.float32) for vectors in made], np.repeat(names, n_sets)


def fitted(n_sets: int = 2, **parameters) -> CVC:
    options = {"dims": (2, 3), "random_state": 0, "shortlist": HOW} | parameters
    return CVC(**options).fit(*sets_of(n_sets, seed=0))


PROBES, TRUTH = sets_of(1, seed=1)


@pytest.fixture(scope="module")
def large() -> CVC:
    return fitted()


def answers(clf: CVC, probes=PROBES):
    return list(clf.judge(probes))


def assert_same(ours, theirs) -> None:
    for one, other in zip(ours, theirs, strict=True):
        assert one.label == other.label
        assert one.nearness == other.nearness
        np.testing.assert_array_equal(one.classes, other.classes)
        np.testing.assert_array_equal(one.probabilities, other.probabilities)


def test_few_classes_are_looked_at_and_the_right_one_is_among_them(large):
    assert large.gallery_.layers == ()
    for answer, truth in zip(answers(large), TRUTH, strict=True):
        assert len(answer.classes) == HOW.n_classes
        assert truth in answer.classes
    assert (large.predict(PROBES) == TRUTH).mean() >= 0.95


@pytest.mark.parametrize("n_classes", [20, 10], ids=["shortlist", "whole"])
def test_left_out_sets_are_answered_as_by_a_gallery_without_them(n_classes):
    sets, labels = sets_of(2, seed=0, n_classes=n_classes)
    # A probe's outliers are asked whether they are rare; those of gallery sets are not.
    clf = CVC((2, 3), random_state=0, shortlist=HOW, outliers=None).fit(sets, labels)
    gallery = clf.gallery_
    found = gallery.left_out()
    assert len(found.sets) == len(sets)
    for i, code, nearness in list(zip(found.sets, found.codes, found.nearness, strict=True))[
        ::7
    ]:
        others = update(gallery, is_kept=np.arange(len(sets)) != i, learn="later")
        (answer,) = judge(others, gallery.sets[[i]])
        assert answer.nearest == gallery.classes[code]
        assert answer.nearness == pytest.approx(nearness, abs=1e-6)


def test_small_galleries_are_judged_whole():
    sets, labels = sets_of(2, seed=0, n_classes=12)
    near = CVC((2, 3), random_state=0, shortlist=HOW).fit(sets, labels)
    whole = CVC((2, 3), random_state=0, shortlist=None).fit(sets, labels)
    assert not near.gallery_.solution.is_shortlist
    assert_same(answers(near, PROBES[:12]), answers(whole, PROBES[:12]))


@pytest.mark.parametrize("distributions", ["class", "set"])
def test_an_answer_is_that_of_the_classes_around_alone(distributions):
    """The claim: the whole method, on the gallery that these classes would make."""
    options = {
        "representations": (("plain", "mean"), ("plain", "svd"), ("plain", "centred")),
        "weights": None,
        "outliers": None,
        "distributions": distributions,
    }
    large = fitted(**options)
    sets, labels = sets_of(2, seed=0)
    for probe, answer in zip(PROBES, answers(large), strict=True):
        inside = np.flatnonzero(np.isin(labels, answer.classes))
        alone = CVC((2, 3), random_state=0, shortlist=None, **options)
        alone.fit([sets[i] for i in inside], labels[inside])
        expected = next(iter(alone.judge([probe])))
        assert answer.label == expected.label
        np.testing.assert_allclose(answer.probabilities, expected.probabilities, atol=1e-9)
        np.testing.assert_allclose(answer.nearness, expected.nearness, atol=1e-9)


@pytest.mark.parametrize("graph", ["gaussian", "least_squares", "omp"])
def test_other_graphs_too(graph):
    options = {"representations": (("plain", "svd"),), "weights": None, "graph": graph}
    large = fitted(**options)
    sets, labels = sets_of(2, seed=0)
    answer = answers(large, PROBES[:1])[0]
    inside = np.flatnonzero(np.isin(labels, answer.classes))
    alone = CVC((2, 3), random_state=0, shortlist=None, **options)
    alone.fit([sets[i] for i in inside], labels[inside])
    expected = next(iter(alone.judge(PROBES[:1])))
    np.testing.assert_allclose(answer.probabilities, expected.probabilities, atol=1e-9)


def test_neither_jobs_nor_the_order_of_probes_matter(large):
    expected = answers(large)
    turned = answers(large, PROBES[::-1])[::-1]
    many = answers(fitted(n_jobs=2))
    assert_same(expected, turned)
    assert_same(expected, many)


def test_the_order_of_the_gallery_does_not_matter():
    sets, labels = sets_of(2, seed=0)
    order = np.random.default_rng(3).permutation(len(sets))
    options = {"dims": (2, 3), "random_state": 0, "shortlist": HOW, "weights": None}
    one = CVC(**options).fit(sets, labels)
    other = CVC(**options).fit([sets[i] for i in order], labels[order])
    for ours, theirs in zip(answers(one), answers(other), strict=True):
        assert ours.label == theirs.label
        np.testing.assert_array_equal(ours.classes, theirs.classes)
        np.testing.assert_allclose(ours.probabilities, theirs.probabilities, atol=1e-8)


def test_probabilities_are_of_all_classes(large):
    table, scores = large.predict_proba(PROBES[:3]), large.decision_function(PROBES[:3])
    assert table.shape == scores.shape == (3, N_CLASSES)
    np.testing.assert_allclose(table.sum(axis=1), 1.0)
    assert ((table > 0).sum(axis=1) <= HOW.n_classes).all()
    labels = large.predict(PROBES[:3])
    assert (large.classes_[table.argmax(axis=1)] == labels).all()
    assert (large.classes_[scores.argmax(axis=1)] == labels).all()


def test_an_explanation_is_of_the_classes_around(large):
    why = large.explain(PROBES[2])
    answer = answers(large, [PROBES[2]])[0]
    assert why.label == answer.label
    np.testing.assert_array_equal(why.classes, answer.classes)
    np.testing.assert_allclose(why.probabilities, answer.probabilities)
    assert "person" in str(why)


# ------------------------------------------------------------------------ what is learnt


def test_weights_are_learnt_from_left_out_sets(large):
    assert large.gallery_accuracy_ is not None
    assert max(large.gallery_accuracy_.values()) > 0.8
    assert large.gallery_.calibration.pool_inverse_temperature != 1.0


def test_one_set_per_class_is_tried_by_halves():
    clf = fitted(1)
    assert clf.gallery_accuracy_ is not None
    assert clf.weights_.min() >= 0
    assert len(set(clf.weights_)) > 2
    assert (clf.predict(PROBES) == TRUTH).mean() >= 0.9


def test_sets_too_small_to_be_halved_count_evenly():
    sets, labels = sets_of(1, seed=0, n_vectors=3)
    clf = CVC((1, 2), shortlist=HOW, random_state=0).fit(sets, labels)
    assert clf.gallery_accuracy_ is None
    assert (clf.predict(PROBES) == TRUTH).mean() >= 0.8


def test_a_set_that_is_tried_is_not_there(large):
    """Else it would find itself, and every member would be right."""
    gallery = large.gallery_
    directory = gallery.solution
    for i in (0, 7, 31):
        around = gallery.around(directory.bases(i), {i: None})
        assert i not in around.sets
        own = np.flatnonzero(gallery.codes == gallery.codes[i])
        hidden = dict.fromkeys(map(int, own))
        without = gallery.around(directory.bases(i), hidden)
        assert gallery.classes[gallery.codes[i]] not in without.classes
        assert len(without.classes) == HOW.n_classes


def test_sets_of_unknown_classes_are_told():
    clf = fitted(unknown=0.2)
    everybody, _ = sets_of(1, seed=5, n_classes=60)
    known = [answer.is_known for answer in answers(clf)]
    strange = [answer.is_known for answer in answers(clf, everybody[N_CLASSES:])]
    assert np.mean(known) >= 0.8
    assert np.mean(strange) <= 0.4
    assert (clf.predict(everybody[N_CLASSES:]) == "unknown").mean() >= 0.6


# ------------------------------------------------------------------------ come and go


@pytest.fixture
def keeping(monkeypatch):
    """What was learnt is kept in galleries of any size."""
    monkeypatch.setattr(sys.modules["setwise.gallery.solve"], "MOST_ANEW", 0)


@pytest.mark.usefixtures("keeping")
def test_enrolling_and_forgetting_is_exact(large):
    """Equal to a gallery solved with what was learnt before; and back again."""
    sets, labels = sets_of(2, seed=0, n_classes=21)
    clf = fitted().enroll(sets[-2:], labels[-2:])
    assert clf.gallery_.calibration.n_changed == 2
    np.testing.assert_array_equal(clf.weights_, large.weights_)
    new = answers(clf, [sets_of(1, seed=1, n_classes=21)[0][-1]])[0]
    assert new.label == labels[-1]
    solution = clf.gallery_.solution
    seen = shown(solution.sets, solution.views, None)
    rows = index_rows(solution.sets, solution.inliers, solution.views, seen, None)
    np.testing.assert_array_equal(solution.rows, rows)
    assert solution.seen.keys() == seen.keys()
    for view, values in seen.items():
        np.testing.assert_array_equal(solution.seen[view], values)
    clf.forget([labels[-1]])
    assert_same(answers(clf), answers(large))


@pytest.mark.usefixtures("keeping")
def test_a_key_is_never_given_again(large):
    sets, labels = sets_of(2, seed=0, n_classes=21)
    clf = fitted().enroll(sets[-2:], labels[-2:])
    clf.forget(sets=[clf.gallery_.sets.names[-2]])
    clf.enroll(sets[-1:], labels[-1:])
    assert clf.gallery_.solution.keys.tolist() == [*range(40), 41, 42]


@pytest.mark.usefixtures("keeping")
def test_what_was_learnt_is_learnt_anew_after_many_changes(large):
    clf = fitted()
    sets, labels = sets_of(1, seed=9)
    for start in range(0, 8, 2):
        clf.enroll(sets[start : start + 2], labels[start : start + 2])
    assert clf.gallery_.calibration.n_changed == 8
    assert clf.gallery_.calibration.n_changed <= MOST_CHANGED * len(clf.gallery_.sets)
    clf.enroll(sets[8:12], labels[8:12])
    assert clf.gallery_.calibration.n_changed == 0
    again = CVC((2, 3), random_state=0, shortlist=HOW)
    again.fit(clf.gallery_.sets, clf.classes_[clf.gallery_.codes])
    assert_same(answers(clf), answers(again))


def test_a_large_gallery_of_few_sets_is_learnt_anew(large):
    sets, labels = sets_of(2, seed=0, n_classes=21)
    clf = fitted().enroll(sets[-2:], labels[-2:])
    fresh = CVC((2, 3), random_state=0, shortlist=HOW).fit(sets, labels)
    assert clf.gallery_.calibration.n_changed == 0
    assert_same(answers(clf), answers(fresh))


@pytest.mark.usefixtures("keeping")
def test_a_gallery_grows_large_and_small_again():
    sets, labels = sets_of(2, seed=0, n_classes=13)
    clf = CVC((2, 3), random_state=0, shortlist=HOW).fit(sets[:24], labels[:24])
    assert not clf.gallery_.solution.is_shortlist
    clf.enroll(sets[24:], labels[24:])
    fresh = CVC((2, 3), random_state=0, shortlist=HOW).fit(sets, labels)
    assert clf.gallery_.solution.is_shortlist
    assert_same(answers(clf, PROBES[:5]), answers(fresh, PROBES[:5]))
    clf.forget([labels[-1]])
    small = CVC((2, 3), random_state=0, shortlist=HOW).fit(sets[:24], labels[:24])
    assert not clf.gallery_.solution.is_shortlist
    assert_same(answers(clf, PROBES[:5]), answers(small, PROBES[:5]))


# ------------------------------------------------------------------------ files and memory


def test_a_file_answers_the_same(large, tmp_path):
    path = large.save(tmp_path / "many.setwise")
    clf = setwise.load(path)
    assert_same(answers(clf), answers(large))
    assert clf.shortlist == HOW
    clf.save(tmp_path / "again.setwise")
    assert (tmp_path / "again.setwise").read_bytes() == path.read_bytes()
    with setwise.edit(path) as changed:
        changed.forget(["person 03"])
    assert "person 03" not in setwise.load(path).classes_


def test_a_file_needs_the_vectors(large, tmp_path):
    with pytest.raises(DataError, match="cannot be saved without them"):
        large.save(tmp_path / "many.setwise", keep_vectors=False)
    assert not list(tmp_path.glob("*.setwise"))


def test_a_gallery_can_be_sent_elsewhere(large):
    answers(large, PROBES[:2])  # what is kept of them must not be in the way
    assert_same(answers(pickle.loads(pickle.dumps(large))), answers(large))


def test_vectors_stay_what_they_came_as():
    sets, labels = sets_of(2, seed=0)
    assert fitted().gallery_.sets.vectors.dtype == np.float32
    pixels = [np.clip(40 * vectors + 128, 0, 255).astype(np.uint8) for vectors in sets]
    clf = CVC((2, 3), random_state=0, shortlist=HOW).fit(pixels, labels)
    assert clf.gallery_.sets.vectors.dtype == np.uint8
    doubles = CVC((2, 3), random_state=0, shortlist=HOW)
    doubles.fit([images.astype(np.float64) for images in pixels], labels)
    assert_same(answers(clf, pixels[:6]), answers(doubles, pixels[:6]))


def scenes(n_sets: int) -> tuple[SetBatch, np.ndarray]:
    """Sets of six images of each of fourteen scenes."""
    rng = np.random.default_rng(0)
    made = [
        np.clip(scene + rng.normal(0, 25, (6, 12, 12)), 0, 255).astype(np.uint8)
        for scene in rng.integers(0, 256, (14, 12, 12))
        for _ in range(n_sets)
    ]
    return SetBatch.from_images(made), np.repeat(np.arange(14), n_sets)


@pytest.fixture
def looked(monkeypatch) -> list[int]:
    """How many images the pixels are taken of, call by call."""
    counts: list[int] = []
    plain = setwise.features.Pixels.transform
    monkeypatch.setattr(
        setwise.features.Pixels,
        "transform",
        lambda self, X: counts.append(len(X)) or plain(self, X),
    )
    return counts


def of_pixels(batch, labels) -> CVC:
    clf = CVC.for_images("pixels", dims=(2,), shortlist=HOW, random_state=0)
    return clf.fit(batch, labels)


def test_images_are_seen_once(looked):
    """What a feature makes of the gallery's images is kept; a probe is looked at alone."""
    batch, labels = scenes(2)
    clf = of_pixels(batch, labels)
    looked.clear()
    assert clf.predict(batch[[3, 20]]).tolist() == [1, 10]
    assert sum(looked) == 12


def test_halves_of_sets_are_not_looked_at_again(looked):
    batch, labels = scenes(1)
    clf = of_pixels(batch, labels)
    assert clf.gallery_accuracy_ is not None  # tried on halves
    n_views, n_widths = 2, 3  # one image without content tells how wide a view is
    assert sum(looked) - n_widths * n_views <= 2 * len(batch.vectors)  # to learn, and to keep


def test_memory_is_asked_for_before_it_is_taken(monkeypatch):
    monkeypatch.setattr("setwise._support.memory.available_memory", lambda: 10_000)
    with pytest.raises(TooLargeError, match="40 sets"):
        fitted()


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"n_classes": 1}, "n_classes must be"),
        ({"n_classes": 8, "n_compared": 4}, "n_compared must be"),
        ({"n_classes": 300}, "n_compared must be"),
        ({"n_classes": 100, "n_compared": 100, "above": 50}, "above must be"),
    ],
)
def test_shortlists_that_make_no_sense_are_refused(given, words):
    with pytest.raises(ParameterError, match=words):
        Shortlist(**given)


@pytest.mark.parametrize("given", ["far", 7, setwise.LassoGraph()])
def test_what_is_no_shortlist_is_refused(given):
    with pytest.raises(ParameterError, match="shortlist must be"):
        CVC(shortlist=given).describe()
