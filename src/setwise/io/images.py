"""Folders of images in, sets of images out."""

from __future__ import annotations

import math
import time
from collections import deque
from collections.abc import Sequence
from datetime import datetime
from itertools import chain, takewhile
from pathlib import Path
from typing import Any

import numpy as np

from setwise._support.memory import require_memory
from setwise._support.parallel import in_threads
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_jobs,
    check_not_negative,
    check_number,
    check_progress,
    check_shape,
    pair,
)
from setwise._support.progress import Progress, reported
from setwise.errors import DataError, reject
from setwise.io.decode import (
    SUFFIXES,
    NotSupportedError,
    Picture,
    Wanted,
    decode,
    pillow_at_work,
)
from setwise.io.layouts import (
    LAYOUTS,
    Layout,
    SetOfFiles,
    decide_given,
    decide_layout,
    group_into_sets,
)
from setwise.io.loading_report import LoadedSets, LoadReport, Skipped, warn_left_out
from setwise.io.scan import FoundFile, Scan, check_exclude, given_photos, scan
from setwise.io.untrusted import check_path
from setwise.sets import SetBatch
from setwise.sets.origins import Origins

# Images handed to a thread at once: one small JPEG takes as long to hand over as to read.
HANDFUL = 16
# About the size of a small picture.
THUMBNAIL_BYTES = 2000


def load_images(
    root: str | Path | Sequence[str | Path],
    *,
    layout: str = "auto",
    size: int | tuple[int, int] | None = 64,
    colour: bool = False,
    gap_s: float = 30.0,
    on_error: str = "raise",
    max_bad: float = 0.05,
    max_pixels: int = 64_000_000,
    max_files: int = 100_000,
    exclude: str | Sequence[str] = (),
    follow_links: bool = False,
    labelled: bool = False,
    thumbnails: bool = True,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> LoadedSets:
    """Read a folder of images as sets of images.

    Sets and images are in the order of their names, with numbers by value. JPEG, PNG, BMP, PPM,
    TIFF, WEBP and AVIF are read, with ``pip install "setwise[heif]"`` also HEIC. Images are
    turned as their EXIF tag says; 16-bit images keep their high byte; transparency becomes
    black. Files of several frames are refused; hidden files and other kinds are ignored. The
    report counts all of this. ``origins`` has path, time and a small picture of each image.

    Parameters
    ----------
    root : str, Path or sequence of them
        A folder, in which links are followed where they stay inside it. Or photos by name, of
        which those in one folder are a set.
    layout : str, default="auto"
        ``"class/set"`` (``root/class/set/image``: with labels), ``"set"`` (``root/set/image``)
        or ``"single"`` (``root/image``: one set); ``"auto"`` tells these three apart, and
        takes folders at depths one and two as sets without labels, unless one holds another.
        ``"class"`` (``root/class/image``) makes one set per class. ``"bursts"`` and
        ``"class/bursts"`` (with labels) group the photos below the root or class by EXIF time.
    size : int, (height, width) or None, default=64
        Size of the images, resized bilinearly. None keeps their size, the same for all.
    colour : bool, default=False
        Images of shape ``(height, width, 3)`` instead of grey ones.
    gap_s : float, default=30.0
        Pause between two photos, in seconds, that begins a new burst.
    on_error : {"raise", "skip", "list"}, default="raise"
        Raise for a file that cannot be read, or leave it out and report it; ``"list"`` sets no
        limit, and leaves out sets without any image.
    max_bad : float, default=0.05
        With ``"skip"``, the share of files that may be left out.
    max_pixels, max_files : int
        Largest image, checked before decoding; four times as large for JPEGs that are decoded
        at a reduced size. Most files and folders below the root.
    exclude : str or sequence of str, default=()
        Patterns of names or of paths below the root, such as ``"thumbs"`` or ``"raw/*"``.
    follow_links : bool, default=False
        Follow links out of the root, too.
    labelled : bool, default=False
        Require classes: ``"auto"`` takes the first folder for the class; the photos directly in
        it are one set, and each folder in it is one.
    thumbnails : bool, default=True
        Keep a small colour picture of each image, of some 2 kB.
    n_jobs : int, optional
        Threads; -1 is one per core.
    progress : callable, optional
        Called with ``"load"``, the number of files done and of all files.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from setwise.io import save_images
    >>> images = [np.zeros((4, 32, 32), dtype=np.uint8), np.ones((3, 32, 32), dtype=np.uint8)]
    >>> photos = SetBatch.from_images(images, ["beach", "party"], ["anna", "bert"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     loaded = load_images(save_images(photos, f"{folder}/gallery"), labelled=True)
    >>> loaded.names, loaded.sizes
    (('anna/beach', 'bert/party'), array([4, 3]))
    """
    started = time.perf_counter()
    check_choice("load_images", "layout", layout, ("auto", *LAYOUTS))
    check_choice("load_images", "on_error", on_error, ("raise", "skip", "list"))
    flags = {"colour": colour, "follow_links": follow_links, "labelled": labelled}
    for name, value in {**flags, "thumbnails": thumbnails}.items():
        check_choice("load_images", name, value, (False, True))
    check_number("load_images", "gap_s", gap_s)
    check_count("load_images", "max_pixels", max_pixels)
    check_count("load_images", "max_files", max_files)
    check_not_negative("load_images", "max_bad", max_bad, at_most=1.0)
    check_jobs("load_images", n_jobs)
    check_progress("load_images", progress)
    check_shape("load_images", "size", size, optional=True)
    patterns = check_exclude("load_images", exclude)
    photos = photos_by_name("load_images", root, "root")
    if photos:
        scanned = given_photos(photos)
        shape = decide_given(scanned, layout, labelled)
    else:
        folder = check_path("load_images", root, "root")
        scanned = scan(folder, max_files, exclude=patterns, follow_links=follow_links)
        shape = decide_layout(scanned, layout, labelled)
    height_width = None if size is None else pair(size)
    wanted = Wanted(height_width, colour, max_pixels, shape.by_time, thumbnails)
    read = _Images(scanned, wanted, {"raise": None, "skip": max_bad, "list": 1.0}[on_error])
    with pillow_at_work():
        read.decode_all(n_jobs, progress)
    lost = _lost_sets(read, shape, may_lose=on_error == "list")
    sets = group_into_sets(read.kept, read.times, scanned, shape, gap_s)
    if read.skipped:
        n_images = len(scanned.images)
        warn_left_out("load_images", f"{n_images} images", read.skipped)
    read.skipped += lost
    return LoadedSets(_batch(read, sets, shape), _report(read, sets, shape, started))


def photos_by_name(owner: str, given: Any, parameter: str = "source") -> list[Path]:
    """The photos that are given by name; none if a folder or another file is given."""
    several = list(given) if isinstance(given, list | tuple) else [given]
    paths = [check_path(owner, one, parameter) for one in several]
    others = [path for path in paths if path.is_dir() or path.suffix.lower() not in SUFFIXES]
    if not others or (len(paths) == 1 and not isinstance(given, list | tuple)):
        return [] if others else paths
    what = str(others[0]) if others else "nothing"
    return reject(f"{owner}: expected a folder, or photos by name, got {what} among them.")


class _Images:
    """The images of a folder, a row of pixels each, and the files left out."""

    def __init__(self, scanned: Scan, wanted: Wanted, max_bad: float | None) -> None:
        self.scanned, self.wanted = scanned, wanted
        self.max_bad = max_bad  # share of files that may be left out; None: the first raises
        self.kept: list[FoundFile] = []
        self.times: list[datetime | None] = []
        self.thumbnails: list[bytes] = []
        self.remarks: dict[str, list[Path]] = {}
        self.skipped: list[Skipped] = []
        self.bad: list[Skipped] = []
        self.shape: tuple[int, ...] | None = None
        self._is_over = False
        if wanted.size is not None:
            self._make_room((*wanted.size, 3) if wanted.colour else wanted.size)

    def decode_all(self, n_jobs: int | None, progress: Progress | None) -> None:
        images = self.scanned.images
        starts = takewhile(lambda _: not self._is_over, range(0, len(images), HANDFUL))
        handfuls = (images[i : i + HANDFUL] for i in starts)
        results = in_threads(self._attempts, handfuls, n_jobs)
        told = reported(chain.from_iterable(results), len(images), "load", progress)
        try:
            for image, result in zip(images, told, strict=True):
                if isinstance(result, Picture):
                    self._keep(image, result)
                else:
                    self._leave_out(image, result)
        finally:
            # An error or Ctrl-C waits for no more than the files that threads are reading.
            self._is_over = True
            deque(results, maxlen=0)

    def _attempts(self, images: Sequence[FoundFile]) -> list[Picture | DataError]:
        return [_attempt(image, self.wanted) for image in images if not self._is_over]

    def _make_room(self, shape: tuple[int, ...]) -> None:
        n_images, n_pixels = len(self.scanned.images), math.prod(shape)
        # Bursts are sorted by time once all are known, into a second array.
        n_bytes = n_pixels * (2 if self.wanted.needs_time else 1)
        require_memory(
            n_images * (n_bytes + THUMBNAIL_BYTES * self.wanted.thumbnail),
            f"load_images: {n_images} images of {' x '.join(map(str, shape))} pixels",
            "Choose a smaller size, or load the folders one by one.",
        )
        self.shape = shape
        self.rows = np.empty((n_images, n_pixels), dtype=np.uint8)

    def _keep(self, image: FoundFile, picture: Picture) -> None:
        pixels = picture.pixels
        if self.shape is None:
            self._make_room(pixels.shape)
        elif pixels.shape != self.shape:
            size, first = (f"{s[1]} x {s[0]}" for s in (pixels.shape, self.shape))
            reject(
                f"{image.path} has {size} pixels, and {self.kept[0].path} {first}. Expected "
                "one size for all: resize them, or give load_images a size."
            )
        self.rows[len(self.kept)] = pixels.ravel()
        self.kept.append(image)
        self.times.append(picture.time)
        self.thumbnails.append(picture.thumbnail)
        for remark in picture.remarks:
            self.remarks.setdefault(remark, []).append(image.path)

    def _leave_out(self, image: FoundFile, error: DataError) -> None:
        reason = str(error).removeprefix(f"{image.path} ")
        left = Skipped(image.path, reason)
        self.skipped.append(left)
        if isinstance(error, NotSupportedError):  # no fault of the file
            return
        if self.max_bad is None:
            reject(f'{error} To leave out all such files: on_error="skip".', error)
        self.bad.append(left)
        n_images = len(self.scanned.images)
        if len(self.bad) > self.max_bad * n_images:
            first, share = self.bad[0], f"more than max_bad={self.max_bad:g}"
            told = f"{self.scanned.root}: {share} of its {n_images} images cannot be read"
            reject(f"{told}. The first is {first.path}, which {first.reason}", error)


def _attempt(image: FoundFile, wanted: Wanted) -> Picture | DataError:
    """Decode a file; errors are returned, so that the first in order is raised."""
    if image.problem is not None:
        return DataError(f"{image.path} {image.problem}")
    try:
        picture = decode(image.path, wanted)
    except DataError as error:
        return error
    if wanted.needs_time and picture.time is None:
        return DataError(
            f"{image.path} has no EXIF time (DateTimeOriginal), by which bursts are told "
            "apart. Leave it out, or sort the photos into folders and use another layout."
        )
    return picture


def _batch(read: _Images, sets: list[SetOfFiles], layout: Layout) -> SetBatch:
    order = np.concatenate([group.rows for group in sets])
    rows = read.rows[: len(order)]
    files = ["/".join(image.parts) for image in read.kept]
    return SetBatch(
        rows if bool((np.diff(order) > 0).all()) else rows[order],
        np.cumsum([0, *(len(group.rows) for group in sets)]),
        [group.name for group in sets],
        np.array([group.label for group in sets]) if layout.has_labels else None,
        read.shape,
        Origins.of_files(files, read.times, read.thumbnails).take(order),
    )


def _report(
    read: _Images, sets: list[SetOfFiles], layout: Layout, started: float
) -> LoadReport:
    notes = ["folders at several depths: each with images in it is a set"] * layout.is_uneven
    for remark, paths in sorted(read.remarks.items()):
        notes.append(f"{remark}: {len(paths)}, such as {paths[0]}")
    return LoadReport(
        source=read.scanned.root,
        layout=layout.name,
        files=tuple(read.kept[row].path for group in sets for row in group.rows),
        skipped=tuple(read.skipped),
        notes=(*notes, *read.scanned.notes()),
        seconds=time.perf_counter() - started,
    )


def _lost_sets(read: _Images, layout: Layout, may_lose: bool) -> list[Skipped]:
    """The sets without a readable image: an error, or a report of each."""
    full = {layout.home(image) for image in read.kept}
    reasons = {left.path: left.reason for left in read.skipped}
    lost: dict[tuple[str, ...], FoundFile] = {}
    for image in read.scanned.images:
        if layout.has(image) and layout.home(image) not in full:
            lost.setdefault(layout.home(image), image)
    root, told = read.scanned.root, []
    for home, first in lost.items():
        why = reasons[first.path]
        reason = f"no image that can be read. The first is {first.path}, which {why}"
        if not may_lose or not full:
            reject(f"set {read.scanned.set_name(home)!r} of {root} has {reason}")
        told.append(Skipped(root.joinpath(*home), f"is a set with {reason}"))
    return told
