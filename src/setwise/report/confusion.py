"""The confusion matrix as a table: how dark each cell is, and which classes are worth a row."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

__all__ = ["Confusion", "ConfusionTable", "confusion_table"]

# Of more classes, only those that were mistaken, or mistaken for, are shown.
MOST_CLASSES = 24


@dataclass(frozen=True)
class Confusion:
    """How often each class was taken for each, over all folds: ``counts[truth][answer]``."""

    classes: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ConfusionTable:
    """What the template shows.

    Attributes
    ----------
    classes : tuple of (str, str)
        Name and picture (or an empty string) of each class shown.
    rows : tuple of tuple of (int, float)
        For each true class and each answer: how often, and the share of the true class's
        probes.
    accuracies : tuple of float
        Percent of each true class that got its label.
    n_left_out : int
        Classes that are not shown: all their probes were right, and no other was taken for
        one.
    """

    classes: tuple[tuple[str, str], ...]
    rows: tuple[tuple[tuple[int, float], ...], ...]
    accuracies: tuple[float, ...]
    n_left_out: int


def confusion_table(confusion: Confusion, pictures: Mapping[str, str]) -> ConfusionTable:
    """Shares and pictures for a confusion matrix; ``pictures`` are ``data:`` addresses."""
    counts, names = confusion.counts, confusion.classes
    every = range(len(names))
    shown = list(every)
    if len(names) > MOST_CLASSES:
        shown = [
            i for i in every if any((counts[i][j] or counts[j][i]) and i != j for j in every)
        ]
    totals = [max(sum(row), 1) for row in counts]
    return ConfusionTable(
        classes=tuple((names[i], pictures.get(names[i], "")) for i in shown),
        rows=tuple(
            tuple((counts[i][j], counts[i][j] / totals[i]) for j in shown) for i in shown
        ),
        accuracies=tuple(100 * counts[i][i] / totals[i] for i in shown),
        n_left_out=len(names) - len(shown),
    )
