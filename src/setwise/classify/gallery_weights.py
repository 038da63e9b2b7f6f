"""How much each look of an ensemble should count, asked of the gallery itself.

No basis and no view is best for all data. But each can be tried on the gallery: take every
labelled set out in turn, classify it by the others, and see how often the answer is right.
The graph and its cuts do not depend on which set is called the probe, so this costs about as
much as judging one probe (:meth:`setwise.classify.verdict.MemberGallery.judge_own_sets`).
"""

from __future__ import annotations

import numpy as np
from scipy.stats import binomtest

from setwise._support.types import FloatArray, IntArray

__all__ = ["look_weights"]


def look_weights(
    is_right: FloatArray, member_looks: IntArray, *, level: float = 0.05
) -> FloatArray:
    """Weight of each member: 1, or 0 where the gallery shows that its look misleads.

    A look is dropped when it is worse than the best one beyond chance: on the gallery sets
    where exactly one of the two is right, an exact one-sided sign test at ``level``. What
    survives votes evenly; with few gallery sets finer weights would be noise.

    Parameters
    ----------
    is_right : array of shape (n_looks, n_sets)
        Whether each look, its dimensionalities fused, recognised each gallery set.
    member_looks : array of int, shape (n_members,)
        Look of each member.
    level : float
        Chance of dropping a look that is as good as the best.
    """
    best = is_right[is_right.mean(axis=1).argmax()]
    weights = np.ones(len(is_right))
    for i, look in enumerate(is_right):
        losses = int((best > look).sum())
        disagreements = losses + int((look > best).sum())
        if (
            disagreements
            and binomtest(losses, disagreements, alternative="greater").pvalue < level
        ):
            weights[i] = 0.0
    return weights[member_looks]
