import json
import sys

import numpy as np
import pytest
from PIL import Image
from setwise.demo.run import BY_MEAN, BY_VOTE, ONE_BY_ONE, OURS, OURS_KNOWN
from sklearn.datasets import load_digits

import setwise
from setwise.baselines import FrameVote
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


def test_strangers_may_all_be_of_one_digit_and_hidden_digits_are_not_in_the_gallery():
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
    images, vote, ours = (result.accuracy[m] for m in (ONE_BY_ONE, BY_VOTE, OURS))
    assert ours.plain == 1.0 >= vote.plain
    assert ours.mixed > vote.mixed
    assert images.mixed < images.plain < 0.9
    # Who must name somebody is never right about a stranger.
    assert (
        images.unknown == vote.unknown == result.accuracy[BY_MEAN].unknown == ours.unknown == 0
    )
    assert result.accuracy[OURS_KNOWN].unknown > 0.5


@pytest.mark.slow
def test_sets_beat_the_rivals_over_all_rounds(tmp_path):
    result = run_demo(tmp_path)
    rivals = [result.accuracy[method] for method in (BY_VOTE, BY_MEAN)]
    assert result.accuracy[OURS].plain > max(rival.plain for rival in rivals) + 0.1
    assert result.accuracy[OURS].mixed > max(rival.mixed for rival in rivals) + 0.1
    assert result.accuracy[OURS_KNOWN].unknown > 0.9
    assert result.counts() == {"plain": 40, "mixed": 40, "unknown": 20}


def test_labels_are_those_of_predict(result):
    (one,) = result.rounds
    data, digits = one.data, one.data.gallery.labels.astype(str)
    vote = FrameVote().fit(data.gallery, digits)
    np.testing.assert_array_equal(one.labels[BY_VOTE], vote.predict(data.probes))
    np.testing.assert_array_equal(
        one.labels[OURS_KNOWN], setwise.load(result.gallery_file).predict(data.probes)
    )


def test_the_set_shown_is_mixed_and_known_to_be_so(result):
    (one,) = result.rounds
    index = one.data.probes.names.index(result.mixed.answer.name)
    assert one.data.is_mixed[index]
    np.testing.assert_array_equal(result.mixed.is_outlier, one.data.is_outlier[index])
    hidden = one.data.probes.names.index(result.stranger.answer.name)
    assert one.data.is_hidden[hidden]


def test_result_is_json(result):
    document = json.loads(json.dumps(result.to_dict(), allow_nan=False))
    assert document["sets"] == {
        "n_rounds": 1,
        "n_known_digits": 8,
        "n_gallery": 32,
        "n_images": 12,
        "n_outliers": 4,
        "n_probes": {"plain": 8, "mixed": 8, "unknown": 4},
    }
    assert list(document["accuracy"]) == [ONE_BY_ONE, BY_VOTE, BY_MEAN, OURS, OURS_KNOWN]
    for share in document["accuracy"].values():
        assert set(share) == {"plain", "mixed", "unknown"}
    assert document["out_of_place"]["n_strangers"] == 32
    mixed, stranger = document["identified"]
    assert len(mixed["images_of_another_digit"]) == 4
    assert stranger["images_of_another_digit"] == []
    assert set(document["seconds"]) == {
        "load",
        "classify",
        "save and identify",
        "explain",
        "total",
    }


def test_pictures_are_of_the_set_shown(result):
    assert result.picture.name == "explanation.png"
    content = result.picture.read_bytes()
    assert content[:8] == b"\x89PNG\r\n\x1a\n"
    assert len(content) > 50_000
    sheet = np.asarray(Image.open(result.sheet))
    assert sheet.shape == (5 * 56 + 8, 12 * 56 + 8, 3)
    # A red frame around each image that is out of place, and around no other.
    frames = (sheet[6, 20::56] != 255).any(axis=-1)[:12]
    np.testing.assert_array_equal(frames, ~result.mixed.answer.is_typical)


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
        "classify",
        "save and identify",
        "explain",
    ]
    # The same run is without matplotlib: all numbers, no picture, and advice.
    assert result.picture is None
    assert 'pip install "setwise[plot]"' in result.advice
    assert result.to_dict()["picture"] is None
