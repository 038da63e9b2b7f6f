"""How much each representation should count, asked of the gallery itself.

No basis and no view is best for all data. But each can be tried on the gallery: take every
labelled set out in turn, classify it by the others, and see how often the answer is right.
The graph and its cuts do not depend on which set is called the probe, so this costs about as
much as judging one probe (:func:`setwise.classify.member.judge_own_sets`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.stats import binomtest

from setwise._support.parallel import in_threads
from setwise._support.types import BoolArray, FloatArray, IntArray
from setwise.classify.fusion import Ballot, fuse
from setwise.classify.gallery import Gallery, SolvedMember
from setwise.classify.member import finite, judge_own_sets

__all__ = ["can_weigh", "own_ballots", "representation_weights", "tried_sets", "weigh"]

# Gallery sets that representations are tried on: enough to find one that misleads, or, where
# there is only one, to find out whether it knows anything.
MOST_OWN_SETS, MOST_ALONE = 500, 50
# Of the test whether a representation is worse than the best.
LEVEL = 0.05


def tried_sets(n_sets: int, n_representations: int) -> IntArray:
    """Which of so many gallery sets the representations are tried on."""
    most = MOST_OWN_SETS if n_representations > 1 else MOST_ALONE
    return np.arange(0, n_sets, -(-n_sets // most))


def can_weigh(gallery: Gallery) -> bool:
    """Whether its sets can be left out in turn, and somebody wants them to be.

    The only set of a class cannot be left out; halves of it would tell how like itself it is,
    not how like it others will be.
    """
    return gallery.description.weights is not None and np.bincount(gallery.codes).min() > 1


def weigh(gallery: Gallery, n_jobs: int | None) -> tuple[Gallery, BoolArray, IntArray]:
    """The gallery with the weights that its own sets, left out in turn, speak for.

    Also, of those that were tried, which the weighted ensemble recognised, and their classes.
    """
    n_representations = len(gallery.description.representations)
    chosen = tried_sets(len(gallery.codes), n_representations)
    ballots = own_ballots(gallery, chosen, n_jobs)
    truth = gallery.codes[chosen]
    parts = [solved.member.representation for solved in gallery.members]
    is_right = {
        str(part): _is_right(gallery, ballots, truth, np.array([p == part for p in parts]))
        for part in dict.fromkeys(parts)
    }
    table = np.array(list(is_right.values()), dtype=np.float64)
    names = list(is_right)
    member_parts = np.array([names.index(str(part)) for part in parts])
    weights = representation_weights(table, member_parts)
    accuracy = {name: float(right.mean()) for name, right in is_right.items()}
    together = _is_right(gallery, ballots, truth, weights > 0)
    return replace(gallery, weights=weights, accuracy=accuracy), together, truth


def own_ballots(gallery: Gallery, chosen: IntArray, n_jobs: int | None) -> list[Ballot]:
    """What all members say of each chosen set, left out of the gallery."""
    how = gallery.comparison

    def judge(solved: SolvedMember) -> tuple[FloatArray, FloatArray]:
        # Of the results, whose clusters and trees would fill the memory, only what is fused.
        results = judge_own_sets(solved.graph, gallery.columns(solved), chosen, how)
        pairs = [(finite(result), result.overlaps) for result in results]
        distances, overlaps = zip(*pairs, strict=True)
        return np.array(distances), np.array(overlaps)

    found = list(in_threads(judge, gallery.members, n_jobs))
    dims = np.array([solved.member.n_columns for solved in gallery.members])
    return [
        Ballot(
            distances=np.array([distances[i] for distances, _ in found]),
            overlaps=np.array([overlaps[i] for _, overlaps in found]),
            weights=np.ones(len(found)),
            dims=dims,
            row_classes=gallery.row_classes,
            n_classes=gallery.n_classes,
        )
        for i in range(len(chosen))
    ]


def _is_right(
    gallery: Gallery, ballots: list[Ballot], truth: IntArray, members: BoolArray
) -> BoolArray:
    """Whether some members, fused, give each set its own class."""
    fusion = gallery.description.fusion
    answers = [fuse(ballot.of_members(members), fusion) for ballot in ballots]
    return np.array(
        [a.is_informed and a.code == t for a, t in zip(answers, truth, strict=True)]
    )


def representation_weights(
    is_right: FloatArray, member_parts: IntArray, *, level: float = LEVEL
) -> FloatArray:
    """Weight of each member: 1, or 0 where the gallery shows that it misleads.

    A representation is dropped when it is worse than the best one beyond chance: on the
    gallery sets where exactly one of the two is right, an exact one-sided sign test at
    ``level``. What survives votes evenly; with few gallery sets finer weights would be noise.

    The best one is chosen on the same sets, so that a good one is dropped more often than
    ``level`` says: of three of equal merit and independent errors one is, in 3 to 18 of 100
    simulated galleries of 20 to 100 sets.

    Parameters
    ----------
    is_right : array of shape (n_representations, n_sets)
        Whether each, its dimensionalities fused, recognised each gallery set.
    member_parts : array of int, shape (n_members,)
        Representation of each member.
    level : float
        Of the test.
    """
    best = is_right[is_right.mean(axis=1).argmax()]
    weights = np.ones(len(is_right))
    for i, right in enumerate(is_right):
        losses = int((best > right).sum())
        disagreements = losses + int((right > best).sum())
        if (
            disagreements
            and binomtest(losses, disagreements, alternative="greater").pvalue < level
        ):
            weights[i] = 0.0
    return weights[member_parts]
