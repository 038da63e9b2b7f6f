"""Answers and numbers in words: what a reader should know without having read the paper."""

from __future__ import annotations

import math
import re

from setwise.classify.answer import (
    QUITE_SURE,
    SURE,
    Sentence,
    kind_of,
    runner_up_probability,
    sentence,
    sureness,
)

__all__ = [
    "NOTHING",
    "QUITE_SURE",
    "SURE",
    "Sentence",
    "kind_of",
    "meanings_in",
    "number",
    "runner_up_probability",
    "sentence",
    "sureness",
]

NOTHING = "–"  # noqa: RUF001 (an en dash, meant)
# What the words mean that ways to look at a set are called by.
_MEANINGS = {
    "pixels": "light and dark, point by point",
    "fine edges": "outlines and texture",
    "coarse edges": "rough outlines",
    "whitened": "what all sets share is played down",
    "mean": "their average",
    "means": "a few averages",
    "centred": "how they differ from their average",
    "svd": "what they have in common",
    "dictionary": "parts that they are made of",
}


def meanings_in(text: str) -> dict[str, str]:
    """What the words of a text mean, as far as they are known."""
    return {
        word: meaning for word, meaning in _MEANINGS.items() if re.search(rf"\b{word}\b", text)
    }


def number(value: float | None, digits: int = 3) -> str:
    """Any number in a few digits; what is infinite says so."""
    if value is None or math.isnan(value):
        return NOTHING
    return "∞" if math.isinf(value) else f"{value:.{digits}g}"
