"""One call that reads sets from any supported source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from setwise._support.parameters import check_choice, check_count, check_progress
from setwise._support.progress import Progress
from setwise.errors import reject
from setwise.io.arrays import load_arrays
from setwise.io.decode import SUFFIXES
from setwise.io.images import load_images, photos_by_name
from setwise.io.layouts import LAYOUTS, refuse_unlabelled
from setwise.io.loading_report import LoadedSets, Skipped, warn_left_out
from setwise.io.mat import load_mat
from setwise.io.raw import is_raw
from setwise.io.scan import check_exclude, scan
from setwise.io.tables import TABLES, load_table
from setwise.io.untrusted import check_path
from setwise.io.video import VIDEO_SUFFIXES, load_video, load_videos


def load_sets(
    source: str | Path | Sequence[str | Path],
    *,
    layout: str = "auto",
    labelled: bool = False,
    size: int | tuple[int, int] | None = 64,
    colour: bool = False,
    thumbnails: bool = True,
    gap_s: float = 30.0,
    on_error: str = "raise",
    max_bad: float = 0.05,
    max_pixels: int = 64_000_000,
    max_files: int = 100_000,
    exclude: str | Sequence[str] = (),
    follow_links: bool = False,
    variable: str | list[str] | None = None,
    labels: str | None = None,
    groups: str | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LoadedSets:
    """Read sets from photos or clips, a MATLAB file, a NumPy archive or a table of vectors.

    Each kind has a loader of its own with more options: :func:`load_images`,
    :func:`load_videos`, :func:`load_video`, :func:`load_mat`, :func:`load_arrays`. A ``.csv``
    or ``.parquet`` file is read as :meth:`SetBatch.from_frame` reads a frame. A folder of
    both photos and clips is read as what most of its files are, photos if equal; the others are
    left out, listed in ``report.skipped``, and warned of.

    Parameters
    ----------
    source : str, Path or sequence of them
        A folder, a file, or several photos: those in one folder are a set.
    layout : str, default="auto"
        For folders; in ``"class/set"`` and ``"set"``, a clip is a set.
    labelled : bool, default=False
        Require classes, as a gallery does. A folder of photos is then one set of the class it
        is named after; a source without classes is refused.
    size, colour, thumbnails, gap_s, on_error, max_bad, max_pixels, max_files, exclude
        As for :func:`load_images`, for images and video.
    follow_links, n_jobs
        As for :func:`load_images`.
    variable, labels, groups
        As for :func:`load_mat`; ``variable`` is the ``vectors`` of :func:`load_arrays`. Of a
        table, columns: of vectors (by default all others), classes, and sets (``"set"``).
    progress : callable, optional
        Called with the name of the step, the steps done, and the number of steps.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.save(f"{folder}/sets.npy", np.zeros((2, 5, 8)))
    ...     sets = load_sets(f"{folder}/sets.npy")
    >>> len(sets), sets.sizes
    (2, array([5, 5]))
    """
    check_choice("load_sets", "layout", layout, ("auto", *LAYOUTS))
    check_choice("load_sets", "labelled", labelled, (False, True))
    check_progress("load_sets", progress)
    photos = photos_by_name("load_sets", source)
    pictures: dict[str, Any] = {
        "size": size, "colour": colour, "thumbnails": thumbnails, "on_error": on_error,
        "max_bad": max_bad, "max_pixels": max_pixels, "progress": progress,
    }  # fmt: skip
    if photos:
        how = "bursts" if layout == "bursts" else "auto"
        return load_images(
            photos, layout=how, gap_s=gap_s, labelled=labelled, n_jobs=n_jobs, **pictures
        )
    path = check_path("load_sets", source, "source")
    if not path.is_dir():
        named = {"variable": variable, "labels": labels, "groups": groups}
        return _load_file(path, named, pictures, labelled)
    check_count("load_sets", "max_files", max_files)
    check_choice("load_sets", "follow_links", follow_links, (False, True))
    patterns = check_exclude("load_sets", exclude)
    search = {"max_files": max_files, "exclude": patterns, "follow_links": follow_links}
    options = {"layout": layout, "n_jobs": n_jobs, **pictures}
    return _load_folder(path, search, options, {"gap_s": gap_s, "labelled": labelled})


def _load_file(
    path: Path, named: dict[str, Any], pictures: dict[str, Any], labelled: bool
) -> LoadedSets:
    if not path.exists():
        reject(f"{path}: there is no such file or folder. Expected one with sets.")
    suffix = path.suffix.lower()
    if suffix in VIDEO_SUFFIXES:
        if labelled:
            refuse_unlabelled(path, "a clip alone has none")
        return load_video(path, **pictures)
    given = {parameter: name for parameter, name in named.items() if name is not None}
    if suffix == ".mat":
        loaded = load_mat(path, **given)
    elif suffix in (".npz", ".npy"):
        keys = {"vectors" if k == "variable" else k: name for k, name in given.items()}
        loaded = load_arrays(path, **keys)
    elif suffix in TABLES:
        loaded = load_table(path, **given)
    elif is_raw(path):
        reject(f'{path}: is RAW. Export it as JPEG, or: pip install "setwise[raw]"')
    else:
        reject(
            f"{path}: nothing is known of files ending in {suffix!r}. Expected a folder, a "
            f"photo, a video ({', '.join(sorted(VIDEO_SUFFIXES))}), .mat, .npz, .npy, .csv or "
            ".parquet."
        )
    if labelled and loaded.labels is None:
        refuse_unlabelled(path, f"its {len(loaded)} sets have none")
    return loaded


def _load_folder(
    root: Path, search: dict[str, Any], options: dict[str, Any], of_photos: dict[str, Any]
) -> LoadedSets:
    wanted = SUFFIXES | VIDEO_SUFFIXES
    files = scan(root, suffixes=wanted, what="images or videos", **search).images
    photos = [file for file in files if file.path.suffix.lower() in SUFFIXES]
    clips = [file for file in files if file.path.suffix.lower() in VIDEO_SUFFIXES]
    if len(clips) > len(photos):
        loose = next((clip for clip in clips if clip.depth == 0), None)
        if of_photos["labelled"] and loose is not None:
            refuse_unlabelled(root, f"{loose.path} lies in no folder")
        loaded, left_out = load_videos(root, **search, **options), photos
        reason = "is an image among videos. Put images into a folder of their own."
    else:
        loaded, left_out = load_images(root, **search, **options, **of_photos), clips
        reason = (
            "is a video among images. Put videos into a folder of their own; `setwise faces` "
            "reads the people of both."
        )
    if not left_out:
        return loaded
    others = [Skipped(file.path, reason) for file in left_out]
    of = f"the {len(photos) + len(clips)} files of {root}"
    warn_left_out("load_sets", of, others, stacklevel=4)
    skipped = (*loaded.report.skipped, *others)
    return LoadedSets(loaded, replace(loaded.report, skipped=skipped))
