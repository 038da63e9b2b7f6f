"""Images to vectors, and vectors to vectors before any basis: the views of an ensemble."""

from setwise.features.cache import Cached
from setwise.features.descriptors import HOG, LBP
from setwise.features.embedding import Embedding, OnnxEmbedding
from setwise.features.faces import Faces
from setwise.features.images import Equalised, ImageFeature, Pixels
from setwise.features.network import Network
from setwise.features.typical import is_typical
from setwise.features.vectors import PerVector, unit_rows
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
