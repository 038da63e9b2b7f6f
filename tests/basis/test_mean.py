"""The basis of one column."""

from __future__ import annotations

import numpy as np

from setwise.basis import Mean
from setwise.features import unit_rows


def test_the_column_is_the_direction_of_the_mean():
    rng = np.random.default_rng(0)
    units = unit_rows(rng.normal(size=(9, 6)) + 1)
    (column,) = Mean().columns(units, (1,), rng)
    np.testing.assert_allclose(column[:, 0], unit_rows(units.mean(axis=0, keepdims=True))[0])


def test_it_offers_one_column_whatever_is_asked():
    assert Mean().offered((3, 5, 8)) == (1,)


def test_vectors_that_cancel_have_a_main_direction_all_the_same():
    (column,) = Mean().columns(np.array([[1.0, 0], [-1.0, 0]]), (1,), np.random.default_rng(0))
    np.testing.assert_allclose(np.abs(column[:, 0]), [1, 0])
