"""What is learnt from a gallery as a whole, and when it is learnt anew.

Views (what whitening does), dimensionalities, weights of the members, how sure they may be, how
far answers are to be believed, the threshold for strangers, and which cosines give a stranger
away: all of them are learnt from all sets together, and one set more or fewer among many
hardly moves them. So a gallery of some size keeps them until many sets have changed.
Everything else (columns, graphs, what is found around a probe) is always that of the sets that
are there, exactly as solving them afresh with the same learnt parts would give it.
"""

from __future__ import annotations

from setwise._support.types import BoolArray
from setwise.classify.gallery import Gallery

__all__ = ["MOST_ANEW", "MOST_CHANGED", "changes_since_learning"]

# Sets up to which everything is learnt anew with every change: that takes about a second.
MOST_ANEW = 100
# In larger galleries, when more than this share of the sets have come or gone.
MOST_CHANGED = 0.2


def changes_since_learning(gallery: Gallery, stays: BoolArray, n_sets: int) -> int | None:
    """How many sets have changed since what is kept was learnt; None where it is not kept.

    Parameters
    ----------
    gallery : Gallery
        What is about to change.
    stays : array of bool
        Which of its sets stay.
    n_sets : int
        How many there are afterwards.
    """
    n_kept = int(stays.sum())
    n_changed = gallery.n_changed + (len(stays) - n_kept) + (n_sets - n_kept)
    is_kept = n_sets > MOST_ANEW and n_changed <= MOST_CHANGED * n_sets
    return n_changed if is_kept else None
