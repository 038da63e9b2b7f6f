"""The tree of cuts of one graph, grown where somebody asks.

A cut looks at the graph alone, never at labels, so one tree serves every labelling of the
same vertices: each asks for the cuts its stopping rule needs, and none is made twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise.cut import Cut, Edges, in_scale, spectral_cut
from setwise.types import Adjacency, IntArray

__all__ = ["CutTree", "Node"]


@dataclass
class Node:
    """A cluster of vertices, and what it was divided into once somebody asked.

    Attributes
    ----------
    vertices : array of int
        Its members, ascending.
    depth, parent : int
        Depth in the tree, and index of the parent (-1 for the root).
    children : tuple of int
        Indices of its components, or of its two halves; empty while undivided.
    cut : Cut or None
        The cut between two halves; None while undivided, and between components.
    """

    vertices: IntArray
    depth: int
    parent: int = -1
    children: tuple[int, ...] = ()
    cut: Cut | None = None


class CutTree:
    """Two-way cuts of a graph, made on demand and remembered.

    Parameters
    ----------
    adjacency : symmetric non-negative matrix of shape (n_vertices, n_vertices)
        Edge weights, zero diagonal.
    cut : {"sweep", "exact", "paper"}
        How to divide a connected cluster, see :func:`setwise.cut.bisect`.
    certify : bool
        Whether to find out of every cut if another may be as good.
    """

    def __init__(
        self, adjacency: Adjacency, cut: str = "sweep", *, certify: bool = False
    ) -> None:
        self.adjacency = adjacency
        self.cut = cut
        self.certify = certify
        self.nodes = [Node(np.arange(adjacency.shape[0]), depth=0)]
        # Sub-graphs of uncut nodes; a node's own is dropped once its children have theirs.
        self._graphs: dict[int, Edges] = {0: Edges.of(in_scale(adjacency))}

    def split(self, index: int) -> tuple[int, ...]:
        """Indices of the children of a node, cutting it if nobody did before.

        A disconnected cluster falls into its components, all at once: separating them costs
        nothing, and which of them came first must not matter. A connected one is cut in two.
        """
        node = self.nodes[index]
        if not node.children:
            graph = self._graphs[index]
            part = graph.components()
            if not part.any():
                node.cut = spectral_cut(graph, self.cut, certify=self.certify)
                # The half with the smaller first vertex comes first, whatever its sign.
                part = (node.cut.side != node.cut.side[0]).astype(np.int64)
            del self._graphs[index]
            first = len(self.nodes)
            for inside, sub_graph in graph.parts(part):
                self._graphs[len(self.nodes)] = sub_graph
                self.nodes.append(Node(node.vertices[inside], node.depth + 1, index))
            node.children = tuple(range(first, len(self.nodes)))
        return node.children
