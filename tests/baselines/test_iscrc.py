"""ISCRC: every step a lasso of scikit-learn, the constraint, and the interface."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Lasso
from tests.conftest import toy_sets
from tests.helpers import fingerprint, unit_columns

from setwise.baselines.iscrc import ISCRC, collaborate
from setwise.errors import ParameterError

PENALTIES = {"penalty_gallery": 0.01, "penalty_probe": 0.005}


def lasso(columns, target, penalty):
    # scikit-learn divides the squares by the number of rows.
    model = Lasso(penalty / len(target), fit_intercept=False, tol=1e-13, max_iter=500_000)
    return model.fit(columns, target).coef_


def literal_collaboration(vectors, atoms, n_iter, penalty_gallery, penalty_probe):
    """The alternation as the recipe has it, columns and an extra row for the sum."""
    columns = vectors.T
    n = columns.shape[1]
    a = np.zeros(n)
    mean = atoms.mean(axis=1)
    a[np.argmin(np.linalg.norm(columns - mean[:, None], axis=0))] = 1
    beta = 5 / n
    multiplier = beta / 2
    for _ in range(n_iter):
        b = lasso(atoms, columns @ a, penalty_gallery)
        row = np.sqrt(beta / 2)
        longer = np.vstack([columns, np.full(n, row)])
        target = np.append(atoms @ b, row * (1 - multiplier / beta))
        a = lasso(longer, target, penalty_probe)
        multiplier += beta * (a.sum() - 1)
    return a, b


@pytest.mark.parametrize("seed", range(3))
def test_weights_are_those_of_the_literal_alternation(seed):
    rng = np.random.default_rng(seed)
    vectors, atoms = unit_columns(rng, 25, 6).T, unit_columns(rng, 25, 12)
    a, b = collaborate(atoms.T @ atoms, vectors, atoms, n_iter=4, **PENALTIES)
    expected_a, expected_b = literal_collaboration(vectors, atoms, 4, **PENALTIES)
    np.testing.assert_allclose(a, expected_a, atol=1e-6)
    np.testing.assert_allclose(b, expected_b, atol=1e-6)


def test_the_weights_of_the_set_come_to_sum_to_one():
    sets, labels = toy_sets(0)
    fitted = ISCRC(n_atoms=4, random_state=0).fit(sets, labels)
    units = sets[0] / np.linalg.norm(sets[0], axis=1, keepdims=True)
    options = {"penalty_gallery": 0.001, "penalty_probe": 0.001, "n_iter": 200}
    a, _ = collaborate(fitted.gram_, units, fitted.atoms_, **options)
    assert a.sum() == pytest.approx(1, abs=0.02)


def test_scores_are_what_each_class_leaves_unexplained(seed):
    sets, labels = toy_sets(seed)
    fitted = ISCRC(n_atoms=3, n_iter=5, random_state=0).fit(sets[::2], labels[::2])
    found = fitted.decision_function(sets[1:2])[0]
    units = sets[1] / np.linalg.norm(sets[1], axis=1, keepdims=True)
    options = {"penalty_gallery": 0.001, "penalty_probe": 0.001, "n_iter": 5}
    a, b = collaborate(fitted.gram_, units, fitted.atoms_, **options)
    for c in range(3):
        part = fitted.atom_codes_ == c
        rest = a @ units - fitted.atoms_[:, part] @ b[part]
        assert found[c] == pytest.approx(-np.linalg.norm(rest))


def test_classes_that_live_apart_are_told_apart(seed):
    sets, labels = toy_sets(seed, n_sets=6)
    fitted = ISCRC(random_state=0).fit(sets[::2], labels[::2])
    assert fitted.score(sets[1::2], labels[1::2]) >= 8 / 9
    shares = fitted.predict_proba(sets[1::2])
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    np.testing.assert_array_equal(shares.argmax(axis=1), fitted.predict(sets[1::2]))


def test_atoms_are_unit_columns_no_more_than_the_rank():
    sets, labels = toy_sets(0, n_vectors=(2, 5))
    sets[0] = np.repeat(sets[0][:1], 5, axis=0)
    fitted = ISCRC(n_atoms=4, random_state=0).fit(sets, labels)
    np.testing.assert_allclose(np.linalg.norm(fitted.atoms_, axis=0), 1)
    ranks = [min(4, np.linalg.matrix_rank(vectors)) for vectors in sets]
    np.testing.assert_array_equal(fitted.atom_codes_, np.repeat(labels, ranks))
    assert ranks[0] == 1


def test_a_seed_fixes_the_answer_and_the_orders_do_not_change_it(seed):
    sets, labels = toy_sets(seed)
    before = fingerprint(*sets)
    fitted = ISCRC(n_atoms=3, random_state=1).fit(sets, labels)
    scores = fitted.decision_function(sets)
    assert fingerprint(*sets) == before
    again = ISCRC(n_atoms=3, random_state=1, n_jobs=2).fit(sets, labels)
    np.testing.assert_array_equal(again.decision_function(sets[::-1]), scores[::-1])
    # Atoms depend on nothing but the set and the seed.
    backwards = ISCRC(n_atoms=3, random_state=1).fit(sets[::-1], labels[::-1])
    np.testing.assert_allclose(backwards.decision_function(sets), scores, atol=1e-6)
    shuffled = fitted.decision_function([x[::-1] * 3 for x in sets])
    np.testing.assert_allclose(shuffled, scores, atol=1e-6)
    other = ISCRC(n_atoms=3, random_state=2).fit(sets, labels)
    assert not np.allclose(other.atoms_, fitted.atoms_)


def test_odd_sets_are_accepted():
    gallery = [np.ones((4, 3)), np.eye(3)[:1], np.diag([0.0, 1.0, 0.0])]
    fitted = ISCRC(random_state=0).fit(gallery, ["copies", "x", "y and zeros"])
    probes = [[[2.0, 0.1, 0.0]], [[0.1, 3.0, 0.0], [0.0, 0.0, 0.0]]]
    assert list(fitted.predict(probes)) == ["x", "y and zeros"]


@pytest.mark.parametrize(
    "options", [{"n_atoms": 0}, {"n_iter": 2.5}, {"lambda_gallery": 0}, {"lambda_probe": -1}]
)
def test_bad_parameters_are_refused_by_name(options):
    sets, labels = toy_sets(0)
    with pytest.raises(ParameterError, match=f"ISCRC: {next(iter(options))} must be"):
        ISCRC(**options).fit(sets, labels)
