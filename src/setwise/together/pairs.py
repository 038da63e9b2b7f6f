"""Scores of the ensemble's members for pairs of sets, made without looking at labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.parallel import in_threads
from setwise._support.types import FloatArray, IntArray
from setwise.gallery.bases import InlierSets
from setwise.gallery.description import Description
from setwise.gallery.evidence import ClusterOverlap
from setwise.gallery.fusion import standardised
from setwise.gallery.left_out import LeftOutViews
from setwise.gallery.whole import solve_whole
from setwise.sets import SetBatch

# In single precision: they are ranked and averaged, never solved with.
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True)
class PairScores:
    """Standardised scores of each member for the pairs of sets that were compared.

    Row ``i`` of the pattern holds the sets that set ``i`` was compared with. Each member's
    scores of a row have mean 0 and deviation 1 over all other sets, or a sample of them.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together.graph import pair_scores
    >>> pair_scores(separable_sets()[0]).scores.shape  # members, pairs of 9 sets
    (21, 72)
    """

    names: tuple[str, ...]  # of the sets
    members: tuple[str, ...]
    indptr: IntArray
    indices: IntArray
    scores: Scores  # (n_members, n_pairs)

    def similarity(self, weights: FloatArray) -> sp.csr_array:
        """Weighted means of the members' scores, of both directions of each pair."""
        n = len(self.names)
        mean = (weights / weights.sum()).astype(np.float32) @ self.scores
        table = sp.csr_array((mean.astype(np.float64), self.indices, self.indptr), shape=(n, n))
        symmetric = ((table + table.T) / 2).tocsr()
        symmetric.sort_indices()
        return symmetric


def without_clusters(how: Description) -> Description:
    """The description for graphs of sets, each a class of its own.

    Trees of cuts take most of the time, and say less of pairs than edges and angles do; single
    vectors would have to be compared with those of every other set. A description of nothing
    else keeps them.
    """
    graphs = tuple(one for one in how.representations if one.basis.has_graph)
    pairwise = tuple(one for one in how.evidence if not isinstance(one, ClusterOverlap))
    return replace(
        how,
        representations=graphs or how.representations,
        evidence=pairwise or how.evidence,
        distributions="set",
        weights=None,
        unknown=None,
        shortlist=None,
    )


def all_pairs(how: Description, sets: SetBatch, n_jobs: int | None) -> PairScores:
    """Scores of all pairs, by one graph per layer of all sets' columns."""
    n = len(sets)
    every = np.arange(n)
    inliers = InlierSets.of(how, sets, n_jobs)
    gallery = solve_whole(how, sets, every, every, inliers, n_jobs=n_jobs)
    is_other = ~np.eye(n, dtype=np.bool_)

    def of_layer(i: int) -> Scores:
        layer = gallery.layers[i].layer
        kinds = [m.evidence for m in gallery.members if m.layer == layer]
        views = LeftOutViews(gallery.everything.layer_graph(i), every)
        found = np.empty((len(kinds), n, n - 1), dtype=np.float32)
        for row, view in enumerate(views):
            for kind, evidence in enumerate(kinds):
                found[kind, row] = standardised(evidence.overlaps(view)[is_other[row]])
        return found.reshape(len(kinds), -1)

    layers = list(in_threads(of_layer, range(len(gallery.layers)), n_jobs))
    indices = np.broadcast_to(every, (n, n))[is_other]
    indptr = (n - 1) * np.arange(n + 1)
    members = tuple(map(str, gallery.members))
    return PairScores(sets.names, members, indptr, indices, np.concatenate(layers))
