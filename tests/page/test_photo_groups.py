"""Whole photos in groups, and which groups people are asked about."""

import numpy as np
import pytest

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


def asked(photos, settled):
    """Which things the groups of each question show."""
    found = PhotoGroups()
    labels = found.update(*photos, settled, [])
    groups = [np.flatnonzero(labels == label).tolist() for label in np.unique(labels)]
    shown = [set(THING[group].tolist()) for group in groups]
    assert all(len(things) == 1 for things in shown)
    return [(*shown[a], *shown[b]) for a, b in found.alike(groups)]


def test_people_are_asked_about_groups_of_one_thing(photos):
    pairs = asked(photos, np.full(len(THING), -1))
    assert pairs
    assert all(one == other for one, other in pairs)


def test_nobody_is_asked_about_what_was_settled(photos):
    settled = np.where(THING < 2, THING, -1)
    assert not {0, 1} & {thing for pair in asked(photos, settled) for thing in pair}


def test_nothing_is_asked_before_anything_was_compared():
    assert PhotoGroups().alike([[0], [1]]) == []
