"""Sets read from files, with a report of the reading."""

from __future__ import annotations

import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from setwise.errors import SkippedFilesWarning
from setwise.sets import SetBatch


@dataclass(frozen=True)
class Skipped:
    """A file, or a frame of one, that was left out, and the reason.

    Examples
    --------
    >>> from pathlib import Path
    >>> Skipped(Path("DCIM/notes.txt"), "no image").reason
    'no image'
    """

    path: Path
    reason: str


@dataclass(frozen=True)
class LoadReport:
    """What a loader read: ``files`` has the file of each vector.

    Examples
    --------
    >>> from pathlib import Path
    >>> print(LoadReport(Path("sets"), "set", (Path("sets/anna/1.png"),)))
    sets: 1 images read as set, 0 skipped, 0.0 s
    """

    source: Path
    layout: str  # such as "class/set"
    files: tuple[Path, ...]
    skipped: tuple[Skipped, ...] = ()
    notes: tuple[str, ...] = ()  # such as how many images were turned by their EXIF tag
    seconds: float = 0.0
    what: str = "images"  # what the vectors are

    def __str__(self) -> str:
        lines = [
            f"{self.source}: {len(self.files)} {self.what} read as {self.layout}, "
            f"{len(self.skipped)} skipped, {self.seconds:.1f} s"
        ]
        lines += [f"  {note}" for note in self.notes]
        lines += [f"  skipped {left.path}: {left.reason}" for left in self.skipped[:20]]
        if len(self.skipped) > 20:
            lines.append(f"  ... and {len(self.skipped) - 20} more")
        return "\n".join(lines)

    def to_dict(self) -> dict[str, Any]:
        """The report in JSON types; files are counted, not listed."""
        return {
            "source": str(self.source),
            "layout": self.layout,
            "n_images": len(self.files),
            "skipped": [{"path": str(s.path), "reason": s.reason} for s in self.skipped],
            "notes": list(self.notes),
            "seconds": self.seconds,
        }


class LoadedSets(SetBatch):
    """Sets from files, with a ``report``. Any part of it is a `SetBatch`.

    Examples
    --------
    >>> from pathlib import Path
    >>> from setwise import SetBatch
    >>> report = LoadReport(Path("sets.npz"), "one array per set", ())
    >>> LoadedSets(SetBatch.from_list([[[1.0, 2.0]]]), report).report.source.name
    'sets.npz'
    """

    def __init__(self, sets: SetBatch, report: LoadReport) -> None:
        content = (sets.vectors, sets.offsets, sets.names, sets.labels)
        super().__init__(*content, sets.image_shape, sets.origins)
        self.report = report


def loaded_file(
    sets: SetBatch, path: Path, layout: str, started: float, notes: tuple[str, ...] = ()
) -> LoadedSets:
    """All sets of one file, whose reading began at ``started``."""
    what = "vectors" if sets.image_shape is None else "images"
    files, seconds = (path,) * len(sets.vectors), time.perf_counter() - started
    return LoadedSets(sets, LoadReport(path, layout, files, (), notes, seconds, what))


def warn_left_out(owner: str, of: str, skipped: list[Skipped], stacklevel: int = 3) -> None:
    """Warn that some files were left out, with the first of them."""
    first = f"the first {skipped[0].path}, which {skipped[0].reason}"
    msg = f"{owner}: {len(skipped)} of {of} were left out, {first} The report lists them all."
    warnings.warn(msg, SkippedFilesWarning, stacklevel=stacklevel)
