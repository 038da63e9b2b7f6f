"""The renderer against what geometry and Lambert's law say of simple bodies."""

import numpy as np
import pytest
from scipy.ndimage import binary_fill_holes

from rendering.shapes import FAMILIES, ellipsoid, painted, superellipsoid
from rendering.surfels import Patch, Room, Viewpoint, render, sample_patches, visible_surfels

VIEWS = [Viewpoint(0, 0), Viewpoint(35, 45), Viewpoint(66, 243), Viewpoint(90, 180)]
SOLID = [family for family in FAMILIES if family.name in ("fruit", "vase", "stone")]
LAMP = np.array([0.5, -0.4, 0.8])


def ball(radius, n_pixels, centre=(0, 0, 0)):
    return sample_patches([Patch(ellipsoid(centre, (radius,) * 3))], n_pixels)


def pixel_centres(n_pixels):
    centres = (np.arange(n_pixels) + 0.5) * 2 / n_pixels - 1
    return np.meshgrid(centres, -centres)


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("n_pixels", [24, 131])
def test_a_ball_is_seen_as_a_disc(view, n_pixels):
    radius, half_diagonal = 0.71, np.sqrt(2) / n_pixels
    seen = visible_surfels(ball(radius, n_pixels), view, n_pixels) >= 0
    distance = np.hypot(*pixel_centres(n_pixels))
    assert seen[distance < radius - half_diagonal].all()
    assert not seen[distance > radius + half_diagonal].any()


@pytest.mark.parametrize("view", VIEWS)
def test_a_shifted_ball_is_seen_where_it_is(view):
    there = Viewpoint(view.polar, view.azimuth, (0.2, 0.1))
    seen = visible_surfels(ball(0.5, 80), there, 80) >= 0
    x, y = pixel_centres(80)
    assert x[seen].mean() == pytest.approx(0.2, abs=0.01)
    assert y[seen].mean() == pytest.approx(0.1, abs=0.01)


def test_normals_of_an_ellipsoid_are_the_gradient_of_its_equation():
    radii = np.array([0.3, 0.8, 0.5])
    surfels = sample_patches([Patch(ellipsoid((0.1, 0, 0), radii))], 40)
    gradient = (surfels.points - [0.1, 0, 0]) / radii**2
    gradient /= np.linalg.norm(gradient, axis=1, keepdims=True)
    np.testing.assert_allclose(surfels.normals, gradient, atol=1e-5)


def test_points_of_a_superellipsoid_satisfy_its_equation():
    surfels = sample_patches([Patch(superellipsoid((0, 0, 0), (0.3, 0.8, 0.5), 4.0))], 40)
    np.testing.assert_allclose(
        (np.abs(surfels.points / [0.3, 0.8, 0.5]) ** 4).sum(axis=1), 1.0, atol=1e-12
    )


@pytest.mark.parametrize("view", VIEWS)
def test_a_matt_ball_is_lit_by_lamberts_law(view):
    radius, n_pixels, ambient = 0.8, 100, 0.3
    surfels = ball(radius, n_pixels)
    room = Room(light=LAMP, ambient=ambient)
    colours = np.full((len(surfels.points), 1), 0.9)
    picture = render(surfels, colours, view, room, n_pixels, supersample=1)[..., 0]
    x, y = (c / radius for c in pixel_centres(n_pixels))
    inside = np.hypot(x, y) < 0.9
    towards = np.sqrt(1 - np.minimum(x**2 + y**2, 1))
    # What the camera sees of the lamp: it is fixed in the room, and the camera is tilted.
    forward, right, up = LAMP / np.linalg.norm(LAMP)
    sine, cosine = np.sin(np.deg2rad(view.polar)), np.cos(np.deg2rad(view.polar))
    cosine_to_lamp = (
        x * right
        + y * (up * sine - forward * cosine)
        + towards * (forward * sine + up * cosine)
    )
    expected = 0.9 * (ambient + (1 - ambient) * np.maximum(cosine_to_lamp, 0))
    assert np.abs(picture - expected)[inside].max() < 0.03
    # Of the points in a pixel the nearest is seen, which is not quite the middle one.
    assert np.abs((picture - expected)[inside].mean()) < 0.004


def test_the_lamp_stays_when_the_object_turns():
    surfels = ball(0.7, 40)
    colours, room = np.ones((len(surfels.points), 1)), Room(light=LAMP)
    first, second = (
        render(surfels, colours, Viewpoint(60, azimuth), room, 20) for azimuth in (0, 130)
    )
    assert np.abs(first - second).mean() < 0.005
    assert first.std() > 0.1


def test_gloss_adds_a_highlight_and_nothing_else():
    surfels = ball(0.7, 40)
    colours, room = np.full((len(surfels.points), 1), 0.5), Room(light=LAMP)
    matt, shiny = (
        render(surfels, colours, Viewpoint(60, 0), room, 20, gloss=g) for g in (0.0, 0.5)
    )
    assert 0.3 < (shiny - matt).max() <= 0.5
    assert (shiny - matt).min() >= 0
    assert np.mean(shiny - matt > 0.05) < 0.15


@pytest.mark.parametrize(("azimuth", "nearer"), [(0, 1), (180, 0)])
def test_the_nearer_of_two_balls_hides_the_other(azimuth, nearer):
    patches = [Patch(ellipsoid((x, 0, 0), (0.3,) * 3)) for x in (-0.5, 0.5)]
    surfels = sample_patches(patches, 50)
    seen = visible_surfels(surfels, Viewpoint(90, azimuth), 50)
    visible = surfels.points[seen[seen >= 0], 0]
    assert (np.sign(visible) == (1 if nearer else -1)).all()


def test_up_is_up_and_the_top_view_looks_down():
    np.testing.assert_allclose(
        Viewpoint(90, 0).axes, [[0, 1, 0], [0, 0, 1], [1, 0, 0]], atol=1e-12
    )
    np.testing.assert_allclose(Viewpoint(0, 0).axes[2], [0, 0, 1], atol=1e-12)
    for view in VIEWS:
        np.testing.assert_allclose(view.axes @ view.axes.T, np.eye(3), atol=1e-12)
        assert np.linalg.det(view.axes) == pytest.approx(1.0)


def test_what_is_outside_the_image_is_left_out():
    seen = visible_surfels(ball(3.0, 20), Viewpoint(40, 0), 20)
    assert (seen >= 0).all()
    far = ball(0.3, 20, centre=(0, 5, 0))
    assert (visible_surfels(far, Viewpoint(40, 0), 20) == -1).all()


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("family", SOLID, ids=lambda f: f.name)
def test_solid_bodies_have_no_holes(family, share):
    surfels = family.sample(middle(family, share), 60)
    for view in VIEWS:
        seen = visible_surfels(surfels, view, 60) >= 0
        assert seen.sum() > 100
        assert (binary_fill_holes(seen) == seen).all()


@pytest.mark.parametrize("family", FAMILIES, ids=lambda f: f.name)
def test_surfels_are_finite_with_unit_normals(family):
    surfels = sample_patches(family.build(middle(family, 0.3)), 40)
    assert np.isfinite(surfels.points).all()
    np.testing.assert_allclose(np.linalg.norm(surfels.normals, axis=1), 1.0, atol=1e-9)
    colours = painted(surfels, middle(family, 0.3), np.random.default_rng(0))
    assert colours.shape == (len(surfels.points), 3)
    assert colours.min() >= 0


def middle(family, share):
    return {name: low + share * (high - low) for name, (low, high) in family.all_ranges.items()}
