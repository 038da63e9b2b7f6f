"""An answer: what a gallery says of one set, in numbers and in one sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy.typing as npt

from setwise._support.types import BoolArray, FloatArray
from setwise.gallery.fusion import Fusion, ScoreMatrix, fuse

if TYPE_CHECKING:
    from setwise.classify.explanation import Explanation

__all__ = [
    "QUITE_SURE",
    "SURE",
    "Answer",
    "Sentence",
    "kind_of",
    "runner_up_probability",
    "sentence",
    "sureness",
]

# Least probabilities of answers that are called so.
SURE, QUITE_SURE = 0.9, 0.7
# Less is 0.00 to a reader.
_WORTH_SAYING = 0.005


@dataclass(frozen=True)
class Answer:
    """What a gallery says of one set.

    Attributes
    ----------
    name : str
        Name of the set.
    label : object
        The most probable class; means nothing where ``is_informed`` is False.
    probability : float
        Of that class.
    runner_up : object
        The next probable class; None where no other is probable.
    margin : float
        ``probability`` minus that of the runner-up.
    is_informed : bool
        Whether the set has anything in common with any class.
    is_known : bool or None
        Whether it is near enough to be of a class of the gallery; None with ``unknown=None``.
    nearness : float
        Nearness to the nearest class, an absolute measure.
    is_typical : array of bool, shape (n_vectors,)
        Vectors of the set that do not look out of place.
    classes : array of shape (n_classes,)
        Labels of the candidates, in the order of what follows.
    probabilities, scores : arrays of shape (n_classes,)
        Of each class; scores are those of the fusion.
    votes : array of shape (n_active_members, n_classes)
        Weighted vote of each member.
    n_repaired_cuts : int
        Cuts that did not converge, or left one half empty, so that another rule made them.
    score_matrix : ScoreMatrix
        Scores of the members.

    Examples
    --------
    >>> from setwise import CVC
    >>> from setwise.evaluation.testing import separable_sets
    >>> sets, labels = separable_sets()
    >>> (answer,) = CVC().fit(sets[1:], labels[1:]).judge(sets[:1])
    >>> int(answer.label), bool(answer.is_typical.all())
    (0, True)
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


class Sentence(NamedTuple):
    """One sentence about an answer, in three parts: the label is the second."""

    before: str
    label: str
    after: str

    def __str__(self) -> str:
        return "".join(self)


def kind_of(answer: Answer | Explanation) -> str:
    """``"guess"``, ``"unknown"``, ``"unsure"`` or ``"known"``."""
    if not answer.is_informed:
        return "guess"
    if answer.is_known is False:
        return "unknown"
    return "unsure" if answer.probability < QUITE_SURE else "known"


def sureness(answer: Answer | Explanation) -> str:
    """How sure an answer is, in a word or two."""
    kind = kind_of(answer)
    if kind == "known":
        return "sure" if answer.probability >= SURE else "quite sure"
    return {"guess": "no answer"}.get(kind, kind)


def sentence(answer: Answer | Explanation) -> Sentence:
    """An answer in one plain sentence, for readers who have not read the paper."""
    kind, label = kind_of(answer), str(answer.label)
    if kind == "guess":
        return Sentence(
            "No answer: it has nothing in common with anything in the gallery.", "", ""
        )
    if kind == "unknown":
        before = "Unknown: nothing in the gallery is near enough. It is most like "
        return Sentence(before, label, ".")
    chance = runner_up_probability(answer)
    runner_up = "nothing else comes near"
    if chance >= _WORTH_SAYING:
        runner_up = f"next comes {answer.runner_up}, with {chance:.2f}"
    if kind == "unsure":
        return Sentence(
            "Probably ", label, f", but unsure: {answer.probability:.2f}; {runner_up}."
        )
    return Sentence(
        "This is ",
        label,
        f" – {sureness(answer)}, {answer.probability:.2f}; {runner_up}.",  # noqa: RUF001 (a dash)
    )


def runner_up_probability(answer: Answer | Explanation) -> float:
    """Of the runner-up; 0 where there is none."""
    if answer.runner_up is None:
        return 0.0
    return float(answer.probabilities[(answer.classes == answer.runner_up).argmax()])
