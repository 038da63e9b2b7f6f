"""Committee: ranks that add up, members that the gallery drops, the interface of CVC."""

from __future__ import annotations

import copy
import json
import os
import pickle
import warnings

import numpy as np
import pytest
from scipy.stats import rankdata
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from tests.conftest import toy_sets

import setwise
from setwise import CVC, Committee, SetBatch
from setwise.baselines import CDL, GDA, MSM, FrameVote, MeanCosine, MeanVector
from setwise.baselines.base import Baseline
from setwise.baselines.panel import (
    DEFAULT_INVERSE_TEMPERATURE,
    is_right,
    mean_ranks,
    rank_scores,
)
from setwise.errors import (
    DataError,
    GuessingWarning,
    NoInformationWarning,
    ParameterError,
    SetwiseWarning,
)
from setwise.gallery.trials import fitted_inverse_temperature


def small_cvc():
    return CVC(dims=(1, 3), representations=[("plain", "svd")])


def quick_members():
    return [
        ("cvc", small_cvc()),
        ("msm", MSM(3)),
        ("votes", FrameVote()),
        ("mean", MeanCosine()),
    ]


class Guesses(Baseline):
    """Ranks the classes by the last digits of the set: at chance, and always the same."""

    def _solve(self, gallery, codes):
        self.n_classes_ = int(codes.max()) + 1

    def _score(self, vectors):
        return np.random.default_rng(int(1e6 * abs(vectors).sum())).random(self.n_classes_)


class KnowsNothing(Guesses):
    """Cannot tell any class from another."""

    def _score(self, vectors):
        return np.zeros(self.n_classes_)


class NeedsFourSets(Guesses):
    """Refuses small galleries, as some methods must."""

    def _solve(self, gallery, codes):
        if len(codes) < 4:
            raise DataError("NeedsFourSets.fit: too few sets.")
        super()._solve(gallery, codes)


class Breaks(Guesses):
    def _solve(self, gallery, codes):
        raise np.linalg.LinAlgError("not positive definite")


@pytest.fixture(scope="module")
def hard():
    seed = int(os.environ.get("SETWISE_TEST_SEED", "0"))
    sets, labels = toy_sets(seed, n_classes=3, n_sets=8, noise=4.0)
    names = np.array(["anna", "bert", "cleo"])[labels]
    return sets[::2], names[::2], sets[1::2], names[1::2]


@pytest.fixture(scope="module")
def fitted(hard):
    """Of tests that change nothing."""
    return Committee(quick_members(), random_state=0).fit(*hard[:2])


# ------------------------------------------------------------------------------- ranks


def test_ranks_are_scipys(seed):
    scores = np.random.default_rng(seed).integers(0, 5, size=(4, 30, 6)).astype(float)
    np.testing.assert_array_equal(mean_ranks(scores), rankdata(-scores, axis=-1))


def test_rounding_decides_no_rank():
    scores = np.array([[0.3, 0.1 + 0.2, 0.1], [0.0, 0.0, 0.0], [1e-9, 0.0, 1e-9]])
    expected = [[1.5, 1.5, 3.0], [2.0, 2.0, 2.0], [1.5, 3.0, 1.5]]
    np.testing.assert_array_equal(mean_ranks(scores), expected)


def test_several_firsts_share_being_right():
    ranks = np.array([[1.5, 1.5, 3.0], [2.0, 3.0, 1.0], [1.0, 2.0, 3.0]])
    np.testing.assert_array_equal(is_right(ranks, np.array([0, 2, 1])), [0.5, 1.0, 0.0])


def test_probabilities_are_as_sure_as_so_many_sets_allow():
    # All sets right, all members of one mind: n sets and one pretended error are n / (n + 1).
    for n in (4, 9, 99):
        scores = rank_scores(np.tile([1.0, 2.0], (1, n, 1)), np.ones(1))
        beta = fitted_inverse_temperature(scores, np.zeros(n, dtype=int))
        assert 1 / (1 + 2**-beta) == pytest.approx(n / (n + 1), abs=1e-3)
    # Where some are surer than others, the surest are not certain either.
    ranks = np.array([[1.0, 20.0]] * 30 + [[1.0, 1.1]] * 10)
    beta = fitted_inverse_temperature(-np.log(ranks), np.zeros(40, dtype=int))
    assert 0.9 < 1 / (1 + 20**-beta) < 0.985
    # Right half of the time: nothing is known.
    scores = -np.log(np.tile([1.0, 2.0], (10, 1)))
    assert fitted_inverse_temperature(scores, np.arange(10) % 2) < 0.1


# ----------------------------------------------------------------------------- answers


def test_it_is_public():
    assert setwise.Committee is Committee


@pytest.mark.parametrize("weights", ["gallery", None])
def test_scores_are_the_sum_of_log_ranks(hard, weights):
    gallery, labels, probes, _ = hard
    clf = Committee(quick_members(), weights=weights, outliers=None, random_state=0)
    clf.fit(gallery, labels)
    expected = np.zeros((len(probes), 3))
    for name, member in quick_members():
        if clf.weights_[name]:
            scores = member.fit(gallery, labels).decision_function(probes)
            expected -= clf.weights_[name] * np.log(rankdata(-scores, axis=1))
    np.testing.assert_allclose(clf.decision_function(probes), expected)
    np.testing.assert_array_equal(clf.predict(probes), clf.classes_[expected.argmax(axis=1)])
    powers = np.exp(clf.inverse_temperature_ * expected / sum(clf.weights_.values()))
    shares = powers / powers.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(clf.predict_proba(probes), shares)


def test_two_classes_have_one_score(seed):
    sets, labels = toy_sets(seed, n_classes=2, n_sets=6, noise=2.0)
    clf = Committee(quick_members(), weights=None).fit(sets[::2], labels[::2])
    scores = clf.decision_function(sets[1::2])
    votes = [np.sign(v.decision_function(sets[1::2])) for v in clf.members_.values()]
    np.testing.assert_allclose(scores, np.sum(votes, axis=0) * np.log(2), atol=1e-8)
    np.testing.assert_array_equal(clf.predict(sets[1::2]), (scores > 0).astype(int))


def test_the_first_member_breaks_ties(seed):
    sets, labels = toy_sets(seed, n_classes=2, n_sets=12, noise=30.0)
    pair = [("mean", MeanVector()), ("votes", FrameVote())]
    for members in (pair, pair[::-1]):
        clf = Committee(members, weights=None, outliers=None).fit(sets[::2], labels[::2])
        first, second = (member.predict(sets[1::2]) for member in clf.members_.values())
        assert (first != second).any()
        np.testing.assert_array_equal(clf.predict(sets[1::2]), first)


def test_order_of_the_gallery_does_not_matter(hard, fitted):
    gallery, labels, probes, _ = hard
    order = np.random.default_rng(0).permutation(len(gallery))
    clf = fitted
    other = Committee(quick_members(), random_state=0).fit(
        [gallery[i] for i in order], labels[order]
    )
    assert other.gallery_accuracy_ == clf.gallery_accuracy_
    assert other.weights_ == clf.weights_
    np.testing.assert_allclose(other.predict_proba(probes), clf.predict_proba(probes))
    np.testing.assert_array_equal(clf.predict(probes[::-1])[::-1], clf.predict(probes))


def test_jobs_and_pickles_do_not_matter(hard, fitted):
    gallery, labels, probes, _ = hard
    clf = fitted
    two = Committee(quick_members(), n_jobs=2, random_state=0).fit(gallery, labels)
    assert two.members_["votes"].n_jobs == 2
    for other in (two, pickle.loads(pickle.dumps(clf))):
        np.testing.assert_array_equal(other.predict_proba(probes), clf.predict_proba(probes))


def test_a_probe_that_nobody_knows_is_told(hard):
    gallery, labels, probes, _ = hard
    members = [("a", KnowsNothing()), ("b", KnowsNothing())]
    clf = Committee(members, weights=None).fit(gallery, labels)
    with pytest.warns(
        NoInformationWarning, match=r"Committee.predict_proba: no member .* 12 of"
    ):
        np.testing.assert_allclose(clf.predict_proba(probes), 1 / 3)


# -------------------------------------------------------------- what the gallery chooses


def test_a_member_at_chance_is_dropped_and_not_asked(seed):
    sets, labels = toy_sets(seed, n_classes=4, n_sets=6)
    members = [*quick_members(), ("guesses", Guesses())]
    clf = Committee(members).fit(sets[::2], labels[::2])
    assert clf.weights_["guesses"] == 0
    assert "guesses" not in clf.members_
    assert clf.gallery_accuracy_["guesses"] < 0.6 < clf.gallery_accuracy_["mean"]
    assert clf.explain(sets[1]).dropped == ("guesses",)
    without = Committee(quick_members()).fit(sets[::2], labels[::2])
    np.testing.assert_array_equal(
        clf.decision_function(sets[1::2]), without.decision_function(sets[1::2])
    )


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # noisy sets
def test_left_out_sets_are_judged_by_the_other_folds(seed):
    gallery, labels = toy_sets(seed, n_classes=3, n_sets=4, noise=9.0)
    members = [("mean", MeanCosine()), ("votes", FrameVote())]
    clf = Committee(members, outliers=None).fit(gallery, labels)
    right = dict.fromkeys(clf.members_, 0)
    by_content = {
        label: sorted(np.flatnonzero(labels == label), key=lambda i: gallery[i].mean(0)[0])
        for label in np.unique(labels)
    }
    for fold in range(4):  # as many as a class has sets
        out = np.array([members[fold] for members in by_content.values()])
        kept = np.setdiff1d(np.arange(len(labels)), out)
        for name, member in (("mean", MeanCosine()), ("votes", FrameVote())):
            member.fit([gallery[i] for i in kept], labels[kept])
            right[name] += (member.predict([gallery[i] for i in out]) == labels[out]).sum()
    assert clf.gallery_accuracy_ == {name: n / 12 for name, n in right.items()}
    assert max(right.values()) < 12  # each would recognise itself


def test_members_see_sets_without_outliers(seed):
    rng = np.random.default_rng(seed)
    who, labels = rng.normal(size=(4, 32)), np.repeat(np.arange(4), 2)
    gallery = [who[c] + 0.2 * rng.normal(size=(10, 32)) for c in labels]
    probes = [who[c] + 0.2 * rng.normal(size=(9, 32)) for c in range(4)]
    # Four vectors of one other class in each, which are a second set within the probe.
    mixed = [np.vstack([p, gallery[(2 * c + 2) % 8][:4]]) for c, p in enumerate(probes)]
    members = [("angle", MSM(n_angles=1)), ("mean", MeanCosine())]
    clf = Committee(members, weights=None).fit(gallery, labels)
    np.testing.assert_array_equal(clf.decision_function(mixed), clf.decision_function(probes))
    np.testing.assert_array_equal(
        clf.panel_.class_scores(SetBatch.from_list(mixed)),
        clf.panel_.class_scores(SetBatch.from_list(probes)),
    )
    blind = Committee(members, weights=None, outliers=None).fit(gallery, labels)
    assert (blind.decision_function(mixed) != blind.decision_function(probes)).any()
    with pytest.raises(ParameterError, match="outliers must be"):
        Committee(outliers="keep").fit(gallery, labels)


def test_where_a_class_has_one_set_none_is_dropped(seed):
    sets, labels = toy_sets(seed, n_classes=4, n_sets=3)
    members = [("mean", MeanCosine()), ("guesses", Guesses())]
    clf = Committee(members).fit(sets[2:], labels[2:])
    assert clf.gallery_accuracy_ is None
    assert set(clf.members_) == {"mean", "guesses"}
    assert clf.inverse_temperature_ == DEFAULT_INVERSE_TEMPERATURE
    assert Committee(members, weights=None).fit(sets, labels).gallery_accuracy_ is None


def test_large_galleries_are_tried_in_part(seed, monkeypatch):
    monkeypatch.setattr("setwise.baselines.panel.MOST_LEFT_OUT", 4)
    sets, labels = toy_sets(seed, n_classes=5, n_sets=4)
    counted = []

    class Counts(MeanCosine):
        def _score(self, vectors):
            counted.append(1)
            return super()._score(vectors)

    Committee([("mean", Counts())]).fit(sets, labels)
    assert len(counted) == 4


class Unsure(MeanCosine):
    """Warns as CVC does where it cannot recognise its own gallery."""

    def _learn(self, gallery, codes):
        warnings.warn("the answers mean little", GuessingWarning, stacklevel=2)


def test_a_member_that_guesses_is_no_matter_where_the_others_know(seed):
    sets, labels = toy_sets(seed)
    members = [("unsure", Unsure()), ("mean", MeanCosine())]
    Committee(members).fit(sets, labels)  # the committee recognises them: no warning
    with pytest.warns(GuessingWarning, match="mean little"):  # nothing tried, nothing known
        Committee(members, weights=None).fit(sets, labels)


def test_a_guess_is_never_sure(seed):
    rng = np.random.default_rng(seed)
    sets = [rng.standard_normal((5, 30)) for _ in range(60)]
    members = [("msm", MSM(3)), ("votes", FrameVote()), ("mean", MeanCosine())]
    with pytest.warns(
        GuessingWarning, match=r"Committee.fit: .* of 40 right, 10.0 by guessing"
    ):
        clf = Committee(members).fit(sets[:40], np.arange(40) % 4)
    assert clf.predict_proba(sets[40:]).max() < 0.6


# ----------------------------------------------------------------------------- failures


def test_a_member_that_fails_is_left_out_and_named(hard):
    gallery, labels, probes, _ = hard
    quick = quick_members()[1:]
    members = [("broken", Breaks()), *quick]
    for weights in ("gallery", None):
        with pytest.warns(SetwiseWarning, match="'broken' fails .*not positive") as caught:
            clf = Committee(members, weights=weights).fit(gallery, labels)
        assert len(caught) == 1
        assert "broken" not in clf.weights_
        expected = Committee(quick, weights=weights).fit(gallery, labels)
        np.testing.assert_array_equal(clf.predict_proba(probes), expected.predict_proba(probes))


def test_a_member_that_fails_on_a_part_is_left_out_too(seed):
    sets, labels = toy_sets(seed, n_classes=2, n_sets=2)
    members = [("needs", NeedsFourSets()), ("mean", MeanCosine())]
    with pytest.warns(
        SetwiseWarning, match="Committee.fit: member 'needs' fails .*too few sets"
    ):
        clf = Committee(members).fit(sets, labels)
    assert list(clf.weights_) == ["mean"]


def test_where_all_fail_it_is_refused(hard):
    gallery, labels, _, _ = hard
    with pytest.raises(DataError, match=r"'broken' fails .*no member is left") as caught:
        Committee([("broken", Breaks())]).fit(gallery, labels)
    assert isinstance(caught.value.__cause__, np.linalg.LinAlgError)


def test_wrong_parameters_of_a_member_are_an_error(hard):
    with pytest.raises(ParameterError, match="MSM: n_dims"):
        Committee([("mean", MeanCosine()), ("msm", MSM(-1))]).fit(*hard[:2])


@pytest.mark.parametrize(
    "members",
    [
        [],
        "cvc",
        MSM(),
        [MSM()],
        [("msm", MSM)],
        [("a__b", MSM())],
        [("n_jobs", MSM())],
        [("", MSM())],
        [(1, MSM())],
        [("a", MSM()), ("a", GDA())],
        [("msm", "MSM")],
    ],
)
def test_bad_members_are_refused(hard, members):
    with pytest.raises(ParameterError, match="Committee: members must be a list of"):
        Committee(members).fit(*hard[:2])


def test_other_bad_parameters_are_refused(hard):
    with pytest.raises(ParameterError, match="Committee: weights must be"):
        Committee(weights="all").fit(*hard[:2])
    with pytest.raises(ParameterError, match="Committee: n_jobs must be"):
        Committee(n_jobs=0).fit(*hard[:2])


# ------------------------------------------------------------------- enrolling, forgetting


def assert_same(changed, fresh, probes):
    assert changed.gallery_accuracy_ == fresh.gallery_accuracy_
    assert changed.weights_ == fresh.weights_
    np.testing.assert_array_equal(changed.classes_, fresh.classes_)
    np.testing.assert_allclose(changed.predict_proba(probes), fresh.predict_proba(probes))


def counting_fits(monkeypatch):
    calls = []
    fit = CVC.fit
    monkeypatch.setattr(CVC, "fit", lambda self, X, y: calls.append(len(X)) or fit(self, X, y))
    return calls


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # noisy sets
def test_enrolling_equals_a_fresh_fit(hard, monkeypatch):
    gallery, labels, probes, _ = hard
    clf = Committee(quick_members(), random_state=0).fit(gallery[:8], labels[:8])
    old, before = clf.panel_, clf.predict_proba(probes)
    sizes = counting_fits(monkeypatch)
    clf.enroll(gallery[8:], labels[8:])
    assert (
        len(gallery) not in sizes or "cvc" not in old.members
    )  # CVC enrolled; only the trials fitted it
    fresh = Committee(quick_members(), random_state=0).fit(gallery, labels)
    assert_same(clf, fresh, probes)
    clf.panel_ = old  # whoever still asks the old panel gets the old answers
    np.testing.assert_array_equal(clf.predict_proba(probes), before)


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # noisy sets
def test_forgetting_equals_a_fresh_fit(hard, monkeypatch):
    gallery, labels, probes, _ = hard
    names = [f"clip {i}" for i in range(len(gallery))]
    batch = SetBatch.from_list(gallery, names)
    fresh = Committee(quick_members(), random_state=0).fit(batch[4:11], labels[4:11])
    clf = Committee(quick_members(), random_state=0).fit(batch, labels)
    was_kept, sizes = "cvc" in clf.members_, counting_fits(monkeypatch)
    clf.forget(["anna"], sets=["clip 11"])
    assert 7 not in sizes or not was_kept
    assert_same(clf, fresh, probes)
    panel = clf.panel_
    assert clf.forget().panel_ is panel


def test_warnings_of_every_change_point_at_the_callers_line(seed):
    rng = np.random.default_rng(seed)
    sets = [rng.standard_normal((5, 30)) for _ in range(48)]
    clf, labels = Committee([("mean", MeanCosine())]), np.arange(48) % 4
    for change in (
        lambda: clf.fit(sets[:40], labels[:40]),
        lambda: clf.enroll(sets[40:], labels[40:]),
        lambda: clf.forget(sets=[0, 1]),
    ):
        with pytest.warns(GuessingWarning) as caught:
            change()
        assert [warning.filename for warning in caught] == [__file__]


def test_refused_changes_change_nothing(hard, fitted):
    clf = copy.copy(fitted)
    panel = clf.panel_
    attempts = {
        "features": lambda: clf.enroll([np.ones((3, 7))], ["anna"]),
        "one kind": lambda: clf.enroll([np.ones((3, 20))], [3]),
        "no class 'dora'": lambda: clf.forget(["dora"]),
        "no set number 99": lambda: clf.forget(sets=[99]),
        "no set named 'x'": lambda: clf.forget(sets=["x"]),
        "must be a sequence": lambda: clf.forget("anna"),
        "nothing would be left": lambda: clf.forget(["anna", "bert", "cleo"]),
        "only one class": lambda: clf.forget(["anna", "bert"]),
    }
    for message, attempt in attempts.items():
        with pytest.raises(DataError, match=rf"Committee\.(enroll|forget).*{message}"):
            attempt()
    assert clf.panel_ is panel


# --------------------------------------------------------------------------- explanation


def test_the_votes_add_up_to_the_decision(hard, fitted):
    clf, probes = fitted, hard[2]
    for i, probe in enumerate(probes[:4]):
        why = clf.explain(probe)
        total = sum(-vote.weight * np.log(vote.ranks) for vote in why.votes)
        np.testing.assert_allclose(total, clf.decision_function(probes)[i])
        np.testing.assert_allclose(why.scores, total)
        np.testing.assert_allclose(why.probabilities, clf.predict_proba(probes)[i])
        assert why.label == clf.predict(probes)[i]
        for vote in why.votes:
            assert vote.label == clf.members_[vote.member].predict([probe])[0]


def test_an_explanation_is_readable(hard):
    gallery, labels, probes, _ = hard
    members = [*quick_members(), ("nothing", KnowsNothing())]
    clf = Committee(members, weights=None).fit(gallery, labels)
    why = clf.explain(SetBatch.from_list([probes[0]]))
    lines = str(why).splitlines()
    assert lines[0].startswith(f"{why.label}: {why.label} 0.")
    assert [line.split()[0] for line in lines[2:]] == ["cvc", "msm", "votes", "mean", "nothing"]
    assert lines[-1].endswith("2  several alike")
    written = json.loads(json.dumps(why.to_dict()))
    assert written["label"] == why.label
    assert written["votes"][-1]["label"] is None
    assert written["votes"][0]["ranks"] == why.votes[0].ranks.tolist()
    with pytest.raises(DataError, match="expected one set, got 2"):
        clf.explain(probes[:2])


# -------------------------------------------------------------------------- scikit-learn


def test_parameters_of_members_are_reached():
    clf = Committee()
    assert clf.get_params()["cvc__dims"] == CVC().dims
    assert clf.set_params(cvc__dims=(1, 2), n_jobs=2) is clf
    assert dict(clf.members)["cvc"].dims == (1, 2)
    copied = clone(clf)
    assert copied.get_params()["cvc__dims"] == (1, 2)
    assert dict(copied.members)["cvc"] is not dict(clf.members)["cvc"]
    copied.set_params(gda=CDL(), gda__head="pls")
    assert copied.get_params()["gda__head"] == "pls"
    assert isinstance(dict(clf.members)["gda"], GDA)
    for wrong in ("cvx__dims", "cvx", "n_jobs__x"):
        with pytest.raises(ParameterError, match="Committee: there is no parameter"):
            clf.set_params(**{wrong: 1})
    assert Committee("bad").set_params(members=None).get_params()["cvc__dims"] == CVC().dims


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # noisy sets
def test_a_grid_search_reaches_the_members(hard):
    gallery, labels, _, _ = hard
    members = [("msm", MSM(3)), ("mean", MeanCosine())]
    search = GridSearchCV(
        Committee(members), {"msm__n_dims": [1, 3]}, cv=2, error_score="raise"
    )
    search.fit(SetBatch.from_list(gallery), labels)
    assert search.best_params_["msm__n_dims"] in (1, 3)
    assert members[0][1].n_dims == 3


def test_members_without_scores_are_asked_for_probabilities(hard):
    gallery, labels, probes, _ = hard

    class OnlyProbabilities(MeanCosine):
        decision_function = property()

    clf = Committee([("p", OnlyProbabilities())]).fit(gallery, labels)
    expected = MeanCosine().fit(gallery, labels).predict(probes)
    np.testing.assert_array_equal(clf.predict(probes), expected)


def test_the_default_committee_answers_without_complaint(seed):
    sets, labels = toy_sets(seed, n_classes=3, n_sets=2, n_vectors=(4, 6), n_features=30)
    clf = Committee(random_state=0).set_params(cvc__dims=(1, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        np.testing.assert_array_equal(clf.fit(sets, labels).predict(sets), labels)
    assert list(clf.members_) == [
        "cvc", "smallest_angle", "cmsm", "gda", "cdl", "ahisd", "frame_vote", "mean_cosine"
    ]  # fmt: skip
