"""Groups of sets, found without labels: relate them, find groups at all scales, choose."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np

from setwise._support.parallel import one_blas_thread
from setwise._support.types import FloatArray, IntArray
from setwise.gallery.description import Description
from setwise.sets import SetBatch
from setwise.together.consistency import label_free_weights
from setwise.together.graph import SetGraph, pair_scores
from setwise.together.halves import halves_found
from setwise.together.links import Links
from setwise.together.pairs import without_clusters
from setwise.together.scales import ScaledGroups, scaled_groups
from setwise.together.tree import GroupTree, grow_tree

# Groups are told by few members, the most consistent; labels by all.
POWER = 4
# Probability below which a set is in no group.
LEAST_SURE = 0.5


@dataclass(frozen=True)
class FoundGroups:
    """Groups of sets, and what they were found by.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.sets import check_sets
    >>> from setwise.together import Links, find_groups
    >>> sets = check_sets(separable_sets()[0], caller="me")
    >>> find_groups(sets, Links.of(9)).labels
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """

    labels: IntArray  #: of each set, the largest group first; -1 for sets of no group
    #: That a set and a random other one of its group are of one group; 0 for sets of none.
    probabilities: FloatArray
    graph: SetGraph
    links: Links
    scaled: ScaledGroups  #: of bundles
    tree: GroupTree  #: of bundles


def find_groups(
    sets: SetBatch,
    links: Links,
    *,
    description: Description | None = None,
    labelled: tuple[SetBatch, IntArray] | None = None,
    n_jobs: int | None = None,
    caller: str = "find_groups",
) -> FoundGroups:
    """Find groups of sets.

    Parameters
    ----------
    sets : SetBatch
        Two sets or more.
    links : Links
        What is known of pairs of them.
    description : Description, optional
        Parts of the ensemble; those of ``CVC()`` by default.
    labelled : (SetBatch, array of int), optional
        Further sets, of which the classes are known: they tell which scale is right.
    n_jobs : int, optional
        Threads. Nothing depends on it.
    caller : str
        For messages.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.sets import check_sets
    >>> from setwise.together import Links, find_groups
    >>> sets = check_sets(separable_sets()[0], caller="me")
    >>> find_groups(sets, Links.of(9, cannot_link=[(0, 1)])).labels.tolist()[:2] != [0, 0]
    True
    """
    # To the last bit independent of the order of the sets.
    order = in_order_of_content(sets)
    mine, n = links.among(order), len(sets)
    batch = sets[order]
    if labelled is None:
        graph = related(batch, description, n_jobs, caller)
        scaled = scaled_groups(graph.similarity, mine, n_jobs=n_jobs)
    else:
        others, codes = labelled
        graph = related(SetBatch.join([batch, others]), description, n_jobs, caller)
        both = mine.with_others(len(others))
        scaled = scaled_groups(graph.similarity, both, codes, n_jobs).of_first(mine.n_bundles)
        graph = graph.taken(np.arange(n), batch.names)
    tree = grow_tree(graph.similarity, mine, scaled.chosen)
    groups, sure = left_in(scaled, mine.sizes)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    bundles = mine.bundles[place]  # of the sets as they were given
    return FoundGroups(
        labels=numbered(groups[bundles]),
        probabilities=sure[bundles],
        graph=graph.taken(place, sets.names),
        links=Links(bundles, mine.apart),
        scaled=scaled,
        tree=tree,
    )


def related(
    sets: SetBatch, description: Description | None, n_jobs: int | None, caller: str
) -> SetGraph:
    """The graph of sets that groups are found in: absolute scores, of few members."""
    found = pair_scores(sets, description=description, n_jobs=n_jobs, caller=caller)
    how = without_clusters(description)
    with one_blas_thread():
        halves = halves_found(how, sets, found.members, n_jobs)
    weights = label_free_weights(found, halves, power=POWER)
    similarity = found.similarity(weights, is_absolute=True)
    return SetGraph(similarity, tuple(map(str, found.members)), weights, sets.names)


def in_order_of_content(sets: SetBatch) -> IntArray:
    """Indices of the sets in the order of a digest of their vectors."""
    digests = [hashlib.sha256(one.tobytes()).digest() for one in sets]
    return np.array(sorted(range(len(sets)), key=digests.__getitem__), dtype=np.int64)


def left_in(scaled: ScaledGroups, sizes: FloatArray) -> tuple[IntArray, FloatArray]:
    """Group of each bundle, -1 for those of none, and the probability that it belongs there.

    A bundle of several sets is a group by itself where it fits into none; a single set is not.
    """
    groups = scaled.chosen.copy()
    sure = own_share(scaled, groups, sizes)
    strays = np.flatnonzero((sure < LEAST_SURE) & (sizes == 1))
    groups[strays] = -1
    parted = np.flatnonzero((sure < LEAST_SURE) & (sizes > 1))
    groups[parted] = len(groups) + parted
    counts = np.bincount(groups + 1, sizes)
    groups[counts[groups + 1] < 2] = -1
    _, codes = np.unique(groups, return_inverse=True)
    groups = np.where(groups < 0, -1, codes.ravel())
    return groups, np.where(groups < 0, 0.0, own_share(scaled, groups, sizes))


def own_share(scaled: ScaledGroups, groups: IntArray, sizes: FloatArray) -> FloatArray:
    """Probability of each bundle to be of its own group; 1 of several sets without others."""
    table = scaled.together(groups, sizes)
    rows = np.repeat(np.arange(len(groups)), np.diff(table.indptr))
    is_own = groups[rows] == table.indices
    found = np.zeros(len(groups))
    found[rows[is_own]] = table.data[is_own]
    inside = groups >= 0
    total = np.zeros(len(groups))
    total[inside] = np.bincount(groups[inside], sizes[inside])[groups[inside]]
    return np.where((total == sizes) & (sizes > 1), 1.0, found)


def numbered(groups: IntArray) -> IntArray:
    """Numbers from 0, the largest group first, then the earliest; -1 stays."""
    _, first, codes, sizes = np.unique(
        groups, return_index=True, return_inverse=True, return_counts=True
    )
    order = np.lexsort((first, -sizes))
    order = order[groups[first[order]] >= 0]
    numbers = np.full(len(sizes), -1)
    numbers[order] = np.arange(len(order))
    found: IntArray = numbers[codes.ravel()]
    return found
