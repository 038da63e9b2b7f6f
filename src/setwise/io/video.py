"""Videos become sets: one file is one set of frames."""

from __future__ import annotations

import os
import time
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_jobs,
    check_progress,
    check_shape,
    pair,
)
from setwise._support.progress import Progress, reported
from setwise.errors import DataError, SkippedFilesWarning, reject
from setwise.io.frames import Reading, VideoFrames, open_video
from setwise.io.loading_report import LoadedSets, LoadReport, Skipped
from setwise.io.scan import check_any, check_exclude, scan
from setwise.io.untrusted import check_declared, check_path
from setwise.sets import SetBatch
from setwise.sets.origins import Origins

VIDEO_SUFFIXES = frozenset({
    ".mp4", ".m4v", ".mov", ".3gp", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts",
    ".m2ts", ".vob", ".ogv", ".flv", ".wmv", ".asf", ".gif",
})  # fmt: skip
# How many folders lie between the root and its clips, in the words of `load_images`.
LAYOUTS = {"class/set": 1, "set": 0}
Size: TypeAlias = int | tuple[int, int] | None
# Frames between two looks at the memory that is left.
CHUNK = 256
SMALLER = "Take fewer frames (every, max_frames) or smaller ones (size)."


def find_clips(
    root: Path, layout: str, max_files: int, exclude: Sequence[str] = (), links: bool = False
) -> tuple[str, list[Path], tuple[str, ...]]:
    """Layout and files of a folder of videos, in natural order, and notes."""
    scanned = scan(
        root, max_files, VIDEO_SUFFIXES, "videos", exclude=exclude, follow_links=links
    )
    check_any(scanned, VIDEO_SUFFIXES)
    first = scanned.images[0]
    if layout == "auto":
        layout = next((name for name in LAYOUTS if LAYOUTS[name] == first.depth), "class/set")
    for clip in scanned.images:
        if clip.problem is not None:
            reject(f"{clip.path} {clip.problem}")
        if clip.depth != LAYOUTS[layout]:
            reject(
                f"{clip.path} lies {clip.depth} folders below {root}, and the layout "
                f"{layout!r} has its clips {LAYOUTS[layout]} below. Expected all clips as "
                "root/class/clip.mp4 or all as root/clip.mp4: move or exclude it, or choose a "
                "layout."
            )
    return layout, [clip.path for clip in scanned.images], tuple(scanned.notes())


def clip_names(clips: Sequence[Path]) -> list[str]:
    """Names of sets: the path of each clip without suffix, unless two would be equal.

    >>> clip_names([Path("a/1.mp4"), Path("b/1.mp4"), Path("b/1.avi")])
    ['a/1', 'b/1.mp4', 'b/1.avi']
    """
    plain = [clip.with_suffix("").as_posix() for clip in clips]
    counts = Counter(plain)
    pairs = zip(plain, clips, strict=True)
    return [name if counts[name] == 1 else clip.as_posix() for name, clip in pairs]


def load_video(
    path: str | os.PathLike[str],
    *,
    every: int = 1,
    every_s: float | None = None,
    max_frames: int | None = None,
    start_s: float = 0.0,
    stop_s: float | None = None,
    size: Size = 64,
    colour: bool = False,
    max_pixels: int = 25_000_000,
    on_error: str = "raise",
    max_bad: float = 0.05,
    max_bytes: int = 2 * 2**30,
    thumbnails: bool = True,
    name: str | None = None,
    progress: Progress | None = None,
) -> LoadedSets:
    """Read a video file as one set of images.

    Frames are decoded and resized one by one. ``origins`` are ``"clip.mp4, frame 12"`` and so
    on, with frames counted from 0. Needs ``pip install "setwise[video]"``.

    Parameters
    ----------
    path : str or path
        A local mp4, mov, avi, mkv, webm, mpeg, ts, ogg, flv, wmv or gif, by its content.
    every : int, default=1
        Take each ``every``-th frame, beginning with the first.
    every_s : float, optional
        Instead, take a frame every so many seconds; most others are then not decoded.
    max_frames : int, optional
        Most frames to take, from the beginning.
    start_s, stop_s : float, default=0.0 and None
        Take frames shown at or after ``start_s`` and before ``stop_s``, in seconds.
    size, colour, max_pixels, on_error, max_bad, thumbnails
        As for :func:`load_images`, for frames.
    max_bytes : int, default=2 GiB
        Most memory for the images. A small file may hold millions of frames.
    name : str, optional
        Name of the set; by default that of the file without its suffix.
    progress : callable, optional
        Called with ``"load"``, the frames done, and the number of frames (0: unknown).

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> frames = [Image.new("L", (64, 48), i) for i in range(10)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frames[0].save(f"{folder}/clip.gif", save_all=True, append_images=frames[1:])
    ...     sets = load_video(f"{folder}/clip.gif", every=2, size=32)
    >>> sets.names, sets.sizes, sets.image_shape
    (('clip',), array([5]), (32, 32))
    """
    owner, started = "load_video", time.perf_counter()
    reading = Reading(
        *(every, max_frames, start_s, stop_s, colour, max_pixels),
        *(on_error, max_bad, max_bytes, thumbnails, every_s),
    )
    wanted = _checked(owner, reading, size, progress)
    with open_video(owner, path, reading) as video:
        clip = _clip(video, wanted, video.path.name, progress)
    report = _report(owner, video.path, "video", [clip], (), started, "frames")
    # Not from_images, which would copy.
    rows, shape = clip.images.reshape(len(clip.images), -1), clip.images.shape[1:]
    names = [video.path.stem if name is None else str(name)]
    batch = SetBatch(rows, np.array([0, len(rows)]), names, None, shape, clip.origins)
    return LoadedSets(batch, report)


def load_videos(
    root: str | os.PathLike[str],
    *,
    layout: str = "auto",
    every: int = 1,
    every_s: float | None = None,
    max_frames: int | None = None,
    start_s: float = 0.0,
    stop_s: float | None = None,
    size: Size = 64,
    colour: bool = False,
    max_pixels: int = 25_000_000,
    max_files: int = 100_000,
    on_error: str = "raise",
    max_bad: float = 0.05,
    max_bytes: int = 2 * 2**30,
    exclude: str | Sequence[str] = (),
    follow_links: bool = False,
    thumbnails: bool = True,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LoadedSets:
    """Read a folder of video files: each clip is a set, its folder is its class.

    Sets are named after the paths of the clips, without suffix.

    Parameters
    ----------
    root : str or path
        The folder. Clips are in the order of their names, with numbers by value.
    layout : {"auto", "class/set", "set"}, default="auto"
        ``root/class/clip.mp4`` with labels, or ``root/clip.mp4``; by default as files lie.
    every, every_s, max_frames, start_s, stop_s, size, colour, max_pixels, max_bytes
        As for :func:`load_video`, for each clip.
    on_error, max_bad
        As for :func:`load_images`, for clips, and for the frames of each.
    max_files, exclude, follow_links, thumbnails, n_jobs
        As for :func:`load_images`.
    progress : callable, optional
        Called with ``"load"``, the clips done, and the number of clips.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> frames = [Image.new("L", (64, 48), i) for i in range(10)]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     frames[0].save(f"{folder}/monday.gif", save_all=True, append_images=frames[1:])
    ...     sets = load_videos(folder, every_s=0.5, size=32)
    >>> sets.names, sets.sizes
    (('monday',), array([2]))
    """
    owner, started = "load_videos", time.perf_counter()
    reading = Reading(
        *(every, max_frames, start_s, stop_s, colour, max_pixels),
        *(on_error, max_bad, max_bytes, thumbnails, every_s),
    )
    wanted = _checked(owner, reading, size, progress)
    check_choice(owner, "layout", layout, ("auto", *LAYOUTS))
    check_count(owner, "max_files", max_files)
    check_jobs(owner, n_jobs)
    check_choice(owner, "follow_links", follow_links, (False, True))
    patterns = check_exclude(owner, exclude)
    folder = check_path(owner, root, "root")
    layout, paths, notes = find_clips(folder, layout, max_files, patterns, follow_links)
    read = partial(_read_clip, root=folder, owner=owner, reading=reading, size=wanted)
    clips = list(reported(in_threads(read, paths, n_jobs), len(paths), "load", progress))
    kept = _keep_readable(owner, folder, clips, 1.0 if on_error == "list" else max_bad)
    report = _report(owner, folder, layout, clips, notes, started, "clips or frames")
    return LoadedSets(_batch(owner, folder, layout, kept), report)


def _checked(
    owner: str, reading: Reading, size: Size, progress: Progress | None
) -> tuple[int, int] | None:
    """Height and width of the images, once the options of both loaders are valid."""
    reading.check(owner)
    check_progress(owner, progress)
    check_shape(owner, "size", size, optional=True)
    return None if size is None else pair(size)


@dataclass(frozen=True)
class _Clip:
    path: Path
    images: npt.NDArray[np.uint8]
    skipped: tuple[Skipped, ...]
    notes: tuple[str, ...] = ()
    origins: Origins | None = None


def _read_clip(
    path: Path, root: Path, owner: str, reading: Reading, size: tuple[int, int] | None
) -> _Clip:
    try:
        with open_video(owner, path, reading) as video:
            return _clip(video, size, path.relative_to(root).as_posix())
    except DataError as error:
        if reading.on_error == "raise":
            raise
        return _Clip(path, np.empty(0, dtype=np.uint8), (Skipped(path, str(error)),))


def _report(
    owner: str,
    source: Path,
    layout: str,
    clips: list[_Clip],
    notes: tuple[str, ...],
    started: float,
    what: str,
) -> LoadReport:
    """What was read of the clips, with a warning where something was left out."""
    skipped = tuple(left for clip in clips for left in clip.skipped)
    if skipped:
        msg = f"{owner}: {len(skipped)} {what} of {str(source)!r} were left out."
        warnings.warn(msg, SkippedFilesWarning, stacklevel=3)
    files = tuple(clip.path for clip in clips for _ in clip.images)
    remarks = (*(note for clip in clips for note in clip.notes), *notes)
    seconds = time.perf_counter() - started
    return LoadReport(source, layout, files, skipped, remarks, seconds, "frames")


def _keep_readable(owner: str, root: Path, clips: list[_Clip], max_bad: float) -> list[_Clip]:
    """The clips that could be read, unless too many could not."""
    kept = [clip for clip in clips if len(clip.images)]
    n_bad = len(clips) - len(kept)
    if not kept or n_bad > max_bad * len(clips):
        first = next(clip for clip in clips if not len(clip.images))
        reject(
            f"{owner}: {n_bad} of the {len(clips)} clips of {str(root)!r} cannot be read, more "
            f"than max_bad = {max_bad:g} of them. The first: {first.skipped[0].reason}"
        )
    return kept


def _batch(owner: str, root: Path, layout: str, clips: list[_Clip]) -> SetBatch:
    n_bytes = sum(clip.images.nbytes for clip in clips)
    require_memory(n_bytes, f"{owner}: to join the clips of {root}", SMALLER)
    names = clip_names([clip.path.relative_to(root) for clip in clips])
    has_labels = layout == "class/set"
    labels = np.array([clip.path.parent.name for clip in clips]) if has_labels else None
    batch = SetBatch.from_images([clip.images for clip in clips], names, labels)
    origins = Origins.join([clip.origins for clip in clips], [len(c.images) for c in clips])
    return batch.replaced(origins=origins)


def _clip(
    video: VideoFrames,
    size: tuple[int, int] | None,
    name: str,
    progress: Progress | None = None,
) -> _Clip:
    kept, shape = bytearray(), ()
    files: list[str] = []
    thumbnails: list[bytes] = []
    for i, frame in enumerate(reported(video, video.expected, "load", progress)):
        image = frame.pixels if size is None else resize_image(frame.pixels, size)
        shape = shape or image.shape
        if image.shape != shape:
            problem = f"has frames of shape {shape} and of {image.shape}"
            video.refuse(problem, "Choose a size, to which all are brought")
        kept += image.tobytes()
        files.append(f"{name}, frame {frame.number}")
        thumbnails.append(frame.thumbnail)
        if i % CHUNK == 0:  # all thumbnails are about as large as the latest
            _check_room(video, i, image.nbytes + len(frame.thumbnail))
    images = np.frombuffer(kept, dtype=np.uint8).reshape(-1, *shape)
    origins = Origins.of_files(files, thumbnails=thumbnails)
    return _Clip(video.path, images, tuple(video.skipped), video.notes(), origins)


def _check_room(video: VideoFrames, i: int, n_bytes: int) -> None:
    what = f"the first {i + 1} frames"
    check_declared(video.owner, video.path, what, (i + 1) * n_bytes, video.reading.max_bytes)
    what = f"{video.owner}: to keep frames {i} to {i + CHUNK} of {video.path}"
    require_memory(CHUNK * n_bytes, what, SMALLER)


def resize_image(pixels: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """An image of another ``(height, width)``, resized as :func:`load_images` does."""
    from PIL import Image

    image = Image.fromarray(pixels).resize(size[::-1], Image.Resampling.BILINEAR)
    return np.asarray(image)
