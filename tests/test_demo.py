import json
import sys
from dataclasses import replace

import numpy as np
import pytest
from sklearn.datasets import load_digits

from setwise import CVC
from setwise.classify import Fusion, judge
from setwise.demo import BY_VOTE, ONE_BY_ONE, digit_sets, run_demo
from setwise.errors import DataError


@pytest.fixture(scope="module")
def result(tmp_path_factory):
    return run_demo(tmp_path_factory.mktemp("demo"), quick=True)


def rows(vectors):
    return [tuple(row) for row in vectors]


def test_no_image_is_used_twice():
    images, _ = load_digits(return_X_y=True)
    data = digit_sets()
    used = rows(data.gallery.vectors) + rows(data.probes.vectors)
    # A few of scikit-learn's images are equal to the pixel.
    copies = len(images) - len(set(rows(images)))
    assert len(used) - len(set(used)) <= copies


def test_labels_and_outliers_are_what_they_say():
    images, digits = load_digits(return_X_y=True)
    digits_of = {}
    for row, digit in zip(rows(images), digits, strict=True):
        digits_of.setdefault(row, set()).add(int(digit))
    data = digit_sets(n_probes=3, n_outliers=5)
    for vectors, label in zip(data.gallery, data.gallery.labels, strict=True):
        assert all(label in digits_of[row] for row in rows(vectors))
    for vectors, label, is_outlier in zip(
        data.probes, data.probes.labels, data.is_outlier, strict=True
    ):
        shows_label = [label in digits_of[row] for row in rows(vectors)]
        np.testing.assert_array_equal(shows_label, ~is_outlier)
    np.testing.assert_array_equal(
        data.is_outlier.sum(axis=1).reshape(10, 3), np.tile([0, 5, 0], (10, 1))
    )


def test_sets_depend_on_the_seed_alone():
    once, again, other = digit_sets(seed=3), digit_sets(seed=3), digit_sets(seed=4)
    np.testing.assert_array_equal(once.probes.vectors, again.probes.vectors)
    assert not np.array_equal(once.probes.vectors, other.probes.vectors)


@pytest.mark.parametrize("wrong", [{"n_gallery": 20}, {"n_outliers": 10}, {"n_outliers": -1}])
def test_more_images_than_there_are_is_refused(wrong):
    with pytest.raises(DataError, match="digit_sets"):
        digit_sets(**wrong)


def test_sets_beat_single_images(result):
    images, sets = result.accuracy[ONE_BY_ONE], result.accuracy["coefficient"]
    assert sets.all >= 0.95
    assert sets.mixed > images.mixed + 0.2
    # An image of another digit is right about itself, and wrong about its set.
    assert images.mixed < 0.75 < 0.9 < images.plain


def test_sets_beat_single_images_of_another_seed():
    data = digit_sets(n_probes=2, seed=1)
    clf = CVC(range(1, 4)).fit(data.gallery, data.gallery.labels)
    mixed = np.flatnonzero(data.is_mixed)
    assert (clf.predict(data.probes[mixed]) == data.probe_digits[mixed]).mean() >= 0.9


def test_fusions_are_those_of_predict(result):
    data = result.data
    # Some that one member alone gets right, and all it gets wrong.
    some = np.union1d(np.flatnonzero(~result.is_right["none"]), [0, 1])
    gallery = CVC(range(1, 4)).fit(data.gallery, data.gallery.labels).gallery_
    for fusion in ("pool", "mode", "sum", "coefficient", "none"):
        described = replace(gallery.description, fusion=Fusion.of(fusion, "test"))
        answers = judge(replace(gallery, description=described), data.probes[some])
        found = np.array([answer.label for answer in answers]) == data.probe_digits[some]
        np.testing.assert_array_equal(result.is_right[fusion][some], found)


def test_result_is_json(result):
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["sets"] == {
        "n_gallery": 60,
        "n_probes": 20,
        "n_mixed": 10,
        "n_images": 12,
        "n_outliers": 4,
    }
    methods = {ONE_BY_ONE, BY_VOTE, "pool", "mode", "sum", "coefficient", "none"}
    assert set(document["accuracy"]) == methods
    for share in document["accuracy"].values():
        assert set(share) == {"all", "plain", "mixed"}
        assert share["all"] == pytest.approx((share["plain"] + share["mixed"]) / 2)
    assert list(document["per_class"]) == [str(digit) for digit in range(10)]
    assert set(document["seconds"]) == {"load", "fit", "classify", "explain", "total"}
    assert len(document["explanation"]["images_of_other_digits"]) == 4


def test_picture_is_of_a_mixed_set(result):
    assert result.data.is_mixed[result.explained]
    assert result.picture.name == "explanation.png"
    content = result.picture.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 50_000


def test_progress_counts_every_probe(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    calls = []
    result = run_demo(
        tmp_path / "new" / "folder", quick=True, progress=lambda *c: calls.append(c)
    )
    classify = [(done, total) for what, done, total in calls if what == "classify"]
    assert classify[:-1] == [(i, 20) for i in range(21)]
    assert list(dict.fromkeys(what for what, _, _ in calls)) == [
        "load",
        "fit",
        "classify",
        "explain",
    ]
    # The same run is without matplotlib: all numbers, no picture, and advice.
    assert result.picture is None
    assert 'pip install "setwise[plot]"' in result.advice
    assert result.to_dict()["picture"] is None
