"""Columns and atoms of every kind the lasso must cope with."""

from __future__ import annotations

import numpy as np
from tests.helpers import low_rank_columns, unit_columns

from setwise.lasso import lasso_codes


def around_one_direction(rng, n_features, n_columns, spread):
    columns = rng.standard_normal((n_features, 1)) + spread * rng.standard_normal(
        (n_features, n_columns)
    )
    return columns / np.linalg.norm(columns, axis=0)


def with_twins(rng, sign):
    columns = unit_columns(rng, 15, 10)
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


ATOMS = {
    "independent": lambda rng: unit_columns(rng, 8, 4),
    "one atom": lambda rng: unit_columns(rng, 8, 1),
    "dependent": lambda rng: low_rank_columns(rng, 8, 5, 3),
    "duplicated": lambda rng: np.repeat(unit_columns(rng, 8, 3), 2, axis=1),
    "sign-flipped": lambda rng: (lambda b: np.hstack([b, -b]))(unit_columns(rng, 8, 2)),
}


def solved(D, penalty, **options):
    return lasso_codes(D.T @ D, penalty, rank=min(D.shape), **options)
