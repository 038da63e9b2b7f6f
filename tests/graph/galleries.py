"""Galleries and probes for the lasso graph, and what must hold of a solved one."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numpy as np
import scipy.sparse as sp
from tests.helpers import fingerprint, unit_columns
from tests.lasso.problems import around_classes, assert_margins_hold, dense, violation

from setwise.graph import LassoGraph
from setwise.graph.lasso_gallery import GramLasso, PooledLasso

GALLERIES = {
    "random": lambda rng: unit_columns(rng, 30, 20),
    "classes": lambda rng: around_classes(rng, 30, 40),
    "more columns than features": lambda rng: around_classes(rng, 8, 60),
    "correlated": lambda rng: around_classes(rng, 30, 40, spread=0.02),
}
# How far codes may be from those of solving from scratch, and from optimal.
CLOSE = {GramLasso: 1e-11, PooledLasso: 1e-9}
OPTIMAL = {GramLasso: 1e-10, PooledLasso: 1e-9}


def solve(kind, columns, alpha):
    """A gallery of the one kind or the other, whatever its size."""
    more = () if kind is GramLasso else (None,)
    return kind.solved(LassoGraph(alpha), columns, alpha, *more)


def columns_as_kept(kind, columns):
    """The columns that the codes are exact for, in float64."""
    return columns.astype(np.float32).astype(np.float64) if kind is PooledLasso else columns


def codes_of(gallery):
    return dense(gallery.codes, len(gallery.codes))


def codes_with(gallery, probe):
    """Codes of all columns, the gallery's and the probe's, on all others."""
    codes = gallery.codes.replaced(*gallery.recoded(probe))
    return codes.to_csc(len(codes))


def contents(thing):
    """A hash of everything a gallery holds."""
    if isinstance(thing, np.ndarray):
        return fingerprint(thing)
    if sp.issparse(thing):
        return fingerprint(thing.data, thing.indices, thing.indptr)
    if is_dataclass(thing):
        return tuple(contents(getattr(thing, field.name)) for field in fields(thing))
    return thing


def assert_well_solved(gallery, alpha, *, close_to=None):
    """Everything a gallery says of itself is true, whatever was done to it before.

    ``close_to`` are its columns: where solving them from scratch is to give the same codes.
    """
    kind = type(gallery)
    columns = np.asarray(gallery.columns, dtype=np.float64)
    codes = codes_of(gallery)
    assert gallery.alpha == alpha
    assert violation(columns, codes, alpha) <= OPTIMAL[kind]
    np.testing.assert_array_equal(gallery.adjacency.toarray(), np.abs(codes) + np.abs(codes).T)
    if kind is PooledLasso:
        left = (columns - columns @ codes).T
        np.testing.assert_allclose(gallery.residuals, left, rtol=0, atol=1e-6)
        assert gallery.columns.dtype == gallery.residuals.dtype == np.float32
        assert_margins_hold(columns, codes, gallery.pools, alpha)
    else:
        assert gallery.columns.dtype == np.float64
        np.testing.assert_allclose(gallery.gram, columns.T @ columns, rtol=0, atol=1e-14)
    if close_to is not None:
        np.testing.assert_array_equal(columns, columns_as_kept(kind, close_to))
        fresh = codes_of(solve(kind, close_to, alpha))
        np.testing.assert_allclose(codes, fresh, rtol=0, atol=CLOSE[kind])
