"""A small renderer: surfaces become dense points, and points become images.

Each surface is sampled so densely that no pixel of it is missed, once for an object. A view
then only turns the points, drops those that face away and keeps the nearest in each pixel. The
projection is orthographic, the shading Lambert's law with some ambient light.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from setwise._support.types import BoolArray, FloatArray, IntArray

__all__ = [
    "Patch",
    "Room",
    "Surface",
    "Surfels",
    "Viewpoint",
    "render",
    "rough_points",
    "sample_patches",
    "visible_surfels",
]

# Two arrays of parameters, u around and v along, both in [0, 1], to points (..., 3).
# Normals are the cross product of the derivatives by v and by u, which must point outwards.
Surface: TypeAlias = Callable[[FloatArray, FloatArray], FloatArray]

# A grid of this spacing, in pixels, leaves no pixel without a point: a pixel holds a disc of
# radius 1/2, and no disc of radius spacing / sqrt(2) lies between the points of a grid.
SPACING = 0.68
# In how many steps the lengths of a surface are measured.
N_NODES = 32
# Far enough to be the ground from above, near enough for its edge to show from aside.
TABLE_RADIUS = 1.5


@dataclass(frozen=True)
class Patch:
    """A surface and how it is painted.

    Attributes
    ----------
    surface : callable
        Maps parameters ``u`` and ``v`` to points.
    paint : float
        Share of the object's own brightness; below 1 for tyres, windows and stems.
    is_textured : bool
        Whether the object's texture goes over it.
    """

    surface: Surface
    paint: float = 1.0
    is_textured: bool = True


@dataclass(frozen=True)
class Surfels:
    """Points of surfaces, with what is needed to light them.

    Attributes
    ----------
    points, normals : array of shape (n_points, 3)
        Positions in units of half an image, and outward unit normals.
    paint : array of shape (n_points,)
        Brightness of each point; its patch's.
    is_textured : array of bool, shape (n_points,)
        Whether the point's patch takes the texture.
    """

    points: FloatArray
    normals: FloatArray
    paint: FloatArray
    is_textured: BoolArray

    def moved(self, shift: FloatArray, scale: float) -> Surfels:
        """The same points, shifted and then scaled."""
        return Surfels(
            (self.points + shift) * scale, self.normals, self.paint, self.is_textured
        )


@dataclass(frozen=True)
class Viewpoint:
    """Where an orthographic camera stands; it looks at the origin.

    Attributes
    ----------
    polar, azimuth : float
        Degrees from straight above, and around the vertical axis.
    shift : pair of float
        How far right and up of the middle the origin is seen, in half images.
    """

    polar: float
    azimuth: float
    shift: tuple[float, float] = (0.0, 0.0)

    @property
    def axes(self) -> FloatArray:
        """Rows: right and up in the image, and towards the viewer."""
        p, a = np.deg2rad([self.polar, self.azimuth])
        return np.array(
            [
                [-np.sin(a), np.cos(a), 0.0],
                [-np.cos(p) * np.cos(a), -np.cos(p) * np.sin(a), np.sin(p)],
                [np.sin(p) * np.cos(a), np.sin(p) * np.sin(a), np.cos(p)],
            ]
        )


@dataclass(frozen=True)
class Room:
    """What surrounds the turntable.

    Attributes
    ----------
    light : array of shape (3,)
        Direction to the lamp: towards the camera, to its right, up. The object turns, the
        lamp stays.
    ambient : float
        Share of the light that comes from everywhere.
    table, wall : float
        Brightness of the background below and behind the object, 0 to 1.
    floor : float
        Height of the table's top.
    footprint : float
        Radius of the soft shadow on the table.
    """

    light: FloatArray
    ambient: float = 0.35
    table: float = 0.4
    wall: float = 0.3
    floor: float = -0.6
    footprint: float = 0.5

    def light_for(self, view: Viewpoint) -> FloatArray:
        """Unit direction to the lamp in the object's own frame."""
        a = np.deg2rad(view.azimuth)
        forward, right, up = self.light / np.linalg.norm(self.light)
        return np.array(
            [
                forward * np.cos(a) - right * np.sin(a),
                forward * np.sin(a) + right * np.cos(a),
                up,
            ]
        )


def sample_patches(patches: Sequence[Patch], n_pixels: int) -> Surfels:
    """Cover surfaces with points dense enough for images of ``n_pixels`` by ``n_pixels``.

    Parameters
    ----------
    patches : sequence of Patch
        Surfaces in units of half an image: what is seen lies within -1 and 1.
    n_pixels : int
        Side of the images.
    """
    grids = [_sample(patch.surface, SPACING * 2.0 / n_pixels) for patch in patches]
    sizes = [len(points) for points, _ in grids]
    return Surfels(
        np.concatenate([points for points, _ in grids]),
        np.concatenate([normals for _, normals in grids]),
        np.repeat([patch.paint for patch in patches], sizes),
        np.repeat([patch.is_textured for patch in patches], sizes),
    )


def rough_points(patches: Sequence[Patch]) -> FloatArray:
    """A few points of each surface, enough to tell how large an object is."""
    return np.concatenate([_coarse(patch.surface)[1].reshape(-1, 3) for patch in patches])


def _coarse(surface: Surface) -> tuple[FloatArray, FloatArray]:
    nodes = np.linspace(0.0, 1.0, N_NODES + 1)
    return nodes, surface(*np.meshgrid(nodes, nodes))


def _sample(surface: Surface, spacing: float) -> tuple[FloatArray, FloatArray]:
    """Points on one surface, nowhere further apart than ``spacing``, and their normals.

    Rows lie along v at equal distances, and each has as many points as its length needs.
    """
    nodes, coarse = _coarse(surface)
    steps = np.linalg.norm(np.diff(coarse, axis=0), axis=-1).max(axis=1)
    travelled = np.concatenate([[0.0], np.cumsum(steps)])
    n_rows = max(4, int(np.ceil(travelled[-1] / spacing)))
    # In the middle of their cells, because a pole has no normal.
    rows = np.interp((np.arange(n_rows) + 0.5) / n_rows * travelled[-1], travelled, nodes)
    around = N_NODES * np.linalg.norm(np.diff(coarse, axis=1), axis=-1).max(axis=1)
    n_in_row = np.maximum(4, np.ceil(np.interp(rows, nodes, around) / spacing)).astype(int)
    first = np.repeat(np.cumsum(n_in_row) - n_in_row, n_in_row)
    u = (np.arange(n_in_row.sum()) - first + 0.5) / np.repeat(n_in_row, n_in_row)
    v = np.repeat(rows, n_in_row)
    return surface(u, v), _normals(surface, u, v)


def _normals(surface: Surface, u: FloatArray, v: FloatArray) -> FloatArray:
    """Outward unit normals, by differences."""
    step = 1e-4
    along = surface(u, v + step) - surface(u, v - step)
    around = surface(u + step, v) - surface(u - step, v)
    normals = np.cross(along, around)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.maximum(length, np.finfo(float).tiny)


def visible_surfels(surfels: Surfels, view: Viewpoint, n_pixels: int) -> IntArray:
    """Index of the surfel seen in each pixel, or -1.

    Returns
    -------
    array of int, shape (n_pixels, n_pixels)
        Row 0 is the top of the image.
    """
    axes = view.axes
    front = np.flatnonzero(surfels.normals @ axes[2] > 0)
    x, y, depth = axes @ surfels.points[front].T
    right, up = view.shift
    column = np.floor((x + (1.0 + right)) * (n_pixels / 2.0)).astype(np.int64)
    row = np.floor(((1.0 - up) - y) * (n_pixels / 2.0)).astype(np.int64)
    inside = (column >= 0) & (column < n_pixels) & (row >= 0) & (row < n_pixels)
    front, pixel = front[inside], (row * n_pixels + column)[inside]
    # Nearness in the upper half of the key and the surfel in the lower: one maximum finds
    # the nearest, and equals are decided the same way every time.
    nearness = ((depth[inside] + 4.0) * 2**27).astype(np.int64)
    nearest = np.full(n_pixels * n_pixels, -1, dtype=np.int64)
    np.maximum.at(nearest, pixel, (nearness << 32) | front)
    seen = np.where(nearest >= 0, nearest & 0xFFFFFFFF, -1)
    return seen.reshape(n_pixels, n_pixels)


def render(
    surfels: Surfels,
    colours: FloatArray,
    view: Viewpoint,
    room: Room,
    size: int,
    *,
    supersample: int = 2,
    gloss: float = 0.0,
) -> FloatArray:
    """Draw one view of an object in a room.

    Parameters
    ----------
    surfels : Surfels
        The object, sampled for ``supersample * size`` pixels.
    colours : array of shape (n_points, n_channels)
        Share of light that each point throws back.
    view : Viewpoint
        Where the camera stands.
    room : Room
        Light and background.
    size : int
        Side of the image.
    supersample : int
        How many times finer than the image is what is drawn, before pixels are averaged.
    gloss : float
        Strength of the highlight; 0 is matt.

    Returns
    -------
    array of shape (size, size, n_channels)
        1 is a white surface that faces the lamp.
    """
    n_pixels = supersample * size
    seen = visible_surfels(surfels, view, n_pixels)
    picture = np.repeat(_background(view, room, n_pixels)[..., None], colours.shape[1], axis=2)
    index = seen[seen >= 0]
    normals, light = surfels.normals[index], room.light_for(view)
    lit = room.ambient + (1.0 - room.ambient) * np.maximum(normals @ light, 0.0)
    halfway = light + view.axes[2]
    highlight = np.maximum(normals @ (halfway / np.linalg.norm(halfway)), 0.0) ** 40
    picture[seen >= 0] = colours[index] * lit[:, None] + gloss * highlight[:, None]
    blocks = picture.reshape(size, supersample, size, supersample, -1)
    return np.asarray(blocks.mean(axis=(1, 3)))


def _background(view: Viewpoint, room: Room, n_pixels: int) -> FloatArray:
    """A round table with a soft shadow on it, and a wall behind its far edge."""
    centres = (np.arange(n_pixels) + 0.5) * 2.0 / n_pixels - 1.0
    x, y = centres[None, :] - view.shift[0], -centres[:, None] - view.shift[1]
    sine, cosine = np.sin(np.deg2rad(view.polar)), np.cos(np.deg2rad(view.polar))
    tilt = max(float(cosine), 0.08)  # a camera is never quite level with the table
    far_edge = room.floor * sine + tilt * np.sqrt(np.maximum(TABLE_RADIUS**2 - x**2, 0.0))
    distance_squared = x**2 + ((y - room.floor * sine) / tilt) ** 2
    shadow = 1.0 - 0.45 * np.exp(-distance_squared / room.footprint**2)
    return np.where(y < far_edge, room.table * shadow, room.wall)
