"""Cross-validation on one's own sets, against scikit-learn's, and what it says of itself."""

from __future__ import annotations

import gc
import json
import warnings
import weakref
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.model_selection import cross_val_predict

from setwise import CVC, SetBatch
from setwise.baselines import FrameVote, MeanCosine, MeanVector
from setwise.errors import CalibrationWarning, DataError, ParameterError
from setwise.evaluation import cross_validate
from setwise.evaluation.cross_validation import ALWAYS_GALLERY, fold_of_sets


def albums(n_per_class=(6, 6, 6), n_vectors=8, n_features=10, spread=1.3, seed=0):
    """Noisy sets around one direction per class, and their labels."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(len(n_per_class), n_features))
    codes = np.repeat(np.arange(len(n_per_class)), n_per_class)
    codes = rng.permutation(codes)
    sets = [centres[c] + spread * rng.normal(size=(n_vectors, n_features)) for c in codes]
    names = [f"album {i}" for i in range(len(sets))]
    return SetBatch.from_list(sets, names), np.array(["anna", "bert", "cleo", "dora"])[codes]


def splits(evaluation):
    fold_of = evaluation.fold_of_set
    return [
        (np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
        for fold in range(evaluation.n_folds)
    ]


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
@pytest.mark.parametrize("clf", [CVC(dims=(1, 2), random_state=0), MeanCosine(), FrameVote()])
def test_labels_and_probabilities_are_those_of_scikit_learn(clf):
    sets, labels = albums(spread=2.0)
    labels[:2] = labels[1], labels[0]  # some answers must be wrong, or this shows little
    found = cross_validate(clf, sets, labels, folds=3, seed=1)
    predicted = cross_val_predict(clf, sets, labels, cv=splits(found))
    shares = cross_val_predict(clf, sets, labels, cv=splits(found), method="predict_proba")
    assert [result.label for result in found.results] == predicted.tolist()
    own = shares[np.arange(len(sets)), np.searchsorted(found.classes, predicted)]
    np.testing.assert_allclose([result.probability for result in found.results], own)
    assert found.accuracy == (predicted == labels).mean()
    assert 0.3 < found.accuracy < 1.0
    second = [np.sort(row)[-2] for row in shares]
    for result, row, rival in zip(found.results, shares, second, strict=True):
        if result.runner_up is not None:
            assert row[found.classes.tolist().index(result.runner_up)] == pytest.approx(rival)


def test_a_classifier_without_probabilities_gives_labels():
    class Labels:
        def get_params(self, deep=True):
            return {}

        def __sklearn_clone__(self):
            return Labels()

        def fit(self, X, y):
            self.inner = MeanVector().fit(X, y)
            return self

        def predict(self, X):
            return self.inner.predict(X)

    sets, labels = albums()
    found = cross_validate(Labels(), sets, labels, folds=2)
    assert found.results[0].probability is None
    assert found.results[0].n_out_of_place is None
    assert found.accuracy == cross_validate(MeanVector(), sets, labels, folds=2).accuracy


def test_answers_of_cvc_are_kept_in_the_order_of_the_sets():
    sets, labels = albums(spread=0.3)
    far = sets.replaced(vectors=sets.vectors.copy())
    far.vectors[sets.offsets[4]] *= -1.0  # the first vector of album 4 points away
    found = cross_validate(CVC(dims=(1,), random_state=0), far, labels, folds=3)
    assert [answer.name for answer in found.answers] == list(sets.names)
    assert [result.index for result in found.results] == list(range(len(sets)))
    assert found.results[4].n_out_of_place >= 1
    assert not found.answers[4].is_typical[0]


class Refusing(CVC):
    """Says that the class of album 4 is unknown, and of no other."""

    def judge(self, X, *, progress=None):
        answers = super().judge(X, progress=progress)
        return (replace(answer, is_known=answer.name != "album 4") for answer in answers)


def test_refused_sets_are_wrong_and_have_a_column_of_their_own():
    sets, labels = albums()
    known = cross_validate(Refusing(dims=(1,), random_state=0), sets, labels, folds=3)
    unknown = [result for result in known.results if result.is_known is False]
    assert [result.name for result in unknown] == ["album 4"]
    assert all(result.label == "unknown" and not result.is_right for result in unknown)
    assert known.columns[-1] == "unknown"
    assert known.confusion[:, -1].sum() == len(unknown)
    assert known.confusion.sum() == len(sets)


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 7)), min_size=4, max_size=24),
    st.integers(2, 5),
    st.integers(0, 3),
)
def test_folds_keep_groups_whole_and_every_class_in_every_gallery(pairs, folds, seed):
    codes = np.unique([code for code, _ in pairs], return_inverse=True)[1]
    groups = np.array([group for _, group in pairs])
    try:
        fold_of = fold_of_sets(codes, folds, groups=groups, seed=seed)
    except DataError:
        return
    judged = fold_of != ALWAYS_GALLERY
    for group in np.unique(groups):
        assert len(np.unique(fold_of[judged & (groups == group)])) <= 1
    for code in np.unique(codes):
        n_groups = len(np.unique(groups[codes == code]))
        assert judged[codes == code].all() if n_groups > 1 else not judged[codes == code].any()
        for fold in range(folds):
            assert (fold_of[codes == code] != fold).any()
    assert set(fold_of[judged]) == set(range(folds))


@given(st.lists(st.integers(0, 4), min_size=6, max_size=30), st.integers(2, 6))
def test_without_groups_each_class_is_spread_evenly(codes, folds):
    codes = np.unique(codes, return_inverse=True)[1]
    try:
        fold_of = fold_of_sets(codes, folds)
    except DataError:
        assert sum(n for n in np.bincount(codes) if n > 1) < folds
        return
    for code in np.unique(codes):
        judged = fold_of[(codes == code) & (fold_of != ALWAYS_GALLERY)]
        n_in_fold = np.bincount(judged, minlength=folds)
        assert n_in_fold.max() - n_in_fold.min() <= 1


def test_a_session_never_helps_itself():
    """Sets of one session are nearly equal, sessions of a class are not alike at all."""
    rng = np.random.default_rng(0)
    sessions = rng.normal(size=(8, 10))
    groups = np.repeat(np.arange(8), 2)
    sets = [sessions[g] + 0.01 * rng.normal(size=(4, 10)) for g in groups]
    labels = np.array(["anna", "bert"])[groups % 2]
    assert cross_validate(MeanVector(), sets, labels, folds=8).accuracy > 0.9
    assert cross_validate(MeanVector(), sets, labels, folds=4, groups=groups).accuracy < 0.9


def test_a_class_with_one_set_stays_in_the_gallery_and_is_named():
    sets, labels = albums((5, 5, 5, 1))
    found = cross_validate(MeanVector(), sets, labels, folds=2)
    assert len(found.results) == 15
    assert found.per_class["dora"] == (0, 0)
    assert found.fold_of_set[labels == "dora"].tolist() == [ALWAYS_GALLERY]
    assert any(note.startswith("dora: a single set") for note in found.notes)
    assert found.answers[int(np.flatnonzero(labels == "dora")[0])] is None


def test_equal_vectors_in_two_folds_are_said_and_together_are_not():
    sets, labels = albums()
    vectors = sets.vectors.copy()
    same = np.flatnonzero(labels == "anna")[:2]
    vectors[sets.offsets[same[1]] : sets.offsets[same[1]] + 3] = vectors[
        sets.offsets[same[0]] : sets.offsets[same[0]] + 3
    ]
    copied = sets.replaced(vectors=vectors)
    fold_of = fold_of_sets(np.unique(labels, return_inverse=True)[1], 6)
    assert fold_of[same[0]] != fold_of[same[1]]
    found = cross_validate(MeanVector(), copied, labels, folds=6)
    (note,) = found.notes
    assert f"album {same[0]} and album {same[1]} (3)" in note
    groups = np.arange(len(sets))
    groups[same[1]] = same[0]
    assert cross_validate(MeanVector(), copied, labels, folds=3, groups=groups).notes == ()


def test_answers_depend_on_the_seed_alone():
    sets, labels = albums(spread=2.5)
    clf = CVC(dims=(1, 2), random_state=0)
    one = cross_validate(clf, sets, labels, folds=3, n_jobs=1)
    two = cross_validate(clf, sets, labels, folds=3, n_jobs=2)
    other = cross_validate(clf, sets, labels, folds=3, seed=5)
    assert one.to_dict() == two.to_dict()
    assert one.fold_of_set.tolist() != other.fold_of_set.tolist()
    assert not hasattr(clf, "gallery_")  # a copy is fitted


def test_only_one_gallery_is_there_at_a_time():
    alive = weakref.WeakSet()

    class Counted(MeanVector):
        def fit(self, X, y):
            gc.collect()
            assert len(alive) == 0
            alive.add(self)
            return super().fit(X, y)

    sets, labels = albums()
    cross_validate(Counted(), sets, labels, folds=4)


def test_warnings_of_the_folds_become_one_note():
    sets, labels = albums()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clf = CVC(dims=(1,), unknown=0.05, random_state=0)
        found = cross_validate(clf, sets, labels, folds=3)
    notes = [note for note in found.notes if "classes are too few" in note]
    assert len(notes) == 1
    assert notes[0].endswith("(In 3 of 3 folds.)")
    with pytest.warns(CalibrationWarning):
        clf.fit(sets, labels)


def test_other_warnings_are_passed_on():
    class Loud(MeanVector):
        def fit(self, X, y):
            warnings.warn("loud", UserWarning, stacklevel=2)
            return super().fit(X, y)

    sets, labels = albums()
    with pytest.warns(UserWarning, match="loud"):
        cross_validate(Loud(), sets, labels, folds=2)


def test_progress_counts_the_sets():
    sets, labels = albums((4, 4, 1))
    calls = []
    cross_validate(
        MeanVector(), sets, labels, folds=2, progress=lambda *call: calls.append(call)
    )
    assert calls == [("evaluate", i, 8) for i in range(9)]


def test_what_is_shown_and_written_down():
    rng = np.random.default_rng(0)
    sets = [rng.normal(size=(4, 3)) * 0.1 + np.eye(3)[i % 2] * 5 for i in range(8)]
    sets[5] = sets[5][:, [1, 0, 2]]  # a bert that looks like anna
    names = [f"s{i}" for i in range(7)] + ["s\x1b7"]
    batch = SetBatch.from_list(sets, names)
    found = cross_validate(MeanVector(), batch, ["anna", "bert"] * 4, folds=2)
    assert found.summary() == "7 of 8 sets right: 87.5 % (95 % interval 47.3 to 99.7)"
    sure = f"{found.wrong[0].probability:.2f}"
    assert str(found) == (
        f"{found.summary()}\n\n"
        "class  right  of  taken for\n"
        "anna   4      4\n"
        "bert   3      4   anna 1\n\n"
        "Wrong:\n"
        "set  is    taken for  probability\n"
        f"s5   bert  anna       {sure}"
    )
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["wrong"] == ["s5"]
    assert document["confusion"] == {
        "rows": ["anna", "bert"],
        "columns": ["anna", "bert"],
        "counts": [[4, 0], [1, 3]],
    }
    assert document["per_class"][1] == {"class": "bert", "n_right": 3, "n_judged": 4}
    assert document["sets"][5]["truth"] == "bert"
    assert document["sets"][5]["is_right"] is False


@pytest.mark.parametrize(
    ("kinds", "written"),
    [
        ([1, 2], [1, 2]),
        ([False, True], [False, True]),
        (np.array(["2026-01-01", "2026-01-02"], "M8[D]"), ["2026-01-01", "2026-01-02"]),
    ],
)
def test_labels_of_any_kind_can_be_written_down(kinds, written):
    sets, labels = albums((4, 4))
    of_kind = np.asarray(kinds)[(labels == "bert").astype(int)]
    found = cross_validate(MeanVector(), sets, of_kind, folds=2)
    document = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert document["confusion"]["rows"] == written
    assert document["n_right"] == sum(n for n, _ in found.per_class.values())
    assert {row["truth"] for row in document["sets"]} == set(written)
    assert repr(found) == f"Evaluation: {found.summary()}"


@pytest.mark.parametrize(
    ("change", "error", "text"),
    [
        ({"folds": 1}, ParameterError, "folds must be an int of at least 2, got 1"),
        ({"folds": 2.0}, ParameterError, "folds must be an int"),
        ({"folds": 40}, DataError, "40 folds cannot be made of 18 sets"),
        ({"groups": [1, 2]}, DataError, "one value for each of the 18 sets"),
        ({"groups": [0] * 18}, DataError, "5 folds cannot be made of 0 groups"),
        ({"seed": -1}, ParameterError, "seed must be"),
        ({"n_jobs": 0}, ParameterError, "n_jobs must be"),
        ({"progress": 3}, ParameterError, "progress must be a callable"),
        ({"clf": MeanVector}, ParameterError, "clf must be a classifier"),
        ({"clf": 3}, ParameterError, "clf must be a classifier"),
        ({"labels": ["anna"] * 18}, DataError, "only one class"),
    ],
)
def test_what_cannot_be_done_is_said(change, error, text):
    sets, labels = albums()
    arguments = {"clf": MeanVector(), "labels": labels} | change
    with pytest.raises(error, match=text):
        cross_validate(arguments.pop("clf"), sets, arguments.pop("labels"), **arguments)
