"""EfficientNet-Lite0 as an ONNX network, built from its weights."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require

# Of TensorFlow's batch normalisation, with which the network was trained.
EPSILON = 1e-3
# Blocks of each stage, and stride of the first; Tan and Le, table 1.
STAGES = ((1, 1), (2, 2), (2, 2), (3, 2), (3, 1), (4, 2), (1, 1))
OPSET, IR_VERSION = 17, 8

Weights = Mapping[str, npt.NDArray[Any]]


def build(weights: Weights, *, classifies: bool = False) -> bytes:
    """EfficientNet-Lite0 as the content of an ONNX file.

    It takes bytes ``(n, height, width, 3)`` of red, green and blue, and gives the averages of
    the last layer before the classifier, ``(n, 1280)``, or with ``classifies`` the scores of
    the 1000 classes of ImageNet. Batch normalisation is folded into the convolutions, in
    double precision.
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
    entry = graph.last
    n_before = graph.n_channels
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
        made = f"made{len(self.nodes)}"
        node = self.onnx.helper.make_node(kind, [self.last, *names], [made], **attributes)
        self.nodes.append(node)
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
        self.add(
            "Conv",
            kernel,
            bias,
            auto_pad="SAME_UPPER",
            group=self.n_channels // kernel.shape[1],
            strides=[stride, stride],
        )
        self.n_channels = len(kernel)
        if is_clipped:
            self.add("Clip", np.float32(0), np.float32(6))

    def content(self, output: str) -> bytes:
        """The network so far as the content of a file."""
        helper, kind = self.onnx.helper, self.onnx.TensorProto
        self.nodes[-1].output[0] = output
        graph = helper.make_graph(
            self.nodes,
            "efficientnet-lite0",
            [helper.make_tensor_value_info("images", kind.UINT8, ["n", "h", "w", 3])],
            [helper.make_tensor_value_info(output, kind.FLOAT, ["n", "features"])],
            self.constants,
        )
        opset = [helper.make_opsetid("", OPSET)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=IR_VERSION)
        return bytes(model.SerializeToString())

    def _constant(self, values: Any) -> str:
        name = f"constant{len(self.constants)}"
        array = np.asarray(values, dtype=np.float32)
        self.constants.append(self.onnx.numpy_helper.from_array(array, name))
        return name


def _folded(weights: Weights, name: str, norm: str) -> tuple[npt.NDArray[Any], ...]:
    """Kernel and bias of a convolution with its batch normalisation."""
    scale, shift, mean, variance = (
        weights[f"{norm}.{part}"].astype(np.float64)
        for part in ("weight", "bias", "running_mean", "running_var")
    )
    factor = scale / np.sqrt(variance + EPSILON)
    kernel = weights[f"{name}.weight"].astype(np.float64) * factor[:, None, None, None]
    return kernel, shift - mean * factor
