"""Columns to proximity graph: lasso, Gaussian, least squares, fixed sparsity."""

from setwise.errors import ParameterError
from setwise.graph.base import GalleryGraph, Graph
from setwise.graph.gaussian import GaussianGraph
from setwise.graph.lasso import LassoGraph
from setwise.graph.least_squares import LeastSquaresGraph
from setwise.graph.omp import OMPGraph

__all__ = [
    "GRAPHS",
    "GalleryGraph",
    "GaussianGraph",
    "Graph",
    "LassoGraph",
    "LeastSquaresGraph",
    "OMPGraph",
    "as_graph",
]

GRAPHS: dict[str, type[Graph]] = {
    "lasso": LassoGraph,
    "gaussian": GaussianGraph,
    "least_squares": LeastSquaresGraph,
    "omp": OMPGraph,
}


def as_graph(graph: str | Graph) -> Graph:
    """A graph by its name, with default parameters, or the graph itself."""
    if isinstance(graph, Graph):
        return graph
    if graph not in GRAPHS:
        msg = f"graph must be one of {sorted(GRAPHS)} or a Graph, got {graph!r}."
        raise ParameterError(msg)
    return GRAPHS[graph]()
