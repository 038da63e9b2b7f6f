"""Why a set got its label: consistent numbers."""

from __future__ import annotations

import numpy as np
import pytest
from tests.conftest import toy_sets

from setwise import CVC


@pytest.fixture(scope="module", params=["class", "set"])
def explained(request):
    sets, labels = toy_sets(0, n_classes=4, n_sets=4, noise=1.0)
    names = np.array(["ant", "bee", "cat", "dog"])[labels]
    is_probe = np.arange(len(sets)) % 4 == 3
    gallery = [s for s, p in zip(sets, is_probe, strict=True) if not p]
    clf = CVC(dims=(1, 3, 5), distributions=request.param, random_state=0)
    clf.fit(gallery, names[~is_probe])
    probe = sets[-1]
    return clf, probe, clf.explain(probe)


def test_it_repeats_predict_and_predict_proba(explained):
    clf, probe, why = explained
    assert why.label == clf.predict([probe])[0]
    np.testing.assert_allclose(why.probabilities, clf.predict_proba([probe])[0])
    assert str(why).startswith(f"{why.label}: ")


def test_votes_are_those_of_the_layers_that_count(explained):
    clf, _, why = explained
    assert [f"{v.layer}: {v.evidence}" for v in why.votes] == [
        str(member) for member, w in zip(clf.members_, clf.weights_, strict=True) if w
    ]
    for vote in why.votes:
        assert vote.distances.shape == (4,)
        assert vote.snr >= 1
        if vote.label is not None:
            nearest = vote.distances[list(why.classes).index(vote.label)]
            assert nearest == vote.distances.min()
    counts = [sum(v.weight for v in why.votes if v.label == c) for c in why.classes]
    assert why.classes[np.argmax(counts)] == why.label


def test_the_shown_layer_voted_for_the_answer(explained):
    _, _, why = explained
    shown = next(v for v in why.votes if v.layer == why.shown and v.evidence == "clusters")
    assert shown.label == why.label
    assert why.snr == shown.snr


def test_the_tree_is_a_tree_of_cuts(explained):
    _, probe, why = explained
    steps = {step.node: step for step in why.tree}
    root = steps[0]
    assert root.parent == -1
    shown = next(vote for vote in why.votes if vote.layer == why.shown)
    assert root.n_probe == min(shown.n_columns, len(probe))
    for step in why.tree:
        assert step.n_columns == step.class_counts.sum() + step.n_probe
        is_leaf = step.kind == "leaf"
        assert is_leaf == (step.children == ())
        if is_leaf:
            # Indivisible: no probe, or fewer than two classes, or a single column.
            assert step.n_probe == 0 or (step.class_counts > 0).sum() < 2 or step.n_columns == 1
        else:
            children = [steps[child] for child in step.children]
            assert len(children) == 2 or step.kind == "components"
            assert sum(child.n_columns for child in children) == step.n_columns
            np.testing.assert_array_equal(
                sum(child.class_counts for child in children), step.class_counts
            )
            assert step.ncut >= step.connectivity - 1e-9
            still = set()
            for child in children:
                if child.n_probe:
                    still |= set(why.classes[child.class_counts > 0])
            assert set(step.fell_away) == set(why.classes[step.class_counts > 0]) - still


def test_the_class_cluster_table_gives_the_distances(explained):
    clf, _, why = explained
    np.testing.assert_allclose(why.class_cluster.sum(axis=1), 1)
    assert why.class_cluster.shape == (5, sum(step.kind == "leaf" for step in why.tree))
    if clf.distributions == "class":
        overlaps = np.sqrt(why.class_cluster[:-1] * why.class_cluster[-1]).sum(axis=1)
        shown = next(v for v in why.votes if v.layer == why.shown and v.evidence == "clusters")
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(shown.distances, -np.log(overlaps), atol=1e-12)


def test_every_vector_has_a_support_and_a_doubt(explained):
    _, probe, why = explained
    assert why.support.shape == why.sign_switches.shape == (len(probe),)
    known = why.support[np.isfinite(why.support)]
    assert ((known >= -1e-12) & (known <= 1 + 1e-12)).all()
    assert (why.sign_switches >= 0).all()
    assert why.probe_points.shape == (len(probe), 2)
    assert len(why.gallery_points) == len(why.gallery_point_classes)


def test_an_outlier_has_less_support_than_the_rest(seed):
    sets, labels = toy_sets(seed, n_classes=3, n_sets=4, n_vectors=(15, 16), noise=0.05)
    gallery = [s for i, s in enumerate(sets) if i % 4]
    clf = CVC(dims=range(1, 6), representations=[("plain", "svd")], random_state=0)
    clf.fit(gallery, labels[np.arange(len(sets)) % 4 > 0])
    probe = np.vstack([sets[0], sets[4][:2]])  # two vectors of another class
    why = clf.explain(probe)
    assert why.label == labels[0]
    assert why.support[-2:].max() < np.median(why.support[:-2])
