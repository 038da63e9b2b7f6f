"""The loops of the tree of cuts: a cluster into its parts, and Algorithm 2's walk.

``nodes`` is the table of a :class:`setwise.cluster.tree.CutTree`; ``order`` holds the vertices
of node ``i`` from ``nodes[i]["start"]`` to ``nodes[i]["end"]``, ascending while it is
undivided. ``subgraph``, ``number`` and ``room`` are places to work in: nothing here makes an
array of any size.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import inlined, inner, kernel
from setwise.cut.graph_kernels import (
    across_by_volumes,
    join_components,
    sum_rows,
    take_subgraph,
)
from setwise.cut.halves_kernels import part_by_sign, part_by_sweep
from setwise.cut.lanczos_kernels import N_ROWS, find_fiedler

__all__ = ["divide", "grow", "indivisible", "split"]

_PROBE = -1
# Rows of the room, behind those of Lanczos and of the sweep.
_DEGREE, _VECTOR = N_ROWS, N_ROWS + 1
_PART, _SPARE, _PLACE = 3, 0, 1


@inner
def _make_children(nodes, order, index, part, n_parts, n_nodes, spare, place):
    """Make a child of each part of a node, behind ``n_nodes`` others; how many there are."""
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


@inlined
def _cut_in_two(node, n, graph, room, how):
    """Cut a connected graph along its Fiedler vector; False if one half would be empty."""
    indptr, indices, data = graph
    rows, numbers, side, lanes, vectors = room
    start, by_sign, enough, full_limit, most_steps = how
    degree, vector, part = rows[_DEGREE], rows[_VECTOR], numbers[_PART]
    sum_rows(indptr, data, n, degree)
    node["connectivity"], node["n_iterations"], node["has_converged"] = find_fiedler(
        indptr, indices, data, n, degree, start, enough, n <= full_limit,
        min(n - 1, most_steps), rows, lanes, vectors, vector,
    )  # fmt: skip
    if by_sign:
        is_proper = part_by_sign(
            indptr, indices, data, n, degree, vector, 2**0.5 * enough, side
        )
    else:
        is_proper = part_by_sweep(indptr, indices, data, n, degree, vector, rows, numbers, side)
    if is_proper:
        node["is_cut"] = True
        node["ncut"] = across_by_volumes(indptr, indices, data, n, degree, side)
    # The half with the smaller first vertex comes first, whatever its sign.
    for m in range(n):
        part[m] = side[m] != side[0]
    return is_proper


@inlined
def _divide(index, graph, nodes, order, n_nodes, subgraph, number, room, how, largest):
    """Divide a node into its components, or in two; how many nodes there are then.

    As many as before where others must cut it: it is connected and has more than ``largest``
    vertices, or one half would be empty.
    """
    node, numbers = nodes[index], room[1]
    n = node["end"] - node["start"]
    take_subgraph(
        graph[0], graph[1], graph[2], order, node["start"], node["end"], number,
        subgraph[0], subgraph[1], subgraph[2],
    )  # fmt: skip
    n_parts = join_components(subgraph[0], subgraph[1], n, numbers[_PART], numbers[_SPARE])
    if n_parts == 1 and n <= largest and _cut_in_two(node, n, subgraph, room, how):
        n_parts = 2
    if n_parts > 1:
        n_nodes = _make_children(
            nodes, order, index, numbers[_PART], n_parts, n_nodes,
            numbers[_SPARE], numbers[_PLACE],
        )  # fmt: skip
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
    """Make the children of a node that others have cut; how many nodes there are then."""
    spare, place = np.empty(side.shape[0], np.int64), np.empty(3, np.int64)
    return _make_children(nodes, order, index, side.view(np.uint8), 2, n_nodes, spare, place)


@kernel
def split(index, graph, nodes, order, n_nodes, subgraph, number, room, how, largest):
    """Divide a node, see :func:`grow`; how many nodes there are then."""
    return _divide(index, graph, nodes, order, n_nodes, subgraph, number, room, how, largest)


@kernel
def grow(
    class_codes, labels, leaves, inside, waiting, counts,
    graph, nodes, order, n_nodes, subgraph, number, room, how, largest,
):  # fmt: skip
    """Divide clusters until each is indivisible (Algorithm 2, with a stack).

    ``counts`` says how many ``leaves``, divided nodes (``inside``) and nodes ``waiting`` there
    are, so that the walk can go on where it stopped: at a cluster that is connected and has
    more than ``largest`` vertices, which others must cut first. Returns that node, or -1, and
    how many nodes there are.
    """
    n_leaves, n_inside, n_waiting = counts[0], counts[1], counts[2]
    uncut = -1
    while n_waiting > 0 and uncut < 0:
        index = waiting[n_waiting - 1]
        node = nodes[index]
        start, end = node["start"], node["end"]
        if end - start < 2 or _is_indivisible(class_codes, order, start, end):
            for m in range(start, end):
                labels[order[m]] = n_leaves
            leaves[n_leaves] = index
            n_leaves += 1
            n_waiting -= 1
            continue
        if node["n_children"] == 0:
            n_nodes = _divide(
                index, graph, nodes, order, n_nodes, subgraph, number, room, how, largest
            )
        if node["n_children"] == 0:
            uncut = index
            continue
        inside[n_inside] = index
        n_inside += 1
        for child in range(node["n_children"]):
            last = node["first_child"] + node["n_children"] - 1
            waiting[n_waiting - 1 + child] = last - child
        n_waiting += node["n_children"] - 1
    counts[0], counts[1], counts[2] = n_leaves, n_inside, n_waiting
    return uncut, n_nodes
