"""Videos become sets: one file is one set of frames."""

from __future__ import annotations

import os
import time
import warnings
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
    check_shape,
    pair,
)
from setwise._support.progress import Progress, reported
from setwise.errors import DataError, SkippedFilesWarning, reject
from setwise.io.clips import LAYOUTS, VIDEO_SUFFIXES, clip_names, find_clips
from setwise.io.frames import Reading, VideoFrames, open_video
from setwise.io.loading_report import LoadedSets, LoadReport, Skipped
from setwise.io.scan import check_exclude
from setwise.io.untrusted import check_declared, check_path
from setwise.sets import SetBatch
from setwise.sets.origins import Origins

__all__ = ["VIDEO_SUFFIXES", "load_video", "load_videos", "resize_image"]

Size: TypeAlias = int | tuple[int, int] | None
# Frames between two looks at the memory that is left.
CHUNK = 256
SMALLER = "Take fewer frames (every, max_frames) or smaller ones (size)."


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

    Frames are decoded one by one and resized at once, so that the memory needed is that of
    the images kept. Needs ``pip install "setwise[video]"``.

    Parameters
    ----------
    path : str or path
        A local file: mp4, mov, avi, mkv, webm, mpeg, ts, ogg, flv, wmv or gif. Its content
        counts, not its suffix. Addresses and playlists are refused.
    every : int, default=1
        Take each ``every``-th frame, beginning with the first.
    every_s : float, optional
        Instead, take the first frame at or after ``start_s``, ``start_s + every_s`` and so
        on, in seconds. Frames that are not needed for this are not decoded, where the file
        says which: with one frame per several seconds, most of them.
    max_frames : int, optional
        Stop after so many taken frames. To spread them over the video, raise ``every`` or
        ``every_s``.
    start_s, stop_s : float, default=0.0 and None
        Take frames shown at or after ``start_s`` and before ``stop_s``, in seconds from the
        beginning. What comes before is decoded all the same.
    size : int, (int, int) or None, default=64
        Height and width of the images, one number for both; ``None`` keeps the frames as they
        are, and they must all be of one size.
    colour : bool, default=False
        Keep red, green and blue instead of grey.
    max_pixels : int, default=25_000_000
        Refuse larger frames, before they are decoded.
    on_error : {"raise", "skip", "list"}, default="raise"
        What to do about frames that cannot be decoded: refuse the file, or leave them out,
        warn, and list them in the report; with ``"list"`` however many they are.
    max_bad : float, default=0.05
        With ``on_error="skip"``, the part of the frames that may be left out.
    max_bytes : int, default=2 GiB
        The most memory that the images may take. A small file may hold millions of frames.
    thumbnails : bool, default=True
        Keep a small colour picture of each frame, of some 2 kB.
    name : str, optional
        What the set is called; the name of the file without its suffix by default.
    progress : callable, optional
        Called with what is done, how many frames are over, and of how many (0: nobody knows).

    Returns
    -------
    LoadedSets
        One set of uint8 images, without a label, with its ``report``; its ``origins`` are
        ``"clip.mp4, frame 12"`` and so on, with frames counted from 0.

    Raises
    ------
    DataError
        When the file is no video, is damaged, or has no frame where one was asked for.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import av
    >>> def write_clip(path):
    ...     with av.open(path, "w") as clip:
    ...         stream = clip.add_stream("mpeg4", rate=10)
    ...         stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
    ...         for _ in range(10):
    ...             black = np.zeros((48, 64), np.uint8)
    ...             frame = av.VideoFrame.from_ndarray(black, format="gray")
    ...             clip.mux(stream.encode(frame))
    ...         clip.mux(stream.encode())
    >>> from setwise import load_video
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_clip(f"{folder}/clip.mp4")
    ...     sets = load_video(f"{folder}/clip.mp4", every=2, size=32)
    >>> sets.names, sets.sizes, sets.image_shape
    (('clip',), array([5]), (32, 32))
    """
    owner, started = "load_video", time.perf_counter()
    reading = Reading(
        *(every, max_frames, start_s, stop_s, colour, max_pixels),
        *(on_error, max_bad, max_bytes, thumbnails, every_s),
    )
    reading.check(owner)
    check_shape(owner, "size", size, optional=True)
    wanted = None if size is None else pair(size)
    with open_video(owner, path, reading) as video:
        called = video.path.stem if name is None else str(name)
        images, origins = _images(video, wanted, video.path.name, progress)
    if video.skipped:
        msg = f"{owner}: {len(video.skipped)} frames of {str(video.path)!r} were left out."
        warnings.warn(msg, SkippedFilesWarning, stacklevel=2)
    report = LoadReport(
        source=video.path,
        layout="video",
        files=(video.path,) * len(images),
        skipped=tuple(video.skipped),
        notes=video.notes(),
        seconds=time.perf_counter() - started,
        what="frames",
    )
    # Not from_images, which would copy.
    rows, shape = images.reshape(len(images), -1), images.shape[1:]
    batch = SetBatch(rows, np.array([0, len(rows)]), [called], None, shape, origins)
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

    Parameters
    ----------
    root : str or path
        The folder. Hidden files and files of other kinds are left aside; links must stay
        inside of it. Clips are sorted with numbers as numbers.
    layout : {"auto", "class/set", "set"}, default="auto"
        A clip is a set: ``root/class/clip.mp4``, with the class as label, or
        ``root/clip.mp4``, without labels. By default, what is found.
    every, every_s, max_frames, start_s, stop_s, size, colour, max_pixels
        As for :func:`load_video`, for each clip.
    max_files : int, default=100_000
        Refuse folders of more entries.
    on_error : {"raise", "skip", "list"}, default="raise"
        Refuse clips or frames that cannot be read, or leave them out, warn, and list them in
        the report; with ``"list"`` however many they are.
    max_bad : float, default=0.05
        With ``on_error="skip"``, the part of the clips, and of the frames of each, that may be
        left out.
    max_bytes : int, default=2 GiB
        The most memory that the images of a clip may take.
    exclude, follow_links
        As for :func:`load_images`.
    thumbnails : bool, default=True
        Keep a small colour picture of each frame, of some 2 kB.
    n_jobs : int, optional
        How many clips to read at once; -1 is one per core.
    progress : callable, optional
        Called with what is done, how many clips are over, and of how many.

    Returns
    -------
    LoadedSets
        One set of uint8 images per clip, named after its path without suffix.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> import av
    >>> def write_clip(path):
    ...     with av.open(path, "w") as clip:
    ...         stream = clip.add_stream("mpeg4", rate=10)
    ...         stream.width, stream.height, stream.pix_fmt = 64, 48, "yuv420p"
    ...         for _ in range(10):
    ...             black = np.zeros((48, 64), np.uint8)
    ...             frame = av.VideoFrame.from_ndarray(black, format="gray")
    ...             clip.mux(stream.encode(frame))
    ...         clip.mux(stream.encode())
    >>> from setwise import load_videos
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_clip(f"{folder}/monday.mp4")
    ...     write_clip(f"{folder}/tuesday.mp4")
    ...     sets = load_videos(folder, every_s=0.5, size=32)
    >>> sets.names, sets.sizes
    (('monday', 'tuesday'), array([2, 2]))
    """
    owner, started = "load_videos", time.perf_counter()
    reading = Reading(
        *(every, max_frames, start_s, stop_s, colour, max_pixels),
        *(on_error, max_bad, max_bytes, thumbnails, every_s),
    )
    reading.check(owner)
    check_shape(owner, "size", size, optional=True)
    wanted = None if size is None else pair(size)
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
    report = LoadReport(
        source=folder,
        layout=layout,
        files=tuple(clip.path for clip in kept for _ in clip.images),
        skipped=tuple(left for clip in clips for left in clip.skipped),
        notes=(*(note for clip in kept for note in clip.notes), *notes),
        seconds=time.perf_counter() - started,
        what="frames",
    )
    if report.skipped:
        msg = f"{owner}: {len(report.skipped)} clips or frames of {folder} were left out."
        warnings.warn(msg, SkippedFilesWarning, stacklevel=2)
    return LoadedSets(_batch(owner, folder, layout, kept), report)


@dataclass(frozen=True)
class _Clip:
    """What became of a file: its images, none where it was left out."""

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
            images, origins = _images(video, size, path.relative_to(root).as_posix())
    except DataError as error:
        if reading.on_error == "raise":
            raise
        return _Clip(path, np.empty(0, dtype=np.uint8), (Skipped(path, str(error)),))
    return _Clip(path, images, tuple(video.skipped), video.notes(), origins)


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


def _images(
    video: VideoFrames,
    size: tuple[int, int] | None,
    name: str,
    progress: Progress | None = None,
) -> tuple[npt.NDArray[np.uint8], Origins]:
    """All frames that were asked for, resized, and where in the file of this name they are."""
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
        if i % CHUNK == 0:
            # All thumbnails are about as large as the latest.
            _check_room(video, i, image.nbytes + len(frame.thumbnail))
    images = np.frombuffer(kept, dtype=np.uint8).reshape(-1, *shape)
    return images, Origins.of_files(files, thumbnails=thumbnails)


def _check_room(video: VideoFrames, i: int, n_bytes: int) -> None:
    """Refuse more frames of so many bytes each than were allowed, or than there is room for."""
    what = f"the first {i + 1} frames"
    check_declared(video.owner, video.path, what, (i + 1) * n_bytes, video.reading.max_bytes)
    what = f"{video.owner}: to keep frames {i} to {i + CHUNK} of {video.path}"
    require_memory(CHUNK * n_bytes, what, SMALLER)


def resize_image(pixels: npt.NDArray[np.uint8], size: tuple[int, int]) -> npt.NDArray[np.uint8]:
    """An image of another ``(height, width)``, made as :func:`load_images` makes it."""
    from PIL import Image

    image = Image.fromarray(pixels).resize(size[::-1], Image.Resampling.BILINEAR)
    return np.asarray(image)
