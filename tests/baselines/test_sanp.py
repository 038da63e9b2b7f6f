"""SANP: the optimality conditions, a generic solver, and the laws of the objective."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.linear_model import Lasso
from tests.conftest import toy_sets
from tests.helpers import fingerprint

import setwise.lasso.solver as module
from setwise.baselines.hulls import affine_hull, affine_hull_distance
from setwise.baselines.nearest_points import SANP, SampledHull, sanp_points
from setwise.errors import ConvergenceWarning, ParameterError
from setwise.lasso import gram_lasso

WEIGHTS = {"w_hull": 1.0, "w_samples": 0.01, "penalty": 0.1}
SETTINGS = [
    WEIGHTS,
    {"w_hull": 1.0, "w_samples": 1.0, "penalty": 0.1},
    {"w_hull": 0.1, "w_samples": 1.0, "penalty": 0.01},
]


def pair(seed=0, energy=0.9, n_features=15, sizes=(9, 7)):
    rng = np.random.default_rng(seed)
    sets = [rng.standard_normal((n, n_features)) + rng.standard_normal() for n in sizes]
    return [SampledHull.of(vectors, energy) for vectors in sets]


def penalties(a, b, w_samples, penalty):
    return [
        penalty * np.abs(2 * w_samples * side.vectors @ side.hull.mean).max() for side in (a, b)
    ]


def literal_objective(a, b, v_a, v_b, alpha, beta, *, w_hull, w_samples, penalty):
    """The objective as the paper has it: its squares, and all of it."""
    p_a, p_b = a.hull.mean + a.hull.basis @ v_a, b.hull.mean + b.hull.basis @ v_b
    squares = w_hull * np.sum((p_a - p_b) ** 2)
    squares += w_samples * np.sum((p_a - a.vectors.T @ alpha) ** 2)
    squares += w_samples * np.sum((p_b - b.vectors.T @ beta) ** 2)
    l_a, l_b = penalties(a, b, w_samples, penalty)
    return squares, squares + l_a * np.abs(alpha).sum() + l_b * np.abs(beta).sum()


@pytest.mark.parametrize("weights", SETTINGS)
@pytest.mark.parametrize("seed", range(3))
def test_the_subgradient_vanishes(weights, seed):
    a, b = pair(seed)
    found = sanp_points(a, b, **weights)
    p_a, p_b = a.hull.mean + a.hull.basis @ found.v_a, b.hull.mean + b.hull.basis @ found.v_b
    off_a, off_b = p_a - found.alpha @ a.vectors, p_b - found.beta @ b.vectors
    w_hull, w_samples = weights["w_hull"], weights["w_samples"]
    slopes = [
        a.hull.basis.T @ (w_hull * (p_a - p_b) + w_samples * off_a),
        b.hull.basis.T @ (w_hull * (p_b - p_a) + w_samples * off_b),
    ]
    for slope in slopes:
        np.testing.assert_allclose(slope, 0, atol=1e-11)
    limits = penalties(a, b, w_samples, weights["penalty"])
    sides = ((a.vectors @ off_a, found.alpha), (b.vectors @ off_b, found.beta))
    assert (np.append(found.alpha, found.beta) == 0).any()
    for (product, code), limit in zip(sides, limits, strict=True):
        slope = 2 * w_samples * product
        is_used = code != 0
        assert is_used.any()
        np.testing.assert_allclose(slope[is_used], limit * np.sign(code[is_used]), rtol=1e-7)
        assert np.abs(slope).max() <= limit * (1 + 1e-7)


@pytest.mark.parametrize("weights", SETTINGS)
def test_no_generic_solver_finds_less(weights):
    a, b = pair(sizes=(5, 4), n_features=6)
    shapes = [a.hull.n_dims, b.hull.n_dims, 5, 5, 4, 4]
    cuts = np.cumsum(shapes)[:-1]

    def objective(z):
        # Codes as the difference of two positive parts, so that the l1 norm is smooth.
        v_a, v_b, up_a, down_a, up_b, down_b = np.split(z, cuts)
        squares, _ = literal_objective(a, b, v_a, v_b, up_a - down_a, up_b - down_b, **weights)
        l_a, l_b = penalties(a, b, weights["w_samples"], weights["penalty"])
        return squares + l_a * (up_a + down_a).sum() + l_b * (up_b + down_b).sum()

    n_dims = shapes[0] + shapes[1]
    bounds = [(None, None)] * n_dims + [(0, None)] * 18
    options = {"maxiter": 3000, "maxfun": 200_000, "ftol": 1e-15, "gtol": 1e-10}
    generic = minimize(objective, np.zeros(n_dims + 18), bounds=bounds, options=options).fun
    found = sanp_points(a, b, **weights)
    squares, total = literal_objective(
        a, b, found.v_a, found.v_b, found.alpha, found.beta, **weights
    )
    assert found.value == pytest.approx(squares, rel=1e-10)
    assert total == pytest.approx(generic, rel=1e-4)
    assert total <= generic * (1 + 1e-9)


def test_without_samples_it_is_the_affine_distance():
    a, b = pair(energy=0.7)
    found = sanp_points(a, b, w_hull=2.0, w_samples=1e-9, penalty=0.1)
    distance = affine_hull_distance(a.hull.mean, a.hull.basis, b.hull.mean, b.hull.basis)
    assert found.value == pytest.approx(2 * distance**2, rel=1e-6)


def test_both_sides_are_treated_alike():
    a, b = pair()
    there, back = sanp_points(a, b, **WEIGHTS), sanp_points(b, a, **WEIGHTS)
    assert there.value == pytest.approx(back.value, rel=1e-9)
    np.testing.assert_allclose(there.alpha, back.beta, atol=1e-9)
    np.testing.assert_allclose(there.v_b, back.v_a, atol=1e-9)


def test_two_single_vectors_by_hand():
    a, b = (SampledHull.of(np.array([x]), 0.98) for x in ([2.0, 0.0], [0.0, 3.0]))
    found = sanp_points(a, b, **WEIGHTS)
    # One sample each, equal to its mean: the lasso keeps all but a tenth of it.
    np.testing.assert_allclose([*found.alpha, *found.beta], 0.9)
    assert found.v_a.size == found.v_b.size == 0
    assert found.value == pytest.approx(13 + 0.01 * (0.2**2 + 0.3**2))


@pytest.mark.parametrize(
    "vectors",
    [np.zeros((3, 15)), np.vstack([np.eye(15), -np.eye(15)]), np.repeat(np.eye(15), 2, axis=0)],
    ids=["all zero", "mean zero", "copies"],
)
def test_odd_sets_have_a_finite_answer(vectors):
    odd = SampledHull.of(vectors, 0.98)
    for other in (*pair(), odd):
        found = sanp_points(odd, other, **WEIGHTS)
        squares, _ = literal_objective(
            odd, other, found.v_a, found.v_b, found.alpha, found.beta, **WEIGHTS
        )
        assert found.value == pytest.approx(squares, abs=1e-12)


@pytest.mark.parametrize("seed", range(3))
def test_the_lasso_of_a_gram_matrix_is_that_of_scikit_learn(seed):
    rng = np.random.default_rng(seed)
    columns = rng.standard_normal((30, 12)) * rng.uniform(0.01, 100, 12)
    target = rng.standard_normal(30)
    limits = rng.uniform(0.1, 2, 12) * np.linalg.norm(columns, axis=0)
    # One penalty for columns divided by theirs.
    model = Lasso(alpha=1 / 30, fit_intercept=False, tol=1e-12, max_iter=100_000)
    expected = model.fit(columns / limits, target).coef_ / limits
    for scale in (1.0, 1e-8, 1e8):
        found = gram_lasso(
            columns.T @ columns * scale, columns.T @ target * scale, limits * scale
        )
        np.testing.assert_allclose(found, expected, rtol=1e-7, atol=1e-9 / limits.max())
    again = gram_lasso(
        columns.T @ columns, columns.T @ target, limits, start=rng.normal(size=12)
    )
    np.testing.assert_allclose(again, expected, rtol=1e-7, atol=1e-9 / limits.max())
    np.testing.assert_array_equal(gram_lasso(np.eye(3), np.ones(3), np.full(3, 1.5)), 0)


def test_a_lasso_cut_short_says_so(monkeypatch):
    monkeypatch.setattr(module, "MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="not reached in 1 steps"):
        sanp_points(*pair(), **WEIGHTS)


def test_scores_are_values_times_dimensions_at_any_scale(seed):
    sets, labels = toy_sets(seed)
    before = fingerprint(*sets)
    fitted = SANP().fit(sets[::2], labels[::2])
    scores = fitted.decision_function(sets[1::2])
    assert fingerprint(*sets) == before
    expected = np.full(scores.shape, -np.inf)
    for i, probe in enumerate(sets[1::2]):
        for known, label in zip(sets[::2], labels[::2], strict=True):
            a, b = SampledHull.of(probe, 0.98), SampledHull.of(known, 0.98)
            distance = sanp_points(a, b, **WEIGHTS).value * (a.hull.n_dims + b.hull.n_dims)
            expected[i, label] = max(expected[i, label], -distance)
    np.testing.assert_allclose(scores * fitted.unit_**2, expected, rtol=1e-7)
    for scale in (1e-120, 1e3):
        scaled = SANP().fit([x * scale for x in sets[::2]], labels[::2])
        found = scaled.decision_function([x[::-1] * scale for x in sets[1::2]])
        np.testing.assert_allclose(found, scores, rtol=1e-7)


def test_classes_that_live_apart_are_told_apart(seed):
    sets, labels = toy_sets(seed, n_sets=6)
    fitted = SANP(n_jobs=2).fit(sets[::2], labels[::2])
    assert fitted.score(sets[1::2], labels[1::2]) >= 8 / 9
    hulls = [affine_hull(x, 0.98) for x in sets[::2]]
    assert list(fitted.n_dims_) == [hull.n_dims for hull in hulls]


def test_sets_of_one_vector_are_told_apart():
    gallery = [np.array([[0.0, 1, 0]]), np.array([[5.0, 1, 0], [5.0, 1, 0]])]
    fitted = SANP().fit(gallery, ["a", "b"])
    assert list(fitted.predict([[[1.0, 1, 0]], [[4.0, 1, 0]]])) == ["a", "b"]


@pytest.mark.parametrize(
    "options", [{"w_hull": 0}, {"w_samples": -1}, {"penalty": 0}, {"energy": 1.1}]
)
def test_bad_parameters_are_refused_by_name(options):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"SANP: {next(iter(options))} must be"):
        SANP(**options).fit(sets, labels)
