"""Answers of a solved gallery, one per set, computed by threads, processes or a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from setwise._support.cluster import spread
from setwise._support.parallel import in_threads, lazy
from setwise._support.progress import Progress, reported
from setwise._support.types import FloatArray
from setwise.classify.answer import Answer
from setwise.classify.explanation import Explanation
from setwise.classify.reasons import reasons_of
from setwise.cluster import HierarchicalClusters
from setwise.features.typical import is_out_of_place
from setwise.gallery.bases import SetBases
from setwise.gallery.candidates import Candidates
from setwise.gallery.evidence import LayerView
from setwise.gallery.fusion import Fused, ScoreMatrix, fuse, votes
from setwise.gallery.gallery import Gallery

# Least probability of a runner-up.
LEAST_RUNNER_UP = 0.005
# Name and vectors of a set.
_Probe = tuple[str, FloatArray]


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
        See :func:`setwise.gallery.solve`.
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        Probes; checked before the first answer.
    n_jobs : int, optional
        Threads; within ``joblib.parallel_config("dask")`` its workers judge (docs/cluster.md).
    progress : callable, optional
        Called with the name of the step, how many sets are judged, and of how many.
    stop_early : bool
        Skip layers once the rest can no longer change the label, where the fusion allows it.
    caller : str
        For messages.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.classify import judge
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> gallery = CVC().fit(sets[1:], labels[1:]).gallery_
    >>> [int(answer.label) for answer in judge(gallery, sets[:1])]
    [0]
    """
    probes = gallery.check(sets, caller)
    named = zip(probes.names, probes, strict=True)
    here = partial(in_threads, n_jobs=n_jobs)
    work = partial(_answer, stop_early=stop_early)
    answers = spread(work, gallery, named, here=here)
    return reported(answers, len(probes), "classify", progress)


def _answer(gallery: Gallery, probe: _Probe, *, stop_early: bool) -> Answer:
    name, vectors = probe
    return Inference.of(gallery, vectors, stop_early=stop_early).answer(name)


@dataclass(frozen=True)
class Inference:
    """Views of one set, from which its answer and its explanation are both read.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.classify import Inference
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> print(Inference.of(CVC().fit(sets, labels).gallery_, sets[0]).answer().label)
    0
    """

    candidates: Candidates
    vectors: FloatArray
    bases: SetBases
    views: dict[int, LayerView]  # by the place of their layer

    @classmethod
    def of(
        cls, gallery: Gallery, vectors: FloatArray, *, stop_early: bool = False
    ) -> Inference:
        """Views of a set that :meth:`setwise.gallery.Gallery.check` has passed."""
        bases = gallery.bases(vectors)
        candidates = gallery.around(bases)
        views = candidates.views(bases, stop_early=stop_early)
        return cls(candidates, vectors, bases, views)

    @lazy
    def score_matrix(self) -> ScoreMatrix:
        """Scores of the active members."""
        return self.candidates.scores(self.views)

    @lazy
    def fused(self) -> Fused:
        """Fused scores, before calibration."""
        return fuse(self.score_matrix, self.candidates.gallery.description.fusion)

    def answer(self, name: str = "") -> Answer:
        """The answer, under the name of the set."""
        candidates, fused = self.candidates, self.fused
        learnt = candidates.gallery.calibration
        probabilities = learnt.calibrated(fused.probabilities)
        first, second = np.argsort(-probabilities, kind="stable")[:2]
        rival = second if first == fused.code else first
        has_rival = fused.is_informed and fused.probabilities[rival] > LEAST_RUNNER_UP
        nearness = candidates.nearness(self.views)
        return Answer(
            name=name,
            nearest=candidates.classes[fused.code],
            probability=float(probabilities[fused.code]),
            runner_up=candidates.classes[rival] if has_rival else None,
            margin=float(probabilities[first] - probabilities[second]),
            is_informed=fused.is_informed,
            is_known=learnt.is_known(nearness),
            nearness=nearness,
            is_typical=~is_out_of_place(self.vectors, self.bases.inliers),
            classes=candidates.classes,
            probabilities=probabilities,
            scores=fused.scores,
            votes=votes(self.score_matrix),
            n_repaired_cuts=_n_repaired(self.views),
            score_matrix=self.score_matrix,
        )

    def explanation(self, name: str = "") -> Explanation:
        """The answer and its reasons; nothing is computed twice."""
        return reasons_of(self, self.answer(name))


def _n_repaired(views: dict[int, LayerView]) -> int:
    """Cuts that another rule had to make, in the trees that were made."""
    made = [view.clustered.clusters for view in views.values() if "clustered" in vars(view)]
    trees = [c.tree for c in made if isinstance(c, HierarchicalClusters)]
    return sum(tree.n_unconverged + tree.n_fallbacks for tree in trees)
