"""The compiled alternation: the oracle's atoms, and the same bits in any batch."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.basis.alternation import learn_literally, updated
from tests.conftest import toy_sets

from setwise import SetBatch
from setwise._support.parallel import in_threads, one_blas_thread
from setwise.basis import base, dictionary, dictionary_bases, kernels, learn_dictionary
from setwise.errors import ConvergenceWarning
from setwise.features import unit_rows


def some_sets(n_sets=12, seed=0):
    """Sets of different sizes, as many vectors as features and fewer."""
    sets, _ = toy_sets(seed, n_classes=3, n_sets=n_sets // 3, n_vectors=(5, 26), noise=0.4)
    return [unit_rows(vectors) for vectors in sets]


def assert_learns_as_the_oracle(vectors, n_atoms, *, radius=1.0, seed=0, **options):
    atoms, loss = learn_dictionary(
        vectors, n_atoms, radius=radius, rng=np.random.default_rng(seed), **options
    )
    expected = learn_literally(
        vectors, n_atoms, radius=radius, rng=np.random.default_rng(seed), **options
    )
    np.testing.assert_allclose(atoms, expected.atoms, rtol=0, atol=1e-9)
    assert loss == pytest.approx(expected.loss, rel=1e-9, abs=1e-24)


# ---------------------------------------------------------------------------- Same optimum


@pytest.mark.parametrize("radius", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("n_atoms", [1, 2, 5])
def test_atoms_and_loss_are_those_of_the_oracle(n_atoms, radius, seed):
    for vectors in some_sets(seed=seed):
        assert_learns_as_the_oracle(vectors, n_atoms, radius=radius, seed=seed)


@given(
    n_vectors=st.integers(4, 40),
    n_features=st.integers(4, 40),
    n_atoms=st.integers(1, 4),
    radius=st.floats(0.2, 3.0),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape_and_bound_gives_the_atoms_of_the_oracle(
    n_vectors, n_features, n_atoms, radius, seed
):
    rng = np.random.default_rng(seed)
    vectors = unit_rows(rng.standard_normal((n_vectors, n_features)) + 1.0)
    # A few alternations: what rounding does to a long descent is not the question here.
    options = {"radius": radius, "seed": seed, "tolerance": 1e-2}
    assert_learns_as_the_oracle(vectors, n_atoms, **options)


@pytest.mark.parametrize("seed", range(8))
def test_unused_atoms_are_replaced_as_the_oracle_does(seed):
    # Of a start and its opposite, codes use one: up to two atoms are unused at once here.
    half = unit_rows(np.random.default_rng(0).standard_normal((8, 6)) + 1.0)
    assert_learns_as_the_oracle(np.vstack([half, -half]), 6, seed=seed)


@pytest.mark.data
def test_atoms_of_real_sets_are_those_of_the_oracle(real):
    for vectors in list(real("eth80").sets)[::20]:
        unit = unit_rows(vectors)
        inside = unit @ base.principal_directions(unit)
        assert_learns_as_the_oracle(inside, 6)


# ------------------------------------------------------------------------------- By hand


def after_one_alternation(vectors, atoms):
    moved = np.array(atoms, dtype=float)
    kernels.alternate(np.array(vectors, dtype=float), moved, 1.0, 0.0, 1, 1000)
    return moved


def test_each_unused_atom_becomes_the_next_worst_vector():
    vectors = [[1, 0, 0, 0, 0], [0.8, 0, 0, 0.6, 0], [0.6, 0, 0, 0, 0.8]]
    moved = after_one_alternation(vectors, np.eye(5)[:3])
    np.testing.assert_allclose(moved[1:], [vectors[2], vectors[1]], atol=1e-15)


def test_the_earlier_of_equally_bad_vectors_comes_first():
    vectors = [[1, 0, 0, 0, 0], [0.6, 0, 0, 0.8, 0], [0.6, 0, 0, 0, 0.8]]
    moved = after_one_alternation(vectors, np.eye(5)[:3])
    np.testing.assert_allclose(moved[1:], vectors[1:], atol=1e-15)


def test_an_unused_atom_stays_where_only_zero_vectors_could_replace_it():
    moved = after_one_alternation([[0, 0, 0], [0, 0, 0]], np.eye(3)[:2])
    np.testing.assert_array_equal(moved, np.eye(3)[:2])


def test_atoms_are_updated_one_after_the_other():
    rng = np.random.default_rng(3)
    vectors, atoms = unit_rows(rng.normal(size=(9, 5))), unit_rows(rng.normal(size=(3, 5)))
    codes = rng.normal(size=(9, 3)) / 3
    residuals = vectors - codes @ atoms
    expected = updated(atoms.T, vectors, codes, residuals).T
    for run in (kernels._update, kernels._update.py_func):
        moved, errors = atoms.copy(), (residuals**2).sum(axis=1)
        run(moved, vectors, codes, errors, np.empty(5))
        np.testing.assert_allclose(moved, expected, atol=1e-14)


# ------------------------------------------------- One by one or in a batch: the same bits


def learned(vectors):
    """As the classifier calls it: the same start for every set."""
    return dictionary_bases(vectors, (1, 3, 5), rng=np.random.default_rng(7))


@pytest.fixture(scope="module")
def one_by_one():
    with one_blas_thread():
        return [learned(vectors) for vectors in some_sets(30)]


def assert_same_bits(found, expected):
    for of_set, expected_of_set in zip(found, expected, strict=True):
        for atoms, expected_atoms in zip(of_set, expected_of_set, strict=True):
            np.testing.assert_array_equal(atoms, expected_atoms)


@pytest.mark.parametrize("n_jobs", [1, 2, 5])
def test_any_number_of_threads_gives_the_same_bits(one_by_one, n_jobs):
    assert_same_bits(list(in_threads(learned, some_sets(30), n_jobs)), one_by_one)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_any_order_of_the_sets_gives_the_same_bits(one_by_one, n_jobs, seed):
    order = np.random.default_rng(seed).permutation(30)
    sets = some_sets(30)
    found = list(in_threads(learned, [sets[i] for i in order], n_jobs))
    assert_same_bits(found, [one_by_one[i] for i in order])


def test_a_set_inside_a_batch_gives_the_same_bits_as_alone(one_by_one):
    batch = SetBatch.from_list(some_sets(30))
    assert_same_bits(list(in_threads(learned, batch, 2)), one_by_one)


def test_a_set_among_few_gives_the_same_bits_as_among_many(one_by_one):
    assert_same_bits(list(in_threads(learned, some_sets(30)[4:7], 2)), one_by_one[4:7])


# ------------------------------------------------------------------------------ Warnings


def test_codes_short_of_their_optimum_give_a_warning(monkeypatch):
    monkeypatch.setattr(dictionary, "_MAX_STEPS", 1)
    with pytest.warns(ConvergenceWarning, match="codes on 5 atoms"):
        learn_dictionary(some_sets()[0], 5, radius=1.0, rng=np.random.default_rng(0))
