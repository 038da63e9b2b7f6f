"""Members of an ensemble weighed without labels.

To be of one class is an equivalence relation: if one set is like two others, these are like
each other. A member whose relation "is among my nearest" is far from that does not measure
classes, whatever it measures. The lights that photos were taken in are an equivalence too; but
halves of a set, which are of one class for certain, may differ in them.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from setwise._support.types import FloatArray, IntArray
from setwise.gallery.trials import balanced
from setwise.together.graph import ranks
from setwise.together.pairs import PairScores

# Numbers of nearest sets that are looked at: groups may be small or large.
WIDTHS = (1, 2, 3, 4, 5, 6, 7, 8)
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
    n, places = similarity.shape[0], ranks(similarity)
    usable = [k for k in widths if k <= max(1, n // 3)]
    asked = np.unique(np.linspace(0, n - 1, min(n, _MOST)).astype(np.int64))
    shares = []
    for k in usable:
        near = sp.csr_array(
            ((places < k).astype(np.float64), similarity.indices, similarity.indptr),
            shape=similarity.shape,
            copy=True,  # of the layout, which changes below
        )
        near.eliminate_zeros()
        shares.append(_common_share(near, k, asked))
    return float(np.mean(shares))


def _common_share(others: sp.csr_array, k: int, asked: IntArray) -> float:
    """Share of common neighbours, each set counting as its own, beyond chance."""
    n = others.shape[0]
    around = sp.csr_array(others + sp.eye_array(n, format="csr"))
    chosen = others[asked]
    # Two neighbours share the second of them at least, which is no finding.
    common = (around[asked] @ around.T).multiply(chosen).sum() - chosen.sum()
    share, chance = common / max(k * chosen.sum(), 1), k / max(n - 1, 1)
    return float((share - chance) / (1.0 - chance)) if chance < 1.0 else 0.0


def label_free_weights(
    found: PairScores, halves: FloatArray | None = None, *, power: float = 1.0
) -> FloatArray:
    """Weight of each member: square of its consistency, times the share of halves it finds.

    Parameters
    ----------
    found : PairScores
        Scores of the members.
    halves : array of shape (n_members,), optional
        See :func:`setwise.together.halves.halves_found`.
    power : float
        Members are many and alike, so that an even mean is ruled by the most frequent kind; a
        high power leaves few of them.

    Examples
    --------
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.together import label_free_weights
    >>> from setwise.together.graph import pair_scores
    >>> found = pair_scores(separable_sets()[0])
    >>> label_free_weights(found).shape == (len(found.members),)
    True
    """
    members = np.eye(len(found.members))
    values = np.maximum([consistency(found.similarity(one)) for one in members], 0.0) ** 2
    if halves is not None:
        values = values * halves
    if not values.any():
        values = np.ones(len(values))
    return balanced((values / values.max()) ** power, found.members)
