"""The loops of the tree of cuts: a cluster into its parts, and Algorithm 2's walk.

``nodes`` is the table of a :class:`setwise.cluster.CutTree`; ``order`` holds the vertices of
node ``i`` from ``nodes[i]["start"]`` to ``nodes[i]["end"]``, ascending while it is undivided.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from setwise._support.compiled import inlined, inner, kernel
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.cut.graph_kernels import (
    across_by_volumes,
    join_components,
    part_by_sign,
    part_by_sweep,
    sum_rows,
    take_subgraph,
)
from setwise.cut.lanczos_kernels import LANES as LANES
from setwise.cut.lanczos_kernels import N_LANCZOS_ROWS, find_fiedler

_PROBE = -1
# Rows of floats in the room: those of Lanczos and of the sweep, degrees, the Fiedler vector.
N_ROWS = N_LANCZOS_ROWS + 2
_DEGREE, _VECTOR = N_LANCZOS_ROWS, N_LANCZOS_ROWS + 1
# Rows of integers in the room, beside the three of the sweep.
_PART, _SPARE, _PLACE = 3, 0, 1


class How(NamedTuple):
    """How clusters are cut, as :mod:`setwise.cut.fiedler` names it, and of which sizes."""

    start: FloatArray
    zero: float | None  # entries as small as this may be zero; None: by the best threshold
    enough: float
    full_limit: int
    most_steps: int
    weak: float
    largest: int


class Room(NamedTuple):
    """Arrays to work in: a sub-graph, a number per vertex (-1), and what a cut needs."""

    indptr: IntArray
    indices: IntArray
    data: FloatArray
    number: IntArray
    rows: FloatArray
    numbers: IntArray
    side: BoolArray
    lanes: FloatArray
    vectors: FloatArray


class Walk(NamedTuple):
    """Where Algorithm 2 is; ``counts`` says how many leaves, divided and waiting nodes."""

    class_codes: IntArray
    labels: IntArray
    leaves: IntArray
    inside: IntArray
    waiting: IntArray
    counts: IntArray


@inner
def _make_children(nodes, order, index, part, n_parts, n_nodes, spare, place):
    """Append a child for each part of a node; how many nodes there are then."""
    node = nodes[index]
    start, n = node["start"], node["end"] - node["start"]
    for p in range(n_parts + 1):
        place[p] = 0
    for m in range(n):
        spare[m] = order[start + m]
        place[part[m] + 1] += 1
    for p in range(n_parts):
        place[p + 1] += place[p]
        child = nodes[n_nodes + p]
        child["parent"], child["depth"] = index, node["depth"] + 1
        child["start"], child["end"] = start + place[p], start + place[p + 1]
    for m in range(n):
        order[start + place[part[m]]] = spare[m]
        place[part[m]] += 1
    node["first_child"], node["n_children"] = n_nodes, n_parts
    return n_nodes + n_parts


@inner
def _part(indptr, indices, data, n, degree, vector, zero, rows, numbers, side):
    """Make the halves; False if one would be empty. Only what is asked for is compiled."""
    if zero is not None:
        return part_by_sign(indptr, indices, data, n, degree, vector, zero, side)
    return part_by_sweep(indptr, indices, data, n, degree, vector, rows, numbers, side)


@inlined
def _cut_in_two(node, n, room, how):
    """Cut the graph in the room by its Fiedler vector; False if Python must (``how.weak``)."""
    indptr, indices, data = room.indptr, room.indices, room.data
    rows, numbers, side = room.rows, room.numbers, room.side
    degree, vector, part = rows[_DEGREE], rows[_VECTOR], numbers[_PART]
    sum_rows(indptr, data, n, degree)
    node["connectivity"], node["n_iterations"], node["has_converged"] = find_fiedler(
        indptr, indices, data, n, degree, how.start, how.enough, n <= how.full_limit,
        min(n - 1, how.most_steps), rows, room.lanes, room.vectors, vector,
    )  # fmt: skip
    is_whole_space = n <= how.full_limit and node["n_iterations"] == n - 1
    if node["connectivity"] < how.weak and not is_whole_space:
        return False
    is_proper = _part(indptr, indices, data, n, degree, vector, how.zero, rows, numbers, side)
    if is_proper:
        node["is_cut"] = True
        node["ncut"] = across_by_volumes(indptr, indices, data, n, degree, side)
    # The half with the smaller first vertex comes first, whatever its sign.
    for m in range(n):
        part[m] = side[m] != side[0]
    return is_proper


@inlined
def _divide(index, graph, nodes, order, n_nodes, room, how):
    """Divide a node into its components, or in two; how many nodes there are then.

    As many as before where Python must cut it: it is connected, and too large or not cut here.
    """
    node, part, spare = nodes[index], room.numbers[_PART], room.numbers[_SPARE]
    start, end = node["start"], node["end"]
    take_subgraph(
        graph[0], graph[1], graph[2], order, start, end, room.number,
        room.indptr, room.indices, room.data,
    )  # fmt: skip
    n_parts = join_components(room.indptr, room.indices, end - start, part, spare)
    if n_parts == 1 and end - start <= how.largest:
        n_parts += _cut_in_two(node, end - start, room, how)
    if n_parts > 1:
        place = room.numbers[_PLACE]
        n_nodes = _make_children(nodes, order, index, part, n_parts, n_nodes, spare, place)
    return n_nodes


@inner
def _is_indivisible(class_codes, vertices, start, end):
    """Whether a cluster tells all it can: no probe in it, or fewer than two classes."""
    has_probe, has_two, first = False, False, _PROBE
    for m in range(start, end):
        code = class_codes[vertices[m]]
        if code == _PROBE:
            has_probe = True
        elif first == _PROBE:
            first = code
        elif code != first:
            has_two = True
    return not (has_probe and has_two)


@kernel
def indivisible(class_codes, vertices):
    """Whether a cluster of some vertices tells all it can."""
    return _is_indivisible(class_codes, vertices, 0, vertices.shape[0])


@kernel
def divide(nodes, order, index, side, n_nodes):
    """Make the children of a node that Python has cut; how many nodes there are then."""
    spare, place = np.empty(side.shape[0], np.int64), np.empty(3, np.int64)
    return _make_children(nodes, order, index, side.view(np.uint8), 2, n_nodes, spare, place)


@kernel
def split(index, graph, nodes, order, n_nodes, room, how):
    """Divide a node, see :func:`grow`; how many nodes there are then."""
    return _divide(index, graph, nodes, order, n_nodes, room, how)


@kernel
def grow(walk, graph, nodes, order, n_nodes, room, how):
    """Divide clusters until each is indivisible (Algorithm 2, with a stack).

    Stops at a node that Python must cut, and continues from there in the next call. Returns
    that node, or -1, and how many nodes there are.
    """
    n_leaves, n_inside, n_waiting = walk.counts[0], walk.counts[1], walk.counts[2]
    uncut = -1
    while n_waiting > 0 and uncut < 0:
        index = walk.waiting[n_waiting - 1]
        node = nodes[index]
        start, end = node["start"], node["end"]
        if end - start < 2 or _is_indivisible(walk.class_codes, order, start, end):
            for m in range(start, end):
                walk.labels[order[m]] = n_leaves
            walk.leaves[n_leaves] = index
            n_leaves += 1
            n_waiting -= 1
            continue
        if node["n_children"] == 0:
            n_nodes = _divide(index, graph, nodes, order, n_nodes, room, how)
        if node["n_children"] == 0:
            uncut = index
            continue
        walk.inside[n_inside] = index
        n_inside += 1
        for child in range(node["n_children"]):
            last = node["first_child"] + node["n_children"] - 1
            walk.waiting[n_waiting - 1 + child] = last - child
        n_waiting += node["n_children"] - 1
    walk.counts[0], walk.counts[1], walk.counts[2] = n_leaves, n_inside, n_waiting
    return uncut, n_nodes
