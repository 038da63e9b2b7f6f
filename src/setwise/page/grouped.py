"""Unknown albums that belong together, so that people name them once.

They are grouped beside albums of the gallery, whose classes show how alike albums of one person
or thing are: among few unknown albums alone, any two can look like a pair.
"""

from __future__ import annotations

import numpy as np

from setwise._support.parallel import quiet
from setwise._support.types import IntArray
from setwise.errors import SetwiseWarning
from setwise.page.gallery_file import GalleryState
from setwise.sets import SetBatch
from setwise.together import Links, relate
from setwise.together.clusters import group_graph

# Albums of the gallery beside which unknown ones are grouped, and of each class.
MOST_BESIDE, MOST_OF_CLASS = 80, 3


def groups_of(state: GalleryState, sets: SetBatch) -> IntArray:
    """Group of each unknown set, -1 for those that are like no other."""
    gallery, n_sets = state.gallery, len(sets)
    if n_sets < 2 or not gallery.has_vectors:
        return np.full(n_sets, -1)
    beside, codes = _beside(state)
    everything = SetBatch.join([sets.replaced(labels=None), gallery.sets[beside]])
    everything = everything.replaced(names=[str(i) for i in range(len(everything))])
    of_class: dict[int, list[int]] = {}
    for k, code in enumerate(codes.tolist(), start=n_sets):
        of_class.setdefault(code, []).append(k)
    firsts = [own[0] for own in of_class.values()]
    same = [(own[0], other) for own in of_class.values() for other in own[1:]]
    apart = [(a, b) for a in firsts for b in firsts if a < b]
    links = Links.of(len(everything), same, apart, "group")
    with quiet("", SetwiseWarning):
        graph = relate(everything, gallery=gallery, caller="group")
        labels = group_graph(graph, links)[1]
    known = np.unique(labels[n_sets:])
    found = np.where(np.isin(labels[:n_sets], known), -1, labels[:n_sets])
    counts = np.bincount(found[found >= 0], minlength=1)
    return np.where((found >= 0) & (counts[np.maximum(found, 0)] > 1), found, -1)


def _beside(state: GalleryState) -> tuple[IntArray, IntArray]:
    """Some sets of each class of the gallery, evenly over classes if there are many."""
    classes = state.sets_of_class
    n_each = max(1, min(MOST_OF_CLASS, MOST_BESIDE // max(len(classes), 1)))
    chosen = np.linspace(0, len(classes) - 1, min(len(classes), MOST_BESIDE)).astype(int)
    places = np.concatenate([classes[code][:n_each] for code in chosen])
    return places, state.gallery.codes[places]
