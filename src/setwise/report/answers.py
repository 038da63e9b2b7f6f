"""Answers as a page shows them: a row for each set, and a page for sets that need a look."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from setwise.classify.answer import (
    Answer,
    kind_of,
    runner_up_probability,
    sentence,
    sureness,
)
from setwise.classify.explanation import Explanation
from setwise.errors import reject
from setwise.gallery import Gallery
from setwise.plots.answer_picture import bars, choose, kinds_of, n_without_bar
from setwise.report.photos import (
    Likeness,
    Photo,
    likenesses,
    photo,
    strip_data_uri,
    time_span,
    why_nothing_is_alike,
)
from setwise.report.tables import cluster_table, count_votes, number, votes_by_view
from setwise.report.tree import tree_figure
from setwise.sets import SetBatch
from setwise.sets.origins import has_photos

# Photos in a row of the list, on the page of a set, and pairs beside each other.
_MOST_IN_ROW, _MOST_ON_PAGE, _MOST_PAIRS = 5, 72, 4
# Unlabelled sets that a label came through, on the page of a set.
_MOST_CARRIERS = 6
# The order of the list: sets that need a look come first.
_URGENCY = ("guess", "unsure", "unknown", "known")
# The words in the names of representations.
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


@dataclass(frozen=True)
class AnswerRow:
    """One set in the list; ``runner_up`` and ``truth`` may be empty, ``is_right`` None."""

    index: int
    name: str
    kind: str
    sureness: str
    label: str
    runner_up: str
    probability: float
    runner_up_probability: float
    margin: float
    photos: tuple[Photo, ...]
    n_vectors: int
    n_out: int
    truth: str
    is_right: bool | None

    @property
    def page(self) -> str:
        """The anchor of its page."""
        return f"set-{self.index + 1}"

    @property
    def marks(self) -> str:
        """The filters of the list that pick it."""
        out, wrong = self.n_out > 0, self.is_right is False
        return " ".join([self.kind, *["out"] * out, *["wrong"] * wrong])

    @property
    def urgency(self) -> tuple[Any, ...]:
        """The key of the order of the list: wrong, unsure and unknown sets first."""
        place = _URGENCY.index(self.kind)
        return self.is_right is not False, place, self.n_out == 0, self.probability, self.index


@dataclass(frozen=True)
class Carrier:
    """An unlabelled set that a label came through; a set of no row has no index."""

    name: str
    share: float
    index: int | None
    photos: tuple[Photo, ...]

    @property
    def page(self) -> str:
        """The anchor of its row in the list."""
        return "" if self.index is None else f"row-set-{self.index + 1}"


def check_lengths(
    caller: str, probes: SetBatch, answers: Sequence[Answer], truth: Sequence[Any] | None = None
) -> None:
    """Refuse answers, or truths, of another number than sets."""
    for what, given in (("answers", answers), ("labels in truth", truth)):
        if given is not None and len(given) != len(probes):
            reject(
                f"{caller}: {len(given)} {what} for {len(probes)} sets. Expected one per set, "
                "in their order."
            )


def answer_rows(
    probes: SetBatch, answers: Sequence[Answer], truth: Sequence[Any] | None
) -> list[AnswerRow]:
    """A row for each set; sets that need a look come first."""
    rows = [
        _row(probes, i, answer, None if truth is None or truth[i] is None else str(truth[i]))
        for i, answer in enumerate(answers)
    ]
    return sorted(rows, key=lambda row: row.urgency)


def _row(probes: SetBatch, i: int, answer: Answer, truth: str | None) -> AnswerRow:
    is_out = ~answer.is_typical
    return AnswerRow(
        index=i,
        name=probes.names[i],
        kind=kind_of(answer),
        sureness=sureness(answer),
        label=str(answer.nearest),
        runner_up="" if answer.runner_up is None else str(answer.runner_up),
        probability=answer.probability,
        runner_up_probability=runner_up_probability(answer),
        margin=answer.margin,
        photos=reel(probes, i, answer),
        n_vectors=len(is_out),
        n_out=int(is_out.sum()),
        truth=truth or "",
        is_right=None if truth is None else is_right(answer, truth),
    )


def reel(
    probes: SetBatch, i: int, answer: Answer, most: int = _MOST_IN_ROW
) -> tuple[Photo, ...]:
    """A few photos that show what a set is; those out of place are not among them."""
    if not has_photos(probes):
        return ()
    shown = np.flatnonzero(answer.is_typical)
    shown = shown[choose(np.zeros(len(shown), dtype=np.bool_), most)]
    return tuple(photo(probes, i, int(j)) for j in shown)


def is_right(answer: Answer, truth: str) -> bool:
    """Whether an answer is right; for sets of no class, "unknown" and no answer are."""
    if kind_of(answer) in ("unknown", "guess"):
        return truth not in set(map(str, answer.classes))
    return truth == str(answer.nearest)


def answer_page(
    gallery: Gallery, probes: SetBatch, row: AnswerRow, answers: Sequence[Answer],
    why: Explanation,
) -> dict[str, Any]:  # fmt: skip
    """The content of the page of one set, as ``answer.html.jinja`` names it."""
    answer = answers[row.index]
    why = replace(why, answer=answer)
    i, is_out, kinds = row.index, ~answer.is_typical, kinds_of(answer)
    by_view = votes_by_view(why, kinds)
    with_photos = has_photos(probes)
    tree, tree_note = tree_figure(why, f"Tree of cuts of set {i + 1}, {row.name}")
    shown = choose(is_out, _MOST_ON_PAGE) if with_photos else ()
    return {
        "row": row,
        "sentence": sentence(answer),
        "photos": [photo(probes, i, int(j), is_out=bool(is_out[j])) for j in shown],
        "out": [photo(probes, i, int(j), is_out=True) for j in np.flatnonzero(is_out)],
        "when": time_span(probes, i),
        "strip": "" if with_photos else strip_data_uri(probes[i]),
        "bars": bars(answer),
        "n_more": n_without_bar(answer),
        "carriers": carriers(probes, answers, answer),
        "n_carriers": len(answer.carried_by),
        "from_labelled": 1.0 - sum(share for _, share in answer.carried_by),
        "likenesses": _alike(gallery, probes, i, answer),
        "by_view": by_view,
        "meanings": meanings_in(" ".join(by_view)),
        "votes": count_votes(why, kinds),
        "clusters": cluster_table(why, kinds),
        "shown": str(why.shown),
        "snr": number(float(why.snr)),
        "tree": tree,
        "tree_note": tree_note,
    }


def carriers(
    probes: SetBatch, answers: Sequence[Answer], answer: Answer, most: int = _MOST_CARRIERS
) -> tuple[Carrier, ...]:
    """The unlabelled sets that most of a label came through, the largest share first."""
    places = {name: i for i, name in enumerate(probes.names)}
    found = []
    for name, share in answer.carried_by[:most]:
        i = places.get(name)
        photos = () if i is None else reel(probes, i, answers[i])
        found.append(Carrier(name, share, i, photos))
    return tuple(found)


def _alike(gallery: Gallery, probes: SetBatch, i: int, answer: Answer) -> tuple[Likeness, ...]:
    """The photos most like answer and runner-up, where both sides can be shown."""
    if why_nothing_is_alike(gallery) or not answer.is_informed:
        return ()
    if not (has_photos(probes) and has_photos(gallery.sets)):
        return ()
    labels = (answer.nearest, *[answer.runner_up] * (answer.runner_up is not None))
    return likenesses(gallery, probes, i, answer.is_typical, labels, _MOST_PAIRS)


def meanings_in(text: str) -> dict[str, str]:
    """The meanings of the words of a text, as far as known."""
    return {
        word: meaning for word, meaning in _MEANINGS.items() if re.search(rf"\b{word}\b", text)
    }
