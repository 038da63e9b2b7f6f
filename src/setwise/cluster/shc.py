"""SHC, Algorithm 2: cut in two until every cluster is indivisible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise.cluster.tree import CutTree
from setwise.types import IntArray

__all__ = ["PROBE", "HierarchicalClusters", "is_indivisible", "shc"]

# The dummy label of the probe's vertices. Class codes are 0, 1, ..., so no class can have it.
PROBE = -1


@dataclass(frozen=True)
class HierarchicalClusters:
    """The leaves SHC stopped at.

    Attributes
    ----------
    labels : array of int, shape (n_vertices,)
        Cluster of each vertex, numbered as ``leaves``.
    leaves : tuple of int
        Nodes of ``tree`` that are clusters, left to right.
    inner : tuple of int
        Nodes that were divided, in the order of division.
    tree : CutTree
        Where the cuts are.
    """

    labels: IntArray
    leaves: tuple[int, ...]
    inner: tuple[int, ...]
    tree: CutTree


def is_indivisible(class_codes: IntArray) -> bool:
    """Whether a cluster tells all it can: no probe in it, or fewer than two classes."""
    is_probe = class_codes == PROBE
    if not is_probe.any():
        return True
    gallery = class_codes[~is_probe]
    return len(gallery) == 0 or bool((gallery == gallery[0]).all())


def shc(tree: CutTree, class_codes: IntArray) -> HierarchicalClusters:
    """Divide clusters until each is indivisible (Algorithm 2, with a stack).

    The paper's recursion may go as deep as there are vertices; a stack may too.

    Parameters
    ----------
    tree : CutTree
        Cuts of the graph; the ones needed and not there yet are made.
    class_codes : array of int, shape (n_vertices,)
        Class of each vertex, ``PROBE`` for the unlabelled.
    """
    labels = np.empty(len(class_codes), dtype=np.int64)
    leaves: list[int] = []
    inner: list[int] = []
    waiting = [0]
    while waiting:
        index = waiting.pop()
        vertices = tree.nodes[index].vertices
        if len(vertices) < 2 or is_indivisible(class_codes[vertices]):
            labels[vertices] = len(leaves)
            leaves.append(index)
        else:
            inner.append(index)
            first, second = tree.split(index)
            waiting += [second, first]
    return HierarchicalClusters(labels, tuple(leaves), tuple(inner), tree)
