"""AHISD and CHISD: the pure distances behind the interface, and what they warn about."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import ortho_group
from sklearn.metrics.pairwise import rbf_kernel
from tests.baselines.convex_hulls import convex_hull_distance
from tests.conftest import toy_sets

from setwise.baselines.hulls import (
    AHISD,
    CHISD,
    affine_hull,
    affine_hull_distance,
    gram_hull_distance,
)
from setwise.errors import DataError, DegenerateHullWarning, ParameterError
from setwise.sets import SetBatch

BOTH = pytest.mark.parametrize("method", [AHISD(), CHISD(), CHISD(0.5, kernel="rbf")], ids=repr)


def split(seed=0, **options):
    sets, labels = toy_sets(seed, n_sets=4, **options)
    is_gallery = np.arange(len(sets)) % 2 == 0
    gallery = [x for x, known in zip(sets, is_gallery, strict=True) if known]
    probes = [x for x, known in zip(sets, is_gallery, strict=True) if not known]
    return gallery, labels[is_gallery], probes, labels[~is_gallery]


def affine(a, b, energy=0.98):
    a, b = affine_hull(a, energy), affine_hull(b, energy)
    return affine_hull_distance(a.mean, a.basis, b.mean, b.basis)


def nearest(distance, gallery, labels, probes):
    """Score of each class, by every pair of sets."""
    table = np.array([[distance(known, probe) for known in gallery] for probe in probes])
    return -np.column_stack([table[:, labels == c].min(axis=1) for c in np.unique(labels)])


@BOTH
def test_classes_that_live_apart_are_told_apart(method, seed):
    gallery, labels, probes, truth = split(seed)
    assert method.fit(gallery, labels).score(probes, truth) >= 5 / 6


@pytest.mark.parametrize("energy", [0.98, 0.7])
def test_ahisd_scores_are_affine_distances(energy):
    gallery, labels, probes, _ = split()
    expected = nearest(lambda a, b: affine(a, b, energy), gallery, labels, probes)
    found = AHISD(energy).fit(gallery, labels).decision_function(probes)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("tau", [1.0, 0.3])
def test_chisd_scores_are_convex_distances(tau):
    gallery, labels, probes, _ = split()
    expected = nearest(
        lambda a, b: convex_hull_distance(a, b, tau).distance, gallery, labels, probes
    )
    found = CHISD(tau).fit(gallery, labels).decision_function(probes)
    np.testing.assert_allclose(found, expected, rtol=1e-7)


def test_kernel_scores_are_those_of_its_gram_matrix():
    gallery, labels, probes, _ = split()

    def distance(a, b):
        gram = rbf_kernel(np.vstack([a, b]), gamma=0.01)
        return gram_hull_distance(gram, len(a), 0.4).distance

    found = CHISD(0.4, kernel="rbf", gamma=0.01).fit(gallery, labels).decision_function(probes)
    np.testing.assert_allclose(found, nearest(distance, gallery, labels, probes), rtol=1e-6)


def test_a_wide_kernel_is_a_line():
    # exp(-g ||x - y||^2) is 1 - g ||x - y||^2 for small g, which is linear after centring.
    gallery, labels, probes, _ = split()
    gamma = 1e-8
    wide = CHISD(kernel="rbf", gamma=gamma).fit(gallery, labels).decision_function(probes)
    linear = CHISD().fit(gallery, labels).decision_function(probes)
    np.testing.assert_allclose(wide / np.sqrt(2 * gamma), linear, rtol=1e-2)


def test_the_default_width_of_the_kernel_goes_with_the_spread():
    gallery, labels, probes, _ = split()
    fitted = CHISD(kernel="rbf").fit(gallery, labels)
    vectors = np.vstack(gallery)
    spread = ((vectors - vectors.mean(axis=0)) ** 2).sum(axis=1).mean()
    assert fitted.gamma_ == pytest.approx(1 / spread)
    moved = CHISD(kernel="rbf").fit([3 * x + 5 for x in gallery], labels)
    np.testing.assert_allclose(
        moved.decision_function([3 * x + 5 for x in probes]),
        fitted.decision_function(probes),
        rtol=1e-7,
    )
    assert CHISD(gamma=3.0).fit(gallery, labels).gamma_ is None
    constant = CHISD(kernel="rbf").fit(np.ones((2, 3, 4)), [0, 1])
    assert constant.gamma_ == 1.0


@BOTH
def test_answers_turn_with_the_features_and_forget_the_order(method):
    gallery, labels, probes, _ = split()
    scores = method.fit(gallery, labels).decision_function(probes)
    rotation = ortho_group.rvs(20, random_state=0)
    turned = [x[::-1] @ rotation for x in gallery]
    found = method.fit(turned, labels).decision_function([x @ rotation for x in probes])
    np.testing.assert_allclose(found, scores, rtol=1e-6)


@BOTH
def test_probes_are_judged_one_by_one(method):
    gallery, labels, probes, _ = split()
    scores = method.fit(gallery, labels).decision_function(probes)
    alone = np.vstack([method.decision_function([x]) for x in probes])
    np.testing.assert_array_equal(alone, scores)
    method.n_jobs = 2
    np.testing.assert_array_equal(method.decision_function(probes[::-1]), scores[::-1])
    method.n_jobs = None


@pytest.mark.parametrize("method", [AHISD(), CHISD(), CHISD(kernel="rbf")], ids=repr)
def test_sets_of_one_vector_and_of_copies(method):
    vectors = np.array([[0.0, 0, 1], [9, 0, 1], [9, 9, 1]])
    above = vectors[1:] + np.array([0, 0, 5.0])
    gallery = [vectors[:1], np.repeat(vectors[1:2], 4, axis=0), above]
    method.fit(gallery, ["a", "b", "c"])
    assert list(method.predict([vectors[:1] + 1, vectors[1:2] - 1])) == ["a", "b"]
    if not (isinstance(method, CHISD) and method.kernel == "rbf"):
        distances = -method.decision_function([[[9.0, 4.0, 2.0]]])[0]
        np.testing.assert_allclose(distances, [np.sqrt(98), np.sqrt(17), 4], rtol=1e-7)


def test_hulls_that_fill_the_space_are_counted_and_warned_about():
    gallery, labels, probes, _ = split(n_features=6, noise=1.0)
    with pytest.warns(DegenerateHullWarning, match=r"all 6 dimensions.*Lower energy \(now 1\)"):
        fitted = AHISD(1.0).fit(gallery, labels)
    pairs = [a + b >= 6 for i, a in enumerate(fitted.n_dims_) for b in fitted.n_dims_[:i]]
    assert fitted.n_degenerate_pairs_ == sum(pairs) > 0
    with pytest.warns(DegenerateHullWarning, match=f"{len(probes)} of {len(probes)} sets"):
        fitted.predict(probes)


def test_hulls_with_room_are_not_warned_about():
    gallery, labels, probes, _ = split()
    fitted = AHISD(0.5).fit(gallery, labels)
    assert fitted.n_degenerate_pairs_ == 0
    assert fitted.n_dims_.max() <= 3
    fitted.predict(probes)


def test_a_bound_too_small_for_a_set_names_it():
    gallery, labels, probes, _ = split(n_vectors=(6, 7))
    short = SetBatch.from_list([*gallery[:2], gallery[2][:3]], names=("x", "y", "short one"))
    with pytest.raises(ParameterError, match=r"CHISD\.fit: tau.*1/3.*'short one', got 0\.25"):
        CHISD(0.25).fit(short, labels[[0, 2, 4]])
    fitted = CHISD(0.25).fit(gallery, labels)
    with pytest.raises(ParameterError, match=r"CHISD\.predict: tau.*1/2.*'set 1', got 0\.25"):
        fitted.predict([probes[0], probes[1][:2]])
    # Exactly 1 / n is enough.
    CHISD(1 / 6).fit(gallery, labels).predict(probes)


@pytest.mark.parametrize(
    ("method", "culprit"),
    [
        (AHISD(0.0), "energy"),
        (AHISD(1.5), "energy"),
        (CHISD(0.0), "tau"),
        (CHISD(1.5), "tau"),
        (CHISD(kernel="poly"), "kernel"),
        (CHISD(gamma=-1.0), "gamma"),
    ],
)
def test_bad_parameters_are_refused_by_name(method, culprit):
    gallery, labels, _, _ = split()
    with pytest.raises(ParameterError, match=f"{type(method).__name__}: {culprit} must be"):
        method.fit(gallery, labels)


@BOTH
def test_probes_must_have_the_features_of_the_gallery(method):
    gallery, labels, _, _ = split()
    with pytest.raises(DataError, match=rf"{type(method).__name__}\.predict"):
        method.fit(gallery, labels).predict([np.ones((3, 7))])


@BOTH
def test_probabilities_rank_as_the_scores_do(method):
    gallery, labels, probes, _ = split()
    shares = method.fit(gallery, labels).predict_proba(probes)
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), method.predict(probes))
