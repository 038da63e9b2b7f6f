"""The loops of the tree of cuts: a cluster into its parts, and Algorithm 2's walk.

``nodes`` is the table of a :class:`setwise.cluster.tree.CutTree`; ``order`` holds the vertices
of node ``i`` from ``nodes[i]["start"]`` to ``nodes[i]["end"]``, ascending while it is
undivided.
"""

from __future__ import annotations

import numpy as np

from setwise._support.compiled import kernel
from setwise.cut.kernels import components, cut_connected, induced

__all__ = ["divide", "grow", "is_indivisible", "split"]

_PROBE = -1


@kernel
def divide(nodes, order, index, part, n_parts, n_nodes):
    """Make a child of each part of a node, behind ``n_nodes`` others; how many there are."""
    node = nodes[index]
    vertices = order[node["start"] : node["end"]].copy()
    place = np.zeros(n_parts + 1, np.int64)
    for m in range(part.shape[0]):
        place[part[m] + 1] += 1
    for p in range(n_parts):
        place[p + 1] += place[p]
        child = nodes[n_nodes + p]
        child["parent"], child["depth"] = index, node["depth"] + 1
        child["start"], child["end"] = node["start"] + place[p], node["start"] + place[p + 1]
    for m in range(part.shape[0]):
        order[node["start"] + place[part[m]]] = vertices[m]
        place[part[m]] += 1
    node["first_child"], node["n_children"] = n_nodes, n_parts
    return n_nodes + n_parts


@kernel
def split(
    indptr, indices, data, nodes, order, n_nodes, index,
    number, start, room, by_sign, enough, full_limit, most_steps, largest,
):  # fmt: skip
    """Divide a node into its components, or in two; how many nodes there are then.

    As many as before where it is connected and has more than ``largest`` vertices: then it is
    for others to cut. ``start``, ``room`` and the rest are for
    :func:`setwise.cut.kernels.cut_connected`, ``number`` for
    :func:`setwise.cut.kernels.induced`.
    """
    node = nodes[index]
    members = order[node["start"] : node["end"]]
    n = members.shape[0]
    graph = induced(indptr, indices, data, members, number)
    part, n_parts = components(graph[0], graph[1])
    if n_parts == 1:
        if n > largest:
            return n_nodes
        n_kept = min(n - 1, most_steps) + 1
        side, repair, ncut, connectivity, n_steps, has_converged = cut_connected(
            graph[0], graph[1], graph[2], start, by_sign, enough, n <= full_limit,
            room[: n_kept * n].reshape((n_kept, n)),
        )  # fmt: skip
        node["is_cut"], node["has_converged"], node["repair"] = True, has_converged, repair
        node["ncut"], node["connectivity"], node["n_iterations"] = ncut, connectivity, n_steps
        # The half with the smaller first vertex comes first, whatever its sign.
        n_parts = 2
        for m in range(n):
            part[m] = side[m] != side[0]
    return divide(nodes, order, index, part, n_parts, n_nodes)


@kernel
def is_indivisible(class_codes, vertices):
    """Whether a cluster tells all it can: no probe in it, or fewer than two classes."""
    has_probe, has_two, first = False, False, _PROBE
    for m in range(vertices.shape[0]):
        code = class_codes[vertices[m]]
        if code == _PROBE:
            has_probe = True
        elif first == _PROBE:
            first = code
        else:
            has_two |= code != first
        if has_probe and has_two:
            return False
    return True


@kernel
def grow(
    indptr, indices, data, nodes, order, n_nodes, class_codes,
    labels, leaves, inner, waiting, counts,
    number, start, room, by_sign, enough, full_limit, most_steps, largest,
):  # fmt: skip
    """Divide clusters until each is indivisible (Algorithm 2, with a stack).

    ``counts`` says how many ``leaves``, divided nodes (``inner``) and nodes ``waiting`` there
    are, so that the walk can go on where it stopped. Returns the node that must be cut by
    others first, -1 if there is none, and how many nodes there are.
    """
    while counts[2] > 0:
        index = waiting[counts[2] - 1]
        node = nodes[index]
        vertices = order[node["start"] : node["end"]]
        if vertices.shape[0] < 2 or is_indivisible(class_codes, vertices):
            for m in range(vertices.shape[0]):
                labels[vertices[m]] = counts[0]
            leaves[counts[0]] = index
            counts[0] += 1
            counts[2] -= 1
            continue
        if node["n_children"] == 0:
            n_nodes = split(
                indptr, indices, data, nodes, order, n_nodes, index,
                number, start, room, by_sign, enough, full_limit, most_steps, largest,
            )  # fmt: skip
            if node["n_children"] == 0:
                return index, n_nodes
        inner[counts[1]] = index
        counts[1] += 1
        for c in range(node["n_children"]):
            waiting[counts[2] - 1 + c] = node["first_child"] + node["n_children"] - 1 - c
        counts[2] += node["n_children"] - 1
    return -1, n_nodes
