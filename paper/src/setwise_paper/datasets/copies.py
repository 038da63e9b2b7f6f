"""Your own copies of Cambridge hand gestures and of YouTube Celebrities."""

from __future__ import annotations

import os
import re
import warnings
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from setwise.errors import DataError, SkippedFilesWarning, reject
from setwise.faces import HaarFaces, face_tracks
from setwise.io import LoadedSets, LoadReport, Skipped, load_images
from setwise.sets import SetBatch
from setwise_paper.datasets.known import Dataset, spread_folds
from setwise_paper.support import Progress, reported

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
    """Read the Cambridge hand gestures from their folders, with the paper's one fold."""
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


CLIP = re.compile(r"\d{4}_\d{2}_\d{3}_(?P<subject>[^\d\W_][\w.'-]*)\.avi", re.IGNORECASE)


def load_youtube(
    root: str | os.PathLike[str],
    *,
    size: int = 30,
    detector: Any | None = None,
    min_length: int = 8,
    n_folds: int = 5,
    seed: int = 0,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> Dataset:
    """Read YouTube Celebrities from its clips, with the paper's folds."""
    top = Path(root)
    subjects = _subjects(top)
    work = partial(_longest_track, detector=detector, size=size, min_length=min_length)
    tracks: list[SetBatch] = []
    kept: list[Path] = []
    skipped: list[Skipped] = []
    parallel = Parallel(n_jobs, backend="threading", return_as="generator")
    results = reported(
        parallel(delayed(work)(path) for path in subjects), len(subjects), "faces", progress
    )
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
    path: Path, *, detector: Any | None, size: int, min_length: int
) -> SetBatch | str:
    """The faces of a clip, or why there are none."""
    try:
        # As the paper's time had it, whatever is installed: a cascade, and no network that
        # joins the tracks of a person.
        tracks = face_tracks(
            path, detector=detector or HaarFaces(), size=size, min_length=min_length, join=False
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
