"""Which classes lie in the clusters that hold a probe, as a table."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from setwise._support.types import FloatArray
from setwise.classify.explanation import Explanation
from setwise.plots.plot_page import probe_clusters
from setwise.report.votes import OTHER, Kinds
from setwise.report.words import number

__all__ = ["ClusterTable", "cluster_table"]

_MOST_CLUSTERS, _MOST_ROWS = 12, 16


@dataclass(frozen=True)
class ClusterTable:
    """Shares of classes and probe (last) in the clusters that hold the probe, and the rest."""

    numbers: tuple[int, ...]
    rows: tuple[tuple[str, str, tuple[float, ...], float, str], ...]


def cluster_table(why: Explanation, kinds: Kinds) -> ClusterTable:
    """The clusters that hold the probe, numbered as the leaves of the tree."""
    numbers, shown, rest = probe_clusters(why, _MOST_CLUSTERS)
    distances = _distances(why)
    names = [str(label) for label in why.classes]
    ranked = np.argsort(distances, kind="stable")
    codes = [int(c) for c in ranked if shown[c].any() or names[c] in kinds][:_MOST_ROWS]
    rows = [
        (names[c], kinds.get(names[c], OTHER), _shares(shown[c]), float(rest[c]), distances[c])
        for c in codes
    ]
    own = ("probe", "probe", _shares(shown[-1]), float(rest[-1]), np.nan)
    return ClusterTable(
        numbers=tuple(int(one) + 1 for one in numbers),
        rows=tuple((*row[:4], number(float(row[4]))) for row in [*rows, own]),
    )


def _shares(row: FloatArray) -> tuple[float, ...]:
    return tuple(float(share) for share in row)


def _distances(why: Explanation) -> FloatArray:
    """Of the shown layer, to each class."""
    for vote in why.votes:
        if vote.layer == why.shown:
            return vote.distances
    return np.full(len(why.classes), np.nan)
