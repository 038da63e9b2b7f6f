"""How the opinions of unlike classifiers become one: by the ranks they give to the classes."""

from __future__ import annotations

import numpy as np
from scipy.stats import rankdata

from setwise._support.types import FloatArray, IntArray

__all__ = ["is_right", "mean_ranks", "rank_scores"]

# Scores that differ by less than this share of the largest one differ by rounding alone.
_SAME = 1e-12


def mean_ranks(scores: FloatArray) -> FloatArray:
    """Rank of each class along the last axis, 1 for the largest score; equals share theirs.

    Scores that are equal up to rounding are equal: a rank must not hang on a last digit.

    Examples
    --------
    >>> import numpy as np
    >>> mean_ranks(np.array([0.1, 0.7, 0.1, 0.2]))
    array([3.5, 1. , 3.5, 2. ])
    """
    order = np.argsort(-scores, axis=-1, kind="stable")
    falling = np.take_along_axis(scores, order, axis=-1)
    rounding = _SAME * np.abs(scores).max(axis=-1, keepdims=True)
    is_lower = falling[..., :-1] - falling[..., 1:] > rounding
    steps = np.concatenate([np.zeros_like(order[..., :1]), is_lower.cumsum(axis=-1)], axis=-1)
    levels = np.empty_like(order)
    np.put_along_axis(levels, order, steps, axis=-1)
    ranks: FloatArray = rankdata(levels, axis=-1)
    return ranks


def rank_scores(ranks: FloatArray, weights: FloatArray) -> FloatArray:
    """Weighted sum over the members of minus the logarithm of each class's rank.

    A member says most where it is sure: from the first place to the second it is as far as
    from the tenth to the twentieth. One that ranks all classes alike moves none.

    Parameters
    ----------
    ranks : array of shape (n_members, ..., n_classes)
        By :func:`mean_ranks`.
    weights : array of shape (n_members,)
        How much each member counts.
    """
    return -np.tensordot(weights, np.log(ranks), 1)


def is_right(ranks: FloatArray, codes: IntArray) -> FloatArray:
    """Whether the true class of each set (row) ranks first; several firsts share it."""
    first = ranks == ranks.min(axis=-1, keepdims=True)
    shares: FloatArray = first[..., np.arange(len(codes)), codes] / first.sum(axis=-1)
    return shares
