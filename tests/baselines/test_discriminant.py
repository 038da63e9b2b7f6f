"""Kernel discriminant analysis and kernel PLS against scikit-learn and their equations."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import linalg
from sklearn.cross_decomposition import PLSRegression
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.conftest import toy_sets

from setwise.baselines import GDA
from setwise.baselines.kernel_sets import KernelDiscriminant, KernelPLS
from setwise.errors import ParameterError


def problem(seed, n=40, n_features=5, n_classes=3):
    rng = np.random.default_rng(seed)
    codes = np.arange(n) % n_classes
    X = rng.normal(size=(n, n_features)) + 1.5 * rng.normal(size=(n_classes, n_features))[codes]
    return X[: n // 2], codes[: n // 2], X[n // 2 :]


def test_with_a_linear_kernel_it_is_linear_discriminant_analysis(seed):
    X, codes, probes = problem(seed)
    head = KernelDiscriminant.fit(X @ X.T, codes, ridge=1e-8)
    found = probes @ X.T @ head.coefficients
    expected = LinearDiscriminantAnalysis(solver="eigen").fit(X, codes).transform(probes)[:, :2]
    # The same plane: either set of coordinates is a linear function of the other.
    found, expected = (z - z.mean(axis=0) for z in (found, expected))
    residual = found - expected @ np.linalg.lstsq(expected, found, rcond=None)[0]
    assert np.linalg.norm(residual) < 1e-5 * np.linalg.norm(found)


def test_directions_solve_the_eigenproblem_and_have_unit_length_in_the_kernel(seed):
    X, codes, _ = problem(seed)
    gram = (X @ X.T + 1.0) ** 2
    head = KernelDiscriminant.fit(gram, codes, ridge=1e-6)
    m = len(gram)
    M = np.eye(m) - 1 / m
    Kc = M @ gram @ M
    B = sum(
        (codes == c).sum() * np.outer(Kc[codes == c].mean(axis=0), Kc[codes == c].mean(axis=0))
        for c in range(3)
    )
    T = Kc @ Kc + 1e-6 * np.diag(gram).mean() ** 2 * np.eye(m)
    assert head.added == pytest.approx(1e-6 * np.diag(gram).mean() ** 2)
    values = linalg.eigh(B, T, eigvals_only=True)[-2:]
    for a, mu in zip(head.coefficients.T, values, strict=True):
        assert a @ gram @ a == pytest.approx(1.0)
        assert np.linalg.norm(B @ a - mu * (T @ a)) < 1e-6 * np.linalg.norm(T @ a)


@pytest.mark.parametrize("n_components", [1, 2, 4])
def test_with_a_linear_kernel_it_is_partial_least_squares(seed, n_components):
    X, codes, probes = problem(seed)
    head = KernelPLS.fit(X @ X.T, codes, n_components)
    found = np.array([head.scores(X @ probe) for probe in probes])
    pls = PLSRegression(n_components, scale=False, tol=1e-14, max_iter=10_000)
    expected = pls.fit(X, np.eye(3)[codes]).predict(probes)
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_components_end_where_the_kernel_does(seed):
    X, codes, _ = problem(seed, n_features=2)
    head = KernelPLS.fit(X @ X.T, codes, 15)
    assert head.n_components <= 2
    nothing = KernelPLS.fit(np.zeros((6, 6)), np.array([0, 0, 0, 1, 1, 2]), 3)
    assert nothing.n_components == 0
    np.testing.assert_allclose(nothing.scores(np.zeros(6)), [1 / 2, 1 / 3, 1 / 6])


def test_probabilities_of_pls_are_shares(seed):
    X, codes, probes = problem(seed)
    head = KernelPLS.fit(X @ X.T, codes, 4)
    scores = np.array([head.scores(X @ probe) for probe in probes])
    shares = head.probabilities(scores)
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    assert (shares >= 0).all()
    np.testing.assert_array_equal(shares.argmax(axis=1), scores.argmax(axis=1))


@pytest.mark.parametrize("centred", [False, True])
def test_the_kernel_of_gda_is_the_projection_kernel(seed, centred):
    sets, labels = toy_sets(seed, n_vectors=(2, 8))
    clf = GDA(3, centred=centred).fit(sets, labels)
    bases = []
    for vectors in sets:
        shown = vectors - vectors.mean(axis=0) if centred else vectors
        _, s, vt = np.linalg.svd(shown, full_matrices=False)
        bases.append(vt[: min(3, (s > 1e-9).sum())].T)
    found = clf._kernels(clf._model(sets[0]))
    expected = [
        np.linalg.norm(b.T @ bases[0]) ** 2 / np.sqrt(b.shape[1] * bases[0].shape[1])
        for b in bases
    ]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize(
    ("clf", "name"),
    [(GDA(0), "n_dims"), (GDA(centred="yes"), "centred"), (GDA(ridge=0), "ridge")],
)
def test_bad_parameters_are_named(clf, name):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"^GDA: {name} must be .*, got "):
        clf.fit(sets, labels)
