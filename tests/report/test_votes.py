"""Votes of the members of an explained answer, counted."""

from dataclasses import replace

import numpy as np
import pytest
from tests.striped_sets import striped_sets

from setwise import CVC
from setwise.report.tables import count_votes

NONE_NEAR = np.full(3, np.inf)


@pytest.fixture(scope="module")
def why():
    sets = striped_sets(4)
    is_probe = np.arange(len(sets)) >= 9
    classifier = CVC(dims=(1, 2, 3), fusion="mode", weights=None, random_state=0)
    classifier.fit(sets[~is_probe], sets.labels[~is_probe])
    return classifier.explain(sets[is_probe][[0]])


def judged(why, *distances, weights=None):
    """The explanation with votes of these distances to the three classes."""
    votes = []
    for i, row in enumerate(distances):
        near = np.array(row, dtype=float)
        label = None if np.isinf(near).all() else str(why.classes[near.argmin()])
        weight = 1.0 if weights is None else weights[i]
        votes.append(replace(why.votes[i], distances=near, label=label, weight=weight))
    return replace(why, votes=tuple(votes))


def counted(why, truth=0, answer=1):
    return count_votes(
        why, {str(why.classes[truth]): "truth", str(why.classes[answer]): "answer"}
    )


def test_each_member_votes_for_its_nearest_class(why):
    found = counted(judged(why, [1, 2, 3], [2, 1, 3], [2, 1, 3]))
    assert found.votes_for("truth") == 1
    assert found.votes_for("answer") == 2
    assert found.n_votes == 3


def test_classes_that_are_equally_near_share_a_vote(why):
    found = counted(judged(why, [1, 1, 3], [1, 1, 1]))
    assert found.votes_for("truth") == pytest.approx(1 / 2 + 1 / 3)
    assert found.votes_for("other") == pytest.approx(1 / 3)
    cells = [cell for _, row in found.grid for cell in row if cell is not None]
    assert sorted(cell.label for cell in cells) == ["2 tie", "3 tie"]
    assert {cell.kind for cell in cells} == {"tie"}


def test_members_that_share_no_cluster_do_not_vote(why):
    found = counted(judged(why, [1, 2, 3], NONE_NEAR))
    assert (found.n_votes, found.n_abstained) == (1, 1)


def test_members_count_by_their_weight(why):
    found = counted(judged(why, [1, 2, 3], [2, 1, 3], weights=[0.5, 2.0]))
    assert (found.votes_for("truth"), found.votes_for("answer")) == (0.5, 2.0)
    assert "counts 0.5" in "".join(c.words for _, row in found.grid for c in row if c)


def test_votes_are_those_of_the_classifier(why):
    # With mode fusion the fused score is the votes, and a hair that breaks ties.
    found = counted(why)
    votes = {one.label: one.n_votes for one in found.tally}
    for label, score in zip(why.classes, why.scores, strict=True):
        assert votes.get(str(label), 0.0) == pytest.approx(score, abs=1e-3)


def test_truth_and_answer_are_always_told(why):
    third = replace(why.answer, probabilities=np.array([0.0, 0.0, 1.0]))
    none_for_both = judged(replace(why, answer=third), [3, 2, 1])
    labels = [one.label for one in counted(none_for_both).tally]
    assert {str(why.classes[0]), str(why.classes[1])} <= set(labels)
