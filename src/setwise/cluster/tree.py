"""The tree of cuts of one graph, grown where somebody asks.

A cut looks at the graph alone, never at labels, so one tree serves every labelling of the
same vertices: each asks for the cuts its stopping rule needs, and none is made twice.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise._support.types import Adjacency, IntArray
from setwise.cut import Cut, CutRule, Edges, in_scale, local_cut, spectral_cut

__all__ = ["LOCAL_ABOVE", "CutTree", "Node"]

# Up to this many vertices, clusters are cut as the graph alone says.
LOCAL_ABOVE = 3000


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

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cluster import PROBE, CutTree, shc
    >>> tree = CutTree(adjacency)
    >>> root = tree.nodes[0]
    >>> root.vertices, root.depth, root.children
    (array([0, 1, 2, 3]), 0, ())
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
    cut : {"sweep", "exact", "paper"} or CutRule
        How to divide a connected cluster, see :func:`setwise.cut.bisect`.
    seeds : array of int, optional
        Vertices of interest. A cluster of more than :data:`LOCAL_ABOVE` vertices is divided
        around those of them that it holds (:func:`setwise.cut.local_cut`): there may be a
        thousand clusters to take off before the one that holds them, and each would take as
        long.

    Examples
    --------
    >>> import numpy as np
    >>> adjacency = np.array([[0, 1, 0, 0], [1, 0, 0.1, 0], [0, 0.1, 0, 1], [0, 0, 1, 0]])
    >>> from setwise.cluster import PROBE, CutTree, shc
    >>> tree = CutTree(adjacency)
    >>> [tree.nodes[child].vertices.tolist() for child in tree.split(0)]
    [[0, 1], [2, 3]]
    """

    def __init__(
        self,
        adjacency: Adjacency,
        cut: str | CutRule = "sweep",
        *,
        seeds: IntArray | None = None,
    ) -> None:
        self.adjacency = adjacency
        self.cut = CutRule.of(cut, "CutTree")
        self.seeds = np.empty(0, dtype=np.int64) if seeds is None else seeds
        self.nodes = [Node(np.arange(adjacency.shape[0]), depth=0)]
        # Where the sub-graph of an uncut node is to be found: a graph, and which vertices.
        graph = Edges.of(in_scale(adjacency))
        self._sources: dict[int, tuple[Edges, IntArray | None]] = {0: (graph, None)}

    @property
    def n_unconverged(self) -> int:
        """How many cuts so far hit their iteration limit, and are approximate."""
        return sum(node.cut is not None and not node.cut.has_converged for node in self.nodes)

    @property
    def n_fallbacks(self) -> int:
        """How many cuts so far had an empty half, so that another rule made the halves."""
        return sum(node.cut is not None and bool(node.cut.fallback) for node in self.nodes)

    def split(self, index: int) -> tuple[int, ...]:
        """Indices of the children of a node, cutting it if nobody did before.

        A disconnected cluster falls into its components, all at once: separating them costs
        nothing, and which of them came first must not matter. A connected one is cut in two.
        """
        node = self.nodes[index]
        if not node.children:
            source, members = self._sources[index]
            graph = source if members is None else source.inside(members)
            part = graph.components()
            if not part.any():
                node.cut = self._cut(graph, node.vertices)
                # The half with the smaller first vertex comes first, whatever its sign.
                part = (node.cut.side != node.cut.side[0]).astype(np.int64)
            del self._sources[index]
            first = len(self.nodes)
            order, sizes = np.argsort(part, kind="stable"), np.bincount(part)
            for inside in np.split(order, np.cumsum(sizes)[:-1]):
                self._sources[len(self.nodes)] = graph, inside
                self.nodes.append(Node(node.vertices[inside], node.depth + 1, index))
            node.children = tuple(range(first, len(self.nodes)))
        return node.children

    def _cut(self, graph: Edges, vertices: IntArray) -> Cut:
        if len(vertices) > LOCAL_ABOVE:
            seeds = np.flatnonzero(np.isin(vertices, self.seeds))
            if len(seeds):
                return local_cut(graph, seeds)
        return spectral_cut(graph, self.cut)
