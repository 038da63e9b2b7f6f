"""What each part gives: a variant differs from the default in one part, and leaves no trace."""

from pkgutil import resolve_name

import numpy as np
import pytest

import alone
from evidence.tasks import Split
from setwise import CVC, SetBatch
from setwise.gallery import trials
from setwise.gallery.defaults import REPRESENTATIONS

NAMES = [name for part in alone.PARTS.values() for name in part.names]


@pytest.fixture
def split():
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(3, 8))
    sets = [centres[i % 3] + 0.3 * rng.normal(size=(6, 8)) for i in range(9)]
    batch, labels = SetBatch.from_list(sets), np.arange(9) % 3
    return Split(batch[np.arange(6)], labels[:6], batch[np.arange(6, 9)], labels[6:])


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_replaced_exist(name):
    assert resolve_name(name) is not None


def test_every_part_is_one_of_the_default():
    for part in alone.PARTS.values():
        CVC(**part.parameters).describe()
    fewer = alone.PARTS["without both"].parameters["representations"]
    assert len(fewer) == len(REPRESENTATIONS) - 6


def test_a_variant_leaves_the_default_as_it_was(split):
    before = trials.POWER
    default, odds = (alone.PARTS[name].opinion for name in ("CVC", "log-odds as they are"))
    first, other, again = default(split, 1), odds(split, 1), default(split, 1)
    assert before == trials.POWER
    np.testing.assert_array_equal(first.probability, again.probability)
    assert not np.array_equal(first.probability, other.probability)
