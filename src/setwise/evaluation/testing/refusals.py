"""Checks of mistakes: each gets one error that says who complains, of what, and why."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from setwise._support.types import FloatArray
from setwise.evaluation.testing.data import easy_problem
from setwise.evaluation.testing.expect import fresh, methods_of, refusal, require
from setwise.evaluation.testing.registry import check

WHAT_IS_WANTED = r"[Ee]xpected|\bmust\b|\brequires\b|\bbut (set|the gallery)\b"


def _good() -> FloatArray:
    """A set that nobody would refuse."""
    return easy_problem().probes[0]


def _with(value: float) -> FloatArray:
    vectors = _good()
    vectors[2, 3] = value
    return vectors


def _refusals(classifier: Any, X: Any, labels: Any, what: str) -> Iterator[tuple[str, str]]:
    """Every way in, and the message with which it refuses ``X``."""
    problem = easy_problem()
    fitted = fresh(classifier).fit(problem.gallery, problem.labels)
    yield "fit", refusal(lambda: fresh(classifier).fit(X, labels), f"fit: {what}")
    for method in methods_of(fitted):
        ask = getattr(fitted, method)
        yield method, refusal(lambda ask=ask: ask(X), f"{method}: {what}")  # type: ignore[misc]


def _require_clear(message: str, method: str, what: str) -> None:
    """Fail unless a message is one line with who complains and what was expected."""
    complaint = f"{what} is refused with {message!r}"
    require(
        re.search(rf"\w\.{method}: ", message),
        f"{complaint}, without its owner, such as X.{method}: .",
    )
    require(re.search(WHAT_IS_WANTED, message), f"{complaint}, without what was expected.")
    require("\n" not in message, f"{complaint}, in more than one line.")


def _require_set_refused(classifier: Any, bad: Any, what: str, *hints: str) -> None:
    """Fail unless a set among good ones is refused by its place, wherever it comes in."""
    problem = easy_problem()
    X = [problem.gallery[0], bad, *problem.gallery[2:]]
    for method, message in _refusals(classifier, X, problem.labels, what):
        _require_clear(message, method, what)
        for hint in ("set 1", *hints):
            require(hint in message, f"{what} is refused with {message!r}: no {hint!r} in it.")


def _require_all_refused(classifier: Any, X: Any, what: str) -> None:
    """Fail unless something that is no list of sets is refused, wherever it comes in."""
    for method, message in _refusals(classifier, X, [0, 1], what):
        _require_clear(message, method, what)


@check()
def wrong_number_of_features_is_refused(classifier: Any) -> None:
    """A set with other features than the gallery's is refused with both numbers."""
    _require_set_refused(classifier, _good()[:, :7], "a set of 7 features", "7", "20")


@check()
def transposed_set_is_refused(classifier: Any) -> None:
    """A set with vectors in columns is refused with the advice to transpose it."""
    _require_set_refused(classifier, _good().T, "a transposed set", ".T")


@check()
def nan_and_inf_are_refused(classifier: Any) -> None:
    """Values that are not finite are refused, never repaired on the quiet."""
    for value in (np.nan, np.inf, -np.inf):
        _require_set_refused(classifier, _with(value), f"a set with {value}")


@check()
def empty_sets_are_refused(classifier: Any) -> None:
    """A set without vectors, or of vectors without features, is refused."""
    _require_set_refused(classifier, np.empty((0, 20)), "a set without vectors")
    _require_set_refused(classifier, np.empty((4, 0)), "a set without features")


@check()
def arrays_of_other_dimensions_are_refused(classifier: Any) -> None:
    """A flat vector, a stack of images and a number are no sets."""
    good = _good()
    for what, bad in {
        "a flat vector": good[0],
        "a stack of images": good.reshape(len(good), 4, 5),
        "a number": 3.0,
        "None": None,
    }.items():
        _require_set_refused(classifier, bad, f"{what} for a set")


@check()
def what_is_no_number_is_refused(classifier: Any) -> None:
    """Strings, complex numbers, dates and Python objects are not converted on the quiet."""
    good = _good()
    for what, bad in {
        "strings": good.astype(str),
        "complex numbers": good + 0j,
        "dates": good.astype("datetime64[s]"),
        "Python objects": good.astype(object),
    }.items():
        _require_set_refused(classifier, bad, f"a set of {what}")


@check()
def ragged_sets_are_refused(classifier: Any) -> None:
    """A set whose vectors differ in length is refused."""
    _require_set_refused(classifier, [[1.0, 2.0], [3.0]], "a ragged set")


@check()
def sparse_sets_are_refused(classifier: Any) -> None:
    """Sparse matrices, as one set and as all, are refused rather than made dense."""
    sparse = sp.csr_array(_good())
    _require_set_refused(classifier, sparse, "a sparse set")
    _require_all_refused(classifier, sparse, "a sparse matrix for the sets")


@check()
def no_sets_at_all_are_refused(classifier: Any) -> None:
    """An empty list is refused."""
    _require_all_refused(classifier, [], "an empty list")


@check()
def one_array_of_rows_is_refused(classifier: Any) -> None:
    """A 2-D array is refused: it may be one set, or many of one vector each."""
    _require_all_refused(classifier, _good(), "a 2-D array")


@check()
def what_is_no_collection_is_refused(classifier: Any) -> None:
    """A string, a number, a dict, a flat array and None are no lists of sets."""
    for X in ("albums/", 5, {"anna": _good()}, _good()[0], None):
        _require_all_refused(classifier, X, f"a {type(X).__name__} for the sets")


def _require_labels_refused(classifier: Any, labels: Any, what: str) -> None:
    gallery = easy_problem().gallery
    message = refusal(lambda: fresh(classifier).fit(gallery, labels), what)
    _require_clear(message, "fit", what)


@check()
def single_class_is_refused(classifier: Any) -> None:
    """With one class there is nothing to tell apart."""
    _require_labels_refused(classifier, [1] * 9, "a gallery of one class")


@check()
def wrong_number_of_labels_is_refused(classifier: Any) -> None:
    """More or fewer labels than sets, or a table of them, are refused."""
    for labels in ([0, 1], [0, 1] * 5, np.zeros((9, 2))):
        _require_labels_refused(classifier, labels, f"labels of shape {np.shape(labels)}")


@check()
def missing_labels_are_refused(classifier: Any) -> None:
    """Labels that are None or NaN, one or all, are refused."""
    for labels in (None, [None, *range(8)], [np.nan, *range(8)]):
        _require_labels_refused(classifier, labels, f"labels {labels}")


@check()
def continuous_labels_are_refused(classifier: Any) -> None:
    """Labels with fractions are a target of regression."""
    _require_labels_refused(classifier, np.linspace(0, 1, 9), "labels with fractions")
