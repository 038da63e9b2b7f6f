"""Vectors to vectors: unit norm, whitening, any transformer of rows; closest pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from scipy import linalg
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted, validate_data

from setwise._support.parameters import check_not_negative, check_number, refuse
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.sets import SetBatch, check_sets

# Smallest of the eigenvalues of products of rows (or columns), relative to the largest, by
# which whitened vectors are within 1e-8 of those by singular values.
LEAST_OF_ROWS, LEAST_OF_COLUMNS = 1e-9, 1e-12
# Features up to which a matrix that whitens takes little memory.
MOST_MAPPED = 512


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


class Whitener(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Whiten vectors in part, so that shared directions hide differences less.

    Vectors are scaled to unit norm, the mean is subtracted, and every principal direction of
    variance ``v`` is multiplied by ``(v + shrinkage * mean variance) ** (-strength / 2)``.
    Directions without variance in the gallery are dropped: with few vectors of many features
    they would make up most of a new vector.

    Parameters
    ----------
    strength : float, default=0.5
        1 gives all directions equal variance, 0 changes none.
    shrinkage : float, default=0.1
        Share of the mean variance added to every direction; larger is gentler.

    Attributes
    ----------
    mean_ : array of shape (n_features,)
        Mean of the unit vectors.
    directions_ : array of shape (n_directions, n_features)
        Principal directions with any variance.
    gains_ : array of shape (n_directions,)
        Factor of each direction, relative to one without variance.

    Examples
    --------
    >>> import numpy as np
    >>> vectors = np.random.default_rng(0).normal(size=(200, 3)) * [9.0, 1.0, 1.0]
    >>> int(Whitener().fit(vectors).gains_.argmin())
    0
    """

    def __init__(self, strength: float = 0.5, shrinkage: float = 0.1) -> None:
        self.strength = strength
        self.shrinkage = shrinkage

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn mean and principal directions of the rows of ``X``."""
        check_not_negative("Whitener", "strength", self.strength)
        check_number("Whitener", "shrinkage", self.shrinkage)
        units = unit_rows(validate_data(self, X, dtype=np.float64))
        self.mean_: FloatArray = units.mean(axis=0)
        strengths, directions = _principal(units - self.mean_)
        variances = strengths**2 / len(units)
        floor = self.shrinkage * variances.sum() / units.shape[1]
        is_kept = strengths > strengths[0] * max(units.shape) * np.finfo(np.float64).eps
        self.directions_: FloatArray = directions[is_kept]
        # A common factor means nothing to unit vectors.
        relative = floor / (variances[is_kept] + floor)
        self.gains_: FloatArray = relative ** (self.strength / 2)
        self.__dict__.pop("_whitens", None)
        return self

    def transform(self, X: Any) -> FloatArray:
        """Whiten the rows of ``X`` and scale them to unit norm."""
        check_is_fitted(self)
        units = unit_rows(validate_data(self, X, dtype=np.float64, reset=False))
        centred = units - self.mean_
        if centred.shape[1] <= MOST_MAPPED:
            whitened = centred @ self._map()
        else:
            whitened = (centred @ self.directions_.T * self.gains_) @ self.directions_
        # What lies outside, or at the mean, leaves rounding, which is no direction.
        rounding = max(centred.shape[1], len(self.gains_)) * np.finfo(np.float64).eps
        whitened[np.einsum("ij,ij->i", whitened, whitened) <= rounding**2] = 0.0
        return unit_rows(whitened)

    def _map(self) -> FloatArray:
        """The matrix that whitens; of few features, it takes half as long as two of them."""
        made: FloatArray | None = self.__dict__.get("_whitens")
        if made is None:
            made = self._whitens = (self.directions_.T * self.gains_) @ self.directions_
        return made

    def __getstate__(self) -> dict[str, Any]:
        """All but what follows from the rest."""
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_whitens"}


def _principal(centred: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Singular values, the largest first, and right singular vectors of rows that sum to zero.

    By the eigenvectors of the smaller product, four times as fast as the decomposition, unless
    its rounding could be taken for a direction: eigenvalues are squares.
    """
    is_used = centred.any(axis=0)
    inner = centred if is_used.all() else centred[:, is_used]
    is_wide = len(inner) <= inner.shape[1]
    values, vectors = linalg.eigh(
        inner @ inner.T if is_wide else inner.T @ inner, driver="evd", check_finite=False
    )
    # Rows that sum to zero leave one direction without variance, and none of columns.
    n_zero, least = (1, LEAST_OF_ROWS) if is_wide else (0, LEAST_OF_COLUMNS)
    if len(values) <= n_zero or values[n_zero] <= least * values[-1]:
        return linalg.svd(centred, full_matrices=False)[1:]
    strengths = np.sqrt(values[n_zero:][::-1])
    found = vectors[:, n_zero:][:, ::-1].T
    directions = np.zeros((len(strengths), centred.shape[1]))
    directions[:, is_used] = (found @ inner) / strengths[:, None] if is_wide else found
    return strengths, directions


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
