"""Families of shapes, and paint: what a class of made objects may look like.

A family turns named numbers (height, length of the legs, ...) into surfaces, others say how
these are painted. A class is a point in the ranges of the numbers, an object of the class a
point near it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from rendering.surfels import Patch, Surface, Surfels, rough_points, sample_patches
from setwise._support.types import FloatArray

__all__ = [
    "FAMILIES",
    "LOOK",
    "LUMINANCE",
    "Family",
    "ellipsoid",
    "painted",
    "revolution",
    "superellipsoid",
    "tube",
]

Numbers: TypeAlias = Mapping[str, float]
Place: TypeAlias = Sequence[float] | FloatArray

# Ranges of the numbers of the look, where a family has none of its own.
LOOK = {
    "brightness": (0.35, 0.95),
    "contrast": (0.0, 0.7),
    "frequency": (2.0, 8.0),
    "sharpness": (0.5, 5.0),
    "hue": (0.0, 1.0),
    "saturation": (0.1, 0.7),
}
# Share of half the image that the farthest point of an object reaches.
REACH = 0.85
LUMINANCE = np.array([0.299, 0.587, 0.114])


@dataclass(frozen=True)
class Family:
    """A kind of shape.

    Attributes
    ----------
    name : str
        What it is called; classes are named after it.
    ranges : dict of str to (float, float)
        Lowest and highest value of each number of the shape, and of those numbers of the
        look that differ from ``LOOK``.
    build : callable
        Makes patches of such numbers. Up is z, and long shapes lie along y. The size does
        not matter: objects are scaled to fill the image.
    gloss : float
        How shiny its objects may be.
    """

    name: str
    ranges: Mapping[str, tuple[float, float]]
    build: Callable[[Numbers], list[Patch]]
    gloss: float = 0.0

    @property
    def all_ranges(self) -> dict[str, tuple[float, float]]:
        """Ranges of the numbers of the look, then of those of the shape."""
        return {**LOOK, **self.ranges}

    def sample(self, numbers: Numbers, n_pixels: int) -> Surfels:
        """Points of an object, centred and scaled to fill images of ``n_pixels``."""
        patches = self.build(numbers)
        rough = rough_points(patches)
        centre = (rough.min(axis=0) + rough.max(axis=0)) / 2.0
        scale = REACH / float(np.linalg.norm(rough - centre, axis=1).max())
        return sample_patches(patches, int(np.ceil(n_pixels * scale))).moved(-centre, scale)


def painted(surfels: Surfels, numbers: Numbers, rng: np.random.Generator) -> FloatArray:
    """Red, green and blue of each point: two tones in a random pattern."""
    hues = numbers["hue"] + np.array([0.0, 1.0, 2.0]) / 3.0
    base = 1.0 - numbers["saturation"] * (0.5 + 0.5 * np.cos(2 * np.pi * hues))
    base *= numbers["brightness"] / (base @ LUMINANCE)
    # Smooth noise in space; the sharper, the more it looks like patches.
    waves = numbers["frequency"] * rng.standard_normal((3, 6))
    phases = rng.uniform(0.0, 2 * np.pi, 6)
    height = np.sin(surfels.points @ waves + phases).sum(axis=1) / np.sqrt(3.0)
    tone = 0.5 + 0.5 * np.tanh(numbers["sharpness"] * height)
    shade = surfels.paint * (1.0 - numbers["contrast"] * tone * surfels.is_textured)
    return np.asarray(shade[:, None] * base)


def superellipsoid(
    centre: Place, radii: Place, exponent: float = 2.0, pitch: float = 0.0
) -> Surface:
    """A ball (exponent 2) or rounded box (above 2), tilted by ``pitch`` degrees about x."""
    middle, half, turned = np.array(centre), np.array(radii), _about_x(pitch)

    def surface(u: FloatArray, v: FloatArray) -> FloatArray:
        direction = _directions(u, v)
        reach = (np.abs(direction) ** exponent).sum(axis=-1, keepdims=True) ** (1 / exponent)
        return np.asarray((direction / reach * half) @ turned.T + middle)

    return surface


def ellipsoid(centre: Place, radii: Place, pitch: float = 0.0) -> Surface:
    """An ellipsoid, tilted by ``pitch`` degrees about x."""
    return superellipsoid(centre, radii, 2.0, pitch)


def revolution(radius: FloatArray, height: FloatArray) -> Surface:
    """A profile turned about the vertical axis, smooth through the points given.

    From the top down, the outside is on the outside; upwards it is on the inside.
    """
    from scipy.interpolate import PchipInterpolator

    steps = np.linspace(0.0, 1.0, len(radius))
    profile = PchipInterpolator(steps, np.stack([radius, height], axis=1))

    def surface(u: FloatArray, v: FloatArray) -> FloatArray:
        r, z = np.moveaxis(profile(v), -1, 0)
        return np.stack([r * np.cos(2 * np.pi * u), r * np.sin(2 * np.pi * u), z], axis=-1)

    return surface


def tube(top: Place, bottom: Place, reach: float, thickness: float) -> Surface:
    """A bow in the plane of y and z, from one point down to another: a handle."""
    upper, lower = np.array([0.0, *top]), np.array([0.0, *bottom])
    tall = (upper[2] - lower[2]) / 2

    def surface(u: FloatArray, v: FloatArray) -> FloatArray:
        angle = np.pi * (0.5 - v)
        ring = np.stack([np.zeros_like(u), np.cos(angle), np.sin(angle)], axis=-1)
        chord = (upper + lower) / 2 + np.sin(angle)[..., None] * (upper - lower) / 2
        path = chord + ring * np.array([0.0, reach, 0.0])
        outwards = ring * np.array([0.0, tall, reach]) / np.hypot(
            tall * np.cos(angle), reach * np.sin(angle)
        )[..., None]  # fmt: skip
        around = 2 * np.pi * u[..., None]
        across = np.array([1.0, 0.0, 0.0])
        return np.asarray(
            path + thickness * (np.cos(around) * across + np.sin(around) * outwards)
        )

    return surface


def _directions(u: FloatArray, v: FloatArray) -> FloatArray:
    """Unit vectors of longitude ``u`` and, from the north pole down, latitude ``v``."""
    phi, theta = 2 * np.pi * u, np.pi * v
    return np.stack(
        [np.sin(theta) * np.cos(phi), np.sin(theta) * np.sin(phi), np.cos(theta)], axis=-1
    )


def _about_x(degrees: float) -> FloatArray:
    c, s = np.cos(np.deg2rad(degrees)), np.sin(np.deg2rad(degrees))
    return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])


def _fruit(p: Numbers) -> list[Patch]:
    theta = np.linspace(0.0, np.pi, 40)
    upper = (0.5 + 0.5 * np.cos(theta)) ** 1.5
    radius = np.sin(theta) * (1.0 - p["neck"] * upper)
    dents = p["dimple"] * (
        np.exp(-((theta / 0.5) ** 2)) - 0.5 * np.exp(-((theta - np.pi) ** 2))
    )
    height = p["height"] * (np.cos(theta) + p["neck"] * upper) - dents
    top = float(height[0])
    stem = ellipsoid((0, 0, top + p["stem"] / 2), (0.05, 0.05, p["stem"] / 2 + 0.05), 12.0)
    return [Patch(revolution(radius, height)), Patch(stem, 0.3, is_textured=False)]


def _vase(p: Numbers) -> list[Patch]:
    lip, neck, belly = p["lip"] + p["neck"], p["neck"], p["belly"]
    shoulder = (neck + belly) / 2
    inside, outside = [0.0, 0.8 * neck, 0.94 * lip], [lip, neck, shoulder, belly]
    radius = np.array([*inside, *outside, p["waist"] * belly, p["foot"], 0.0])
    height = np.array([0.75, 0.78, 1.0, 0.98, 0.72, 0.4, p["belly_at"], -0.6, -1.0, -1.0])
    return [Patch(revolution(radius, height * p["height"]))]


def _cup(p: Numbers) -> list[Patch]:
    tall, foot, belly, wall = p["height"], p["foot"], p["belly"], 0.07
    outer = np.array([1.0, (1 + belly) / 2, belly, (foot + belly) / 2 + 0.05, foot])
    heights = tall * np.array([1.0, 0.5, 0.0, -0.6, -1.0])
    radius = np.concatenate([[0.0], outer[:0:-1] - wall, [1 - wall, 1.0], outer[1:], [0.0]])
    inside = heights[:0:-1] + np.array([wall, 0, 0, 0])
    height = np.concatenate([[inside[0]], inside, heights[[0, 0]], heights[1:], heights[-1:]])
    ends = tall * np.array([0.35 + 0.3 * p["handle"], -0.25 - 0.3 * p["handle"]])
    at = np.interp(-ends, -heights, outer) - 0.8 * wall
    handle = tube((at[0], ends[0]), (at[1], ends[1]), p["handle"] + 0.15, 0.09)
    return [Patch(revolution(radius, height)), Patch(handle)]


def _animal(p: Numbers) -> list[Patch]:
    long, girth, legs, neck = p["length"], p["girth"], p["legs"], p["neck"]
    rise = np.deg2rad(p["rise"])
    shoulder = np.array([0.0, -0.85 * long, 0.3 * girth])
    along = np.array([0.0, -np.cos(rise), np.sin(rise)])
    head = shoulder + along * neck
    skull = p["head"]
    muzzle = head + skull * np.array([0.0, -0.9, -0.35])
    patches = [
        Patch(ellipsoid((0, 0, 0), (0.8 * girth, long, girth))),
        Patch(ellipsoid((0, -0.6 * long, 0.05), (0.78 * girth, 0.45 * long, 0.98 * girth))),
        Patch(ellipsoid((0, 0.65 * long, 0.08), (0.8 * girth, 0.4 * long, 0.95 * girth))),
        Patch(ellipsoid(shoulder + along * neck / 2,
                        (0.42 * girth, neck / 2 + 0.15, 0.5 * girth), -p["rise"])),
        Patch(ellipsoid(head, (0.6 * skull, 0.85 * skull, 0.75 * skull), 20.0)),
        Patch(ellipsoid(muzzle, (0.4 * skull, 0.7 * skull, 0.4 * skull), 20.0), 0.8),
        Patch(ellipsoid((0, long + 0.1, 0.3 * girth - p["tail"] / 2),
                        (0.07, 0.1, p["tail"] / 2 + 0.15), 15.0), 0.8),
    ]  # fmt: skip
    for side in (-1, 1):
        ear = head + skull * np.array([0.4 * side, 0.25, 0.75])
        patches.append(Patch(ellipsoid(ear, (0.12, 0.08, p["ears"]), 10.0), 0.7))
        for y in (-0.68 * long, 0.78 * long):
            thick = p["leg_width"]
            upper = (0.42 * side * girth, y, -0.55 * girth - 0.25 * legs)
            lower = (0.42 * side * girth, y + 0.03, -0.6 * girth - 0.65 * legs)
            patches.append(Patch(ellipsoid(upper, (1.3 * thick, 1.7 * thick, 0.45 * legs))))
            patches.append(Patch(ellipsoid(lower, (thick, thick, 0.45 * legs)), 0.85))
    return patches


def _car(p: Numbers) -> list[Patch]:
    long, wide, tall, square = p["length"], p["width"], p["height"], p["square"]
    at, cabin, roof = p["cabin_at"] * long, p["cabin"] * long, p["roof"] + 0.45 * tall
    front, pane = (0, -0.97 * long, 0.1 * tall), (0, at, 0.55 * tall + 0.55 * roof)
    patches = [
        Patch(superellipsoid((0, 0, 0), (wide, long, tall), square)),
        Patch(superellipsoid((0, at, 0.55 * tall), (0.85 * wide, cabin, roof), 3.0)),
        Patch(superellipsoid(pane, (0.84 * wide, 0.7 * cabin, 0.22 * roof), 5.0), 0.3, False),
        Patch(superellipsoid(pane, (0.68 * wide, 0.98 * cabin, 0.22 * roof), 5.0), 0.3, False),
        Patch(superellipsoid(front, (0.8 * wide, 0.06, 0.3 * tall), 4.0), 0.4, False),
    ]  # fmt: skip
    for side in (-1, 1):
        for y in (-0.6 * long, 0.6 * long):
            place, size = (0.9 * side * wide, y, -0.85 * tall), p["wheel"]
            tyre = superellipsoid(place, (0.16 * wide, size, size), 2.5)
            hub = ellipsoid((1.04 * side * wide, *place[1:]), (0.05, 0.5 * size, 0.5 * size))
            patches.append(Patch(tyre, 0.12, is_textured=False))
            patches.append(Patch(hub, 0.9, is_textured=False))
    return patches


def _stone(p: Numbers) -> list[Patch]:
    def surface(u: FloatArray, v: FloatArray) -> FloatArray:
        direction = _directions(u, v)
        x, y, z = np.moveaxis(direction, -1, 0)
        # Real spherical harmonics of degrees 2 and 3, up to a factor.
        bumps = (
            p["xy"] * x * y + p["yz"] * y * z + p["xz"] * x * z + p["flat"] * (1 - 3 * z**2) / 2
            + p["long"] * (y**2 - x**2) + p["three"] * x * (x**2 - 3 * y**2)
            + p["pear"] * z * (5 * z**2 - 3) / 2 + p["tilt"] * y * (5 * z**2 - 1)
        )  # fmt: skip
        return np.asarray((1.0 + bumps)[..., None] * direction)

    return [Patch(surface)]


FAMILIES = (
    Family("fruit", {"height": (0.75, 1.1), "neck": (0.0, 0.65), "dimple": (0.0, 0.4),
                     "stem": (0.05, 0.4), "contrast": (0.0, 0.35),
                     "hue": (0.17, 0.55)}, _fruit, gloss=0.25),
    Family("animal", {"length": (0.8, 1.15), "girth": (0.35, 0.55), "legs": (0.6, 1.15),
                      "neck": (0.4, 0.9), "rise": (15.0, 65.0), "head": (0.26, 0.4),
                      "tail": (0.2, 0.8), "ears": (0.05, 0.25), "leg_width": (0.09, 0.16),
                      "hue": (0.35, 0.47), "saturation": (0.1, 0.5)},
           _animal),
    Family("cup", {"height": (0.6, 1.3), "foot": (0.5, 0.95), "belly": (0.8, 1.05),
                   "handle": (0.15, 0.6), "brightness": (0.6, 0.95), "contrast": (0.0, 0.3)},
           _cup, gloss=0.15),
    Family("car", {"length": (1.5, 2.2), "width": (0.65, 0.85), "height": (0.25, 0.42),
                   "square": (3.0, 6.0), "roof": (0.25, 0.5), "cabin": (0.45, 0.65),
                   "cabin_at": (-0.05, 0.3), "wheel": (0.2, 0.34), "contrast": (0.0, 0.15)},
           _car, gloss=0.1),
    Family("vase", {"height": (0.9, 1.5), "lip": (0.05, 0.35), "neck": (0.2, 0.5),
                    "belly": (0.6, 1.0), "belly_at": (-0.3, 0.2), "waist": (0.5, 0.95),
                    "foot": (0.35, 0.7), "contrast": (0.0, 0.5)}, _vase, gloss=0.2),
    Family("stone", {"xy": (-0.5, 0.5), "yz": (-0.4, 0.4), "xz": (-0.4, 0.4),
                     "flat": (0.0, 0.3), "long": (-0.1, 0.3), "three": (-0.15, 0.15),
                     "pear": (-0.15, 0.15), "tilt": (-0.15, 0.15),
                     "saturation": (0.0, 0.25)}, _stone),
)  # fmt: skip
