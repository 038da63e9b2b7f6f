"""NumPy archives and arrays become sets."""

from __future__ import annotations

import math
import os
import time
import tokenize
import warnings
import zipfile
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import IO, Any, NamedTuple, NoReturn, TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_count, refuse
from setwise._support.types import IntArray
from setwise.errors import reject
from setwise.io.loading_report import LoadedSets, loaded_file
from setwise.io.untrusted import broken, check_declared, one_kind_of_error, regular_file
from setwise.sets import SetBatch

# Default key of the labels, which an archive may lack.
LABELS = "set_labels"
MAX_HEADER = 10_000
MAX_MEMBERS = 100_000
Arrays: TypeAlias = dict[str, npt.NDArray[Any]]
Keys: TypeAlias = dict[str, str]


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
    Number types stay as they are; nothing is ever unpickled.

    Parameters
    ----------
    path : path
        The file.
    vectors : str, optional
        Key of all vectors or images; by default ``"images"`` or ``"features"``.
    set_index : str, default="set_index"
        Key of the set of each vector, a number from 0.
    labels : str, default="set_labels"
        Key of the class of each set; without ``set_index``, of each vector.
    groups : str, optional
        Key of the set of each vector, by any name or number; without it, a class is a set.
    class_names, names : str
        Keys of the names of the classes, which integer labels then count from 0, and sets.
    max_bytes : int, default=2 GiB
        Most memory for the arrays, checked before reading; loading takes up to twice as much.

    Examples
    --------
    >>> import numpy as np, tempfile
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
        with source.open("rb") as stream:
            magic = stream.read(6)
        if magic == b"\x93NUMPY":
            batch, layout = _array_of_sets(source, max_bytes), "one array of sets"
        elif magic.startswith(b"PK"):
            with zipfile.ZipFile(source) as archive:
                members = _Members(source, archive, max_bytes)
                batch, layout = _from_archive(members, vectors, set_index, groups, about)
        else:
            reject(f"load_arrays: {str(source)!r} is neither an .npz nor an .npy file.")
    return loaded_file(batch, source, layout, started)


class _Header(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype[Any]

    @property
    def n_bytes(self) -> int:
        return math.prod(self.shape) * self.dtype.itemsize


class _Members:
    """The arrays of an archive, whose headers are read before their values."""

    def __init__(self, path: Path, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self.path, self.max_bytes = path, max_bytes
        self._archive = archive
        self._members: dict[str, zipfile.ZipInfo] = {}
        if len(archive.infolist()) > MAX_MEMBERS:
            self.refuse(f"holds {len(archive.infolist())} arrays, of at most {MAX_MEMBERS}")
        for member in archive.infolist():
            key = member.filename.removesuffix(".npy")
            if key == member.filename or any(c in key for c in "/\\\0"):
                self.refuse(f"holds {member.filename!r}. Expected nothing but arrays, key.npy")
            if key in self._members:
                self.refuse(f"holds two arrays {key!r}")
            if member.flag_bits & 0x1:
                self.refuse(f"holds {key!r} encrypted. Save it without a password")
            self._members[key] = member

    @property
    def keys(self) -> list[str]:
        return list(self._members)

    def read(self, keys: Sequence[str], if_there: Collection[str] = ()) -> Arrays:
        """Arrays by key, once all of them are known to fit."""
        found = [key for key in if_there if key in self._members]
        return {key: self._read(key) for key in self.headers([*keys, *found])}

    def read_stacked(self, headers: dict[str, _Header]) -> npt.NDArray[Any]:
        """Arrays one below the other, with at most one of them in memory twice."""
        if len(headers) == 1:
            return self._read(next(iter(headers)))
        shapes = [header.shape for header in headers.values()]
        dtype = np.result_type(*(header.dtype for header in headers.values()))
        whole = _Header((sum(shape[0] for shape in shapes), *shapes[0][1:]), dtype)
        self._check_fits(whole.n_bytes, f"{len(headers)} arrays as {dtype}")
        stacked = np.empty(*whole)
        start = 0
        for key, shape in zip(headers, shapes, strict=True):
            stacked[start : start + shape[0]] = self._read(key)
            start += shape[0]
        return stacked

    def headers(self, keys: Sequence[str]) -> dict[str, _Header]:
        """Shape and dtype of arrays, once all of them are known to fit."""
        for key in keys:
            if key not in self._members:
                shown = ", ".join(map(repr, self.keys[:20])) or "nothing"
                self.refuse(f"has no array {key!r}. It holds {shown}")
        headers = {}
        for key in dict.fromkeys(keys):
            with self._archive.open(self._members[key]) as stream:
                headers[key] = _header(stream, f"array {key!r}", self._members[key].file_size)
        declared = sum(header.n_bytes for header in headers.values())
        self._check_fits(declared, f"{len(headers)} arrays")
        return headers

    def refuse(self, why: str) -> NoReturn:
        reject(f"load_arrays: {str(self.path)!r} {why}.")

    def _check_fits(self, n_bytes: int, what: str) -> None:
        check_declared("load_arrays", self.path, what, n_bytes, self.max_bytes)

    def _read(self, key: str) -> npt.NDArray[Any]:
        with self._archive.open(self._members[key]) as stream:
            array = _values(stream)
            stream.read(1)  # the end, where zipfile compares its checksum
        return array


def _header(stream: IO[bytes], what: str, size: int) -> _Header:
    """The declared header of an array, which must agree with the size of its file."""
    version = np.lib.format.read_magic(stream)
    lib = np.lib.format
    readers = {(1, 0): lib.read_array_header_1_0, (2, 0): lib.read_array_header_2_0}
    if version not in readers:
        broken(f"{what} is of version {version}, which plain arrays do not need")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python 2, and of syntax in broken headers
            shape, _, dtype = readers[version](stream, max_header_size=MAX_HEADER)
    except (SyntaxError, tokenize.TokenError, RecursionError):
        msg = f"the header of {what} is broken"
        raise ValueError(msg) from None
    if dtype.hasobject or dtype.names is not None or dtype.subdtype is not None:
        expected = "Expected numbers or text; objects are never unpickled"
        broken(f"{what} is of dtype {dtype}. {expected}")
    if min(shape, default=0) < 0:
        broken(f"{what} declares the shape {shape}")
    header, follow = _Header(shape, dtype), size - stream.tell()
    if header.n_bytes != follow:
        broken(f"{what} declares {header.n_bytes} bytes, shape {shape}, but {follow} follow")
    return header


def _values(stream: IO[bytes]) -> npt.NDArray[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.lib.format.read_array(stream, allow_pickle=False, max_header_size=MAX_HEADER)


def _array_of_sets(path: Path, max_bytes: int) -> SetBatch:
    with path.open("rb") as stream:
        header = _header(stream, "the array", path.stat().st_size)
        check_declared("load_arrays", path, "the array", header.n_bytes, max_bytes)
        stream.seek(0)
        array = _values(stream)
    _check_numbers(path, "the array", array.dtype)
    if array.ndim != 3 or 0 in array.shape:
        reject(
            f"load_arrays: {str(path)!r} has shape {array.shape}. Expected (n_sets, n_vectors, "
            "n_features), none of them 0; sets of different sizes go into an .npz, one array "
            "per set."
        )
    offsets = np.arange(len(array) + 1) * array.shape[1]
    return SetBatch(array.reshape(-1, array.shape[2]), offsets)


def _from_archive(
    members: _Members, vectors: str | None, set_index: str, groups: str | None, about: Keys
) -> tuple[SetBatch, str]:
    if about["labels"] != LABELS:
        members.headers([about["labels"]])  # which must be there, as it was asked for
    has_index = set_index in members.keys
    by_class = vectors is not None and not has_index and about["labels"] in members.keys
    if not (groups is not None or by_class or has_index or vectors is not None):
        return _one_array_per_set(members, about), "one array per set"
    is_grouped = groups is not None or by_class
    ids_key = (groups or about["labels"]) if is_grouped else set_index
    key = _key_of_vectors(members, vectors, ids_key)
    extra = {k: v for k, v in about.items() if not (is_grouped and k == "names")}
    arrays = members.read([key, ids_key], extra.values())
    _check_vectors(members, key, arrays[key])
    if is_grouped:
        batch = _grouped(members, key, groups, arrays, about)
    else:
        batch = _indexed(members, key, ids_key, arrays, about)
    shape = arrays[key].shape[1:] if arrays[key].ndim > 2 else None
    return batch.replaced(image_shape=shape), f"{key} with {ids_key}"


def _key_of_vectors(members: _Members, vectors: str | None, ids_key: str) -> str:
    known = [key for key in ("images", "features") if key in members.keys]
    if vectors is None and len(known) != 1:
        members.refuse(
            f"has {ids_key!r} and {' and '.join(map(repr, known)) or 'no images or features'}"
            f". Say which of its arrays, {', '.join(map(repr, members.keys[:20]))}, vectors= is"
        )
    return vectors or known[0]


def _grouped(
    members: _Members, key: str, groups: str | None, arrays: Arrays, about: Keys
) -> SetBatch:
    labels, rows = _classes(members, arrays, about), arrays[key].reshape(len(arrays[key]), -1)
    ids_key = groups or about["labels"]
    ids = labels if groups is None and labels is not None else arrays[ids_key]
    for what, given in ((ids_key, ids), (about["labels"], labels)):
        if given is not None and given.shape != (len(rows),):
            members.refuse(
                f"has {what!r} of shape {given.shape} for {len(rows)} vectors in {key!r}. "
                "Expected one for each vector"
            )
    caller = f"load_arrays: {key!r} of {str(members.path)!r}"
    return SetBatch._from_ids(caller, rows, ids, labels)


def _indexed(
    members: _Members, key: str, ids_key: str, arrays: Arrays, about: Keys
) -> SetBatch:
    names, labels = arrays.get(about["names"]), _classes(members, arrays, about)
    if names is not None and names.ndim != 1:
        members.refuse(f"has names of shape {names.shape}. Expected one per set")
    counts = {len(given) for given in (names, labels) if given is not None}
    if len(counts) > 1:
        both = f"{min(counts)} and {max(counts)}"
        members.refuse(f"has {both} labels and names. Expected one per set")
    rows = arrays[key].reshape(len(arrays[key]), -1)
    order, offsets = _by_set(members, arrays[ids_key], len(rows), max(counts, default=0))
    texts = None if names is None else [str(name) for name in names]
    return SetBatch(rows if order is None else rows[order], offsets, texts, labels)


def _by_set(
    members: _Members, index: npt.NDArray[Any], n_vectors: int, n_sets: int
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


def _one_array_per_set(members: _Members, about: Keys) -> SetBatch:
    headers = members.headers(members.keys)
    extra = members.read([], about.values())
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
    rows = stacked.reshape(len(stacked), -1)
    offsets = np.cumsum([0, *(shape[0] for shape, _ in sets.values())])
    image_shape = first.shape[1:] if len(first.shape) > 2 else None
    return SetBatch(rows, offsets, list(sets), labels, image_shape)


def _classes(members: _Members, arrays: Arrays, about: Keys) -> npt.NDArray[Any] | None:
    labels, class_names = arrays.get(about["labels"]), arrays.get(about["class_names"])
    if labels is None:
        return None
    if labels.ndim != 1:
        members.refuse(f"has labels of shape {labels.shape}. Expected one per set")
    if class_names is None:
        return labels
    is_index = labels.dtype.kind in "iu" and class_names.ndim == 1
    if not is_index or not ((labels >= 0) & (labels < len(class_names))).all():
        all_names = f"the {class_names.size} names in {about['class_names']!r} from 0"
        members.refuse(f"has {about['labels']!r} that do not count {all_names}")
    return class_names[labels]


def _check_vectors(members: _Members, key: str, values: npt.NDArray[Any]) -> None:
    _check_numbers(members.path, f"array {key!r}", values.dtype)
    if values.ndim not in (2, 3, 4) or 0 in values.shape:
        members.refuse(
            f"has {key!r} of shape {values.shape}. Expected (n_vectors, n_features) or "
            "(n_images, height, width[, n_channels]), none of them 0"
        )


def _check_numbers(path: Path, what: str, dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "iufb":
        problem = f"{what} of {str(path)!r} is of dtype {dtype}"
        reject(f"load_arrays: {problem}. Expected real numbers.")
