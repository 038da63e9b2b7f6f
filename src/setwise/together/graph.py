"""The graph of sets: how alike sets are, pair by pair."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import one_blas_thread
from setwise._support.types import BoolArray, FloatArray
from setwise.errors import reject
from setwise.gallery.defaults import default_description
from setwise.gallery.description import Description
from setwise.gallery.gallery import Gallery
from setwise.sets import check_sets
from setwise.together.neighbourhood import near_pairs
from setwise.together.pairs import PairScores, all_pairs, without_clusters

# Sets of which all pairs are compared.
MOST_RELATED = 500
# Nearest sets of each set that the graph keeps.
N_NEIGHBOURS = 5


@dataclass(frozen=True)
class SetGraph:
    """How alike sets are, pair by pair, made without looking at labels.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> graph = relate(separable_sets()[0])
    >>> graph.similarity.shape, len(graph.members)
    ((9, 9), 21)
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

    def steps(self, k: int = N_NEIGHBOURS, temperature: float = 1.0) -> sp.csr_array:
        """Probability that each set asks each of its ``k`` nearest: rows sum to 1.

        In proportion to the affinities of :meth:`neighbours`, of its own side alone.
        """
        return nearest_steps(self.similarity, k, temperature)

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


def nearest(similarity: sp.csr_array, k: int) -> sp.csr_array:
    """Which sets are among the ``k`` nearest of each set, as ones; of equals, the first.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from setwise.together.graph import nearest
    >>> nearest(sp.csr_array([[0, 1, 2.0], [1, 0, 3], [2, 3, 0]]), 1).toarray().tolist()
    [[0.0, 0.0, 1.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
    """
    counts = np.diff(similarity.indptr)
    rows = np.repeat(np.arange(len(counts)), counts)
    is_nearest = _is_nearest(similarity, rows, k).astype(np.float64)
    kept = sp.csr_array((is_nearest, (rows, similarity.indices)), similarity.shape)
    kept.eliminate_zeros()
    return kept


def _affinities(
    similarity: sp.csr_array, k: int, temperature: float
) -> tuple[sp.csr_array, sp.csr_array]:
    """Affinity of each set for those it was compared with, and which are its nearest."""
    counts = np.diff(similarity.indptr)
    rows = np.repeat(np.arange(len(counts)), counts)
    largest = np.full(len(counts), -np.inf)
    np.maximum.at(largest, rows, similarity.data)
    affinity = np.exp((similarity.data - largest[rows]) / temperature)
    is_nearest = _is_nearest(similarity, rows, k)
    places, shape = (rows, similarity.indices), similarity.shape
    kept = sp.csr_array((is_nearest, places), shape)
    kept.eliminate_zeros()
    return sp.csr_array((affinity, places), shape), kept


def _is_nearest(similarity: sp.csr_array, rows: Any, k: int) -> BoolArray:
    """Which stored entries are among the ``k`` largest of their rows; of equals, the first."""
    order = np.lexsort((-similarity.data, rows))
    place = np.arange(len(rows)) - similarity.indptr[rows[order]]
    nearest = np.zeros(len(rows), dtype=np.bool_)
    nearest[order] = place < k
    return nearest


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
    how = without_clusters(description or default_description())
    with one_blas_thread():
        if len(batch) > MOST_RELATED:
            return near_pairs(how, batch, n_jobs)
        return all_pairs(how, batch, n_jobs)


def graph_of(found: PairScores, weights: Mapping[str, float] | None = None) -> SetGraph:
    """The graph that weights of the members give; even ones where no member has a weight."""
    named = weights or {}
    chosen = np.array([named.get(member, 0.0) for member in found.members], dtype=np.float64)
    if not chosen.any():
        chosen = np.ones(len(found.members))
    return SetGraph(found.similarity(chosen), found.members, chosen, found.names)


def member_weights(gallery: Gallery) -> dict[str, float]:
    """Weights of a gallery's members, by their names."""
    members, weights = map(str, gallery.members), gallery.calibration.weights
    return dict(zip(members, weights.tolist(), strict=True))
