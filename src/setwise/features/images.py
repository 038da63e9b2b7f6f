"""Image features: images in, one vector or image per image out; pixels, sizes and ranges."""

from __future__ import annotations

from abc import ABC, abstractmethod
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError

from setwise._support.extras import require
from setwise._support.parameters import check_choice, check_shape, pair
from setwise._support.progress import reported
from setwise._support.types import Array, Bytes, FloatArray, Size
from setwise.errors import ParameterError, reject
from setwise.features.vectors import unit_rows
from setwise.sets import SetBatch

# Images that a feature works on at once: what it needs in between stays small.
AT_ONCE = 256
# Numbers that are converted to double precision at once.
_BLOCK = 2**18


class ImageFeature(  # type: ignore[call-arg]
    TransformerMixin,  # type: ignore[misc]
    BaseEstimator,  # type: ignore[misc]
    ABC,
    auto_wrap_output_keys=None,  # sets of vectors fit in no data frame
):
    """A transformer of images: of sets of them, or of one array of them.

    Subclasses implement :meth:`compute`, which treats every image alone; nothing is learnt from
    data. ``transform`` of a :class:`setwise.SetBatch` of images gives a batch with the same
    names and labels; of an array ``(n_images, height, width[, n_channels])``, an array.

    Examples
    --------
    >>> import numpy as np
    >>> from setwise.features import ImageFeature
    >>> class Brightness(ImageFeature):
    ...     def compute(self, images):
    ...         return images.reshape(len(images), -1).mean(axis=1, keepdims=True)
    >>> Brightness().transform(np.full((1, 4, 4), 7, dtype=np.uint8))
    array([[7.]])
    """

    #: Packages whose version the values may depend on, beside setwise and NumPy.
    libraries: ClassVar[tuple[str, ...]] = ()

    #: Whether it sees brightness in 256 steps, and values must lie in 0 to 255, or 0 to 1.
    sees_bytes: ClassVar[bool] = False

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(auto_wrap_output_keys=None, **options)

    @abstractmethod
    def compute(self, images: Array) -> Array:
        """Vectors ``(n_images, n_features)``, or images again."""

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""

    def fingerprint(self) -> dict[str, Any]:
        """Everything that values depend on besides the images, in JSON types."""
        kind, packages = type(self), ("setwise", "numpy", *self.libraries)
        return {
            "feature": f"{kind.__module__}.{kind.__qualname__}",
            "parameters": self.get_params(deep=False),
            "versions": {package: version_of(package) for package in packages},
        }

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check that these are images; there is nothing to learn."""
        images = self._images(X)
        self.image_shape_ = tuple(images.shape[1:])
        return self

    def transform(self, X: Any) -> Any:
        """Compute the feature of every image."""
        images = self._images(X)
        values = self._values(images, X)
        self._check(values, X)
        if not isinstance(X, SetBatch):
            return values
        shape = values.shape[1:] if values.ndim > 2 else None
        rows = values.reshape(len(values), -1)
        return X.replaced(vectors=rows, image_shape=shape)

    def n_values(self, shape: tuple[int, ...]) -> int:
        """Number of values of an image of a shape, ``(height, width[, n_channels])``."""
        self.check_parameters()
        return int(np.asarray(self.compute(np.zeros((1, *shape), dtype=np.uint8))).size)

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the values of an image: the feature's name, and a number."""
        if not hasattr(self, "image_shape_"):
            msg = f"{type(self).__name__}: call fit first, with images of the size to come."
            raise NotFittedError(msg)
        name, n_values = type(self).__name__.lower(), self.n_values(self.image_shape_)
        return np.array([f"{name}{i}" for i in range(n_values)], dtype=object)

    def _values(self, images: Array, X: Any) -> Array:
        """Values of all images, which are those of ``X``."""
        starts = range(0, len(images), AT_ONCE)
        parts = (self.compute(images[i : i + AT_ONCE]) for i in starts)
        return np.concatenate(list(reported(parts, len(starts), type(self).__name__)))

    def _images(self, X: Any) -> Array:
        self.check_parameters()
        caller = type(self).__name__
        images = X.images if isinstance(X, SetBatch) else _as_array(X, caller)
        if images.ndim not in (3, 4) or 0 in images.shape:
            what = "nothing to look at" if 0 in images.shape else "no images"
            reject(
                f"{caller} looks at images, and got {what}: an array of shape {images.shape}. "
                "Expected a SetBatch of images (load_images, load_video, "
                "SetBatch.from_images) or an array (n_images, height, width[, n_channels])."
            )
        if images.dtype.kind not in "biuf":
            advice = "convert them with `.astype(float)` if that is what they are"
            what = f"{caller}: the images have dtype {images.dtype}"
            reject(f"{what}. Expected real numbers; {advice}.")
        if images.dtype.kind == "f":
            self._check(images, X)
        if self.sees_bytes and images.dtype.kind != "b":
            self._check_range(images, X)
        return images

    def _check_range(self, images: Array, X: Any) -> None:
        rows = images.reshape(len(images), -1)
        lowest, highest = rows.min(axis=1), rows.max(axis=1)
        is_bad = (lowest < 0) | (highest > 255)
        if is_bad.any():
            i = int(is_bad.argmax())
            reject(
                f"{type(self).__name__}: {_where(i, X)} has values from {lowest[i]:g} to "
                f"{highest[i]:g}. Expected 0 to 255, or floats from 0 to 1: divide by the "
                "largest value there can be."
            )

    def _check(self, values: Array, X: Any) -> None:
        is_finite = np.isfinite(values).reshape(len(values), -1).all(axis=1)
        if not is_finite.all():
            who = f"{type(self).__name__} of {_where(int(is_finite.argmin()), X)}"
            expected = "finite pixels, and finite values of them: leave the image out"
            reject(f"{who} is not finite. Expected {expected}.")

    def __sklearn_is_fitted__(self) -> bool:
        return True


def check_image_feature(owner: str, feature: Any) -> None:
    """Refuse all but image features and pipelines of image features."""
    if is_pipeline(feature):
        for step in steps_of(feature):
            check_image_feature(owner, step)
    elif not isinstance(feature, ImageFeature):
        expected = "one that learns nothing from data, such as HOG(), or a pipeline of such"
        advice = "put what learns (PerVector, Whitener) after it"
        msg = f"{owner}: {feature!r} is not an image feature. Expected {expected}; {advice}."
        raise ParameterError(msg)


def fingerprint_of(feature: Any) -> dict[str, Any]:
    """The fingerprint of an image feature, or of a pipeline of image features."""
    if is_pipeline(feature):
        return {"steps": [fingerprint_of(step) for step in steps_of(feature)]}
    return feature.fingerprint()


def values_of(feature: Any, X: Any) -> Array:
    """A feature's values of images, as an array; errors name the set."""
    made = feature.transform(X)
    if not isinstance(made, SetBatch):
        return np.asarray(made)
    return made.vectors if made.image_shape is None else made.images


def is_pipeline(transformer: Any) -> bool:
    """Whether it is scikit-learn's, which this does not import."""
    return hasattr(transformer, "named_steps")


def steps_of(pipeline: Any) -> list[Any]:
    """The steps of a pipeline, without empty ones."""
    return [step for _, step in pipeline.steps if step is not None and step != "passthrough"]


def version_of(package: str) -> str:
    """Version of an installed package, "none" where it is not."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "none"


def _where(i: int, X: Any) -> str:
    """The ``i``-th of all images, in words."""
    if not isinstance(X, SetBatch):
        return f"image {i}"
    owner = int(np.searchsorted(X.offsets, i, side="right")) - 1
    return f"image {i - X.offsets[owner]} of {X.names[owner]}"


def _as_array(X: Any, caller: str) -> Array:
    if np.ma.is_masked(X):
        reject(f"{caller}: the images have masked pixels. Fill them: `.filled(...)`.")
    try:
        return np.asarray(X)
    except ValueError:
        advice = "Bring them to one size when loading them"
        reject(f"{caller}: the images differ in size. {advice}.")


# How bright red, green and blue look (ITU-R BT.601); Pillow's "L" uses the same.
LUMA = np.array([0.299, 0.587, 0.114])


class Pixels(ImageFeature):
    """The pixels, row by row, at their own or another size; at their own, of their own dtype.

    Parameters
    ----------
    size : int or (height, width), optional
        Resize images first, by Pillow's bilinear filter in single precision.
    grey : bool, default=False
        Turn colours into brightness, ``0.299 R + 0.587 G + 0.114 B``.
    unit_norm : bool, default=False
        Scale the vector of each image to unit norm; a black image stays zero.

    Examples
    --------
    >>> import numpy as np
    >>> Pixels(size=2).transform(np.ones((3, 8, 6))).shape
    (3, 4)
    """

    libraries = ("pillow",)

    def __init__(
        self, size: Size | None = None, *, grey: bool = False, unit_norm: bool = False
    ) -> None:
        self.size = size
        self.grey = grey
        self.unit_norm = unit_norm

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_shape("Pixels", "size", self.size, optional=True)
        for name in ("grey", "unit_norm"):
            check_choice("Pixels", name, getattr(self, name), (True, False))

    def compute(self, images: Array) -> Array:
        """Pixels of each image as a row."""
        if self.grey:
            images = as_grey(images, "Pixels")
        if self.size is not None:
            images = resized(images, self.size)
        rows = images.reshape(len(images), -1)
        return unit_rows(rows.astype(np.float64)) if self.unit_norm else rows


def as_grey(images: Array, caller: str) -> Array:
    """Brightness of colour images, as float64; grey images stay as they are."""
    if images.ndim == 3:
        return images
    n_channels = images.shape[3]
    if n_channels == 1:
        return images[..., 0]
    if n_channels != 3:
        reject(
            f"{caller}: the images have {n_channels} channels. Expected one (grey) or three "
            "(red, green, blue); leave the others out, such as an alpha channel."
        )
    grey = np.empty(images.shape[:3])
    step = max(1, _BLOCK // images[0].size)
    for start in range(0, len(images), step):  # doubles of all colours at once would be large
        block = slice(start, start + step)
        grey[block] = images[block].astype(np.float64) @ LUMA
    return grey


def as_bytes(images: Array, caller: str, size: Size | None = None) -> Bytes:
    """Brightness of images in steps of 0 to 255, the same of bytes and of floats up to 1."""
    grey = as_grey(images, caller)
    return grey if grey.dtype == np.uint8 and size is None else as_steps(images, grey, size)


def as_steps(images: Array, levels: Array, size: Size | None) -> Bytes:
    """Levels of images in whole steps of 0 to 255, resized if wanted."""
    if images.dtype.kind in "bf":
        is_fraction = images.reshape(len(images), -1).max(axis=1) <= 1
        factors = np.where(is_fraction, 255.0, 1.0)
        levels = levels * factors.reshape(-1, *[1] * (levels.ndim - 1))
    if size is not None:
        levels = resized(levels, size)
    return np.rint(levels).astype(np.uint8)


def resized(images: Array, size: Size) -> FloatArray:
    """Images at another size, by Pillow's bilinear filter in single precision."""
    from PIL import Image

    height, width = pair(size)
    channels = images.reshape(*images.shape[:3], -1)
    made = np.empty((len(images), height, width, channels.shape[3]))
    with np.errstate(over="ignore"):  # what is too large becomes inf, and is refused as such
        channels = channels.astype(np.float32)
    for i, c in np.ndindex(len(images), channels.shape[3]):
        plane = Image.fromarray(np.ascontiguousarray(channels[i, :, :, c]))
        made[i, :, :, c] = np.asarray(plane.resize((width, height), Image.Resampling.BILINEAR))
    return made.reshape(len(images), height, width, *images.shape[3:])


def check_tiles(owner: str, name: str, tile: Size, shape: tuple[int, ...]) -> None:
    """Refuse images that do not consist of whole tiles."""
    height, width = pair(tile)
    if shape[0] % height == 0 and shape[1] % width == 0:
        return
    pairs = zip(shape, (height, width), strict=True)
    nearest = tuple(max(1, round(side / length)) * length for side, length in pairs)
    reject(
        f"{owner}: images of {shape[0]} x {shape[1]} do not consist of whole tiles of {height} "
        f"x {width}, as {name}={tile} asks for. Expected multiples of it: bring images to one "
        f"by size={nearest}, or choose another {name}."
    )


class Equalised(ImageFeature):
    """Equalise the histogram of each image, against differences in lighting.

    A pixel's new value is the share of the image that is at most as bright, times 255, as
    uint8. Needs scikit-image: ``pip install "setwise[image]"``. Colours become brightness,
    ``0.299 R + 0.587 G + 0.114 B``. An image of floats none of which exceeds 1 has the range 0
    to 1; all other values must lie in 0 to 255.

    Examples
    --------
    >>> import numpy as np
    >>> Equalised().transform(np.array([[[10, 10, 20, 30]]], dtype=np.uint8))
    array([[[128, 128, 191, 255]]], dtype=uint8)
    """

    libraries = ("scikit-image",)
    sees_bytes = True

    def compute(self, images: Array) -> Bytes:
        """Equalised images."""
        equalise = require("skimage.exposure", "image").equalize_hist
        shares = [equalise(image) for image in as_bytes(images, "Equalised")]
        return np.rint(255 * np.stack(shares)).astype(np.uint8)
