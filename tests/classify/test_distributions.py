"""Class-cluster distributions and the distances between them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from tests.reference.algorithms import CVC

from setwise.gallery.distributions import (
    bhattacharyya,
    class_cluster_distributions,
    class_cluster_histogram,
    conditional_orthogonality,
    hellinger,
    overlap,
    signal_to_noise,
)


@pytest.fixture(autouse=True)
def no_floating_point_trouble():
    with np.errstate(all="raise"):
        yield


TWO_TO_FIVE, ONE_TO_EIGHT = st.integers(2, 5), st.integers(1, 8)


def histograms(n_rows=TWO_TO_FIVE, n_clusters=ONE_TO_EIGHT):
    """Counts with at least one vector in each row."""
    shapes = st.tuples(n_rows, n_clusters)
    counts = shapes.flatmap(lambda shape: arrays(np.int64, shape, elements=st.integers(0, 30)))
    return counts.filter(lambda h: h.any(axis=1).all()).map(lambda h: h.astype(np.float64))


pairs = histograms(n_rows=st.just(2)).map(class_cluster_distributions)


# ---------------------------------------------------------------------------- hand examples


def test_hand_example():
    histogram = class_cluster_histogram(
        np.array([0, 0, 0, 0, 1, 1]), np.array([0, 1, 1, 3, 1, 2]), 3
    )
    assert histogram.tolist() == [[1, 2, 0, 1], [0, 1, 1, 0], [0, 0, 0, 0]]
    p, q, nobody = class_cluster_distributions(histogram)
    assert p.tolist() == [0.25, 0.5, 0, 0.25]
    assert q.tolist() == [0, 0.5, 0.5, 0]
    assert nobody.tolist() == [0, 0, 0, 0]  # no vector, no distribution, no warning
    assert overlap(p, q) == pytest.approx(0.5)
    assert bhattacharyya(p, q) == pytest.approx(np.log(2))
    assert hellinger(p, q) == pytest.approx(np.sqrt(0.5))


def test_disjoint_supports_are_infinitely_far():
    p, q = np.array([0.5, 0.5, 0.0]), np.array([0.0, 0.0, 1.0])
    assert overlap(p, q) == 0.0
    assert bhattacharyya(p, q) == np.inf
    assert hellinger(p, q) == pytest.approx(1.0)


def test_equal_distributions_are_at_no_distance():
    p = np.array([0.25, 0.75])
    assert bhattacharyya(p, p) == 0.0
    assert not np.signbit(bhattacharyya(p, p))
    assert hellinger(p, p) == 0.0


@pytest.mark.parametrize(
    ("classes", "expected"),
    [
        ([[1, 0, 0], [0, 1, 0]], 0.0),
        ([[0.5, 0, 0.5], [0, 0.5, 0.5]], 0.0),  # they meet where the probe is not
        ([[0.5, 0.5, 0], [0.1, 0, 0.9]], 1.0),
        ([[0.5, 0.5, 0], [0.1, 0.9, 0]], 2.0),
        ([[1, 0, 0]], 0.0),
    ],
)
def test_conditional_orthogonality_counts_clusters_of_probe_and_two_classes(classes, expected):
    probe = np.array([0.5, 0.5, 0.0])
    assert conditional_orthogonality(np.array(classes, dtype=float), probe) == expected


@pytest.mark.parametrize(
    ("distances", "expected"),
    [
        ([0.2, 0.1, 0.4], 2.0),
        ([0.1, 0.1], 1.0),
        ([0.0, 0.3], np.inf),
        ([0.0, 0.0, 1.0], 1.0),
        ([0.1, np.inf], np.inf),
        ([np.inf, np.inf], 1.0),  # nothing known about either
        ([0.1], np.inf),  # no rival
    ],
)
def test_signal_to_noise(distances, expected):
    assert signal_to_noise(np.array(distances)) == pytest.approx(expected)


# ------------------------------------------------------------------------------ properties


@given(st.data())
def test_same_distances_and_label_as_algorithm_1(data):
    n_classes = data.draw(st.integers(1, 4))
    of_gallery = st.lists(st.integers(1, n_classes), max_size=20)
    ell_G = np.array(list(range(1, n_classes + 1)) + data.draw(of_gallery))
    n_p = data.draw(st.integers(1, 8))
    n = len(ell_G) + n_p
    clusters = np.array(data.draw(st.lists(st.integers(1, 6), min_size=n, max_size=n)))
    ell_p, B = CVC(ell_G, n_p, lambda ell_D, ell_hat_p: (clusters, clusters.max()))

    rows = np.r_[ell_G - 1, np.full(n_p, n_classes)]
    histogram = class_cluster_histogram(rows, clusters - 1, n_classes + 1)
    *classes, probe = class_cluster_distributions(histogram)
    distances = bhattacharyya(np.array(classes), probe)
    np.testing.assert_allclose(distances, B, rtol=1e-12, atol=3e-16)
    assert distances[ell_p - 1] == pytest.approx(distances.min(), abs=3e-16)


@given(histograms())
def test_rows_are_distributions(histogram):
    distributions = class_cluster_distributions(histogram)
    assert (distributions >= 0).all()
    np.testing.assert_allclose(distributions.sum(axis=1), 1.0, atol=1e-15)
    assert ((distributions > 0) == (histogram > 0)).all()


@given(pairs)
def test_bounds_and_symmetry(pair):
    p, q = pair
    assert bhattacharyya(p, q) == bhattacharyya(q, p) >= 0
    assert hellinger(p, q) == hellinger(q, p) >= 0
    assert hellinger(p, q) <= 1 + 1e-15
    assert 0 <= overlap(p, q) <= 1
    assert hellinger(p, q) ** 2 == pytest.approx(1 - overlap(p, q), abs=1e-14)
    assert (bhattacharyya(p, q) == np.inf) == (not ((p > 0) & (q > 0)).any())


@given(histograms(n_rows=st.just(3)).map(class_cluster_distributions))
def test_hellinger_keeps_the_triangle_inequality(three):
    p, q, r = three
    assert hellinger(p, r) <= hellinger(p, q) + hellinger(q, r) + 1e-12


@given(histograms(n_rows=st.just(2), n_clusters=st.integers(2, 8)))
def test_merging_two_clusters_never_increases_a_distance(histogram):
    merged = np.c_[histogram[:, :2].sum(axis=1), histogram[:, 2:]]
    before, after = map(class_cluster_distributions, (histogram, merged))
    assert bhattacharyya(*after) <= bhattacharyya(*before) + 1e-12
    assert hellinger(*after) <= hellinger(*before) + 1e-12


@given(histograms(n_rows=st.just(2)), st.integers(0, 30), st.integers(0, 30))
def test_splitting_a_cluster_without_probe_changes_nothing(histogram, part, rest):
    """Neither distance, although the paper says that Hellinger's falls (proof of its lemma)."""
    whole = np.c_[histogram, [part + rest, 0.0]]
    split = np.c_[histogram, [part, 0.0], [rest, 0.0]]
    before, after = map(class_cluster_distributions, (whole, split))
    assert bhattacharyya(*after) == pytest.approx(bhattacharyya(*before), abs=1e-14)
    assert hellinger(*after) ** 2 == pytest.approx(hellinger(*before) ** 2, abs=1e-14)


@given(st.lists(st.floats(1e-16, 1e3) | st.sampled_from([0.0, np.inf]), min_size=1))
def test_signal_to_noise_is_at_least_one(distances):
    assert signal_to_noise(np.array(distances)) >= 1.0


@given(histograms())
def test_conditional_orthogonality_same_as_the_definition(histogram):
    *classes, probe = class_cluster_distributions(histogram)
    literal = max(
        (
            sum(bool(i[k]) and bool(j[k]) and bool(probe[k]) for k in range(len(probe)))
            for a, i in enumerate(classes)
            for b, j in enumerate(classes)
            if a != b
        ),
        default=0,
    )
    assert conditional_orthogonality(np.array(classes), probe) == literal


@given(histograms())
def test_many_distances_at_once_are_those_one_by_one(histogram):
    *classes, probe = class_cluster_distributions(histogram)
    for distance in (bhattacharyya, hellinger, overlap):
        one_by_one = [distance(p, probe) for p in classes]
        np.testing.assert_array_equal(distance(np.array(classes), probe), one_by_one)
