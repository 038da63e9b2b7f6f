"""Scores of the ensemble's members for pairs of sets, made without looking at labels."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from setwise._support.parallel import in_threads
from setwise._support.types import FloatArray, IntArray
from setwise.features.views import shown_widths
from setwise.gallery.bases import InlierSets, SetBases, usable_dims
from setwise.gallery.defaults import default_description
from setwise.gallery.description import Description, Layer, Member, Representation
from setwise.gallery.evidence import ClusterOverlap, Regression
from setwise.gallery.left_out import LeftOutViews
from setwise.gallery.whole import solve_whole
from setwise.sets import SetBatch
from setwise.together.stacked import ANGLES, asked_angles, stacked_bases

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
    (25, 72)
    """

    names: tuple[str, ...]  # of the sets
    members: tuple[Member, ...]
    indptr: IntArray
    indices: IntArray
    scores: Scores  # (n_members, n_pairs)
    deviations: FloatArray  # (n_members, n_sets): of each row's scores, before

    def similarity(self, weights: FloatArray, *, is_absolute: bool = False) -> sp.csr_array:
        """Weighted means of the members' scores, of both directions of each pair.

        A score of 3 says that a set is much nearer than others, to a set that is near to none.
        If scores are to be absolute, the deviation of all sets together is the unit of each.
        """
        n, counts = len(self.names), np.diff(self.indptr)
        mean = np.zeros(len(self.indices))
        for weight, scores, deviations in zip(
            weights / weights.sum(), self.scores, self.deviations, strict=True
        ):
            if weight > 0:
                units = relative_to_all(deviations) if is_absolute else np.ones(n)
                mean += weight * np.repeat(units, counts) * scores
        # Every pair is stored both ways, those of similarity 0 too, which a sum would drop.
        layout = self.indices, self.indptr
        table = sp.csr_array((mean, *layout), shape=(n, n))
        turned = table.T.tocsr()
        turned.sort_indices()
        return sp.csr_array(((mean + turned.data) / 2, *layout), shape=(n, n), copy=True)


def relative_to_all(deviations: FloatArray) -> FloatArray:
    """Deviations of rows, over that of all rows together; 1 where none varies."""
    whole = float(np.sqrt((deviations**2).mean()))
    return deviations / whole if whole > 0 else np.ones(len(deviations))


def without_clusters(how: Description | None) -> Description:
    """The description for graphs of sets, each a class of its own; by default of ``CVC()``.

    Trees of cuts take most of the time, and say less of pairs than edges and angles do.
    Regression predicts classes, of which each would have one set.
    """
    how = default_description() if how is None else how
    of_classes = ClusterOverlap, Regression
    pairwise = tuple(one for one in how.evidence if not isinstance(one, of_classes))
    clusters = tuple(one for one in how.evidence if isinstance(one, ClusterOverlap))
    return replace(
        how,
        evidence=pairwise or clusters or ANGLES,
        distributions="set",
        weights=None,
        unknown=None,
        shortlist=None,
    )


def all_pairs(how: Description, sets: SetBatch, n_jobs: int | None) -> PairScores:
    """Scores of all pairs, by one graph per layer of all sets' columns.

    Single vectors have no graph, and are compared by angles; so is all where nothing but
    angles is asked for.
    """
    inliers = InlierSets.of(how, sets, n_jobs)
    is_asked = any(kind.needs_graph for kind in how.evidence)
    graphs = tuple(one for one in how.representations if is_asked and one.basis.has_graph)
    found = []
    if graphs:
        found = _by_graphs(replace(how, representations=graphs), sets, inliers, n_jobs)
    for one in how.representations:
        if one not in graphs:
            found += _by_angles(how, one, inliers, sets, n_jobs)
    members = tuple(member for member, _ in found)
    raw = np.stack([table for _, table in found])
    scores, deviations = standardised_rows(raw)
    n = len(sets)
    indices = np.broadcast_to(np.arange(n), (n, n))[~np.eye(n, dtype=np.bool_)]
    indptr = (n - 1) * np.arange(n + 1)
    return PairScores(sets.names, members, indptr, indices, scores, deviations)


def standardised_rows(raw: FloatArray) -> tuple[Scores, FloatArray]:
    """Scores of mean 0 and deviation 1 along the last axis, flat; and their deviations."""
    centred = raw - raw.mean(axis=-1, keepdims=True)
    deviations = centred.std(axis=-1)
    is_flat = deviations <= 1e-9
    scaled = centred / np.where(is_flat, 1.0, deviations)[..., None]
    scores = np.where(is_flat[..., None], 0.0, scaled).astype(np.float32)
    return scores.reshape(len(raw), -1), np.where(is_flat, 0.0, deviations)


def _by_graphs(
    how: Description, sets: SetBatch, inliers: InlierSets, n_jobs: int | None
) -> list[tuple[Member, FloatArray]]:
    """Members and their scores of each set with all others, (n_sets, n_sets - 1)."""
    n = len(sets)
    every, is_other = np.arange(n), ~np.eye(n, dtype=np.bool_)
    gallery = solve_whole(how, sets, every, every, inliers, n_jobs=n_jobs)

    def of_layer(i: int) -> list[tuple[Member, FloatArray]]:
        layer = gallery.layers[i].layer
        members = [m for m in gallery.members if m.layer == layer]
        views = LeftOutViews(gallery.everything.layer_graph(i), every)
        found = np.empty((len(members), n, n - 1))
        for row, view in enumerate(views):
            for kind, member in enumerate(members):
                found[kind, row] = member.evidence.overlaps(view)[is_other[row]]
        return list(zip(members, found, strict=True))

    layers = in_threads(of_layer, range(len(gallery.layers)), n_jobs)
    return [pair for layer in layers for pair in layer]


def _by_angles(
    how: Description,
    one: Representation,
    inliers: InlierSets,
    sets: SetBatch,
    n_jobs: int | None,
) -> list[tuple[Member, FloatArray]]:
    """As :func:`_by_graphs`, of a representation without a graph."""
    n, views = len(sets), inliers.fitted([one.view])
    width = max(shown_widths(views, sets.n_features, sets.image_shape).values())
    dims = usable_dims(how.dims, inliers.sizes, width)
    is_other, found = ~np.eye(n, dtype=np.bool_), []

    def bases_of(i: int) -> SetBases:
        return SetBases(inliers[i], views, how, dims)

    for stack in stacked_bases(one, bases_of, n, one.basis.offered(dims), n_jobs):
        tables = stack.with_others(np.arange(n), n_jobs)
        for kind in asked_angles(how, one.basis):
            member = Member(Layer(one, stack.dims), ANGLES[kind])
            found.append((member, tables[kind][is_other].reshape(n, n - 1)))
    return found
