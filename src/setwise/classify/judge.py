"""The one way to ask a solved gallery about sets: one answer per set.

The estimator, the command, the demo and the studies all come through here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.cluster import spread
from setwise._support.parallel import in_threads
from setwise._support.progress import Progress, reported
from setwise._support.types import BoolArray, FloatArray
from setwise.classify.evidence import Seen
from setwise.classify.fusion import Fused, Fusion, ScoreMatrix, fuse, is_decided, votes
from setwise.classify.gallery import Gallery, SetBases
from setwise.classify.near import near
from setwise.classify.on_device import Inserted, given_to, inserted_on
from setwise.classify.unknown import is_near, nearness
from setwise.cluster import HierarchicalClusters
from setwise.device import current_device
from setwise.features.typical import is_out_of_place

__all__ = ["Answer", "Look", "answer_of", "judge", "look_at", "score_matrix_of", "seen_by_all"]


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
        Whether the set has anything in common with any class at all.
    is_known : bool or None
        Whether it is near enough to be of a class of the gallery; None where the classifier
        was not asked to tell (``unknown=None``). ``label`` is then that of the nearest class.
    nearness : float
        How near it is to the nearest class, by an absolute measure: see
        :func:`setwise.classify.unknown.nearness`.
    is_typical : array of bool, shape (n_vectors,)
        Which vectors of the set look as if they belong to it; the others are out of place,
        and were not listened to (``outliers="drop"``).
    classes : array of shape (n_classes,)
        The labels, in the order of everything below: those around the set, where the gallery
        has many.
    probabilities, scores : arrays of shape (n_classes,)
        Of each class; scores are what ``fusion`` sums.
    votes : array of shape (n_members asked, n_classes)
        Weighted vote of each member.
    n_repaired_cuts : int
        Cuts that did not converge, or left one half empty, so that another rule made it.
    score_matrix : ScoreMatrix
        What the members said, to be fused otherwise.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> clf = CVC().fit(sets[1:], labels[1:])
    >>> (answer,) = clf.judge(sets[:1])
    >>> int(answer.label), int(answer.runner_up) != 0, bool(answer.is_typical.all())
    (0, True, True)
    """

    name: str
    label: Any
    probability: float
    runner_up: Any
    margin: float
    is_informed: bool
    is_known: bool | None
    nearness: float
    is_typical: BoolArray
    classes: npt.NDArray[Any]
    probabilities: FloatArray
    scores: FloatArray
    votes: FloatArray
    n_repaired_cuts: int
    score_matrix: ScoreMatrix

    def fused_by(self, fusion: str | Fusion) -> Any:
        """The label that another fusion of the same members gives."""
        return self.classes[fuse(self.score_matrix, Fusion.of(fusion, "Answer.fused_by")).code]


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
        Threads. Within ``joblib.parallel_config("dask")`` the workers of the cluster judge
        instead: docs/cluster.md.
    progress : callable, optional
        Called with what is being done, how many sets are judged, and of how many.
    stop_early : bool
        Stop asking layers when the rest can no longer change the label, where the fusion
        allows it. The label is the same; probabilities and votes are of those asked.
    caller : str
        Who asks, for messages.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> from setwise.classify import judge
    >>> gallery = CVC().fit(sets[1:], labels[1:]).gallery_
    >>> [int(answer.label) for answer in judge(gallery, sets[:1])]
    [0]
    """
    probes = gallery.check(sets, caller)

    named = zip(probes.names, probes, strict=True)
    here = partial(in_threads, n_jobs=n_jobs)
    device = current_device()
    if device is not None and gallery.directory is None:
        inserted = inserted_on(device, gallery, named, _asked, n_jobs)
        answers = spread(_answered, gallery, inserted, here=here)
    else:
        work = partial(_judged, stop_early=stop_early)
        answers = spread(work, gallery, named, here=here)
    return reported(answers, len(probes), "classify", progress)


def _answered(gallery: Gallery, probe: Inserted) -> Answer:
    """The answer of a probe that a device has inserted."""
    is_typical = ~is_out_of_place(probe.vectors, probe.is_kept)
    return answer_of(gallery, probe.name, probe.seen(gallery), is_typical)


def _judged(gallery: Gallery, probe: tuple[str, FloatArray], *, stop_early: bool) -> Answer:
    name, vectors = probe
    return Look.of(gallery, vectors, stop_early=stop_early).answer(name)


@dataclass(frozen=True)
class Look:
    """What a gallery sees of one set: of it come the answer and, on demand, its explanation.

    Attributes
    ----------
    gallery : Gallery
        What is around the set: the whole gallery, or a part of a large one.
    vectors : array of shape (n_vectors, n_features)
        The set.
    bases : SetBases
        Its columns.
    seen : dict of int to Seen
        What the layers that were asked see of it, by their index.
    """

    gallery: Gallery
    vectors: FloatArray
    bases: SetBases
    seen: dict[int, Seen]

    @classmethod
    def of(cls, gallery: Gallery, vectors: FloatArray, *, stop_early: bool = False) -> Look:
        """Look at a set that :meth:`Gallery.check` has passed."""
        bases = gallery.bases(vectors)
        around = near(gallery, bases)
        return cls(around, vectors, bases, look_at(around, bases, stop_early=stop_early))

    def answer(self, name: str) -> Answer:
        """What the gallery says of the set."""
        is_typical = ~is_out_of_place(self.vectors, self.bases.is_kept)
        return answer_of(self.gallery, name, self.seen, is_typical)


def look_at(gallery: Gallery, bases: SetBases, *, stop_early: bool = False) -> dict[int, Seen]:
    """What the layers see of a probe that are asked, by their index."""
    fusion = gallery.description.fusion
    stop_early = stop_early and fusion.can_stop_early and gallery.threshold is None
    asked, seen = _asked(gallery, bases), dict[int, Seen]()
    totals, remaining = np.zeros(gallery.n_classes), sum(asked.values())
    for i, weight in asked.items():
        seen[i] = _seen(gallery, i, bases)
        if stop_early:
            remaining -= weight
            totals += votes(score_matrix_of(gallery, {i: seen[i]})).sum(axis=0)
            if is_decided(totals, remaining):
                break
    return seen


def _asked(gallery: Gallery, bases: SetBases) -> dict[int, float]:
    """The layers that have anything to say of a probe, and how much they count."""
    weights = gallery.asked_weights(int(bases.is_kept.sum()))
    return {int(i): float(weights[i]) for i in np.flatnonzero(weights)}


def seen_by_all(gallery: Gallery, bases: SetBases) -> dict[int, Seen]:
    """What all layers see of a probe, whoever has any weight."""
    return {i: _seen(gallery, i, bases) for i in range(len(gallery.layers))}


def _seen(gallery: Gallery, i: int, bases: SetBases) -> Seen:
    return Seen(*given_to(gallery, i, bases[gallery.layers[i].layer]))


def score_matrix_of(gallery: Gallery, seen: dict[int, Seen]) -> ScoreMatrix:
    """What the members of some layers say, as one score_matrix."""
    by_layer = {gallery.layers[i].layer: one for i, one in seen.items()}
    asked = [
        (member, i, by_layer[member.layer])
        for i, member in enumerate(gallery.members)
        if gallery.weights[i] > 0 and member.layer in by_layer
    ]
    places = np.array([i for _, i, _ in asked])
    return ScoreMatrix(
        distances=np.array([member.evidence.distances(one) for member, _, one in asked]),
        overlaps=np.array([member.evidence.overlaps(one) for member, _, one in asked]),
        weights=gallery.weights[places],
        dims=np.array([member.layer.n_columns for member, _, _ in asked]),
        row_classes=gallery.row_classes,
        n_classes=gallery.n_classes,
        inverse_temperatures=gallery.inverse_temperatures[places],
    )


def believed(gallery: Gallery, probabilities: FloatArray) -> FloatArray:
    """Probabilities as left-out gallery sets have shown that they come true.

    Raised to a power, and drawn towards even ones where the gallery is not to be trusted.
    """
    if gallery.power != 1.0:
        probabilities = probabilities**gallery.power
        probabilities = probabilities / probabilities.sum()
    even = 1.0 / len(probabilities)
    if gallery.trust == 1.0:
        return probabilities
    return even + gallery.trust * (probabilities - even)


def runner_up(gallery: Gallery, fused: Fused, probabilities: FloatArray) -> Any:
    """The most probable class but the answer; None where nothing speaks for any other."""
    first, second = np.argsort(-probabilities, kind="stable")[:2]
    rival = second if first == fused.code else first
    has_rival = fused.is_informed and fused.probabilities[rival] > 0.005
    return gallery.classes[rival] if has_rival else None


def _n_repaired(seen: dict[int, Seen]) -> int:
    """Cuts that another rule had to make, in the trees that were made."""
    made = [one.clustered.clusters for one in seen.values() if "clustered" in vars(one)]
    trees = [c.tree for c in made if isinstance(c, HierarchicalClusters)]
    return sum(tree.n_unconverged + tree.n_fallbacks for tree in trees)


def answer_of(
    gallery: Gallery, name: str, seen: dict[int, Seen], is_typical: BoolArray
) -> Answer:
    """The answer of what layers have seen of a set."""
    score_matrix = score_matrix_of(gallery, seen)
    fused = fuse(score_matrix, gallery.description.fusion)
    how_near = nearness(gallery, seen)
    probabilities = believed(gallery, fused.probabilities)
    first, second = np.argsort(-probabilities, kind="stable")[:2]
    return Answer(
        name=name,
        label=gallery.classes[fused.code],
        probability=float(probabilities[fused.code]),
        runner_up=runner_up(gallery, fused, probabilities),
        margin=float(probabilities[first] - probabilities[second]),
        is_informed=fused.is_informed,
        is_known=is_near(gallery, how_near),
        nearness=how_near,
        is_typical=is_typical,
        classes=gallery.classes,
        probabilities=probabilities,
        scores=fused.scores,
        votes=votes(score_matrix),
        n_repaired_cuts=_n_repaired(seen),
        score_matrix=score_matrix,
    )
