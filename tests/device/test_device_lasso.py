"""Lasso codes of the device are those of the processor: exact, whatever the blocks."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.device.reference import PlainHost

from setwise.device import DeviceAtoms, code_all, insert_all, pools_of_all
from setwise.device import lasso as device_lasso
from setwise.lasso import Codes, lasso_codes, optimality_violation

pytest.importorskip("array_api_compat", reason='needs pip install "setwise[cuda]"')


def columns_of_classes(rng: np.random.Generator, n_sets: int, width: int) -> np.ndarray:
    """Unit rows, alike within a class, as the columns of sets are."""
    centres = rng.normal(size=(3, width))
    rows = [centres[i % 3] + rng.normal(size=(5, width)) for i in range(n_sets)]
    units = np.concatenate(rows)
    return units / np.linalg.norm(units, axis=1, keepdims=True)


def table_of(codes: Codes, n: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    is_used = np.arange(int(codes.counts.max())) < codes.counts[:, None]
    atoms, values = np.zeros(is_used.shape, np.int64), np.zeros(is_used.shape)
    atoms[is_used], values[is_used] = codes.atoms, codes.values
    return atoms, np.sign(values), values


@pytest.mark.parametrize("alpha", [0.02, 0.05, 0.3])
@pytest.mark.parametrize("memory", [2**30, 2**21])  # one block, and many
def test_codes_are_optimal_and_those_of_the_processor(alpha, memory):
    rows = columns_of_classes(np.random.default_rng(0), 20, 60)
    found = code_all(DeviceAtoms.of(PlainHost(memory), rows), alpha)
    codes, gram = found.codes.to_csc(len(rows)), rows @ rows.T
    assert found.is_solved.all()
    assert optimality_violation(gram, codes, alpha) < 1e-12
    expected = lasso_codes(gram, alpha, rank=60)
    assert abs(codes - expected).max() < 1e-10
    assert found.residuals == pytest.approx(rows - (codes.T @ rows), abs=1e-12)


@settings(deadline=None, max_examples=15)
@given(st.integers(0, 1000), st.integers(2, 12), st.integers(2, 30))
def test_codes_are_optimal_for_any_columns(seed, n_sets, width):
    rows = columns_of_classes(np.random.default_rng(seed), n_sets, width)
    found = code_all(DeviceAtoms.of(PlainHost(), rows), 0.05)
    gram = rows @ rows.T
    solved = np.flatnonzero(found.is_solved)
    assert len(solved) or width < 8  # so few features make columns dependent
    gradient = gram - (found.codes.to_csc(len(rows)).T @ gram).T
    np.fill_diagonal(gradient, 0.0)
    assert np.abs(gradient[:, solved]).max(initial=0.0) <= 0.05 + 1e-9


def test_a_descent_that_goes_wrong_costs_rounds_and_nothing_else(monkeypatch):
    """Nothing depends on pools and descent but the time."""
    rows = columns_of_classes(np.random.default_rng(1), 20, 40)
    expected = lasso_codes(rows @ rows.T, 0.05, rank=40)
    monkeypatch.setattr(device_lasso, "_STEPS_PER_ATOM", 0)
    found = code_all(DeviceAtoms.of(PlainHost(), rows), 0.05)
    assert found.is_solved.all()
    assert abs(found.codes.to_csc(len(rows)) - expected).max() < 1e-10


def test_copies_are_left_to_the_processor_rather_than_guessed():
    rows = columns_of_classes(np.random.default_rng(2), 6, 20)
    rows = np.concatenate([rows, rows[:5]])
    found = code_all(DeviceAtoms.of(PlainHost(), rows), 0.05)
    gradient = rows @ rows.T
    gradient = gradient - (found.codes.to_csc(len(rows)).T @ gradient).T
    np.fill_diagonal(gradient, 0.0)
    # What is called solved is optimal, copies or not.
    assert np.abs(gradient[:, found.is_solved]).max(initial=0.0) <= 0.05 + 1e-9


def test_probes_that_are_inserted_together_do_not_see_each_other():
    rng = np.random.default_rng(3)
    rows = columns_of_classes(rng, 24, 40)
    gallery, probes = rows[:90], [rows[90:94], rows[94:95], rows[95:105]]
    atoms = DeviceAtoms.of(PlainHost(), gallery)
    solved = code_all(atoms, 0.05)
    inserted = insert_all(atoms, table_of(solved.codes, 90), solved.residuals, probes, 0.05)
    for probe, (targets, found) in zip(probes, inserted, strict=True):
        both = np.concatenate([gallery, probe])
        assert found.is_solved.all()
        assert (np.diff(targets) > 0).all()
        assert targets[-len(probe) :].tolist() == list(range(90, len(both)))
        codes = solved.codes.replaced(targets, found.codes).to_csc(len(both))
        assert abs(codes - lasso_codes(both @ both.T, 0.05, rank=40)).max() < 1e-10


def test_no_atom_outside_a_pool_exceeds_its_cutoff():
    rows = columns_of_classes(np.random.default_rng(4), 40, 30)
    atoms = DeviceAtoms.of(PlainHost(), rows)
    residuals = code_all(atoms, 0.05).residuals
    pools, counts, cutoffs = pools_of_all(atoms, residuals, 64)
    gradients = np.abs(residuals @ rows.T)
    for i, row in enumerate(gradients):
        outside = np.setdiff1d(np.arange(len(rows)), [*pools[i, : counts[i]], i])
        assert row[outside].max() <= cutoffs[i]
    assert (counts > 30).all()
