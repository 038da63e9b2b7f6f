"""An answer in one sentence, for readers who have not read the paper."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from setwise.classify.explanation import Explanation
    from setwise.classify.judge import Answer

__all__ = [
    "QUITE_SURE",
    "SURE",
    "Sentence",
    "kind_of",
    "runner_up_probability",
    "sentence",
    "sureness",
]

# Probabilities from which on an answer is called so.
SURE, QUITE_SURE = 0.9, 0.7
# Less is 0.00 to a reader.
_WORTH_SAYING = 0.005


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
    """What a gallery says of a set, in one plain sentence."""
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
