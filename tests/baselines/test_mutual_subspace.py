"""MSM and CMSM against their definitions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from tests.conftest import toy_sets

from setwise.baselines import CMSM, MSM
from setwise.errors import ParameterError


def literal_basis(vectors, q):
    return np.linalg.svd(vectors, full_matrices=False)[2][:q].T


@pytest.mark.parametrize("n_angles", [None, 1, 2])
def test_distances_are_one_minus_the_mean_squared_cosine(seed, n_angles):
    sets, labels = toy_sets(seed)
    clf = MSM(3, n_angles=n_angles).fit(sets[:-1], labels[:-1])
    found = clf._distances(clf._model(sets[-1]))
    for distance, vectors in zip(found, sets, strict=False):
        angles = linalg.subspace_angles(literal_basis(vectors, 3), literal_basis(sets[-1], 3))
        cosines = np.cos(np.sort(angles))[:n_angles]
        assert distance == pytest.approx(1 - (cosines**2).mean(), abs=1e-12)


def test_the_score_of_a_class_is_that_of_its_nearest_set(seed):
    sets, labels = toy_sets(seed, noise=1.0)
    clf = MSM(3).fit(sets, labels)
    distances = clf._distances(clf._model(sets[0]))
    expected = [-distances[labels == c].min() for c in range(3)]
    np.testing.assert_allclose(clf.decision_function(sets[:1])[0], expected, atol=1e-15)


def test_the_difference_subspace_leaves_out_what_all_share(seed):
    rng = np.random.default_rng(seed)
    common = linalg.orth(rng.normal(size=(12, 1)))
    sets = [
        10 * rng.normal(size=(8, 1)) * common.T
        + rng.normal(size=(8, 2)) @ rng.normal(size=(2, 12))
        for _ in range(6)
    ]
    clf = CMSM(3, keep=0.9).fit(sets, [0, 1] * 3)
    inside = np.linalg.norm(clf.difference_.T @ common)
    assert inside < 0.2
    np.testing.assert_allclose(
        clf.difference_.T @ clf.difference_, np.eye(clf.difference_.shape[1]), atol=1e-12
    )
    # Literally: eigenvectors of the summed projections, the largest left out.
    bases = [literal_basis(vectors, 3) for vectors in sets]
    vectors = np.linalg.eigh(sum(b @ b.T for b in bases))[1]
    n_kept = clf.difference_.shape[1]
    assert linalg.subspace_angles(vectors[:, :n_kept], clf.difference_).max() < 1e-6


def test_cmsm_keeping_all_is_msm(seed):
    sets, labels = toy_sets(seed, n_features=20)
    ours = CMSM(3, keep=1.0).fit(sets, labels)
    plain = MSM(3).fit(sets, labels)
    # The gallery's own sets lie in its span.
    np.testing.assert_allclose(
        ours.decision_function(sets), plain.decision_function(sets), atol=1e-12
    )


def test_few_features_limit_the_dimensions():
    sets, labels = toy_sets(0, n_features=6)
    assert MSM(10).fit(sets, labels).n_dims_ == 3
    assert MSM(2).fit(sets, labels).n_dims_ == 2


@pytest.mark.parametrize(
    ("clf", "name"),
    [(MSM(0), "n_dims"), (MSM(2.5), "n_dims"), (MSM(n_angles=0), "n_angles"),
     (CMSM(keep=0), "keep"), (CMSM(keep=1.5), "keep")],
)  # fmt: skip
def test_bad_parameters_are_named(clf, name):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"^{type(clf).__name__}: {name} must be .*, got "):
        clf.fit(sets, labels)
