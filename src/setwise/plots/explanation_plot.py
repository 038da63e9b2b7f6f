"""One picture of an explanation: the answer, what stays with the set, and the votes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from setwise._support.text import counted
from setwise._support.types import FloatArray
from setwise.errors import reject
from setwise.plots.answer_picture import (
    COLOURS,
    LEFT,
    OUT,
    AnswerPicture,
    column,
    draw_picture,
    draw_title,
    is_wide,
    kinds_of,
)
from setwise.plots.labels import one_line
from setwise.plots.sheet import WIDTH, Sheet
from setwise.plots.style import GREY, INK, LIGHT, OTHER, PAPER

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from setwise.classify.explanation import CutStep, Explanation

_NARROWEST, _WIDEST = 4.0, 30.0
_MOST_STAGES = 5
_BAR, _STEP, _NAMES, _FIGURES = 0.2, 0.29, 1.3, 0.95
_QUESTIONS = {
    "clusters": "same clusters",
    "edges": "joined directly",
    "smallest angle": "nearest direction",
    "all angles": "same directions",
}
_NONE = "no class"
_STAYS = "What stays with it, cut by cut"


def plot_explanation(
    explanation: Explanation, path: str | Path | None = None, *, width: float = WIDTH,
    figure: Figure | None = None,
) -> Figure:  # fmt: skip
    """Draw the answer; below, the classes that stay with the set in the cuts, and the votes."""
    if not _NARROWEST <= width <= _WIDEST:
        reject(
            f"Explanation.plot: width is {width!r}. Expected inches from {_NARROWEST:g} to "
            f"{_WIDEST:g}."
        )
    sheet = Sheet.empty(width, figure)
    kinds, picture = kinds_of(explanation.answer), _picture(explanation)
    if picture.images:
        below = draw_picture(sheet, picture)
    else:
        plane = partial(draw_plane, why=explanation, kinds=kinds)
        below = draw_vectors(sheet, draw_picture(sheet, picture, plane) + 0.15, explanation)
    height = draw_reasons(sheet, below + 0.25, explanation, kinds) + 0.1
    drawn: Figure = sheet.cut_below(height, None if path is None else Path(path))
    return drawn


def _picture(why: Explanation) -> AnswerPicture:
    n_vectors, looks = len(why.support), why.pictured
    noun = "photo" if looks and looks.images else "vector"
    files = looks.files if looks else tuple(f"vector {j + 1}" for j in range(n_vectors))
    return AnswerPicture(
        name=why.name or "This set",
        answer=why.answer,
        about=counted(n_vectors, noun),
        sentence=why.sentence,
        images=looks.images if looks else (),
        files=files,
        alike=looks.alike if looks else (),
        support=why.support,
    )


def shares_with_it(tree: Sequence[CutStep], depth: int, n_classes: int) -> FloatArray:
    """Share of each class, and of none, in the parts that hold the set, after so many cuts."""
    root = min(tree, key=lambda step: step.node)
    shares = np.zeros(n_classes + 1)
    for step in tree:
        is_reached = step.depth == depth or (step.depth < depth and not step.children)
        if not (is_reached and step.n_probe):
            continue
        weight = step.n_probe / root.n_probe
        if n_others := int(step.class_counts.sum()):
            shares[:-1] += weight * step.class_counts / n_others
        else:
            shares[-1] += weight
    return shares


def votes_by_evidence(why: Explanation, kinds: Mapping[str, str]) -> dict[str, Counter[str]]:
    """Number of votes for the answer, the runner-up, others and no class, by evidence."""
    counts: dict[str, Counter[str]] = {}
    for vote in why.votes:
        kind = _NONE if vote.label is None else kinds.get(str(vote.label), "other")
        counts.setdefault(vote.evidence, Counter())[kind] += 1
    return counts


def draw_reasons(sheet: Sheet, top: float, why: Explanation, kinds: Mapping[str, str]) -> float:
    """Both panels beside each other, or one below the other, and their legend."""
    below_cuts = _draw_cuts(sheet, top, why, kinds)
    top = top if is_wide(sheet) else below_cuts + 0.2
    below = max(below_cuts, _draw_votes(sheet, top, why, kinds))
    return _draw_legend(sheet, below + 0.2, kinds)


def _draw_cuts(sheet: Sheet, top: float, why: Explanation, kinds: Mapping[str, str]) -> float:
    x, width = column(sheet, 0)
    if len(why.tree) < 2:
        no_tree = "there is no tree: these clusters were not made by cuts"
        words = "nothing was cut: the set stands alone" if why.tree else no_tree
        return draw_title(sheet, x, top, width, _STAYS, words)
    note = (
        "All sets are joined in one graph, like to like, which is cut in two again and again. "
        "Bars: the classes in the parts that hold this set."
    )
    top = draw_title(sheet, x, top, width, _STAYS, note)
    deepest = max(step.depth for step in why.tree if step.n_probe)
    depths = np.unique(np.linspace(0, deepest, _MOST_STAGES).round().astype(int))
    for depth in map(int, depths):
        shares = shares_with_it(why.tree, depth, len(why.classes))
        by_kind: dict[str, float] = defaultdict(float)
        for label, share in zip(why.classes, shares[:-1], strict=True):
            by_kind[kinds.get(str(label), "other")] += float(share)
        name = "before" if depth == 0 else f"after {counted(depth, 'cut')}"
        name = "in the end" if 0 < depth == deepest else name
        n_left = int((shares[:-1] > 0).sum())
        after = f"{counted(n_left, 'class')} left"
        _draw_row(sheet, (x, top), width, name, by_kind, after)
        top += _STEP
    return top


def _draw_votes(sheet: Sheet, top: float, why: Explanation, kinds: Mapping[str, str]) -> float:
    x, width = column(sheet, 1)
    note = (
        "Each vote compares the set with the gallery in one way, by one question. Bars: the "
        "classes that the votes went to, question by question."
    )
    n_agree = sum(vote.label == why.nearest for vote in why.votes) if why.is_informed else 0
    title = f"What supports it: {n_agree} of {len(why.votes)} votes"
    top = draw_title(sheet, x, top, width, title, note)
    for evidence, counts in votes_by_evidence(why, kinds).items():
        total = sum(counts.values())
        shares = {kind: count / total for kind, count in counts.items()}
        after = f"{counts.get('first', 0)} of {total}"
        _draw_row(sheet, (x, top), width, _QUESTIONS.get(evidence, evidence), shares, after)
        top += _STEP
    return top


def _draw_row(
    sheet: Sheet, corner: tuple[float, float], width: float, name: str,
    shares: Mapping[str, float], after: str,
) -> None:  # fmt: skip
    """A bar in parts: the answer's, the runner-up's, all others', and an empty rest."""
    x, top = corner
    length = width - _NAMES - _FIGURES
    sheet.write_short(x, top + _BAR / 2 + 0.04, name, _NAMES - 0.08, size=8.5)
    left = x + _NAMES
    sheet.rectangle(left, top, length, _BAR, PAPER, edgecolor=LIGHT, linewidth=0.8)
    for kind in ("first", "second", "other"):
        part = length * shares.get(kind, 0.0)
        style = {"edgecolor": PAPER, "linewidth": 0.8} if part > 0.02 else {}
        sheet.rectangle(left, top, part, _BAR, COLOURS[kind], **style)
        left += part
    end = {"size": 8.5, "color": INK, "ha": "right"}
    sheet.write(x + width, top + _BAR / 2 + 0.04, after, **end)


def _draw_legend(sheet: Sheet, top: float, kinds: Mapping[str, str]) -> float:
    """The class of each colour, in the order of the parts of a bar."""
    entries = [(OTHER, "all others"), (PAPER, "no class")]
    for label, kind in sorted(kinds.items(), key=lambda item: item[1], reverse=True):
        role = "answer" if kind == "first" else "runner-up"
        entries.insert(0, (COLOURS[kind], f"{one_line(label, 20)}, the {role}"))
    x, right = LEFT, sheet.width - LEFT
    for colour, words in entries:
        needed = 0.2 + len(words) * 8 * 0.0088 + 0.25
        if x + needed > right and x > LEFT:
            x, top = LEFT, top + 0.2
        sheet.rectangle(x, top - 0.1, 0.12, 0.12, colour, edgecolor=GREY, linewidth=0.6)
        sheet.write(x + 0.18, top, words, size=8, color=GREY)
        x += needed
    return top + 0.2


def draw_vectors(sheet: Sheet, top: float, why: Explanation) -> float:
    """A bar for each vector of a set without images, as high as it supports the answer."""
    width, height = sheet.width - 2 * LEFT, 0.5
    note = "A bar each, in order: how far it supports the answer. A cross: out of place."
    top = draw_title(sheet, LEFT, top, width, "Vectors of the set", note)
    step = width / len(why.support)
    for j, share in enumerate(np.nan_to_num(why.support)):
        left, bar = LEFT + j * step, height * float(share)
        sheet.rectangle(left, top, 0.8 * step, height, LIGHT)
        sheet.rectangle(left, top + height - bar, 0.8 * step, bar, COLOURS["first"])
    crosses = np.flatnonzero(~why.is_typical)
    x = LEFT + (crosses + 0.4) * step
    sheet.axes.scatter(x, np.full(len(x), top + height / 2), s=26, marker="x", c=OUT, zorder=4)
    return top + height + 0.4


def draw_plane(sheet: Sheet, top: float, why: Explanation, kinds: Mapping[str, str]) -> float:
    """The vectors in the principal plane of the gallery, among those of all classes."""
    x, width = column(sheet, 1)
    note = (
        "Each dot is a vector, seen from where the gallery spreads most; diamonds: this set, "
        "hollow where out of place."
    )
    top = draw_title(sheet, x, top, width, "Where it lies", note)
    if not len(why.gallery_points):
        words = "The gallery was saved without its vectors."
        return draw_title(sheet, x, top, width, "", words)
    height = 2.2
    sheet.rectangle(x, top, width, height, "none", edgecolor=LIGHT, linewidth=0.8)
    both = np.vstack([why.gallery_points, why.probe_points])
    low, span = both.min(axis=0), np.ptp(both, axis=0)
    scale = np.array([width - 0.3, height - 0.3]) / np.where(span > 0, span, 1.0)

    def on_paper(points: FloatArray) -> FloatArray:
        across, up = ((points - low) * scale).T
        return np.array([x + 0.15 + across, top + height - 0.15 - up])

    names = [kinds.get(str(label), "other") for label in why.classes]
    of_point = np.array([names[code] for code in why.gallery_point_classes])
    for kind in ("other", "second", "first"):
        points = on_paper(why.gallery_points[of_point == kind])
        sheet.axes.scatter(*points, s=11, c=COLOURS[kind], linewidths=0, alpha=0.75, zorder=3)
    for is_kind, face in ((why.is_typical, INK), (~why.is_typical, PAPER)):
        diamond: dict[str, Any] = {"marker": "D", "c": face, "edgecolors": INK}
        points = on_paper(why.probe_points[is_kind])
        sheet.axes.scatter(*points, s=24, linewidths=0.9, zorder=4, **diamond)
    return top + height + 0.3
