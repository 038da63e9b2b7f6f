"""What every image feature shares: images in, one vector or image an image out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import Pipeline

from setwise.errors import DataError
from setwise.sets import SetBatch

__all__ = ["ImageFeature", "looks_at_images"]


class ImageFeature(TransformerMixin, BaseEstimator, ABC):  # type: ignore[misc]
    """A transformer of images: of sets of them, or of one array of them.

    A feature says what it makes of an array of images (:meth:`compute`), image by image: what
    becomes of one never depends on the others. Nothing is learnt from data.

    ``transform`` of a :class:`setwise.SetBatch` of images gives a batch with the same names
    and labels; of an array of shape ``(n_images, height, width[, n_channels])``, an array.
    """

    @abstractmethod
    def compute(self, images: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Vectors ``(n_images, n_features)``, or images again."""

    def fingerprint(self) -> dict[str, Any]:
        """Everything that the values depend on but the images, of types that JSON knows."""
        return {"feature": type(self).__name__, **self.get_params(deep=False)}

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that these are images; there is nothing to learn."""
        images = self._images(X)
        self.image_shape_ = tuple(images.shape[1:])
        return self

    def transform(self, X: Any) -> Any:
        """Compute the feature of every image."""
        images = self._images(X)
        values = self.compute(images)
        self._check(values, X)
        if not isinstance(X, SetBatch):
            return values
        shape = values.shape[1:] if values.ndim > 2 else None
        rows = values.reshape(len(values), -1)
        return SetBatch(rows, X.offsets, X.names, X.labels, shape)

    def fit_transform(self, X: Any, y: Any = None, **parameters: Any) -> Any:
        """Compute the feature of every image."""
        return self.fit(X, y).transform(X)

    def _images(self, X: Any) -> npt.NDArray[Any]:
        images = X.images if isinstance(X, SetBatch) else np.asarray(X)
        if images.ndim not in (3, 4):
            msg = (
                f"{type(self).__name__} looks at images, and got an array of shape "
                f"{images.shape}. Expected a SetBatch of images (load_images, load_video, "
                "SetBatch.from_images) or an array (n_images, height, width[, n_channels])."
            )
            raise DataError(msg)
        return images

    def _check(self, values: npt.NDArray[Any], X: Any) -> None:
        is_finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if is_finite.all():
            return
        i = int(np.flatnonzero(~is_finite)[0])
        where = f"image {i}"
        if isinstance(X, SetBatch):
            owner = int(np.searchsorted(X.offsets, i, side="right")) - 1
            where = f"image {i - X.offsets[owner]} of {X.names[owner]}"
        msg = (
            f"{type(self).__name__} of {where} is not finite. Expected finite pixels, and "
            "finite values of them: leave the image out."
        )
        raise DataError(msg)

    def __sklearn_is_fitted__(self) -> bool:
        return True


def looks_at_images(transformer: Any) -> bool:
    """Whether a transformer, or the first step of a pipeline, wants images, not vectors."""
    while isinstance(transformer, Pipeline):
        transformer = transformer.steps[0][1]
    return isinstance(transformer, ImageFeature)
