"""SetBatch: many sets in one block of memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from setwise._support.types import Array, FloatArray, IntArray
from setwise.errors import reject
from setwise.sets.labels import as_identifiers, is_missing, unique_identifiers
from setwise.sets.origins import Origins
from setwise.sets.tables import read_frame


class SetBatch:
    """Many sets: flat vectors, where each set begins, and names.

    Behaves like a list of ``(n_vectors_i, n_features)`` arrays. Slicing or indexing with an
    array gives a batch again, so scikit-learn's splitters and searches work on it.

    Parameters
    ----------
    vectors : array of shape (n_vectors, n_features)
        All vectors of all sets, one set after the other.
    offsets : array of int, shape (n_sets + 1,)
        Set ``i`` is ``vectors[offsets[i]:offsets[i + 1]]``.
    names : sequence of str, optional
        Name of each set in messages and reports; its number by default.
    labels : array of shape (n_sets,), optional
        Class of each set, where the source knew it.
    image_shape : tuple of int, optional
        ``(height, width[, n_channels])`` of the images whose pixels the vectors are, row by
        row.
    origins : Origins, optional
        File, time and small picture of each vector, where they are known.

    Examples
    --------
    >>> import numpy as np
    >>> batch = SetBatch.from_groups(np.eye(3), ["a", "b", "a"])
    >>> len(batch), batch.names, batch[0].shape
    (2, ('a', 'b'), (2, 3))
    """

    def __init__(
        self,
        vectors: Array,
        offsets: IntArray,
        names: Sequence[str] | None = None,
        labels: Array | None = None,
        image_shape: tuple[int, ...] | None = None,
        origins: Origins | None = None,
    ) -> None:
        self.vectors = vectors
        self.offsets = np.asarray(offsets, dtype=np.int64)
        n_sets = len(self.offsets) - 1
        self.names = (
            default_names(n_sets) if names is None else tuple(str(name) for name in names)
        )
        self.labels = None if labels is None else np.asarray(labels)
        self.image_shape = None if image_shape is None else tuple(map(int, image_shape))
        self.origins = origins
        if origins is not None and len(origins) != len(vectors):
            reject(
                f"SetBatch: expected the origins of {len(vectors)} vectors, got {len(origins)}."
            )
        if self.image_shape is not None and np.prod(self.image_shape) != self.n_features:
            reject(
                f"SetBatch: vectors of {self.n_features} features cannot be images of shape "
                f"{self.image_shape}. Expected {int(np.prod(self.image_shape))} features."
            )
        for what, given in (("names", self.names), ("labels", self.labels)):
            if given is not None and len(given) != n_sets:
                reject(f"SetBatch: expected {n_sets} {what}, one per set, got {len(given)}.")

    @classmethod
    def from_list(
        cls,
        sets: Sequence[FloatArray],
        names: Sequence[str] | None = None,
        labels: Array | None = None,
        image_shape: tuple[int, ...] | None = None,
    ) -> SetBatch:
        """Stack 2-D arrays of equally many features; nothing is checked here."""
        offsets = np.concatenate([[0], np.cumsum([len(s) for s in sets])])
        return cls(np.concatenate(sets), offsets, names, labels, image_shape)

    @classmethod
    def from_images(
        cls,
        sets: Sequence[npt.ArrayLike],
        names: Sequence[str] | None = None,
        labels: Array | None = None,
    ) -> SetBatch:
        """Sets of images, ``(n_images_i, height, width[, n_channels])``, all of one shape."""
        caller, expected = "SetBatch.from_images", "(n_images, height, width)"
        try:
            arrays = [np.asarray(images) for images in sets]
        except ValueError:
            advice = f"Expected arrays of shape {expected}: bring them to one size first"
            reject(f"{caller}: images of a set differ in size. {advice}.")
        if not arrays:
            what = "no sets given (an empty list)"
            reject(f"{caller}: {what}. Expected arrays of shape {expected}.")
        called = default_names(len(arrays)) if names is None else list(names)
        for name, images in zip(called, arrays, strict=False):
            if images.ndim not in (3, 4) or images.shape[1:] != arrays[0].shape[1:]:
                reject(
                    f"{caller}: {name} has shape {images.shape}. Expected {expected} or "
                    "(n_images, height, width, n_channels), the images of all sets of one "
                    f"size; {called[0]} has {arrays[0].shape}."
                )
        rows = [images.reshape(len(images), -1) for images in arrays]
        return cls.from_list(rows, names, labels, arrays[0].shape[1:])

    @classmethod
    def join(cls, batches: Sequence[SetBatch]) -> SetBatch:
        """One batch after the other, without labels; default names are numbered on."""
        sizes = np.concatenate([batch.sizes for batch in batches])
        shapes = {batch.image_shape for batch in batches}
        n_vectors = [len(batch.vectors) for batch in batches]
        return cls(
            np.concatenate([batch.vectors for batch in batches]),
            np.concatenate([[0], np.cumsum(sizes)]),
            _joined_names([batch.names for batch in batches]),
            image_shape=shapes.pop() if len(shapes) == 1 else None,
            origins=Origins.join([batch.origins for batch in batches], n_vectors),
        )

    @classmethod
    def from_rows(cls, X: npt.ArrayLike, names: Sequence[str] | None = None) -> SetBatch:
        """Make every row of a 2-D array a set of its own."""
        vectors = _two_dimensional("SetBatch.from_rows", X)
        return cls(vectors, np.arange(len(vectors) + 1), names)

    @classmethod
    def from_groups(cls, X: npt.ArrayLike, groups: npt.ArrayLike) -> SetBatch:
        """Gather rows of equal group into sets of that name, in order of appearance."""
        caller = "SetBatch.from_groups"
        vectors = _two_dimensional(caller, X)
        ids = as_identifiers(groups, f"{caller}: groups")
        if ids.shape != (len(vectors),):
            expected = f"one id for each of the {len(vectors)} rows"
            reject(f"{caller}: groups must hold {expected}, got an array of shape {ids.shape}.")
        return cls._from_ids(caller, vectors, ids)

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        set: str,
        label: str | None = None,
        vector: str | None = None,
        file: str | None = None,
        time: str | None = None,
    ) -> SetBatch:
        """Gather the rows of a data frame (pandas, polars, ...) into sets.

        Parameters
        ----------
        frame : data frame
            Anything narwhals reads; one vector per row.
        set : str
            Column with the set of each row.
        label : str, optional
            Column with the class, which must not vary inside a set.
        vector : str, optional
            Column with a vector in each row; by default, all columns not named here are
            features.
        file, time : str, optional
            Columns for ``origins``: the file of each row, and when it was taken.

        Examples
        --------
        >>> import pandas as pd
        >>> faces = pd.DataFrame({"clip": ["a", "a"], "embedding": [[1.0, 2.0], [3.0, 4.0]]})
        >>> SetBatch.from_frame(faces, set="clip", vector="embedding")
        SetBatch of 1 sets of 2 to 2 vectors, 2 features
        """
        columns = read_frame(frame, set, label, vector, file, time)
        return cls._from_ids("SetBatch.from_frame", *columns)

    @classmethod
    def _from_ids(
        cls,
        caller: str,
        vectors: FloatArray,
        ids: Array,
        vector_labels: Array | None = None,
        origins: Origins | None = None,
    ) -> SetBatch:
        missing = np.flatnonzero(is_missing(ids))
        if len(missing):
            what = f"row {missing[0]} belongs to no set, its id is missing ({ids[missing[0]]})"
            reject(f"{caller}: {what}. Expected a set for every row: fill it or drop the row.")
        _, first, inverse = unique_identifiers(ids, f"{caller}: the set ids")
        rank = np.argsort(np.argsort(first))  # in the order of first appearance
        position = rank[inverse.ravel()]
        order = np.argsort(position, kind="stable")
        offsets = np.concatenate([[0], np.cumsum(np.bincount(position))])
        names = [str(ids[i]) for i in np.sort(first)]
        labels = None
        if vector_labels is not None:
            labels = vector_labels[np.sort(first)]
            differs = is_missing(vector_labels) != is_missing(labels)[position]
            known = ~is_missing(vector_labels) & ~differs
            differs[known] = vector_labels[known] != labels[position][known]
            if differs.any():
                i = int(differs.argmax())
                reject(
                    f"{caller}: set {names[position[i]]!r} has two labels, "
                    f"'{labels[position[i]]}' and '{vector_labels[i]}' (row {i}). A set has "
                    "one label: correct it, or make two sets of it."
                )
        ordered = None if origins is None else origins.take(order)
        return cls(vectors[order], offsets, names, labels, origins=ordered)

    def replaced(self, **changes: Any) -> SetBatch:
        """A copy with other values of parameters of the class, such as ``labels``."""
        own = ("vectors", "offsets", "names", "labels", "image_shape", "origins")
        return SetBatch(**({name: getattr(self, name) for name in own} | changes))

    @property
    def images(self) -> Array:
        """All vectors as images, of shape ``(n_vectors, *image_shape)``."""
        if self.image_shape is None:
            expected = "sets made by load_images, load_video or SetBatch.from_images"
            reject(f"{self!r} holds vectors, not images. Expected {expected}.")
        return self.vectors.reshape(-1, *self.image_shape)

    @property
    def n_features(self) -> int:
        """Length of every vector."""
        return int(self.vectors.shape[1])

    @property
    def sizes(self) -> IntArray:
        """Number of vectors in each set."""
        return np.diff(self.offsets)

    @property
    def shape(self) -> tuple[int]:
        """``(n_sets,)``: to scikit-learn, a batch is a sequence of sets."""
        return (len(self),)

    def __array__(self, *_: Any, **__: Any) -> Any:
        """Refuse to be an array, which transformers of rows would misread."""
        reject(
            "a SetBatch is no array. To transform the vectors of sets in a pipeline, wrap the "
            "transformer: setwise.features.PerVector(PCA(50)). All vectors are in .vectors."
        )

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __iter__(self) -> Iterator[FloatArray]:
        return (self[i] for i in range(len(self)))

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> FloatArray: ...
    @overload
    def __getitem__(self, key: slice | npt.ArrayLike) -> SetBatch: ...
    def __getitem__(self, key: Any) -> FloatArray | SetBatch:
        if isinstance(key, int | np.integer):
            i = range(len(self))[key]
            return self.vectors[self.offsets[i] : self.offsets[i + 1]]
        return self.take(np.arange(len(self))[key])

    def take(self, indices: npt.ArrayLike, axis: int = 0) -> SetBatch:
        """Return the sets at ``indices``, as a batch."""
        chosen = np.arange(len(self))[np.asarray(indices, dtype=np.int64)]
        rows = np.concatenate([np.zeros(0, dtype=np.int64), *map(self._rows, chosen)])
        return SetBatch(
            self.vectors[rows],
            np.concatenate([[0], np.cumsum(self.sizes[chosen])]),
            [self.names[i] for i in chosen],
            None if self.labels is None else self.labels[chosen],
            self.image_shape,
            None if self.origins is None else self.origins.take(rows),
        )

    def of_set(self, i: int) -> Origins | None:
        """Origins of the vectors of one set; None where unknown."""
        return None if self.origins is None else self.origins.take(self._rows(i))

    def _rows(self, i: int) -> IntArray:
        return np.arange(self.offsets[i], self.offsets[i + 1])

    def __repr__(self) -> str:
        sizes = self.sizes
        span = f"{sizes.min()} to {sizes.max()}" if len(sizes) else "no"
        about = f"{type(self).__name__} of {len(self)} sets of {span}"
        if self.image_shape is None:
            return f"{about} vectors, {self.n_features} features"
        return f"{about} images, {' x '.join(map(str, self.image_shape))}"


def default_names(n_sets: int, first: int = 0) -> tuple[str, ...]:
    """Names of sets without names: their numbers."""
    return tuple(f"set {i}" for i in range(first, first + n_sets))


def _joined_names(parts: Sequence[tuple[str, ...]]) -> list[str]:
    names: list[str] = []
    for part in parts:
        # Where sets were taken out, the numbers of the rest may run ahead.
        first, taken = len(names), set(names)
        if part == default_names(len(part)):
            while not taken.isdisjoint(default_names(len(part), first)):
                first += 1
            part = default_names(len(part), first)
        names += part
    return names


def _two_dimensional(caller: str, X: npt.ArrayLike) -> Array:
    try:
        vectors = np.asarray(X)
    except ValueError:
        reject(f"{caller}: X is ragged. Expected rows of equally many features.")
    if vectors.ndim != 2:
        expected = "Expected a 2-D array, one vector per row"
        reject(f"{caller}: X has shape {vectors.shape}. {expected}.")
    return vectors
