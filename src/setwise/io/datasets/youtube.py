"""YouTube Celebrities, a user's own copy."""

from __future__ import annotations

import os
import re
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from setwise._support.parallel import in_threads
from setwise._support.progress import Progress, reported
from setwise.errors import DataError, SkippedFilesWarning, reject
from setwise.faces.detectors import Detector, HaarFaces
from setwise.faces.tracks import face_tracks
from setwise.io.datasets.protocols import Dataset, spread_folds
from setwise.io.loading_report import LoadedSets, LoadReport, Skipped
from setwise.sets import SetBatch

__all__ = ["load_youtube"]

CLIP = re.compile(r"\d{4}_\d{2}_\d{3}_(?P<subject>[^\d\W_][\w.'-]*)\.avi", re.IGNORECASE)


def load_youtube(
    root: str | os.PathLike[str],
    *,
    size: int = 30,
    detector: Detector | None = None,
    min_length: int = 8,
    n_folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read YouTube Celebrities from its clips, with the paper's folds.

    The paper: 1910 clips of 47 subjects, faces detected, tracked and cropped to 30 x 30 grey
    pixels, 8 to 400 per set; five folds of 3 gallery and 6 probe sets per subject. It does not
    say which clips, nor by which tracker. Here the longest track of a clip is its set, and
    folds share as few clips as there can be (`spread_folds`). The paper did best on HOG
    features of these images.

    **The real clips were never read here.** This is written to their known names,
    ``NNNN_MM_CCC_firstname_lastname.avi``, and was tested on made files.

    Parameters
    ----------
    root : path
        The folder with the clips.
    size : int, default=30
        Height and width of the faces.
    detector : callable, optional
        As for `setwise.io.face_tracks`.
    min_length : int, default=8
        Fewest faces of a set.
    n_folds : int, default=5
        How many folds.
    seed : int, default=0
        Of the folds. The paper does not publish its own.
    n_jobs : int, optional
        Threads.
    progress : callable, optional
        Called with what is done, how many clips are over, and of how many.

    Warns
    -----
    SkippedFilesWarning
        Where no face could be followed in a clip, which is left out; ``sets.report`` lists
        them all.

    Examples
    --------
    >>> from setwise.errors import SetwiseError
    >>> from setwise.io.datasets import load_youtube
    >>> try:
    ...     load_youtube("nowhere/")
    ... except SetwiseError as error:
    ...     print(type(error).__name__)
    DataError
    """
    top = Path(root)
    subjects = _subjects(top)
    work = partial(_longest_track, detector=detector, size=size, min_length=min_length)
    tracks: list[SetBatch] = []
    kept: list[Path] = []
    skipped: list[Skipped] = []
    results = reported(in_threads(work, subjects, n_jobs), len(subjects), "faces", progress)
    for path, result in zip(subjects, results, strict=True):
        if isinstance(result, str):
            skipped.append(Skipped(path, result))
        else:
            tracks.append(result)
            kept.append(path)
    sets = _join(top, tracks, [subjects[path] for path in kept], kept, skipped)
    labels = np.asarray(sets.labels)
    return Dataset(
        "youtube",
        sets,
        labels,
        spread_folds(labels, 3, 6, n_folds, seed=seed),
        tuple(np.unique(labels).tolist()),
        f"{top}; {n_folds} folds (seed {seed}) of 3 gallery and 6 probe sets per subject; "
        f"{len(skipped)} of {len(subjects)} clips left out; sets.report says why.",
    )


def _subjects(top: Path) -> dict[Path, str]:
    """Who is in each clip, by its name."""
    if not top.is_dir():
        reject(f"load_youtube: there is no folder {top}. Expected one with AVI clips.")
    clips = sorted(
        path
        for path in top.iterdir()
        if path.suffix.lower() == ".avi" and not path.name.startswith(".")
    )
    if not clips:
        reject(
            f"load_youtube: there are no clips in {top}. Expected files such as "
            "0001_01_001_firstname_lastname.avi."
        )
    subjects = {}
    for path in clips:
        match = CLIP.fullmatch(path.name)
        if match is None:
            reject(
                f"load_youtube: {path} does not say who is in it. Expected a name such as "
                "0001_01_001_firstname_lastname.avi: rename or remove it."
            )
        subjects[path] = match["subject"].lower()
    return subjects


def _longest_track(
    path: Path, *, detector: Detector | None, size: int, min_length: int
) -> SetBatch | str:
    """The faces of a clip, or why there are none."""
    try:
        # As the paper's time had it, whatever is installed: a cascade, and no network that
        # joins the tracks of a person.
        tracks = face_tracks(
            path,
            detector=detector or HaarFaces(),
            size=size,
            min_length=min_length,
            join=False,
        )
    except DataError as error:
        return str(error)
    longest = int(tracks.sizes.argmax())
    return tracks[[longest]]


def _join(
    top: Path,
    tracks: list[SetBatch],
    labels: list[str],
    paths: list[Path],
    skipped: list[Skipped],
) -> LoadedSets:
    if skipped:
        msg = (
            f"load_youtube: {len(skipped)} of {len(skipped) + len(paths)} clips were left out, "
            f"the first {skipped[0].path}: {skipped[0].reason}"
        )
        if not tracks:
            raise DataError(msg)
        warnings.warn(msg, SkippedFilesWarning, stacklevel=3)
    joined = SetBatch.join(tracks)
    files = tuple(
        path
        for path, track in zip(paths, tracks, strict=True)
        for _ in range(len(track.vectors))
    )
    report = LoadReport(top, "one clip per set, its longest face track", files, tuple(skipped))
    names = [path.stem for path in paths]
    return LoadedSets(joined.replaced(names=names, labels=np.array(labels)), report)
