"""Columns to proximity graph: lasso, Gaussian, least squares, fixed sparsity."""

from setwise.graph.base import GalleryGraph, Graph, Insertion
from setwise.graph.lasso import LassoGraph
from setwise.graph.other import GaussianGraph, LeastSquaresGraph, OMPGraph

__all__ = [
    "GalleryGraph", "GaussianGraph", "Graph", "Insertion", "LassoGraph",
    "LeastSquaresGraph", "OMPGraph",
]  # fmt: skip
