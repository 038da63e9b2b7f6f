"""Views that look at images: HOG and the like vote beside the pixels."""

import pickle

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.decomposition import PCA
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from tests.striped_sets import striped_sets

from setwise import CVC, SetBatch
from setwise.errors import DataError, ParameterError
from setwise.features import HOG, LBP, ImageFeature, Pixels, Whitener


def every(views, *bases):
    """Every view with every basis."""
    return [(view, basis) for view in views for basis in bases]


VIEWS = (("pixels", Pixels(8)), ("hog", HOG(cell=4)), ("lbp", LBP(patch=8)))


@pytest.fixture(scope="module")
def gallery():
    return striped_sets(3)


@pytest.fixture(scope="module")
def probes():
    return striped_sets(2, seed=1)


@pytest.fixture(scope="module")
def clf(gallery):
    return CVC((1, 2, 3), representations=every(VIEWS, "centred")).fit(gallery, gallery.labels)


def test_image_views_label_sets_of_images(clf, probes):
    assert clf.predict(probes).tolist() == probes.labels.tolist()


def test_probes_may_be_vectors_of_the_same_pixels(clf, probes):
    np.testing.assert_array_equal(
        clf.predict_proba(probes), clf.predict_proba([s.astype(float) for s in probes])
    )


def test_explain_shows_the_layers_of_every_view(clf, probes):
    why = clf.explain(probes[0])
    assert why.label == probes.labels[0]
    assert {vote.representation for vote in why.votes} == {
        "pixels centred", "hog centred", "lbp centred",
    }  # fmt: skip


def test_a_view_may_be_a_pipeline_that_begins_with_an_image_feature(gallery, probes):
    views = (("hog", make_pipeline(HOG(cell=4), PCA(5, random_state=0), Whitener())),)
    found = CVC((1, 2), representations=every(views, "svd")).fit(gallery, gallery.labels)
    assert found.predict(probes).tolist() == probes.labels.tolist()


def test_enrolling_images_is_fitting_with_them(gallery, probes):
    def make():
        return CVC((1, 2), representations=every((*VIEWS[1:], "whitened"), "centred"))

    grown = make().fit(gallery[:6], gallery.labels[:6]).enroll(gallery[6:], gallery.labels[6:])
    fresh = make().fit(gallery, gallery.labels)
    np.testing.assert_allclose(
        grown.decision_function(probes), fresh.decision_function(probes), atol=1e-9
    )


def test_enrolling_looks_only_at_the_new_images(gallery):
    seen = []

    class Watched(Pixels):
        def compute(self, images):
            seen.append(len(images))
            return super().compute(images)

    clf = CVC((1, 2), representations=[(Watched(4), "svd")], weights=None)
    clf.fit(gallery[:6], gallery.labels[:6])
    seen.clear()
    clf.enroll(gallery[6:7], gallery.labels[6:7])
    assert seen == [len(gallery[6])]


def test_representations_that_share_a_view_compute_it_once(gallery):
    seen = []

    class Watched(Pixels):
        def compute(self, images):
            seen.append(len(images))
            return super().compute(images)

    clf = CVC(
        (1,), representations=every([Watched(4)], "svd", "centred", "means"), weights=None,
        outliers=None,
    )  # fmt: skip
    clf.fit(gallery, gallery.labels)
    assert sum(seen) == len(gallery.vectors)


def test_vectors_in_the_gallery_are_refused_by_a_view_of_images(gallery):
    rows = [s.astype(float) for s in gallery]
    with pytest.raises(DataError, match=r"view 'hog' looks at images.*SetBatch\.from_images"):
        CVC(representations=[(("hog", HOG(cell=4)), "svd")]).fit(rows, gallery.labels)


def test_probes_of_another_shape_are_refused(clf, probes):
    turned = SetBatch.from_images([i.swapaxes(1, 2) for i in images_of(probes)])
    with pytest.raises(DataError, match=r"\(24, 16\).*gallery of shape \(16, 24\)"):
        clf.predict(turned)


def images_of(batch):
    return [batch.images[a:b] for a, b in zip(batch.offsets, batch.offsets[1:], strict=False)]


@pytest.mark.filterwarnings("ignore::setwise.errors.GuessingWarning")  # of few sets
def test_image_views_work_in_cross_validation(gallery):
    clf = CVC((1, 2), representations=[(("hog", HOG(cell=4)), "centred")])
    assert cross_val_score(clf, gallery, gallery.labels, cv=3).mean() > 0.8


def test_labels_do_not_depend_on_threads_or_order(gallery, probes):
    one = CVC((1, 2), representations=every(VIEWS, "svd", "centred"), n_jobs=1)
    two = CVC((1, 2), representations=every(VIEWS, "svd", "centred"), n_jobs=2)
    one.fit(gallery, gallery.labels)
    two.fit(gallery, gallery.labels)
    np.testing.assert_array_equal(one.predict_proba(probes), two.predict_proba(probes))
    np.testing.assert_array_equal(
        one.predict_proba(probes)[::-1], one.predict_proba(probes[::-1])
    )


def test_features_are_not_classifiers_own_business(gallery, probes):
    pipe = make_pipeline(
        HOG(cell=4),
        CVC((1, 2), representations=[("plain", "centred"), ("whitened", "centred")]),
    )
    assert pipe.fit(gallery, gallery.labels).score(probes, probes.labels) == 1.0
    assert isinstance(pipe[0], ImageFeature)


def test_for_images_labels_sets_of_images(gallery, probes):
    clf = CVC.for_images(("pixels", "edges"), dims=(1, 2, 3)).fit(gallery, gallery.labels)
    assert clf.score(probes, probes.labels) == 1.0
    assert {layer.representation.view.name for layer in clf.layers_} >= {"pixels", "fine edges"}


@pytest.mark.parametrize("make", [CVC.for_images, CVC.for_turntables])
def test_settings_for_images_can_be_cloned_and_pickled(gallery, probes, make, no_networks):
    clf = make(dims=(1, 2)).fit(gallery, gallery.labels)
    again = pickle.loads(pickle.dumps(clone(clf).fit(gallery, gallery.labels)))
    np.testing.assert_array_equal(clf.predict_proba(probes), again.predict_proba(probes))


def test_only_the_views_that_are_named_are_computed(gallery):
    by_name = {view: (view, transformer) for view, transformer in VIEWS[1:]}
    chosen = [(by_name["hog"], "svd"), (VIEWS[0], "centred")]
    clf = CVC((1,), representations=chosen).fit(gallery, gallery.labels)
    names = [str(layer.representation) for layer in clf.layers_]
    assert names == ["hog svd", "pixels centred"]
    assert set(clf.gallery_.views) == {"hog", "pixels"}


def test_one_name_stands_for_one_view(gallery):
    chosen = [(HOG(cell=4), "svd"), (HOG(cell=4), "centred")]
    clf = CVC((1,), representations=chosen).fit(gallery, gallery.labels)
    assert set(clf.gallery_.views) == {"hog"}
    with pytest.raises(ParameterError, match=r"views of different names.*'hog'"):
        CVC(representations=[(HOG(cell=4), "svd"), (HOG(cell=8), "svd")]).fit(
            gallery, gallery.labels
        )


def test_views_that_begin_with_the_same_feature_compute_it_once(gallery):
    seen = []

    class Watched(Pixels):
        def compute(self, images):
            seen.append(len(images))
            return super().compute(images)

    chosen = [(Watched(4), "svd"), (make_pipeline(Watched(4), Whitener()), "svd")]
    CVC((1,), representations=chosen, weights=None, outliers=None).fit(gallery, gallery.labels)
    assert sum(seen) == len(gallery.vectors)


def test_for_images_takes_the_parameters_of_the_class():
    assert CVC.for_images(fusion="sum").fusion == "sum"
    assert CVC.for_turntables(cut="exact").cut == "exact"


def test_for_images_says_that_it_needs_images(gallery):
    with pytest.raises(DataError, match="looks at images, and the gallery holds vectors"):
        CVC.for_images().fit([s.astype(float) for s in gallery], gallery.labels)


def test_settings_for_images_see_colour_and_any_size():
    rng = np.random.default_rng(0)
    reds = [rng.integers(150, 250, (6, 30, 21, 3)) * [1, 0, 0] for _ in range(4)]
    blues = [rng.integers(150, 250, (6, 30, 21, 3)) * [0, 0, 1] for _ in range(4)]
    sets = SetBatch.from_images([*reds, *blues])
    labels = np.repeat(["red", "blue"], 4)
    clf = CVC((1,), representations=[(("pixels", Pixels(20)), "svd")], weights=None)
    clf.fit(sets[::2], labels[::2])
    assert set(clf.predict(sets[1::2])) <= {"red", "blue"}
    (answer,) = clf.judge([sets[1].astype(float)])
    assert answer.label == "red"
