"""Vectors by which an index knows the sets of a large gallery, and what views show of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import in_parts
from setwise._support.types import BoolArray, FloatArray
from setwise.features import unit_rows
from setwise.features.views import FittedView, Images, shown_widths
from setwise.index.base import Rows
from setwise.sets import SetBatch


def index_row(seen: Callable[[str], FloatArray], views: Mapping[str, FittedView]) -> Rows:
    """One vector of a set: the directions of its means in some views, side by side.

    In each view that does not learn from the gallery, so that no row changes when other sets
    come and go.
    """
    names = _indexed(views)
    means = [unit_rows(seen(name)).mean(axis=0, keepdims=True) for name in names]
    row = np.concatenate([unit_rows(mean) for mean in means], axis=1)
    return unit_rows(row)[0].astype(np.float32)


def index_width(sets: SetBatch, views: Mapping[str, FittedView]) -> int:
    """Length of the vectors in the index."""
    widths = shown_widths(views, sets.n_features, sets.image_shape)
    return sum(widths[name] for name in _indexed(views))


def _indexed(views: Mapping[str, FittedView]) -> list[str]:
    """The views that learn nothing from the gallery; all of them where every one does."""
    fixed = [name for name, view in views.items() if not view.learns and not view.has_lengths]
    return fixed or list(views)


def costly_views(views: Mapping[str, FittedView]) -> list[str]:
    """Views that are costly to compute."""
    return [name for name, view in views.items() if view.feature is not None or view.learns]


def shown(
    sets: SetBatch, views: Mapping[str, FittedView], n_jobs: int | None
) -> dict[str, npt.NDArray[np.float32]]:
    """All vectors in the views that are costly to compute.

    Set by set: the last digit of a product may depend on what else is in it, and must not
    depend on the other sets of a gallery.
    """
    costly = {name: views[name] for name in costly_views(views)}
    if not costly:
        return {}
    widths = shown_widths(costly, sets.n_features, sets.image_shape)
    n = len(sets.vectors)
    seen = {name: np.empty((n, width), dtype=np.float32) for name, width in widths.items()}

    def look(part: range) -> None:
        for i in part:
            images = Images(np.asarray(sets[i], dtype=np.float64), sets.image_shape)
            for name, view in costly.items():
                seen[name][sets.offsets[i] : sets.offsets[i + 1]] = view.show(images)

    in_parts(look, len(sets), n_jobs, "compute views of all sets")
    return seen


def index_rows(
    sets: SetBatch,
    inliers: BoolArray,
    views: Mapping[str, FittedView],
    seen: Mapping[str, npt.NDArray[np.float32]],
    n_jobs: int | None,
) -> Rows:
    """The vector of each set, given the inliers and what :func:`shown` has computed."""
    rows = np.empty((len(sets), index_width(sets, views)), dtype=np.float32)

    def row(i: int) -> Rows:
        span = slice(int(sets.offsets[i]), int(sets.offsets[i + 1]))

        def of_view(name: str) -> FloatArray:
            if name in seen:
                return np.asarray(seen[name][span], dtype=np.float64)[inliers[span]]
            vectors = np.asarray(sets.vectors[span], dtype=np.float64)[inliers[span]]
            return views[name].show(Images(vectors, sets.image_shape))

        return index_row(of_view, views)

    def fill(part: range) -> None:
        for i in part:
            rows[i] = row(i)

    in_parts(fill, len(sets), n_jobs, "index all sets")
    return rows
