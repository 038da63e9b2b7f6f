"""NumPy archives and arrays become sets."""

from __future__ import annotations

import os
import time
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_count, refuse
from setwise._support.types import IntArray
from setwise.errors import reject
from setwise.io.archives import Members, read_npy
from setwise.io.loading_report import LoadedSets, LoadReport
from setwise.io.untrusted import one_kind_of_error, regular_file
from setwise.sets import SetBatch

# Default key of the labels, which an archive may lack.
LABELS = "set_labels"


def load_arrays(
    path: str | os.PathLike[str],
    *,
    vectors: str | None = None,
    set_index: str = "set_index",
    labels: str = LABELS,
    groups: str | None = None,
    class_names: str = "class_names",
    names: str = "set_names",
    max_bytes: int = 2 * 2**30,
) -> LoadedSets:
    """Read the sets of a NumPy file.

    An ``.npz`` with an array ``set_index`` has all vectors in one array, and there the set of
    each. With ``groups``, or with ``vectors`` and ``labels``, it has all vectors in one array,
    and in others the set and the class of each. Any other ``.npz`` has one array per set, whose
    key is its name. An ``.npy`` holds sets of equal size, ``(n_sets, n_vectors, n_features)``.
    Nothing is ever unpickled.

    Parameters
    ----------
    path : path
        The file.
    vectors : str, optional
        Key of all vectors, ``(n_vectors, n_features)``, or images, ``(n_images, height,
        width[, n_channels])``. By default ``"images"`` or ``"features"``, whichever exists.
    set_index : str, default="set_index"
        Key of the set of each vector, a number from 0.
    labels : str, default="set_labels"
        Key of the class of each set; without ``set_index``, of each vector.
    groups : str, optional
        Key of the set of each vector, by any name or number. Without it and without
        ``set_index``, all vectors of a class are one set.
    class_names : str, default="class_names"
        Key of the names of the classes, which integer labels then count from 0.
    names : str, default="set_names"
        Key of the names of the sets.
    max_bytes : int, default=2 GiB
        Most memory for the arrays, checked before reading; loading takes up to twice as much.

    Returns
    -------
    LoadedSets
        The sets, of the number type they have in the file.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise import load_arrays
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/sets.npz", anna=np.zeros((3, 8)), bert=np.ones((5, 8)))
    ...     sets = load_arrays(f"{folder}/sets.npz")
    >>> sets.names, sets.sizes
    (('anna', 'bert'), array([3, 5]))
    """
    check_count("load_arrays", "max_bytes", max_bytes)
    about = {"labels": labels, "class_names": class_names, "names": names}
    optional = {"vectors": vectors, "groups": groups}
    for parameter, key in (about | {"set_index": set_index} | optional).items():
        if not isinstance(key, str) and not (parameter in optional and key is None):
            refuse("load_arrays", parameter, "the key of an array", key)
    started = time.perf_counter()
    source = regular_file("load_arrays", path)
    with one_kind_of_error("load_arrays", source):
        if _begins(source, b"\x93NUMPY"):
            batch, layout = _array_of_sets(source, max_bytes), "one array of sets"
        elif _begins(source, b"PK"):
            with zipfile.ZipFile(source) as archive:
                members = Members(source, archive, max_bytes)
                batch, layout = _from_archive(members, vectors, set_index, groups, about)
        else:
            reject(f"load_arrays: {str(source)!r} is neither an .npz nor an .npy file.")
    report = LoadReport(
        source,
        layout,
        (source,) * len(batch.vectors),
        seconds=time.perf_counter() - started,
        what="vectors" if batch.image_shape is None else "images",
    )
    return LoadedSets(batch, report)


def _begins(path: Path, magic: bytes) -> bool:
    with path.open("rb") as stream:
        return stream.read(len(magic)) == magic


def _array_of_sets(path: Path, max_bytes: int) -> SetBatch:
    array = read_npy(path, max_bytes)
    _check_numbers(path, "the array", array.dtype)
    if array.ndim != 3 or 0 in array.shape:
        reject(
            f"load_arrays: {str(path)!r} has shape {array.shape}. Expected "
            "(n_sets, n_vectors, n_features), none of them 0; sets of different sizes go "
            "into an .npz, one array per set."
        )
    offsets = np.arange(len(array) + 1) * array.shape[1]
    return SetBatch(array.reshape(-1, array.shape[2]), offsets)


def _from_archive(
    members: Members,
    vectors: str | None,
    set_index: str,
    groups: str | None,
    about: dict[str, str],
) -> tuple[SetBatch, str]:
    """The sets of an archive, and its layout."""
    if about["labels"] != LABELS:
        members.headers([about["labels"]])  # which must be there, as it was asked for
    has_index = set_index in members.keys
    by_class = vectors is not None and not has_index and about["labels"] in members.keys
    if groups is not None or by_class:
        return _grouped(members, vectors, groups, about)
    if has_index or vectors is not None:
        return _indexed(members, vectors, set_index, about)
    return _one_array_per_set(members, about), "one array per set"


def _grouped(
    members: Members, vectors: str | None, groups: str | None, about: dict[str, str]
) -> tuple[SetBatch, str]:
    """Sets of one array of vectors, and arrays with the set and class of each."""
    ids_key = groups or about["labels"]
    key = _key_of_vectors(members, vectors, ids_key)
    extra = [about[k] for k in ("labels", "class_names") if about[k] in members.keys]
    arrays = members.read(list(dict.fromkeys([key, ids_key, *extra])))
    values, labels = arrays[key], _classes(members, arrays, about)
    _check_vectors(members, key, values)
    ids = labels if groups is None and labels is not None else arrays[ids_key]
    for what, given in ((ids_key, ids), (about["labels"], labels)):
        if given is not None and given.shape != (len(values),):
            members.refuse(
                f"has {what!r} of shape {given.shape} for {len(values)} vectors in {key!r}. "
                "Expected one for each vector"
            )
    caller = f"load_arrays: {key!r} of {str(members.path)!r}"
    batch = SetBatch._from_ids(caller, values.reshape(len(values), -1), ids, labels)
    shape = values.shape[1:] if values.ndim > 2 else None
    return batch.replaced(image_shape=shape), f"{key} with {ids_key}"


def _indexed(
    members: Members, vectors: str | None, set_index: str, about: dict[str, str]
) -> tuple[SetBatch, str]:
    """Sets of one array of vectors, and an array with the number of the set of each."""
    key = _key_of_vectors(members, vectors, set_index)
    extra = [name for name in about.values() if name in members.keys]
    arrays = members.read(list(dict.fromkeys([key, set_index, *extra])))
    values, index = arrays[key], arrays[set_index]
    _check_vectors(members, key, values)
    names, labels = _names(members, arrays, about), _classes(members, arrays, about)
    counts = {len(given) for given in (names, labels) if given is not None}
    if len(counts) > 1:
        members.refuse(
            f"has {min(counts)} and {max(counts)} labels and names. Expected one per set"
        )
    order, offsets = _by_set(members, index, len(values), max(counts, default=0))
    rows = values.reshape(len(values), -1)
    batch = SetBatch(
        rows if order is None else rows[order],
        offsets,
        names,
        labels,
        values.shape[1:] if values.ndim > 2 else None,
    )
    return batch, f"{key} with {set_index}"


def _key_of_vectors(members: Members, vectors: str | None, set_index: str) -> str:
    known = [key for key in ("images", "features") if key in members.keys]
    if vectors is None and len(known) != 1:
        members.refuse(
            f"has {set_index!r} and {' and '.join(map(repr, known)) or 'no images or features'}"
            f". Say which of its arrays, {', '.join(map(repr, members.keys[:20]))}, vectors= is"
        )
    return vectors or known[0]


def _by_set(
    members: Members, index: npt.NDArray[Any], n_vectors: int, n_sets: int
) -> tuple[IntArray | None, IntArray]:
    """Order that sorts vectors by set, None if sorted, and the offsets of the sets."""
    if index.shape != (n_vectors,) or index.dtype.kind not in "iu":
        members.refuse(
            f"has a set_index of shape {index.shape} and dtype {index.dtype} for {n_vectors} "
            "vectors. Expected the number of a set, from 0, for each; for other ids there is "
            "SetBatch.from_groups"
        )
    n_sets = n_sets or int(index.max()) + 1
    if index.min() < 0 or index.max() >= n_sets or n_sets > n_vectors:
        members.refuse(
            f"has numbers from {index.min()} to {index.max()} in its set_index, for {n_sets} "
            f"sets of {n_vectors} vectors. Expected 0 to {n_sets - 1}, and a vector in each set"
        )
    sizes = np.bincount(index.astype(np.int64), minlength=n_sets)
    if not sizes.all():
        members.refuse(f"has no vector of set {int(sizes.argmin())} in its set_index")
    is_sorted = bool((index[1:] >= index[:-1]).all())
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    return (None if is_sorted else np.argsort(index, kind="stable")), offsets


def _one_array_per_set(members: Members, about: dict[str, str]) -> SetBatch:
    headers = members.headers(members.keys)
    extra = members.read([key for key in headers if key in about.values()])
    sets = {key: header for key, header in headers.items() if key not in extra}
    if not sets:
        members.refuse("holds no sets. Expected set_index with images or features, or sets")
    first_key, first = next(iter(sets.items()))
    for key, (shape, dtype) in sets.items():
        _check_numbers(members.path, f"array {key!r}", dtype)
        if len(shape) not in (2, 3, 4) or shape[1:] != first.shape[1:] or 0 in shape:
            members.refuse(
                f"has {key!r} of shape {shape} and {first_key!r} of {first.shape}. Expected "
                "one array per set, (n_vectors, n_features) or (n_images, height, "
                "width[, n_channels]), that differ in the first number alone; or all vectors "
                "in one, vectors=, with labels= or groups= for each"
            )
    labels = _classes(members, extra, about)
    if labels is not None and len(labels) != len(sets):
        members.refuse(f"has {len(labels)} labels for {len(sets)} sets. Expected one per set")
    stacked = members.read_stacked(sets)
    return SetBatch(
        stacked.reshape(len(stacked), -1),
        np.cumsum([0, *(shape[0] for shape, _ in sets.values())]),
        list(sets),
        labels,
        first.shape[1:] if len(first.shape) > 2 else None,
    )


def _names(
    members: Members, arrays: dict[str, npt.NDArray[Any]], about: dict[str, str]
) -> list[str] | None:
    names = arrays.get(about["names"])
    if names is None:
        return None
    if names.ndim != 1:
        members.refuse(f"has names of shape {names.shape}. Expected one per set")
    return [str(name) for name in names]


def _classes(
    members: Members, arrays: dict[str, npt.NDArray[Any]], about: dict[str, str]
) -> npt.NDArray[Any] | None:
    labels, class_names = arrays.get(about["labels"]), arrays.get(about["class_names"])
    if labels is None:
        return None
    if labels.ndim != 1:
        members.refuse(f"has labels of shape {labels.shape}. Expected one per set")
    if class_names is None:
        return labels
    is_index = labels.dtype.kind in "iu" and class_names.ndim == 1
    if not is_index or not ((labels >= 0) & (labels < len(class_names))).all():
        members.refuse(
            f"has {about['labels']!r} that do not count the {class_names.size} names in "
            f"{about['class_names']!r} from 0"
        )
    return class_names[labels]


def _check_vectors(members: Members, key: str, values: npt.NDArray[Any]) -> None:
    _check_numbers(members.path, f"array {key!r}", values.dtype)
    if values.ndim not in (2, 3, 4) or 0 in values.shape:
        members.refuse(
            f"has {key!r} of shape {values.shape}. Expected (n_vectors, n_features) or "
            "(n_images, height, width[, n_channels]), none of them 0"
        )


def _check_numbers(path: Path, what: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iufb":
        reject(
            f"load_arrays: {what} of {str(path)!r} is of dtype {dtype}. Expected real numbers."
        )
