"""The tree of cuts of one graph, grown where somebody asks.

A cut looks at the graph alone, never at labels, so one tree serves every labelling of the
same vertices: each asks for the cuts its stopping rule needs, and none is made twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from setwise.cut import Cut, bisect
from setwise.cut.fiedler import DENSE_LIMIT
from setwise.types import Adjacency, IntArray

__all__ = ["CutTree", "Node"]


@dataclass
class Node:
    """A cluster of vertices, and the cut that divides it once one was asked for."""

    vertices: IntArray
    depth: int
    parent: int = -1
    children: tuple[int, int] | None = None
    cut: Cut | None = None


class CutTree:
    """Two-way cuts of a graph, made on demand and remembered.

    Parameters
    ----------
    adjacency : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        Edge weights, zero diagonal.
    cut : {"sweep", "exact", "paper"}
        How to divide a connected cluster, see :func:`setwise.cut.bisect`.
    """

    def __init__(self, adjacency: Adjacency, cut: str = "sweep") -> None:
        self.adjacency = adjacency
        self.cut = cut
        self.nodes = [Node(np.arange(adjacency.shape[0]), depth=0)]
        # Sub-graphs of uncut nodes; a node's own is dropped once its children have theirs.
        self._graphs: dict[int, Adjacency] = {0: _compact(adjacency)}

    def split(self, index: int) -> tuple[int, int]:
        """Indices of the two children of a node, cutting it if nobody did before."""
        node = self.nodes[index]
        if node.children is None:
            graph = self._graphs[index]
            node.cut = bisect(graph, self.cut)
            del self._graphs[index]
            # The half with the smaller first vertex comes first, whatever its sign.
            first_side = node.cut.side[0]
            node.children = (len(self.nodes), len(self.nodes) + 1)
            for side in (first_side, not first_side):
                inside = np.flatnonzero(node.cut.side == side)
                self._graphs[len(self.nodes)] = _compact(graph[inside][:, inside])
                self.nodes.append(Node(node.vertices[inside], node.depth + 1, index))
        return node.children


def _compact(graph: Adjacency) -> Adjacency:
    """Small graphs dense: every step on them is faster, and the result the same."""
    if sp.issparse(graph) and graph.shape[0] <= DENSE_LIMIT:
        return graph.toarray()
    return graph
