"""Why a set got its label, in numbers that can be printed, plotted and tested."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.cut_steps import CutStep, cut_steps, probe_switches
from setwise.classify.description import Member
from setwise.classify.distributions import class_cluster_distributions, signal_to_noise
from setwise.classify.evidence import ClusterOverlap, EdgeShare, Seen
from setwise.classify.fusion import Fused, ScoreMatrix, fuse, votes
from setwise.classify.gallery import Gallery
from setwise.classify.judge import Look, believed, runner_up, score_matrix_of
from setwise.classify.layer import LayerResult
from setwise.classify.sentence import sentence
from setwise.classify.unknown import is_near, nearness
from setwise.features.typical import is_out_of_place
from setwise.sets.classifier import largest_by_class

if TYPE_CHECKING:
    from pathlib import Path

    from matplotlib.figure import Figure

    from setwise.classify.pictured import Pictured

__all__ = ["CutStep", "Explanation", "MemberVote", "explain", "explain_look"]


@dataclass(frozen=True)
class MemberVote:
    """What one member of the ensemble said.

    Attributes
    ----------
    layer, representation : str
        What the layer is called, and the view and basis that it shares with others.
    evidence : str
        What it was asked: clusters, edges, angles.
    n_columns : int
        Its dimensionality.
    weight : float
        How much it counts; 1 on average.
    label : object
        Label of its nearest class; None when it has nothing in common with any.
    distances : array of shape (n_classes,)
        To each class; ``inf`` where no cluster is shared.
    snr : float
        Second smallest distance over the smallest.
    """

    layer: str
    representation: str
    evidence: str
    n_columns: int
    weight: float
    label: Any
    distances: FloatArray
    snr: float

    @property
    def look(self) -> str:
        """What all dimensionalities of it share: representation, and evidence but clusters."""
        is_clusters = self.evidence == ClusterOverlap.name
        return self.representation if is_clusters else f"{self.representation}: {self.evidence}"


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
        Whether anything is shared with any class; else the label means nothing.
    is_known : bool or None
        Whether the set is near enough to be of a class of the gallery; None if not asked.
    nearness : float
        How near it is to the nearest class, see :func:`setwise.classify.unknown.nearness`.
    is_typical : array of bool, shape (n_vectors,)
        Which vectors look as if they belong to the set; the others are out of place.
    votes : tuple of MemberVote
        One per member that counts.
    shown : str
        The layer whose clusters are shown below: the largest that voted for the answer.
    snr : float
        Its second smallest distance over the smallest (the paper's SNR): the margin.
    tree : tuple of CutStep
        Its tree of cuts, in the order of division; empty for clusterers without tree.
    class_cluster : array of shape (n_classes + 1, n_clusters)
        Its class-cluster distributions; the probe is the last row.
    support : array of shape (n_vectors,)
        For each vector of the probe, how far its clusters and edges speak for the answer,
        between 0 (other classes) and 1 (the answer's), over all layers; NaN where none
        speaks. Vectors that were left out of the set have 0.
    sign_switches : array of shape (n_vectors,)
        How often the vector changed sides while the Fiedler vectors of the shown layer
        settled (DFVC): a measure of doubt. Cuts of more than 2000 columns are not counted.
    probe_points, gallery_points : arrays of shape (n, 2)
        The vectors in the plane of the gallery's two largest principal directions.
    gallery_point_classes : array of int
        Class code of each gallery point.
    runner_up : object
        The next probable class; None where nothing speaks for any other.
    name : str
        What the set is called; empty where nobody said so.
    pictured : Pictured or None
        The images of the set, and those of the gallery that are most like them. They are for
        the picture alone: :meth:`to_dict` leaves them out.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> why = CVC().fit(sets[1:], labels[1:]).explain(sets[0])
    >>> print(why.label, why.is_informed, len(why.votes) > 0)
    0 True True
    """

    label: Any
    classes: npt.NDArray[Any]
    probabilities: FloatArray
    scores: FloatArray
    is_informed: bool
    is_known: bool | None
    nearness: float
    is_typical: BoolArray
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
    runner_up: Any = None
    name: str = ""
    pictured: Pictured | None = None

    @property
    def probability(self) -> float:
        """Of the answer."""
        return float(self.probabilities[(self.classes == self.label).argmax()])

    @property
    def sentence(self) -> str:
        """The answer in one plain sentence."""
        return str(sentence(self))

    def __str__(self) -> str:
        if not self.is_informed:
            return "No answer: the set has nothing in common with any class."
        order = np.argsort(-self.probabilities, kind="stable")[:3]
        ranking = ", ".join(f"{self.classes[i]} {self.probabilities[i]:.2f}" for i in order)
        agree = sum(vote.label == self.label for vote in self.votes)
        n_out = int((~self.is_typical).sum())
        stranger = "unknown, most like " if self.is_known is False else ""
        return (
            f"{stranger}{self.label}: {ranking}; {agree} of {len(self.votes)} members agree, "
            f"{n_out} of {len(self.support)} vectors look out of place."
        )

    def plot(
        self,
        path: str | Path | None = None,
        *,
        width: float = 11.0,
        figure: Figure | None = None,
    ) -> Figure:
        """Draw the set, the answer and the runner-up, and what they rest on.

        Parameters
        ----------
        path : str or Path, optional
            Where to save the picture too; the suffix says how (``.png``, ``.svg``, ``.pdf``).
        width : float
            Inches. From 8 on there are two columns, below one.
        figure : matplotlib.figure.Figure, optional
            An empty one to draw on, such as ``plt.figure()``; else a new one, outside pyplot.
        """
        from setwise.plots.explanation_plot import plot_explanation

        return plot_explanation(self, path, width=width, figure=figure)

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
    """Judge one probe by every layer that counts, and keep the reasons."""
    return explain_look(Look.of(gallery, vectors))


def explain_look(look: Look) -> Explanation:
    """The reasons of an answer, of what was seen for it: nothing is looked at again."""
    gallery, vectors, bases, seen = look.gallery, look.vectors, look.bases, look.seen
    score_matrix = score_matrix_of(gallery, seen)
    answer = fuse(score_matrix, gallery.description.fusion)
    score_matrices = _layer_votes(gallery, seen, score_matrix)
    shown = _shown(gallery, seen, score_matrices, gallery.classes[answer.code])
    layer, result = gallery.layers[shown].layer, seen[shown].clustered
    shares = {i: bases.shares(gallery.layers[i].layer) for i in seen}
    return Explanation(
        **_answer(gallery, seen, answer),
        is_typical=~is_out_of_place(vectors, bases.is_kept),
        votes=score_matrices,
        shown=str(layer),
        snr=signal_to_noise(_class_distances(gallery, result)),
        tree=cut_steps(gallery, shown, result),
        class_cluster=_by_class(gallery, result),
        support=np.where(bases.is_kept, _support(gallery, seen, shares, answer.code), 0.0),
        sign_switches=shares[shown] @ probe_switches(result, shares[shown].shape[1]),
        probe_points=gallery.sketch.project(vectors),
        gallery_points=gallery.sketch.points,
        gallery_point_classes=gallery.sketch.classes,
    )


def _answer(gallery: Gallery, seen: dict[int, Seen], fused: Fused) -> dict[str, Any]:
    """The answer itself, as fields of an explanation."""
    how_near = nearness(gallery, seen)
    probabilities = believed(gallery, fused.probabilities)
    return {
        "label": gallery.classes[fused.code],
        "classes": gallery.classes,
        "probabilities": probabilities,
        "scores": fused.scores,
        "is_informed": fused.is_informed,
        "is_known": is_near(gallery, how_near),
        "nearness": how_near,
        "runner_up": runner_up(gallery, fused, probabilities),
    }


def _counted(gallery: Gallery, seen: Mapping[int, Seen]) -> list[tuple[int, Member, float]]:
    """The members that were asked, with the place of their layer and what they count."""
    place = {gallery.layers[i].layer: i for i in seen}
    return [
        (place[member.layer], member, float(weight))
        for member, weight in zip(gallery.members, gallery.weights, strict=True)
        if weight > 0 and member.layer in place
    ]


def _class_distances(gallery: Gallery, result: LayerResult) -> FloatArray:
    """Distance of each class by Algorithm 1, ``inf`` where no cluster is shared."""
    nearest = largest_by_class(-result.distances, gallery.row_classes, gallery.n_classes)
    return -nearest


def _layer_votes(
    gallery: Gallery, seen: Mapping[int, Seen], score_matrix: ScoreMatrix
) -> tuple[MemberVote, ...]:
    """What each member said; what it counts is relative to the mean of those that do."""
    made = []
    usual = float(score_matrix.weights.mean())
    by_class = -score_matrix.by_class(-score_matrix.distances)
    rows = zip(_counted(gallery, seen), votes(score_matrix), by_class, strict=True)
    for (i, member, weight), vote, distances in rows:
        layer = member.layer
        if isinstance(member.evidence, ClusterOverlap):
            distances = _class_distances(gallery, seen[i].clustered)
        made.append(
            MemberVote(
                layer=str(layer),
                representation=str(layer.representation),
                evidence=member.evidence.name or type(member.evidence).__name__,
                n_columns=layer.n_columns,
                weight=weight / usual,
                label=gallery.classes[int(vote.argmax())] if vote.any() else None,
                distances=distances,
                snr=signal_to_noise(distances),
            )
        )
    return tuple(made)


def _shown(
    gallery: Gallery, seen: Mapping[int, Seen], said: tuple[MemberVote, ...], label: Any
) -> int:
    """The layer whose clusters are shown: the largest whose clusters vote for the answer."""
    asked = [
        (i, vote)
        for (i, member, _), vote in zip(_counted(gallery, seen), said, strict=True)
        if isinstance(member.evidence, ClusterOverlap)
    ]
    agreeing = [i for i, vote in asked if vote.label == label]
    of = agreeing or [i for i, _ in asked] or list(seen)
    return max(of, key=lambda i: gallery.layers[i].layer.n_columns)


def _by_class(gallery: Gallery, result: LayerResult) -> FloatArray:
    """Class-cluster distributions, the probe last, whatever the rows of the layer are."""
    histogram = np.zeros((gallery.n_classes + 1, result.histogram.shape[1]))
    np.add.at(histogram, gallery.row_classes, result.histogram[:-1])
    histogram[-1] = result.histogram[-1]
    return class_cluster_distributions(histogram)


def _support(
    gallery: Gallery,
    seen: Mapping[int, Seen],
    shares: Mapping[int, FloatArray],
    code: int,
) -> FloatArray:
    """For each vector, how much of what its columns are joined to is of class ``code``."""
    for_answer = total = np.zeros(len(next(iter(shares.values()))))
    for i, member, weight in _counted(gallery, seen):
        if isinstance(member.evidence, ClusterOverlap):
            purity, speaks = _purity(gallery, i, seen[i].clustered, code)
        elif isinstance(member.evidence, EdgeShare):
            by_row = seen[i].edge_shares
            purity = by_row[:, gallery.row_classes == code].sum(axis=1)
            speaks = by_row.max(axis=1, initial=0.0) > 0
        else:
            continue  # angles are of sets, not of vectors
        for_answer = for_answer + weight * (shares[i] @ (purity * speaks))
        total = total + weight * (shares[i] @ speaks.astype(np.float64))
    return np.divide(for_answer, total, out=np.full_like(total, np.nan), where=total > 0)


def _purity(
    gallery: Gallery, i: int, result: LayerResult, code: int
) -> tuple[FloatArray, BoolArray]:
    """For each probe column, how much of its cluster is of a class; whether any gallery is."""
    column_classes = gallery.columns(gallery.layers[i]).classes
    clusters = result.clusters.labels
    known, probe = clusters[: len(column_classes)], clusters[len(column_classes) :]
    n_clusters = int(clusters.max()) + 1
    all_columns = np.bincount(known, minlength=n_clusters)
    of_answer = np.bincount(known[column_classes == code], minlength=n_clusters)
    return (of_answer / np.maximum(all_columns, 1))[probe], (all_columns > 0)[probe]
