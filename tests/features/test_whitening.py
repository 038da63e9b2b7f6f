"""Whitening by the gallery's own vectors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from setwise import Whitener
from setwise.errors import ParameterError


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


@pytest.mark.parametrize("value", [0, -1.0, float("nan")])
@pytest.mark.parametrize("name", ["strength", "shrinkage"])
def test_bad_parameters_are_refused(name, value):
    with pytest.raises(ParameterError, match=f"{name} must be a positive number"):
        Whitener(**{name: value}).fit(np.eye(3))


@parametrize_with_checks([Whitener()])
def test_scikit_learn_checks(estimator, check):
    check(estimator)
