"""Logarithms of covariances against SciPy's matrix logarithm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import linalg
from tests.conftest import toy_sets

from setwise.baselines import CDL, LogEuclidean
from setwise.baselines.covariance import LogCovariances, log_covariance, squared_norm
from setwise.errors import ParameterError

LAMBDA = 1e-3


def dense_log(vectors):
    covariance = np.cov(vectors.T)
    return linalg.logm(covariance + LAMBDA * np.trace(covariance) * np.eye(len(covariance)))


def dense_of(model):
    n = len(model.directions)
    return model.level * np.eye(n) + model.directions * model.gains @ model.directions.T


# SciPy doubts its own logarithm at an error of 1e-13.
@pytest.mark.filterwarnings("ignore:logm result may be inaccurate")
@given(st.integers(0, 1000), st.integers(2, 15))
def test_the_logarithm_is_scipys(seed, n):
    vectors = np.random.default_rng(seed).normal(size=(n, 7)) * np.arange(1, 8) + 5
    model = log_covariance(vectors, LAMBDA, np.zeros(7))
    np.testing.assert_allclose(dense_of(model), dense_log(vectors), atol=1e-8)


def test_inner_products_are_traces(seed):
    sets, _ = toy_sets(seed)
    models = [log_covariance(vectors, LAMBDA, np.zeros(20)) for vectors in sets]
    logs = [dense_log(vectors) for vectors in sets]
    gallery = LogCovariances.of(models)
    for model, log in zip(models, logs, strict=True):
        expected = [np.trace(log @ other) for other in logs]
        np.testing.assert_allclose(gallery.products(model), expected, rtol=1e-9)
        assert squared_norm(model) == pytest.approx(np.trace(log @ log), rel=1e-10)


def test_the_kernel_of_cdl_is_that_of_the_logarithms(seed):
    sets, labels = toy_sets(seed)
    clf = CDL().fit(sets, labels)
    logs = np.array([dense_log(vectors).ravel() for vectors in sets])
    found = np.array([clf._kernels(clf._model(vectors)) for vectors in sets])
    np.testing.assert_allclose(found, logs @ logs.T, rtol=1e-9)


def test_distances_are_those_of_the_logarithms(seed):
    sets, labels = toy_sets(seed)
    clf = LogEuclidean().fit(sets, labels)
    logs = [dense_log(vectors) for vectors in sets]
    found = clf._distances(clf._model(sets[4]))
    expected = [np.linalg.norm(log - logs[4]) for log in logs]
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-5)


def test_scaling_the_data_changes_no_label(seed):
    sets, labels = toy_sets(seed, noise=1.0)
    for clf in (LogEuclidean(), CDL("lda"), CDL("pls")):
        plain = clf.fit(sets[::2], labels[::2]).predict(sets[1::2])
        scaled = clf.fit([255 * s for s in sets[::2]], labels[::2]).predict(
            [255 * s for s in sets[1::2]]
        )
        np.testing.assert_array_equal(plain, scaled)


def test_a_set_that_does_not_vary_is_taken_about_the_gallerys_mean():
    origin = np.array([1.0, 0.0, 0.0])
    model = log_covariance(np.array([[1.0, 2.0, 0.0]]), LAMBDA, origin)
    np.testing.assert_allclose(np.abs(model.directions[:, 0]), [0, 1, 0], atol=1e-12)
    at_origin = log_covariance(origin[None], LAMBDA, origin)
    assert np.isfinite(dense_of(at_origin)).all()


@pytest.mark.parametrize(
    ("clf", "name"),
    [(CDL("svm"), "head"), (CDL(regularisation=0), "regularisation"), (CDL(ridge=-1), "ridge"),
     (CDL(n_components=0), "n_components"), (LogEuclidean(0.0), "regularisation")],
)  # fmt: skip
def test_bad_parameters_are_named(clf, name):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"^{type(clf).__name__}: {name} must be .*, got "):
        clf.fit(sets, labels)
