"""What docs/evidence.md recommends, as pure functions; not in the library yet.

Order: typical -> columns of each member -> (edges, cosines, clusters) of a solved graph
-> three kinds of evidence -> standardised -> weighted sum -> probabilities; and nearness.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from scipy.stats import binomtest

WIDEST_GAP = 1.5  # in robust standard deviations; see is_typical
FEWEST = 5  # vectors below which nobody is a stranger
LEVEL = 0.01  # chance of dropping a voice that is as good as the best (trials on halves)


def unit(x):
    length = np.linalg.norm(x, axis=-1, keepdims=True)
    return x / np.where(length > 0, length, 1.0)


# --------------------------------------------------------------------- strangers in a set


def majority_direction(vectors, n_rounds=10):
    """Direction of the mean of that half of the unit vectors which is nearest to it."""
    u = unit(vectors)
    n_kept = -(-len(u) // 2)
    centre = u[np.median(u @ u.T, axis=1).argmax()]
    for _ in range(n_rounds):
        nearest = np.argsort(-(u @ centre), kind="stable")[:n_kept]
        moved = unit(u[nearest].mean(axis=0))
        if np.allclose(moved, centre):
            break
        centre = moved
    return centre


def is_typical(vectors):
    """Which vectors belong to the majority of their set.

    Sort the cosines to the majority's direction; their scale is that of the shortest half
    (least median of squares: half of the vectors cannot move it). Going down from that half,
    the first gap wider than ``WIDEST_GAP`` scales parts the set from its strangers. A set
    that merely spreads has no such gap and is kept whole.
    """
    n = len(vectors)
    if n < FEWEST:
        return np.ones(n, dtype=bool)
    cosines = unit(vectors) @ majority_direction(vectors)
    ordered, half = np.sort(cosines), n // 2 + 1
    lengths = ordered[half - 1 :] - ordered[: n - half + 1]
    first = int(lengths.argmin())
    scale = (1 + 5 / (n - 1)) * lengths[first] / 2 / 0.6745
    gaps = np.diff(ordered[: first + 1])
    wide = np.flatnonzero(gaps > WIDEST_GAP * max(scale, 1e-6))
    return cosines >= ordered[wide[-1] + 1] if len(wide) else np.ones(n, dtype=bool)


# ------------------------------------------------------------- evidence of a solved graph


def edge_share(edges, classes, n_sets):
    """Share of the probe's edges that goes to each class: every column one vote.

    ``edges`` (n_probe_columns, n_gallery_columns); ``n_sets`` gallery sets of each class.
    """
    by_class = np.zeros((len(edges), len(n_sets)))
    np.add.at(by_class.T, classes, edges.T)
    by_class /= np.maximum(n_sets, 1)
    total = by_class.sum(axis=1, keepdims=True)
    return (by_class / np.where(total > 0, total, 1.0)).sum(axis=0)


def canonical_angles(cosines, sets, set_classes, n_classes, *, orthonormal):
    """Largest, and mean squared, cosine between the probe's and each set's columns.

    ``cosines`` (n_probe_columns, n_gallery_columns) are computed for the graph anyway.
    Returns two arrays, one value per class: that of its nearest set.
    """
    largest, mean = np.zeros(n_classes), np.zeros(n_classes)
    for i, c in enumerate(set_classes):
        block = cosines[:, sets == i]
        s = np.linalg.svd(block, compute_uv=False) if orthonormal else np.abs(block).max(axis=1)
        if len(s):
            largest[c] = max(largest[c], s.max())
            mean[c] = max(mean[c], (s**2).mean())
    return largest, mean


# ------------------------------------------------------------------------------ combining


def standardised(scores):
    """Rows (one per probe) with mean 0 and deviation 1 over the classes; 0 where all equal."""
    deviation = scores.std(axis=-1, keepdims=True)
    centred = scores - scores.mean(axis=-1, keepdims=True)
    return np.where(deviation > 1e-9, centred / np.where(deviation > 1e-9, deviation, 1.0), 0.0)


def is_right(scores, codes):
    """1 where the class has the largest score; ties are shared."""
    top = scores >= scores.max(axis=1, keepdims=True) - 1e-12
    return top[np.arange(len(codes)), codes] / top.sum(axis=1)


def log_odds_weights(right, n_classes):
    """Weights from real left-out sets: log odds of being right against guessing, at least 0."""
    n = right.shape[1]
    hits = right.sum(axis=1)
    return np.maximum(0.0, np.log((hits + 0.5) / (n - hits + 0.5)) + np.log(n_classes - 1))


def survivors(right, level=LEVEL):
    """Weights from trials on halves: 0 where a sign test says worse than the best, else 1."""
    best = right[right.mean(axis=1).argmax()]
    weights = np.ones(len(right))
    for i, voice in enumerate(right):
        losses, wins = int((best > voice).sum()), int((best < voice).sum())
        if (
            losses + wins
            and binomtest(losses, losses + wins, alternative="greater").pvalue < level
        ):
            weights[i] = 0.0
    return weights


def hard_halves(vectors):
    """The two halves of a set, cut at the median along its main centred direction."""
    u = unit(vectors)
    centred = u - u.mean(axis=0)
    along = centred @ np.linalg.svd(centred, full_matrices=False)[2][0]
    order = np.argsort(along, kind="stable")
    return vectors[order[: len(u) // 2]], vectors[order[len(u) // 2 :]]


def combine(voices, weights):
    """Weighted mean of the standardised voices, of shape (n_voices, n, n_classes)."""
    return np.tensordot(weights / weights.sum(), standardised(voices), 1)


def steepness(scores, codes):
    """The beta of softmax(beta * scores) that fits left-out sets; one extra set is wrong."""
    rows = np.arange(len(codes))

    def loss(log_beta):
        logs = log_softmax(np.exp(log_beta) * scores, axis=1)
        right = np.exp(logs[rows, codes])
        return -logs[rows, codes].sum() - np.log(1.0 - right.mean() + 1e-12)

    return float(np.exp(minimize_scalar(loss, bounds=(-3, 4), method="bounded").x))
