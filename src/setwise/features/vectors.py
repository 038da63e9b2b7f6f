"""Any scikit-learn transformer of rows, on all vectors of all sets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.utils.validation import check_is_fitted

from setwise._support.parameters import refuse
from setwise._support.types import FloatArray
from setwise.errors import DataError, reject
from setwise.sets import SetBatch, check_sets

__all__ = ["PerVector"]


class PerVector(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Apply a transformer of rows to every vector of every set.

    It is fitted once, to the vectors of all sets together. Sets in, a
    :class:`setwise.SetBatch` with their names and labels out; a single 2-D array in, an array
    out.

    Parameters
    ----------
    transformer : scikit-learn transformer
        Such as ``PCA(50)`` or ``StandardScaler()``. A copy is fitted. One that learns from
        labels is given each vector's, that of its set.

    Attributes
    ----------
    transformer_ : transformer
        The fitted copy.
    n_features_in_ : int
        Length of the vectors it was fitted to.

    Notes
    -----
    What subtracts the mean of all vectors, as PCA does, puts two classes on opposite sides of
    the origin, and subspaces do not tell a vector from its opposite. ``TruncatedSVD`` makes
    vectors shorter and leaves the origin where it is.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.decomposition import PCA
    >>> sets = [np.eye(5)[:3], np.eye(5)[2:]]
    >>> PerVector(PCA(2)).fit_transform(sets)
    SetBatch of 2 sets of 3 to 3 vectors, 2 features
    """

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any, y: Any = None) -> Self:
        """Fit the transformer to all vectors.

        Parameters
        ----------
        X : SetBatch, sequence of 2-D arrays, or 2-D array
            Sets, or the vectors of one.
        y : array, optional
            One label per set; of a 2-D array, one per row.
        """
        if not (hasattr(self.transformer, "fit") and hasattr(self.transformer, "transform")):
            expected = "a scikit-learn transformer, such as PCA(50)"
            refuse("PerVector", "transformer", expected, self.transformer)
        batch = _vectors(X)
        labels = y
        if y is not None and not _is_one_set(X):
            labels = np.repeat(_one_each(y, len(batch)), batch.sizes)
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
            msg = (
                f"PerVector: {self.transformer!r} could not {verb} {len(batch.vectors)} "
                f"vectors of {batch.n_features} features: {error}"
            )
            raise DataError(msg) from error

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


def _one_each(y: Any, n_sets: int) -> Any:
    labels = np.asarray(y)
    if labels.shape != (n_sets,):
        reject(
            f"PerVector: y must hold one label for each of the {n_sets} sets, got an array "
            f"of shape {labels.shape}."
        )
    return labels
