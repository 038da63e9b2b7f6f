"""Gallery sets, each seen as if it were the probe, many at a time.

What :class:`setwise.classify.evidence.OwnSet` computes for one set is the same few products for
each of hundreds. Here they are made for all of them at once: edges by one pass over the graph,
angles by blocks of inner products.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import lazy
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.basis import Basis
from setwise.classify.evidence import OwnSet, SharedTree
from setwise.classify.layer import Columns, Comparison, spans_of_sets
from setwise.graph import GalleryGraph

__all__ = ["TriedSet", "TriedSets", "row_angles", "row_edge_shares"]

# Of inner products that are looked at together.
_BLOCK_BYTES = 2**24
# Powers of a matrix that bounds of its largest eigenvalue are taken of.
_EXPONENTS = (1, 2, 4)


class TriedSets:
    """Some gallery sets; what is seen of all of them is computed when first asked for.

    Parameters
    ----------
    graph : GalleryGraph
        The gallery's columns, solved.
    columns : Columns
        Whose they are.
    chosen : array of int
        The sets.
    basis : Basis
        What made the columns.
    how : Comparison
        How columns are clustered and distributions compared.
    """

    def __init__(
        self,
        graph: GalleryGraph,
        columns: Columns,
        chosen: IntArray,
        basis: Basis,
        how: Comparison,
    ) -> None:
        self.graph, self.columns, self.chosen = graph, columns, chosen
        self.basis, self.how = basis, how
        self.tree = SharedTree(graph, how)

    def __iter__(self) -> Iterator[TriedSet]:
        return (TriedSet(self, place) for place in range(len(self.chosen)))

    @lazy
    def angles(self) -> tuple[FloatArray, FloatArray]:
        """Largest, and mean squared, cosine to each row's nearest set, for each chosen set."""
        return row_angles(self.graph.columns, self.columns, self.chosen, self.basis)

    @lazy
    def tried_columns(self) -> IntArray:
        """The columns of the chosen sets, ascending."""
        return np.flatnonzero(np.isin(self.columns.sets, self.chosen))

    @lazy
    def edge_shares(self) -> FloatArray:
        """Share of each of their edges to other sets that goes to each row."""
        return row_edge_shares(self.graph, self.columns, self.tried_columns)


class TriedSet(OwnSet):
    """One of them: what is computed for all is looked up."""

    def __init__(self, together: TriedSets, place: int) -> None:
        index = int(together.chosen[place])
        super().__init__(
            together.graph,
            together.columns,
            index,
            together.basis,
            together.how,
            together.tree,
        )
        self._together, self._place = together, place

    @lazy
    def angles(self) -> tuple[FloatArray, FloatArray]:
        """Largest, and mean squared, cosine of the angles to each row's nearest set."""
        largest, mean = self._together.angles
        return largest[self._place], mean[self._place]

    @lazy
    def edge_shares(self) -> FloatArray:
        """Share of each of its columns' edges (rows) that goes to each row of the gallery."""
        own = np.searchsorted(self._together.tried_columns, np.flatnonzero(self.is_own))
        return self._together.edge_shares[own]


def row_edge_shares(graph: GalleryGraph, columns: Columns, tried: IntArray) -> FloatArray:
    """Share of the edges of some columns to other sets that goes to each row.

    Per gallery set, so that a class of many sets has no advantage.

    Parameters
    ----------
    graph : GalleryGraph
        The gallery's columns, solved.
    columns : Columns
        Whose they are.
    tried : array of int, shape (n_tried,)
        The columns.

    Returns
    -------
    array of shape (n_tried, n_rows)
    """
    edges = graph.adjacency[tried].tocoo()
    is_other = columns.sets[tried[edges.row]] != columns.sets[edges.col]
    start, end = edges.row[is_other].astype(np.int64), edges.col[is_other]
    n_tried, n_rows = len(tried), columns.n_rows
    places = start * n_rows + columns.rows[end]
    counted = np.bincount(places, edges.data[is_other], n_tried * n_rows)
    by_row = counted.astype(np.float64, copy=False).reshape(n_tried, n_rows)
    n_sets = np.bincount(columns.set_rows, minlength=n_rows).astype(np.float64)
    own = np.arange(n_tried), columns.rows[tried]
    own_shares = by_row[own] / np.maximum(n_sets[own[1]] - 1.0, 1.0)  # without itself
    by_row /= np.maximum(n_sets, 1.0)
    by_row[own] = own_shares
    total = by_row.sum(axis=1, keepdims=True)
    by_row /= np.where(total > 0, total, 1.0)
    return by_row


def row_angles(
    matrix: npt.NDArray[np.floating], columns: Columns, chosen: IntArray, basis: Basis
) -> tuple[FloatArray, FloatArray]:
    """Cosines of the angles between some sets and the nearest other set of each row.

    As :func:`setwise.classify.evidence.set_angles` and the largest of each row.

    Parameters
    ----------
    matrix : array of shape (n_features, n_columns)
        The gallery's columns.
    columns : Columns
        Whose they are.
    chosen : array of int
        The sets.
    basis : Basis
        What made the columns.

    Returns
    -------
    largest, mean : arrays of shape (n_chosen, n_rows)
        Cosine of the smallest angle, and mean of the squares of all; 0 where a row has no
        other set.
    """
    largest, mean = np.zeros((2, len(chosen), columns.n_rows))
    first, place = spans_of_sets(columns.sets)
    widths = np.diff(first, append=len(columns.sets))
    sets, most = columns.sets[first], int(widths.max(initial=0))
    # Sets of fewer columns are filled up with zeros, which changes no angle.
    padded = np.zeros((len(first), most, len(matrix)), dtype=matrix.dtype)
    padded[np.repeat(np.arange(len(first)), widths), place] = matrix.T
    rows = _Rows(columns.set_rows, columns.n_rows)
    angles = _canonical if basis.is_orthonormal else _nearest
    has_columns = np.flatnonzero(np.isin(chosen, sets))
    n_together = max(1, _BLOCK_BYTES // (8 * most * most * len(first) + 1))
    for start in range(0, len(has_columns), n_together):
        part = has_columns[start : start + n_together]
        own = np.searchsorted(sets, chosen[part])
        cosines = padded[own].reshape(-1, len(matrix)) @ padded.reshape(-1, len(matrix)).T
        blocks = cosines.reshape(len(own), most, len(first), most).swapaxes(1, 2)
        blocks[np.arange(len(own)), own] = 0.0
        largest[part], mean[part] = angles(blocks.astype(np.float64), widths[own], widths, rows)
    return largest, mean


class _Rows:
    """The largest value of each row, of values for each set."""

    def __init__(self, set_rows: IntArray, n_rows: int) -> None:
        self.of_sets, self._n_rows = set_rows, n_rows
        self._order = np.argsort(set_rows, kind="stable")
        self._present, self._first = np.unique(set_rows[self._order], return_index=True)

    def largest(self, values: FloatArray) -> FloatArray:
        """Of values of shape (n, n_sets), none negative; 0 where a row has no set."""
        result = np.zeros((len(values), self._n_rows))
        ordered = values[:, self._order]
        result[:, self._present] = np.maximum.reduceat(ordered, self._first, axis=1)
        return result


def _canonical(
    blocks: FloatArray, own_widths: IntArray, widths: IntArray, rows: _Rows
) -> tuple[FloatArray, FloatArray]:
    """Of canonical angles, by inner products of shape (n_own, n_sets, n_columns, n_columns)."""
    gram = blocks @ blocks.swapaxes(2, 3)
    squares = np.zeros(gram.shape[:2])
    wanted = _may_be_largest(gram, rows)
    squares[wanted] = np.clip(np.linalg.eigvalsh(gram[wanted])[:, -1], 0.0, 1.0)
    mean = np.trace(gram, axis1=2, axis2=3) / np.minimum(own_widths[:, None], widths)
    return np.sqrt(rows.largest(squares)), rows.largest(mean)


def _may_be_largest(gram: FloatArray, rows: _Rows) -> BoolArray:
    """Which sets may be those whose largest eigenvalue is the largest of their rows.

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
        enough = rows.largest(least)[:, rows.of_sets][wanted] * (1.0 - 1e-9)
        stays = squared ** (0.5 / exponent) >= enough
        wanted[wanted] = stays
        if exponent != _EXPONENTS[-1]:
            power = power[stays]
            power = power @ power
    return wanted


def _nearest(
    blocks: FloatArray, own_widths: IntArray, widths: IntArray, rows: _Rows
) -> tuple[FloatArray, FloatArray]:
    """Of the angles between each own column and the nearest of a set."""
    nearest = np.maximum(blocks.max(axis=3), 0.0)
    mean = (nearest**2).sum(axis=2) / own_widths[:, None]
    return rows.largest(nearest.max(axis=2)), rows.largest(mean)
