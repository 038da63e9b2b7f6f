"""A graph as three arrays, against the dense matrix it stands for."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from scipy.sparse.csgraph import connected_components
from tests.helpers import fingerprint

from setwise.cut.edges import Edges


def random_graph(n, share, seed, isolated=()):
    """Symmetric weights with a zero diagonal, some vertices without edges."""
    rng = np.random.default_rng(seed)
    half = np.triu(rng.random((n, n)) * (rng.random((n, n)) < share), 1)
    half[list(isolated)] = half[:, list(isolated)] = 0.0
    return half + half.T


@st.composite
def graphs(draw, largest=9):
    """Small symmetric graphs of any density, with many isolated vertices among them."""
    n = draw(st.integers(1, largest))
    weights = st.one_of(st.just(0.0), st.floats(2**-10, 2, width=16))
    half = np.triu(draw(hnp.arrays(np.float64, (n, n), elements=weights)), 1)
    lonely = draw(st.sets(st.integers(0, n - 1)))
    half[sorted(lonely)] = half[:, sorted(lonely)] = 0.0
    return half + half.T


def with_stored_zeros(dense):
    n = len(dense)
    full = np.tile(np.arange(n), n), np.arange(0, n * n + 1, n)
    return sp.csr_array((dense.ravel().copy(), *full), shape=(n, n))


def with_long_indices(dense):
    matrix = sp.csr_array(dense)
    return sp.csr_array(
        (matrix.data, matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)),
        shape=dense.shape,
    )


def unsorted(dense):
    matrix = sp.csr_array(dense)
    for first, last in zip(matrix.indptr[:-1], matrix.indptr[1:], strict=True):
        matrix.indices[first:last] = matrix.indices[first:last][::-1].copy()
        matrix.data[first:last] = matrix.data[first:last][::-1].copy()
    matrix.has_sorted_indices = False
    return matrix


FORMS = {
    "dense": np.array,
    "Fortran": np.asfortranarray,
    "csr": sp.csr_array,
    "csc": sp.csc_array,
    "coo": sp.coo_array,
    "old csr matrix": sp.csr_matrix,
    "stored zeros": with_stored_zeros,
    "64-bit indices": with_long_indices,
    "unsorted": unsorted,
}


def parts_of(form):
    if not sp.issparse(form):
        return [form]
    return [
        v
        for name in ("data", "indices", "indptr")
        if (v := getattr(form, name, None)) is not None
    ]


def assert_stands_for(edges, dense):
    assert isinstance(edges, Edges)
    assert edges.n_vertices == len(dense)
    assert edges.indptr.dtype == edges.indices.dtype == np.int32
    assert edges.data.dtype == np.float64
    assert edges.data.all()
    assert edges.indptr[-1] == len(edges.indices) == len(edges.data) == (dense != 0).sum()
    np.testing.assert_array_equal(edges.toarray(), dense)
    assert isinstance(edges.to_csr(), sp.csr_array)
    np.testing.assert_array_equal(edges.to_csr().toarray(), dense)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("share", [0.0, 0.3, 1.0])
def test_edges_of_a_graph_in_any_form_are_the_same_graph(form, share):
    dense = random_graph(12, share, 0, isolated=[0, 4, 11])
    graph = FORMS[form](dense)
    before = fingerprint(*parts_of(graph))
    edges = Edges.of(graph)
    assert_stands_for(edges, dense)
    np.testing.assert_allclose(edges.degrees, dense.sum(axis=1), rtol=1e-14)
    assert fingerprint(*parts_of(graph)) == before  # stored zeros stay with their owner


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("number", [np.int64, np.int8, np.bool_, np.float32])
def test_weights_of_any_kind_of_number_become_floats(form, number):
    dense = (random_graph(8, 0.5, 1) > 0).astype(number)
    assert_stands_for(Edges.of(FORMS[form](dense)), dense.astype(np.float64))


def test_edges_of_edges_are_themselves():
    edges = Edges.of(random_graph(5, 0.5, 2))
    assert Edges.of(edges) is edges


def test_edges_are_their_three_arrays():
    edges = Edges.of(random_graph(5, 0.5, 2))
    assert [id(array) for array in edges] == [
        id(array) for array in (edges.indptr, edges.indices, edges.data)
    ]


def test_a_sparse_graph_as_our_builders_make_it_is_not_copied():
    graph = sp.csr_array(random_graph(10, 0.5, 3))
    edges = Edges.of(graph)
    for ours, theirs in zip(edges, (graph.indptr, graph.indices, graph.data), strict=True):
        assert np.shares_memory(ours, theirs)


@given(graphs())
def test_degrees_are_sums_of_rows_and_zero_where_there_is_no_edge(dense):
    degrees = Edges.of(dense).degrees
    assert degrees.shape == (len(dense),)
    np.testing.assert_allclose(degrees, dense.sum(axis=1), rtol=1e-13)
    np.testing.assert_array_equal(degrees == 0, ~dense.any(axis=1))
    edges = Edges.of(dense)
    assert edges.degrees is edges.degrees  # summed once


@pytest.mark.parametrize(
    "isolated", [[], [0], [5], [0, 1], [4, 5], [2, 3], [0, 2, 5], [0, 1, 2, 3, 4, 5]]
)
def test_isolated_vertices_anywhere_have_no_degree_and_take_none(isolated):
    dense = random_graph(6, 1.0, 4, isolated)
    degrees = Edges.of(dense).degrees
    assert not degrees[isolated].any()
    np.testing.assert_allclose(degrees, dense.sum(axis=1), rtol=1e-14)


def literal_components(dense):
    """By spreading from one vertex after the other; numbered by first vertices."""
    component = np.full(len(dense), -1)
    count = 0
    for seed in range(len(dense)):
        if component[seed] >= 0:
            continue
        reached, ahead = {seed}, [seed]
        while ahead:
            beside = {int(j) for j in np.flatnonzero(dense[ahead.pop()])} - reached
            reached |= beside
            ahead += sorted(beside)
        component[sorted(reached)] = count
        count += 1
    return component


@given(graphs())
def test_components_are_numbered_in_the_order_of_first_vertices(dense):
    components = Edges.of(dense).components()
    np.testing.assert_array_equal(components, literal_components(dense))
    assert connected_components(sp.csr_array(dense))[0] == components.max() + 1


@pytest.mark.parametrize("n", [1, 2, 50])
def test_a_graph_without_edges_has_as_many_components_as_vertices(n):
    edges = Edges.of(np.zeros((n, n)))
    np.testing.assert_array_equal(edges.components(), np.arange(n))


def test_a_long_path_is_one_component():
    n = 3000
    path = sp.diags_array([np.ones(n - 1), np.ones(n - 1)], offsets=[-1, 1])
    assert not Edges.of(path).components().any()


@given(graphs(), st.data())
def test_inside_some_vertices_is_the_sub_graph_of_them(dense, data):
    members = np.array(sorted(data.draw(st.sets(st.integers(0, len(dense) - 1)))), dtype=int)
    edges = Edges.of(dense)
    before = fingerprint(*edges, members)
    inside = edges.inside(members)
    assert fingerprint(*edges, members) == before
    assert_stands_for(inside, dense[np.ix_(members, members)])
    for first, last in zip(inside.indptr[:-1], inside.indptr[1:], strict=True):
        assert (np.diff(inside.indices[first:last]) > 0).all()  # sorted, as the whole is


@given(graphs())
def test_the_components_one_by_one_lose_no_edge(dense):
    edges = Edges.of(dense)
    component = edges.components()
    parts = [edges.inside(np.flatnonzero(component == c)) for c in range(component.max() + 1)]
    assert sum(part.n_vertices for part in parts) == len(dense)
    assert sum(len(part.data) for part in parts) == len(edges.data)
    assert all(not part.components().any() for part in parts)


def test_inside_the_inside_is_a_sub_graph_still():
    dense = random_graph(20, 0.4, 5)
    for half in (np.arange(0, 20, 2), np.arange(1, 20, 2)):
        inside = Edges.of(dense).inside(half)
        for quarter in (np.arange(5), np.arange(5, 10)):
            chosen = half[quarter]
            assert_stands_for(inside.inside(quarter), dense[np.ix_(chosen, chosen)])


def test_inside_all_vertices_is_the_graph_and_inside_none_is_nothing():
    edges = Edges.of(random_graph(6, 0.5, 6))
    for ours, theirs in zip(edges.inside(np.arange(6)), edges, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    nothing = edges.inside(np.arange(0))
    assert nothing.n_vertices == 0
    assert_stands_for(nothing, np.zeros((0, 0)))
    assert nothing.degrees.shape == nothing.components().shape == (0,)
