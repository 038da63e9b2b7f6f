"""Which video files lie in a folder, and what they are called."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from setwise.errors import reject
from setwise.io.scan import check_any, scan

__all__ = ["LAYOUTS", "VIDEO_SUFFIXES", "clip_names", "find_clips"]

VIDEO_SUFFIXES = frozenset({
    ".mp4", ".m4v", ".mov", ".3gp", ".avi", ".mkv", ".webm", ".mpg", ".mpeg", ".ts", ".mts",
    ".m2ts", ".vob", ".ogv", ".flv", ".wmv", ".asf", ".gif",
})  # fmt: skip
# How many folders lie between the root and its clips, in the words of `load_images`.
LAYOUTS = {"class/set": 1, "set": 0}


def find_clips(
    root: Path,
    layout: str,
    max_files: int,
    exclude: Sequence[str] = (),
    follow_links: bool = False,
) -> tuple[str, list[Path], tuple[str, ...]]:
    """How the video files of a folder lie there, the files in natural order, and notes.

    Raises
    ------
    DataError
        Where :func:`setwise.io.scan.scan` does; and where there is no clip, a clip that
        must not be opened, or one where the layout has none.
    """
    scanned = scan(
        root, max_files, VIDEO_SUFFIXES, "videos", exclude=exclude, follow_links=follow_links
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
    """What sets are called: the path of a clip without suffix, unless two would be the same.

    Examples
    --------
    >>> clip_names([Path("a/1.mp4"), Path("b/1.mp4"), Path("b/1.avi")])
    ['a/1', 'b/1.mp4', 'b/1.avi']
    """
    plain = [clip.with_suffix("").as_posix() for clip in clips]
    counts = Counter(plain)
    return [
        name if counts[name] == 1 else clip.as_posix()
        for name, clip in zip(plain, clips, strict=True)
    ]
