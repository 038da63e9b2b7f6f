"""Which of the folders of images are sets, and which are classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, NoReturn

from setwise.errors import reject
from setwise.io.bursts import burst_name, bursts
from setwise.io.scan import FoundFile, Scan, check_any

__all__ = [
    "LAYOUTS",
    "Layout",
    "SetOfFiles",
    "decide_layout",
    "group_into_sets",
    "refuse_unlabelled",
]


@dataclass(frozen=True)
class Layout:
    """How images lie below the root.

    Attributes
    ----------
    name : str
        What it is called.
    least, most : int
        How many folders lie between the root and an image; ``most`` is ``None`` where there
        may be any number of them.
    has_labels : bool
        Whether the first folder is the class.
    by_time : bool
        Whether sets are told apart by time, not by folder.
    """

    name: str
    least: int
    most: int | None
    has_labels: bool = False
    by_time: bool = False

    @property
    def is_uneven(self) -> bool:
        """Whether sets lie at several depths."""
        return not self.by_time and self.least != self.most

    def has(self, image: FoundFile) -> bool:
        """Whether an image lies where images of this layout do."""
        return self.least <= image.depth and (self.most is None or image.depth <= self.most)

    def home(self, image: FoundFile) -> tuple[str, ...]:
        """The folder that an image is in one set with, or in bursts with."""
        if self.by_time:
            return image.parts[: self.least]
        return image.parts[:-1]


LAYOUTS = {
    layout.name: layout
    for layout in (
        Layout("class/set", 2, 2, has_labels=True),
        Layout("class", 1, 1, has_labels=True),
        Layout("set", 1, 1),
        Layout("single", 0, 0),
        Layout("bursts", 0, None, by_time=True),
        Layout("class/bursts", 1, None, has_labels=True, by_time=True),
    )
}
_SHAPES = (
    "'class/set' (root/class/set/image), 'class' (root/class/image, one set per class), 'set' "
    "(root/set/image), 'single' (root/image), 'bursts' (by time, at any depth) or "
    "'class/bursts' (by time, at any depth below root/class)"
)


class SetOfFiles(NamedTuple):
    """A set to be: its name, its class where it has one, and which images are its own."""

    name: str
    label: str | None
    rows: list[int]


def decide_layout(scanned: Scan, name: str, labelled: bool = False) -> Layout:
    """The layout of a scanned folder: the one named, or for ``"auto"`` what its depths say.

    Folders of photos look like folders of sets: bursts are never guessed.

    Parameters
    ----------
    scanned : Scan
        What was found.
    name : str
        One of `LAYOUTS`, or ``"auto"``.
    labelled : bool
        Whether the sets must have classes.

    Raises
    ------
    DataError
        Where there are no images, or images at depths that the layout does not have, or no
        classes where there must be.
    """
    check_any(scanned)
    images = [image for image in scanned.images if image.problem is None]
    if not images:
        reject(f"{scanned.images[0].path} {scanned.images[0].problem}")
    if name == "auto":
        guess = _guess_labelled if labelled else _guess
        return guess(scanned.root, images)
    layout = LAYOUTS[name]
    if labelled and not layout.has_labels:
        refuse_unlabelled(scanned.root, f"the layout {name!r} has none")
    for image in images:
        if not layout.has(image):
            _refuse_depth(scanned.root, image, layout)
    return layout


def refuse_unlabelled(source: Path, reason: str) -> NoReturn:
    """Say how sets get their classes."""
    reject(
        f"{source}: the sets need classes, and {reason}. Expected a folder per class: "
        "gallery/anna/*.jpg, where each is one set, or class/set/*.jpg, such as "
        "gallery/anna/party/*.jpg, where it has several; class/*.mp4 for clips; and for a "
        ".mat or .npz file, what holds its labels (labels=, --labels)."
    )


def _refuse_depth(root: Path, image: FoundFile, layout: Layout) -> NoReturn:
    more = " or more" if layout.most is None else ""
    reject(
        f"{image.path} lies {image.depth} folders below {root}, and the layout "
        f"{layout.name!r} has its images {layout.least}{more} below. Move or exclude it, or "
        f"choose another layout: {_SHAPES}."
    )


def _guess(root: Path, images: Sequence[FoundFile]) -> Layout:
    """What the depths say where no classes are asked for."""
    _check_not_deep(root, images)
    depths = {image.depth for image in images}
    if len(depths) == 1:
        return LAYOUTS[("single", "set", "class/set")[depths.pop()]]
    folders = {image.parts[:-1]: image for image in images}
    for image in images:
        above = (folders.get(image.parts[:n]) for n in range(image.depth))
        outer = next(filter(None, above), None)
        if outer is not None:
            # Whether it belongs to the set of the folder above, nobody can tell.
            _refuse_mixture(root, outer, image)
    return replace(LAYOUTS["set"], most=2)


def _guess_labelled(root: Path, images: Sequence[FoundFile]) -> Layout:
    """What the depths say where the first folder is the class."""
    loose = next((image for image in images if image.depth == 0), None)
    if loose is not None:
        refuse_unlabelled(root, f"{loose.path} lies in no folder")
    _check_not_deep(root, images)
    depths = {image.depth for image in images}
    layout = LAYOUTS["class" if depths == {1} else "class/set"]
    return replace(layout, least=min(depths))


def _check_not_deep(root: Path, images: Sequence[FoundFile]) -> None:
    deep = next((image for image in images if image.depth > 2), None)
    if deep is not None:
        reject(
            f"{deep.path} lies {deep.depth} folders below {root}. Expected at most 2: load a "
            f"folder further down, exclude it, or choose a layout: {_SHAPES}."
        )


def _refuse_mixture(root: Path, outer: FoundFile, inner: FoundFile) -> NoReturn:
    reject(
        f"{root} mixes layouts: {outer.path} lies {outer.depth} folders below it, "
        f"{inner.path} {inner.depth}. Move or exclude one of them, say that folders are "
        f"classes (labelled), or choose a layout: {_SHAPES}."
    )


def group_into_sets(
    images: Sequence[FoundFile],
    times: Sequence[datetime | None],
    scanned: Scan,
    layout: Layout,
    gap_s: float,
) -> list[SetOfFiles]:
    """The sets that images belong to: by folder, in natural order, or by time.

    Parameters
    ----------
    images : sequence of FoundFile
        Images in natural order.
    times : sequence of datetime or None
        When each was taken; only bursts look at them.
    scanned : Scan
        Where they were found.
    layout : Layout
        How they lie there.
    gap_s : float
        Pause that begins a new burst.
    """
    sets = []
    homes = groupby(range(len(images)), key=lambda row: layout.home(images[row]))
    for home, members in homes:
        rows = list(members)
        label = home[0] if layout.has_labels else None
        if not layout.by_time:
            sets.append(SetOfFiles(scanned.set_name(home), label, rows))
            continue
        # No photo without a time is kept where sets are told apart by it.
        taken = [time for row in rows if (time := times[row]) is not None]
        for burst in bursts(taken, gap_s):
            name = "/".join((*home, burst_name(taken[burst[0]])))
            sets.append(SetOfFiles(name, label, [rows[i] for i in burst]))
    return sets
