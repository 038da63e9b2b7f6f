"""What was found out about a question, as it goes over the wire."""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from setwise._support.types import IntArray
from setwise.classify import Answer, Explanation
from setwise.classify.explanation import CutStep
from setwise.features.units import unit_rows
from setwise.page import models
from setwise.page.asking import Found
from setwise.page.insight import Insight
from setwise.page.living import State, content_digest
from setwise.page.words import OUT_OF_PLACE, answer_words, confidence, vote_words
from setwise.page.work import STEPS, Job, Work
from setwise.report.answers import bars
from setwise.report.photos import choose, photo, photo_name
from setwise.report.words import kind_of, runner_up_probability
from setwise.sets import SetBatch

__all__ = ["Told", "candidates", "picture", "question_model", "runner_up", "tell", "tree_model"]

MOST_CANDIDATES, MOST_PHOTOS = 8, 120
# Fewer photos say little.
FEW = 3


def picture(sets: SetBatch, i: int, j: int) -> tuple[bytes, str] | None:
    """The small picture of vector ``j`` of set ``i``, and of what type; None without one."""
    if not 0 <= i < len(sets) or not 0 <= j < sets.sizes[i]:
        return None
    head, _, content = photo(sets, i, j).uri.partition(";base64,")
    return (base64.b64decode(content), head.removeprefix("data:")) if content else None


@dataclass(frozen=True)
class Told:
    """What was found out about a question, and how it is told."""

    found: Found
    answers: list[models.Answer]


def tell(job: Job, found: Found) -> Told:
    """Put answers into words, once: by the thread that found them."""
    return Told(found, [answer_model(job.id, found, k) for k in range(len(found.answers))])


def question_model(job: Job, work: Work, insight: Insight, revision: str) -> models.Question:
    """A question, and its answers once they are there."""
    told: Told | None = job.result if job.state == "done" else None
    left_out = told.found.left_out if told else []
    return models.Question(
        id=job.id,
        revision=revision,
        state=job.state,  # type: ignore[arg-type]
        step=job.step,  # type: ignore[arg-type]
        steps=[
            models.StepNow(
                name=name,  # type: ignore[arg-type]
                words=STEPS[name],
                state=step.state,  # type: ignore[arg-type]
                done=step.done,
                total=step.total,
            )
            for name, step in job.steps.items()
        ],
        estimate_s=work.estimate(job),
        error=job.error,
        name=job.name,
        n_images=job.n_images,
        n_left_out=len(left_out),
        left_out=[models.LeftOut(name=name, reason=reason) for name, reason in left_out],
        answers=[] if told is None else _with_curve(told, insight),
    )


def _with_curve(told: Told, insight: Insight) -> list[models.Answer]:
    """The answers, with the curve of their gallery, which may come later than they do."""
    curve = insight.curve(told.found.state)
    for answer in told.answers:
        if answer.nearness is not None:
            answer.nearness.curve = curve or answer.nearness.curve
    return told.answers


def answer_model(ask: str, found: Found, k: int) -> models.Answer:
    """Answer ``k`` of a question."""
    answer, why = found.answers[k], found.reasons[k]
    gallery = found.state.gallery
    is_stranger = kind_of(answer) in ("guess", "unknown")
    out = np.flatnonzero(~answer.is_typical)
    return models.Answer(
        set=models.SetOfAnswer(name=answer.name, n_images=len(answer.is_typical)),
        label=None if is_stranger else str(answer.label),
        most_like=str(answer.label),
        is_known=answer.is_known,
        probability=answer.probability,
        confidence=confidence(answer),  # type: ignore[arg-type]
        words=answer_words(answer),
        runner_up=runner_up(answer),
        margin=answer.margin,
        candidates=candidates(answer, MOST_CANDIDATES),
        nearness=models.Nearness(
            value=answer.nearness, threshold=gallery.calibration.threshold, curve=None
        ),
        out_of_place=[models.OutOfPlace(image=int(j), why=OUT_OF_PLACE) for j in out],
        photos=_photos(ask, found, k),
        votes=_votes(why),
        notes=_notes(found, k),
        has_tree=why is not None and bool(why.tree),
    )


def candidates(answer: Answer, most: int) -> list[models.Candidate]:
    """The most probable classes, the answer first."""
    return [
        models.Candidate(label=bar.label, probability=bar.probability)
        for bar in bars(answer, most)
    ]


def runner_up(answer: Answer) -> models.Candidate | None:
    """The next probable class."""
    if answer.runner_up is None:
        return None
    chance = runner_up_probability(answer)
    return models.Candidate(label=str(answer.runner_up), probability=chance)


def _notes(found: Found, k: int) -> list[str]:
    answer, notes = found.answers[k], list(found.notes)
    if content_digest(found.sets[k]) in found.state.contents:
        notes.append("Exactly this set is in the gallery already.")
    if answer.n_repaired_cuts:
        notes.append("Some groups were hard to part; the answer is a little less sure for it.")
    if found.reasons[k] is None:
        notes.append("There was no time to say why: ask about fewer sets at once.")
    if len(answer.is_typical) < FEW:
        notes.append("So few photos say little: more of them make a surer answer.")
    return notes


def _votes(why: Explanation | None) -> list[models.Vote]:
    if why is None:
        return []
    votes = sorted(why.votes, key=lambda vote: -vote.weight)
    return [
        models.Vote(
            member=f"{vote.layer}: {vote.evidence}",
            words=vote_words(vote),
            label=None if vote.label is None else str(vote.label),
            weight=float(vote.weight),
        )
        for vote in votes
    ]


def _photos(ask: str, found: Found, k: int) -> list[models.PhotoOfAnswer]:
    """The photos of a set, or evenly spread ones, beside the gallery's most like them."""
    is_out = ~found.answers[k].is_typical
    shown = choose(is_out, MOST_PHOTOS)
    nearest = _nearest(found.state, found.sets[k][shown], found.answers[k].label)
    return [
        models.PhotoOfAnswer(
            image=int(j),
            name=photo_name(found.sets, k, int(j)),
            url=f"/api/asks/{ask}/answers/{k}/photos/{j}",
            nearest=near,
            is_out_of_place=bool(is_out[j]),
        )
        for j, near in zip(shown, nearest, strict=True)
    ]


def _nearest(state: State, vectors: Any, label: Any) -> list[models.NearestPhoto | None]:
    """For each vector, the photo of a class that is most like it."""
    gallery = state.gallery
    if not gallery.has_vectors or gallery.sets.image_shape is None:
        return [None] * len(vectors)
    from sklearn.metrics.pairwise import euclidean_distances

    inside = np.flatnonzero(gallery.classes[gallery.codes] == label)
    of_class = gallery.sets[inside]
    distances = euclidean_distances(unit_rows(vectors), unit_rows(of_class.vectors))
    rows: IntArray = distances.argmin(axis=1)
    places = np.searchsorted(of_class.offsets, rows, side="right") - 1
    return [
        models.NearestPhoto(
            set_id=(set_id := state.set_ids[inside[place]]),
            image=int(row - of_class.offsets[place]),
            url=f"/api/sets/{set_id}/images/{int(row - of_class.offsets[place])}",
            label=str(label),
            distance=float(distances[i, row]),
        )
        for i, (row, place) in enumerate(zip(rows, places, strict=True))
    ]


def tree_model(why: Explanation) -> models.Tree:
    """The tree of cuts of the layer that tells most."""
    n_probe = max((step.n_probe for step in why.tree), default=0) or 1
    return models.Tree(
        nodes=[_node(step, why, n_probe) for step in why.tree],
        layer=str(why.shown),
        words=(
            "All photos start in one group. Each cut parts a group where it holds together "
            "least. Whose photos stay with yours to the end is who they are most like."
        ),
    )


def _node(step: CutStep, why: Explanation, n_probe: int) -> models.TreeNode:
    n_gallery = int(step.class_counts.sum())
    present = np.flatnonzero(step.class_counts)
    shares = sorted(
        (
            models.TreeClass(
                label=str(why.classes[code]), share=float(step.class_counts[code] / n_gallery)
            )
            for code in present
        ),
        key=lambda one: -one.share,
    )
    return models.TreeNode(
        id=step.node,
        parent=None if step.parent < 0 else step.parent,
        depth=step.depth,
        n_images_gallery=n_gallery,
        share_probe=step.n_probe / n_probe,
        classes=shares,
        stopped_because=None if step.children else _why_leaf(step, len(present)),
        ncut=float(step.ncut) if np.isfinite(step.ncut) else None,
    )


def _why_leaf(step: CutStep, n_classes: int) -> str:
    if not step.n_probe:
        return "None of your photos are left here."
    if n_classes == 0:
        return "Only your photos are left here."
    if n_classes == 1:
        return "Only one class is left beside your photos."
    return "It holds together too well to be cut again."
