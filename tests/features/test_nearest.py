"""Which vectors are shown beside which."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise import SetBatch
from setwise.features.nearest import closest_pairs, nearest_pairs

MOST_PAIRS = 8


@given(st.integers(1, 12), st.integers(1, 12), st.integers(0, 2**32 - 1))
def test_each_image_of_the_probe_once_and_of_the_gallery_while_there_are_others(n, m, seed):
    distances = np.random.default_rng(seed).integers(0, 5, (n, m)) / 4.0
    pairs = closest_pairs(distances, MOST_PAIRS)
    assert len(pairs) == min(MOST_PAIRS, n)
    assert len({row for row, _ in pairs}) == len(pairs)
    assert len({column for _, column in pairs}) == min(len(pairs), m)
    assert distances[pairs[0]] == distances.min()


def test_pairs_name_the_set_and_its_vector_whatever_the_lengths():
    sets = SetBatch.from_list([np.array([[0.0, 1.0]]), np.array([[1.0, 1.0], [5.0, 0.0]])])
    (pair,) = nearest_pairs(np.array([[2.0, 0.0]]), sets, 8)
    assert (pair.vector, pair.set, pair.other) == (0, 1, 1)
    assert pair.distance == pytest.approx(0.0)


def test_of_nothing_nothing_is_near():
    sets = SetBatch.from_rows(np.eye(2))
    assert nearest_pairs(np.empty((0, 2)), sets, 8) == []
    assert nearest_pairs(np.eye(2), sets[[]], 8) == []
