"""Whatever is there: one call that finds out which loader to use."""

from __future__ import annotations

import warnings
from dataclasses import replace
from pathlib import Path
from typing import Any

from setwise._support.parameters import check_choice
from setwise._support.progress import Progress
from setwise.errors import SkippedFilesWarning, reject
from setwise.io.arrays import load_arrays
from setwise.io.decode import SUFFIXES
from setwise.io.images import load_images
from setwise.io.layouts import LAYOUTS, scan
from setwise.io.loading_report import LoadedSets, Skipped
from setwise.io.mat import load_mat
from setwise.io.untrusted import check_path
from setwise.io.video import VIDEO_SUFFIXES, load_video, load_videos

__all__ = ["load_sets"]

# As `max_files` of the loaders.
MOST_ENTRIES = 100_000


def load_sets(
    source: str | Path,
    *,
    layout: str = "auto",
    size: int | tuple[int, int] | None = 64,
    colour: bool = False,
    on_error: str = "raise",
    variable: str | list[str] | None = None,
    labels: str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LoadedSets:
    """Read sets from a folder of photos or clips, a video, a MATLAB file or a NumPy archive.

    Each kind has a loader of its own with more to choose: :func:`load_images`,
    :func:`load_videos`, :func:`load_video`, :func:`load_mat`, :func:`load_arrays`.

    A folder of photos and clips is read as what most of its files are, photos where there are
    equally many. The others are left out, listed in ``report.skipped``, and warned of.

    Parameters
    ----------
    source : str or Path
        A folder, or a file.
    layout : str, default="auto"
        For folders, see :func:`load_images`; in ``"class/set"`` and ``"set"``, a clip is a set.
    on_error, n_jobs
        For folders, see :func:`load_images`.
    size, colour
        For images and video, see :func:`load_images`.
    variable, labels
        For MATLAB files, see :func:`load_mat`.
    progress : callable, optional
        Called with what is being done, how many steps of it are over, and of how many.
    """
    check_choice("load_sets", "layout", layout, ("auto", *LAYOUTS))
    path = check_path("load_sets", source, "source")
    pictures: dict[str, Any] = {
        "size": size, "colour": colour, "on_error": on_error, "progress": progress,
    }  # fmt: skip
    if path.is_dir():
        return _load_folder(path, {"layout": layout, "n_jobs": n_jobs, **pictures})
    if not path.exists():
        reject(f"{path}: there is no such file or folder. Expected one with sets.")
    suffix = path.suffix.lower()
    if suffix == ".mat":
        return load_mat(path, variable, labels=labels)
    if suffix in (".npz", ".npy"):
        return load_arrays(path)
    if suffix in VIDEO_SUFFIXES:
        return load_video(path, **pictures)
    return reject(
        f"{path}: nothing is known of files ending in {suffix!r}. Expected a folder, a video "
        f"({', '.join(sorted(VIDEO_SUFFIXES))}), .mat, .npz or .npy."
    )


def _load_folder(root: Path, options: dict[str, Any]) -> LoadedSets:
    """Read a folder as what most of its files are, and say which files were left out."""
    files = scan(root, MOST_ENTRIES, SUFFIXES | VIDEO_SUFFIXES, "images or videos").images
    photos = [file.path for file in files if file.path.suffix.lower() in SUFFIXES]
    clips = [file.path for file in files if file.path.suffix.lower() in VIDEO_SUFFIXES]
    if len(clips) > len(photos):
        loaded, left_out = load_videos(root, **options), photos
        reason = "is an image among videos. Move it elsewhere, or use load_images."
    else:
        loaded, left_out = load_images(root, **options), clips
        reason = "is a video among images. Move it elsewhere, or use load_videos."
    if not left_out:
        return loaded
    msg = (
        f"load_sets: {len(left_out)} of the {len(photos) + len(clips)} files of {root} were "
        f"left out, the first {left_out[0]}, which {reason} The report lists them all."
    )
    warnings.warn(msg, SkippedFilesWarning, stacklevel=3)
    skipped = (*loaded.report.skipped, *(Skipped(path, reason) for path in left_out))
    return LoadedSets(loaded, replace(loaded.report, skipped=skipped))
