"""Why a set got its label, in numbers that can be printed, plotted and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import FloatArray, IntArray
from setwise.classify.distributions import class_cluster_distributions, signal_to_noise
from setwise.classify.fusion import fuse, votes
from setwise.classify.gallery import Gallery
from setwise.classify.judge import ballot_of, believed, member_results
from setwise.classify.member import MemberResult
from setwise.cluster import HierarchicalClusters
from setwise.cut import sign_switches

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

__all__ = ["CutStep", "Explanation", "MemberVote", "explain"]


@dataclass(frozen=True)
class MemberVote:
    """What one member of the ensemble said.

    Attributes
    ----------
    member, representation : str
        What the member is called, and the view and basis that it shares with others.
    n_columns : int
        Its dimensionality.
    weight : float
        How much it counts.
    label : object
        Label of its nearest class; None when it shares no cluster with any.
    distances : array of shape (n_classes,)
        To each class; ``inf`` where no cluster is shared.
    snr : float
        Second smallest distance over the smallest.
    """

    member: str
    representation: str
    n_columns: int
    weight: float
    label: Any
    distances: FloatArray
    snr: float


@dataclass(frozen=True)
class CutStep:
    """One node of the tree of cuts.

    Attributes
    ----------
    node, parent : int
        Index of the node and of its parent (-1 for the root).
    children : tuple of int
        Two halves or several components; none for a leaf.
    depth, n_columns, n_probe : int
        Depth in the tree, columns in the node, the probe's columns among them.
    class_counts : array of int, shape (n_classes,)
        Columns of each class.
    kind : str
        ``"leaf"``, ``"components"`` or the name of the spectral cut that divides it.
    connectivity, ncut : float
        Of the cut that divides it; NaN for a leaf.
    fell_away : tuple
        Labels that were together with the probe here and are no longer after the cut.
    """

    node: int
    parent: int
    children: tuple[int, ...]
    depth: int
    n_columns: int
    n_probe: int
    class_counts: IntArray
    kind: str
    connectivity: float
    ncut: float
    fell_away: tuple[Any, ...]


@dataclass(frozen=True)
class Explanation:
    """The answer for one probe, and everything it rests on.

    Attributes
    ----------
    label : object
        The answer.
    classes : array of shape (n_classes,)
        All labels.
    probabilities, scores : arrays of shape (n_classes,)
        As ``predict_proba`` and the fused scores.
    is_informed : bool
        Whether any member shares a cluster with any class; else the label means nothing.
    votes : tuple of MemberVote
        One per member that counts.
    shown : str
        The member whose clusters are shown below: the largest that voted for the answer.
    snr : float
        Its second smallest distance over the smallest (the paper's SNR): the margin.
    tree : tuple of CutStep
        Its tree of cuts, in the order of division; empty for clusterers without tree.
    class_cluster : array of shape (n_classes + 1, n_clusters)
        Its class-cluster distributions; the probe is the last row.
    support : array of shape (n_vectors,)
        For each vector of the probe, how far its clusters speak for the answer, between 0
        (other classes) and 1 (the answer's), over all members; NaN where none speaks.
    sign_switches : array of shape (n_vectors,)
        How often the vector changed sides while the Fiedler vectors of the shown member
        settled (DFVC): a measure of doubt. Cuts of more than 2000 columns are not counted.
    probe_points, gallery_points : arrays of shape (n, 2)
        The vectors in the plane of the gallery's two largest principal directions.
    gallery_point_classes : array of int
        Class code of each gallery point.
    """

    label: Any
    classes: npt.NDArray[Any]
    probabilities: FloatArray
    scores: FloatArray
    is_informed: bool
    votes: tuple[MemberVote, ...]
    shown: str
    snr: float
    tree: tuple[CutStep, ...]
    class_cluster: FloatArray
    support: FloatArray
    sign_switches: FloatArray
    probe_points: FloatArray
    gallery_points: FloatArray
    gallery_point_classes: IntArray

    def __str__(self) -> str:
        if not self.is_informed:
            return "No answer: the set shares no cluster with any class."
        order = np.argsort(-self.probabilities, kind="stable")[:3]
        ranking = ", ".join(f"{self.classes[i]} {self.probabilities[i]:.2f}" for i in order)
        agree = sum(vote.label == self.label for vote in self.votes)
        doubtful = int((self.support < 0.5).sum())
        return (
            f"{self.label}: {ranking}; {agree} of {len(self.votes)} members agree, "
            f"{doubtful} of {len(self.support)} vectors speak for another class."
        )

    def plot(self, path: str | Path | None = None) -> Figure:
        """Draw sets, votes, tree of cuts and class-cluster table; save it to ``path``."""
        from setwise.plots.explanation_plot import plot_explanation

        return plot_explanation(self, path)

    def to_dict(self) -> dict[str, Any]:
        """Everything in types that JSON knows, numbers to six digits.

        Labels become strings, and what is not finite None.
        """
        from setwise.classify.explanation_dict import explanation_to_dict

        return explanation_to_dict(self)

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> Explanation:
        """The explanation that :meth:`to_dict` made this of, with strings for labels.

        Parameters
        ----------
        content : dict
            What ``to_dict`` gave.
        """
        from setwise.classify.explanation_dict import explanation_from_dict

        return explanation_from_dict(content)


def explain(gallery: Gallery, vectors: FloatArray) -> Explanation:
    """Judge one probe by every member that counts, and keep the reasons."""
    bases = gallery.bases(vectors)
    results = member_results(gallery, bases)
    ballot = ballot_of(gallery, results)
    answer = fuse(ballot, gallery.description.fusion)
    classes = gallery.classes
    nearest = [int(v.argmax()) if v.any() else None for v in votes(ballot)]
    asked = list(results)
    members = {i: gallery.members[i].member for i in asked}
    agreeing = [i for i, code in zip(asked, nearest, strict=True) if code == answer.code]
    shown = max(agreeing or asked, key=lambda i: members[i].n_columns)
    class_distances = -ballot.by_class(-np.array([r.distances for r in results.values()]))
    shares = {i: bases.shares(members[i]) for i in asked}
    return Explanation(
        label=classes[answer.code],
        classes=classes,
        probabilities=believed(gallery, answer.probabilities),
        scores=answer.scores,
        is_informed=answer.is_informed,
        votes=tuple(
            MemberVote(
                member=str(members[i]),
                representation=str(members[i].representation),
                n_columns=members[i].n_columns,
                weight=float(gallery.weights[i]),
                label=None if code is None else classes[code],
                distances=distances,
                snr=signal_to_noise(distances),
            )
            for i, code, distances in zip(asked, nearest, class_distances, strict=True)
        ),
        shown=str(members[shown]),
        snr=signal_to_noise(class_distances[asked.index(shown)]),
        tree=_tree(gallery, shown, results[shown]),
        class_cluster=_by_class(gallery, results[shown]),
        support=_support(gallery, results, shares, answer.code),
        sign_switches=shares[shown] @ _sign_switches(results[shown], shares[shown].shape[1]),
        probe_points=gallery.sketch.project(vectors),
        gallery_points=gallery.sketch.points,
        gallery_point_classes=gallery.sketch.classes,
    )


def _by_class(gallery: Gallery, result: MemberResult) -> FloatArray:
    """Class-cluster distributions, the probe last, whatever the rows of the member are."""
    histogram = np.zeros((gallery.n_classes + 1, result.histogram.shape[1]))
    np.add.at(histogram, gallery.row_classes, result.histogram[:-1])
    histogram[-1] = result.histogram[-1]
    return class_cluster_distributions(histogram)


def _tree(gallery: Gallery, shown: int, result: MemberResult) -> tuple[CutStep, ...]:
    clusters = result.clusters
    if not isinstance(clusters, HierarchicalClusters):
        return ()
    column_classes = gallery.columns(gallery.members[shown]).classes
    n_gallery, n_classes = len(column_classes), gallery.n_classes
    nodes = clusters.tree.nodes

    def counts(index: int) -> tuple[IntArray, int]:
        inside = nodes[index].vertices
        known = column_classes[inside[inside < n_gallery]]
        return np.bincount(known, minlength=n_classes), int((inside >= n_gallery).sum())

    def step(index: int, *, is_leaf: bool) -> CutStep:
        node = nodes[index]
        class_counts, n_probe = counts(index)
        children = () if is_leaf else node.children
        cut = None if is_leaf else node.cut
        kind = "leaf" if is_leaf else "components" if cut is None else cut.kind
        free = np.nan if is_leaf else 0.0
        still = np.zeros(n_classes, dtype=bool)
        for child in children:
            child_counts, child_probe = counts(child)
            still |= (child_counts > 0) & (child_probe > 0)
        gone = (class_counts > 0) & ~still if children and n_probe else np.zeros(0, dtype=int)
        return CutStep(
            node=index,
            parent=node.parent,
            children=children,
            depth=node.depth,
            n_columns=len(node.vertices),
            n_probe=n_probe,
            class_counts=class_counts,
            kind=kind,
            connectivity=free if cut is None else cut.connectivity,
            ncut=free if cut is None else cut.ncut,
            fell_away=tuple(gallery.classes[np.flatnonzero(gone)]),
        )

    return tuple(
        [step(i, is_leaf=False) for i in clusters.inner]
        + [step(i, is_leaf=True) for i in clusters.leaves]
    )


def _support(
    gallery: Gallery,
    results: dict[int, MemberResult],
    shares: dict[int, FloatArray],
    code: int,
) -> FloatArray:
    """For each vector, how much of its clusters' gallery columns is of class ``code``."""
    for_answer = total = np.zeros(len(next(iter(shares.values()))))
    for i, result in results.items():
        column_classes = gallery.columns(gallery.members[i]).classes
        clusters = result.clusters.labels
        known, probe = clusters[: len(column_classes)], clusters[len(column_classes) :]
        n_clusters = int(clusters.max()) + 1
        all_columns = np.bincount(known, minlength=n_clusters)
        of_answer = np.bincount(known[column_classes == code], minlength=n_clusters)
        speaks = (all_columns > 0)[probe]
        purity = (of_answer / np.maximum(all_columns, 1))[probe]
        for_answer = for_answer + gallery.weights[i] * (shares[i] @ (purity * speaks))
        total = total + gallery.weights[i] * (shares[i] @ speaks.astype(np.float64))
    return np.divide(for_answer, total, out=np.full_like(total, np.nan), where=total > 0)


def _sign_switches(result: MemberResult, n_probe: int) -> FloatArray:
    """Sign switches of the probe's columns, summed over the cuts they went through.

    Cuts of too many columns for Algorithm 3 are not counted.
    """
    clusters = result.clusters
    switches = np.zeros(len(clusters.labels))
    if isinstance(clusters, HierarchicalClusters):
        tree = clusters.tree
        for index in clusters.inner:
            node = tree.nodes[index]
            if node.cut is not None:
                inside = node.vertices
                of_cut = sign_switches(tree.adjacency[inside][:, inside])
                switches[inside] += 0 if of_cut is None else of_cut
    return switches[len(switches) - n_probe :]
