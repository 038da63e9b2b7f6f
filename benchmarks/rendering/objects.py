"""Made objects on a turntable: labelled sets of images, as many and as large as you like."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rendering.shapes import FAMILIES, LOOK, LUMINANCE, Family, painted
from rendering.surfels import Room, Surfels, Viewpoint, render
from setwise._support.parallel import in_threads
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_jobs,
    check_not_negative,
    is_whole,
    refuse,
)
from setwise._support.progress import reported
from setwise._support.types import BoolArray, FloatArray
from setwise.sets import SetBatch
from setwise_paper.datasets.made import random_stream

__all__ = ["make_object_views", "object_view_angles", "object_view_outliers"]

# How far an object may be from its class, as a share of the range of each number. At these two
# methods rank, and are right, about as on ETH-80: see benchmarks/rendered.py.
SHAPE_SPREAD, LOOK_SPREAD = 0.4, 0.25
# Mean and standard deviation, over the views, of where the object is seen (right, up, in half
# images) and of the exposure; and the brightness of the table, which is an object's.
JITTER = ((0.0, 0.0, 1.15), (0.02, 0.02, 0.04))
TABLE = (0.3, 0.42)
# Larger images would take gigabytes of points.
MAX_SIZE = 1024
# Of how many candidates the one farthest from all earlier classes becomes the next class.
N_CANDIDATES = 64
# What a random stream is for; streams of one kind are told apart by the numbers that follow.
_FAMILY, _OBJECT, _OUTLIERS, _STRANGER = range(4)


def make_object_views(
    n_classes: int = 8,
    n_sets: int = 10,
    n_views: int = 41,
    *,
    size: int = 64,
    colour: bool = False,
    n_outliers: int = 0,
    noise: float = 1.0,
    random_state: int = 0,
    n_jobs: int | None = None,
) -> SetBatch:
    """Make sets of images of objects on a turntable, much like ETH-80.

    A set holds the views of one object, and a class is a kind of object: a certain kind of
    fruit, animal, cup, car, vase or stone. Objects of a class differ in proportions, texture
    and brightness. Everything follows from ``random_state``, and a set depends on nothing but
    its class, its number and the kind of images asked for: with more classes or more sets,
    the first ones stay as they are. Only outliers depend on how many classes there are.

    Parameters
    ----------
    n_classes, n_sets : int
        Number of classes, and of objects of each.
    n_views : int
        Images of a set. 41 are seen from the viewpoints of ETH-80, any other number from an
        even spread over the upper half of a sphere.
    size : int
        Height and width of the images.
    colour : bool, default=False
        Images of three channels instead of grey ones.
    n_outliers : int
        How many images of each set show an object of another class instead, at places that
        :func:`object_view_outliers` tells.
    noise : float
        Standard deviation of the camera's noise, in grey levels of 0 to 255.
    random_state : int
        Which classes and objects are made.
    n_jobs : int, optional
        Threads.

    Returns
    -------
    SetBatch
        Sets of uint8 images, class after class. Labels are names of classes such as
        ``"cup 1"``, names of sets such as ``"cup 1/object 3"``.

    Examples
    --------
    >>> from rendering import make_object_views
    >>> sets = make_object_views(n_classes=3, n_sets=2, n_views=5, size=16)
    >>> sets
    SetBatch of 6 sets of 5 to 5 images, 16 x 16
    >>> sets.names[5], sets.labels.tolist()[::2]
    ('cup 1/object 2', ['fruit 1', 'animal 1', 'cup 1'])
    """
    owner = "make_object_views"
    check_count(owner, "n_sets", n_sets)
    if not is_whole(size) or not 4 <= size <= MAX_SIZE:
        refuse(owner, "size", f"an int of 4 to {MAX_SIZE}", size)
    check_jobs(owner, n_jobs)
    check_choice(owner, "colour", colour, (True, False))
    check_not_negative(owner, "noise", noise)
    is_outlier = _outlier_places(owner, n_classes, n_sets, n_views, n_outliers, random_state)
    positions = _class_positions(random_state, n_classes)
    studio = _Studio(positions, object_view_angles(n_views), size, colour, noise, random_state)
    keys = [(label, number) for label in range(n_classes) for number in range(n_sets)]
    work = zip(keys, is_outlier, strict=True)
    shot = in_threads(lambda item: studio.photograph(*item), work, n_jobs)
    images = list(reported(shot, len(keys), "render"))
    labels = np.array([_class_name(label) for label, _ in keys])
    names = [f"{_class_name(label)}/object {number + 1}" for label, number in keys]
    return SetBatch.from_images(images, names, labels)


def object_view_outliers(
    n_classes: int = 8,
    n_sets: int = 10,
    n_views: int = 41,
    *,
    n_outliers: int,
    random_state: int = 0,
) -> BoolArray:
    """Tell which images of :func:`make_object_views` show an object of another class.

    Parameters
    ----------
    n_classes, n_sets, n_views, n_outliers, random_state
        As they are given to :func:`make_object_views`.

    Returns
    -------
    array of bool, shape (n_classes * n_sets, n_views)
        True for outliers; ``n_outliers`` of them in each row.
    """
    owner = "object_view_outliers"
    check_count(owner, "n_sets", n_sets)
    return _outlier_places(owner, n_classes, n_sets, n_views, n_outliers, random_state)


def object_view_angles(n_views: int = 41) -> FloatArray:
    """Where the camera stands for each view of :func:`make_object_views`.

    Returns
    -------
    array of shape (n_views, 2)
        Degrees from straight above, and around the vertical axis. 41 views are those of
        ETH-80; other numbers are spread evenly over the upper half of a sphere.
    """
    check_count("object_view_angles", "n_views", n_views)
    if n_views == 41:
        return _eth80_angles()
    height = 1.0 - (np.arange(n_views) + 0.5) / n_views
    golden_angle = 180.0 * (3.0 - np.sqrt(5.0))
    azimuth = np.arange(n_views) * golden_angle % 360.0
    return np.stack([np.rad2deg(np.arccos(height)), azimuth], axis=1)


def _eth80_angles() -> FloatArray:
    """The 41 viewpoints of ETH-80, in its order."""
    quarters = np.arange(0.0, 360.0, 90.0)
    eighths = np.sort(np.concatenate([quarters + 27, quarters + 63]))
    sixteenths = np.round(np.arange(16) * 22.5)
    azimuths = {0: np.zeros(1), 22: quarters, 35: quarters + 45, 45: quarters, 66: eighths,
                68: quarters, 90: sixteenths}  # fmt: skip
    return np.array([(polar, azimuth) for polar, ring in azimuths.items() for azimuth in ring])


def _outlier_places(
    owner: str, n_classes: int, n_sets: int, n_views: int, n_outliers: int, random_state: int
) -> BoolArray:
    check_count(owner, "n_classes", n_classes)
    check_count(owner, "n_views", n_views)
    check_count(owner, "n_outliers", n_outliers, at_least=0)
    check_count(owner, "random_state", random_state, at_least=0)
    if n_outliers > (n_views if n_classes > 1 else 0):
        expected = f"at most n_views, here {n_views}, and 0 if there is one class only"
        refuse(owner, "n_outliers", expected, n_outliers)
    places = np.zeros((n_classes * n_sets, n_views), dtype=bool)
    for i in range(len(places)):
        rng = random_stream(random_state, _OUTLIERS, i // n_sets, i % n_sets)
        places[i, rng.permutation(n_views)[:n_outliers]] = True
    return places


def _class_name(label: int) -> str:
    return f"{_family(label).name} {label // len(FAMILIES) + 1}"


def _family(label: int) -> Family:
    return FAMILIES[label % len(FAMILIES)]


def _class_positions(random_state: int, n_classes: int) -> list[FloatArray]:
    """Where each class is in the unit cube of its family's numbers.

    The classes of a family follow each other, each the farthest from those before it of some
    random candidates: so they stay apart, and more classes do not move the first ones.
    """
    streams = [random_stream(random_state, _FAMILY, i) for i in range(len(FAMILIES))]
    positions: list[FloatArray] = []
    for label in range(n_classes):
        rng = streams[label % len(FAMILIES)]
        candidates = rng.random((N_CANDIDATES, len(_family(label).all_ranges)))
        earlier = positions[label % len(FAMILIES) :: len(FAMILIES)]
        apart = [np.linalg.norm(candidates - other, axis=1) for other in earlier]
        best = int(np.min(apart, axis=0).argmax()) if apart else 0
        positions.append(candidates[best])
    return positions


def _object_numbers(
    label: int, position: FloatArray, rng: np.random.Generator
) -> dict[str, float]:
    """Numbers of the look and of the shape of an object: those of its class, varied."""
    ranges = _family(label).all_ranges
    spread = [LOOK_SPREAD if name in LOOK else SHAPE_SPREAD for name in ranges]
    shares = np.clip(position + spread * rng.uniform(-1.0, 1.0, len(ranges)), 0.0, 1.0)
    return {
        name: low + share * (high - low)
        for (name, (low, high)), share in zip(ranges.items(), shares, strict=True)
    }


@dataclass(frozen=True)
class _Model:
    """An object, sampled and painted, in its room."""

    surfels: Surfels
    colours: FloatArray
    room: Room
    gloss: float
    turn: float


@dataclass(frozen=True)
class _Studio:
    """Takes the pictures of one set after the other."""

    positions: list[FloatArray]
    angles: FloatArray
    size: int
    colour: bool
    noise: float
    random_state: int

    @property
    def supersample(self) -> int:
        return 3 if self.size < 40 else 2 if self.size < 300 else 1

    def photograph(self, key: tuple[int, int], is_outlier: BoolArray) -> npt.NDArray[np.uint8]:
        """All images of one set."""
        rng = random_stream(self.random_state, _OBJECT, *key)
        model = self.model(key[0], rng)
        # Before any noise, of which there is more in larger images: they show the same.
        jitter = rng.normal(*JITTER, (len(self.angles), 3))
        images = np.stack(
            [self.shoot(model, *view, rng) for view in zip(self.angles, jitter, strict=True)]
        )
        for place in np.flatnonzero(is_outlier):
            images[place] = self.stranger(key, int(place))
        return images

    def stranger(self, key: tuple[int, int], place: int) -> npt.NDArray[np.uint8]:
        """A view of an object of another class that is in no set."""
        rng = random_stream(self.random_state, _STRANGER, *key, place)
        n_classes = len(self.positions)
        label = (key[0] + 1 + int(rng.integers(n_classes - 1))) % n_classes
        model, jitter = self.model(label, rng), rng.normal(*JITTER)
        return self.shoot(model, self.angles[place], jitter, rng)

    def model(self, label: int, rng: np.random.Generator) -> _Model:
        """A new object of a class."""
        family = _family(label)
        numbers = _object_numbers(label, self.positions[label], rng)
        surfels = family.sample(numbers, self.supersample * self.size)
        colours = painted(surfels, numbers, rng)
        table = rng.uniform(*TABLE)
        low, high = surfels.points.min(axis=0), surfels.points.max(axis=0)
        room = Room(
            light=np.array([0.5, -0.45, 0.9]) + 0.1 * rng.standard_normal(3),
            ambient=0.4,
            table=table,
            wall=table * rng.uniform(0.6, 0.9),
            floor=float(low[2]),
            footprint=0.6 * float(np.max(high[:2])),
        )
        shades = colours if self.colour else colours @ LUMINANCE[:, None]
        return _Model(surfels, shades, room, family.gloss * rng.random(), rng.normal(0.0, 4.0))

    def shoot(
        self, model: _Model, angles: FloatArray, jitter: FloatArray, rng: np.random.Generator
    ) -> npt.NDArray[np.uint8]:
        """One image."""
        right, up, exposure = jitter
        view = Viewpoint(angles[0], angles[1] + model.turn, (right, up))
        picture = render(
            *(model.surfels, model.colours, view, model.room, self.size),
            supersample=self.supersample,
            gloss=model.gloss,
        )
        noise = self.noise * rng.standard_normal(picture.shape)
        image = np.clip(np.rint(255.0 * exposure * picture + noise), 0, 255).astype(np.uint8)
        return image if self.colour else image[..., 0]
