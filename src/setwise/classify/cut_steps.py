"""The tree of cuts of one layer, node by node, as explanations show it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.gallery import Gallery
from setwise.classify.layer import LayerResult
from setwise.cluster import HierarchicalClusters
from setwise.cut import sign_switches

__all__ = ["CutStep", "cut_steps", "probe_switches"]


@dataclass(frozen=True)
class CutStep:
    """One node of the tree of cuts.

    Attributes
    ----------
    node, parent : int
        Index of the node and of its parent (-1 for the root).
    children : tuple of int
        Two halves or several components; none for a leaf.
    depth, n_columns, n_probe : int
        Depth in the tree, columns in the node, the probe's columns among them.
    class_counts : array of int, shape (n_classes,)
        Columns of each class.
    kind : str
        ``"leaf"``, ``"components"`` or the name of the spectral cut that divides it.
    connectivity, ncut : float
        Of the cut that divides it; NaN for a leaf.
    fell_away : tuple
        Labels that were together with the probe here and are no longer after the cut.
    """

    node: int
    parent: int
    children: tuple[int, ...]
    depth: int
    n_columns: int
    n_probe: int
    class_counts: IntArray
    kind: str
    connectivity: float
    ncut: float
    fell_away: tuple[Any, ...]


def cut_steps(gallery: Gallery, shown: int, result: LayerResult) -> tuple[CutStep, ...]:
    """The nodes of a layer's tree, inner ones first; none where its clusters have no tree."""
    clusters = result.clusters
    if not isinstance(clusters, HierarchicalClusters):
        return ()
    owners = _Owners(gallery.columns(gallery.layers[shown]).classes, gallery.n_classes)
    nodes = clusters.tree.nodes
    inner = [_step(gallery, nodes, i, owners, is_leaf=False) for i in clusters.inner]
    return tuple(
        inner + [_step(gallery, nodes, i, owners, is_leaf=True) for i in clusters.leaves]
    )


@dataclass(frozen=True)
class _Owners:
    """Whose the columns of a graph are; those after the gallery's are the probe's."""

    classes: IntArray
    n_classes: int

    def count(self, inside: IntArray) -> tuple[IntArray, int]:
        """How many of some columns are of each class, and how many of the probe."""
        known = self.classes[inside[inside < len(self.classes)]]
        return np.bincount(known, minlength=self.n_classes), len(inside) - len(known)


def _step(gallery: Gallery, nodes: Any, i: int, owners: _Owners, *, is_leaf: bool) -> CutStep:
    node = nodes[i]
    class_counts, n_probe = owners.count(node.vertices)
    cut = None if is_leaf else node.cut
    free = np.nan if is_leaf else 0.0
    children = () if is_leaf else node.children
    is_gone = (class_counts > 0) & ~_stays(
        [nodes[child].vertices for child in children], owners
    )
    has_left = is_gone & bool(children and n_probe)
    return CutStep(
        node=i,
        parent=node.parent,
        children=children,
        depth=node.depth,
        n_columns=len(node.vertices),
        n_probe=n_probe,
        class_counts=class_counts,
        kind="leaf" if is_leaf else "components" if cut is None else cut.kind,
        connectivity=free if cut is None else cut.connectivity,
        ncut=free if cut is None else cut.ncut,
        fell_away=tuple(gallery.classes[has_left]),
    )


def _stays(parts: list[IntArray], owners: _Owners) -> BoolArray:
    """Which classes are together with the probe in some of the parts."""
    stays = np.zeros(owners.n_classes, dtype=np.bool_)
    for inside in parts:
        class_counts, n_probe = owners.count(inside)
        stays |= (class_counts > 0) & (n_probe > 0)
    return stays


def probe_switches(result: LayerResult, n_probe: int) -> FloatArray:
    """Sign switches of the probe's columns, summed over the cuts they went through.

    Cuts of too many columns for Algorithm 3 are not counted.
    """
    clusters = result.clusters
    switches = np.zeros(len(clusters.labels))
    if isinstance(clusters, HierarchicalClusters):
        tree = clusters.tree
        for index in clusters.inner:
            node = tree.nodes[index]
            if node.cut is not None:
                inside = node.vertices
                of_cut = sign_switches(tree.adjacency[inside][:, inside])
                switches[inside] += 0 if of_cut is None else of_cut
    return switches[len(switches) - n_probe :]
