"""Unknown albums that belong together, so that people name them once.

They are grouped beside albums of the gallery, whose classes show how alike albums of one person
or thing are: among few unknown albums alone, any two can look like a pair.
"""

from __future__ import annotations

import numpy as np

from setwise._support.parallel import quiet
from setwise._support.types import IntArray
from setwise.classify.group import company
from setwise.errors import SetwiseWarning
from setwise.page.gallery_file import GalleryState
from setwise.sets import SetBatch
from setwise.together import Links, find_groups


def groups_of(state: GalleryState, sets: SetBatch) -> IntArray:
    """Group of each unknown set, -1 for those that are like no other."""
    gallery, n_sets = state.gallery, len(sets)
    if n_sets < 2 or not gallery.has_vectors:
        return np.full(n_sets, -1)
    with quiet("", SetwiseWarning):
        found = find_groups(
            sets.replaced(labels=None, names=[str(i) for i in range(n_sets)]),
            Links.of(n_sets),
            description=gallery.description,
            labelled=company(gallery),
            caller="group",
        )
    return found.labels
