"""How nearly a likeness of sets is an equivalence, and members of an ensemble weighed by it.

To be of one class is an equivalence relation: if one set is like two others, these are like
each other. A member whose relation "is among my nearest" is far from that does not measure
classes, whatever it measures. No label is needed to see it.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from setwise._support.types import FloatArray, IntArray
from setwise.together.graph import nearest
from setwise.together.pairs import PairScores

# Numbers of nearest sets that are looked at: groups may be small or large.
WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8)
# Power of the consistency. Members are many and alike, so that an even mean of them is ruled
# by the most frequent kind; a high power leaves the few most consistent ones.
POWER = 8
# Sets that are looked at, of more.
_MOST = 2000


def consistency(similarity: sp.csr_array, widths: tuple[int, ...] = WIDTHS) -> float:
    """Share of common neighbours among neighbours: 1 for an equivalence, 0 for chance.

    Each set with its ``k`` nearest is compared with the same of each of its nearest; mean over
    several ``k``, less what is expected of random neighbours.

    Examples
    --------
    >>> import numpy as np
    >>> import scipy.sparse as sp
    >>> from setwise.together import consistency
    >>> pairs = np.kron(np.eye(3), np.ones((2, 2))) - np.eye(6)
    >>> consistency(sp.csr_array(pairs), widths=(1,))
    1.0
    """
    n = similarity.shape[0]
    usable = [k for k in widths if k <= max(1, n // 3)]
    asked = np.unique(np.linspace(0, n - 1, min(n, _MOST)).astype(np.int64))
    return float(np.mean([_common_share(similarity, k, asked) for k in usable]))


def _common_share(similarity: sp.csr_array, k: int, asked: IntArray) -> float:
    """Share of common neighbours, each set counting as its own, beyond chance."""
    n = similarity.shape[0]
    others = nearest(similarity, k)
    around = sp.csr_array(others + sp.eye_array(n, format="csr"))
    # Two neighbours share the second of them at least, which is no finding.
    common = (around[asked] @ around.T).multiply(others[asked]).sum() - others[asked].sum()
    share, chance = common / max(k * others[asked].sum(), 1), k / max(n - 1, 1)
    return float((share - chance) / (1.0 - chance)) if chance < 1.0 else 0.0


def consistent_weights(found: PairScores, power: float = POWER) -> FloatArray:
    """Weight of each member, by the consistency of its scores; the largest is 1.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together.graph import pair_scores
    >>> found = pair_scores(separable_sets()[0])
    >>> float(consistent_weights(found).max())
    1.0
    """
    members = np.eye(len(found.members))
    values = np.array([consistency(found.similarity(one)) for one in members])
    values = np.maximum(values, 0.0)
    if not values.any():
        return np.ones(len(values))
    return (values / values.max()) ** power
