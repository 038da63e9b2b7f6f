"""The one gate for sets and labels: behind it, all are checked, and vectors finite."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

from setwise._support.types import Array, BoolArray, FloatArray, IntArray
from setwise.errors import reject
from setwise.sets.batch import SetBatch, default_names
from setwise.sets.labels import as_identifiers, is_missing, unique_identifiers

_EXPECTED = "Expected a list of (n_vectors, n_features) arrays, one per set"


def check_sets(
    X: Any,
    *,
    caller: str = "check_sets",
    n_features: int | None = None,
    is_compact: bool = False,
) -> SetBatch:
    """Validate sets in any accepted form and return them as one float64 batch.

    Parameters
    ----------
    X : SetBatch, sequence of 2-D arrays, or 3-D array
        Sets; a 3-D array is sets of equal size. Never modified.
    caller : str
        For messages.
    n_features : int, optional
        Required number of features; by default that of the first set.
    is_compact : bool
        Whether bytes and single precision stay, where all sets have the same type.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.sets import check_sets
    >>> check_sets([np.eye(4)[:3], np.ones((5, 4))]).sizes
    array([3, 5])
    """
    if isinstance(X, SetBatch):
        arrays: list[Any] = list(X)
        names = X.names
    else:
        arrays = _as_list(X, caller)
        names = default_names(len(arrays))
    if not arrays:
        reject(f"{caller}: no sets given (an empty list). {_EXPECTED}.")
    checked = [_check_set(a, names[i], caller) for i, a in enumerate(arrays)]
    _check_features(checked, names, caller, n_features)
    # One copy in double precision, filled set by set: images come as bytes, an eighth of it.
    offsets = np.concatenate([[0], np.cumsum([len(vectors) for vectors in checked])])
    dtype = _compact_type(checked) if is_compact else np.dtype(np.float64)
    everything = np.empty((offsets[-1], checked[0].shape[1]), dtype)
    for vectors, name, start in zip(checked, names, offsets, strict=False):
        of_set = everything[start : start + len(vectors)]
        # Longer floats are cut and ints rounded; what is too long for a double becomes inf.
        with np.errstate(over="ignore"):
            of_set[:] = vectors
        _check_values(of_set, f"{caller}: {name}")
    if isinstance(X, SetBatch):
        return X.replaced(vectors=everything, offsets=offsets)
    return SetBatch(everything, offsets, names)


def _compact_type(sets: list[Array]) -> np.dtype[Any]:
    types = {vectors.dtype for vectors in sets}
    alone = types.pop()
    is_small = alone in (np.dtype(np.uint8), np.dtype(np.float32))
    return alone if is_small and not types else np.dtype(np.float64)


def check_labels(
    y: Any, n_sets: int, *, caller: str, min_classes: int = 2
) -> tuple[Array, IntArray]:
    """Validate one label per set; return the sorted classes and each set's class code.

    Examples
    --------
    >>> from setwise.sets import check_labels
    >>> check_labels(["bert", "anna", "bert"], 3, caller="mine")
    (array(['anna', 'bert'], dtype='<U4'), array([1, 0, 1]))
    """
    expected = f"one label for each of the {n_sets} sets"
    if y is None:
        what = "requires y to be passed, but the target y is None"
        reject(f"{caller}: {what}. Expected {expected}.")
    labels = as_identifiers(y, f"{caller}: y")
    if labels.ndim == 2 and labels.shape[1] == 1:
        from sklearn.utils import column_or_1d

        labels = column_or_1d(labels, warn=True)
    if labels.ndim != 1 or len(labels) != n_sets:
        reject(f"{caller}: y must hold {expected}, got an array of shape {labels.shape}.")
    _check_classes(labels, caller)
    classes, _, codes = unique_identifiers(labels, f"{caller}: labels")
    if len(classes) < min_classes:
        reject(
            f"{caller}: all {n_sets} sets have the label {classes.tolist()[0]!r}: there is "
            "only one class. Expected at least two classes to tell apart."
        )
    return classes, codes


def check_some_labels(y: Any, n_sets: int, *, caller: str) -> tuple[Array, IntArray]:
    """As :func:`check_labels`, where some sets are unlabelled; their code is -1.

    Unlabelled sets are marked as in scikit-learn: -1 among integers, None among strings. -1
    and one other number are two classes.

    Examples
    --------
    >>> from setwise.sets import check_some_labels
    >>> check_some_labels(["bert", None, "anna"], 3, caller="mine")
    (array(['anna', 'bert'], dtype='<U4'), array([ 1, -1,  0]))
    """
    is_unlabelled = _is_unlabelled(y, n_sets, caller)
    if not is_unlabelled.any():
        return check_labels(y, n_sets, caller=caller)
    kept = as_identifiers(y, caller)[~is_unlabelled]
    if kept.dtype == object:
        kept = kept.tolist()
    classes, known = check_labels(kept, int((~is_unlabelled).sum()), caller=caller)
    codes = np.full(n_sets, -1, dtype=np.int64)
    codes[~is_unlabelled] = known
    return classes, codes


def _is_unlabelled(y: Any, n_sets: int, caller: str) -> BoolArray:
    """Sets marked as unlabelled; none where -1 and one other number are two classes."""
    nothing = np.zeros(n_sets, dtype=np.bool_)
    if y is None:
        return nothing
    labels = as_identifiers(y, f"{caller}: y")
    if labels.shape != (n_sets,):
        return nothing
    if labels.dtype.kind == "i":
        marked: BoolArray = labels == -1
        return marked if len(np.unique(labels[~marked])) > 1 else nothing
    if labels.dtype != object or not all(isinstance(one, str | type(None)) for one in labels):
        return nothing
    return np.array([label is None for label in labels], dtype=np.bool_)


def _check_classes(labels: Array, caller: str) -> None:
    """Refuse labels that are missing, infinite or continuous."""
    if labels.dtype.kind in "fc" and not np.isfinite(labels).all():
        i = int(np.isfinite(labels).argmin())
        reject(f"{caller}: label {i} is {labels[i]}. Expected a class; NaN and inf are none.")
    if labels.dtype.kind == "f" and (labels != np.floor(labels)).any():
        what = f"Unknown label type: y is continuous ({labels[0]}, ...)"
        reject(f"{caller}: {what}. Expected classes: integers or strings.")
    missing = np.flatnonzero(is_missing(labels))
    if len(missing):
        what = f"label {missing[0]} is missing ({labels[missing[0]]})"
        expected = "a class for every gallery set; unlabelled sets go to predict"
        reject(f"{caller}: {what}. Expected {expected}.")


def _as_list(X: Any, caller: str) -> list[Any]:
    """Sets as a list; anything that cannot be a sequence of sets is refused."""
    advice, what = "", f"{type(X).__name__} was given"
    if sp.issparse(X):
        what, advice = "a sparse matrix was given", "; make each set dense with `.toarray()`"
    elif hasattr(X, "to_numpy") and hasattr(X, "columns"):
        what = "a data frame was given"
        advice = "; use SetBatch.from_frame(frame, set=..., label=...)"
    elif isinstance(X, np.ndarray) and (X.dtype != object or X.ndim == 0):
        if X.ndim == 3:
            return list(X)
        what = f"a {X.ndim}-D array was given"
        if X.ndim == 2:
            what = f"a single 2-D array of shape {X.shape} was given"
            advice = ". Is it one set? Wrap it: [X]. Is every row a set of its own? "
            advice += "SetBatch.from_rows(X)"
        elif X.ndim > 3:
            advice = ". Images? Make them a batch: SetBatch.from_images(X)"
    elif not isinstance(X, str | bytes | dict) and hasattr(X, "__iter__"):
        return list(X)
    return reject(f"{caller}: {what}. {_EXPECTED}{advice}.")


def _check_set(array: Any, name: str, caller: str) -> Array:
    """One set as an array of real numbers of shape (at least 1, at least 1)."""
    who = f"{caller}: {name}"
    if sp.issparse(array):
        reject(f"{who} is a sparse matrix. Expected a dense array; use `.toarray()`.")
    if np.ma.is_masked(array):
        advice = "drop the vector or use `.filled(...)`"
        reject(f"{who} has masked values. Expected a value everywhere: {advice}.")
    try:
        vectors = np.asarray(array)
    except ValueError:
        expected = "vectors of equally many features: bring all to one size first"
        reject(f"{who} is ragged. Expected {expected}.")
    if vectors.ndim != 2:
        advice = "Images? Make them a batch: SetBatch.from_images(sets)."
        if vectors.ndim < 2:
            advice = "A single vector is a set too: write x.reshape(1, -1)."
        if vectors.ndim == 0:
            advice = "Is X itself one set? Wrap it: [X]."
        what = f"{who} has shape {vectors.shape}"
        reject(f"{what}. Expected 2-D, (n_vectors, n_features). {advice}")
    if vectors.dtype.kind not in "biuf":
        reject(
            f"{who} holds {_kind(vectors)} (dtype {vectors.dtype}). Expected real numbers; "
            "convert it with `.astype(float)` if that is what they are."
        )
    if 0 in vectors.shape:
        what = "vectors" if vectors.shape[0] == 0 else "features"
        reject(
            f"{who} has no {what} (shape {vectors.shape}). Expected at least one vector of "
            "at least one feature; leave the set out."
        )
    return vectors


def _check_values(vectors: FloatArray, who: str) -> None:
    is_finite = np.isfinite(vectors)
    if not is_finite.all():
        row, column = np.argwhere(~is_finite)[0]
        value = "NaN" if np.isnan(vectors[row, column]) else "inf"
        reject(
            f"{who} contains {value} (vector {row}, feature {column}; {(~is_finite).sum()} "
            "such values). Expected finite numbers: drop the vector or fill the value."
        )
    largest = float(np.abs(vectors).max())
    if largest == 0:
        what = f"{who} holds nothing but zeros ({len(vectors)} vectors)"
        expected = "at least one vector with a direction; leave the set out"
        reject(f"{what}. Expected {expected}.")
    if not 1e-150 < largest < 1e150:
        what = "overflow" if largest > 1 else "underflow"
        expected = "magnitudes between 1e-150 and 1e150: rescale the features"
        reject(
            f"{who} has values up to {largest:.3g}, whose squares {what}. Expected {expected}."
        )


def _check_features(
    sets: list[Array], names: tuple[str, ...], caller: str, n_features: int | None
) -> None:
    expected = sets[0].shape[1] if n_features is None else n_features
    source = f"{names[0]} has" if n_features is None else "the gallery has"
    for vectors, name in zip(sets, names, strict=True):
        if vectors.shape[1] != expected:
            advice = "All sets must come from the same features."
            if vectors.shape[0] == expected:
                advice = "Is it transposed? Pass `.T`."
            what = f"{name} has {vectors.shape[1]} features (shape {vectors.shape})"
            reject(f"{caller}: {what}, but {source} {expected}. {advice}")


def _kind(vectors: Array) -> str:
    kinds = {"c": "complex numbers", "O": "Python objects", "U": "strings", "S": "bytes"}
    return kinds.get(vectors.dtype.kind, "something other than numbers")
