"""Unions of subspaces and the pair of clouds: ranks, moments, and the same every time."""

import numpy as np
import pytest

from setwise.errors import ParameterError
from setwise_paper.datasets.made import make_gaussian_pair, make_subspace_union


def test_without_noise_a_class_is_a_linear_subspace():
    sets = make_subspace_union(3, 2, 10, n_features=30, n_dims=4, noise=0.0)
    for label in range(3):
        assert np.linalg.matrix_rank(sets[sets.labels == label].vectors) == 4
    assert np.linalg.matrix_rank(sets.vectors) == 12


def test_sets_may_have_directions_of_their_own():
    sets = make_subspace_union(2, 2, 20, n_features=30, n_dims=4, n_set_dims=3, noise=0.0)
    assert [np.linalg.matrix_rank(one) for one in sets] == [7] * 4
    assert np.linalg.matrix_rank(sets[:2].vectors) == 4 + 2 * 3


def test_vectors_vary_by_one_along_their_subspace_and_by_the_noise_across():
    sets = make_subspace_union(1, 1, 5000, n_features=20, n_dims=3, noise=0.1)
    spread = np.linalg.svd(sets.vectors, compute_uv=False) / np.sqrt(5000)
    np.testing.assert_allclose(spread[:3], np.sqrt(1.01), rtol=0.05)
    np.testing.assert_allclose(spread[3:], 0.1, rtol=0.1)
    assert np.abs(sets.vectors.mean(axis=0)).max() < 0.06


def test_names_labels_and_shapes():
    sets = make_subspace_union(2, 3, 5, n_features=8, n_dims=2)
    assert sets.labels.tolist() == [0, 0, 0, 1, 1, 1]
    assert sets.names[4] == "class 1, set 2"
    assert sets.sizes.tolist() == [5] * 6
    assert sets.n_features == 8


def test_more_classes_and_sets_leave_the_first_ones_as_they_are():
    few, many = make_subspace_union(2, 2, 5), make_subspace_union(4, 3, 5)
    np.testing.assert_array_equal(few.vectors, many[[0, 1, 3, 4]].vectors)
    other = make_subspace_union(2, 2, 5, random_state=1)
    assert (few.vectors != other.vectors).all()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_classes", 0),
        ("n_sets", 0),
        ("n_vectors", 0),
        ("n_features", 0),
        ("n_dims", 0),
        ("n_dims", 51),
        ("n_set_dims", -1),
        ("noise", -0.1),
        ("noise", "much"),
        ("noise", np.inf),
        ("random_state", "0"),
    ],
)
def test_bad_parameters_of_the_union_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"make_subspace_union: {name} must be .*, got"):
        make_subspace_union(**{name: value})


def test_directions_of_class_and_set_must_fit():
    with pytest.raises(ParameterError, match="at most n_features - n_set_dims, here 6, got 7"):
        make_subspace_union(n_features=10, n_dims=7, n_set_dims=4)


def test_clouds_have_the_moments_of_the_figure():
    pair = make_gaussian_pair(20_000, distance=5)
    first, second = pair
    np.testing.assert_allclose(first.mean(axis=0), 0, atol=0.05)
    np.testing.assert_allclose(second.mean(axis=0), [5, 0, 0], atol=0.05)
    for cloud in pair:
        np.testing.assert_allclose(np.cov(cloud.T), 2 * np.eye(3), atol=0.08)
    assert pair.labels.tolist() == [0, 1]


def test_clouds_are_those_of_the_example_and_the_test_of_figure_4():
    d, n = 4, 100
    rng = np.random.default_rng([d, n, 0])
    points = np.sqrt(2.0) * rng.standard_normal((3, 2 * n))
    points[0, n:] += d
    pair = make_gaussian_pair(n, d, random_state=np.random.default_rng([d, n, 0]))
    np.testing.assert_array_equal(pair.vectors.T, points)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_vectors", 0),
        ("n_features", 0),
        ("distance", -1.0),
        ("variance", 0.0),
        ("random_state", -1),
        ("random_state", None),
    ],
)
def test_bad_parameters_of_the_pair_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"make_gaussian_pair: {name} must be .*, got"):
        make_gaussian_pair(**{name: value})
