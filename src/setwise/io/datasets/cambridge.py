"""Cambridge hand gestures, a user's own copy."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from setwise._support.progress import Progress
from setwise.errors import reject
from setwise.io.datasets.protocols import Dataset
from setwise.io.images import load_images
from setwise.sets import SetBatch

__all__ = ["load_cambridge"]

ILLUMINATIONS = ("Set1", "Set2", "Set3", "Set4", "Set5")
CLASSES = tuple(f"{i:04d}" for i in range(9))
SEQUENCES = tuple(f"{i:04d}" for i in range(20))


def load_cambridge(
    root: str | os.PathLike[str],
    *,
    size: int = 20,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read the Cambridge hand gestures from their folders, with the paper's one fold.

    The paper: 9 classes of 100 sets, grey images of 20 x 20 pixels; the gallery is the fifth
    illumination (sets 81 to 100 of each class), the probes are the other four. Many later
    papers draw the gallery from all five, which is far easier: never compare the two.

    **The real folders were never read here.** This is written to their known layout,
    ``Set1`` to ``Set5`` / ``0000`` to ``0008`` (class) / ``0000`` to ``0019`` / images, and
    was tested on made files.

    Parameters
    ----------
    root : path
        The folder that holds ``Set1`` to ``Set5``.
    size : int, default=20
        Height and width of the images.
    n_jobs : int, optional
        Threads that read.
    progress : callable, optional
        Called with what is done, how many images are over, and of how many; for each of the
        five in turn.

    Examples
    --------
    >>> from setwise.errors import SetwiseError
    >>> from setwise.io.datasets import load_cambridge
    >>> try:
    ...     load_cambridge("nowhere/")
    ... except SetwiseError as error:
    ...     print(type(error).__name__)
    DataError
    """
    top = Path(root)
    _check_folders(top)
    parts = [
        load_images(
            top / light, layout="class/set", size=size, n_jobs=n_jobs, progress=progress
        )
        for light in ILLUMINATIONS
    ]
    joined = SetBatch.join(parts)
    light_of = np.repeat(ILLUMINATIONS, [len(part) for part in parts])
    labels = np.concatenate([np.asarray(part.labels) for part in parts])
    names = [f"{light}/{name}" for light, name in zip(light_of, joined.names, strict=True)]
    sets = joined.replaced(names=names, labels=labels)
    is_gallery = light_of == "Set5"
    return Dataset(
        "cambridge",
        sets,
        labels,
        [(np.flatnonzero(is_gallery), np.flatnonzero(~is_gallery))],
        CLASSES,
        f"{top}; gallery = Set5, probes = Set1 to Set4.",
    )


def _check_folders(top: Path) -> None:
    """Look at all 900 folders before any image is read."""
    for light in ILLUMINATIONS:
        _check_inside(top, top / light, CLASSES)
        for label in CLASSES:
            _check_inside(top, top / light / label, SEQUENCES)


def _check_inside(top: Path, folder: Path, expected: tuple[str, ...]) -> None:
    if not folder.is_dir():
        reject(
            f"load_cambridge: there is no folder {folder}. Expected Set1 to Set5 in {top}, "
            "each with classes 0000 to 0008 of sequences 0000 to 0019."
        )
    present = {path.name for path in folder.iterdir() if path.is_dir() and path.name[0] != "."}
    if present != set(expected):
        wrong = sorted(present ^ set(expected))[0]
        which = "too many" if wrong in present else "missing"
        reject(
            f"load_cambridge: in {folder}, the folder {wrong!r} is {which}. Expected "
            f"{expected[0]} to {expected[-1]} and no other."
        )
