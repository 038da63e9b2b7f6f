"""Groups beside a gallery: known sets to their classes, the others into groups to be named."""

import numpy as np
import pytest
from tests.together.made_tracks import made_tracks

from setwise import CVC
from setwise.errors import DataError

FAST = {"dims": (1, 3), "representations": [("plain", "mean"), ("whitened", "svd")]}
N_KNOWN = 12


@pytest.fixture(scope="module")
def tracks():
    """Fourteen people: two tracks of each of twelve are the gallery, all else is the heap."""
    vectors, truth = made_tracks((4,) * (N_KNOWN + 2), seed=5)
    nth = np.array([(truth[:i] == person).sum() for i, person in enumerate(truth)])
    held = (truth < N_KNOWN) & (nth < 2)
    names = np.array([f"person {person}" for person in truth])
    return vectors, names, held


@pytest.fixture(scope="module")
def clf(tracks):
    vectors, names, held = tracks
    own = np.flatnonzero(held)
    return CVC(**FAST, unknown=0.1).fit([vectors[i] for i in own], names[own])


@pytest.fixture(scope="module")
def heap(tracks):
    vectors, names, held = tracks
    rest = np.flatnonzero(~held)
    return [vectors[i] for i in rest], names[rest]


@pytest.fixture(scope="module")
def found(clf, heap):
    return clf.group(heap[0])


def test_known_people_get_their_names_and_others_are_grouped(clf, heap, found):
    names = heap[1]
    new = ~np.isin(names, clf.classes_)
    assert found.labels[found.is_known].tolist() == names[found.is_known].tolist()
    assert found.is_known[~new].mean() > 0.9
    assert not found.is_known[new].any()
    assert found.n_groups == 2
    for group in range(2):
        assert len(set(names[found.members_of(group)])) == 1
        assert len(found.sets_of(group)) == 4
    assert (found.groups[found.is_known] == -1).all()
    assert (found.probabilities[found.left_out] == 0).all()


def test_naming_a_group_enrolls_it(clf, heap, found):
    new = found.sets_of(0)
    clf = CVC(**FAST, unknown=0.1).fit(
        clf.gallery_.sets, clf.gallery_.classes[clf.gallery_.codes]
    )
    clf.enroll(new, ["Anna"] * len(new))
    again = clf.group(heap[0])
    assert (again.labels[found.members_of(0)] == "Anna").all()
    assert again.n_groups == found.n_groups - 1


def test_a_name_binds_and_parts(clf, heap, found):
    known, others = np.flatnonzero(found.is_known), found.members_of(0)
    one, new = int(known[0]), int(others[0])
    bound = clf.group(heap[0], must_link=[(one, new)])
    assert bound.labels[new] == found.labels[one]
    same = int(np.flatnonzero(found.labels == found.labels[one])[-1])
    assert same != one
    parted = clf.group(heap[0], cannot_link=[(one, same), (int(others[0]), int(others[1]))])
    assert [parted.labels[i] for i in (one, same)].count(found.labels[one]) == 1
    first, second = parted.groups[others[:2]]
    assert first != second or first == -1


def test_suggestions_speak_of_sets_of_the_heap(heap, found):
    asked = [step.index for step in found.suggestions.next_labels]
    assert set(heap[1][asked]) == {"person 12", "person 13"}
    assert all(step.gain > 1 for step in found.suggestions.next_labels)
    assert all(0 < move.probability <= 1 for move in found.suggestions.moves)


def test_one_stranger_is_left_out(clf, heap, found):
    known, stranger = np.flatnonzero(found.is_known)[0], found.members_of(0)[0]
    alone = clf.group([heap[0][known], heap[0][stranger]])
    assert alone.n_groups == 0
    assert alone.left_out.tolist() == [1]
    assert alone.graph is None


def test_what_cannot_be_grouped_is_refused(clf, heap, found):
    with pytest.raises(DataError, match=r"there is no group 2\. Expected 0 to 1"):
        found.members_of(2)
    plain = CVC(**FAST).fit(clf.gallery_.sets, clf.gallery_.classes[clf.gallery_.codes])
    with pytest.raises(DataError, match=r"CVC\.group: the gallery takes every.*unknown=0.05"):
        plain.group(heap[0])
    with pytest.raises(DataError, match=r"CVC\.group: must_link has the pair"):
        clf.group(heap[0], must_link=[(0, 0)])
