"""Answers, votes and reasons in English that a child of twelve understands."""

from __future__ import annotations

import numpy as np

from setwise.classify import Answer
from setwise.classify.explanation import MemberVote
from setwise.report.answers import kind_of, sureness

__all__ = [
    "OUT_OF_PLACE",
    "answer_words",
    "confidence",
    "counted",
    "feature_words",
    "vote_words",
]

# What a member looks at, what it makes of it, and what it is asked.
_FEATURES = {
    "plain": "light and dark",
    "pixels": "light and dark",
    "edges": "outlines",
    "fine edges": "fine outlines",
    "coarse edges": "rough outlines",
    "network": "what a network sees",
    "faces": "faces",
    "lengths": "the numbers as they are",
}
_BASES = {
    "mean": "on average",
    "means": "in a few averages",
    "centred": "in how they differ",
    "svd": "in what they share",
    "dictionary": "in their parts",
}
_EVIDENCE = {
    "clusters": "by who ends up in one group",
    "edges": "by who is linked to whom",
    "smallest angle": "by the closest likeness",
    "all angles": "by the whole likeness",
}
OUT_OF_PLACE = "It looks unlike the other photos of this set."
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


def confidence(answer: Answer) -> str:
    """``"sure"``, ``"quite sure"``, ``"not sure"`` or ``"a guess"``."""
    kind = kind_of(answer)
    if kind == "guess":
        return "a guess"
    return sureness(answer) if kind == "known" else "not sure"


def answer_words(answer: Answer) -> str:
    """The answer in a few words: whose it is, how sure, and what does not belong."""
    kind, label = kind_of(answer), str(answer.label)
    if kind == "guess":
        words = "No idea: this is like nothing in the gallery"
    elif kind == "unknown":
        words = f"Nobody I know; most like {label}"
    else:
        words = f"{label}, {confidence(answer)}"
        if kind == "unsure" and answer.runner_up is not None:
            words += f"; it could be {answer.runner_up}"
    n_out = int((~answer.is_typical).sum())
    if n_out:
        belong = "does not belong" if n_out == 1 else "do not belong"
        words += f"; {counted(n_out, 'photo')} {belong}"
    return words


def counted(number: int, noun: str) -> str:
    """A number of things in words.

    Examples
    --------
    >>> counted(1, "photo"), counted(2, "photo"), counted(30, "photo")
    ('one photo', 'two photos', '30 photos')
    """
    shown = _NUMBERS[number] if number < len(_NUMBERS) else str(number)
    return f"{shown} {noun}" + "s" * (number != 1)


def feature_words(view: str) -> str:
    """What a view looks at; its own name where nothing better is known."""
    name = view.removeprefix("whitened ").removesuffix(" whitened")
    if name in ("whitened", ""):
        name = "plain"
    return _FEATURES.get(name, name)


def vote_words(vote: MemberVote) -> str:
    """What one member looked at and says, in one sentence."""
    view, _, basis = vote.representation.partition(",")[0].rpartition(" ")
    looked = f"{feature_words(view)}, {_BASES.get(basis, basis)}"
    how = _EVIDENCE.get(vote.evidence, vote.evidence)
    says = "nobody" if vote.label is None else str(vote.label)
    second = np.isfinite(vote.snr) and vote.snr < 1.05
    return f"{looked}, {how}: {says}{', but only just' if second else ''}"
