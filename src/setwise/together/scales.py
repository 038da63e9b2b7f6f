"""Groups at many scales, and how probable each scale is.

How much nearer a set of one's own group is than one of another differs between faces and
toys, and is nowhere told. So walkers are sent at many scales: from steps to the very nearest
sets alone to steps that hardly mind. At each scale their modules are groups. A scale is the
more probable the clearer its groups stand apart (silhouettes), and the less they change from
scale to scale.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import scipy.sparse as sp

from setwise._support.parallel import in_threads
from setwise._support.types import FloatArray, IntArray
from setwise.together.graph import STEP_NEIGHBOURS, ranks
from setwise.together.links import Links
from setwise.together.modules import Flow, walker_modules
from setwise.together.tree import Between

# Similarity that a step may lose to be taken with 1 / e of the probability, as a share of what
# sets usually have with their nearest.
SCALES = np.geomspace(0.08, 1.6, 20)
# A false join costs more than a missed one: scales count by this power of them.
_CAUTION = -0.5
# Powers that make probabilities of what is measured: on faces, objects and digits, of pairs of
# groups with a probability of 0.3, three in ten were one.
_CLEAR, _LASTING, _SHARP = 8, 8, 2
# Of agreement with known classes, for each set of one: these are facts, and outweigh the rest.
_TOLD = 4


@dataclass(frozen=True)
class ScaledGroups:
    """Groups of bundles at several scales, the finest first.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import Links, relate
    >>> from setwise.together.scales import scaled_groups
    >>> graph = relate(separable_sets()[0])
    >>> scaled_groups(graph.similarity, Links.of(9)).chosen
    array([0, 0, 0, 1, 1, 1, 2, 2, 2])
    """

    scales: FloatArray
    groups: IntArray  # (n_scales, n_bundles)
    probabilities: FloatArray  # of the scales
    best: (
        int  # the scale, by number, whose groups are expected to agree best with the right ones
    )

    @property
    def chosen(self) -> IntArray:
        """Group of each bundle at the best scale."""
        return self.groups[self.best]

    def of_first(self, n_bundles: int) -> ScaledGroups:
        """The groups of the first bundles."""
        return replace(self, groups=self.groups[:, :n_bundles])

    def together(self, groups: IntArray, sizes: FloatArray) -> sp.csr_array:
        """Probability that a bundle and a random set of a group are of one group.

        Parameters
        ----------
        groups : array of shape (n_bundles,)
            Group of each bundle, -1 for none; a bundle does not count for its own.
        sizes : array of shape (n_bundles,)
            Number of sets of each bundle.
        """
        n, count = len(groups), int(groups.max(initial=-1)) + 1
        inside = np.flatnonzero(groups >= 0)
        member = sp.csr_array((sizes[inside], (inside, groups[inside])), shape=(n, count))
        total = sp.csr_array((n, count))
        for share, found in zip(self.probabilities, self.groups, strict=True):
            if share > 0:
                of = sp.csr_array((np.ones(n), (np.arange(n), found)), shape=(n, n))
                total = total + share * (of @ (of.T @ member))
        own = sp.csr_array((sizes[inside], (inside, groups[inside])), shape=(n, count))
        total = sp.csr_array(total - own)  # a bundle is together with itself at all scales
        counts = np.bincount(groups[inside], sizes[inside], minlength=count)
        left = counts[total.indices]
        rows = np.repeat(np.arange(n), np.diff(total.indptr))
        is_own = groups[rows] == total.indices
        left = np.maximum(left - np.where(is_own, sizes[rows], 0.0), 1e-300)
        total.data = np.clip(np.where(total.data > 1e-12, total.data, 0.0) / left, 0.0, 1.0)
        total.eliminate_zeros()
        return total


def scaled_groups(
    similarity: sp.csr_array,
    links: Links,
    codes: IntArray | None = None,
    n_jobs: int | None = None,
) -> ScaledGroups:
    """Groups of bundles at all scales.

    Parameters
    ----------
    similarity : csr_array of shape (n_sets, n_sets)
        Absolute scores, see :meth:`setwise.together.pairs.PairScores.similarity`.
    links : Links
        Bundles, and those that no group holds together.
    codes : array of int, optional
        Classes of the last sets, which are no part of larger bundles. Each of them speaks
        for the scales of which the groups agree with the classes.
    n_jobs : int, optional
        Threads. Nothing depends on it.
    """
    walks, apart = Walks.of(similarity), links.apart_table

    def at(scale: float) -> IntArray:
        weights, loops = walks.at(scale)
        flow = Flow.of(weights, loops)
        if links.n_bundles < len(links.bundles):
            flow = flow.joined(links.bundles)
        return walker_modules(flow, apart)

    groups = np.array(list(in_threads(at, SCALES.tolist(), n_jobs)))
    clear = np.array([silhouette(similarity, found[links.bundles]) for found in groups])
    sizes = np.bincount(links.bundles, minlength=links.n_bundles).astype(np.float64)
    caution = SCALES**_CAUTION
    agreed = agreement(groups, sizes)
    lasting = agreed**_LASTING @ caution / caution.sum()
    found = np.maximum(clear, 0.0) ** _CLEAR * lasting**_SHARP
    if codes is not None:
        of_known = [
            agreement_of(one[-len(codes) :], codes, np.ones(len(codes))) for one in groups
        ]
        found = found * np.array(of_known) ** (_TOLD * len(codes))
    if not found.any():  # nothing stands apart from anything
        found[0] = 1.0
    probabilities = found / found.sum()
    # The most probable scale may be the odd one among many that are nearly as probable.
    best = int((agreed @ probabilities).argmax())
    return ScaledGroups(SCALES, groups, probabilities, best)


@dataclass(frozen=True)
class Walks:
    """Walks over a graph of sets at any scale."""

    similarity: sp.csr_array
    is_near: tuple[FloatArray, ...]  # of stored pairs, for each number of nearest sets
    usual: float  # what sets have with their nearest

    @classmethod
    def of(cls, similarity: sp.csr_array) -> Walks:
        """Walks between the nearest sets."""
        n, places = similarity.shape[0], ranks(similarity)
        layout = similarity.indices, similarity.indptr
        near = []
        for k in STEP_NEIGHBOURS:
            one = sp.csr_array(((places < k).astype(np.float64), *layout), shape=(n, n))
            either = one.maximum(one.T).tocsr()
            either.sort_indices()
            # Every pair is stored both ways, and the order of the entries is that of the table.
            near.append(_on_pattern(either, similarity))
        has_any = np.diff(similarity.indptr) > 0
        top = np.maximum.reduceat(similarity.data, similarity.indptr[:-1][has_any])
        return cls(similarity, tuple(near), max(float(np.median(top)), 1e-9))

    def at(self, scale: float) -> tuple[sp.csr_array, FloatArray]:
        """Weights of steps between sets, and of staying.

        A set that is near to others has no reason to stay. One that is near to few does: as
        often as others go.
        """
        n, length = self.similarity.shape[0], scale * self.usual
        affinity = np.exp(np.minimum(self.similarity.data - self.usual, 0.0) / length)
        rows = np.repeat(np.arange(n), np.diff(self.similarity.indptr))
        weights, loops = np.zeros(len(affinity)), np.zeros(n)
        for is_near in self.is_near:
            some = affinity * is_near
            degrees = np.bincount(rows, some, minlength=n)
            weights += some / len(self.is_near)
            loops += np.maximum(np.median(degrees) - degrees, 0.0) / len(self.is_near)
        layout = self.similarity.indices, self.similarity.indptr
        table = sp.csr_array((weights, *layout), shape=(n, n), copy=True)
        table.eliminate_zeros()
        return table, loops


def _on_pattern(values: sp.csr_array, pattern: sp.csr_array) -> FloatArray:
    """Entries of a table at the stored places of another, which has all of them."""
    n = pattern.shape[1]
    rows = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.indptr))
    mine = np.repeat(np.arange(values.shape[0]), np.diff(values.indptr))
    found = np.zeros(len(rows))
    places = np.searchsorted(rows * n + pattern.indices, mine * n + values.indices)
    found[places] = values.data
    return found


def silhouette(similarity: sp.csr_array, labels: IntArray) -> float:
    """Mean silhouette of groups, of distances below the largest similarity; -1 where none.

    A set of its own has 0 (Rousseeuw 1987). Sets that were not compared have their base
    similarity.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import relate
    >>> from setwise.together.scales import silhouette
    >>> sets, labels = separable_sets()
    >>> similarity = relate(sets).similarity
    >>> silhouette(similarity, labels) > silhouette(similarity, labels // 2)
    True
    """
    n, count = len(labels), int(labels.max(initial=0)) + 1
    sizes = np.bincount(labels, minlength=count).astype(np.float64)
    if not 2 <= (sizes > 0).sum() < n:
        return -1.0
    between = Between.of(similarity)
    member = sp.csr_array((np.ones(n), (np.arange(n), labels)), shape=(n, count))
    sums = sp.csr_array(between.above @ member)
    base = np.bincount(labels, between.base, minlength=count) / sizes
    rows = np.repeat(np.arange(n), np.diff(sums.indptr))
    is_own = labels[rows] == sums.indices
    means = base[sums.indices] + sums.data / sizes[sums.indices]
    # The nearest other group: of those it was compared with, and of those it was not.
    order = np.argsort(-base, kind="stable")
    other = np.where(labels == order[0], base[order[1]], base[order[0]])
    np.maximum.at(other, rows[~is_own], means[~is_own])
    inside = np.zeros(n)
    inside[rows[is_own]] = sums.data[is_own]
    mates = np.maximum(sizes[labels] - 1.0, 1.0)
    own = (inside + sizes[labels] * base[labels] - between.base) / mates
    top = float(similarity.data.max())
    far_own, far_other = top - own - between.base, top - other - between.base
    larger = np.maximum(far_own, far_other)
    scores = np.where(
        larger > 0, (far_other - far_own) / np.where(larger > 0, larger, 1.0), 0.0
    )
    return float(np.where(sizes[labels] > 1, scores, 0.0).mean())


def agreement(groups: IntArray, sizes: FloatArray) -> FloatArray:
    """B-cubed F of each grouping with each other, weighted by sizes.

    Examples
    --------
    >>> from setwise.together.scales import agreement
    >>> agreement(np.array([[0, 0, 1], [0, 1, 2]]), np.ones(3)).round(3)
    array([[1. , 0.8],
           [0.8, 1. ]])
    """
    n = len(groups)
    found = np.ones((n, n))
    for i in range(n):
        for j in range(i):
            found[i, j] = found[j, i] = agreement_of(groups[i], groups[j], sizes)
    return found


def agreement_of(one: IntArray, other: IntArray, sizes: FloatArray) -> float:
    """B-cubed F of two groupings."""
    table = sp.csr_array((sizes, (one, other)))
    table.sum_duplicates()
    rows = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    squares = table.data**2
    first = (squares / np.bincount(one, sizes)[rows]).sum()
    second = (squares / np.bincount(other, sizes)[table.indices]).sum()
    return float(2 * first * second / (first + second) / sizes.sum())
