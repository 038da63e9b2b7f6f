"""The graph of sets: how alike sets are, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import one_blas_thread
from setwise._support.types import FloatArray, IntArray
from setwise.errors import reject
from setwise.gallery.description import Description
from setwise.gallery.gallery import Gallery
from setwise.sets import check_sets
from setwise.together.neighbourhood import near_pairs
from setwise.together.pairs import PairScores, all_pairs, without_clusters

# Sets of which all pairs are compared.
MOST_RELATED = 500
# Nearest sets of each set that the graph keeps.
N_NEIGHBOURS = 5
# Numbers of nearest sets that walkers choose among, in equal parts: no one number suits all.
STEP_NEIGHBOURS = (3, 5, 8)


@dataclass(frozen=True)
class SetGraph:
    """How alike sets are, pair by pair, made without looking at labels.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> graph = relate(separable_sets()[0])
    >>> graph.similarity.shape, graph.members[0]
    ((9, 9), 'plain mean, d=1: edges')
    """

    #: Symmetric, of shape (n_sets, n_sets): weighted mean of the members' z-scores. Stored
    #: for the pairs that were compared, a pair of similarity 0 included; never of a set with
    #: itself.
    similarity: sp.csr_array
    members: tuple[str, ...]
    weights: FloatArray  # of the members
    names: tuple[str, ...]  # of the sets

    def __len__(self) -> int:
        return len(self.names)

    def neighbours(self, k: int = N_NEIGHBOURS, temperature: float = 1.0) -> sp.csr_array:
        """Symmetric affinities of each set with its ``k`` nearest, between 0 and 1.

        The affinity of set ``i`` for ``j`` is ``exp((s_ij - max_k s_ik) / temperature)``, with
        similarity ``s``. A pair is kept where either is among the nearest of the other; its
        weight is the mean of both affinities.
        """
        return nearest_affinities(self.similarity, k, temperature)

    def steps(
        self, k: int | Sequence[int] = STEP_NEIGHBOURS, temperature: float = 1.0
    ) -> sp.csr_array:
        """Probability that each set asks each of its ``k`` nearest: rows sum to 1.

        In proportion to the affinities of :meth:`neighbours`, of its own side alone; the mean
        over several numbers of nearest sets.
        """
        numbers = (k,) if isinstance(k, int) else tuple(k)
        tables = [nearest_steps(self.similarity, one, temperature) for one in numbers]
        steps = sp.csr_array(sum(tables[1:], tables[0]) / len(tables))
        steps.sort_indices()
        return steps

    def taken(self, chosen: IntArray, names: tuple[str, ...]) -> SetGraph:
        """The graph of some sets, in another order, by other names."""
        table = sp.csr_array(self.similarity[chosen][:, chosen])
        table.sort_indices()
        return SetGraph(table, self.members, self.weights, names)

    def layout(self, *, seed: int = 0) -> FloatArray:
        """A place in the plane for each set, near ones together; shape (n_sets, 2)."""
        from sklearn.manifold import TSNE

        table = self.similarity.toarray()
        far = float(table.max()) - table
        np.fill_diagonal(far, 0.0)
        width = min(10.0, (len(self) - 1) / 3)
        how = {"metric": "precomputed", "init": "random", "random_state": seed}
        return np.asarray(TSNE(perplexity=width, **how).fit_transform(far), dtype=np.float64)


def nearest_affinities(similarity: sp.csr_array, k: int, temperature: float) -> sp.csr_array:
    """See :meth:`SetGraph.neighbours`."""
    affinity, is_nearest = _affinities(similarity, k, temperature)
    graph = ((affinity + affinity.T) / 2).multiply(is_nearest + is_nearest.T).tocsr()
    graph.sort_indices()
    return sp.csr_array(graph)


def nearest_steps(similarity: sp.csr_array, k: int, temperature: float) -> sp.csr_array:
    """See :meth:`SetGraph.steps`."""
    affinity, is_nearest = _affinities(similarity, k, temperature)
    chosen = sp.csr_array(affinity.multiply(is_nearest))
    counts = np.diff(chosen.indptr)
    total = np.asarray(chosen.sum(axis=1)).ravel()
    chosen.data /= np.repeat(total, counts)
    chosen.sort_indices()
    return chosen


def ranks(similarity: sp.csr_array) -> IntArray:
    """Place of each stored entry among those of its row, the largest first; ties in order.

    Examples
    --------
    >>> import scipy.sparse as sp
    >>> from setwise.together.graph import ranks
    >>> ranks(sp.csr_array([[0, 1, 2.0], [1, 0, 3], [2, 3, 0]]))
    array([1, 0, 1, 0, 1, 0])
    """
    rows = np.repeat(np.arange(len(similarity.indptr) - 1), np.diff(similarity.indptr))
    order = np.lexsort((-similarity.data, rows))
    places = np.empty(len(rows), dtype=np.int64)
    places[order] = np.arange(len(rows)) - similarity.indptr[rows[order]]
    return places


def _affinities(
    similarity: sp.csr_array, k: int, temperature: float
) -> tuple[sp.csr_array, sp.csr_array]:
    """Affinity of each set for those it was compared with, and which are its nearest."""
    counts = np.diff(similarity.indptr)
    rows = np.repeat(np.arange(len(counts)), counts)
    largest = np.full(len(counts), -np.inf)
    np.maximum.at(largest, rows, similarity.data)
    affinity = np.exp((similarity.data - largest[rows]) / temperature)
    is_nearest = ranks(similarity) < k
    places, shape = (rows, similarity.indices), similarity.shape
    kept = sp.csr_array((is_nearest, places), shape)
    kept.eliminate_zeros()
    return sp.csr_array((affinity, places), shape), kept


def relate(
    sets: Any,
    *,
    description: Description | None = None,
    gallery: Gallery | None = None,
    weights: Mapping[str, float] | None = None,
    n_jobs: int | None = None,
    caller: str = "relate",
) -> SetGraph:
    """Relate sets to each other, without labels.

    Every set is a class of its own, and each is compared with the others as a probe with
    classes. Each member's scores are standardised over the other sets; their weighted mean is
    the similarity.

    Parameters
    ----------
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        Sets to relate, two or more.
    description : Description, optional
        Parts of the ensemble, see :meth:`setwise.CVC.describe`; those of ``CVC()`` by default.
    gallery : Gallery, optional
        Its description, and the weights of its members; its sets take no part by themselves.
    weights : mapping from member to float, optional
        Weights by the members' names; members that are not named have none. Even by default.
    n_jobs : int, optional
        Threads. The graph does not depend on it.
    caller : str
        For messages.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> nearest = relate(sets).similarity.toarray().argmax(axis=1)
    >>> bool((labels[nearest] == labels).all())
    True
    """
    if gallery is not None:
        description = description or gallery.description
        weights = weights or member_weights(gallery)
    found = pair_scores(sets, description=description, n_jobs=n_jobs, caller=caller)
    return graph_of(found, weights)


def pair_scores(
    sets: Any,
    *,
    description: Description | None = None,
    n_jobs: int | None = None,
    caller: str = "pair_scores",
) -> PairScores:
    """Scores of each member for pairs of sets; see :func:`relate`."""
    batch = check_sets(sets, caller=caller, is_compact=True)
    if len(batch) < 2:
        reject(f"{caller}: one set is given. Expected two or more, to be related.")
    how = without_clusters(description)
    with one_blas_thread():
        if len(batch) > MOST_RELATED:
            return near_pairs(how, batch, n_jobs)
        return all_pairs(how, batch, n_jobs)


def graph_of(found: PairScores, weights: Mapping[str, float] | None = None) -> SetGraph:
    """The graph that weights of the members give; even ones where no member has a weight."""
    named = weights or {}
    chosen = np.array([named.get(str(one), 0.0) for one in found.members], dtype=np.float64)
    if not chosen.any():
        chosen = np.ones(len(found.members))
    members = tuple(map(str, found.members))
    return SetGraph(found.similarity(chosen), members, chosen, found.names)


def member_weights(gallery: Gallery) -> dict[str, float]:
    """Weights of a gallery's members, by their names."""
    members, weights = map(str, gallery.members), gallery.calibration.weights
    return dict(zip(members, weights.tolist(), strict=True))
