"""Same seed, same labels: whatever the threads of BLAS, and twice in one process."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import toy_sets
from threadpoolctl import threadpool_limits

from setwise import CVC
from setwise.basis import Dictionary

SETTINGS = [
    {"dims": (1, 3, 5)},
    {"dims": (2, 4), "representations": [("plain", Dictionary(n_seeds=2))]},
    {"dims": (2, 4), "cut": "paper", "fusion": "sum"},
]


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_threads_of_blas_do_not_matter(seed, parameters):
    sets, labels = toy_sets(seed, n_classes=4, noise=1.5)
    found = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            clf = CVC(**parameters, random_state=seed).fit(sets[::2], labels[::2])
            found.append((clf.predict(sets[1::2]), clf.predict_proba(sets[1::2])))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-9)


@pytest.mark.parametrize("parameters", SETTINGS, ids=str)
def test_the_same_seed_gives_the_same_bits(seed, parameters):
    sets, labels = toy_sets(seed, noise=1.5)
    first, second = (
        CVC(**parameters, random_state=seed).fit(sets, labels).predict_proba(sets)
        for _ in range(2)
    )
    np.testing.assert_array_equal(first, second)


def test_seeds_of_dictionaries_differ_and_do_not_depend_on_how_many_there_are(seed):
    sets, labels = toy_sets(seed)
    make = lambda n: CVC(  # noqa: E731
        dims=(3,), representations=[("plain", Dictionary(n_seeds=n))], random_state=0
    ).fit(sets, labels)
    one, two = make(1).gallery_, make(2).gallery_
    columns = [solved.graph.columns for solved in two.layers]
    np.testing.assert_array_equal(one.layers[0].graph.columns, columns[0])
    assert not np.allclose(columns[0], columns[1])
