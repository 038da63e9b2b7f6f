"""Dictionaries with an l1 bound: unit atoms inside the span, and a loss that only falls."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import subspace_angles
from scipy.stats import ortho_group
from tests.helpers import fingerprint

from setwise.basis import dictionary_bases, learn_dictionary
from setwise.errors import ConvergenceWarning


def some_set(n_vectors=30, n_features=12, seed=0):
    """Unit vectors around a common direction, as images of one object are."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n_vectors, n_features)) + 2 * rng.standard_normal(n_features)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def learned(vectors, n_atoms, *, radius=1.0, seed=0, **options):
    rng = np.random.default_rng(seed)
    return learn_dictionary(vectors, n_atoms, radius=radius, rng=rng, **options)


def based(vectors, dims, *, seed=0, **options):
    return dictionary_bases(vectors, dims, rng=np.random.default_rng(seed), **options)


def projected_on_ball(codes, radius):
    """Rows projected on the l1 ball, by sorting (Duchi et al. 2008)."""
    sizes = np.sort(np.abs(codes), axis=1)[:, ::-1]
    excess = (np.cumsum(sizes, axis=1) - radius) / np.arange(1, codes.shape[1] + 1)
    last = (sizes > excess).sum(axis=1) - 1
    threshold = np.maximum(np.take_along_axis(excess, last[:, None], axis=1), 0)
    return np.sign(codes) * np.maximum(np.abs(codes) - threshold, 0)


def independent_loss(vectors, atoms, radius):
    """Loss of the best codes on these atoms, by accelerated projected gradient."""
    gram, q = atoms.T @ atoms, vectors @ atoms
    step = 1 / np.linalg.eigvalsh(gram)[-1]
    codes = ahead = np.zeros_like(q)
    momentum = 1.0
    for _ in range(5000):
        new = projected_on_ball(ahead - step * (ahead @ gram - q), radius)
        grown = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = new + (momentum - 1) / grown * (new - codes)
        codes, momentum = new, grown
    return 0.5 * ((vectors - codes @ atoms.T) ** 2).sum(axis=1).mean()


@pytest.mark.filterwarnings("ignore::setwise.errors.ConvergenceWarning")  # stopped on purpose
@pytest.mark.parametrize("radius", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("n_atoms", [1, 2, 5])
def test_the_loss_never_rises_from_one_alternation_to_the_next(radius, n_atoms):
    losses = [
        learned(some_set(), n_atoms, radius=radius, tolerance=0.0, max_iter=m)[1]
        for m in range(1, 25)
    ]
    assert losses[-1] < losses[0]
    assert (np.diff(losses) <= 1e-12).all()


@pytest.mark.parametrize("radius", [0.3, 1.0, 5.0])
@pytest.mark.parametrize("n_atoms", [1, 3, 6])
def test_the_loss_is_that_of_the_best_codes_on_the_atoms(radius, n_atoms):
    atoms, loss = learned(some_set(), n_atoms, radius=radius, max_iter=1000)
    np.testing.assert_allclose(np.linalg.norm(atoms, axis=0), 1, atol=1e-12)
    # Atoms may end inside the unit ball; scaling them up to unit norm can only help.
    assert loss >= independent_loss(some_set(), atoms, radius) - 1e-9
    assert loss == pytest.approx(independent_loss(some_set(), atoms, radius), rel=1e-4)


@pytest.mark.parametrize("radius", [1.0, 3.0])
def test_one_atom_is_the_first_singular_vector_where_the_bound_does_not_bind(radius):
    vectors = some_set()
    atoms, loss = learned(vectors, 1, radius=radius, tolerance=0.0, max_iter=1000)
    _, strengths, directions = np.linalg.svd(vectors)
    assert abs(atoms[:, 0] @ directions[0]) == pytest.approx(1, abs=1e-10)
    rest = 0.5 * ((vectors**2).sum() - strengths[0] ** 2) / len(vectors)
    assert loss == pytest.approx(rest, rel=1e-9)


def test_as_many_atoms_as_vectors_reconstruct_the_set():
    vectors = some_set(4)
    atoms, loss = learned(vectors, 4)
    assert loss < 1e-20
    np.testing.assert_allclose(np.abs(atoms.T @ vectors.T).max(axis=1), 1, atol=1e-10)


@pytest.mark.parametrize("radius", [0.3, 1.0, 5.0])
def test_atoms_are_unit_vectors_inside_the_span_of_the_set(radius):
    vectors = some_set(8, 40)
    for d, atoms in zip([1, 3, 8], based(vectors, [1, 3, 8], radius=radius), strict=True):
        assert atoms.shape == (40, d)
        np.testing.assert_allclose(np.linalg.norm(atoms, axis=0), 1, atol=1e-12)
        assert subspace_angles(atoms, vectors.T).max() < 1e-6


RANKS = {
    "fewer vectors than atoms": (some_set(3), 3),
    "fewer features than atoms": (some_set(30, 4), 4),
    "one vector": (some_set(1), 1),
    "copies of one vector": (np.repeat(some_set(1), 6, axis=0), 1),
    "a vector and its negative": (np.vstack([some_set(1), -some_set(1)]), 1),
    "every vector three times": (np.repeat(some_set(3), 3, axis=0), 3),
    "zero vectors inside": (np.vstack([some_set(3), np.zeros((3, 12))]), 3),
    "two vectors 1e-13 apart": (np.array([[1.0, 0.0], [1.0, 1e-13]]), 2),
    "vectors of very different length": (some_set(4) * [[1e-6], [1.0], [1e3], [1e-3]], 4),
    "scaled copies": (np.outer([1.0, 0.5, 2.0], np.arange(1.0, 9)), 1),
    "small": (some_set(5) * 1e-100, 5),
    "large": (some_set(5) * 1e100, 5),
}


@pytest.mark.parametrize("case", RANKS)
def test_atoms_never_outnumber_the_rank(case):
    vectors, rank = RANKS[case]
    for d, atoms in zip([1, 2, 10], based(vectors, [1, 2, 10]), strict=True):
        assert atoms.shape == (vectors.shape[1], min(d, rank))
        np.testing.assert_allclose(np.linalg.norm(atoms, axis=0), 1, atol=1e-12)


def test_a_set_of_rank_r_gives_the_same_r_atoms_for_every_larger_dimensionality():
    three, four, ten = based(some_set(3), [3, 4, 10])
    np.testing.assert_array_equal(three, four)
    np.testing.assert_array_equal(three, ten)


def test_the_same_seed_gives_the_same_atoms_and_others_differ():
    first, again, other = (based(some_set(), [2, 4], seed=seed) for seed in (0, 0, 1))
    for d in range(2):
        np.testing.assert_array_equal(first[d], again[d])
    assert any(np.abs(first[d] - other[d]).max() > 1e-3 for d in range(2))


def test_the_atoms_of_one_dimensionality_do_not_depend_on_the_others():
    expected = based(some_set(), [2, 5])
    np.testing.assert_array_equal(based(some_set(), [2])[0], expected[0])
    np.testing.assert_array_equal(based(some_set(), [4, 5])[1], expected[1])


def test_the_atoms_turn_with_the_features():
    vectors = some_set()
    rotation = ortho_group.rvs(12, random_state=1)
    for turned, atoms in zip(
        based(vectors @ rotation.T, [1, 3, 5]), based(vectors, [1, 3, 5]), strict=True
    ):
        np.testing.assert_allclose(turned, rotation @ atoms, atol=1e-6)


def test_features_that_are_always_zero_change_nothing():
    vectors = some_set()
    padded = np.hstack([vectors, np.zeros((30, 50))])
    (atoms,), (wide,) = based(vectors, [3]), based(padded, [3])
    np.testing.assert_allclose(wide[:12], atoms, atol=1e-6)
    np.testing.assert_allclose(wide[12:], 0, atol=1e-12)


def test_an_atom_nothing_uses_is_replaced_by_the_worst_reconstructed_vector():
    # Two starts in one tight cluster: one of them soon stands for the other cluster.
    rng = np.random.default_rng(0)
    clusters = np.repeat(np.eye(4)[:2], [40, 2], axis=0)
    vectors = clusters + 1e-3 * rng.standard_normal((42, 4))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    for seed in range(10):
        atoms, _ = learned(vectors, 2, seed=seed)
        np.testing.assert_allclose(np.sort(np.abs(atoms[:2]).max(axis=1)), 1, atol=1e-2)


def test_stopping_before_the_loss_settles_gives_a_warning():
    with pytest.warns(ConvergenceWarning):
        learned(some_set(), 5, max_iter=2)


def test_a_zero_vector_never_becomes_an_atom():
    # One direction, two atoms: nothing uses the second, and every vector is reconstructed.
    atoms, loss = learned(np.array([[0.0, 0.0], [1.0, 0.0], [2.0, 0.0]]), 2, radius=2.0)
    np.testing.assert_array_equal(atoms, [[1.0, 1.0], [0.0, 0.0]])
    assert loss == 0


def test_the_set_stays_as_it_was():
    vectors = some_set()
    before = fingerprint(vectors)
    based(vectors, [1, 4])
    assert fingerprint(vectors) == before


def test_the_global_generator_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    based(some_set(), [2])
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
