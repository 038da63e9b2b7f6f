"""Is it anybody we know?"""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import norm
from sklearn.metrics import roc_auc_score

from setwise import CVC
from setwise.errors import CalibrationWarning, ParameterError
from setwise.gallery.calibrate import estimated_threshold

FAST = {"dims": (2,), "representations": [("plain", "mean"), ("whitened", "svd")]}
FAST |= {"evidence": "all angles", "random_state": 0}


def identities(rng, n_people, n_sets, *, n_vectors=6, n_features=64, noise=0.8):
    """Sets around a random direction of each person, as identity embeddings are."""
    who = rng.normal(size=(n_people, n_features))
    labels = np.repeat(np.arange(n_people), n_sets)
    shift = 0.5 * rng.normal(size=(len(labels), n_features))
    shake = noise * rng.normal(size=(len(labels), n_vectors, n_features))
    return [who[c] + s + v for c, s, v in zip(labels, shift, shake, strict=True)], labels


@pytest.fixture(scope="module")
def enrolled():
    rng = np.random.default_rng(0)
    sets, labels = identities(rng, 90, 3)
    names = np.array([f"p{label:02d}" for label in labels])
    is_gallery = (labels < 40) & (np.arange(270) % 3 < 2)
    gallery = [sets[i] for i in np.flatnonzero(is_gallery)]
    clf = CVC(**FAST, unknown=0.05).fit(gallery, names[is_gallery])
    probes = np.flatnonzero(~is_gallery)
    return clf, [sets[i] for i in probes], names[probes], labels[probes] < 40


def test_sets_of_unknown_classes_are_told_from_enrolled_ones(enrolled):
    clf, probes, _, is_enrolled = enrolled
    answers = list(clf.judge(probes))
    assert roc_auc_score(is_enrolled, [a.nearness for a in answers]) > 0.99
    is_known = np.array([a.is_known for a in answers])
    # 150 sets of unknown classes; the target is to accept one in twenty.
    assert is_known[~is_enrolled].mean() < 0.12
    assert is_known[is_enrolled].mean() > 0.9


def test_predict_gives_unknown_sets_the_label_for_them(enrolled):
    clf, probes, names, is_enrolled = enrolled
    known = np.array([answer.is_known for answer in clf.judge(probes)])
    labels = clf.predict(probes)
    np.testing.assert_array_equal(labels == "unknown", ~known)
    assert (labels == names)[known & is_enrolled].mean() > 0.95
    assert "unknown" not in clf.classes_
    assert clf.predict_proba(probes).shape == (len(probes), 40)


def test_an_explanation_says_unknown(enrolled):
    clf, probes, _, is_enrolled = enrolled
    unknown = probes[int(np.flatnonzero(~is_enrolled)[3])]
    why = clf.explain(unknown)
    assert why.is_known is False
    assert str(why).startswith("unknown, most like p")
    assert why.nearness == next(iter(clf.judge([unknown]))).nearness


def test_nobody_is_unknown_unless_asked(enrolled):
    clf, probes, _, _ = enrolled
    gallery = clf.gallery_
    plain = CVC(**FAST).fit(gallery.sets, gallery.classes[gallery.codes])
    assert {answer.is_known for answer in plain.judge(probes)} == {None}
    assert set(plain.predict(probes)) <= set(clf.classes_)


def test_a_rate_of_one_half_lets_more_in(enrolled):
    clf, _, _, _ = enrolled
    gallery = clf.gallery_
    open_door = CVC(**FAST, unknown=0.5).fit(gallery.sets, gallery.classes[gallery.codes])
    assert open_door.gallery_.calibration.threshold < gallery.calibration.threshold


def test_enrolling_finds_the_threshold_anew(enrolled):
    clf, probes, names, is_enrolled = enrolled
    gallery = clf.gallery_
    some = np.flatnonzero(~is_enrolled)[:4]
    again = CVC(**FAST, unknown=0.05).fit(gallery.sets, gallery.classes[gallery.codes])
    again.enroll([probes[i] for i in some], names[some])
    fresh = CVC(**FAST, unknown=0.05).fit(
        [*gallery.sets, *(probes[i] for i in some)],
        np.r_[gallery.classes[gallery.codes], names[some]],
    )
    assert again.gallery_.calibration.threshold == fresh.gallery_.calibration.threshold


@pytest.mark.parametrize("n_classes", [2, 3, 5, 10])
def test_few_classes_let_in_hardly_more_than_promised(n_classes):
    accepted, kept = [], []
    for i in range(4):
        sets, labels = identities(np.random.default_rng([n_classes, i]), n_classes + 20, 3)
        is_known = labels < n_classes
        is_gallery = is_known & (np.arange(len(sets)) % 3 < 2)
        clf = CVC(**FAST, unknown=0.05, unknown_label=-1, weights=None)
        with pytest.warns(CalibrationWarning, match="The threshold is estimated"):
            clf.fit([sets[i] for i in np.flatnonzero(is_gallery)], labels[is_gallery])
        asked = np.flatnonzero(~is_gallery)
        known = np.array([a.is_known for a in clf.judge([sets[i] for i in asked])])
        accepted.append(known[~is_known[asked]].mean())
        kept.append(known[is_known[asked]].mean())
    assert np.mean(accepted) <= 0.1
    assert np.mean(kept) >= 0.75


def test_an_estimated_threshold_is_a_quantile_of_what_was_seen():
    rng = np.random.default_rng(0)
    seen = 2.0 - rng.normal(1.2, 0.06, size=4000) ** 2
    threshold, (least, most) = estimated_threshold(seen, 0.05, 4000, 2.0)
    expected = 2.0 - (1.2 + 0.06 * norm.ppf(0.05)) ** 2
    np.testing.assert_allclose(threshold, expected, atol=0.02)
    assert 0.04 < least < 0.05 < most < 0.06
    few, (_, may_be) = estimated_threshold(seen[:3], 0.05, 3, 2.0)
    assert few > threshold - 0.1
    assert may_be > 0.15
    assert estimated_threshold(seen[:3], 0.2, 3, 2.0)[0] < few


def test_a_threshold_is_never_beyond_what_a_set_has_with_itself():
    alike = np.array([1.99, 1.995, 1.999])
    assert estimated_threshold(alike, 0.05, 3, 2.0)[0] <= 2.0


def test_a_gallery_too_small_for_the_rate_says_so():
    sets, labels = identities(np.random.default_rng(1), 4, 2)
    with pytest.warns(
        CalibrationWarning, match=r"4 classes are too few .* at least 20 classes"
    ):
        CVC(**FAST, unknown=0.05, unknown_label=-1).fit(sets, labels)


def test_the_label_for_unknown_sets_is_of_the_kind_of_the_labels():
    sets, labels = identities(np.random.default_rng(1), 20, 2)
    with pytest.raises(ParameterError, match=r"unknown_label must be .* int64, such as -1"):
        CVC(**FAST, unknown=0.05).fit(sets, labels)
    with pytest.raises(ParameterError, match="unknown_label must be"):
        CVC(**FAST, unknown=0.05, unknown_label=[-1]).fit(sets, labels)
    clf = CVC(**FAST, unknown=0.05, unknown_label=-1).fit(sets, labels)
    unknown, _ = identities(np.random.default_rng(2), 8, 1)
    assert -1 in clf.predict(unknown)
    assert clf.predict(unknown).dtype.kind == "i"


def test_the_label_of_an_unknown_set_is_the_unknown_label(enrolled):
    clf, probes, _, _ = enrolled
    probes = probes[-20:]
    answers = clf.judge(probes)
    assert [answer.label for answer in answers] == clf.predict(probes).tolist()
    i = [answer.is_known for answer in answers].index(False)
    assert answers[i].label == "unknown" != answers[i].nearest
    assert clf.explain(probes[i]).label == "unknown"


def test_an_answer_is_short_to_read_and_goes_into_json(enrolled):
    clf, probes, _, _ = enrolled
    answer = clf.judge(probes[:1])[0]
    assert len(repr(answer)) < 200
    assert f"label={str(answer.label)!r}" in repr(answer)
    told = json.loads(json.dumps(answer.to_dict()))
    assert told["label"] == answer.label
    assert told["probabilities"][str(answer.nearest)] == answer.probability
    assert told["n_vectors"] == len(answer.is_typical)
