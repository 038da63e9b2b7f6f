"""Whitening, closest pairs, and transformers of rows."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks
from tests.conftest import toy_sets

from setwise import CVC, SetBatch, Whitener
from setwise.errors import DataError, ParameterError
from setwise.features import whitening
from setwise.features.vectors import PerVector, closest_pairs, nearest_pairs, unit_rows
from setwise.features.whitening import Moments

MOST_PAIRS = 8


def literal(X, Y, strength, shrinkage):
    """The definition, with a full eigendecomposition."""
    X = X / np.linalg.norm(X, axis=1, keepdims=True)
    Y = Y / np.linalg.norm(Y, axis=1, keepdims=True)
    variance, directions = np.linalg.eigh(np.cov(X.T, bias=True))
    variance = np.maximum(variance, 0)
    scale = (variance + shrinkage * variance.mean()) ** (-strength / 2)
    scale[variance < 1e-12] = 0  # directions that X never shows
    out = (Y - X.mean(axis=0)) @ directions * scale @ directions.T
    return out / np.linalg.norm(out, axis=1, keepdims=True)


@pytest.mark.parametrize("shape", [(50, 8), (8, 50)])
@pytest.mark.parametrize("shrinkage", [0.1, 1.0, 100.0])
@pytest.mark.parametrize("strength", [0.5, 1.0])
def test_equals_the_definition(seed, shape, strength, shrinkage):
    rng = np.random.default_rng(seed)
    X, Y = (
        rng.standard_normal(shape) * np.arange(1, shape[1] + 1),
        rng.standard_normal((5, shape[1])),
    )
    found = Whitener(strength, shrinkage).fit(X).transform(Y)
    np.testing.assert_allclose(found, literal(X, Y, strength, shrinkage), atol=1e-10)


SEEN = {
    "more vectors than features": lambda X: X[:, :20],
    "fewer vectors than features": lambda X: X[:30],
    "pixels that are always black": lambda X: X[:, :20] * (np.arange(20) % 3 > 0),
    "black pixels, few vectors": lambda X: X[:30] * (np.arange(X.shape[1]) % 3 > 0),
    "copies": lambda X: np.vstack([X[:20], X[:20]]),
    "features that repeat each other": lambda X: np.hstack([X[:, :10], X[:, :10]]),
    "directions that hardly vary": lambda X: X[:30] * np.geomspace(1, 1e-9, X.shape[1]),
}


@pytest.mark.parametrize("kind", SEEN)
def test_eigenvectors_whiten_as_singular_values_do(seed, kind, monkeypatch):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4)) @ rng.normal(size=(4, 60)) + 0.1
    X = SEEN[kind](X + 1e-3 * rng.normal(size=X.shape))
    fast = Whitener().fit(X)
    for way in ("_of_rows", "_of_columns"):
        monkeypatch.setattr(Moments, way, lambda *_: None)
    slow = Whitener().fit(X)
    assert len(fast.gains_) == len(slow.gains_)
    probes = np.vstack([X[:5], X[:5] + 0.1 * rng.normal(size=X[:5].shape)])
    np.testing.assert_allclose(fast.transform(probes), slow.transform(probes), atol=1e-8)


@pytest.mark.parametrize("n_chosen", [100, 70, 30])
@pytest.mark.parametrize("kind", SEEN)
def test_moments_of_all_rows_whiten_as_those_of_the_chosen_ones_alone(seed, kind, n_chosen):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(120, 4)) @ rng.normal(size=(4, 60)) + 0.1
    X = SEEN[kind](X + 1e-3 * rng.normal(size=X.shape))
    chosen = np.sort(rng.permutation(len(X))[: n_chosen * len(X) // 120])
    moments = Moments(unit_rows(X))
    found, expected = Whitener().fit_to(moments.principal(chosen)), Whitener().fit(X[chosen])
    np.testing.assert_allclose(found.transform(X), expected.transform(X), atol=1e-8)


def test_coordinates_are_whitened_vectors_up_to_a_rotation(seed):
    X = np.random.default_rng(seed).normal(size=(20, 30)) + 0.5
    whitener = Whitener().fit(X)
    inside, whitened = whitener.coordinates(unit_rows(X)), whitener.transform(X)
    np.testing.assert_allclose(inside @ inside.T, whitened @ whitened.T, atol=1e-13)
    np.testing.assert_allclose(inside @ whitener.directions_, whitened, atol=1e-13)


def test_many_features_are_whitened_by_two_matrices_as_by_one(seed, monkeypatch):
    X = np.random.default_rng(seed).normal(size=(20, 30)) + 0.5
    by_one = Whitener().fit(X).transform(X)
    monkeypatch.setattr(whitening, "MOST_MAPPED", 29)
    np.testing.assert_allclose(Whitener().fit(X).transform(X), by_one, atol=1e-13)


def test_directions_that_the_gallery_never_showed_are_dropped():
    rng = np.random.default_rng(0)
    shown = np.hstack([rng.normal(size=(9, 4)), np.zeros((9, 3))])
    whitener = Whitener().fit(shown)
    new = np.hstack([rng.normal(size=(2, 4)), 5 * rng.normal(size=(2, 3))])
    np.testing.assert_allclose(whitener.transform(new)[:, 4:], 0, atol=1e-12)
    assert np.linalg.norm(whitener.transform(new), axis=1) == pytest.approx(1)
    mean = np.hstack([whitener.mean_[:4], np.zeros(3)])
    outside = mean + np.eye(7)[5] * np.sqrt(1 - mean @ mean)
    np.testing.assert_array_equal(whitener.transform(outside[None]), 0)  # not rounding


def test_a_loud_common_direction_no_longer_dominates(seed):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((200, 6)) + 30 * rng.standard_normal((200, 1)) * np.eye(6)[0]
    units = X / np.linalg.norm(X, axis=1, keepdims=True)

    def dominance(vectors):
        variance = vectors.var(axis=0)
        return variance.max() / variance.min()

    half = dominance(Whitener(0.5, 0.01).fit(X).transform(X))
    full = dominance(Whitener(1.0, 0.01).fit(X).transform(X))
    assert 1.5 * full < half
    assert 1.5 * half < dominance(units)


def test_the_mean_vector_becomes_zero_and_not_nan():
    X = np.array([[1.0, 0], [0, 1.0]])
    np.testing.assert_array_equal(Whitener().fit(X[:1]).transform(X[:1]), [[0.0, 0.0]])


@pytest.mark.parametrize(
    ("name", "value"),
    [("strength", -1.0), ("strength", np.nan), ("shrinkage", 0), ("shrinkage", np.nan)],
)
def test_bad_parameters_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be a (positive )?number"):
        Whitener(**{name: value}).fit(np.eye(3))


@parametrize_with_checks([Whitener()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_each_image_of_the_probe_once_and_of_the_gallery_while_there_are_others(n, m, seed):
    distances = np.random.default_rng(seed).integers(0, 5, (n, m)) / 4.0
    pairs = closest_pairs(distances, MOST_PAIRS)
    assert len(pairs) == min(MOST_PAIRS, n)
    assert len({row for row, _ in pairs}) == len(pairs)
    assert len({column for _, column in pairs}) == min(len(pairs), m)
    assert distances[pairs[0]] == distances.min()


def test_pairs_name_the_set_and_its_vector_whatever_the_lengths():
    sets = SetBatch.from_list([np.array([[0.0, 1.0]]), np.array([[1.0, 1.0], [5.0, 0.0]])])
    (pair,) = nearest_pairs(np.array([[2.0, 0.0]]), sets, 8)
    assert (pair.vector, pair.set, pair.other) == (0, 1, 1)
    assert pair.distance == pytest.approx(0.0)


def test_of_nothing_nothing_is_near():
    sets = SetBatch.from_rows(np.eye(2))
    assert nearest_pairs(np.empty((0, 2)), sets, 8) == []
    assert nearest_pairs(np.eye(2), sets[[]], 8) == []


def test_equals_the_transformer_on_stacked_rows(seed):
    sets, labels = toy_sets(seed)
    rows = np.concatenate(sets)
    batch = SetBatch.from_list(sets, [f"s{i}" for i in range(len(sets))], labels)
    expected = StandardScaler().fit_transform(rows)
    made = PerVector(StandardScaler()).fit_transform(batch, labels)
    assert np.array_equal(made.vectors, expected)
    assert made.names == batch.names
    assert made.labels.tolist() == labels.tolist()
    fitted = PerVector(StandardScaler()).fit(sets)
    assert np.array_equal(fitted.transform(sets).vectors, expected)
    assert np.array_equal(PerVector(StandardScaler()).fit(rows).transform(rows), expected)
    assert np.array_equal(fitted.transform(sets[2]), fitted.transform([sets[2]])[0])


def test_new_sets_are_transformed_by_what_was_learnt(seed):
    sets, _ = toy_sets(seed)
    fitted = PerVector(PCA(4, random_state=0)).fit(sets[:5])
    expected = PCA(4, random_state=0).fit(np.concatenate(sets[:5])).transform(sets[7])
    assert np.array_equal(fitted.transform(sets[7:])[0], expected)
    assert fitted.n_features_in_ == 20
    with pytest.raises(DataError, match="set 0 has 5 features"):
        fitted.transform([np.ones((2, 5))])


def test_images_become_vectors():
    sets = SetBatch.from_images([np.random.default_rng(0).uniform(size=(9, 3, 3))])
    assert PerVector(PCA(2)).fit_transform(sets).image_shape is None


def test_labels_of_sets_are_those_of_their_vectors(seed):
    sets, labels = toy_sets(seed)
    rows, of_rows = np.concatenate(sets), np.repeat(labels, [len(s) for s in sets])
    expected = LinearDiscriminantAnalysis().fit(rows, of_rows).transform(rows)
    made = PerVector(LinearDiscriminantAnalysis()).fit_transform(sets, labels)
    np.testing.assert_allclose(made.vectors, expected)
    alone = PerVector(LinearDiscriminantAnalysis()).fit(rows, of_rows).transform(rows)
    np.testing.assert_allclose(alone, expected)
    with pytest.raises(DataError, match="one label for each of the 9 sets"):
        PerVector(LinearDiscriminantAnalysis()).fit(sets, labels[:5])


def test_is_an_estimator(seed):
    sets, labels = toy_sets(seed)
    outer = PerVector(PCA(3))
    assert outer.get_params()["transformer__n_components"] == 3
    copy = clone(outer).set_params(transformer__n_components=2).fit(sets)
    assert outer.transformer.n_components == 3
    assert not hasattr(copy.transformer, "components_")
    expected = copy.transform(sets).vectors
    assert expected.shape[1] == 2
    again = pickle.loads(pickle.dumps(copy))
    assert np.array_equal(again.transform(sets).vectors, expected)
    pipeline = make_pipeline(PerVector(PCA(8)), CVC(dims=(1, 2)))
    assert (pipeline.fit(sets, labels).predict(sets) == labels).all()


def test_as_a_view_of_an_ensemble(seed):
    sets, labels = toy_sets(seed)
    model = CVC(
        dims=(1, 2), representations=[("plain", "svd"), (("few", PerVector(PCA(8))), "svd")]
    )
    assert (model.fit(sets, labels).predict(sets) == labels).all()


def test_refuses(seed):
    sets, _ = toy_sets(seed)
    with pytest.raises(ParameterError, match="transformer must be a scikit-learn transformer"):
        PerVector(3).fit(sets)
    with pytest.raises(NotFittedError):
        PerVector(PCA(2)).transform(sets)
    with pytest.raises(
        DataError, match=r"PCA\(n_components=50\) could not fit .* vectors of 20"
    ):
        PerVector(PCA(50)).fit(sets)
    with pytest.raises(DataError, match="NaN"):
        PerVector(PCA(2)).fit([np.full((2, 3), np.nan)])


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (lambda rows: rows[1:], "one row for each vector"),
        (lambda rows: rows[:, 0], "one row for each"),
        (lambda rows: rows * np.inf, "finite"),
        (sp.csr_array, "made csr_array .* dense"),
    ],
)
def test_refuses_what_a_transformer_makes(seed, function, message):
    sets, _ = toy_sets(seed)
    with pytest.raises(DataError, match=message):
        PerVector(FunctionTransformer(function)).fit_transform(sets)


def test_strength_0_subtracts_the_mean_and_whitens_nothing():
    vectors = np.random.default_rng(0).normal(size=(50, 4)) * [5.0, 1.0, 1.0, 1.0]
    whitener = Whitener(strength=0).fit(vectors)
    assert whitener.gains_.tolist() == [1.0] * 4
    units = unit_rows(vectors)
    np.testing.assert_allclose(
        whitener.transform(vectors), unit_rows(units - units.mean(axis=0)), atol=1e-12
    )
