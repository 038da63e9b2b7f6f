"""Vectors that a function, or a network in an ONNX file, makes of images."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from setwise._support.extras import require
from setwise._support.parameters import check_choice, check_count, check_shape, refuse
from setwise._support.progress import reported
from setwise._support.types import Array, FloatArray, Size
from setwise.errors import ParameterError, SetwiseError, reject
from setwise.features.images import ImageFeature, as_grey, resized

DTYPES = {
    "tensor(float)": np.float32,
    "tensor(double)": np.float64,
    "tensor(float16)": np.float16,
}


class Embedding(ImageFeature):
    """Vectors that a function makes of images, such as a neural network of your own.

    Parameters
    ----------
    function : callable
        From ``(n, height, width[, n_channels])`` images to ``(n, n_features)`` finite numbers,
        each image alone: put a network in evaluation mode.
    batch_size : int, default=64
        Images per call.
    name : str, optional
        Name for messages and :class:`Cached`: change it whenever the function changes.

    Examples
    --------
    >>> import numpy as np
    >>> mean = Embedding(lambda images: images.mean(axis=(1, 2))[:, None], name="mean v1")
    >>> mean.transform(np.ones((3, 4, 4)))[:, 0]
    array([1., 1., 1.])
    """

    def __init__(
        self, function: Callable[[Array], Any], *, batch_size: int = 64, name: str | None = None
    ) -> None:
        self.function = function
        self.batch_size = batch_size
        self.name = name

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        if not callable(self.function):
            refuse("Embedding", "function", "a function of images", self.function)
        check_count("Embedding", "batch_size", self.batch_size)
        if self.name is not None and (not isinstance(self.name, str) or not self.name.strip()):
            refuse("Embedding", "name", "a string that is not blank, or None", self.name)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that values depend on besides the images, in JSON types."""
        if self.name is None:
            what = f"{self._called} has no name, so nothing tells it from another function"
            advice = 'Give it one, such as Embedding(function, name="my network, v1")'
            msg = f"Embedding: {what}. {advice}."
            raise ParameterError(msg)
        content = super().fingerprint()
        del content["parameters"]["function"]
        return content

    def compute(self, images: Array) -> FloatArray:
        """Vectors of the images, batch by batch."""
        return in_batches(self.function, images, self.batch_size, f"Embedding: {self._called}")

    @property
    def _called(self) -> str:
        return self.name or str(getattr(self.function, "__qualname__", self.function))

    def _values(self, images: Array, X: Any) -> Array:
        return self.compute(images)


def in_batches(
    function: Callable[[Array], Any], images: Array, batch_size: int, called: str
) -> FloatArray:
    """A function's vectors of images, a few at a time, checked."""
    parts: list[FloatArray] = []
    starts = range(0, len(images), batch_size)
    for start in reported(starts, len(starts), called):
        batch = images[start : start + batch_size].copy()
        who = f"{called}, given images {start} to {start + len(batch) - 1},"
        vectors = _vectors_of(function, batch, who)
        if parts and vectors.shape[1] != parts[0].shape[1]:
            made = f"{who} made vectors of {vectors.shape[1]} features, but before of"
            reject(f"{made} {parts[0].shape[1]}. Expected equally many of all images.")
        parts.append(vectors)
    return np.concatenate(parts)


def _vectors_of(function: Callable[[Array], Any], batch: Array, who: str) -> FloatArray:
    n_images = len(batch)
    try:
        made = np.asarray(function(batch))
    except SetwiseError:
        raise
    except Exception as error:
        reject(f"{who} failed with {type(error).__name__}: {error}", error)
    if made.ndim != 2 or len(made) != n_images or 0 in made.shape:
        expected = f"Expected ({n_images}, n_features): one vector per image"
        reject(f"{who} made an array of shape {made.shape}. {expected}.")
    if made.dtype.kind not in "biuf" or not np.isfinite(made).all():
        what = f"dtype {made.dtype}" if made.dtype.kind not in "biuf" else "NaN or inf"
        reject(f"{who} made {what}. Expected finite real numbers.")
    return made.astype(np.float64)


class OnnxEmbedding(ImageFeature):
    """Vectors that a neural network in an ONNX file makes of images.

    The first output is flattened to one vector per image. ONNX Runtime runs the network
    (``pip install "setwise[onnx]"``) on one thread: the same images give the same vectors. Grey
    images are repeated for three channels; colours become brightness for one.

    Parameters
    ----------
    model_path : str or Path
        The network, all in one file: weights in other files are not read.
    input_name : str, optional
        The input for the images; needed if there are several.
    size : int or (height, width), optional
        Resize images first, as :class:`Pixels` does.
    layout : {"nchw", "nhwc"}, default="nchw"
        Whether the network takes channels before or after height and width.
    mean, std : float or sequence of one per channel, default=0 and 1
        The network gets ``(pixels - mean) / std``. Networks made with ImageNet often want
        ``mean=(123.675, 116.28, 103.53)`` and ``std=(58.395, 57.12, 57.375)`` of 0 to 255.
    batch_size : int, default=32
        Images per run; one, if the file says so.
    providers : sequence of str, default=("CPUExecutionProvider",)
        See ONNX Runtime. Others than the default may give other last digits.

    Examples
    --------
    >>> from setwise.features import OnnxEmbedding
    >>> OnnxEmbedding("network.onnx", size=224).get_params()["layout"]
    'nchw'
    """

    libraries = ("onnxruntime", "pillow")

    def __init__(
        self,
        model_path: str | Path,
        *,
        input_name: str | None = None,
        size: Size | None = None,
        layout: str = "nchw",
        mean: float | Sequence[float] = 0.0,
        std: float | Sequence[float] = 1.0,
        batch_size: int = 32,
        providers: Sequence[str] = ("CPUExecutionProvider",),
    ) -> None:
        self.model_path = model_path
        self.input_name = input_name
        self.size = size
        self.layout = layout
        self.mean = mean
        self.std = std
        self.batch_size = batch_size
        self.providers = providers

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        owner = "OnnxEmbedding"
        check_shape(owner, "size", self.size, optional=True)
        check_choice(owner, "layout", self.layout, ("nchw", "nhwc"))
        check_count(owner, "batch_size", self.batch_size)
        _per_channel("mean", self.mean)
        if not (_per_channel("std", self.std) > 0).all():
            refuse(owner, "std", "positive", self.std)
        if isinstance(self.providers, str) or not self.providers:
            refuse(owner, "providers", "a sequence of names", self.providers)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that values depend on besides the images, in JSON types."""
        content = super().fingerprint()
        content["parameters"]["model_path"] = _digest(self.model_path)
        return content

    def compute(self, images: Array) -> FloatArray:
        """The network's first output for each image."""
        session = self._open_session()
        entry = self._input(session)
        batch_size = 1 if entry.shape[0] == 1 else self.batch_size

        def embed(batch: Array) -> Array:
            made = session.run(None, {entry.name: self._prepared(batch, entry)})[0]
            return np.asarray(made).reshape(len(made), -1)

        return in_batches(embed, images, batch_size, f"OnnxEmbedding: {self.model_path}")

    def _values(self, images: Array, X: Any) -> Array:
        return self.compute(images)

    def _prepared(self, images: Array, entry: Any) -> Array:
        """Images in the size, channels, range, layout and dtype of the network."""
        sides = dict(zip(self.layout, entry.shape, strict=True))
        pixels = _with_channels(images, sides["c"], str(self.model_path))
        if self.size is not None:
            pixels = resized(pixels, self.size)
        _, height, width, n_channels = pixels.shape
        wanted = sides["h"], sides["w"]
        for side, given in zip(wanted, (height, width), strict=True):
            if isinstance(side, int) and side != given:
                reject(
                    f"OnnxEmbedding: {self.model_path} expects images of {wanted[0]} x "
                    f"{wanted[1]}, and got {height} x {width}. Give size=({wanted[0]}, "
                    f"{wanted[1]})."
                )
        mean, std = _per_channel("mean", self.mean), _per_channel("std", self.std)
        for name, values in (("mean", mean), ("std", std)):
            if values.size not in (1, n_channels):
                expected = f"one number, or {n_channels}, one per channel"
                refuse("OnnxEmbedding", name, expected, values.tolist())
        scaled = ((pixels - mean) / std).astype(DTYPES[entry.type])
        return np.moveaxis(scaled, 3, 1) if self.layout == "nchw" else scaled

    def _input(self, session: Any) -> Any:
        """The input for the images: its name, type and shape."""
        entries = {entry.name: entry for entry in session.get_inputs()}
        if self.input_name is None and len(entries) > 1:
            several = f"{self.model_path} has several inputs, {', '.join(entries)}"
            msg = f"OnnxEmbedding: {several}. Say by input_name which one the images go to."
            raise ParameterError(msg)
        name = next(iter(entries)) if self.input_name is None else self.input_name
        check_choice("OnnxEmbedding", "input_name", name, [*entries])
        entry = entries[name]
        is_image = len(entry.shape) == 4 and entry.type in DTYPES
        if not is_image or (isinstance(entry.shape[0], int) and entry.shape[0] != 1):
            reject(
                f"OnnxEmbedding: input {name} of {self.model_path} is a {entry.type} of shape "
                f"{entry.shape}. Expected floats of shape ({', '.join(self.layout)}), with n "
                "free or 1: export the network so."
            )
        return entry

    def _open_session(self) -> Any:
        """The session, opened anew when file or providers have changed."""
        made_of = (_digest(self.model_path), tuple(self.providers))
        if getattr(self, "_session", (None, None))[0] != made_of:
            content = _read(self.model_path)
            self._session = (made_of, _session(content, self.model_path, self.providers))
        return self._session[1]

    def __getstate__(self) -> dict[str, Any]:
        state: dict[str, Any] = super().__getstate__()
        return {name: value for name, value in state.items() if name != "_session"}


def _session(content: bytes, path: str | Path, providers: Sequence[str]) -> Any:
    onnxruntime = require("onnxruntime", "onnx")
    for provider in providers:
        available = onnxruntime.get_available_providers()
        check_choice("OnnxEmbedding", "providers", provider, available)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, not printed as well
    # Weights in other files would be looked for in the working directory, and be no part of
    # the fingerprint. Nothing is found in a folder that is a file.
    folder = "session.model_external_initializers_file_folder_path"
    options.add_session_config_entry(folder, str(Path(path).absolute()))
    try:
        return onnxruntime.InferenceSession(content, options, providers=list(providers))
    except Exception as error:  # its exceptions have no common class
        what = f"OnnxEmbedding: {path} cannot be opened as an ONNX network: {error}"
        advice = "one complete file, weights included; export or download it again"
        reject(f"{what} Expected {advice}.", error)


def _read(path: str | Path) -> bytes:
    with _readable(path):
        return Path(path).read_bytes()


def _digest(path: str | Path) -> str:
    """The sha256 of a file, computed again only when the file has changed."""
    with _readable(path):
        about = Path(path).stat()
    return _digest_of(path, about.st_mtime_ns, about.st_size)


@lru_cache(maxsize=32)
def _digest_of(path: str | Path, time_ns: int, size: int) -> str:
    return sha256(_read(path)).hexdigest()


@contextmanager
def _readable(path: str | Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        what = f"OnnxEmbedding: {path} cannot be read ({error.strerror})"
        reject(f"{what}. Expected an ONNX file.", error)


def _with_channels(images: Array, expected: Any, path: str) -> Array:
    pixels = images[..., None] if images.ndim == 3 else images
    n_channels = pixels.shape[3]
    if not isinstance(expected, int) or expected == n_channels:
        return pixels
    if expected == 3 and n_channels == 1:
        return np.repeat(pixels, 3, axis=3)
    if expected == 1 and n_channels == 3:
        return as_grey(pixels, "OnnxEmbedding")[..., None]
    what = f"{path} expects {expected} channels, and images have {n_channels}"
    advice = 'Is the layout right? It is "nchw" if channels come first.'
    return reject(f"OnnxEmbedding: {what}. {advice}")


def _per_channel(name: str, value: Any) -> FloatArray:
    try:
        values = np.asarray(value, dtype=np.float64)
    except (TypeError, ValueError):
        values = np.array(np.nan)
    if values.ndim > 1 or not values.size or not np.isfinite(values).all():
        refuse("OnnxEmbedding", name, "a number, or one for each channel", value)
    return values
