"""What the checks are written with: fresh copies, all answers at once, failures in words."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from setwise.errors import SetwiseWarning

__all__ = [
    "METHODS",
    "answers",
    "fresh",
    "methods_of",
    "own_warnings_ignored",
    "refusal",
    "require",
    "require_equal",
    "require_labels",
    "require_probabilities",
    "require_same_answers",
    "require_valid_answers",
]

# The ways to ask a fitted classifier about sets.
METHODS = ("predict", "predict_proba", "decision_function")


def require(condition: object, message: str) -> None:
    """Fail with a message unless something holds."""
    if not condition:
        raise AssertionError(message)


def require_equal(found: npt.ArrayLike, expected: npt.ArrayLike, what: str) -> None:
    """Fail unless two arrays hold the same in the same shape."""
    if not np.array_equal(np.asarray(found), np.asarray(expected)):
        msg = f"{what}: expected {_short(expected)} but got {_short(found)}"
        raise AssertionError(msg)


def fresh(classifier: Any, seed: int = 0, **parameters: Any) -> Any:
    """An unfitted copy, whose randomness follows from a seed."""
    copy = clone(classifier)
    seeds = {
        name: seed
        for name in copy.get_params()
        if name == "random_state" or name.endswith("__random_state")
    }
    return copy.set_params(**(seeds | parameters))


def methods_of(classifier: Any) -> list[str]:
    """Those of the ways to ask that a classifier has."""
    return [method for method in METHODS if hasattr(classifier, method)]


def answers(fitted: Any, sets: Any) -> dict[str, npt.NDArray[Any]]:
    """Everything that a fitted classifier says of sets."""
    return {method: getattr(fitted, method)(sets) for method in methods_of(fitted)}


def require_same_answers(
    found: Mapping[str, npt.NDArray[Any]],
    expected: Mapping[str, npt.NDArray[Any]],
    what: str,
    tolerance: float = 1e-12,
) -> None:
    """Fail unless labels are equal, and numbers equal up to a share of the largest."""
    require_equal(found["predict"], expected["predict"], f"labels {what}")
    for method in sorted(set(expected) - {"predict"}):
        _require_close(found[method], expected[method], f"{method} {what}", tolerance)


def _require_close(found: Any, expected: Any, what: str, tolerance: float) -> None:
    """Fail unless two arrays differ by no more than a share of the largest number."""
    one, other = np.asarray(found), np.asarray(expected)
    require(one.shape == other.shape, f"{what}: expected shape {other.shape}, got {one.shape}.")
    largest = np.abs(other[np.isfinite(other)]).max(initial=0.0)
    is_close = np.isclose(one, other, rtol=0.0, atol=tolerance * largest)
    if not is_close.all():
        i = tuple(int(place) for place in np.argwhere(~is_close)[0])
        msg = f"{what}: expected {other[i]!r} at {i}, got {one[i]!r}."
        raise AssertionError(msg)


def require_labels(fitted: Any, sets: Any, truth: npt.ArrayLike, what: str) -> None:
    """Fail unless easy sets get their labels."""
    require_equal(fitted.predict(sets), truth, f"labels of {what}")


def require_valid_answers(fitted: Any, sets: Any, what: str) -> None:
    """Fail unless every set gets a known label and finite scores, without numerical warnings.

    Which label of an odd set is right cannot be said, but it must have one.
    """
    n_sets, n_classes = len(sets), len(fitted.classes_)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = answers(fitted, sets)
    labels = found["predict"]
    require(np.shape(labels) == (n_sets,), f"{what}: predict has shape {np.shape(labels)}.")
    require(np.isin(labels, fitted.classes_).all(), f"{what}: {_short(labels)} are no classes.")
    if "predict_proba" in found:
        proba = found["predict_proba"]
        require_probabilities(proba, (n_sets, n_classes), what)
    if "decision_function" in found:
        scores = found["decision_function"]
        require(np.isfinite(scores).all(), f"{what}: decision_function gives {_short(scores)}.")


def require_probabilities(proba: Any, shape: tuple[int, int], what: str) -> None:
    """Fail unless each row is a distribution over the classes."""
    require(np.shape(proba) == shape, f"{what}: predict_proba has shape {np.shape(proba)}.")
    require(np.isfinite(proba).all(), f"{what}: predict_proba gives {_short(proba)}.")
    require(np.min(proba) >= 0, f"{what}: predict_proba is negative: {_short(proba)}.")
    error = np.abs(np.sum(proba, axis=1) - 1).max()
    require(error <= 1e-12, f"{what}: predict_proba sums to one only up to {error:.2g}.")


def refusal(call: Callable[[], object], what: str) -> str:
    """The message of the ValueError that something must be refused with."""
    try:
        call()
    except ValueError as error:
        return str(error)
    except Exception as error:
        msg = (
            f"{what} gave {type(error).__name__} ({error}). Expected a ValueError, such as "
            "setwise.errors.DataError."
        )
        raise AssertionError(msg) from error
    msg = f"{what} was accepted. Expected a ValueError, such as setwise.errors.DataError."
    raise AssertionError(msg)


@contextmanager
def own_warnings_ignored() -> Iterator[None]:
    """Let setwise warn that an answer is weak: it still is an answer."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SetwiseWarning)
        yield


def _short(values: npt.ArrayLike) -> str:
    """An array in one line, not too long a one."""
    text = " ".join(np.array2string(np.asarray(values), precision=4, threshold=20).split())
    return text if len(text) <= 160 else f"{text[:157]}..."
