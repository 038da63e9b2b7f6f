"""Gallery and probe splits that keep every set whole."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.parameters import check_count
from setwise._support.types import IntArray
from setwise.errors import reject
from setwise.sets.identifiers import as_identifiers, is_missing, unique_identifiers

__all__ = ["gallery_probe_split", "gallery_probe_splits"]


def gallery_probe_split(
    labels: npt.ArrayLike,
    n_gallery: int,
    *,
    rng: np.random.Generator | int | None = None,
) -> tuple[IntArray, IntArray]:
    """Choose ``n_gallery`` sets of every class as gallery; the others are probes.

    Splitting *sets*, never their vectors, is what keeps frames of one clip from standing on
    both sides.

    Parameters
    ----------
    labels : array of shape (n_sets,)
        Class of each set.
    n_gallery : int
        Gallery sets per class; every class needs at least one more, to probe with.
    rng : numpy.random.Generator or int, optional
        Source of randomness.

    Returns
    -------
    gallery, probes : arrays of int
        Indices of sets, ascending.

    Examples
    --------
    >>> gallery, probes = gallery_probe_split(["a", "a", "b", "b"], 1, rng=0)
    >>> len(gallery), len(probes)
    (2, 2)
    """
    check_count("gallery_probe_split", "n_gallery", n_gallery)
    generator = np.random.default_rng(rng)
    known = as_identifiers(labels, "gallery_probe_split: labels")
    if known.ndim != 1 or len(known) == 0 or is_missing(known).any():
        reject(
            "gallery_probe_split: labels must be of shape (n_sets,), one per set and none "
            f"missing, got {known.dtype} of shape {known.shape}."
        )
    classes, _, codes = unique_identifiers(known, "gallery_probe_split: labels")
    chosen: list[Any] = []
    for code, label in enumerate(classes.tolist()):
        members = np.flatnonzero(codes == code)
        if len(members) <= n_gallery:
            reject(
                f"gallery_probe_split: class {label!r} has {len(members)} sets. Expected "
                f"at least {n_gallery + 1}: {n_gallery} for the gallery and one to probe."
            )
        chosen.append(generator.choice(members, size=n_gallery, replace=False))
    gallery = np.sort(np.concatenate(chosen))
    return gallery, np.setdiff1d(np.arange(len(codes)), gallery)


def gallery_probe_splits(
    labels: npt.ArrayLike, n_gallery: int, n_splits: int, *, seed: int = 0
) -> Iterator[tuple[IntArray, IntArray]]:
    """Yield ``n_splits`` independent random splits, for ``cross_val_score(cv=...)`` too.

    Split ``i`` depends on ``seed`` and ``i`` alone, not on how many are asked for.

    Examples
    --------
    >>> from setwise import gallery_probe_splits
    >>> for gallery, probes in gallery_probe_splits(["a", "a", "b", "b"], 1, n_splits=2):
    ...     print(gallery, probes)
    [1 3] [0 2]
    [1 3] [0 2]
    """
    for i in range(n_splits):
        source = np.random.SeedSequence(seed, spawn_key=(i,))
        yield gallery_probe_split(labels, n_gallery, rng=np.random.default_rng(source))
