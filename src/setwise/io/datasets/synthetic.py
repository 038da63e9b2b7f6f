"""Vectors drawn from simple models: unions of subspaces, and two clouds of points."""

from __future__ import annotations

import numpy as np

from setwise._support.parameters import check_count, check_not_negative, check_number, refuse
from setwise._support.types import FloatArray
from setwise.sets import SetBatch

__all__ = ["make_gaussian_pair", "make_subspace_union", "random_stream"]

# What a random stream is for; streams of one kind are told apart by the numbers that follow.
_CLASS, _SET = range(2)


def random_stream(random_state: int, *key: int) -> np.random.Generator:
    """Random numbers of their own for each key, whatever else is drawn."""
    return np.random.default_rng(np.random.SeedSequence(random_state, spawn_key=key))


def make_subspace_union(
    n_classes: int = 5,
    n_sets: int = 4,
    n_vectors: int = 30,
    *,
    n_features: int = 50,
    n_dims: int = 4,
    n_set_dims: int = 0,
    noise: float = 0.05,
    random_state: int = 0,
) -> SetBatch:
    """Make sets whose vectors lie near linear subspaces, one subspace per class.

    Subspaces go through the origin: classes differ in directions and not in means. This is
    what subspace clustering assumes of its data. A set depends on nothing but its class and
    its number: with more classes or sets, the first ones stay as they are.

    Parameters
    ----------
    n_classes, n_sets, n_vectors : int
        Number of classes, of sets of each, and of vectors of a set.
    n_features : int
        Length of the vectors.
    n_dims : int
        Dimensionality of the subspace of a class.
    n_set_dims : int, default=0
        Random directions, of each set its own, in which its vectors vary besides those of the
        class, and as strongly.
    noise : float
        Standard deviation of what is added to each feature. Along a direction of a subspace
        it is 1.
    random_state : int
        Everything random follows from it.

    Returns
    -------
    SetBatch
        Class after class, with labels 0 to ``n_classes - 1``.

    Examples
    --------
    >>> from setwise.io.datasets import make_subspace_union
    >>> sets = make_subspace_union(2, 3, n_vectors=10, n_features=20, n_dims=2)
    >>> sets, sets.labels.tolist()
    (SetBatch of 6 sets of 10 to 10 vectors, 20 features, [0, 0, 0, 1, 1, 1])
    """
    owner = "make_subspace_union"
    counts = {"n_classes": n_classes, "n_sets": n_sets, "n_vectors": n_vectors,
              "n_features": n_features, "n_dims": n_dims}  # fmt: skip
    for name, value in counts.items():
        check_count(owner, name, value)
    check_count(owner, "n_set_dims", n_set_dims, at_least=0)
    check_count(owner, "random_state", random_state, at_least=0)
    check_not_negative(owner, "noise", noise)
    if n_dims + n_set_dims > n_features:
        expected = f"at most n_features - n_set_dims, here {n_features - n_set_dims}"
        refuse(owner, "n_dims", expected, n_dims)
    sets, names = [], []
    for label in range(n_classes):
        basis = _directions(random_stream(random_state, _CLASS, label), n_dims, n_features)
        for number in range(n_sets):
            rng = random_stream(random_state, _SET, label, number)
            spanned = np.concatenate([basis, _directions(rng, n_set_dims, n_features)])
            inside = rng.standard_normal((n_vectors, len(spanned))) @ spanned
            sets.append(inside + noise * rng.standard_normal(inside.shape))
            names.append(f"class {label}, set {number + 1}")
    return SetBatch.from_list(sets, names, np.repeat(np.arange(n_classes), n_sets))


def _directions(rng: np.random.Generator, n_dims: int, n_features: int) -> FloatArray:
    """Orthonormal rows that span a random subspace."""
    return np.linalg.qr(rng.standard_normal((n_features, n_dims)))[0].T


def make_gaussian_pair(
    n_vectors: int = 200,
    distance: float = 5.0,
    *,
    n_features: int = 3,
    variance: float = 2.0,
    random_state: int | np.random.Generator = 0,
) -> SetBatch:
    """Make two clouds of normal points, as in Figure 4 of the paper.

    The paper's are 3-D, of covariance 2 I, and their centres 2 to 7 apart.

    Parameters
    ----------
    n_vectors : int
        Points of each cloud.
    distance : float
        How far the centres are apart, along the first feature.
    n_features : int
        Dimensionality.
    variance : float
        Of each feature, in both clouds.
    random_state : int or numpy.random.Generator
        Source of randomness.

    Returns
    -------
    SetBatch
        Two sets, with labels 0 and 1. The first cloud is around the origin.

    Examples
    --------
    >>> from setwise.io.datasets import make_gaussian_pair
    >>> make_gaussian_pair(100, distance=4)
    SetBatch of 2 sets of 100 to 100 vectors, 3 features
    """
    owner = "make_gaussian_pair"
    check_count(owner, "n_vectors", n_vectors)
    check_count(owner, "n_features", n_features)
    check_number(owner, "variance", variance)
    check_not_negative(owner, "distance", distance)
    if not isinstance(random_state, np.random.Generator):
        check_count(owner, "random_state", random_state, at_least=0)
    rng = np.random.default_rng(random_state)
    points = np.sqrt(variance) * rng.standard_normal((n_features, 2 * n_vectors))
    points[0, n_vectors:] += distance
    offsets = np.array([0, n_vectors, 2 * n_vectors])
    return SetBatch(points.T, offsets, ["cloud 1", "cloud 2"], np.array([0, 1]))
