"""Which nodes of the tree are groups: those that last longest, or as many as are told."""

from __future__ import annotations

import heapq

import numpy as np

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.errors import reject
from setwise.together.links import Links
from setwise.together.tree import GroupTree, undivided


def lasting_groups(tree: GroupTree, sizes: IntArray, links: Links) -> list[int]:
    """Nodes of the largest excess of mass, none of which breaks a link.

    Seen at a rising level of similarity, a group is born where the node above it falls apart,
    and lasts until it falls apart itself. Its mass is its number of sets times the levels it
    lasts for. A node is divided where the groups below it have more mass together (Campello,
    Moulavi, Zimek and Sander 2015, who take the density of points for the level). Single
    bundles have no mass, and the root is always divided, as there.

    Parameters
    ----------
    tree : GroupTree
        Of bundles.
    sizes : array of shape (n_bundles,)
        Number of sets of each bundle.
    links : Links
        Pairs of bundles that no group holds.

    Examples
    --------
    >>> from setwise.together import GroupTree, Links, lasting_groups
    >>> children = np.array([[0, 1], [2, 3], [4, 5]])
    >>> tree = GroupTree(4, children, np.array([5.0, 4.0, 0.5]))
    >>> lasting_groups(tree, np.ones(4), Links.of(4))
    [4, 5]
    """
    n, n_nodes = tree.n_leaves, tree.n_leaves + len(tree.children)
    counts, birth = node_sizes(tree, sizes), np.zeros(n_nodes)
    for row, pair in enumerate(tree.children):
        birth[pair] = tree.similarity[row]
    mass, is_group = np.zeros(n_nodes), np.ones(n_nodes, dtype=np.bool_)
    broken = breaks_links(tree, links)
    for row, (first, second) in enumerate(tree.children):
        node = n + row
        own = counts[node] * (tree.similarity[row] - birth[node])
        below = mass[first] + mass[second]
        is_group[node] = own >= below and node < n_nodes - 1 and not broken[node]
        mass[node] = own if is_group[node] else below
    return undivided(tree, lambda node: bool(is_group[node]))


def told_groups(tree: GroupTree, n_groups: int, links: Links, caller: str) -> list[int]:
    """So many nodes, by undoing the joins of least similarity first.

    Examples
    --------
    >>> from setwise.together import GroupTree, Links
    >>> from setwise.together.divide import told_groups
    >>> tree = GroupTree(3, np.array([[0, 1], [2, 3]]), np.array([5.0, 1.0]))
    >>> told_groups(tree, 2, Links.of(3), "cut")
    [2, 3]
    """
    n, root = tree.n_leaves, tree.n_leaves + len(tree.children) - 1
    broken = breaks_links(tree, links)
    waiting: list[tuple[bool, float, int]] = []
    leaves: set[int] = set()

    def add(node: int) -> None:
        if node < n:
            leaves.add(node)
        else:
            heapq.heappush(waiting, (not broken[node], tree.similarity[node - n], node))

    add(root)
    while waiting and (len(waiting) + len(leaves) < n_groups or not waiting[0][0]):
        _, _, node = heapq.heappop(waiting)
        for child in tree.children[node - n].tolist():
            add(child)
    nodes = leaves | {node for _, _, node in waiting}
    if len(nodes) != n_groups:
        many = "at least" if len(nodes) > n_groups else "at most"
        reject(
            f"{caller}: {n_groups} groups are asked for, of sets that fall into {many} "
            f"{len(nodes)}, as must_link and cannot_link demand. Ask for that number or give "
            "fewer links."
        )
    return undivided(tree, nodes.__contains__)


def node_sizes(tree: GroupTree, sizes: IntArray | FloatArray) -> FloatArray:
    """Number of sets under each node."""
    found = np.zeros(tree.n_leaves + len(tree.children))
    found[: tree.n_leaves] = sizes
    for row, (first, second) in enumerate(tree.children):
        found[tree.n_leaves + row] = found[first] + found[second]
    return found


def breaks_links(tree: GroupTree, links: Links) -> BoolArray:
    """Whether each node holds two bundles that have to stay apart."""
    n, n_nodes = tree.n_leaves, tree.n_leaves + len(tree.children)
    above = np.full(n_nodes, -1)
    for row, pair in enumerate(tree.children):
        above[pair] = n + row
    broken = np.zeros(n_nodes, dtype=np.bool_)
    for first, second in links.apart.tolist():
        ways = set()
        node = first
        while node >= 0:
            ways.add(node)
            node = int(above[node])
        node = second
        while node not in ways:
            node = int(above[node])
        while node >= 0 and not broken[node]:
            broken[node] = True
            node = int(above[node])
    return broken
