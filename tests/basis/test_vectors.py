"""The basis of a set's own vectors, and what members see of it."""

import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import CVC
from setwise.basis import Vectors
from setwise.errors import ParameterError
from setwise.features import unit_rows

RNG = np.random.default_rng(0)


def columns(vectors, **parameters):
    (found,) = Vectors(**parameters).columns(vectors, (1,), RNG)
    return found.T


def test_columns_are_the_unit_vectors_without_zeros(seed):
    vectors = np.random.default_rng(seed).normal(size=(7, 4))
    vectors[3] = 0.0
    expected = unit_rows(np.delete(vectors, 3, axis=0))
    np.testing.assert_array_equal(columns(vectors), expected.astype(np.float32))


def test_a_large_set_is_thinned_to_the_same_vectors_in_any_order(seed):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(25, 4))
    thinned = columns(vectors, most=10)
    assert 5 <= len(thinned) <= 10
    again = columns(vectors[rng.permutation(25)], most=10)
    assert set(map(tuple, again)) == set(map(tuple, thinned))
    with pytest.raises(ParameterError, match="most must be an int"):
        Vectors(most=0)


def test_members_compare_each_vector_with_the_nearest_of_each_set(seed):
    sets, labels = toy_sets(seed, n_classes=3, n_sets=2, noise=1.0)
    clf = CVC((2,), representations=[("plain", "vectors")], weights=None, outliers=None)
    clf.fit(sets[1:], labels[1:])
    assert [str(m) for m in clf.members_] == [
        "plain vectors: smallest angle",
        "plain vectors: all angles",
    ]
    (answer,) = clf.judge(sets[:1])
    probe = unit_rows(sets[0])
    nearest = [np.maximum((probe @ unit_rows(s).T).max(axis=1), 0.0) for s in sets[1:]]
    by_set = np.array([[n.max() for n in nearest], [(n**2).mean() for n in nearest]])
    expected = [by_set[:, labels[1:] == c].max(axis=1) for c in range(3)]
    np.testing.assert_allclose(answer.score_matrix.overlaps, np.transpose(expected), rtol=1e-5)


def test_evidence_of_graphs_is_not_asked_of_vectors(seed):
    sets, labels = toy_sets(seed)
    clf = CVC((2,), evidence=("clusters", "edges")).fit(sets, labels)
    assert not any("vectors" in str(layer) for layer in clf.layers_)


def test_explanations_of_vectors_alone_have_no_edges_to_show(seed):
    sets, labels = toy_sets(seed)
    clf = CVC(representations=[("plain", "vectors")]).fit(sets[1:], labels[1:])
    why = clf.explain(sets[0])
    assert why.answer.label == labels[0]
    assert np.isnan(why.support).all()
