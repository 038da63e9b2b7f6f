"""The estimator: labels, probabilities, invariances, and scikit-learn's tools."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import DBSCAN, KMeans, SpectralClustering
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.conftest import toy_sets

from setwise import CVC, GaussianGraph, LassoGraph, SetBatch
from setwise.basis import Dictionary
from setwise.errors import DataError, NoInformationWarning, ParameterError

FAST = {"dims": (1, 2, 3), "random_state": 0}

PLAIN = [("plain", "svd"), ("plain", "centred")]


def split(sets, labels, n_gallery=2, n_sets=3):
    is_gallery = np.arange(len(sets)) % n_sets < n_gallery
    gallery = [s for s, g in zip(sets, is_gallery, strict=True) if g]
    probes = [s for s, g in zip(sets, is_gallery, strict=True) if not g]
    return gallery, labels[is_gallery], probes, labels[~is_gallery]


@pytest.fixture
def toy(seed):
    return split(*toy_sets(seed))


@pytest.mark.parametrize("fusion", ["pool", "mode", "sum", "coefficient", "none"])
@pytest.mark.parametrize(
    "parameters",
    [
        {},
        {"representations": [("plain", Dictionary(2.0)), ("plain", Dictionary(n_seeds=2))]},
        {"cut": "exact"},
        {"cut": "paper"},
        {"distributions": "set"},
        {"distance": "hellinger"},
        {"graph": "gaussian", "representations": [("plain", "svd"), ("whitened", "svd")]},
        {"graph": "omp"},
        {"weights": None},
    ],
    ids=str,
)
def test_every_part_classifies_separable_sets(toy, parameters, fusion):
    gallery, y, probes, expected = toy
    clf = CVC(**FAST | parameters, fusion=fusion).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)
    assert clf.score(probes, expected) == 1.0


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(n_clusters=3, n_init=3, random_state=0),
        SpectralClustering(n_clusters=3, affinity="precomputed", random_state=0),
    ],
    ids=lambda c: type(c).__name__,
)
def test_any_clusterer_will_do(toy, clusterer):
    gallery, y, probes, expected = toy
    clf = CVC((1,), representations=[("plain", "svd")], clusterer=clusterer).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)
    assert clf.explain(probes[0]).tree == ()


def test_noise_points_of_a_density_clusterer_are_clusters_of_their_own(toy):
    gallery, y, probes, _ = toy
    clf = CVC(
        (2,),
        representations=[("plain", "svd")],
        clusterer=DBSCAN(eps=1e-9),
        evidence="clusters",
        weights=None,
    ).fit(gallery, y)
    with pytest.warns(NoInformationWarning, match="set 0"):
        clf.predict(probes[:1])


def test_least_squares_classifies_where_subspaces_are_independent(seed):
    gallery, y, probes, expected = split(*toy_sets(seed, n_features=60))
    clf = CVC(**FAST, graph="least_squares").fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)


def test_the_papers_setting_is_spelled_out():
    clf = CVC.as_in_paper(dims=(1, 2), random_state=3)
    assert clf.graph == LassoGraph(alpha=0.01)
    assert (clf.representations, clf.cut, clf.fusion) == (
        (("plain", "dictionary"),), "paper", "mode",
    )  # fmt: skip
    assert (tuple(clf.dims), clf.random_state) == ((1, 2), 3)


def test_string_labels_and_classes(toy):
    gallery, y, probes, expected = toy
    names = np.array(["carl", "anna", "bert"])
    clf = CVC(**FAST).fit(gallery, names[y])
    assert list(clf.classes_) == ["anna", "bert", "carl"]
    np.testing.assert_array_equal(clf.predict(probes), names[expected])


def test_probabilities(toy):
    gallery, y, probes, _ = toy
    for fusion in ("pool", "mode", "sum", "coefficient", "none"):
        clf = CVC(**FAST, fusion=fusion).fit(gallery, y)
        proba = clf.predict_proba(probes)
        assert proba.shape == (len(probes), 3)
        np.testing.assert_allclose(proba.sum(axis=1), 1, atol=1e-12)
        assert (proba >= 0).all()
        np.testing.assert_array_equal(clf.classes_[proba.argmax(axis=1)], clf.predict(probes))
        scores = clf.decision_function(probes)
        np.testing.assert_array_equal(clf.classes_[scores.argmax(axis=1)], clf.predict(probes))


def test_two_classes_have_one_decision_value(seed):
    gallery, y, probes, _ = split(*toy_sets(seed, n_classes=2))
    clf = CVC(**FAST).fit(gallery, y)
    scores = clf.decision_function(probes)
    assert scores.shape == (len(probes),)
    np.testing.assert_array_equal((scores > 0).astype(int), clf.predict(probes))


# --- each probe is judged alone, and nothing but the sets matters


def answers(clf, probes):
    return clf.predict(probes), clf.predict_proba(probes)


@pytest.mark.parametrize("parameters", [{}, {"representations": [("plain", "dictionary")]}])
def test_labels_do_not_depend_on_orders_jobs_or_company(seed, parameters):
    sets, labels = toy_sets(seed, n_classes=4, noise=1.5)
    gallery, y, probes, _ = split(sets, labels)
    rng = np.random.default_rng(seed)
    make = lambda **kw: CVC(**FAST | parameters, **kw)  # noqa: E731
    expected, proba = answers(make().fit(gallery, y), probes)

    order = rng.permutation(len(gallery))
    shuffled = make().fit([gallery[i] for i in order], y[order])
    np.testing.assert_array_equal(shuffled.predict(probes), expected)

    backwards = make().fit(gallery, y).predict(probes[::-1])[::-1]
    np.testing.assert_array_equal(backwards, expected)

    alone = [make().fit(gallery, y).predict([probe])[0] for probe in probes]
    np.testing.assert_array_equal(alone, expected)

    stirred = [probe[rng.permutation(len(probe))] for probe in probes]
    np.testing.assert_array_equal(make().fit(gallery, y).predict(stirred), expected)

    labels_2, proba_2 = answers(make(n_jobs=2).fit(gallery, y), probes)
    np.testing.assert_array_equal(labels_2, expected)
    np.testing.assert_allclose(proba_2, proba, atol=1e-9)


def test_renaming_classes_renames_answers(seed):
    gallery, y, probes, _ = split(*toy_sets(seed, noise=1.5))
    expected = CVC(**FAST).fit(gallery, y).predict(probes)
    renamed = CVC(**FAST).fit(gallery, 10 - y).predict(probes)
    np.testing.assert_array_equal(10 - renamed, expected)


def test_scale_of_the_vectors_does_not_matter(toy):
    gallery, y, probes, _ = toy
    expected = CVC(**FAST).fit(gallery, y).predict_proba(probes)
    for factor in (1e-100, 255.0, 1e100):
        scaled = CVC(**FAST).fit([factor * s for s in gallery], y)
        np.testing.assert_allclose(
            scaled.predict_proba([factor * p for p in probes]), expected, atol=1e-9
        )


def test_float32_gives_the_same_labels(seed):
    gallery, y, probes, _ = split(*toy_sets(seed, n_classes=5, noise=1.0))
    expected = CVC(**FAST).fit(gallery, y).predict(probes)
    single = CVC(**FAST).fit([s.astype(np.float32) for s in gallery], y)
    np.testing.assert_array_equal(
        single.predict([p.astype(np.float32) for p in probes]), expected
    )


def test_fitting_and_predicting_change_neither_inputs_nor_parameters(toy):
    gallery, y, probes, _ = toy
    clf = CVC(**FAST)
    before = pickle.dumps((gallery, y, probes, clf.get_params()))
    clf.fit(gallery, y).predict(probes)
    clf.explain(probes[0])
    assert pickle.dumps((gallery, y, probes, clf.get_params())) == before


def test_the_global_random_state_is_left_alone(toy):
    gallery, y, probes, _ = toy
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    CVC(dims=(2,), representations=[("plain", "dictionary")]).fit(gallery, y).predict(probes)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # they are noisy
@pytest.mark.parametrize("weights", ["gallery", None])
def test_stopping_early_changes_no_label(seed, weights):
    gallery, y, probes, _ = split(*toy_sets(seed, n_classes=4, noise=2.5))
    base = {"dims": range(1, 6), "fusion": "mode", "weights": weights}
    early = CVC(**base).fit(gallery, y).predict(probes)
    late = CVC(**base, stop_early=False).fit(gallery, y).predict(probes)
    np.testing.assert_array_equal(early, late)


def test_stopping_early_asks_fewer_layers(toy):
    gallery, y, probes, _ = toy
    clf = CVC(**FAST, fusion="mode", evidence="clusters").fit(gallery, y)
    bases = clf.gallery_.bases(probes[0])
    full = clf.gallery_.everything.views(bases)
    few = clf.gallery_.everything.views(bases, stop_early=True)
    assert len(few) < len(full)


def test_predicting_from_many_threads_at_once(toy):
    from concurrent.futures import ThreadPoolExecutor

    gallery, y, probes, _ = toy
    clf = CVC(**FAST).fit(gallery, y)
    expected = clf.predict(probes)
    with ThreadPoolExecutor(8) as pool:
        for found in pool.map(clf.predict, [probes] * 8):
            np.testing.assert_array_equal(found, expected)


# --- hard sets


def test_sets_of_one_vector_duplicates_and_zero_images(toy):
    gallery, y, probes, expected = toy
    gallery = [np.vstack([s, s[:2], np.zeros((1, 20))]) for s in gallery]
    clf = CVC(**FAST).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict([p[:1] for p in probes]), expected)
    constant = [np.repeat(p[:1], 4, axis=0) for p in probes]
    np.testing.assert_array_equal(clf.predict(constant), expected)


def test_a_set_without_any_direction_in_a_view_abstains_there(toy):
    """A view may map a whole set to zero; the other views still answer."""
    gallery, y, probes, expected = toy
    blind = FunctionTransformer(lambda X: np.where(X[:, :1] > 1e9, X, 0.0))
    views = ("plain", ("blind", blind))
    clf = CVC(**FAST, representations=[(view, "svd") for view in views]).fit(gallery, y)
    np.testing.assert_array_equal(clf.predict(probes), expected)


def test_a_probe_like_nothing_in_the_gallery_is_said_to_be_unknown(seed):
    rng = np.random.default_rng(seed)
    gallery = [np.hstack([rng.normal(size=(5, 4)), np.zeros((5, 4))]) for _ in range(4)]
    probe = np.hstack([np.zeros((5, 4)), rng.normal(size=(5, 4))])
    clf = CVC(dims=(1, 2), representations=PLAIN, weights=None).fit(gallery, [0, 0, 1, 1])
    with pytest.warns(NoInformationWarning, match="equally probable"):
        np.testing.assert_array_equal(clf.predict_proba([probe]), [[0.5, 0.5]])
    assert not clf.explain(probe).is_informed


def test_dimensionalities_that_tell_nothing_apart_are_left_out(seed):
    def dims_used(n_vectors, n_features):
        sets, labels = toy_sets(
            seed, n_vectors=(n_vectors, n_vectors + 1), n_features=n_features
        )
        clf = CVC(dims=(2, 4, 8), representations=[("plain", "svd")]).fit(sets, labels)
        return {layer.n_columns for layer in clf.layers_}

    assert dims_used(10, 20) == {2, 4, 8}
    assert dims_used(5, 20) == {2, 4}
    assert dims_used(10, 9) == {2, 4}
    assert dims_used(1, 20) == {1}


def test_a_view_that_breaks_vectors_is_named(toy):
    gallery, y, _, _ = toy
    broken = FunctionTransformer(lambda X: X / 0.0 if len(X) else X)
    with np.errstate(all="ignore"), pytest.raises(DataError, match="view 'broken' made"):
        CVC((1,), representations=[("plain", "svd"), (("broken", broken), "svd")]).fit(
            gallery, y
        )


# --- scikit-learn's tools


def test_cross_validation_search_pipeline_clone_and_pickle(seed):
    sets, labels = toy_sets(seed, n_sets=4)
    clf = CVC(**FAST, representations=PLAIN)
    folds = StratifiedKFold(2)
    assert cross_val_score(clf, sets, labels, cv=folds).mean() > 0.9
    batch = SetBatch.from_list(sets)
    assert cross_val_score(clf, batch, labels, cv=folds).mean() > 0.9
    search = GridSearchCV(
        clf,
        {"fusion": ["mode", "sum"], "graph": [LassoGraph(0.05), GaussianGraph(0.5)]},
        cv=folds,
    ).fit(sets, labels)
    assert search.best_score_ > 0.9
    halve = FunctionTransformer(lambda X: [s / 2 for s in X])
    pipe = Pipeline([("halve", halve), ("cvc", clf)]).fit(sets, labels)
    assert pipe.score(sets, labels) > 0.9
    assert clone(search.best_estimator_).get_params()["dims"] == (1, 2, 3)
    again = pickle.loads(pickle.dumps(search.best_estimator_))
    np.testing.assert_array_equal(again.predict(sets), search.predict(sets))


def test_calibration_works_on_sets(seed):
    from sklearn.calibration import CalibratedClassifierCV

    sets, labels = toy_sets(seed, n_sets=6)
    calibrated = CalibratedClassifierCV(CVC(**FAST, representations=PLAIN), cv=2).fit(
        sets, labels
    )
    assert (calibrated.predict(sets) == labels).mean() > 0.9


def test_feature_kinds_fuse_in_one_vote(toy):
    gallery, y, probes, expected = toy
    squares = FunctionTransformer(np.square)
    views = ("plain", ("squares", squares), FunctionTransformer(np.tanh))
    clf = CVC(**FAST, representations=[(view, "svd") for view in views])
    clf.fit(gallery, y)
    assert {m.representation.view.name for m in clf.layers_} == {
        "plain", "squares", "functiontransformer",
    }  # fmt: skip
    np.testing.assert_array_equal(clf.predict(probes), expected)


# --- refusals


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"dims": ()}, "dims must be a sequence of ints of at least 1, from 1"),
        ({"dims": (0, 1)}, "dims must be a sequence of ints of at least 1"),
        ({"dims": (1.5,)}, "dims must be a sequence of ints"),
        ({"dims": 3}, "dims must be a sequence"),
        ({"representations": "svd"}, "representations must be a sequence"),
        ({"representations": [("plain", "pca")]}, "basis must be one of 'svd', 'centred'"),
        ({"representations": [("plain",)]}, "representations must be pairs"),
        ({"representations": [5]}, "representations must be pairs"),
        ({"representations": ()}, "representations must be a sequence"),
        ({"representations": [("sepia", "svd")]}, "view must be 'plain', 'whitened'"),
        ({"representations": [(("five", 5), "svd")]}, r"view must be .* got \('five', 5\)"),
        ({"graph": "knn"}, "graph must be one of"),
        ({"cut": "kernighan"}, "cut must be one of 'sweep', 'exact', 'paper'"),
        ({"distance": "euclid"}, "distance must be one of"),
        ({"fusion": "median"}, "fusion must be one of 'mode', 'sum'"),
        ({"weights": "random"}, "weights must be one of 'gallery', None"),
        ({"outliers": "keep"}, "outliers must be one of 'drop', None"),
        ({"evidence": ()}, "evidence must be a sequence"),
        ({"evidence": "hearsay"}, "evidence must be one of 'clusters', 'edges'"),
        ({"unknown": 0}, "unknown must be a positive number of at most 0.5"),
        ({"unknown": 0.05, "unknown_label": 1}, "unknown_label must be a label that no class"),
        ({"distributions": "all"}, "distributions must be one of"),
        ({"graph": []}, "graph must be one of"),
        ({"n_jobs": 0}, "n_jobs must be"),
        ({"n_jobs": "x"}, "n_jobs must be"),
        ({"stop_early": "no"}, "stop_early must be one of True, False"),
        ({"stop_early": np.array([1, 2])}, "stop_early must be one of True, False"),
        ({"dims": np.array(3)}, "dims must be a sequence"),
        ({"dims": b"\x01"}, "dims must be a sequence"),
        ({"random_state": "x"}, "random_state must be"),
        ({"clusterer": 5}, "clusterer must be None, one of 'shc'"),
    ],
    ids=str,
)
def test_bad_parameters_name_themselves(toy, parameters, message):
    gallery, y, _, _ = toy
    with pytest.raises(ParameterError, match=message):
        CVC(**{"dims": (1,)} | parameters).fit(gallery, y)


def test_a_probe_of_other_length_is_refused_by_name(toy):
    gallery, y, probes, _ = toy
    clf = CVC(**FAST).fit(gallery, y)
    with pytest.raises(DataError, match=r"CVC.predict: set 1 has 7 features .* gallery has 20"):
        clf.predict([probes[0], np.ones((4, 7))])
    with pytest.raises(DataError, match="transposed"):
        clf.predict([np.ones((20, 3))])
    with pytest.raises(DataError, match="expected one set, got 2"):
        clf.explain(probes[:2])


# --- real data


@pytest.mark.data
def test_eth80_first_split(real):
    data = real("eth80")
    gallery, probes = data.folds[0]
    clf = CVC(dims=(2, 4, 6), random_state=0).fit(data.sets[gallery], data.labels[gallery])
    assert clf.score(data.sets[probes], data.labels[probes]) >= 0.9


@pytest.mark.data
def test_stopping_early_on_real_sets(real):
    data = real("coil20")
    gallery, probes = data.folds[0]
    base = {"dims": (1, 2, 3), "fusion": "mode", "random_state": 0}
    fitted = CVC(**base).fit(data.sets[gallery], data.labels[gallery])
    early = fitted.predict(data.sets[probes])
    late = fitted.set_params(stop_early=False).predict(data.sets[probes])
    np.testing.assert_array_equal(early, late)
