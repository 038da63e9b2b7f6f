"""Figure 4 of the paper on a smaller grid: what the connectivity and the switches tell.

Two clouds of normal points in 3-D with covariance 2 I, their centres ``d`` apart. The paper
leaves the Sigma of the graph open; here it is that of the clouds.
"""

import numpy as np
import pytest
from scipy.stats import spearmanr

from setwise.cut import dfvc, exact_fiedler, ncut
from setwise.graph import GaussianGraph

VARIANCE = 2.0
DISTANCES = (2, 3, 4, 5, 6, 7)
SIZES = (100, 150, 200, 250)  # points in a cloud
N_REPEATS = 3


def errors(signs):
    """Which points are on the wrong side; the sign of the whole is arbitrary."""
    wrong = signs != (np.arange(len(signs)) < len(signs) // 2)
    return wrong if wrong.mean() <= 0.5 else ~wrong


def trial(d, n, rng):
    """One draw of the two clouds, and both cuts of them."""
    points = np.sqrt(VARIANCE) * rng.standard_normal((3, 2 * n))
    points[0, n:] += d
    A = GaussianGraph(sigma=VARIANCE).adjacency(points).toarray()
    exact, literal = exact_fiedler(A), dfvc(A)
    # The start vector knows nothing: half of the points leave its sign at the first step.
    at_first = dfvc(A, max_changes=-1.0, max_iter=1).sign_switches
    return {
        "connectivity": exact.connectivity,
        "ncut": ncut(A, exact.vector >= 0),
        "exact": errors(exact.vector >= 0),
        "paper": errors(literal.vector >= 0),
        "switches": literal.sign_switches,
        "later switches": literal.sign_switches - at_first,
    }


@pytest.fixture(scope="module")
def trials():
    """Trials of each cell of the grid."""
    return {
        (d, n): [trial(d, n, np.random.default_rng([d, n, k])) for k in range(N_REPEATS)]
        for d in DISTANCES
        for n in SIZES
    }


def table(trials, name):
    """Means over the repeats, one row a distance, one column a size."""
    means = {cell: np.mean([np.mean(t[name]) for t in those]) for cell, those in trials.items()}
    return np.array([[means[d, n] for n in SIZES] for d in DISTANCES])


def test_connectivity_depends_on_the_distance_and_not_on_the_size(trials):
    connectivity = table(trials, "connectivity")
    over_sizes = connectivity.std(axis=1) / connectivity.mean(axis=1)
    over_distances = connectivity.mean(axis=1).std() / connectivity.mean()
    assert over_sizes.max() < 0.2 * over_distances
    assert (np.diff(connectivity, axis=0) < 0).all()


def test_connectivity_goes_with_the_cut_it_relaxes(trials):
    connectivity, value = table(trials, "connectivity"), table(trials, "ncut")
    assert (connectivity <= value).all()
    assert spearmanr(connectivity.ravel(), value.ravel()).statistic > 0.95


@pytest.mark.parametrize("cut", ["exact", "paper"])
def test_connectivity_rises_with_the_error(trials, cut):
    connectivity, error = table(trials, "connectivity"), table(trials, cut)
    assert spearmanr(connectivity.ravel(), error.ravel()).statistic > 0.9
    assert error[0].mean() > 0.15
    assert error[-1].mean() < 0.02


def test_fewer_points_switch_where_the_clouds_are_apart(trials):
    for name in ("switches", "later switches"):
        by_distance = table(trials, name).mean(axis=1)
        assert spearmanr(DISTANCES, by_distance).statistic < -0.9


def pooled_error(trials, name):
    """Error of the points that never switched, and of those that did."""
    every = [t for those in trials.values() for t in those]
    wrong = np.concatenate([t["paper"] for t in every])
    switched = np.concatenate([t[name] for t in every]) > 0
    return wrong[~switched].mean(), wrong[switched].mean()


def test_points_that_switch_are_more_often_wrong(trials):
    never, ever = pooled_error(trials, "switches")
    assert never < ever
    never, ever = pooled_error(trials, "later switches")
    assert 5 * never < ever
