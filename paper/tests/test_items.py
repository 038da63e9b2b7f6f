"""Every kind of item: the right numbers, as JSON, the same each time; and refusals."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from paper.tests.small_sets import write_hands, write_objects

from setwise import CVC
from setwise.classify import bhattacharyya, conditional_orthogonality, signal_to_noise
from setwise.cut import dfvc
from setwise.errors import DataError, ParameterError
from setwise.evaluation import METHODS
from setwise.features import unit_rows
from setwise.graph import GaussianGraph
from setwise_paper.data import read_data
from setwise_paper.kinds.classify import (
    MOST_PAIRS,
    ClassifyItem,
    ExplainItem,
    Outliers,
    classifier_of,
    sides_of,
)
from setwise_paper.kinds.distributions import DistributionsItem
from setwise_paper.kinds.gaussians import GaussiansItem
from setwise_paper.plan import perform
from setwise_paper.spec import Data, Feature, Recipe
from setwise_paper.support import seed_for

HANDS = Data(name="hands")
OBJECTS = Data(name="objects", protocol="pairs")
FUSIONS = ("mode", "sum", "coefficient", "none")
CLUSTERERS = ("shc", "kmeans", "ssc", "spectral", "skms")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_hands(tmp_path_factory.mktemp("data"), n_sets=6)
    return write_objects(folder, n_classes=8, n_sets=3, n_views=10, size=10)


def judged(of="MSM", recipe=None, **more):
    made = Recipe(of=of, **(recipe or {}))
    return ClassifyItem(**{"data": HANDS, "recipe": made, "fold": 0, "seed": 0} | more)


def clustered(clusterer="kmeans", **more):
    asked = {"data": OBJECTS, "n_classes": 4, "draw": 0, "seed": 0} | more
    return DistributionsItem(clusterer=clusterer, **asked)


def clouds(**more):
    return GaussiansItem(
        **{"distance": 4.0, "size": 80, "variance": 2.0, "draw": 0, "seed": 0} | more
    )


CVC_3 = {"parameters": {"dims": [1, 2, 3]}}
EVERY_KIND = (
    judged("CVC", CVC_3, data=Data(name="hands", feature=Feature(name="pixels"))),
    ExplainItem(of=judged("CVC", CVC_3), probes=(0, 2)),
    clustered("skms", data=HANDS, n_classes=3, draw=1),
    clouds(distance=3, size=40),
)


def test_results_are_plain_and_the_same_again_in_threads_and_from_json(folder):
    def outcome(item):
        result = perform(item, folder)
        again = json.loads(json.dumps(result, allow_nan=False))
        assert again == result
        return {name: value for name, value in again.items() if not name.endswith("seconds")}

    state = np.random.get_state()  # noqa: NPY002 (that nobody draws from it is the test)
    alone = [outcome(item) for item in EVERY_KIND]
    written = [type(item).model_validate_json(item.model_dump_json()) for item in EVERY_KIND]
    assert written == list(EVERY_KIND)
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(outcome, [*EVERY_KIND, *written])) == alone + alone
    assert str(np.random.get_state()) == str(state)  # noqa: NPY002


# --- one classifier on one fold


def test_answers_are_the_classifiers_own_on_evenly_spread_probes(folder):
    result = perform(judged("MSM", {"parameters": {"n_angles": 2}}), folder)
    found = read_data(HANDS, folder)
    gallery, probes = found.folds[0]
    clf = METHODS["MSM"](0).set_params(n_angles=2)
    expected = clf.fit(found.sets[gallery], found.labels[gallery]).predict(found.sets[probes])
    assert result["answers"] == {"": expected.tolist()}
    assert result["truth"] == found.labels[probes].tolist()
    assert result["probes"] == [found.sets.names[i] for i in probes]
    assert result["indices"] == probes.tolist()
    assert (result["n_gallery"], result["outlier_share"]) == (len(gallery), 0.0)
    assert result["fit_seconds"] > 0 < result["probe_seconds"]
    some = perform(judged("MSM", {"parameters": {"n_angles": 2}}, n_probes=4), folder)
    assert some["indices"] == [probes[place] for place in (0, 3, 5, 8)]
    assert some["answers"][""] == [expected[place] for place in (0, 3, 5, 8)]


@pytest.mark.parametrize("of", ["CVC as in paper", "CVC"])
def test_fusing_members_up_to_a_dimensionality_is_a_smaller_cvc(folder, of):
    # Weights that the gallery chooses depend on all dimensionalities.
    parameters = {"weights": None, "dims": [1, 2, 5], "evidence": ["clusters"]}
    parameters["representations"] = [["plain", "svd"], ["whitened", "centred"]]
    asked = judged(of, {"parameters": parameters, "fusions": FUSIONS}, data=OBJECTS)
    answers = perform(asked, folder)["answers"]
    assert list(answers) == [f"{fusion}@{d}" for fusion in FUSIONS for d in (1, 2, 5)]
    sides = sides_of(asked, read_data(OBJECTS, folder))
    for fusion in FUSIONS:
        for n, largest in enumerate((1, 2, 5), start=1):
            clf = classifier_of(asked).set_params(dims=(1, 2, 5)[:n], fusion=fusion)
            clf.fit(sides.gallery, sides.gallery.labels)
            expected = clf.predict(sides.probes).tolist()
            assert answers[f"{fusion}@{largest}"] == expected, (fusion, largest)


@pytest.mark.parametrize("into", ["gallery", "probes"])
def test_outliers_are_mixed_in_the_same_way_for_all_methods(folder, into):
    found = read_data(HANDS, folder)
    outliers = Outliers(into=into, n=2)
    sides = sides_of(judged(outliers=outliers), found)
    side, clean = getattr(sides, into), found.sets[found.folds[0][into == "probes"]]
    n_donors = len(sides.gallery) - (into == "gallery")
    np.testing.assert_array_equal(side.sizes, clean.sizes + 2 * n_donors)
    # Three sets of each of three classes: six of the donors are of another class.
    assert sides.outlier_share == pytest.approx(100 * np.mean(2 * 6 / clean.sizes))
    of_gallery = set(map(bytes, found.sets[found.folds[0][0]].vectors))
    assert set(map(bytes, side[0][-2 * n_donors :])) <= of_gallery
    other = getattr(sides_of(judged("DCC", outliers=outliers), found), into)
    np.testing.assert_array_equal(side.vectors, other.vectors)
    changed = getattr(sides_of(judged(outliers=outliers, seed=1), found), into)
    assert (side.vectors != changed.vectors).any()
    few = sides_of(judged(outliers=outliers, n_probes=3), found)
    np.testing.assert_array_equal(sides.probes[-1], few.probes[-1])


def test_each_fold_method_and_seed_has_its_own_seed():
    every = [(of, f, s) for of in ("CVC", "ISCRC") for f in (0, 1) for s in (0, 1)]
    seeds = {classifier_of(judged(of, fold=f, seed=s)).random_state for of, f, s in every}
    assert len(seeds) == 8
    assert seed_for(0, "hands", 0, "CVC") in seeds
    made = classifier_of(judged("CVC for images"))
    assert isinstance(made, CVC)
    assert len(made.representations) == 9


HOG = Data(name="hands", feature=Feature(name="hog", parameters={"cell": 8}))


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (judged("MSN"), ParameterError, r"no method 'MSN'.*Did you mean 'MSM'\?"),
        (judged("MSM", {"parameters": {"n_angle": 1}}), ParameterError, "mean 'n_angles'"),
        (judged("MSM", {"fusions": ["mode"]}), ParameterError, "'MSM': it has no votes to"),
        (judged(fold=-1), DataError, r"no fold -1\. Expected 0 to 0"),
        # What a method cannot do is an error here, not a row of zeros.
        (judged("CVC for images", data=HOG), DataError, "looks at images, and the gallery"),
        (ExplainItem(of=judged(), probes=(0,)), ParameterError, "it explains nothing"),
        (ExplainItem(of=judged("CVC"), probes=(9,)), DataError, "no probe 9. Expected 0 to 8"),
        (clustered("k-means"), ParameterError, "no clusterer 'k-means'.*Did you mean 'kmeans'"),
        (clustered(n_classes=9), DataError, "objects has 8 classes, 8 of them with two sets"),
    ],
)
def test_what_cannot_be_is_refused(folder, asked, error, message):
    with pytest.raises(error, match=message):
        perform(asked, folder)


# --- why its answers were wrong


def test_explanations_are_of_the_answers_and_name_the_closest_images(folder):
    found = read_data(OBJECTS, folder)
    gallery, _ = found.folds[0]
    of = judged("CVC as in paper", CVC_3, data=OBJECTS)
    answered = perform(of, folder)
    places = (4, 0, 2)
    explained = perform(ExplainItem(of=of, probes=places), folder)["explanations"]
    for place, one in zip(places, explained, strict=True):
        assert one["place"] == place
        assert one["answer"] == answered["answers"][""][place] == one["why"]["label"]
        assert one["truth"] == answered["truth"][place]
        assert one["index"] == answered["indices"][place]
        probe = unit_rows(found.sets[one["index"]])
        of_truth = gallery[found.labels[gallery] == one["truth"]]
        for pairs, sets in ((one["nearest"], gallery), (one["nearest_of_truth"], of_truth)):
            assert len({pair["image"] for pair in pairs}) == MOST_PAIRS < len(probe)
            assert len({(pair["set"], pair["gallery_image"]) for pair in pairs}) == MOST_PAIRS
            for pair in pairs:
                assert pair["set"] in sets
                assert pair["label"] == found.labels[pair["set"]]
                other = unit_rows(found.sets[pair["set"]])[pair["gallery_image"]]
                distance = np.linalg.norm(probe[pair["image"]] - other)
                assert pair["distance"] == pytest.approx(distance, abs=2e-6)
            distances = [pair["distance"] for pair in pairs]
            assert distances == sorted(distances)
            every = unit_rows(found.sets[sets].vectors)
            least = np.linalg.norm(probe[:, None] - every, axis=2).min()
            assert distances[0] == pytest.approx(least, abs=2e-6)


# --- one clusterer on the images of a few sets


@pytest.mark.parametrize("clusterer", CLUSTERERS)
def test_distances_are_those_of_the_table_which_counts_the_points(folder, clusterer):
    found = perform(clustered(clusterer), folder)
    table = np.array(found["table"])
    counts = np.zeros((5, found["n_clusters"]))
    np.add.at(counts, (found["point_rows"], found["point_clusters"]), 1)
    np.testing.assert_allclose(counts / 10, table, atol=1e-5)
    distances = np.array([np.inf if d is None else d for d in found["distances"]])
    np.testing.assert_allclose(distances, bhattacharyya(table[:-1], table[-1]), atol=1e-4)
    snr = signal_to_noise(distances)
    assert found["snr"] == (pytest.approx(snr) if np.isfinite(snr) else None)
    assert found["answer"] == found["classes"][int(distances.argmin())]
    if clusterer == "shc":  # it stops when no cluster holds the probe and two classes
        assert conditional_orthogonality(table[:-1], table[-1]) == 0
    if clusterer == "kmeans":
        assert found["n_clusters"] == 4


def test_all_clusterers_see_the_same_draw_and_draws_differ(folder):
    same = ("classes", "truth", "points", "point_rows")
    first, *others = [perform(clustered(one), folder) for one in ("kmeans", "shc")]
    assert all(one[name] == first[name] for one in others for name in same)
    assert np.array(first["points"]).shape == (50, 3)
    draws = [perform(clustered(draw=draw), folder) for draw in range(6)]
    assert len({tuple(one["classes"]) for one in draws}) > 1
    assert len({one["classes"].index(one["truth"]) for one in draws}) > 1
    assert perform(clustered(seed=1), folder)["points"] != first["points"]
    # The probe is another set of one of the classes.
    points, rows = np.array(first["points"]), np.array(first["point_rows"])
    own = first["classes"].index(first["truth"])
    assert len(set(first["classes"])) == 4
    assert not (points[rows == 4][:, None] == points[rows == own]).all(axis=2).any()


# --- one cut of two clouds


def test_errors_of_clouds_by_switches_add_up_to_the_error():
    found = perform(clouds())
    for kind in ("", "_from_start"):
        counts, errors = np.array(found[f"counts{kind}"]), np.array(found[f"errors{kind}"])
        assert counts.shape == errors.shape == (3,)
        assert counts.sum() == 160
        assert counts @ errors == pytest.approx(160 * found["error"])
    assert np.mean(found["is_wrong"]) == found["error"]
    assert found["counts_from_start"][0] < found["counts"][0]
    assert 0 < found["switches"] < 0.3


def test_clouds_are_cut_by_algorithm_3_on_the_gaussian_graph():
    # The third coordinate is not kept, but nothing else is: the cut of two is close to it.
    found = perform(clouds(distance=6.0, size=60))
    points = np.array(found["points"]).T
    side = dfvc(GaussianGraph(sigma=2.0).adjacency(points).toarray()).vector >= 0
    is_second = np.array(found["is_second"])
    assert is_second.sum() == 60
    mine = is_second ^ np.array(found["is_wrong"])
    assert max(np.mean(mine == side), np.mean(mine != side)) > 0.93
    near, far = perform(clouds(distance=2.0)), perform(clouds(distance=7.0))
    assert far["connectivity"] < near["connectivity"]
    assert far["error"] <= 0.02 < near["error"] < 0.5 >= near["exact_error"]
    assert far["exact_error"] <= 0.02


def test_only_the_first_draw_of_clouds_keeps_its_points_and_draws_differ():
    first, second = perform(clouds()), perform(clouds(draw=1))
    assert len(first["points"]) == 160
    assert not {"points", "is_wrong"} & set(second)
    assert first["connectivity"] != second["connectivity"]
    for other in (clouds(seed=1), clouds(size=81)):
        assert perform(other)["points"][:5] != first["points"][:5]
