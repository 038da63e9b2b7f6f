"""Sets of handwritten digits, of scikit-learn's 1797 images: nothing is downloaded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.types import BoolArray, IntArray
from setwise.errors import reject
from setwise.sets import SetBatch

__all__ = ["DigitSets", "digit_sets"]


@dataclass(frozen=True)
class DigitSets:
    """Labelled gallery and probe sets of handwritten digits.

    Attributes
    ----------
    gallery, probes : SetBatch
        Sets of images as vectors of 64 pixels; ``labels`` holds the digits.
    is_outlier : array of bool, shape (n_probes, n_images)
        Which images of each probe show another digit than its label says.
    """

    gallery: SetBatch
    probes: SetBatch
    is_outlier: BoolArray

    @property
    def probe_digits(self) -> IntArray:
        """The digit of each probe."""
        return np.asarray(self.probes.labels)

    @property
    def is_mixed(self) -> BoolArray:
        """Which probes hold images of other digits."""
        return np.asarray(self.is_outlier.any(axis=1))

    @property
    def is_hidden(self) -> BoolArray:
        """Which probes show a digit that the gallery does not have."""
        return ~np.isin(self.probe_digits, np.asarray(self.gallery.labels))


def digit_sets(
    n_gallery: int = 6,
    n_probes: int = 4,
    n_images: int = 12,
    n_outliers: int = 4,
    seed: int = 0,
    *,
    one_other: bool = False,
    hidden: Sequence[int] = (),
    light: float = 0.0,
) -> DigitSets:
    """Group scikit-learn's handwritten digits into sets.

    No image is in two sets, and none of a probe is in the gallery. Of the probe sets of a
    digit that the gallery has, every second one is mixed: images at random places are
    replaced, each by an unused image of another digit.

    Parameters
    ----------
    n_gallery, n_probes : int
        Sets of each digit.
    n_images : int
        Images in a set. There are 174 to 183 images of a digit.
    n_outliers : int
        Images of other digits in a mixed set, at most 9.
    seed : int
        Which images come together.
    one_other : bool
        Whether those of a mixed set are all of one other digit, or all of different ones.
    hidden : sequence of int
        Digits that the gallery does not have.
    light : float
        Where it is not 0, each set is photographed: ink on white paper, under a lamp of its
        own at a random side, which makes the paper lighter there and darker on the other side
        by up to this share.

    Raises
    ------
    DataError
        When so many sets need more images than there are.
    """
    from sklearn.datasets import load_digits

    images, digits = load_digits(return_X_y=True)
    rng = np.random.default_rng(seed)
    piles = [list(rng.permutation(np.flatnonzero(digits == digit))) for digit in range(10)]
    # At worst, every mixed set of the nine other digits wants an image of this one.
    n_wanted = n_outliers if one_other else 1
    needed = (n_gallery + n_probes) * n_images + 9 * n_wanted * (n_probes // 2)
    if needed > min(map(len, piles)) or not 0 <= n_outliers <= min(n_images, 9):
        reject(
            f"digit_sets: {n_gallery} gallery and {n_probes} probe sets of {n_images} images "
            f"with {n_outliers} outliers may need {needed} images of a digit. Expected at most "
            f"{min(map(len, piles))}, and at most 9 outliers."
        )

    def deal(n_sets: int, shown: Sequence[int]) -> list[list[Any]]:
        return [[piles[d].pop() for _ in range(n_images)] for d in shown for _ in range(n_sets)]

    known = [digit for digit in range(10) if digit not in hidden]
    gallery, probes = deal(n_gallery, known), deal(n_probes, range(10))
    is_outlier = np.zeros((len(probes), n_images), dtype=bool)
    for i, chosen in enumerate(probes):
        if i % n_probes % 2 and i // n_probes in known:
            places = rng.choice(n_images, size=n_outliers, replace=False)
            others = rng.permutation(np.delete(np.arange(10), i // n_probes))
            for k, place in enumerate(places):
                chosen[place] = piles[others[0 if one_other else k]].pop()
            is_outlier[i, places] = True

    def batch(sets: list[list[Any]], shown: Sequence[int]) -> SetBatch:
        taken = [images[chosen] for chosen in sets]
        if light:
            taken = [_photographed(ink, light, rng) for ink in taken]
        return _batch(taken, shown)

    return DigitSets(batch(gallery, known), batch(probes, range(10)), is_outlier)


def _batch(sets: list[npt.NDArray[Any]], shown: Sequence[int]) -> SetBatch:
    n_sets = len(sets) // len(shown)
    labels = np.repeat(shown, n_sets)
    names = [f"{digit}, set {i % n_sets + 1}" for i, digit in enumerate(labels)]
    return SetBatch.from_list(sets, names, labels, image_shape=(8, 8))


def _photographed(
    ink: npt.NDArray[Any], light: float, rng: np.random.Generator
) -> npt.NDArray[Any]:
    """Images of ink (0 to 16) as photos of it on paper, all in one light; with camera noise."""
    angle = rng.uniform(0.0, 2.0 * np.pi)
    down, right = np.mgrid[-1:1:8j, -1:1:8j]
    slope = (np.cos(angle) * right + np.sin(angle) * down).ravel() / np.sqrt(2.0)
    paper = 128.0 * (1.0 + light * slope)
    noise = rng.normal(scale=2.0, size=ink.shape)
    return (paper * (1.0 - 0.9 * ink / 16.0) + noise).clip(0, 255).astype(np.uint8)
