"""Any function of images as a feature."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_count, refuse
from setwise._support.progress import reported
from setwise._support.types import FloatArray
from setwise.errors import ParameterError, SetwiseError, reject
from setwise.features.images import ImageFeature

__all__ = ["Embedding", "in_batches"]


class Embedding(ImageFeature):
    """Vectors that any function makes of images, such as a neural network of your own.

    Parameters
    ----------
    function : callable
        Is given a copy of some images, ``(n, height, width[, n_channels])`` of the dtype that
        they have, and returns ``(n, n_features)`` finite numbers. What it makes of one image
        must not depend on the others: put a network in evaluation mode.
    batch_size : int, default=64
        How many images it is given at once.
    name : str, optional
        What it is called in messages. :class:`Cached` knows it by this name alone: give it
        another whenever it changes.

    Examples
    --------
    >>> import numpy as np
    >>> mean = Embedding(lambda images: images.mean(axis=(1, 2))[:, None], name="mean v1")
    >>> mean.transform(np.ones((3, 8, 8))).ravel()
    array([1., 1., 1.])
    """

    def __init__(
        self,
        function: Callable[[npt.NDArray[Any]], Any],
        *,
        batch_size: int = 64,
        name: str | None = None,
    ) -> None:
        self.function = function
        self.batch_size = batch_size
        self.name = name

    def check_parameters(self) -> None:
        """Refuse parameters that no images could be transformed with."""
        if not callable(self.function):
            refuse("Embedding", "function", "a function of images", self.function)
        check_count("Embedding", "batch_size", self.batch_size)
        if self.name is not None and (not isinstance(self.name, str) or not self.name.strip()):
            refuse("Embedding", "name", "a string that is not blank, or None", self.name)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that the values depend on but the images, of types that JSON knows."""
        if self.name is None:
            msg = (
                f"Embedding: {self._called} has no name, so nothing tells it from another "
                'function. Give it one, such as Embedding(function, name="my network, v1").'
            )
            raise ParameterError(msg)
        content = super().fingerprint()
        del content["parameters"]["function"]
        return content

    def compute(self, images: npt.NDArray[Any]) -> FloatArray:
        """Vectors that the function makes of the images, batch by batch."""
        called = f"Embedding: {self._called}"
        return in_batches(self.function, images, self.batch_size, called)

    @property
    def _called(self) -> str:
        return self.name or str(getattr(self.function, "__qualname__", self.function))

    def _values(self, images: npt.NDArray[Any], X: Any) -> npt.NDArray[Any]:
        return self.compute(images)


def in_batches(
    function: Callable[[npt.NDArray[Any]], Any],
    images: npt.NDArray[Any],
    batch_size: int,
    called: str,
) -> FloatArray:
    """Vectors that a function makes of images, a few at a time; checks what it returns."""
    parts: list[FloatArray] = []
    starts = range(0, len(images), batch_size)
    for start in reported(starts, len(starts), called):
        batch = images[start : start + batch_size].copy()
        who = f"{called}, given images {start} to {start + len(batch) - 1},"
        vectors = _vectors_of(function, batch, who)
        if parts and vectors.shape[1] != parts[0].shape[1]:
            reject(
                f"{who} made vectors of {vectors.shape[1]} features, but before of "
                f"{parts[0].shape[1]}. Expected equally many of all images."
            )
        parts.append(vectors)
    return np.concatenate(parts)


def _vectors_of(
    function: Callable[[npt.NDArray[Any]], Any], batch: npt.NDArray[Any], who: str
) -> FloatArray:
    n_images = len(batch)
    try:
        made = np.asarray(function(batch))
    except SetwiseError:
        raise
    except Exception as error:
        reject(f"{who} failed with {type(error).__name__}: {error}", error)
    if made.ndim != 2 or len(made) != n_images or 0 in made.shape:
        reject(
            f"{who} made an array of shape {made.shape}. Expected ({n_images}, n_features): "
            "one vector per image."
        )
    if made.dtype.kind not in "biuf" or not np.isfinite(made).all():
        what = f"dtype {made.dtype}" if made.dtype.kind not in "biuf" else "NaN or inf"
        reject(f"{who} made {what}. Expected finite real numbers.")
    return made.astype(np.float64)
