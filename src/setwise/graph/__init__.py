"""Columns to proximity graph: lasso, Gaussian, least squares, fixed sparsity."""

from setwise.graph.base import Graph, GraphSolution
from setwise.graph.gaussian import GaussianGraph
from setwise.graph.lasso import LassoGraph
from setwise.graph.least_squares import LeastSquaresGraph
from setwise.graph.omp import OMPGraph

__all__ = [
    "GRAPHS",
    "GaussianGraph",
    "Graph",
    "GraphSolution",
    "LassoGraph",
    "LeastSquaresGraph",
    "OMPGraph",
]

GRAPHS: dict[str, type[Graph]] = {
    "lasso": LassoGraph,
    "gaussian": GaussianGraph,
    "least_squares": LeastSquaresGraph,
    "omp": OMPGraph,
}
