"""Small problems that any classifier should solve, and assertions about its answers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from setwise._support.types import FloatArray, IntArray

Answers: TypeAlias = Mapping[str, npt.NDArray[Any]]
METHODS = ("predict", "predict_proba", "decision_function")


def separable_sets(
    seed: int = 0,
    *,
    n_classes: int = 3,
    n_sets: int = 3,
    n_vectors: tuple[int, int] = (6, 11),
    n_features: int = 20,
    n_dims: int = 3,
    noise: float = 0.1,
) -> tuple[list[FloatArray], IntArray]:
    """Make sets whose classes differ in mean and in subspace, with their labels.

    With the default noise every sensible method labels them all rightly; with more, such as
    1.5, classes overlap.

    Parameters
    ----------
    seed, n_classes, n_sets, n_features : int
        ``n_sets`` is the number of sets of each class.
    n_vectors : tuple of int
        Fewest and most vectors of a set.
    n_dims : int
        Dimensions of the subspace in which a class varies.
    noise : float
        Standard deviation of the noise in each feature; the signal's is about 2.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets(0, n_classes=2, n_sets=2)
    >>> labels.tolist(), sets[0].shape[1]
    ([0, 0, 1, 1], 20)
    """
    rng = np.random.default_rng(seed)
    subspaces = rng.standard_normal((n_classes, n_dims, n_features))
    means = 2 * rng.standard_normal((n_classes, n_features))
    labels = np.repeat(np.arange(n_classes), n_sets)
    sets = []
    for label in labels:
        n = rng.integers(*n_vectors, endpoint=True)
        inside = rng.standard_normal((n, n_dims)) @ subspaces[label] + means[label]
        sets.append(inside + noise * rng.standard_normal((n, n_features)))
    return sets, labels


@dataclass(frozen=True)
class Problem:
    """Gallery sets with their labels, and probes with theirs."""

    gallery: list[FloatArray]
    labels: IntArray
    probes: list[FloatArray]
    truth: IntArray

    def in_order(self, order: Any) -> Problem:
        """The same with the gallery in another order, or some of it."""
        gallery = [self.gallery[i] for i in order]
        return replace(self, gallery=gallery, labels=self.labels[list(order)])

    def named(self, names: npt.NDArray[Any]) -> Problem:
        """The same with names for the classes."""
        return replace(self, labels=names[self.labels], truth=names[self.truth])

    def changed(self, change: Callable[[FloatArray], FloatArray]) -> Problem:
        """The same with every set changed."""
        gallery, probes = ([change(v) for v in sets] for sets in (self.gallery, self.probes))
        return replace(self, gallery=gallery, probes=probes)


def easy_problem(*, seed: int = 0, n_sets: int = 3, **options: Any) -> Problem:
    """``n_sets`` gallery sets and two probes of each class, easily told apart."""
    sets, labels = separable_sets(seed, n_sets=n_sets + 2, **options)
    is_probe = np.arange(len(sets)) % (n_sets + 2) >= n_sets
    gallery, probes = ([sets[i] for i in np.flatnonzero(s)] for s in (~is_probe, is_probe))
    return Problem(gallery, labels[~is_probe], probes, labels[is_probe])


def hard_problem() -> Problem:
    """Overlapping classes, whose close answers show small differences."""
    return easy_problem(seed=1, noise=1.5)


def require(condition: object, message: str) -> None:
    """Fail with a message unless something holds."""
    if not condition:
        raise AssertionError(message)


def require_equal(found: npt.ArrayLike, expected: npt.ArrayLike, what: str) -> None:
    """Fail unless two arrays are equal in values and shape."""
    is_equal = np.array_equal(np.asarray(found), np.asarray(expected))
    require(is_equal, f"{what}: expected {_short(expected)} but got {_short(found)}")


def require_same(
    found: Answers, expected: Answers, what: str, tolerance: float = 1e-12
) -> None:
    """Fail unless labels are equal, and numbers equal up to a share of the largest."""
    require_equal(found["predict"], expected["predict"], f"labels {what}")
    for method in sorted(set(expected) - {"predict"}):
        one, other = np.asarray(found[method]), np.asarray(expected[method])
        shown = f"{method} {what}: expected"
        require(one.shape == other.shape, f"{shown} shape {other.shape}, got {one.shape}.")
        largest = np.abs(other[np.isfinite(other)]).max(initial=0.0)
        is_close = np.isclose(one, other, rtol=0.0, atol=tolerance * largest)
        for i in map(tuple, np.argwhere(~is_close).tolist()):
            require(False, f"{shown} {other[i]!r} at {i}, got {one[i]!r}.")


def require_valid(fitted: Any, sets: Any, what: str) -> None:
    """Fail unless sets get known labels, finite scores and a distribution over the classes."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        found = answers(fitted, sets)
    labels, scores = found["predict"], found.get("decision_function", 0.0)
    require(np.shape(labels) == (len(sets),), f"{what}: predict has shape {np.shape(labels)}.")
    require(np.isin(labels, fitted.classes_).all(), f"{what}: {_short(labels)} are no classes.")
    require(np.isfinite(scores).all(), f"{what}: decision_function gives {_short(scores)}.")
    if "predict_proba" in found:
        proba, shown = found["predict_proba"], f"{what}: predict_proba"
        is_table = np.shape(proba) == (len(sets), len(fitted.classes_))
        require(is_table, f"{shown} has shape {np.shape(proba)}.")
        require(np.isfinite(proba).all(), f"{shown} gives {_short(proba)}.")
        require(np.min(proba) >= 0, f"{shown} is negative: {_short(proba)}.")
        error = np.abs(np.sum(proba, axis=1) - 1).max()
        require(error <= 1e-12, f"{shown} sums to one only up to {error:.2g}.")


def raised(call: Callable[[], object]) -> Exception | None:
    """The exception of a call; None if it raises none."""
    try:
        call()
    except Exception as error:
        return error
    return None


def refusal(call: Callable[[], object], what: str) -> str:
    """The message of the ValueError that must be raised."""
    error = raised(call)
    if isinstance(error, ValueError):
        return str(error)
    found = f"gave {type(error).__name__} ({error})" if error else "was accepted"
    msg = f"{what} {found}. Expected a ValueError, such as setwise.errors.DataError."
    raise AssertionError(msg) from error


def fresh(classifier: Any, seed: int = 0, **parameters: Any) -> Any:
    """An unfitted copy with fixed seeds."""
    copy = clone(classifier)
    names = (n for n in copy.get_params() if n.split("__")[-1] == "random_state")
    return copy.set_params(**dict.fromkeys(names, seed) | parameters)


def fit(classifier: Any, problem: Problem, **parameters: Any) -> Any:
    """A copy that is fitted to the gallery of a problem."""
    return fresh(classifier, **parameters).fit(problem.gallery, problem.labels)


def methods_of(classifier: Any) -> list[str]:
    """The prediction methods of a classifier."""
    return [method for method in METHODS if hasattr(classifier, method)]


def answers(fitted: Any, sets: Any) -> dict[str, npt.NDArray[Any]]:
    """Results of all prediction methods."""
    return {method: getattr(fitted, method)(sets) for method in methods_of(fitted)}


def _short(values: npt.ArrayLike) -> str:
    text = " ".join(np.array2string(np.asarray(values), precision=4, threshold=20).split())
    return text if len(text) <= 160 else f"{text[:157]}..."
