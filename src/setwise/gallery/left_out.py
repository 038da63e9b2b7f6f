"""Views of many gallery sets, each left out of the gallery as if it were the probe.

Neither graph nor tree of cuts depends on which set is the probe, so all views share them. Edges
of all sets are summed in one pass over the graph, and angles come from blocks of products.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import Basis
from setwise.cluster import Clustering
from setwise.gallery.evidence import (
    Given,
    LayerGraph,
    LayerView,
    Targets,
    start_clustering,
)
from setwise.graph import GalleryGraph

# Bytes of inner products that are computed together.
_BLOCK_BYTES = 2**24
# Powers of a matrix whose traces bound its largest eigenvalue.
_EXPONENTS = (1, 2, 4)


class LeftOutViews:
    """One layer's views of some gallery sets, each left out of the gallery in turn."""

    def __init__(self, layer: LayerGraph, chosen: IntArray) -> None:
        self.layer, self.chosen = layer, chosen

    def __iter__(self) -> Iterator[LayerView]:
        return (self._view(place) for place in range(len(self.chosen)))

    def _view(self, place: int) -> LayerView:
        shared: Given = {
            "angles": partial(self._angles_of, place),
            "edge_shares": partial(self._edge_shares_of, place),
            "clustering": lambda: self.clustering,
        }
        return LayerView(self.layer, left_out=int(self.chosen[place]), given=shared)

    @lazy
    def clustering(self) -> Clustering:
        """Clusters of the gallery's columns, which all views share."""
        graph = self.layer.graph
        return start_clustering(self.layer, graph.adjacency, graph.columns)

    @lazy
    def angles(self) -> tuple[FloatArray, FloatArray]:
        """Largest, and mean squared, cosine to each target's nearest set, per chosen set."""
        layer = self.layer
        return nearest_angles(layer.graph.columns, layer.targets, self.chosen, layer.basis)

    def _angles_of(self, place: int) -> tuple[FloatArray, FloatArray]:
        largest, mean = self.angles
        return largest[place], mean[place]

    @lazy
    def tried_columns(self) -> IntArray:
        """The columns of the chosen sets, ascending."""
        return np.flatnonzero(np.isin(self.layer.targets.sets, self.chosen))

    @lazy
    def edge_shares(self) -> FloatArray:
        """Share of each tried column's edges to other sets that goes to each target."""
        return edge_shares(self.layer.graph, self.layer.targets, self.tried_columns)

    def _edge_shares_of(self, place: int) -> FloatArray:
        own = np.flatnonzero(self.layer.targets.sets == self.chosen[place])
        return self.edge_shares[np.searchsorted(self.tried_columns, own)]


def edge_shares(graph: GalleryGraph, targets: Targets, tried: IntArray) -> FloatArray:
    """Share of the edges of some columns to other sets that goes to each target."""
    edges = graph.adjacency[tried].tocoo()
    is_other = targets.sets[tried[edges.row]] != targets.sets[edges.col]
    start, end = edges.row[is_other].astype(np.int64), edges.col[is_other]
    n_tried, n_targets = len(tried), targets.n_targets
    places = start * n_targets + targets.targets[end]
    counted = np.bincount(places, edges.data[is_other], n_tried * n_targets)
    by_target = counted.astype(np.float64, copy=False).reshape(n_tried, n_targets)
    n_sets = targets.sets_per_target
    own = np.arange(n_tried), targets.targets[tried]
    own_shares = by_target[own] / np.maximum(n_sets[own[1]] - 1.0, 1.0)  # without itself
    by_target /= np.maximum(n_sets, 1.0)
    by_target[own] = own_shares
    total = by_target.sum(axis=1, keepdims=True)
    by_target /= np.where(total > 0, total, 1.0)
    return by_target


def nearest_angles(
    matrix: npt.NDArray[np.floating], targets: Targets, chosen: IntArray, basis: Basis
) -> tuple[FloatArray, FloatArray]:
    """Cosines of the angles between some sets and the nearest other set of each target."""
    largest, mean = np.zeros((2, len(chosen), targets.n_targets))
    first, widths, place = targets.spans
    sets, most = targets.sets[first], int(widths.max(initial=0))
    # Sets of fewer columns are filled up with zeros, which changes no angle.
    padded = np.zeros((len(first), most, len(matrix)), dtype=matrix.dtype)
    padded[np.repeat(np.arange(len(first)), widths), place] = matrix.T
    best = _BestOfTargets(targets)
    angles = _canonical if basis.is_orthonormal else _squares if basis.has_lengths else _nearest
    has_columns = np.flatnonzero(np.isin(chosen, sets))
    n_together = max(1, _BLOCK_BYTES // (8 * most * most * len(first) + 1))
    for start in range(0, len(has_columns), n_together):
        part = has_columns[start : start + n_together]
        own = np.searchsorted(sets, chosen[part])
        cosines = padded[own].reshape(-1, len(matrix)) @ padded.reshape(-1, len(matrix)).T
        blocks = cosines.reshape(len(own), most, len(first), most).swapaxes(1, 2)
        blocks[np.arange(len(own)), own] = 0.0
        largest[part], mean[part] = angles(blocks.astype(np.float64), widths[own], widths, best)
    return largest, mean


class _BestOfTargets:
    """Reduces values per set to the largest of each target."""

    def __init__(self, targets: Targets) -> None:
        self.of_sets, self._n_targets = targets.of_sets, targets.n_targets
        self._order = np.argsort(self.of_sets, kind="stable")
        self._present, self._first = np.unique(self.of_sets[self._order], return_index=True)

    def largest(self, values: FloatArray) -> FloatArray:
        """Of values of shape (n, n_sets), none negative; 0 where a target has no set."""
        result = np.zeros((len(values), self._n_targets))
        ordered = values[:, self._order]
        result[:, self._present] = np.maximum.reduceat(ordered, self._first, axis=1)
        return result


def _canonical(
    blocks: FloatArray, own_widths: IntArray, widths: IntArray, best: _BestOfTargets
) -> tuple[FloatArray, FloatArray]:
    """Of canonical angles, by inner products of shape (n_own, n_sets, n_columns, n_columns)."""
    gram = blocks @ blocks.swapaxes(2, 3)
    squares = np.zeros(gram.shape[:2])
    wanted = _may_be_largest(gram, best)
    squares[wanted] = np.clip(np.linalg.eigvalsh(gram[wanted])[:, -1], 0.0, 1.0)
    mean = np.trace(gram, axis1=2, axis2=3) / np.minimum(own_widths[:, None], widths)
    return np.sqrt(best.largest(squares)), best.largest(mean)


def _may_be_largest(gram: FloatArray, best: _BestOfTargets) -> BoolArray:
    """Which sets may have the largest eigenvalue of all sets of their target.

    With a power ``P = G^e`` and the largest eigenvalue ``l`` of ``G``, the trace of ``P^2`` is
    at least ``l^(2e)``, and at most ``l^e`` times the trace of ``P``: an upper and a lower
    bound of ``l``. Squaring ``P``, far cheaper than eigenvalues, brings them together.
    """
    wanted = np.ones(gram.shape[:2], dtype=np.bool_)
    least = np.zeros(gram.shape[:2])
    power = gram.reshape(-1, *gram.shape[2:])
    for exponent in _EXPONENTS:
        squared = np.einsum("nij,nij->n", power, power)
        trace = np.einsum("nii->n", power)
        least[wanted] = (squared / np.where(trace > 0, trace, 1.0)) ** (1.0 / exponent)
        enough = best.largest(least)[:, best.of_sets][wanted] * (1.0 - 1e-9)
        stays = squared ** (0.5 / exponent) >= enough
        wanted[wanted] = stays
        if exponent != _EXPONENTS[-1]:
            power = power[stays]
            power = power @ power
    return wanted


def _squares(
    blocks: FloatArray, own_widths: IntArray, widths: IntArray, best: _BestOfTargets
) -> tuple[FloatArray, FloatArray]:
    """Of columns with lengths: the root of the sum of squares, and the sum."""
    sums = best.largest(np.minimum(np.einsum("nsij,nsij->ns", blocks, blocks), 1.0))
    return np.sqrt(sums), sums


def _nearest(
    blocks: FloatArray, own_widths: IntArray, widths: IntArray, best: _BestOfTargets
) -> tuple[FloatArray, FloatArray]:
    """Of the angles between each own column and the nearest of a set."""
    nearest = np.maximum(blocks.max(axis=3), 0.0)
    mean = (nearest**2).sum(axis=2) / own_widths[:, None]
    return best.largest(nearest.max(axis=2)), best.largest(mean)
