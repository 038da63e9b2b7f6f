"""SHC (Algorithm 2), and the tree of cuts of one graph on which it works, grown on demand.

A cut looks at the graph alone, never at labels, so one tree serves every labelling of the same
vertices: each asks for the cuts it needs, and none is made twice.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np

from setwise._support.compiled import kernels_of
from setwise._support.types import Adjacency, IntArray
from setwise.cut import (
    Cut,
    CutRule,
    Edges,
    ExactCut,
    SweepCut,
    in_scale,
    local_cut,
    spectral_cut,
)
from setwise.cut.bisect import REPAIRS
from setwise.cut.fiedler import (
    ENOUGH,
    FULL_LIMIT,
    MOST_STEPS,
    PRECISE_LIMIT,
    WEAK,
    start_vector,
)
from setwise.errors import ParameterError

# The dummy label of the probe's vertices. Class codes are 0, 1, ..., so no class can have it.
PROBE = -1
# Up to this many vertices, clusters are cut as the graph alone says.
LOCAL_ABOVE = 3000

# Rules that the compiled walk cuts by itself, and what counts as zero if it cuts by sign.
_ZERO: dict[type[CutRule], float | None] = {SweepCut: None, ExactCut: 2**0.5 * ENOUGH}

# What the compiled walk knows of a cluster; where its vertices are in the order of all.
_NODE = np.dtype(
    [
        ("start", np.int32), ("end", np.int32), ("parent", np.int32), ("depth", np.int32),
        ("first_child", np.int32), ("n_children", np.int32), ("n_iterations", np.int32),
        ("repair", np.int8), ("is_cut", np.bool_), ("has_converged", np.bool_),
        ("ncut", np.float64), ("connectivity", np.float64),
    ],
    align=True,
)  # fmt: skip
_OF_CUT = ("ncut", "connectivity", "n_iterations", "has_converged")


@dataclass(frozen=True)
class Node:
    """A cluster of vertices (ascending) and what it was divided into.

    ``children`` are indices of its components, or of its two halves by ``cut``, which is None
    between components. The parent of the root is -1.

    Examples
    --------
    >>> from setwise.cluster import CutTree
    >>> root = CutTree(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]])).nodes[0]
    >>> root.vertices, root.depth, root.children
    (array([0, 1, 2]), 0, ())
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
        Vertices of interest, around which clusters of more than :data:`LOCAL_ABOVE` vertices
        are divided (:func:`setwise.cut.local_cut`; docs/theory.md, "Cuts of large graphs").

    Examples
    --------
    >>> from setwise.cluster import CutTree
    >>> tree = CutTree(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> [tree.nodes[child].vertices.tolist() for child in tree.split(0)]
    [[0, 1], [2]]
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
        self._graph = Edges.of(in_scale(adjacency))
        n = self._graph.n_vertices
        self._order = np.arange(n)
        # Leaves part the vertices among them, and every inner node has at least two children.
        self._table = np.zeros(max(2 * n - 1, 1), dtype=_NODE)
        self._table[0]["parent"], self._table[0]["end"] = -1, n
        self._n_nodes = 1
        self._cuts_by_rule: dict[int, Cut] = {}

    @property
    def nodes(self) -> Sequence[Node]:
        """All clusters so far, the root first; children stand side by side."""
        return _Nodes(self)

    @property
    def n_unconverged(self) -> int:
        """How many cuts so far hit their iteration limit, and are approximate."""
        return int((self._table["is_cut"] & ~self._table["has_converged"]).sum())

    @property
    def n_fallbacks(self) -> int:
        """How many cuts so far had an empty half, so that another rule made the halves."""
        return int(np.count_nonzero(self._table["repair"]))

    def split(self, index: int) -> tuple[int, ...]:
        """Indices of the children of a node, which is divided if it was not.

        A disconnected cluster falls into all its components at once; a connected one in two.
        """
        node = self._table[index]
        size = node["end"] - node["start"]
        if size < 2:
            msg = f"CutTree: a cluster of at least 2 vertices is needed to cut, got {size}."
            raise ParameterError(msg)
        if not node["n_children"]:
            split = kernels_of("setwise.cluster").split
            self._n_nodes = split(index, *self._state(), *self._room_and_how())
        if not node["n_children"]:
            self._cut_by_rule(index)
        return self._children(index)

    def grow(self, class_codes: IntArray) -> tuple[IntArray, IntArray, IntArray]:
        """Divide clusters until each is indivisible, see :func:`shc`.

        Returns the cluster of each vertex, the node of each cluster, and the divided nodes.
        """
        n, kernels = len(self._order), kernels_of("setwise.cluster")
        codes = np.ascontiguousarray(class_codes, dtype=np.int64)
        arrays = np.zeros((4, n + 1), dtype=np.int64)
        walk = kernels.Walk(codes, *arrays, np.array([0, 0, 1]))
        room, how = self._room_and_how()
        while True:
            uncut, self._n_nodes = kernels.grow(walk, *self._state(), room, how)
            if uncut < 0:
                break
            self._cut_by_rule(uncut)
        n_leaves, n_inside, _ = walk.counts
        return walk.labels[:n].copy(), walk.leaves[:n_leaves], walk.inside[:n_inside]

    def _state(self) -> tuple[Any, ...]:
        return tuple(self._graph), self._table, self._order, self._n_nodes

    def _room_and_how(self) -> tuple[Any, Any]:
        """In which arrays the kernels work, and how they cut."""
        n, kernels = len(self._order), kernels_of("setwise.cluster")
        is_compiled = type(self.cut) in _ZERO
        largest = min(LOCAL_ABOVE, PRECISE_LIMIT) if is_compiled else 0
        zero = _ZERO.get(type(self.cut))
        how = kernels.How(start_vector(n), zero, ENOUGH, FULL_LIMIT, MOST_STEPS, WEAK, largest)
        n_edges, n_cut = len(self._graph.data), min(n, largest)
        room = kernels.Room(
            indptr=np.empty(n + 1, np.int32),
            indices=np.empty(n_edges, np.int32),
            data=np.empty(n_edges),
            number=np.full(n, -1, dtype=np.int32),
            rows=np.empty((kernels.N_ROWS, n_cut + 1)),
            numbers=np.empty((4, n + 1), dtype=np.int64),
            side=np.empty(n, dtype=np.bool_),
            lanes=np.empty(kernels.LANES),
            vectors=np.empty((min(n_cut, MOST_STEPS + 1), n_cut)),
        )
        return room, how

    def _cut_by_rule(self, index: int) -> None:
        """Cut a connected cluster that the compiled walk leaves to Python."""
        vertices = self._vertices(index)
        graph = self._graph.inside(vertices)
        candidates = self.seeds if len(vertices) > LOCAL_ABOVE else self.seeds[:0]
        seeds = np.flatnonzero(np.isin(vertices, candidates)) if len(candidates) else candidates
        cut = local_cut(graph, seeds) if len(seeds) else spectral_cut(graph, self.cut)
        node = self._table[index]
        for name in _OF_CUT:
            node[name] = getattr(cut, name)
        node["is_cut"], node["repair"] = True, REPAIRS.index(cut.fallback)
        self._cuts_by_rule[index] = cut
        # The half with the smaller first vertex comes first, whatever its sign.
        part = cut.side != cut.side[0]
        self._n_nodes = kernels_of("setwise.cluster").divide(
            self._table, self._order, index, part, self._n_nodes
        )

    def _vertices(self, index: int) -> IntArray:
        return np.sort(self._order[self._table["start"][index] : self._table["end"][index]])

    def _children(self, index: int) -> tuple[int, ...]:
        first, count = (int(self._table[name][index]) for name in ("first_child", "n_children"))
        return tuple(range(first, first + count))

    def _cut_of(self, index: int) -> Cut | None:
        node = self._table[index]
        if index in self._cuts_by_rule or not node["is_cut"]:
            return self._cuts_by_rule.get(index)
        first_half = self._vertices(int(node["first_child"]))
        known: dict[str, Any] = {name: node[name].item() for name in _OF_CUT}
        side = ~np.isin(self._vertices(index), first_half)
        return Cut(side, self.cut.name, fallback=REPAIRS[node["repair"]], **known)


@dataclass(frozen=True)
class _Nodes(Sequence[Node]):
    """The nodes of a tree, each made when it is looked at."""

    tree: CutTree

    def __len__(self) -> int:
        return self.tree._n_nodes

    @overload
    def __getitem__(self, index: int) -> Node: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Node]: ...
    def __getitem__(self, index: int | slice) -> Node | Sequence[Node]:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        if not 0 <= index < len(self):
            raise IndexError(index)
        row = self.tree._table[index]
        return Node(
            vertices=self.tree._vertices(index),
            depth=int(row["depth"]),
            parent=int(row["parent"]),
            children=self.tree._children(index),
            cut=self.tree._cut_of(index),
        )


@dataclass(frozen=True)
class HierarchicalClusters:
    """The leaves SHC stopped at, numbered by ``labels``, left to right in ``tree``.

    ``inner`` are the divided nodes, in the order of division.

    Examples
    --------
    >>> from setwise.cluster import PROBE, CutTree, shc
    >>> tree = CutTree(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> shc(tree, np.array([0, PROBE, 1])).leaves
    (1, 2)
    """

    labels: IntArray
    leaves: tuple[int, ...]
    inner: tuple[int, ...]
    tree: CutTree


def is_indivisible(class_codes: IntArray) -> bool:
    """Whether a cluster tells all it can: no probe in it, or fewer than two classes.

    Examples
    --------
    >>> from setwise.cluster import PROBE, is_indivisible
    >>> is_indivisible(np.array([0, 0, PROBE])), is_indivisible(np.array([0, 1, PROBE]))
    (True, False)
    """
    everything = np.arange(len(class_codes))
    return bool(kernels_of("setwise.cluster").indivisible(class_codes, everything))


def shc(tree: CutTree, class_codes: IntArray) -> HierarchicalClusters:
    """Divide clusters until each is indivisible (Algorithm 2, with a stack).

    ``class_codes`` is the class of each vertex, ``PROBE`` for the unlabelled.

    Examples
    --------
    >>> from setwise.cluster import PROBE, CutTree, shc
    >>> tree = CutTree(np.array([[0, 1, 0], [1, 0, 0.1], [0, 0.1, 0]]))
    >>> shc(tree, np.array([0, PROBE, 1])).labels
    array([0, 0, 1])
    """
    labels, leaves, inner = tree.grow(class_codes)
    return HierarchicalClusters(labels, tuple(leaves.tolist()), tuple(inner.tolist()), tree)
