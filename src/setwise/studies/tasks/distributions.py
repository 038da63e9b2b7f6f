"""One clusterer on the images of a few sets: distributions, distances and SNR (Figs. 1, 3)."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from scipy import linalg

from setwise._support.parameters import check_known
from setwise._support.types import FloatArray, IntArray
from setwise.classify import class_cluster_distributions, signal_to_noise
from setwise.classify.verdict import MemberGallery, Verdict
from setwise.cluster import CLUSTERERS, named_clusterer
from setwise.errors import DataError
from setwise.features import unit_rows
from setwise.graph import LassoGraph
from setwise.sets import SetBatch
from setwise.studies.data import Prepared, prepared
from setwise.studies.items import DistributionsItem, seed_for
from setwise.studies.leakage import check_leakage

__all__ = ["distributions"]

# What the paper does to the columns of its sets is done to the images themselves here.
ALPHA, CUT = 0.01, "paper"


def distributions(item: DistributionsItem, folder: Path | None = None) -> dict[str, Any]:
    """Cluster the images of one set of each of some classes, and of a probe, together.

    Classes and sets are drawn at random, the same for all clusterers. Those that want to know
    how many clusters there are make as many as there are classes.

    Parameters
    ----------
    item : DistributionsItem
        What to do.
    folder : Path, optional
        Where datasets are.

    Returns
    -------
    dict
        ``classes``, ``truth``, ``answer`` (empty where no class shares a cluster with the
        probe), ``table``, ``distances``, ``snr``, ``points``, ``point_rows`` and
        ``point_clusters`` as in :class:`setwise.studies.sections.DistributionExample`,
        and ``n_clusters``; what is infinite is None.
    """
    check_known("distributions", "clusterer", item.clusterer, CLUSTERERS)
    found = prepared(item.data, folder)
    drawn, truth = _drawn(item, found)
    images = found.sets if found.images is None else found.images
    places = np.arange(len(drawn))
    where = f"{item.data.name}, draw {item.draw}"
    check_leakage(images[drawn], places[:-1], places[-1:], where=where)
    sets = found.sets[drawn]
    units = unit_rows(sets.vectors)
    verdict = _verdict(item, sets, units)
    table = class_cluster_distributions(verdict.histogram)
    classes = [str(label) for label in found.labels[drawn[:-1]]]
    is_reached = bool(np.isfinite(verdict.distances).any())
    return {
        "classes": classes,
        "truth": truth,
        "answer": classes[int(verdict.distances.argmin())] if is_reached else "",
        "table": table.round(6).tolist(),
        "distances": [_finite(distance) for distance in verdict.distances],
        "snr": _finite(signal_to_noise(verdict.distances)),
        "points": _principal(units).round(4).tolist(),
        "point_rows": np.repeat(np.arange(len(drawn)), sets.sizes).tolist(),
        "point_clusters": verdict.clusters.labels.tolist(),
        "n_clusters": table.shape[1],
    }


def _drawn(item: DistributionsItem, found: Prepared) -> tuple[IntArray, str]:
    """A random set of each of some random classes and, last, another set of one of them."""
    rng = np.random.default_rng(seed_for(item.seed, item.data.name, "draw", item.draw))
    classes, counts = np.unique(found.labels, return_counts=True)
    with_two = classes[counts > 1]
    if len(classes) < item.n_classes or len(with_two) == 0:
        msg = (
            f"distributions: {item.data.name} has {len(classes)} classes, {len(with_two)} of "
            f"them with two sets or more. Expected at least {item.n_classes}, and 1 for the "
            "probe: ask for fewer classes, or for other data."
        )
        raise DataError(msg)
    truth = rng.choice(with_two)
    others = rng.choice(classes[classes != truth], item.n_classes - 1, replace=False)
    # Where classes tie, the first is the answer: the right one must not be first each time.
    chosen = rng.permutation([truth, *others])
    sets = [int(rng.choice(np.flatnonzero(found.labels == label))) for label in chosen]
    of_truth = np.flatnonzero(found.labels == truth)
    sets.append(int(rng.choice(of_truth[~np.isin(of_truth, sets)])))
    return np.array(sets), str(truth)


def _verdict(item: DistributionsItem, sets: SetBatch, units: FloatArray) -> Verdict:
    """What CVC finds where the images are the columns."""
    first = int(sets.offsets[-2])  # of the probe's images
    rows = np.repeat(np.arange(item.n_classes), sets.sizes[:-1])
    seed = seed_for(item.seed, item.data.name, "clusterer", item.clusterer, item.draw)
    gallery = MemberGallery(
        solution=LassoGraph(alpha=ALPHA).solve(units[:first].T),
        column_sets=rows,
        column_rows=rows,
        column_classes=rows,
        n_rows=item.n_classes,
        clusterer=named_clusterer(item.clusterer, seed),
        cut=CUT,
        distance="bhattacharyya",
    )
    return gallery.judge(units[first:].T)


def _principal(units: FloatArray) -> FloatArray:
    """The three largest principal components of each image; zeros where there are fewer."""
    centred = units - units.mean(axis=0)
    U, s, _ = linalg.svd(centred, full_matrices=False)
    points = (U * s)[:, :3]
    # The sign of a component is arbitrary: its largest entry is made positive.
    largest = np.abs(points).argmax(axis=0)
    points = points * np.where(points[largest, np.arange(points.shape[1])] < 0, -1.0, 1.0)
    return np.pad(points, ((0, 0), (0, 3 - points.shape[1])))


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
