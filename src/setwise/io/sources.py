"""Whatever is there: one call that finds out which loader to use."""

from __future__ import annotations

from itertools import chain, islice
from pathlib import Path
from typing import Any

from setwise._support.progress import Progress
from setwise.errors import DataError
from setwise.io.arrays import load_arrays
from setwise.io.images import load_images
from setwise.io.mat import load_mat
from setwise.io.report import LoadedSets
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

    Parameters
    ----------
    source : str or Path
        A folder, or a file.
    layout, on_error, n_jobs
        For folders, see :func:`load_images`.
    size, colour
        For images and video, see :func:`load_images`.
    variable, labels
        For MATLAB files, see :func:`load_mat`.
    progress : callable, optional
        Called with what is being done, how many steps of it are over, and of how many.
    """
    path = Path(source)
    pictures: dict[str, Any] = {
        "size": size, "colour": colour, "on_error": on_error, "progress": progress,
    }  # fmt: skip
    if path.is_dir():
        if _holds_clips(path):
            return load_videos(path, layout=layout, n_jobs=n_jobs, **pictures)
        return load_images(path, layout=layout, n_jobs=n_jobs, **pictures)
    if not path.exists():
        msg = f"{path}: there is no such file or folder. Expected one with sets."
        raise DataError(msg)
    suffix = path.suffix.lower()
    if suffix == ".mat":
        return load_mat(path, variable, labels=labels)
    if suffix in (".npz", ".npy"):
        return load_arrays(path)
    if suffix in VIDEO_SUFFIXES:
        return load_video(path, **pictures)
    msg = (
        f"{path}: nothing is known of files ending in {suffix!r}. Expected a folder, a video "
        f"({', '.join(sorted(VIDEO_SUFFIXES))}), .mat, .npz or .npy."
    )
    raise DataError(msg)


def _holds_clips(root: Path) -> bool:
    """Whether there is a clip in a folder or right below it; a GIF may be a stray picture.

    Looking stops where the loaders refuse a folder for its size anyway.
    """
    entries = islice(chain(root.glob("*"), root.glob("*/*")), MOST_ENTRIES)
    return any(path.suffix.lower() in VIDEO_SUFFIXES - {".gif"} for path in entries)
