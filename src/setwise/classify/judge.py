"""The one way to ask a solved gallery about sets: one answer per set.

The estimator, the command, the demo and the studies all come through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import in_threads
from setwise._support.progress import Progress, reported
from setwise._support.types import FloatArray
from setwise.classify.fusion import Ballot, Fusion, fuse, is_decided, votes
from setwise.classify.gallery import Gallery, SetBases
from setwise.classify.member import MemberResult, finite, judge_probe
from setwise.cluster import HierarchicalClusters

__all__ = ["Answer", "ballot_of", "judge", "member_results"]


@dataclass(frozen=True)
class Answer:
    """What a gallery says of one set.

    Attributes
    ----------
    name : str
        What the set is called.
    label : object
        The class it most probably is of; means nothing where ``is_informed`` is False.
    probability : float
        Of that class.
    runner_up : object
        The next probable class; None where nothing speaks for any other.
    margin : float
        By how much ``probability`` exceeds that of the runner-up.
    is_informed : bool
        Whether the set shares a cluster with any class at all.
    classes : array of shape (n_classes,)
        The labels, in the order of everything below.
    probabilities, scores : arrays of shape (n_classes,)
        Of each class; scores are what ``fusion`` sums.
    votes : array of shape (n_members asked, n_classes)
        Weighted vote of each member.
    n_repaired_cuts : int
        Cuts that did not converge, or left one half empty, so that another rule made it.
    ballot : Ballot
        The members' distances, to be fused otherwise.
    """

    name: str
    label: Any
    probability: float
    runner_up: Any
    margin: float
    is_informed: bool
    classes: npt.NDArray[Any]
    probabilities: FloatArray
    scores: FloatArray
    votes: FloatArray
    n_repaired_cuts: int
    ballot: Ballot

    def fused_by(self, fusion: str | Fusion) -> Any:
        """The label that another fusion of the same members gives."""
        return self.classes[fuse(self.ballot, Fusion.of(fusion, "Answer.fused_by")).code]


def judge(
    gallery: Gallery,
    sets: Any,
    *,
    n_jobs: int | None = None,
    progress: Progress | None = None,
    stop_early: bool = False,
    caller: str = "judge",
) -> Iterator[Answer]:
    """Judge sets, each alone; answers come in the order of the sets, as they are ready.

    Parameters
    ----------
    gallery : Gallery
        What they are judged by.
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        Probes. They are checked at once, before the first answer.
    n_jobs : int, optional
        Threads.
    progress : callable, optional
        Called with what is being done, how many sets are judged, and of how many.
    stop_early : bool
        Stop asking members when the rest can no longer change the label, where the fusion
        allows it. The label is the same; probabilities and votes are of those asked.
    caller : str
        Who asks, for messages.
    """
    probes = gallery.check(sets, caller)

    def answer(i: int) -> Answer:
        results = member_results(gallery, gallery.bases(probes[i]), stop_early=stop_early)
        ballot = ballot_of(gallery, results)
        return _answer(gallery, probes.names[i], ballot, _n_repaired(results))

    answers = in_threads(answer, range(len(probes)), n_jobs)
    return reported(answers, len(probes), "classify", progress)


def member_results(
    gallery: Gallery, bases: SetBases, *, stop_early: bool = False
) -> dict[int, MemberResult]:
    """Results of the members that are needed and have any weight, by their index."""
    fusion, how = gallery.description.fusion, gallery.comparison
    dims = np.array([solved.member.n_columns for solved in gallery.members])
    weights = np.where(fusion.is_needed(dims), gallery.weights, 0.0)
    results: dict[int, MemberResult] = {}
    totals, remaining = np.zeros(gallery.n_classes), float(weights.sum())
    for i in map(int, np.flatnonzero(weights)):
        solved = gallery.members[i]
        results[i] = judge_probe(
            solved.graph, gallery.columns(solved), bases[solved.member], how
        )
        if stop_early and fusion.can_stop_early:
            remaining -= float(weights[i])
            totals += votes(ballot_of(gallery, {i: results[i]}))[0]
            if is_decided(totals, remaining):
                break
    return results


def ballot_of(gallery: Gallery, results: dict[int, MemberResult]) -> Ballot:
    """The results of some members as one ballot."""
    asked = np.fromiter(results, dtype=np.int64)
    return Ballot(
        distances=np.array([finite(result) for result in results.values()]),
        overlaps=np.array([result.overlaps for result in results.values()]),
        weights=gallery.weights[asked],
        dims=np.array([gallery.members[i].member.n_columns for i in asked]),
        row_classes=gallery.row_classes,
        n_classes=gallery.n_classes,
    )


def believed(gallery: Gallery, probabilities: FloatArray) -> FloatArray:
    """Probabilities, drawn towards even ones where the gallery is not to be trusted."""
    if gallery.trust == 1.0:
        return probabilities
    even = 1.0 / len(probabilities)
    return even + gallery.trust * (probabilities - even)


def _n_repaired(results: dict[int, MemberResult]) -> int:
    clusters = [result.clusters for result in results.values()]
    trees = [c.tree for c in clusters if isinstance(c, HierarchicalClusters)]
    return sum(tree.n_unconverged + tree.n_fallbacks for tree in trees)


def _answer(gallery: Gallery, name: str, ballot: Ballot, n_repaired_cuts: int) -> Answer:
    fused = fuse(ballot, gallery.description.fusion)
    probabilities = believed(gallery, fused.probabilities)
    first, second = np.argsort(-probabilities, kind="stable")[:2]
    rival = second if first == fused.code else first
    has_rival = fused.is_informed and fused.probabilities[rival] > 0.005
    return Answer(
        name=name,
        label=gallery.classes[fused.code],
        probability=float(probabilities[fused.code]),
        runner_up=gallery.classes[rival] if has_rival else None,
        margin=float(probabilities[first] - probabilities[second]),
        is_informed=fused.is_informed,
        classes=gallery.classes,
        probabilities=probabilities,
        scores=fused.scores,
        votes=votes(ballot),
        n_repaired_cuts=n_repaired_cuts,
        ballot=ballot,
    )
