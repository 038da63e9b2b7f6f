"""What halves of sets say of the members: two halves of a set are of one class, for certain.

Every set is halved at the median of the direction in which it varies most, so that its halves
differ as two sets of a class do (:func:`setwise.gallery.trials.halves`). Unlike there, a half
is compared with the halves of all sets, not of classes: a member that takes the other half of
the same set for the nearest of all sees what stays when views or lights change.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from setwise._support.types import FloatArray, IntArray
from setwise.gallery.bases import InlierSets, every
from setwise.gallery.description import Description, Member
from setwise.gallery.trials import FEWEST_TO_HALVE, halves
from setwise.sets import SetBatch
from setwise.together.pairs import PairScores, all_pairs

# Sets that are halved, and the fewest that say anything.
MOST_HALVED, FEWEST_HALVED = 100, 5
# Trials that are added to those of each member, of the mean of all.
PRIOR_TRIALS = 10


def halves_found(
    how: Description, sets: SetBatch, members: tuple[Member, ...], n_jobs: int | None = None
) -> FloatArray | None:
    """Share of the halves whose other half each member finds; None if sets are too small.

    Halves may be too small for a member's dimensionality; it then has the share of the largest
    one of its kind.

    Examples
    --------
    >>> from setwise import SetBatch
    >>> from setwise.evaluation.testing import separable_sets
    >>> from setwise.gallery.defaults import default_description
    >>> from setwise.together.graph import pair_scores
    >>> from setwise.together.pairs import without_clusters
    >>> sets = SetBatch.from_list(separable_sets(n_vectors=(20, 20))[0])
    >>> members = pair_scores(sets).members
    >>> found = halves_found(without_clusters(default_description()), sets, members)
    >>> len(found) == len(members)
    True
    """
    cut = _halved(how, sets, n_jobs)
    if cut is None:
        return None
    kinds = {type(member.evidence) for member in members}
    evidence = tuple(one for one in how.evidence if type(one) in kinds)
    found = all_pairs(replace(how, outliers=None, evidence=evidence), cut, n_jobs)
    shares = np.array([_found_share(found, k) for k in range(len(found.members))])
    chosen = [_nearest_kind(member, found.members) for member in members]
    mean = float(shares.mean())
    ours = np.array([mean if k is None else shares[k] for k in chosen])
    return (len(cut) * ours + PRIOR_TRIALS * mean) / (len(cut) + PRIOR_TRIALS)


def _halved(how: Description, sets: SetBatch, n_jobs: int | None) -> SetBatch | None:
    """Halves of some sets, those of a set beside each other."""
    large = np.flatnonzero(sets.sizes >= FEWEST_TO_HALVE)
    some = large[:: every(len(large), MOST_HALVED)] if len(large) else large
    if len(some) < FEWEST_HALVED:
        return None
    inliers = InlierSets.of(how, sets[some], n_jobs)
    enough = np.flatnonzero(inliers.sizes >= FEWEST_TO_HALVE)
    if len(enough) < FEWEST_HALVED:
        return None
    first = inliers.offsets
    rows: list[IntArray] = [
        first[i] + part for i in enough.tolist() for part in halves(inliers.vectors(i))
    ]
    return inliers.of_rows(rows).batch()


def _found_share(found: PairScores, member: int) -> float:
    """Share of the halves whose mate is nearest, or as near as the nearest."""
    weights = np.zeros(len(found.members))
    weights[member] = 1.0
    table = found.similarity(weights).toarray()
    np.fill_diagonal(table, -np.inf)
    rows = np.arange(len(table))
    return float((table[rows, rows ^ 1] >= table.max(axis=1) - 1e-12).mean())


def _nearest_kind(member: Member, others: tuple[Member, ...]) -> int | None:
    """Place of the same member, or of the same kind at the largest dimensionality."""
    alike = [
        (other.layer.n_columns == member.layer.n_columns, other.layer.n_columns, place)
        for place, other in enumerate(others)
        if other.layer.representation == member.layer.representation
        and other.evidence == member.evidence
    ]
    return max(alike)[2] if alike else None
