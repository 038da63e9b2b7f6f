"""One classifier on one fold."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from paper.tests.small_sets import write_hands, write_objects

from setwise import CVC
from setwise.errors import DataError, ParameterError
from setwise.evaluation import METHODS
from setwise_paper.data import read_data
from setwise_paper.kinds.classify import ClassifyItem, Outliers, classifier_of, sides_of
from setwise_paper.plan import perform
from setwise_paper.spec import Data, Feature, Recipe
from setwise_paper.support import seed_for

DATA = Data(name="hands")
OBJECTS = Data(name="objects", protocol="pairs")
FUSIONS = ("mode", "sum", "coefficient", "none")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = write_hands(tmp_path_factory.mktemp("data"), n_sets=6)
    return write_objects(folder, n_classes=16, n_sets=3, n_views=8, size=10)


def item(of="MSM", *, data=DATA, fold=0, seed=0, n_probes=None, outliers=None, **recipe):
    return ClassifyItem(
        data=data,
        recipe=Recipe(of=of, **recipe),
        fold=fold,
        seed=seed,
        n_probes=n_probes,
        outliers=outliers,
    )


def without_times(result):
    return {name: value for name, value in result.items() if not name.endswith("seconds")}


def test_answers_are_the_classifiers_own(folder):
    result = perform(item("MSM", parameters={"n_angles": 2}), folder)
    found = read_data(DATA, folder)
    gallery, probes = found.folds[0]
    clf = METHODS["MSM"](0).set_params(n_angles=2)
    expected = clf.fit(found.sets[gallery], found.labels[gallery]).predict(found.sets[probes])
    assert result["answers"] == {"": expected.tolist()}
    assert result["truth"] == found.labels[probes].tolist()
    assert result["probes"] == [found.sets.names[i] for i in probes]
    assert result["indices"] == probes.tolist()
    assert result["n_gallery"] == len(gallery)
    assert result["outlier_share"] == 0.0
    assert result["fit_seconds"] > 0 < result["probe_seconds"]


@pytest.mark.parametrize("of", ["CVC as in paper", "CVC"])
def test_fusing_members_up_to_a_dimensionality_is_a_smaller_cvc(folder, of):
    # Weights that the gallery chooses depend on all dimensionalities.
    parameters = {"weights": None, "dims": [1, 2, 3, 5], "evidence": ["clusters"]}
    parameters["representations"] = [["plain", "svd"], ["whitened", "centred"]]
    asked = item(of, data=OBJECTS, fusions=FUSIONS, parameters=parameters)
    answers = perform(asked, folder)["answers"]
    assert list(answers) == [f"{fusion}@{d}" for fusion in FUSIONS for d in (1, 2, 3, 5)]
    assert len({tuple(labels) for labels in answers.values()}) > 4
    sides = sides_of(asked, read_data(OBJECTS, folder))
    for fusion in FUSIONS:
        for n, largest in enumerate((1, 2, 3, 5), start=1):
            clf = classifier_of(asked).set_params(dims=(1, 2, 3, 5)[:n], fusion=fusion)
            clf.fit(sides.gallery, sides.gallery.labels)
            expected = clf.predict(sides.probes).tolist()
            assert answers[f"{fusion}@{largest}"] == expected, (fusion, largest)


def test_dimensionalities_that_tell_nothing_are_left_out(folder):
    few = Data(name="hands", n_vectors=3)
    asked = item("CVC as in paper", data=few, fusions=("mode",))
    assert list(perform(asked, folder)["answers"]) == ["mode@1", "mode@2", "mode@3"]


def test_probes_are_evenly_spread(folder):
    every = perform(item("mean vector"), folder)
    some = perform(item("mean vector", n_probes=4), folder)
    places = [0, 3, 5, 8]
    assert some["indices"] == [every["indices"][place] for place in places]
    assert some["answers"][""] == [every["answers"][""][place] for place in places]
    assert perform(item("mean vector", n_probes=99), folder)["indices"] == every["indices"]


def test_outliers_are_mixed_into_the_gallery(folder):
    found = read_data(DATA, folder)
    gallery, _ = found.folds[0]
    sides = sides_of(item(outliers=Outliers(into="gallery", n=2)), found)
    np.testing.assert_array_equal(
        sides.gallery.sizes, found.sets[gallery].sizes + 2 * (len(gallery) - 1)
    )
    # Three sets of each of three classes: six of the eight others are of another class.
    expected = 100 * np.mean(12 / found.sets[gallery].sizes)
    assert sides.outlier_share == pytest.approx(expected)
    assert sides.probes.sizes.sum() == found.sets[found.folds[0][1]].sizes.sum()


def test_outliers_are_mixed_into_the_probes_and_are_no_leak(folder):
    found = read_data(DATA, folder)
    gallery, probes = found.folds[0]
    asked = item(outliers=Outliers(into="probes", n=1))
    sides = sides_of(asked, found)
    np.testing.assert_array_equal(sides.probes.sizes, found.sets[probes].sizes + len(gallery))
    expected = 100 * np.mean(6 / found.sets[probes].sizes)
    assert sides.outlier_share == pytest.approx(expected)
    assert sides.gallery.sizes.sum() == found.sets[gallery].sizes.sum()
    of_gallery = set(map(bytes, found.sets[gallery].vectors))
    assert set(map(bytes, sides.probes[0][-len(gallery) :])) <= of_gallery
    assert len(perform(asked, folder)["answers"][""]) == len(probes)


@pytest.mark.parametrize("into", ["gallery", "probes"])
def test_outliers_are_the_same_for_all_methods_and_numbers_of_probes(folder, into):
    found = read_data(DATA, folder)
    outliers = Outliers(into=into, n=1)
    one = sides_of(item("MSM", outliers=outliers), found)
    other = sides_of(item("DCC", outliers=outliers), found)
    few = sides_of(item("DCC", outliers=outliers, n_probes=3), found)
    np.testing.assert_array_equal(one.gallery.vectors, other.gallery.vectors)
    np.testing.assert_array_equal(one.probes.vectors, other.probes.vectors)
    np.testing.assert_array_equal(one.probes[-1], few.probes[-1])
    another = sides_of(item("MSM", outliers=outliers, seed=1), found)
    changed = another.gallery if into == "gallery" else another.probes
    same = one.gallery if into == "gallery" else one.probes
    assert (changed.vectors != same.vectors).any()


def test_each_fold_method_and_seed_has_its_own_seed():
    seeds = {
        classifier_of(item(of, fold=fold, seed=seed)).random_state
        for of in ("CVC", "ISCRC")
        for fold in (0, 1)
        for seed in (0, 1)
    }
    assert len(seeds) == 8
    assert classifier_of(item("CVC")).random_state == seed_for(0, "hands", 0, "CVC")


def test_settings_for_images_are_known(folder):
    few = item("CVC for turntables", parameters={"dims": [1, 2]}, n_probes=3)
    assert len(perform(few, folder)["answers"][""]) == 3
    made = classifier_of(item("CVC for images"))
    assert isinstance(made, CVC)
    assert len(made.representations) == 9


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        (item("MSN"), ParameterError, r"no method 'MSN'.*Did you mean 'MSM'\?"),
        (item(parameters={"n_angle": 1}), ParameterError, r"'MSM'.*Did you mean 'n_angles'"),
        (item("CVC", parameters={"dims": [0]}), ParameterError, "dims"),
        (item(fusions=("mode",)), ParameterError, "'MSM': it has no votes to fuse by 'mode'"),
        (item(fold=1), DataError, "no fold 1. Expected 0 to 0"),
        (item(fold=-1), DataError, "no fold -1"),
        # What a method cannot do is an error here, not a row of zeros.
        (
            item("CVC for images", data=Data(name="hands", feature=Feature(name="hog",
                 parameters={"cell": 8}))),
            DataError,
            "looks at images, and the gallery holds vectors",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_is_refused(folder, asked, error, message):
    with pytest.raises(error, match=message):
        perform(asked, folder)


def test_results_are_the_same_again_and_beside_others(folder):
    items = [item("ISCRC"), item("CVC as in paper", parameters={"dims": [1, 2, 3]})]
    alone = [without_times(perform(one, folder)) for one in items]
    others = [item("mean vector"), *items, item("MSM", seed=3), *items]
    with ThreadPoolExecutor(4) as pool:
        beside = list(pool.map(lambda one: without_times(perform(one, folder)), others))
    assert beside[1:3] == beside[4:6] == alone


@pytest.mark.data
def test_msm_on_eth80(real):
    import datasets

    asked = item("MSM", data=Data(name="eth80"))
    result = perform(asked, datasets.data_folder())
    found = real("eth80")
    gallery, probes = found.folds[0]
    clf = METHODS["MSM"](0).fit(found.sets[gallery], found.labels[gallery])
    is_right = clf.predict(found.sets[probes]) == found.labels[probes]
    mine = np.array(result["answers"][""]) == np.array(result["truth"])
    np.testing.assert_array_equal(mine, is_right)
    assert mine.mean() > 0.85
