"""A small picture of the gallery, kept so that probes can be drawn beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg

from setwise._support.types import FloatArray, IntArray
from setwise.features import unit_rows
from setwise.sets import SetBatch

__all__ = ["GallerySketch"]

_MOST_POINTS = 2000


@dataclass(frozen=True)
class GallerySketch:
    """Some of the gallery's vectors in the plane of its two largest principal directions.

    Attributes
    ----------
    mean : array of shape (n_features,)
        Mean of the unit vectors.
    axes : array of shape (at most 2, n_features)
        Principal directions.
    points : array of shape (n_points, 2)
        At most 2000 vectors, every k-th.
    classes : array of int, shape (n_points,)
        Class code of each.
    """

    mean: FloatArray
    axes: FloatArray
    points: FloatArray
    classes: IntArray

    @classmethod
    def of(cls, gallery: SetBatch, codes: IntArray) -> Self:
        """Sketch a gallery whose sets have these class codes."""
        every = -(-len(gallery.vectors) // _MOST_POINTS)
        units = unit_rows(np.asarray(gallery.vectors[::every], dtype=np.float64))
        mean = units.mean(axis=0)
        axes = linalg.svd(units - mean, full_matrices=False)[2][:2]
        classes = np.repeat(codes, gallery.sizes)[::every]
        empty = cls(mean, axes, np.empty((0, 2)), classes)
        return cls(mean, axes, empty.project(units), classes)

    @classmethod
    def empty(cls, n_features: int) -> Self:
        """A sketch without points, in which every probe is at the origin."""
        none = np.zeros((0, 2)), np.zeros(0, dtype=np.int64)
        return cls(np.zeros(n_features), np.zeros((2, n_features)), *none)

    def project(self, vectors: FloatArray) -> FloatArray:
        """Vectors as points of the plane."""
        points = (unit_rows(vectors) - self.mean) @ self.axes.T
        return np.pad(points, ((0, 0), (0, 2 - points.shape[1])))
