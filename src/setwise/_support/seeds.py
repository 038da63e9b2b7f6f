"""Seeds, never drawn from NumPy's global generator."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise._support.parameters import is_whole, refuse

__all__ = ["Seed", "seed_from"]

_END = 2**31 - 1


class Seed(int):
    """A drawn seed, which :func:`seed_from` gives back unchanged."""


def seed_from(random_state: Any, owner: str = "setwise") -> int:
    """A seed by what scikit-learn calls a random state.

    Parameters
    ----------
    random_state : int, RandomState, Generator or None
        An int always gives the same seed. A generator is drawn from once. None takes fresh
        entropy from the system; NumPy's global generator is never touched.
    owner : str
        Name of its class, for the message.
    """
    if isinstance(random_state, Seed):
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(_END))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_END))
    if is_whole(random_state) and 0 <= random_state < 2**32:
        random_state = np.random.RandomState(random_state)
    if not isinstance(random_state, np.random.RandomState):
        expected = "an int from 0 to 2**32 - 1, a RandomState, a Generator or None"
        refuse(owner, "random_state", expected, random_state)
    return int(random_state.randint(_END))
