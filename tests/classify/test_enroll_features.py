"""Each image is looked at once by each feature, in whatever is asked of a classifier."""

from __future__ import annotations

import pickle
import sys
from collections import Counter
from importlib import import_module

import numpy as np
import pytest
from sklearn.pipeline import make_pipeline
from tests.striped_sets import striped_sets

from setwise import CVC, load
from setwise.classify import Inference
from setwise.errors import DataError
from setwise.features import Pixels, Whitener
from setwise.gallery import update
from setwise.io.tensors import read_tensors, write_tensors

LOOKED: Counter[bytes] = Counter()


class Watched(Pixels):
    """Counts how often it sees each image."""

    def compute(self, images):
        LOOKED.update(
            np.ascontiguousarray(image, dtype=np.float64).tobytes() for image in images
        )
        return super().compute(images)


def images_of(sets):
    """Each image of some sets, once."""
    vectors = np.asarray(sets.vectors, dtype=np.float64)
    return Counter(row.tobytes() for row in vectors)


@pytest.fixture(scope="module")
def gallery():
    """Sets of noisy images, no two of which are the same."""
    return striped_sets(4)


def make(**parameters):
    """Four representations: a feature alone and whitened, each by two bases."""
    alone, whitened = ("look", Watched(4)), ("whitened", make_pipeline(Watched(4), Whitener()))
    pairs = [(view, basis) for view in (alone, whitened) for basis in ("svd", "mean")]
    return CVC((1, 2), representations=pairs, random_state=0, **parameters)


def looks_during(work):
    """How often each image is looked at meanwhile."""
    LOOKED.clear()
    work()
    return Counter(LOOKED)


@pytest.mark.parametrize("n_jobs", [None, 2])
@pytest.mark.parametrize(
    "parameters",
    [{}, {"weights": None, "outliers": None}, {"unknown": 0.4, "unknown_label": "nobody"}],
    ids=["default", "evenly", "unknown"],
)
def test_a_fit_looks_once(gallery, parameters, n_jobs):
    clf = make(**parameters, n_jobs=n_jobs)
    looks = looks_during(lambda: clf.fit(gallery, gallery.labels))
    assert set(looks.values()) == {1}
    assert set(looks) <= set(images_of(gallery))  # those that do not belong are left out
    if parameters.get("outliers", "drop") is None:
        assert looks == images_of(gallery)


def test_a_fit_that_tries_halves_looks_once(gallery):
    one_each = np.unique(gallery.labels, return_index=True)[1]
    some = np.append(one_each, one_each[0] + 3)
    clf = make()
    looks = looks_during(lambda: clf.fit(gallery[some], gallery.labels[some]))
    assert clf.gallery_accuracy_ is not None  # tried
    assert set(looks.values()) == {1}


def test_a_fit_that_judges_one_half_by_the_other_looks_once(gallery, monkeypatch):
    judged = []
    whole = import_module("setwise.gallery.whole")
    monkeypatch.setattr(whole, "may_overfit", lambda _: judged.append(True) or True)
    looks = looks_during(lambda: make().fit(gallery, gallery.labels))
    assert judged
    assert set(looks.values()) == {1}


@pytest.mark.parametrize("ask", ["predict", "predict_proba", "explain"])
def test_a_question_looks_once_at_the_probe_alone(gallery, ask):
    clf = make(outliers=None).fit(gallery[1:], gallery.labels[1:])
    probe = gallery[0] if ask == "explain" else gallery[[0]]
    assert looks_during(lambda: getattr(clf, ask)(probe)) == images_of(gallery[[0]])


@pytest.mark.parametrize("unknown", [None, 0.4])
def test_a_gallery_that_learns_anew_looks_at_the_new_set_alone(gallery, unknown):
    clf = make(outliers=None, unknown=unknown, unknown_label="nobody")
    clf.fit(gallery[1:], gallery.labels[1:])
    looks = looks_during(lambda: clf.enroll(gallery[[0]], gallery.labels[[0]]))
    assert looks == images_of(gallery[[0]])
    assert not looks_during(lambda: clf.forget(sets=[2]))


def test_a_file_keeps_what_was_seen(gallery, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules["setwise.features.views"]._STEPS, "Watched", Watched)
    clf = make().fit(gallery[1:], gallery.labels[1:])
    read = load(clf.save(tmp_path / "a.setwise"))
    assert not looks_during(lambda: read.forget(sets=[2]))
    np.testing.assert_array_equal(read.weights_, clf.forget(sets=[2]).weights_)


def test_a_file_without_what_was_seen_computes_it_when_needed(gallery, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules["setwise.features.views"]._STEPS, "Watched", Watched)
    clf = make().fit(gallery[1:], gallery.labels[1:])
    document, arrays = read_tensors(clf.save(tmp_path / "a.setwise"), "test")
    del document["sha256"], arrays["is kept"], arrays["feature 0"]
    write_tensors(tmp_path / "old.setwise", document, arrays)
    read = load(tmp_path / "old.setwise")
    new = gallery[[0]], gallery.labels[[0]]
    assert looks_during(lambda: read.enroll(*new, learn="later")) == images_of(new[0])
    seen = set(images_of(read.gallery_.sets))
    assert set(looks_during(read.learn)) <= seen
    assert not looks_during(lambda: read.forget(sets=[0]))  # now they are known


@pytest.mark.parametrize(
    ("name", "spoil"),
    [
        ("feature 0", lambda values: values[:-1]),
        ("feature 0", lambda values: values[:, :-1]),
        ("feature 0", lambda values: values * np.nan),
        ("is kept", lambda is_kept: ~is_kept),
        ("is kept", lambda is_kept: is_kept[:-1]),
    ],
)
def test_features_that_lead_astray_are_refused(gallery, tmp_path, name, spoil, monkeypatch):
    monkeypatch.setitem(sys.modules["setwise.features.views"]._STEPS, "Watched", Watched)
    clf = make(outliers=None, weights=None).fit(gallery, gallery.labels)
    path = clf.save(tmp_path / "a.setwise")
    document, arrays = read_tensors(path, "test")
    arrays[name] = spoil(np.asarray(arrays[name]))
    del document["sha256"]
    write_tensors(path, document, arrays)
    with pytest.raises(DataError, match="contradicts itself"):
        load(path)


def test_a_file_without_vectors_has_no_features(gallery, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules["setwise.features.views"]._STEPS, "Watched", Watched)
    path = make().fit(gallery, gallery.labels).save(tmp_path / "a.setwise", keep_vectors=False)
    assert not {"is kept", "feature 0"} & set(read_tensors(path, "test")[1])


def test_what_is_pickled_keeps_what_was_seen(gallery):
    clf = pickle.loads(pickle.dumps(make().fit(gallery, gallery.labels)))
    assert not looks_during(lambda: clf.forget(sets=[2]))


def test_a_set_that_moves_is_not_looked_at_again(gallery):
    clf = make().fit(gallery, gallery.labels)
    moved, is_kept = gallery[[2]], np.arange(len(gallery)) != 2
    other = gallery.labels[gallery.labels != gallery.labels[2]][:1]

    def move():
        clf.gallery_ = update(clf.gallery_, add=(moved, other), is_kept=is_kept)

    assert not looks_during(move)
    assert clf.gallery_.classes[clf.gallery_.codes[-1]] == other[0]


def test_a_gallery_that_keeps_what_it_learnt_looks_at_the_new_set_alone(gallery, monkeypatch):
    monkeypatch.setattr(sys.modules["setwise.gallery.solve"], "MOST_ANEW", 4)
    clf = make(outliers=None).fit(gallery[1:], gallery.labels[1:])
    assert looks_during(lambda: clf.enroll(gallery[[0]], gallery.labels[[0]])) == images_of(
        gallery[[0]]
    )
    assert not looks_during(lambda: clf.forget(sets=[2]))


def test_an_answer_and_its_explanation_come_of_one_look(gallery):
    clf = make(outliers=None).fit(gallery[1:], gallery.labels[1:])
    probe = np.asarray(gallery[0], dtype=np.float64)
    expected = clf.judge([probe])[0], clf.explain(probe)
    found = []

    def answer_and_explain():
        inference = Inference.of(clf.gallery_, probe)
        found.extend([inference.answer("set 0"), inference.explanation("set 0")])

    assert looks_during(answer_and_explain) == images_of(gallery[[0]])
    np.testing.assert_array_equal(found[0].probabilities, expected[0].probabilities)
    np.testing.assert_array_equal(found[1].support, expected[1].support)
