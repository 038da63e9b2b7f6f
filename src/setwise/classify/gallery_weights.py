"""How much each look of an ensemble should count, asked of the gallery itself.

No basis and no view is best for all data. But each can be tried on the gallery: take every
labelled set out in turn, classify it by the others, and see how often the answer is right.
The graph and its cuts do not depend on which set is called the probe, so this costs about as
much as judging one probe (:meth:`setwise.classify.verdict.MemberGallery.judge_own_sets`).
"""

from __future__ import annotations

import numpy as np
from scipy import linalg
from scipy.stats import binomtest

from setwise.sets import SetBatch
from setwise.types import FloatArray, IntArray

__all__ = ["halved", "look_weights"]


def halved(gallery: SetBatch, *, alike: bool = False) -> SetBatch:
    """Each set in two, along its direction of largest variance.

    For galleries with a single set of some class: left out, it would leave its class without
    any. The two halves differ as much as parts of one set can (light from the left against
    light from the right), so recognising one by the other is a fair stand-in for recognising
    another set. Which vectors go where does not depend on their order. A set of one vector
    is its own other half.

    With ``alike``, every second vector along that direction makes one half instead, so that
    the two are as like each other as random halves, but without chance.
    """
    parts = []
    for vectors in gallery:
        centred = vectors - vectors.mean(axis=0)
        direction = linalg.svd(centred, full_matrices=False)[2][0]
        order = np.argsort(centred @ direction, kind="stable")
        middle = len(vectors) // 2
        first, second = (order[1::2], order[::2]) if alike else (order[:middle], order[middle:])
        parts += [vectors[first] if middle else vectors, vectors[second]]
    names = [f"{name}, half {half}" for name in gallery.names for half in (1, 2)]
    return SetBatch.from_list(parts, names)


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
