"""Checks of parameters; errors name owner, parameter, choices and value."""

from __future__ import annotations

import difflib
import math
from collections.abc import Collection
from itertools import islice
from typing import Any, NoReturn

import numpy as np

from setwise.errors import ParameterError

# Entries of a sequence, so that an endless generator is refused; threads, likewise.
_MOST = 10_000
# Of an image: a larger one in a file would take memory before anything is looked at.
LARGEST_SIDE = 4096
_SEEDS = 2**31 - 1


def as_tuple(owner: str, name: str, value: Any, *, of: str = "entries") -> tuple[Any, ...]:
    """The entries of a sequence or generator: 1 to 10,000, no characters of a string."""
    try:
        entries = () if isinstance(value, str | bytes) else tuple(islice(value, _MOST + 1))
    except TypeError:  # a number, or an array of no dimension
        entries = ()
    if not 1 <= len(entries) <= _MOST:
        refuse(owner, name, f"a sequence of {of}, from 1 to {_MOST} of them", value)
    return entries


def check_count(owner: str, name: str, value: Any, *, at_least: int = 1) -> None:
    """Refuse anything but a whole number of at least ``at_least``, and of 64 bits."""
    if not is_whole(value) or not at_least <= value < 2**63:
        refuse(owner, name, f"an int of at least {at_least}", value)


def check_number(
    owner: str, name: str, value: Any, *, above: float = 0.0, at_most: float = np.inf
) -> None:
    """Refuse anything but a finite number in ``(above, at_most]``; positive by default."""
    if not _is_finite(value) or not above < value <= at_most:
        expected = "a positive number" if 0 <= above < 1e-6 else f"a number above {above:g}"
        floor = f", above {above:g}" if 0 < above < 1e-6 else ""
        limit = "" if at_most == np.inf else f" of at most {at_most:g}"
        refuse(owner, name, expected + limit + floor, value)


def check_not_negative(owner: str, name: str, value: Any, *, at_most: float = np.inf) -> None:
    """Refuse anything but a finite number in ``[0, at_most]``."""
    if not _is_finite(value) or not 0 <= value <= at_most:
        limit = "" if at_most == np.inf else f" and at most {at_most:g}"
        refuse(owner, name, f"a number of at least 0{limit}", value)


def check_choice(owner: str, name: str, value: Any, choices: Collection[Any]) -> None:
    """Refuse a value that is not among the choices."""
    alike = (choice for choice in choices if type(value) is type(choice))
    # Not `in`, which asks an array for its truth.
    if not any(value is choice for choice in choices) and not any(value == c for c in alike):
        refuse(owner, name, f"one of {', '.join(map(repr, choices))}", value)


def check_known(owner: str, kind: str, name: str, known: Collection[str]) -> None:
    """Refuse an unknown name of some kind, such as ``"parameter"``, and suggest a near one."""
    if isinstance(name, str) and name in known:
        return
    near = difflib.get_close_matches(_shown(name).strip("'"), [*known], n=1)
    hint = f" Did you mean {near[0]!r}?" if near else ""
    expected = f"one of {', '.join(map(repr, known))}" if known else "none at all"
    msg = f"{owner}: there is no {kind} {_shown(name)}. Expected {expected}.{hint}"
    raise ParameterError(msg)


def check_progress(owner: str, value: Any) -> None:
    """Refuse what cannot be called to report progress."""
    if value is not None and not callable(value):
        refuse(owner, "progress", "a callable, given (what, done, total), or None", value)


def is_whole(value: Any) -> bool:
    """Whether a value is a whole number, and not a truth value."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _is_finite(value: Any) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:  # an int beyond all floats
        return False


def _shown(value: Any) -> str:
    """A value as an error shows it: on one line, not too long, whatever it is."""
    if isinstance(value, np.ndarray) and value.ndim:
        return f"an array of shape {value.shape}"
    try:
        text = " ".join(repr(value).split())
    except Exception:  # a __repr__ of other code
        return f"a {type(value).__name__}"
    return text if len(text) <= 80 else f"{text[:77]}..."


def refuse(owner: str, name: str, expected: str, value: Any) -> NoReturn:
    """Raise the error for a parameter of ``owner`` that has a wrong value."""
    msg = f"{owner}: {name} must be {expected}, got {_shown(value)}."
    raise ParameterError(msg)


def pair(size: int | tuple[int, int]) -> tuple[int, int]:
    """Height and width; one number stands for both."""
    height, width = size if isinstance(size, tuple | list) else (size, size)
    return int(height), int(width)


def check_shape(owner: str, name: str, value: Any, *, optional: bool = False) -> None:
    """Refuse anything but a number of pixels, or a height and a width."""
    sides = value if isinstance(value, tuple | list) else (value, value)
    is_fine = len(sides) == 2 and all(
        is_whole(side) and 1 <= side <= LARGEST_SIDE for side in sides
    )
    if not is_fine and not (optional and value is None):
        expected = f"an int of 1 to {LARGEST_SIDE} or a pair of such (height, width)"
        refuse(owner, name, expected + (", or None" if optional else ""), value)


def check_jobs(owner: str, value: Any) -> None:
    """Refuse anything but a number of threads; -1 is one per core, -2 one less."""
    if value is not None and (not is_whole(value) or value == 0 or value > _MOST):
        refuse(owner, "n_jobs", "a number of threads, -1 for one per core, or None", value)


class Seed(int):
    """A drawn seed, which :func:`seed_from` gives back unchanged."""


def seed_from(random_state: Any, owner: str = "setwise") -> int:
    """A seed drawn from what scikit-learn calls a random state, never from NumPy's global one.

    An int always gives the same seed. None takes fresh entropy from the system.
    """
    if isinstance(random_state, Seed):
        return int(random_state)
    if random_state is None:
        return int(np.random.default_rng().integers(_SEEDS))
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(_SEEDS))
    if is_whole(random_state) and 0 <= random_state < 2**32:
        random_state = np.random.RandomState(random_state)
    if not isinstance(random_state, np.random.RandomState):
        expected = "an int from 0 to 2**32 - 1, a RandomState, a Generator or None"
        refuse(owner, "random_state", expected, random_state)
    return int(random_state.randint(_SEEDS))
