"""Whole photos in groups, and which groups people are asked about."""

from types import SimpleNamespace

import numpy as np
import pytest

from setwise.page.start import photo_groups
from setwise.page.start.photo_groups import PhotoGroups

N_THINGS, N_PHOTOS, N_FEATURES = 5, 6, 64
THING = np.repeat(np.arange(N_THINGS), N_PHOTOS)


@pytest.fixture(scope="module")
def photos():
    """Vectors of photos of five things, and of altered copies."""
    rng = np.random.default_rng(0)
    centres = rng.normal(size=(N_THINGS, N_FEATURES))
    centres /= np.linalg.norm(centres, axis=1, keepdims=True)
    vectors = centres[THING] + 0.06 * rng.normal(size=(len(THING), N_FEATURES))
    return vectors, vectors + 0.02 * rng.normal(size=vectors.shape)


def test_things_that_look_unlike_each_other_are_the_groups(photos):
    assert PhotoGroups().update(*photos, np.full(len(THING), -1), []).tolist() == THING.tolist()


def test_questions_are_about_groups_as_they_are_shown(photos, monkeypatch):
    found, seen = PhotoGroups(), []
    found.update(*photos, np.full(len(THING), -1), [])

    def suggest(_, labels):
        seen.append(labels.tolist())
        return SimpleNamespace(merges=[SimpleNamespace(first=0, second=2)])

    monkeypatch.setattr(photo_groups, "suggest", suggest)
    shown = [np.flatnonzero(thing == THING).tolist() for thing in (4, 1, 0)]  # two are left out
    assert found.alike(shown) == [(0, 2)]
    assert seen == [[2, 1, -1, -1, 0] * 2]  # of both halves of each group, in their order


def test_nobody_is_asked_about_what_was_settled(photos):
    settled, found = np.where(THING < 2, THING, -1), PhotoGroups()
    labels = found.update(*photos, settled, [])
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    things = [THING[group].tolist() for group in groups]
    assert things[:2] == [[0] * N_PHOTOS, [1] * N_PHOTOS]
    assert not any({a, b} <= {0, 1} for a, b in found.alike(groups))


def test_nothing_is_asked_before_anything_was_compared():
    assert PhotoGroups().alike([[0], [1]]) == []
