"""Seeds: an int gives the same one for ever, and NumPy's global generator is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.utils import check_random_state

from setwise._support.parameters import seed_from
from setwise.baselines import ISCRC
from setwise.baselines.clusterers import SKMS, SSC
from setwise.errors import ParameterError


@pytest.mark.parametrize("number", [0, 1, 42, np.int64(7), 2**32 - 1])
def test_an_int_gives_the_seed_it_always_gave(number):
    expected = check_random_state(number).randint(2**31 - 1)
    assert seed_from(number) == seed_from(number) == expected


@pytest.mark.parametrize("make", [np.random.default_rng, np.random.RandomState])
def test_a_generator_is_drawn_from_once(make):
    source, same = make(3), make(3)
    seeds = [seed_from(source), seed_from(source)]
    assert seeds == [seed_from(same), seed_from(same)]
    assert seeds[0] != seeds[1]


def test_none_is_fresh_each_time():
    seeds = {seed_from(None) for _ in range(5)}
    assert len(seeds) == 5
    assert all(0 <= seed < 2**31 for seed in seeds)


@pytest.mark.parametrize("state", ["x", -1, 2**32, 1.5, True, [], np.random, np.array([1, 2])])
def test_what_is_no_random_state_is_refused(state):
    with pytest.raises(ParameterError, match=r"^ISCRC: random_state must be an int from 0"):
        seed_from(state, "ISCRC")


def rows():
    return np.random.default_rng(0).normal(size=(9, 4))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "use",
    [
        lambda: seed_from(None),
        lambda: ISCRC(n_atoms=1).fit([rows(), rows()[::-1] + 1], [0, 1]),
        lambda: SSC(2).fit(rows()),
        lambda: SKMS().fit(rows(), [0, 0, 0, 1, 1, 1, -1, -1, -1]),
    ],
    ids=["seed_from", "ISCRC", "SSC", "SKMS"],
)
def test_the_global_generator_is_untouched(use):
    before = np.random.get_state()  # noqa: NPY002
    use()
    after = np.random.get_state()  # noqa: NPY002
    assert before[2] == after[2]
    np.testing.assert_array_equal(before[1], after[1])
