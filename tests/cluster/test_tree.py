"""The tree of cuts: a partition at every node, and no cut made twice."""

from dataclasses import dataclass, field
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp
from tests.named_graphs import LARGE
from tests.reference.algorithms import GRAPHS, connected_components, laplacian

from setwise.cluster import CutTree
from setwise.cut import ExactCut, Fiedler, SweepCut, bisect
from setwise.errors import ParameterError

STORAGES = {"dense": np.array, "sparse": sp.csr_array}


def grown(tree, n_splits=10**9):
    """Cut the tree, breadth first, until every leaf is one vertex or the splits are spent."""
    waiting = [0]
    while waiting and n_splits > 0:
        index = waiting.pop(0)
        if len(tree.nodes[index].vertices) > 1:
            waiting += tree.split(index)
            n_splits -= 1
    return tree


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("cut", ["exact", "paper", "sweep"])
@pytest.mark.parametrize("kind", GRAPHS)
def test_children_partition_their_parent(kind, cut, storage):
    A = GRAPHS[kind](30, np.random.default_rng(0))
    tree = grown(CutTree(STORAGES[storage](A), cut))
    assert sum(not node.children for node in tree.nodes) == len(A)
    for index, node in enumerate(tree.nodes):
        if not node.children:
            assert len(node.vertices) == 1
            assert node.cut is None
            continue
        children = [tree.nodes[child] for child in node.children]
        together = np.sort(np.concatenate([child.vertices for child in children]))
        assert together.tolist() == np.sort(node.vertices).tolist()
        assert min(len(child.vertices) for child in children) > 0
        assert children[0].vertices[0] == node.vertices[0]
        assert {(child.parent, child.depth) for child in children} == {(index, node.depth + 1)}
        inside = A[np.ix_(node.vertices, node.vertices)]
        n_components = connected_components(inside).max() + 1
        assert len(children) == (2 if n_components == 1 else n_components)
        assert (node.cut is None) == (n_components > 1)


def test_components_part_all_at_once_whatever_their_order():
    clique = np.ones((4, 4)) - np.eye(4)
    A = np.kron(np.eye(5), clique)
    order = np.random.default_rng(0).permutation(20)
    tree = CutTree(A[order][:, order])
    found = {frozenset(order[tree.nodes[child].vertices].tolist()) for child in tree.split(0)}
    assert found == {frozenset(range(4 * i, 4 * i + 4)) for i in range(5)}


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("n", [25, LARGE + 25])
def test_a_node_is_cut_as_its_own_subgraph(n, storage):
    """Degrees are those inside the cluster, on both sides of the switch to dense graphs."""
    A = GRAPHS["planted"](n, np.random.default_rng(1))
    tree = grown(CutTree(STORAGES[storage](A), "exact"), n_splits=5)
    n_compared = 0
    for node in tree.nodes:
        inside = A[np.ix_(node.vertices, node.vertices)]
        if node.cut is not None and has_gap(inside):
            expected = node.vertices[bisect(inside, "exact").side]
            halves = [set(tree.nodes[child].vertices.tolist()) for child in node.children]
            assert set(expected.tolist()) in halves
            n_compared += 1
    assert n_compared >= 3


def has_gap(A):
    """Whether the graph has one Fiedler vector, and not a plane of them."""
    values = np.linalg.eigvalsh(laplacian(A))
    return len(values) < 3 or values[2] - values[1] > 1e-5 * values[2]


@dataclass(frozen=True)
class Improper(ExactCut):
    """All entries positive: no threshold at zero parts them."""

    name: ClassVar[str] = ""

    def vector(self, adjacency):
        return Fiedler(np.arange(1.0, 21.0), 0.0, has_converged=False)


@dataclass(frozen=True)
class GivenExact(ExactCut):
    """The exact cut, as somebody from outside would bring it."""

    name: ClassVar[str] = ""


def test_repaired_and_approximate_cuts_are_counted():
    tree = grown(CutTree(GRAPHS["gaussian"](20, np.random.default_rng(2))))
    assert (tree.n_fallbacks, tree.n_unconverged) == (0, 0)
    tree = grown(CutTree(np.ones((20, 20)) - np.eye(20), Improper()), n_splits=1)
    assert (tree.n_fallbacks, tree.n_unconverged) == (1, 1)
    assert tree.nodes[0].cut.fallback == "sweep"


@dataclass(frozen=True)
class Counted(SweepCut):
    """The sweep, which counts how often it is asked."""

    name: ClassVar[str] = ""
    sizes: list[int] = field(default_factory=list)

    def vector(self, adjacency):
        self.sizes.append(adjacency.n_vertices)
        return super().vector(adjacency)


def test_no_cut_is_made_twice():
    rule = Counted()
    tree = CutTree(GRAPHS["gaussian"](20, np.random.default_rng(2)), rule)
    assert rule.sizes == []  # nobody asked yet
    assert tree.split(0) == tree.split(0) == (1, 2)
    assert rule.sizes == [20]
    grown(tree)
    grown(tree)
    assert len(rule.sizes) == 19


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize(
    ("compiled", "of_the_user"), [("sweep", Counted()), ("exact", GivenExact())]
)
def test_the_compiled_walk_cuts_as_a_rule_of_the_user_does(kind, compiled, of_the_user):
    A = sp.csr_array(GRAPHS[kind](40, np.random.default_rng(4)))
    trees = [grown(CutTree(A, cut)) for cut in (compiled, of_the_user)]
    for node, other in zip(*(tree.nodes for tree in trees), strict=True):
        assert node.vertices.tolist() == other.vertices.tolist()
        assert (node.children, node.depth, node.parent) == (
            other.children, other.depth, other.parent,
        )  # fmt: skip
        assert (node.cut is None) == (other.cut is None)
        if node.cut is not None:
            halves, other_halves = (cut.side != cut.side[0] for cut in (node.cut, other.cut))
            assert halves.tolist() == other_halves.tolist()
            for name in ("n_iterations", "has_converged", "fallback"):
                assert getattr(node.cut, name) == getattr(other.cut, name)
            assert node.cut.ncut == pytest.approx(other.cut.ncut, rel=1e-12)
            assert node.cut.connectivity == pytest.approx(other.cut.connectivity, abs=1e-12)


@pytest.mark.parametrize("storage", STORAGES)
def test_input_is_not_modified(storage):
    A = GRAPHS["lasso"](30, np.random.default_rng(3))
    given = STORAGES[storage](A)
    grown(CutTree(given))
    np.testing.assert_array_equal(sp.csr_array(given).toarray(), A)


def test_one_vertex_cannot_be_split_however_often_one_tries():
    tree = CutTree(np.zeros((1, 1)))
    for _ in range(2):
        with pytest.raises(ParameterError, match="at least 2 vertices"):
            tree.split(0)


def test_nodes_are_a_sequence():
    tree = grown(CutTree(GRAPHS["planted"](12, np.random.default_rng(5))))
    assert [node.depth for node in tree.nodes[1:3]] == [1, 1]
    assert len(list(tree.nodes)) == len(tree.nodes) == 23
    with pytest.raises(IndexError):
        tree.nodes[23]
