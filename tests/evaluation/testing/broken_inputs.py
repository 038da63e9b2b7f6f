"""Classifiers that stumble over odd sets, or repair bad ones on the quiet."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
from tests.evaluation.testing.sound import NearestMean, caught_by


@caught_by("kinds_of_arrays_do_not_matter")
class TakesFloat64Only(NearestMean):
    def _sets(self, X, method, n_features=None):
        if any(getattr(vectors, "dtype", None) == np.float32 for vectors in X):
            raise TypeError("float64 only")
        return super()._sets(X, method, n_features)


@caught_by("kinds_of_labels_do_not_matter")
class WantsAnArrayOfLabels(NearestMean):
    def _labels(self, y, n_sets):
        return super()._labels(y.ravel(), n_sets)


@caught_by("odd_sets_get_an_answer")
class DividesByTheSpread(NearestMean):
    def _score(self, vectors):
        return super()._score(vectors) / vectors.std(axis=0).max()


@caught_by("odd_sets_get_an_answer")
class NeedsSpreadInTheGallery(NearestMean):
    def fit(self, X, y):
        if any(np.std(vectors, axis=0).max() == 0 for vectors in self._sets(X, "fit")):
            raise np.linalg.LinAlgError("SVD did not converge")
        return super().fit(X, y)


@caught_by("whole_numbers_and_booleans_get_an_answer")
class AddsUpBytes(NearestMean):
    def _sets(self, X, method, n_features=None):
        if any(getattr(vectors, "dtype", None) == np.uint8 for vectors in X):
            X = [vectors + vectors for vectors in X]
        return super()._sets(X, method, n_features)


@caught_by("extreme_values_are_answered_or_refused")
class TakesFourthPowers(NearestMean):
    def _score(self, vectors):
        with np.errstate(over="ignore"):
            return super()._score(vectors) * (1 + np.abs(vectors).max() ** 4)


def repairing(repair, repair_labels=None):
    """Make of bad input something that passes the gate, and say nothing."""

    class RepairsOnTheQuiet(NearestMean):
        def fit(self, X, y):
            return super().fit(X, y if repair_labels is None else repair_labels(y))

        def _sets(self, X, method, n_features=None):
            return super()._sets(repair(X), method, n_features)

    return RepairsOnTheQuiet


def each(repair):
    return lambda X: [repair(vectors) for vectors in X] if isinstance(X, list) else X


def same(X):
    return X


def turned(vectors):
    shape = np.shape(vectors)
    return vectors.T if len(shape) == 2 and shape[1] != 20 and shape[0] == 20 else vectors


def padded(vectors):
    if not isinstance(vectors, list):
        return vectors
    return np.ones((2, 20))


for name, broken in (
    (
        "bad_sets_are_refused",
        repairing(each(lambda v: np.pad(v, ((0, 0), (0, 20 - v.shape[1]))))),
    ),
    ("bad_sets_are_refused", repairing(each(turned))),
    ("bad_sets_are_refused", repairing(each(np.nan_to_num))),
    ("bad_sets_are_refused", repairing(each(lambda v: v if np.size(v) else np.ones((1, 20))))),
    ("bad_sets_are_refused", repairing(each(np.atleast_2d))),
    ("bad_sets_are_refused", repairing(each(lambda v: np.asarray(v).astype(float)))),
    ("bad_sets_are_refused", repairing(each(padded))),
    ("bad_sets_are_refused", repairing(each(lambda v: v.toarray() if sp.issparse(v) else v))),
    ("bad_collections_are_refused", repairing(lambda X: X or [np.ones((1, 20))] * 2)),
    (
        "bad_collections_are_refused",
        repairing(lambda X: [X[:3], X[3:]] if getattr(X, "ndim", 3) == 2 else X),
    ),
    (
        "bad_collections_are_refused",
        repairing(lambda X: [*X.values(), np.ones((1, 20))] if isinstance(X, dict) else X),
    ),
    ("bad_labels_are_refused", repairing(same, lambda y: [*y[:-1], 99])),
    ("bad_labels_are_refused", repairing(same, lambda y: np.resize(y, 9))),
    ("bad_labels_are_refused", repairing(same, lambda y: range(9) if y is None else y)),
    ("bad_labels_are_refused", repairing(same, np.round)),
):
    caught_by(name)(broken)


@caught_by("bad_sets_are_refused")
class LeavesItToLapack(NearestMean):
    def _sets(self, X, method, n_features=None):
        if not all(np.isfinite(vectors).all() for vectors in X):
            raise np.linalg.LinAlgError("SVD did not converge")
        return super()._sets(X, method, n_features)


@caught_by("bad_sets_are_refused")
class NamesNoSet(NearestMean):
    def _sets(self, X, method, n_features=None):
        if len({vectors.shape[1] for vectors in X}) > 1:
            raise ValueError(f"NamesNoSet.{method}: expected equal numbers, not 7 and 20")
        return super()._sets(X, method, n_features)
