"""Vectors whose lengths matter: a view that keeps them, and a word where they are lost."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from setwise import CVC
from setwise.classify import Description
from setwise.errors import LengthsWarning

KEEPING = [("lengths", "svd"), ("lengths", "centred"), ("lengths", "mean")]
SCALED = [("plain", "svd"), ("plain", "centred"), ("plain", "mean")]


@pytest.fixture
def loud_and_quiet():
    """Three long vectors per set tell its class, sixty short ones are noise."""
    rng = np.random.default_rng(0)
    planes = [np.linalg.qr(rng.normal(size=(30, 2)))[0] for _ in range(6)]

    def made(c):
        loud = 10 * rng.normal(size=(3, 2)) @ planes[c].T
        return rng.permutation(np.vstack([loud, 0.05 * rng.normal(size=(60, 30))]))

    labels = np.repeat(np.arange(6), 4)
    sets = [made(c) for c in labels]
    return sets[::2], labels[::2], sets[1::2], labels[1::2]


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")
def test_a_gallery_of_very_unequal_vectors_is_warned_of_and_a_view_keeps_lengths(
    loud_and_quiet,
):
    gallery, y, probes, truth = loud_and_quiet
    with pytest.warns(LengthsWarning, match="times as long as the shortest"):
        scaled = CVC(representations=SCALED).fit(gallery, y)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = CVC(representations=KEEPING).fit(gallery, y)
    assert kept.score(probes, truth) == 1.0
    assert scaled.score(probes, truth) < 1.0


def test_lengths_are_relative_to_those_of_the_set(loud_and_quiet):
    gallery, y, probes, _ = loud_and_quiet
    clf = CVC(representations=KEEPING).fit(gallery, y)
    expected = clf.predict_proba(probes)
    again = clf.predict_proba([1e6 * probe for probe in probes])
    np.testing.assert_allclose(again, expected, atol=1e-9)


def test_vectors_of_similar_lengths_are_not_warned_of():
    rng = np.random.default_rng(0)
    sets = [rng.uniform(1, 4) * (1 + rng.random((9, 12))) for _ in range(6)]
    with warnings.catch_warnings():
        warnings.simplefilter("error", LengthsWarning)
        CVC(weights=None).fit(sets, [0, 0, 1, 1, 2, 2])


def test_the_view_is_written_down_and_read_again():
    described = CVC(representations=KEEPING).describe()
    assert Description.from_config(described.to_config()) == described
    assert described.representations[0].view.has_lengths
