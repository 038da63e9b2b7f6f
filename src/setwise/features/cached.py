"""Features kept in a folder, so that they are computed once."""

from __future__ import annotations

import json
import os
import tempfile
import threading
from hashlib import sha256
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import refuse
from setwise.errors import DataError, ParameterError
from setwise.features.images import (
    ImageFeature,
    check_image_feature,
    fingerprint_of,
    values_of,
)
from setwise.sets import SetBatch

__all__ = ["Cached"]

DIGEST_SIZE = sha256().digest_size
_COUNTING = threading.Lock()


class Cached(ImageFeature):
    """Keep what an image feature makes of each set in a folder, and compute it only once.

    A result is found again by the feature and all its parameters, the versions of the
    libraries that compute it, and the pixels of the set; if any of them changes, it is
    computed anew. Processes may share the folder. A damaged file is computed again and
    replaced. Old results are never deleted: that is done by deleting the folder.

    Parameters
    ----------
    feature : image feature, or pipeline of image features
        What to compute, such as ``HOG()`` or ``make_pipeline(Equalised(), LBP())``. One that
        learns from data is refused, and so is an :class:`Embedding` without a name. Of an
        image feature of your own, a parameter must change when its code does.
    folder : str or Path
        Where results are kept, one file per set; made if it is not there. ``numpy.load`` reads
        the files.

    Attributes
    ----------
    n_hits_ : int
        Sets that were found since the last fit.
    n_misses_ : int
        Sets that were computed since the last fit.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise import HOG, SetBatch
    >>> from setwise.features import Cached
    >>> photos = SetBatch.from_images([np.zeros((2, 16, 16), dtype=np.uint8)])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     cached = Cached(HOG(), folder)
    ...     first, again = cached.fit(photos).transform(photos), cached.transform(photos)
    ...     cached.n_misses_, cached.n_hits_
    (1, 1)
    """

    def __init__(self, feature: Any, folder: str | Path) -> None:
        self.feature = feature
        self.folder = folder

    def check_parameters(self) -> None:
        """Refuse parameters that no images could be transformed with."""
        check_image_feature("Cached", self.feature)
        if not isinstance(self.folder, str | os.PathLike) or not str(self.folder):
            refuse("Cached", "folder", "the path of a folder", self.folder)

    def fingerprint(self) -> dict[str, Any]:
        """That of the feature: where results are kept does not change them."""
        return fingerprint_of(self.feature)

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that these are images, and that what becomes of them can be kept."""
        super().fit(X, y)
        _canonical(self.fingerprint())
        self.n_hits_ = self.n_misses_ = 0
        return self

    def compute(self, images: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """What the feature makes of the images, not looked up."""
        return values_of(self.feature, images)

    def _values(self, images: npt.NDArray[Any], X: Any) -> npt.NDArray[Any]:
        about = _canonical(self.fingerprint())
        folder = _make_folder(Path(self.folder))
        if not isinstance(X, SetBatch):
            return self._look_up(folder, about, images, X)
        return np.concatenate(
            [
                self._look_up(folder, about, images[start:stop], X[i : i + 1])
                for i, (start, stop) in enumerate(pairwise(X.offsets))
            ]
        )

    def _look_up(
        self, folder: Path, about: bytes, images: npt.NDArray[Any], X: Any
    ) -> npt.NDArray[Any]:
        """Values of the images of one set ``X``, from its file if there is one."""
        path = folder / f"{_key(about, images)}.npy"
        values = _read(path, len(images))
        self._count(is_hit=values is not None)
        if values is None:
            values = values_of(self.feature, X)
            if np.isfinite(values).all():  # the others are refused afterwards
                _write(values, path)
        return values

    def _count(self, *, is_hit: bool) -> None:
        with _COUNTING:
            self.n_hits_ = getattr(self, "n_hits_", 0) + is_hit
            self.n_misses_ = getattr(self, "n_misses_", 0) + (not is_hit)


def _canonical(fingerprint: dict[str, Any]) -> bytes:
    """A fingerprint as bytes: equal ones, and no others, give equal bytes."""
    return json.dumps(fingerprint, sort_keys=True, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic | np.ndarray):
        return value.tolist()
    msg = (
        f"Cached: the fingerprint of a feature holds {value!r}, which is neither text nor "
        "number. Expected parameters that JSON knows; write the feature's fingerprint()."
    )
    raise ParameterError(msg)


def _key(about: bytes, images: npt.NDArray[Any]) -> str:
    shape = json.dumps([images.dtype.str, images.shape]).encode()
    digest = sha256()
    for part in (about, shape):
        digest.update(sha256(part).digest())
    digest.update(np.ascontiguousarray(images).data)
    return digest.hexdigest()


def _read(path: Path, n_images: int) -> npt.NDArray[Any] | None:
    """What a file holds; None if there is none, or it is damaged."""
    try:
        content = path.read_bytes()
    except OSError:
        return None
    payload, digest = content[:-DIGEST_SIZE], content[-DIGEST_SIZE:]
    if sha256(payload).digest() != digest:
        return None
    values: npt.NDArray[Any] = np.load(BytesIO(payload), allow_pickle=False)
    return values if len(values) == n_images else None


def _write(values: npt.NDArray[Any], path: Path) -> None:
    """Write a file at once or not at all: a NumPy file, and after it its sha256."""
    buffer = BytesIO()
    np.save(buffer, values, allow_pickle=False)
    payload = buffer.getvalue()
    try:
        handle, name = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(payload + sha256(payload).digest())
            Path(name).replace(path)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except OSError as error:
        msg = (
            f"Cached: {path} cannot be written ({error.strerror}). Expected a folder that can "
            "be written to, with room: give another, or use the feature without Cached."
        )
        raise DataError(msg) from error


def _make_folder(folder: Path) -> Path:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = (
            f"Cached: {folder} cannot be made a folder ({error.strerror}). Expected a path "
            "where a folder is, or can be made."
        )
        raise DataError(msg) from error
    return folder
