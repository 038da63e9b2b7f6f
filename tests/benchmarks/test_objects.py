"""Made objects: the same every time, distinct, and where they are claimed to be."""

import numpy as np
import pytest

from render_objects import write_archive
from rendering.objects import (
    _class_positions,
    make_object_views,
    object_view_angles,
    object_view_outliers,
)
from rendering.shapes import FAMILIES, LUMINANCE
from setwise import CVC, SetBatch
from setwise.errors import ParameterError
from setwise_paper.datasets import load

SMALL = {"n_sets": 2, "n_views": 6, "size": 16}


@pytest.fixture(scope="module")
def six():
    """One class of each family."""
    return make_object_views(6, **SMALL)


def test_sets_are_images_with_names_and_labels(six):
    assert isinstance(six, SetBatch)
    assert six.images.shape == (6 * 2 * 6, 16, 16)
    assert six.vectors.dtype == np.uint8
    assert (six.sizes == 6).all()
    assert six.labels.tolist() == [f"{f.name} 1" for f in FAMILIES for _ in range(2)]
    assert six.names[:3] == ("fruit 1/object 1", "fruit 1/object 2", "animal 1/object 1")


def test_images_are_neither_dark_nor_glaring(six):
    assert 60 < six.vectors.mean() < 160
    assert np.mean(six.vectors == 255) < 0.02
    assert (six.vectors.std(axis=1) > 5).all()


def test_same_seed_same_bytes_whatever_n_jobs(six):
    for n_jobs in (1, 3):
        again = make_object_views(6, **SMALL, n_jobs=n_jobs)
        assert again.vectors.tobytes() == six.vectors.tobytes()
    other = make_object_views(6, **SMALL, random_state=1)
    assert (other.vectors != six.vectors).any(axis=1).all()


def test_a_set_does_not_depend_on_how_many_others_there_are(six):
    fewer = make_object_views(3, 1, 6, size=16)
    wanted = six[[0, 2, 4]]
    assert fewer.names == wanted.names
    np.testing.assert_array_equal(fewer.vectors, wanted.vectors)
    more = make_object_views(14, 1, 6, size=16)
    np.testing.assert_array_equal(more[:6].vectors, six[::2].vectors)
    assert more.labels[-2:].tolist() == ["fruit 3", "animal 3"]


def test_no_two_sets_are_alike(six):
    assert len(np.unique([one.tobytes() for one in six])) == len(six)


def test_classes_stay_distinct_however_many_there_are():
    positions = _class_positions(0, 150)
    for first in range(len(FAMILIES)):
        of_family = np.array(positions[first :: len(FAMILIES)])
        apart = np.linalg.norm(of_family[:, None] - of_family[None], axis=-1)
        # Two random points of a cube of so many dimensions are sqrt(n / 6) apart.
        assert apart[~np.eye(len(apart), dtype=bool)].min() > 0.5 * np.sqrt(
            of_family.shape[1] / 6
        )


@pytest.mark.parametrize("size", [4, 33, 48])
def test_any_size(size):
    assert make_object_views(1, 1, 2, size=size).images.shape == (2, size, size)


def test_an_image_shows_the_same_at_any_size():
    small, large = (make_object_views(4, 1, 3, size=s, noise=0).images for s in (16, 64))
    shrunk = large.reshape(12, 16, 4, 16, 4).mean(axis=(2, 4))
    assert np.abs(shrunk - small).mean() < 4


def test_grey_is_the_luminance_of_colour():
    grey, colour = (
        make_object_views(4, 1, 3, size=16, noise=0, colour=c).images for c in (False, True)
    )
    assert colour.shape == (12, 16, 16, 3)
    unclipped = colour.max(axis=-1) < 255
    assert np.abs(colour @ LUMINANCE - grey)[unclipped].max() < 1.01
    assert colour.std(axis=-1).max() > 20


def test_noise_is_as_strong_as_asked_for():
    plain, noisy = (
        make_object_views(2, 1, 5, size=20, noise=n).vectors.astype(float) for n in (0, 5)
    )
    inside = (plain > 30) & (plain < 225)
    assert (noisy - plain)[inside].std() == pytest.approx(5, rel=0.05)


def test_41_views_are_those_of_eth80(real):
    import datasets

    table = np.load(datasets.data_folder() / "eth80_64x64.npz")
    np.testing.assert_array_equal(object_view_angles(41), table["view_angles"][:41])


def test_41_views_are_the_known_rings():
    polar, n_in_ring = np.unique(object_view_angles(41)[:, 0], return_counts=True)
    assert polar.tolist() == [0, 22, 35, 45, 66, 68, 90]
    assert n_in_ring.tolist() == [1, 4, 4, 4, 8, 4, 16]


def test_other_numbers_of_views_are_spread_evenly():
    polar, azimuth = np.deg2rad(object_view_angles(100).T)
    assert polar.max() < np.pi / 2
    sine = np.sin(polar)
    places = np.stack([sine * np.cos(azimuth), sine * np.sin(azimuth), np.cos(polar)], axis=1)
    cosines = np.sort(places @ places.T - 2 * np.eye(100), axis=1)
    nearest = np.arccos(cosines[:, -1])
    # 100 discs of equal area on half a sphere have a radius of sqrt(2 / 100).
    assert nearest.min() > np.sqrt(0.02)
    assert nearest.max() < 2.5 * np.sqrt(0.02)


def test_neighbouring_views_are_nearer_than_opposite_ones():
    sets = make_object_views(3, 2, 41, size=20, noise=0)
    # What looks the same from all sides, as fruit do, tells little.
    for name, images in zip(sets.names, sets, strict=True):
        ring = images[object_view_angles(41)[:, 0] == 90].astype(float)
        by_turn = [
            np.linalg.norm(ring - np.roll(ring, turn, axis=0), axis=1).mean()
            for turn in range(9)
        ]
        assert by_turn[1] < by_turn[8], name
    assert by_turn[1] < 0.7 * by_turn[8]  # of a cup, whose handle changes sides


def test_outliers_are_where_the_mask_says_and_nowhere_else(six):
    mask = object_view_outliers(6, 2, 6, n_outliers=2)
    assert (mask.sum(axis=1) == 2).all()
    assert len(np.unique(mask, axis=0)) > 3
    mixed = make_object_views(6, **SMALL, n_outliers=2)
    differs = (mixed.vectors != six.vectors).mean(axis=1) > 0.5
    np.testing.assert_array_equal(differs, mask.ravel())


def test_outliers_show_objects_of_other_classes():
    # Fruit and animals: each outlier must look like the views of the other class.
    plain = make_object_views(2, 6, 6, size=16, noise=0).images.reshape(2, 6, 6, -1)
    mixed = make_object_views(2, 6, 6, size=16, noise=0, n_outliers=1).images
    mask = object_view_outliers(2, 6, 6, n_outliers=1).reshape(2, 6, 6)
    mixed = mixed.reshape(2, 6, 6, -1).astype(float)
    nearer_to_other = []
    for own, number, view in np.argwhere(mask):
        away = np.linalg.norm(plain[:, :, view] - mixed[own, number, view], axis=-1).min(axis=1)
        nearer_to_other.append(away[1 - own] < away[own])
    assert np.mean(nearer_to_other) > 0.9


def test_cvc_tells_the_classes_apart():
    sets = make_object_views(6, 4, 15, size=16)
    is_probe = np.arange(len(sets)) % 4 == 3
    gallery, probes = sets[~is_probe], sets[is_probe]
    clf = CVC(dims=(1, 2, 3), random_state=0).fit(gallery, gallery.labels)
    assert clf.score(probes, probes.labels) >= 4 / 6


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_classes", 0),
        ("n_sets", 0),
        ("n_sets", 1.5),
        ("n_views", 0),
        ("size", 3),
        ("size", 1025),
        ("size", 20.0),
        ("n_jobs", 0),
        ("colour", "yes"),
        ("n_outliers", -1),
        ("n_outliers", 42),
        ("noise", -1.0),
        ("noise", np.ones(2)),
        ("noise", np.nan),
        ("random_state", -1),
        ("random_state", None),
    ],
)
def test_bad_parameters_are_refused_by_name(name, value):
    with pytest.raises(ParameterError, match=f"make_object_views: {name} must be .*, got"):
        make_object_views(**{name: value})


def test_one_class_has_no_outliers():
    with pytest.raises(ParameterError, match=r"n_outliers must be .* one class only, got 1"):
        make_object_views(1, 1, 3, n_outliers=1)
    with pytest.raises(ParameterError, match="object_view_outliers: n_outliers"):
        object_view_outliers(1, 1, 3, n_outliers=1)


def test_an_archive_of_them_is_read_as_it_was_made(six, tmp_path):
    write_archive(six, tmp_path / "deep" / "objects.npz")
    sets = load("objects", tmp_path / "deep").sets
    np.testing.assert_array_equal(sets.images, six.images)
    assert sets.labels.tolist() == six.labels.tolist()
    assert sets.names == six.names
