"""An answer: what a gallery says of one set, in numbers and in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray
from setwise.gallery.fusion import Fusion, ScoreMatrix, fuse
from setwise.sets.labels import json_label

# Least probabilities of answers that are called so.
SURE, QUITE_SURE = 0.9, 0.7
# Less is 0.00 to a reader.
_WORTH_SAYING = 0.005
# Unlabelled sets that a sentence names.
_MOST_CARRIERS = 2


@dataclass(frozen=True, repr=False)
class Answer:
    """What a gallery says of one set.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> (answer,) = CVC().fit(sets[1:], labels[1:]).judge(sets[:1])
    >>> int(answer.label), bool(answer.is_typical.all())
    (0, True)
    """

    name: str  # of the set
    nearest: Any  # the most probable class; means nothing where ``is_informed`` is False
    probability: float  # of that class
    runner_up: Any  # the next probable class; None where no other is probable
    margin: float  # ``probability`` minus that of the runner-up
    is_informed: bool  # whether the set has anything in common with any class
    is_known: bool | None  # whether its class may be in the gallery; None with ``unknown=None``
    nearness: float  # to the nearest class, an absolute measure
    is_typical: BoolArray  # vectors of the set that are no outliers
    classes: npt.NDArray[Any]  # labels of the candidates, in the order of what follows
    probabilities: FloatArray
    scores: FloatArray  # of the fusion
    votes: FloatArray  # weighted, shape (n_active_members, n_classes)
    n_repaired_cuts: int  # made by another rule, where one did not converge or left no half
    score_matrix: ScoreMatrix
    unknown_label: Any = "unknown"  # of sets that are of no class of the gallery
    #: Judged together: other unlabelled sets that it has its label from, and their shares. What
    #: is missing to 1 comes from labelled sets. Scores and votes are of the set alone.
    carried_by: tuple[tuple[str, float], ...] = ()

    @property
    def label(self) -> Any:
        """The nearest class, or the label of unknown sets."""
        return self.unknown_label if self.is_known is False else self.nearest

    def __repr__(self) -> str:
        n_out, n_vectors = int((~self.is_typical).sum()), len(self.is_typical)
        return (
            f"Answer({self.name!r}: label={json_label(self.label)!r}, "
            f"nearest={json_label(self.nearest)!r}, probability={self.probability:.3f}, "
            f"margin={self.margin:.3f}, {n_out} of {n_vectors} vectors out of place)"
        )

    def to_dict(self) -> dict[str, Any]:
        """The answer in JSON types; vectors out of place are counted from 0."""
        shares = zip(self.classes, self.probabilities, strict=True)
        return {
            "set": self.name,
            "label": json_label(self.label),
            "nearest": json_label(self.nearest),
            "is_known": self.is_known,
            "probability": self.probability,
            "runner_up": json_label(self.runner_up),
            "margin": self.margin,
            "nearness": self.nearness,
            "n_vectors": len(self.is_typical),
            "out_of_place": (~self.is_typical).nonzero()[0].tolist(),
            "carried_by": [{"set": name, "share": share} for name, share in self.carried_by],
            "probabilities": {str(label): float(share) for label, share in shares},
        }

    def fused_by(self, fusion: str | Fusion) -> Any:
        """The label that another fusion of the same members gives."""
        return self.classes[fuse(self.score_matrix, Fusion.of(fusion, "Answer.fused_by")).code]


class Sentence(NamedTuple):
    """One sentence about an answer, in three parts: the label is the second."""

    before: str
    label: str
    after: str

    def __str__(self) -> str:
        return "".join(self)


def kind_of(answer: Answer) -> str:
    """``"guess"``, ``"unknown"``, ``"unsure"`` or ``"known"``."""
    if not answer.is_informed:
        return "guess"
    if answer.is_known is False:
        return "unknown"
    return "unsure" if answer.probability < QUITE_SURE else "known"


def sureness(answer: Answer) -> str:
    """How sure an answer is, in a word or two."""
    kind = kind_of(answer)
    if kind == "known":
        return "sure" if answer.probability >= SURE else "quite sure"
    return {"guess": "no answer"}.get(kind, kind)


def sentence(answer: Answer) -> Sentence:
    """An answer in one plain sentence, for readers who have not read the paper."""
    kind, label = kind_of(answer), str(answer.nearest)
    if kind == "guess":
        before = "No answer: it has nothing in common with anything in the gallery."
        return Sentence(before, "", "")
    if kind == "unknown":
        before = "Unknown: nothing in the gallery is near enough. It is most like "
        return Sentence(before, label, ".")
    chance = runner_up_probability(answer)
    runner_up = "nothing else comes near"
    if chance >= _WORTH_SAYING:
        runner_up = f"next comes {answer.runner_up}, with {chance:.2f}"
    rest = f"{answer.probability:.2f}; {runner_up}.{_carried(answer)}"
    if kind == "unsure":
        return Sentence("Probably ", label, f", but unsure: {rest}")
    return Sentence("This is ", label, f" – {sureness(answer)}, {rest}")  # noqa: RUF001 (a dash)


def _carried(answer: Answer) -> str:
    """The unlabelled sets that most of the label came through, in a sentence of its own."""
    names = [f"{name} ({share:.0%})" for name, share in answer.carried_by[:_MOST_CARRIERS]]
    more = " and others" if len(answer.carried_by) > _MOST_CARRIERS else ""
    return f" The label came by way of {', '.join(names)}{more}." if names else ""


def runner_up_probability(answer: Answer) -> float:
    """Of the runner-up; 0 where there is none."""
    if answer.runner_up is None:
        return 0.0
    return float(answer.probabilities[(answer.classes == answer.runner_up).argmax()])
