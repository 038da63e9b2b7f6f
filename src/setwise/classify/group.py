"""Groups beside a gallery: known sets to their classes, the others to each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.classify.answer import Answer
from setwise.classify.judge import judge
from setwise.errors import reject
from setwise.gallery.bases import tried_sets
from setwise.gallery.gallery import Gallery
from setwise.sets import SetBatch
from setwise.together.find import find_groups
from setwise.together.grouping import Grouping, in_heap
from setwise.together.links import Links
from setwise.together.suggest import Suggestions, suggest

# Sets of a gallery that help to find groups beside it.
MOST_COMPANY = 200


def group(
    gallery: Gallery,
    sets: Any,
    *,
    must_link: Any = None,
    cannot_link: Any = None,
    n_jobs: int | None = None,
    caller: str = "group",
) -> Grouping:
    """Put known sets to their classes, and group the others.

    Sets that must be linked are of one class, that of the most certain known one among them.
    Of two sets that cannot be linked and have one class, the less certain loses it. The others
    are grouped by the gallery's members, at the scale
    at which its own sets would fall into its classes.

    Parameters
    ----------
    gallery : Gallery
        Fitted with ``unknown``, the target rate of false acceptances.
    sets : SetBatch, list of arrays of shape (n_vectors_i, n_features), or 3-D array
        The heap.
    must_link, cannot_link : sequence of pairs of int, optional
        Sets of the heap, see :meth:`setwise.SetClusters.fit`.
    n_jobs : int, optional
        Threads. Nothing depends on it.
    caller : str
        For messages.
    """
    if gallery.description.unknown is None:
        reject(
            f"{caller}: the gallery takes every set for one of its classes (unknown=None), so "
            "that no set is left to be grouped. Fit it with a target rate of false "
            "acceptances, such as CVC(unknown=0.05)."
        )
    batch = gallery.check(sets, caller)
    links = Links.of(len(batch), must_link, cannot_link, caller)
    answers = list(judge(gallery, batch, n_jobs=n_jobs, caller=caller))
    codes, probabilities = linked_classes(answers, gallery.classes, links)
    labels = np.full(len(batch), None, dtype=object)
    known = codes >= 0
    labels[known] = gallery.classes[codes[known]]
    rest = np.flatnonzero(~known)
    groups, found = np.full(len(batch), -1), Suggestions((), (), ())
    graph, probabilities[rest] = None, 0.0
    if len(rest) > 1:
        new = find_groups(
            batch[rest],
            links.among(rest),
            description=gallery.description,
            labelled=company(gallery),
            n_jobs=n_jobs,
            caller=caller,
        )
        groups[rest], probabilities[rest] = new.labels, new.probabilities
        found, graph = in_heap(suggest(new), rest), new.graph
    return Grouping(batch, labels, groups, probabilities, found, graph)


def company(gallery: Gallery) -> tuple[SetBatch, IntArray] | None:
    """Some sets of a gallery and their classes, if it has its vectors."""
    if not gallery.has_vectors:
        return None
    some = tried_sets(gallery.codes, MOST_COMPANY)
    return gallery.sets[some], gallery.codes[some]


def linked_classes(
    answers: list[Answer], classes: Any, links: Links
) -> tuple[IntArray, FloatArray]:
    """Class of each set, -1 for unknown, and its probability, such that no link is broken."""
    codes = np.array(
        [-1 if a.is_known is False else np.searchsorted(classes, a.nearest) for a in answers]
    )
    sure = np.array([a.probability for a in answers])
    best = np.full(links.n_bundles, -1)
    for i in np.argsort(-sure, kind="stable"):
        if codes[i] >= 0 and best[links.bundles[i]] < 0:
            best[links.bundles[i]] = i
    of_bundle = np.where(best >= 0, codes[best], -1)
    certainty = np.where(best >= 0, sure[best], 0.0)
    order = np.argsort(-certainty[links.apart].min(axis=1), kind="stable")
    for first, second in links.apart[order].tolist():
        if of_bundle[first] >= 0 and of_bundle[first] == of_bundle[second]:
            loser = first if certainty[first] < certainty[second] else second
            of_bundle[loser], certainty[loser] = -1, 0.0
    return of_bundle[links.bundles], certainty[links.bundles]
