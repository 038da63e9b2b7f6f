"""Columns and atoms of every kind the lasso must cope with."""

from __future__ import annotations

import numpy as np
from tests.helpers import low_rank_columns, unit_columns

from setwise.lasso import Codes, code_by_gram, lasso_codes


def around_one_direction(rng, n_features, n_columns, spread):
    columns = rng.standard_normal((n_features, 1)) + spread * rng.standard_normal(
        (n_features, n_columns)
    )
    return columns / np.linalg.norm(columns, axis=0)


def around_classes(rng, n_features, n_columns, spread=0.3):
    """Columns around four directions, as bases of sets of four classes are."""
    columns = rng.standard_normal((n_features, 4))[:, rng.integers(0, 4, n_columns)]
    columns = columns + spread * rng.standard_normal((n_features, n_columns))
    return columns / np.linalg.norm(columns, axis=0)


def with_twins(rng, sign, n_features=15, n_columns=20):
    columns = unit_columns(rng, n_features, n_columns // 2)
    return np.hstack([columns, sign * columns])


FAMILIES = {
    "random": lambda rng: unit_columns(rng, 30, 12),
    "more columns than features": lambda rng: unit_columns(rng, 5, 60),
    "rank deficient": lambda rng: low_rank_columns(rng, 20, 40, 3),
    "correlated": lambda rng: around_one_direction(rng, 20, 30, 0.05),
    "nearly equal": lambda rng: around_one_direction(rng, 8, 30, 1e-5),
    "duplicated": lambda rng: with_twins(rng, 1),
    "sign-flipped": lambda rng: with_twins(rng, -1),
    "orthogonal": lambda rng: np.eye(6),
    "one column": lambda rng: unit_columns(rng, 4, 1),
}

# The same, large enough to be solved by pools of a few atoms.
LARGE = {
    "random": lambda rng: unit_columns(rng, 25, 100),
    "more columns than features": lambda rng: unit_columns(rng, 6, 250),
    "rank deficient": lambda rng: low_rank_columns(rng, 30, 200, 5),
    "classes": lambda rng: around_classes(rng, 20, 200),
    "correlated": lambda rng: around_one_direction(rng, 15, 200, 0.05),
    "nearly equal": lambda rng: around_one_direction(rng, 8, 120, 1e-5),
    "duplicated": lambda rng: with_twins(rng, 1, 20, 120),
    "sign-flipped": lambda rng: with_twins(rng, -1, 20, 120),
    "orthogonal": lambda rng: np.eye(60),
    "one column": lambda rng: unit_columns(rng, 4, 1),
}
# Of these the optimum is not unique, to rounding: only its conditions can be compared.
SEVERAL_OPTIMA = {"nearly equal", "duplicated", "sign-flipped"}

ATOMS = {
    "independent": lambda rng: unit_columns(rng, 8, 4),
    "one atom": lambda rng: unit_columns(rng, 8, 1),
    "dependent": lambda rng: low_rank_columns(rng, 8, 5, 3),
    "duplicated": lambda rng: np.repeat(unit_columns(rng, 8, 3), 2, axis=1),
    "sign-flipped": lambda rng: (lambda b: np.hstack([b, -b]))(unit_columns(rng, 8, 2)),
}


def solved(D, penalty):
    """Codes of all columns, as a sparse matrix."""
    return lasso_codes(D.T @ D, penalty, rank=min(D.shape))


def coded(D, penalty, targets, **options):
    """Codes of some columns."""
    return code_by_gram(D.T @ D, penalty, np.array(targets), rank=min(D.shape), **options)


def as_codes(dense):
    """The codes in the columns of a dense matrix."""
    is_used = dense.T != 0
    # Contiguous, as the product makes them: for a view, kernels would be compiled again.
    atoms = np.ascontiguousarray(np.nonzero(is_used)[1])
    return Codes(is_used.sum(axis=1), atoms, dense.T[is_used])


def dense(codes, n_atoms):
    """The codes as the columns of a dense matrix, one entry at a time."""
    matrix = np.zeros((n_atoms, len(codes)))
    first = 0
    for t, count in enumerate(codes.counts):
        for e in range(first, first + count):
            matrix[codes.atoms[e], t] += codes.values[e]
        first += count
    assert first == len(codes.atoms) == len(codes.values)
    return matrix


def violation(columns, codes, penalty, targets=None):
    """How far codes, the columns of a dense matrix, are from optimal over *all* atoms.

    Through the residuals and in float64, whatever the columns are stored in: unlike
    ``optimality_violation``, nothing of this goes through the Gram matrix.
    """
    columns = columns.astype(np.float64)
    targets = np.arange(columns.shape[1]) if targets is None else np.asarray(targets)
    assert codes.shape == (columns.shape[1], len(targets))
    assert not codes[targets, np.arange(len(targets))].any()  # never by itself
    slopes = columns.T @ (columns[:, targets] - columns @ codes)
    slopes[targets, np.arange(len(targets))] = 0.0
    active = np.abs(slopes - penalty * np.sign(codes))
    return np.where(codes != 0, active, np.abs(slopes) - penalty).max(initial=0.0)


def objectives(columns, codes, penalty, targets=None):
    """What the lasso minimises, for each code."""
    columns = columns.astype(np.float64)
    targets = np.arange(columns.shape[1]) if targets is None else np.asarray(targets)
    left = columns[:, targets] - columns @ codes
    return 0.5 * (left**2).sum(axis=0) + penalty * np.abs(codes).sum(axis=0)


def assert_margins_hold(columns, codes, pools, penalty, targets=None):
    """Every atom outside a pool is at least the margin away from entering the code."""
    columns = columns.astype(np.float64)
    n = columns.shape[1]
    targets = np.arange(n) if targets is None else np.asarray(targets)
    slopes = np.abs((columns[:, targets] - columns @ codes).T @ columns)
    is_outside = np.ones(slopes.shape, bool)
    is_outside[np.arange(len(targets)), targets] = False
    for t in range(len(targets)):
        inside = pools.atoms[t, : pools.counts[t]]
        assert ((inside >= 0) & (inside < n)).all()
        assert len(set(inside.tolist())) == len(inside)
        is_outside[t, inside] = False
    # A margin of zero is what is left where nothing was: the conditions, to rounding.
    allowed = penalty - pools.margins + np.where(pools.margins == 0, 1e-8, 0.0)
    assert (slopes <= allowed[:, None])[is_outside].all()
    assert (pools.margins >= 0).all()
