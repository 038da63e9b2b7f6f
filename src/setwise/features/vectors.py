"""Vectors to vectors: unit norm, any transformer of rows; closest pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from setwise._support.parameters import refuse
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.sets import SetBatch, check_sets


def unit_rows(vectors: FloatArray) -> FloatArray:
    """Scale every row to unit norm, whatever its size; zero rows stay zero.

    Examples
    --------
    >>> import numpy as np
    >>> unit_rows(np.array([[3e-200, 4e-200], [0, 0]])).tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    vectors = vectors if vectors.dtype.kind == "f" else np.asarray(vectors, dtype=np.float64)
    about = np.finfo(vectors.dtype)
    with np.errstate(over="ignore", under="ignore"):
        squares = np.einsum("ij,ij->i", vectors, vectors)
    is_exact = (squares > about.tiny / about.eps) & (squares < about.max)
    units = vectors / np.sqrt(np.where(is_exact, squares, 1.0), dtype=vectors.dtype)[:, None]
    for i in np.flatnonzero(~is_exact):  # zero, or of squares that a float does not hold
        scaled = vectors[i] / (np.abs(vectors[i]).max() or 1.0)
        units[i] = scaled / (np.linalg.norm(scaled) or 1.0)
    return units


@dataclass(frozen=True)
class Pair:
    """A vector of a set, and a similar one of another set."""

    vector: int  # of the set in question
    set: int  # the other set
    other: int  # of its vectors
    distance: float  # of both as unit vectors


def nearest_pairs(vectors: FloatArray, sets: SetBatch, most: int) -> list[Pair]:
    """The ``most`` closest pairs of a set's vectors and those of others, as unit vectors."""
    from sklearn.metrics.pairwise import euclidean_distances

    if len(sets) == 0 or len(vectors) == 0:
        return []
    distances = euclidean_distances(unit_rows(vectors), unit_rows(sets.vectors))
    pairs = []
    for vector, row in closest_pairs(distances, most):
        place = int(np.searchsorted(sets.offsets, row, side="right")) - 1
        other = row - int(sets.offsets[place])
        pairs.append(Pair(vector, place, other, float(distances[vector, row])))
    return pairs


def closest_pairs(distances: FloatArray, most: int) -> list[tuple[int, int]]:
    """The closest pairs, each row once, and each column once while others are left."""
    rows_left = distances.astype(np.float64)
    both_left = rows_left.copy()
    pairs: list[tuple[int, int]] = []
    while len(pairs) < min(most, len(distances)):
        left = both_left if np.isfinite(both_left).any() else rows_left
        row, column = map(int, np.unravel_index(left.argmin(), left.shape))
        pairs.append((row, column))
        rows_left[row] = both_left[row] = np.inf
        both_left[:, column] = np.inf
    return sorted(pairs, key=lambda pair: (distances[pair], pair))


class PerVector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Apply a transformer of rows to every vector of every set, fitted to all of them together.

    Sets in, a :class:`setwise.SetBatch` with their names and labels out; a 2-D array in, an
    array out. A transformer that subtracts the mean, such as PCA, puts two classes on opposite
    sides of the origin, which subspaces do not tell apart; ``TruncatedSVD`` leaves the origin.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Such as ``PCA(50)``. A copy, ``transformer_``, is fitted, to labels if it learns from
        them.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> PerVector(PCA(2)).fit_transform([np.eye(5)[:3], np.eye(5)[2:]])
    SetBatch of 2 sets of 3 to 3 vectors, 2 features
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer to all vectors; ``y`` has a label per set (row, of an array)."""
        if not (hasattr(self.transformer, "fit") and hasattr(self.transformer, "transform")):
            expected = "a scikit-learn transformer, such as PCA(50)"
            refuse("PerVector", "transformer", expected, self.transformer)
        batch, labels = _vectors(X), y
        if y is not None and not _is_one_set(X):
            labels, n_sets = np.asarray(y), len(batch)
            if labels.shape != (n_sets,):
                expected = f"one label for each of the {n_sets} sets"
                reject(
                    f"PerVector: y must hold {expected}, got an array of shape {labels.shape}."
                )
            labels = np.repeat(labels, batch.sizes)
        self.n_features_in_ = batch.n_features
        self.transformer_ = self._attempt("fit", clone(self.transformer).fit, batch, labels)
        return self

    def transform(self, X: Any) -> Any:
        """Transform all vectors."""
        check_is_fitted(self)
        batch = _vectors(X, self.n_features_in_)
        made = self._attempt("transform", self.transformer_.transform, batch)
        rows = self._checked(made, len(batch.vectors))
        return rows if _is_one_set(X) else batch.replaced(vectors=rows, image_shape=None)

    def _attempt(self, verb: str, work: Any, batch: SetBatch, *labels: Any) -> Any:
        try:
            return work(batch.vectors, *labels)
        except ValueError as error:
            what = f"{len(batch.vectors)} vectors of {batch.n_features} features"
            reject(f"PerVector: {self.transformer!r} could not {verb} {what}: {error}", error)

    def _checked(self, made: Any, n_vectors: int) -> FloatArray:
        rows = np.asarray(made)
        is_fine = rows.ndim == 2 and len(rows) == n_vectors and rows.dtype.kind in "biuf"
        if not is_fine or not np.isfinite(rows).all():
            reject(
                f"PerVector: {self.transformer!r} made {type(made).__name__} of shape "
                f"{rows.shape} and dtype {rows.dtype} of {n_vectors} vectors. Expected a dense "
                "array of finite numbers, one row for each vector."
            )
        return rows.astype(np.float64, copy=False)


def _is_one_set(X: Any) -> bool:
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype != object


def _vectors(X: Any, n_features: int | None = None) -> SetBatch:
    sets = [X] if _is_one_set(X) else X
    return check_sets(sets, caller="PerVector", n_features=n_features)
