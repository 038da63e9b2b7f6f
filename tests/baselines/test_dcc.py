"""DCC against a literal transcription of its authors' algorithm."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from tests.conftest import toy_sets

from setwise.baselines import DCC
from setwise.baselines.subspaces import discriminant_directions, halved
from setwise.errors import ParameterError
from setwise.sets import check_sets


def literal_directions(bases, codes, n_iter):
    """Pair by pair, QR and SVD as printed, eigenvectors of inv(S_w) S_b of unit length."""
    n = len(bases[0])
    T, before = np.eye(n), None
    for _ in range(n_iter):
        normalised = []
        for R in bases:
            _, delta = np.linalg.qr(T.T @ R)
            normalised.append(R @ np.linalg.inv(delta))
        within, between = [], []
        for i in range(len(bases)):
            for j in range(i + 1, len(bases)):
                U, _, Vt = np.linalg.svd((T.T @ normalised[i]).T @ (T.T @ normalised[j]))
                r = min(normalised[i].shape[1], normalised[j].shape[1])
                difference = normalised[i] @ U[:, :r] - normalised[j] @ Vt[:r].T
                (within if codes[i] == codes[j] else between).append(difference @ difference.T)
        S_w, S_b = np.mean(within, axis=0), np.mean(between, axis=0)
        J = np.log(np.linalg.det(np.linalg.inv(S_w) @ S_b))
        if before is not None and before > J:
            return T
        before = J
        values, vectors = linalg.eig(np.linalg.inv(S_w) @ S_b)
        T = np.real(vectors[:, np.argsort(-np.real(values))])
    return T


@pytest.mark.parametrize("sizes", [(3,) * 8, (3, 2, 3, 4, 2, 3, 3, 4)])
@pytest.mark.parametrize("n_iter", [1, 2, 10])
def test_the_projection_is_the_authors(seed, sizes, n_iter):
    rng = np.random.default_rng(seed)
    codes = np.array([0, 0, 0, 0, 1, 1, 1, 1])
    centres = rng.normal(size=(2, 6, 4))
    bases = [
        linalg.orth(centres[c][:, :q] + 0.3 * rng.normal(size=(6, q)))
        for c, q in zip(codes, sizes, strict=True)
    ]
    found, added, rounds = discriminant_directions(bases, codes, n_iter)
    assert added == 0.0
    assert 1 <= rounds <= n_iter
    expected = literal_directions(bases, codes, n_iter)
    # Eigenvectors have no sign.
    signs = np.sign((found * expected).sum(axis=0))
    np.testing.assert_allclose(found, expected * signs, atol=1e-6)


def test_similarity_is_the_mean_cosine_after_the_projection(seed):
    sets, labels = toy_sets(seed, n_sets=4)
    clf = DCC(3).fit(sets, labels)
    basis = lambda x: np.linalg.svd(x, full_matrices=False)[2][:3].T  # noqa: E731
    for vectors, distance in zip(sets, clf._distances(clf._model(sets[0])), strict=True):
        angles = linalg.subspace_angles(
            clf.projection_.T @ basis(vectors), clf.projection_.T @ basis(sets[0])
        )
        assert distance == pytest.approx(1 - np.cos(angles).mean(), abs=1e-9)


def test_a_singular_scatter_is_regularised_and_says_so(seed):
    sets, labels = toy_sets(seed, n_classes=2, n_sets=2, n_features=40)
    assert DCC(3).fit(sets, labels).regularisation_ > 0


def test_halves_take_every_second_vector_along_the_main_direction_whatever_the_order():
    vectors = np.column_stack([np.arange(7.0), np.ones(7)])
    for order in (slice(None), slice(None, None, -1)):
        first, second = halved(check_sets([vectors[order]]))
        assert sorted([{*first[:, 0]}, {*second[:, 0]}], key=len) == [{1, 3, 5}, {0, 2, 4, 6}]
    first, second = halved(check_sets([np.ones((1, 4))]))
    np.testing.assert_array_equal(first, second)


def test_one_set_a_class_is_halved_to_learn_from(seed):
    sets, labels = toy_sets(seed)
    clf = DCC(3).fit(sets[::3], labels[::3])
    np.testing.assert_array_equal(clf.predict(sets), labels)


def test_gallery_of_single_vectors_has_nothing_to_learn(seed):
    sets, labels = toy_sets(seed, noise=0.0)
    singles = [vectors[:1] for vectors in sets[::3]]
    clf = DCC(3).fit(singles, labels[::3])
    np.testing.assert_array_equal(clf.predict(singles), labels[::3])


@pytest.mark.parametrize("name", ["n_dims", "embedding", "max_iter"])
def test_bad_parameters_are_named(name):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"^DCC: {name} must be an int of at least 1"):
        DCC(**{name: 0}).fit(sets, labels)
