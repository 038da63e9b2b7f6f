"""Unlabelled sets beside a gallery: labels, carriers, and when judging alone is better."""

import sys

import numpy as np
import pytest
import scipy.sparse as sp

from setwise import CVC, load
from setwise.errors import DataError
from setwise.evaluation.testing import separable_sets
from setwise.sets import check_some_labels
from setwise.together import transduce
from setwise.together.transduce import left_out_together

FAST = {"dims": (2, 3), "random_state": 0}


@pytest.fixture(scope="module")
def sets():
    return separable_sets(n_classes=3, n_sets=5, noise=0.25)


@pytest.fixture(scope="module")
def few(sets):
    """One labelled set of each class, all others unlabelled."""
    vectors, labels = sets
    y = np.where(np.arange(len(labels)) % 5 == 0, labels, -1)
    return CVC(**FAST).fit(vectors, y), y


def test_unlabelled_sets_of_a_fit_get_labels(sets, few):
    clf, y = few
    np.testing.assert_array_equal(clf.transduction_, sets[1])
    assert clf.label_distributions_.shape == (15, 3)
    np.testing.assert_allclose(clf.label_distributions_.sum(axis=1), 1.0)
    np.testing.assert_allclose(clf.label_distributions_[y >= 0], np.eye(3))
    assert len(clf.gallery_.sets) == 3
    assert len(clf.unlabelled_) == 12


def test_the_gallery_is_that_of_the_labelled_sets(sets, few):
    clf, y = few
    plain = CVC(**FAST).fit(
        [v for v, one in zip(sets[0], y, strict=True) if one >= 0], [0, 1, 2]
    )
    assert clf.predict_proba(sets[0][:4]).tolist() == plain.predict_proba(sets[0][:4]).tolist()


def test_together_is_the_transduction_of_the_same_sets(sets, few):
    clf, y = few
    unlabelled = [v for v, one in zip(sets[0], y, strict=True) if one < 0]
    plain = CVC(**FAST).fit(
        [v for v, one in zip(sets[0], y, strict=True) if one >= 0], [0, 1, 2]
    )
    np.testing.assert_allclose(
        plain.predict_proba(unlabelled, together=True), clf.label_distributions_[y < 0]
    )
    answers = list(plain.judge(unlabelled, together=True))
    assert [int(answer.label) for answer in answers] == clf.transduction_[y < 0].tolist()
    for answer in answers:
        assert 0 < sum(share for _, share in answer.carried_by) <= 1 + 1e-9
        assert answer.name not in dict(answer.carried_by)
        assert answer.probability == answer.probabilities.max()


def test_a_new_set_is_judged_in_the_company_of_the_fitted_ones(sets):
    vectors, labels = sets
    y = np.where(np.arange(len(labels)) % 5 == 0, labels, -1)
    clf = CVC(**FAST).fit(vectors[:-1], y[:-1])
    (answer,) = clf.judge(vectors[-1:], together=True)
    assert answer.label == labels[-1]
    assert {name for name, _ in answer.carried_by} <= set(clf.unlabelled_.names)
    assert answer.carried_by


def test_sets_of_the_fit_keep_themselves_no_company(sets, few):
    clf, y = few
    unlabelled = clf.unlabelled_
    answers = list(clf.judge(unlabelled, together=True))
    np.testing.assert_allclose(
        [answer.probabilities for answer in answers], clf.label_distributions_[y < 0]
    )
    assert all(answer.name not in dict(answer.carried_by) for answer in answers)


def test_an_explanation_says_what_carried_the_label(sets, few):
    clf, _ = few
    own, others = clf.unlabelled_[[0]], clf.judge(clf.unlabelled_, together=True)
    why = clf.explain(own, together=True)
    assert why.carried_by == others[0].carried_by
    assert why.probabilities.tolist() == others[0].probabilities.tolist()
    name, _ = why.carried_by[0]
    assert f"The label came by way of {name} (" in why.sentence
    again = type(why).from_dict(why.to_dict())
    assert again.carried_by[0] == (name, pytest.approx(why.carried_by[0][1], rel=1e-5))
    assert clf.explain(own).carried_by == ()


def test_one_set_without_company_is_judged_alone(sets):
    vectors, labels = sets
    clf = CVC(**FAST).fit(vectors[:-1], labels[:-1])
    together, alone = (clf.judge(vectors[-1:], together=how)[0] for how in (True, False))
    assert together.probabilities.tolist() == alone.probabilities.tolist()
    assert together.carried_by == ()


def test_none_marks_unlabelled_sets_beside_strings(sets, few):
    names = np.array(["anna", "bert", "cleo"])
    y = [None if one < 0 else str(names[one]) for one in few[1]]
    clf = CVC(**FAST).fit(sets[0], y)
    np.testing.assert_array_equal(clf.transduction_, names[few[0].transduction_])


def test_a_fit_with_all_labels_forgets_the_unlabelled_sets(sets):
    vectors, labels = sets
    clf = CVC(**FAST).fit(vectors, np.where(np.arange(15) % 5 < 2, labels, -1))
    assert hasattr(clf, "unlabelled_")
    clf.fit(vectors, labels)
    assert not any(hasattr(clf, name) for name in ("unlabelled_", "transduction_"))


def test_a_file_keeps_the_labelled_sets_alone(sets, few, tmp_path):
    clf, _ = few
    again = load(clf.save(tmp_path / "few.setwise"))
    assert not hasattr(again, "unlabelled_")
    assert again.predict(sets[0]).tolist() == clf.predict(sets[0]).tolist()


def test_without_vectors_sets_cannot_be_related(sets, few, tmp_path):
    path = few[0].save(tmp_path / "few.setwise", keep_vectors=False)
    with pytest.raises(
        DataError, match=r"CVC.predict: the gallery was saved without its vectors"
    ):
        load(path).predict(sets[0], together=True)


def test_sets_of_unknown_classes_stay_unknown():
    vectors, labels = separable_sets(n_classes=12, n_sets=4, n_features=30)
    known = labels < 6
    is_labelled = known & (np.arange(48) % 4 < 2)
    clf = CVC(**FAST, unknown=0.2, unknown_label=-9).fit(
        [vectors[i] for i in np.flatnonzero(is_labelled)], labels[is_labelled]
    )
    rest = np.flatnonzero(~is_labelled)
    batch = [vectors[i] for i in rest]
    alone, both = clf.predict(batch), clf.predict(batch, together=True)
    np.testing.assert_array_equal(both == -9, alone == -9)
    accepted = (both != -9) & known[rest]
    assert accepted.sum() > 6
    np.testing.assert_array_equal(both[accepted], labels[rest][accepted])


def test_where_alone_is_better_all_answers_are_those_of_alone(sets, monkeypatch):
    vectors, labels = sets
    is_labelled = np.arange(15) % 5 < 2
    clf = CVC(**FAST).fit(
        [vectors[i] for i in np.flatnonzero(is_labelled)], labels[is_labelled]
    )
    rest = [vectors[i] for i in np.flatnonzero(~is_labelled)]
    module = sys.modules["setwise.together.transduce"]
    assert transduce(clf.gallery_, clf.gallery_.check(rest, "me")).is_better
    monkeypatch.setattr(
        module, "left_out_together", lambda steps, codes, _: np.full(len(codes), -1)
    )
    found = transduce(clf.gallery_, clf.gallery_.check(rest, "me"))
    assert found.is_better is False
    answers = clf.judge(rest, together=True)
    assert all(answer.carried_by == () for answer in answers)


@pytest.mark.parametrize(("n_wrong", "is_better"), [(1, True), (2, False)])
def test_alone_has_to_be_better_by_over_a_standard_error(sets, monkeypatch, n_wrong, is_better):
    vectors, _ = sets
    clf = CVC(**FAST).fit([vectors[i] for i in (0, 1, 5, 6, 10, 11)], [0, 0, 1, 1, 2, 2])
    truth = clf.gallery_.codes
    assert (clf.gallery_.left_out(1).codes == truth[clf.gallery_.left_out(1).sets]).all()

    def found(steps, codes, n_classes):
        return np.where(np.arange(len(codes)) < n_wrong, -1, codes)

    monkeypatch.setattr(sys.modules["setwise.together.transduce"], "left_out_together", found)
    batch = clf.gallery_.check([vectors[i] for i in (2, 7, 12)], "me")
    assert transduce(clf.gallery_, batch).is_better is is_better


def test_left_out_labels_come_from_the_others():
    steps = np.zeros((6, 6))
    steps[[0, 1, 2], [1, 2, 0]] = 1.0
    steps[[3, 4, 5], [4, 5, 3]] = 1.0
    codes = np.array([0, 0, -1, 1, -1, -1])
    found = left_out_together(sp.csr_array(steps), codes, 2)
    assert found.tolist() == [0, 0, -1, -1, -1, -1]  # one alone in its class is not tried


@pytest.mark.parametrize(
    ("y", "codes"),
    [
        ([3, -1, 5, -1], [0, -1, 1, -1]),
        ([-1, 1, -1, 1], [0, 1, 0, 1]),  # two classes, as everywhere in scikit-learn
        (["b", None, "a", None], [1, -1, 0, -1]),
    ],
)
def test_marks_of_unlabelled_sets(y, codes):
    assert check_some_labels(y, 4, caller="me")[1].tolist() == codes


def test_none_among_numbers_is_missing():
    with pytest.raises(DataError, match=r"me: label 0 is missing \(None\)"):
        check_some_labels([None, 1, 2], 3, caller="me")
