"""The graph of sets against tables that are made set by set."""

import numpy as np
import pytest

from setwise import CVC
from setwise.errors import DataError
from setwise.evaluation.testing import separable_sets
from setwise.together import relate
from setwise.together.graph import member_weights, nearest_affinities


@pytest.fixture(scope="module")
def sets():
    return separable_sets(n_classes=3, n_sets=4)[0]


@pytest.fixture(scope="module")
def graph(sets):
    return relate(sets)


def left_out_one_by_one(sets, member):
    """Overlaps of each set, as a probe, with the others: a gallery of single sets each time."""
    table = np.full((len(sets), len(sets)), np.nan)
    for i, probe in enumerate(sets):
        others = [j for j in range(len(sets)) if j != i]
        clf = CVC(
            dims=(3,),
            representations=[("plain", "mean"), ("plain", "svd")],
            weights=None,
            outliers=None,
            evidence=("smallest angle", "all angles"),
            shortlist=None,
        ).fit([sets[j] for j in others], others)
        (answer,) = clf.judge([probe])
        place = [str(m) for m in clf.members_].index(member)
        table[i, others] = answer.score_matrix.overlaps[place]
    return table


def test_similarity_is_the_mean_z_score_of_the_overlaps(sets):
    how = CVC(
        dims=(3,),
        representations=[("plain", "mean"), ("plain", "svd")],
        evidence=("clusters", "smallest angle", "all angles"),
        outliers=None,
    ).describe()
    member = "plain svd, d=3: all angles"
    graph = relate(sets, description=how, weights={member: 2.0})
    table = left_out_one_by_one(sets, member)
    z = (table - np.nanmean(table, 1, keepdims=True)) / np.nanstd(table, 1, keepdims=True)
    expected = np.nan_to_num((z + z.T) / 2)
    np.testing.assert_allclose(graph.similarity.toarray(), expected, atol=1e-5)
    assert not any("clusters" in name for name in graph.members)


def test_order_of_the_sets_makes_no_difference(sets, graph):
    order = np.random.default_rng(0).permutation(len(sets))
    other = relate([sets[i] for i in order], n_jobs=2).similarity.toarray()
    np.testing.assert_allclose(
        other, graph.similarity.toarray()[np.ix_(order, order)], atol=1e-5
    )


def test_neighbours_are_those_of_either_side(graph):
    similarity = graph.similarity.toarray()
    np.fill_diagonal(similarity, -np.inf)
    affinity = np.exp((similarity - similarity.max(axis=1, keepdims=True)) / 0.5)
    rank = (-similarity).argsort(axis=1).argsort(axis=1)
    kept = (rank < 2) | (rank < 2).T
    expected = np.where(kept, (affinity + affinity.T) / 2, 0.0)
    found = graph.neighbours(2, temperature=0.5).toarray()
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_nothing_to_relate_is_an_empty_graph(graph):
    assert nearest_affinities(0 * graph.similarity[:1, :1], 5, 1.0).nnz == 0


def test_weights_of_a_gallery_are_used(sets):
    gallery = CVC(dims=(2,)).fit(sets, np.repeat([0, 1, 2], 4)).gallery_
    graph = relate(sets, gallery=gallery)
    named = member_weights(gallery)
    np.testing.assert_allclose(graph.weights, [named[member] for member in graph.members])


def test_one_set_is_refused(sets):
    with pytest.raises(DataError, match="relate: one set is given"):
        relate(sets[:1])


def test_steps_over_several_numbers_of_neighbours_are_their_mean():
    graph = relate(separable_sets(n_sets=4)[0], description=CVC(dims=(2,)).describe())
    both = graph.steps((2, 4)).toarray()
    np.testing.assert_allclose(
        both, (graph.steps(2).toarray() + graph.steps(4).toarray()) / 2, atol=1e-12
    )
    np.testing.assert_allclose(both.sum(axis=1), 1.0)
    assert ((both > 0).sum(axis=1) == 4).all()
