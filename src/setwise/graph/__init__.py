"""Columns to proximity graph: lasso, Gaussian, least squares, fixed sparsity."""

from setwise.graph.base import GalleryGraph, Graph
from setwise.graph.gaussian import GaussianGraph
from setwise.graph.lasso import LassoGraph
from setwise.graph.least_squares import LeastSquaresGraph
from setwise.graph.omp import OMPGraph

__all__ = [
    "GalleryGraph",
    "GaussianGraph",
    "Graph",
    "LassoGraph",
    "LeastSquaresGraph",
    "OMPGraph",
]
