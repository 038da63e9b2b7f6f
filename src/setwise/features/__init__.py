"""Images to vectors, and vectors to vectors before any basis: the views of an ensemble."""

from setwise.features.cached import Cached
from setwise.features.embedding import Embedding
from setwise.features.equalise import Equalised
from setwise.features.faces import Faces
from setwise.features.hog import HOG
from setwise.features.images import ImageFeature
from setwise.features.lbp import LBP
from setwise.features.network import Network
from setwise.features.onnx import OnnxEmbedding
from setwise.features.pixels import Pixels
from setwise.features.typical import is_typical
from setwise.features.units import unit_rows
from setwise.features.vectors import PerVector
from setwise.features.whitening import Whitener

__all__ = [
    "HOG",
    "LBP",
    "Cached",
    "Embedding",
    "Equalised",
    "Faces",
    "ImageFeature",
    "Network",
    "OnnxEmbedding",
    "PerVector",
    "Pixels",
    "Whitener",
    "is_typical",
    "unit_rows",
]
