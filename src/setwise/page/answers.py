"""Answers as JSON and in words."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise.classify import Answer, Explanation
from setwise.classify.answer import QUITE_SURE, kind_of, runner_up_probability, sureness
from setwise.classify.explanation import CutStep
from setwise.page import payload
from setwise.page.gallery_file import GalleryState, content_digest
from setwise.page.jobs import STEPS, Job, Queue
from setwise.page.payload import NearestPhoto
from setwise.plots.answer_picture import bars, choose
from setwise.report.photos import photo
from setwise.sets import SetBatch
from setwise.sets.origins import has_photos, photo_name

if TYPE_CHECKING:
    from setwise.page.overview import Insight

MOST_CANDIDATES, MOST_PHOTOS = 8, 120
LITTLE = 0.005  # less is no probability to speak of
FEW = 3  # photos, that say little
NARROW = 1.05  # ratio of the two smallest distances, below which a vote is narrow
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class Found:
    """The sets of one job, their answers, and the reasons as far as time allowed."""

    state: GalleryState
    sets: SetBatch
    answers: list[Answer]
    reasons: list[Explanation | None]
    left_out: list[tuple[str, str]]  # name and reason
    notes: list[str]
    paths: list[list[Path]] = field(default_factory=list)  # of each photo of each set
    boxes: list[list[payload.Box | None]] = field(default_factory=list)  # of faces in them
    parts: list[list[payload.Part]] = field(default_factory=list)  # of each set
    shown: list[payload.Answer] = field(default_factory=list)  # the answers as JSON shows them


def counted(number: int, noun: str) -> str:
    """A number of things in words: "one photo", "30 photos"."""
    shown = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{shown} {noun}" + "s" * (number != 1)


def confidence(answer: Answer, parts: Sequence[payload.Part] = ()) -> payload.Confidence:
    """``"sure"``, ``"quite sure"``, ``"not sure"`` or ``"a guess"``."""
    kind = kind_of(answer)
    if kind == "guess":
        return "a guess"
    if kind != "known" or parts:
        return "not sure"
    return "sure" if sureness(answer) == "sure" else "quite sure"


def answer_words(
    answer: Answer, parts: Sequence[payload.Part] = (), farthest: float = np.inf
) -> str:
    """The answer in a few words: class, confidence, and photos that do not belong."""
    kind, label = kind_of(answer), str(answer.nearest)
    if parts:
        labels = [part.label for part in parts if part.label is not None]
        things = f"{counted(len(labels), 'different person or thing')}"
        if len(labels) > 1:
            things = things.replace("person or things", "people or things")
        return f"This looks like {things}: {_listed(labels)}"
    if kind == "guess":
        words = "No idea: this is like nothing in the gallery"
    elif is_far(answer, farthest):
        words = f"Probably {label}, but farther than usual"
    elif kind == "unknown":
        words = f"Unknown, most like {label}"
    else:
        words = f"{label}, {confidence(answer)}"
        if kind == "unsure" and answer.runner_up is not None:
            words += f"; it could be {answer.runner_up}"
    n_out = int((~answer.is_typical).sum())
    if n_out:
        belong = "does not belong" if n_out == 1 else "do not belong"
        words += f"; {counted(n_out, 'photo')} {belong}"
    return words


def is_far(answer: Answer, farthest: float) -> bool:
    """Whether a set is called unknown, but some albums of the gallery are as far away."""
    return is_probable(answer) and answer.nearness >= farthest


def is_probable(answer: Answer) -> bool:
    """Whether a set is called unknown, but of all classes one is much more probable."""
    return kind_of(answer) == "unknown" and answer.probability >= QUITE_SURE


def reason(answer: Answer, parts: Sequence[payload.Part] = ()) -> str:
    """Why, in one short sentence: how the ways of looking vote, or which photos are whose."""
    kind, label = kind_of(answer), str(answer.nearest)
    if parts:
        each = [
            f"{counted(len(one.images), 'photo')} of {one.label or 'no one'}" for one in parts
        ]
        return f"Compared one by one: {_listed(each)}."
    if kind == "guess":
        return "No way of looking finds anything in common."
    tops = answer.votes.argmax(axis=1)[answer.votes.any(axis=1)]
    n_for = int((answer.classes[tops] == answer.nearest).sum())
    ways = f"{n_for} of {len(tops)} ways of looking say {label}"
    if n_for == len(tops):
        ways = f"All {n_for} ways of looking say {label}"
    if kind == "unknown":
        return f"{ways}, but it is farther away than albums of the gallery are."
    chance = runner_up_probability(answer)
    if chance < LITTLE:
        return f"{ways}; nothing else comes near."
    return f"{ways}; next comes {answer.runner_up}, {round(100 * chance)}\u00a0%."


def _listed(labels: Sequence[str | None]) -> str:
    named = [str(label) for label in labels]
    return " and ".join([", ".join(named[:-1]), named[-1]] if len(named) > 1 else named)


def picture(sets: SetBatch, i: int, j: int) -> tuple[bytes, str] | None:
    """Small picture of vector ``j`` of set ``i``, and its type; None without one."""
    if not 0 <= i < len(sets) or not 0 <= j < sets.sizes[i]:
        return None
    head, _, content = photo(sets, i, j).uri.partition(";base64,")
    return (base64.b64decode(content), head.removeprefix("data:")) if content else None


def describe(job: Job, found: Found) -> None:
    """Make the answers as JSON shows them, once and in the thread that found them."""
    told = job.report("comparing")
    for k in range(len(found.answers)):
        told("compare", k, len(found.answers))
        found.shown.append(_answer(job.id, found, k))


def job_payload(job: Job, queue: Queue, insight: Insight, revision: str) -> payload.Job:
    """A job, and its answers once they are there."""
    found: Found | None = job.result if job.state == "done" else None
    left_out = found.left_out if found else []
    known = insight.known(found.state) if found else None
    if found and known and known.curve:  # which may be known later than the answers
        for answer in found.shown:
            if answer.nearness is not None:
                answer.nearness.curve = known.curve
    same = ("id", "state", "step", "error", "name", "n_images")
    return payload.Job(
        **{name: getattr(job, name) for name in same},
        revision=revision,
        judged_by=found.state.revision if found else None,
        steps=[
            payload.StepProgress(**{"name": name, "words": STEPS[name]} | vars(step))
            for name, step in job.steps.items()
        ],
        estimate_s=queue.estimate(job),
        n_left_out=len(left_out),
        left_out=[payload.LeftOut(name=name, reason=reason) for name, reason in left_out],
        answers=found.shown if found else [],
    )


def answer_fields(
    answer: Answer,
    most: int = MOST_CANDIDATES,
    parts: Sequence[payload.Part] = (),
    farthest: float = np.inf,
) -> dict[str, Any]:
    """Fields that answers and rows of the inbox share."""
    is_stranger, runner_up = kind_of(answer) in ("guess", "unknown"), None
    if answer.runner_up is not None:
        second = runner_up_probability(answer)
        runner_up = payload.Candidate(label=str(answer.runner_up), probability=second)
    return {
        "label": None if is_stranger else str(answer.nearest),
        "most_like": str(answer.nearest),
        "is_known": answer.is_known,
        "is_far": is_far(answer, farthest),
        "probability": answer.probability,
        "confidence": confidence(answer, parts),
        "words": answer_words(answer, parts, farthest),
        "reason": reason(answer, parts),
        "parts": list(parts),
        "runner_up": runner_up,
        "candidates": list(map(payload.Candidate.model_validate, bars(answer, most))),
    }


def _answer(job: str, found: Found, k: int) -> payload.Answer:
    answer, why = found.answers[k], found.reasons[k]
    threshold = found.state.gallery.calibration.threshold
    parts = found.parts[k] if found.parts else ()
    return payload.Answer(
        **answer_fields(answer, parts=parts, farthest=found.state.farthest),
        set=payload.ProbeSet(name=answer.name, n_images=len(answer.is_typical)),
        margin=answer.margin,
        nearness=payload.Nearness(value=answer.nearness, threshold=threshold),
        outliers=np.flatnonzero(~answer.is_typical).tolist(),
        photos=_photos(job, found, k),
        votes=[] if why is None else _votes(found.state, why),
        notes=_notes(found, k),
        has_tree=why is not None and bool(why.tree),
    )


def _notes(found: Found, k: int) -> list[str]:
    answer, notes = found.answers[k], list(found.notes)
    vectors = found.sets[k]
    same = {content_digest(vectors), content_digest(vectors[answer.is_typical])}
    if not same.isdisjoint(found.state.contents):
        notes.append("Exactly this album is in the gallery already.")
    if answer.n_repaired_cuts:
        notes.append("Some groups were hard to separate, so the answer is a little less sure.")
    if found.reasons[k] is None:
        notes.append("There was no time to explain the answer: send fewer albums at once.")
    if len(answer.is_typical) < FEW:
        notes.append("So few photos say little: more of them make a surer answer.")
    return notes


def _votes(state: GalleryState, why: Explanation) -> list[payload.Vote]:
    """All votes, heaviest first."""
    looks = {
        str(look): (look.view.name, str(look)[len(look.view.name) :].strip())
        for look in state.gallery.description.representations
    }
    votes = []
    for vote in sorted(why.votes, key=lambda vote: -vote.weight):
        feature, basis = looks.get(vote.representation, (vote.representation, ""))
        one = payload.Vote(
            feature=feature,
            basis=basis.partition(",")[0],
            evidence=vote.evidence,
            label=None if vote.label is None else str(vote.label),
            weight=float(vote.weight),
            is_narrow=bool(np.isfinite(vote.snr) and vote.snr < NARROW),
        )
        votes.append(one)
    return votes


def _photos(job: str, found: Found, k: int) -> list[payload.ProbePhoto]:
    """Photos of a set, evenly spread if there are many, with the most similar ones."""
    if not (has_photos(found.sets) or (found.paths and found.paths[k])):
        return []  # vectors alone
    is_out = ~found.answers[k].is_typical
    shown = choose(is_out, MOST_PHOTOS)
    nearest = _nearest(found.state, found.sets[k][shown])
    boxes = found.boxes[k] if found.boxes else []
    return [
        payload.ProbePhoto(
            image=int(j),
            name=photo_name(found.sets, k, int(j)),
            url=f"/api/v1/identify/{job}/answers/{k}/photos/{j}",
            box=boxes[j] if boxes else None,
            nearest=near,
            is_outlier=bool(is_out[j]),
        )
        for j, near in zip(shown, nearest, strict=True)
    ]


def _nearest(state: GalleryState, vectors: Any) -> list[NearestPhoto | None]:
    """The most similar photo of the whole gallery for each vector."""
    sets = state.gallery.sets
    if not state.gallery.has_vectors or not has_photos(sets):
        return [None] * len(vectors)
    rows, distances = state.nearest(vectors)
    places = np.searchsorted(sets.offsets, rows, side="right") - 1
    images = rows - sets.offsets[places]
    each = zip(places.tolist(), images.tolist(), distances.tolist(), strict=True)
    return [
        NearestPhoto(
            set_id=state.set_ids[place],
            image=image,
            url=f"/api/v1/sets/{state.set_ids[place]}/images/{image}",
            label=state.labels[place],
            distance=distance,
        )
        for place, image, distance in each
    ]


def tree_payload(why: Explanation) -> payload.Tree:
    """The tree of cuts of the most telling layer."""
    n_probe = max((step.n_probe for step in why.tree), default=0) or 1
    return payload.Tree(
        nodes=[_node(step, why, n_probe) for step in why.tree],
        layer=str(why.shown),
        words=(
            "All photos start in one group. Each cut divides a group at its weakest link. "
            "Your photos are most like the ones that stay with them to the end."
        ),
    )


def _node(step: CutStep, why: Explanation, n_probe: int) -> payload.TreeNode:
    n_gallery, present = int(step.class_counts.sum()), np.flatnonzero(step.class_counts)
    each = zip(why.classes[present], step.class_counts[present] / n_gallery, strict=True)
    shares = [payload.TreeClass(label=str(label), share=share) for label, share in each]
    return payload.TreeNode(
        id=step.node,
        parent=None if step.parent < 0 else step.parent,
        depth=step.depth,
        n_images_gallery=n_gallery,
        share_probe=step.n_probe / n_probe,
        classes=sorted(shares, key=lambda one: -one.share),
        stopped_because=None if step.children else _why_leaf(step, len(present)),
        ncut=float(step.ncut) if np.isfinite(step.ncut) else None,
    )


def _why_leaf(step: CutStep, n_classes: int) -> str:
    if not step.n_probe:
        return "None of your photos are left here."
    one = "Only one person or thing is left beside your photos."
    few = {0: "Only your photos are left here.", 1: one}
    return few.get(n_classes, "It holds together too well to be cut again.")
