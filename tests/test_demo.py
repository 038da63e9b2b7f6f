import json
import sys
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

import setwise
from setwise.demo import digit_sets, run_demo
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


def test_outliers_may_all_be_of_one_digit_and_hidden_digits_are_not_in_the_gallery():
    images, digits = load_digits(return_X_y=True)
    digit_of = {row: int(digit) for row, digit in zip(rows(images), digits, strict=True)}
    data = digit_sets(3, 4, 8, 3, one_other=True, hidden=(2, 7))
    assert set(data.gallery.labels) == {0, 1, 3, 4, 5, 6, 8, 9}
    assert set(data.probe_digits[data.is_hidden]) == {2, 7}
    assert not (data.is_mixed & data.is_hidden).any()
    assert data.is_mixed.sum() == 8 * 2
    for vectors, is_outlier in zip(data.probes, data.is_outlier, strict=True):
        assert len({digit_of[row] for row in rows(vectors[is_outlier])}) in (0, 1)


def test_light_is_one_per_set_and_leaves_the_images_the_same():
    plain, lit = digit_sets(2, 2, 6, 2), digit_sets(2, 2, 6, 2, light=0.5)
    np.testing.assert_array_equal(plain.is_outlier, lit.is_outlier)
    for ink, photos in zip(plain.probes, lit.probes, strict=True):
        is_paper = ink == 0
        seen = is_paper.sum(axis=0) > 3
        paper = np.where(is_paper, photos, np.nan)[:, seen]
        assert np.nanstd(paper, axis=0).max() < 8  # camera noise: all images are lit alike
        assert np.nanmax(paper) - np.nanmin(paper) > 50
    assert lit.probes.vectors.dtype == np.uint8
    upper_edges = [photos[:, :8].mean() for photos in lit.probes]
    assert np.std(upper_edges) > 5  # but each set has a light of its own


@pytest.mark.parametrize(
    "wrong",
    [
        {"n_gallery": 20},
        {"n_outliers": 10},
        {"n_outliers": -1},
        {"n_outliers": 8, "one_other": True, "n_gallery": 9},
    ],
)
def test_more_images_than_there_are_is_refused(wrong):
    with pytest.raises(DataError, match="digit_sets"):
        digit_sets(**wrong)


def test_sets_beat_their_images_and_the_vote_of_these(result):
    images, vote, mean, ours, known = result["accuracy"].values()
    assert ours["plain"] == 1.0 >= vote["plain"]
    assert ours["mixed"] > vote["mixed"]
    assert images["mixed"] < images["plain"] < 0.9
    assert {one["unknown"] for one in (images, vote, mean, ours)} == {0.0}
    assert known["unknown"] > 0.5


@pytest.mark.slow
def test_sets_beat_the_rivals_over_all_rounds(tmp_path):
    found = run_demo(tmp_path)
    accuracy = found["accuracy"]
    rivals = [accuracy["vote of the images"], accuracy["cosine of the means"]]
    for kind in ("plain", "mixed"):
        assert accuracy["CVC"][kind] > max(rival[kind] for rival in rivals) + 0.1
    assert accuracy["CVC(unknown=0.05)"]["unknown"] > 0.9
    assert found["n_probes"] == {"plain": 40, "mixed": 40, "unknown": 20}


def test_the_sets_shown_are_identified_from_the_saved_gallery(result):
    data = digit_sets(4, 2, 12, 4, 0, one_other=True, hidden=(0, 5), light=0.5)
    clf = setwise.load(result["gallery"])
    for one, is_such in zip(result["identified"], (data.is_mixed, data.is_hidden), strict=True):
        index = data.probes.names.index(one["set"])
        assert is_such[index]
        (answer,) = clf.judge(data.probes[[index]])
        assert one["label"] == str(clf.predict(data.probes[[index]])[0])
        assert one["probability"] == answer.probability
        numbers = (np.flatnonzero(data.is_outlier[index]) + 1).tolist()
        assert one["images_of_another_digit"] == numbers


def test_result_is_json(result):
    assert json.loads(json.dumps(result, allow_nan=False)) == result
    assert result["n_probes"] == {"plain": 8, "mixed": 8, "unknown": 4}
    mixed, unknown = result["identified"]
    assert len(mixed["images_of_another_digit"]) == 4
    assert unknown["images_of_another_digit"] == []
    assert list(result["seconds"]) == ["classify", "save and identify", "explain", "total"]


def test_the_picture_is_drawn(result):
    content = Path(result["picture"]).read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 50_000


def test_progress_is_told_and_without_matplotlib_there_is_advice(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    calls = []
    found = run_demo(tmp_path / "a" / "b", quick=True, progress=lambda *c: calls.append(c))
    steps = ["classify", "save and identify", "explain"]
    assert list(dict.fromkeys(what for what, _, _ in calls)) == steps
    assert calls[-1] == ("explain", 1, 1)
    assert found["picture"] is None
    assert 'pip install "setwise[plot]"' in found["advice"]
