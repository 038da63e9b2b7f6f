"""Which folders of images are sets, and which are classes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import groupby
from pathlib import Path
from typing import NamedTuple, NoReturn

from setwise.errors import reject
from setwise.io.scan import FoundFile, Scan, check_any


def bursts(times: Sequence[datetime], gap_s: float) -> list[list[int]]:
    """Photos grouped by time: a pause of more than ``gap_s`` seconds begins a new burst."""
    groups: list[list[int]] = []
    for i in sorted(range(len(times)), key=times.__getitem__):
        if groups and (times[i] - times[groups[-1][-1]]).total_seconds() <= gap_s:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def burst_name(first: datetime) -> str:
    """Name of a burst: the time of its first photo."""
    return first.isoformat(sep=" ")


@dataclass(frozen=True)
class Layout:
    """Where images lie below the root."""

    name: str
    least: int  # folders between the root and an image
    most: int | None  # None: any number
    has_labels: bool = False  # the first folder is the class
    by_time: bool = False  # sets are bursts, not folders

    @property
    def is_uneven(self) -> bool:
        """Whether sets lie at several depths of a folder."""
        return not self.by_time and self.most is not None and self.least != self.most

    def has(self, image: FoundFile) -> bool:
        """Whether an image lies at a depth of this layout."""
        return self.least <= image.depth and (self.most is None or image.depth <= self.most)

    def home(self, image: FoundFile) -> tuple[str, ...]:
        """The folder that holds the set, or the bursts, of an image."""
        return image.parts[: self.least if self.by_time else -1]


_ALL = (
    Layout("class/set", 2, 2, has_labels=True),
    Layout("class", 1, 1, has_labels=True),
    Layout("set", 1, 1),
    Layout("single", 0, 0),
    Layout("bursts", 0, None, by_time=True),
    Layout("class/bursts", 1, None, has_labels=True, by_time=True),
)
LAYOUTS = {layout.name: layout for layout in _ALL}
# Photos that are given by name: those of a folder are a set.
GIVEN = Layout("photos", 0, None)
_SHAPES = (
    "'class/set' (root/class/set/image), 'class' (root/class/image, one set per class), 'set' "
    "(root/set/image), 'single' (root/image), 'bursts' (by time, at any depth) or "
    "'class/bursts' (by time, at any depth below root/class)"
)


class SetOfFiles(NamedTuple):
    """Name of a set, its class if any, and its images."""

    name: str
    label: str | None
    rows: list[int]


def decide_layout(scanned: Scan, name: str, labelled: bool = False) -> Layout:
    """The named layout, or for ``"auto"`` the one that depths show, never bursts."""
    check_any(scanned)
    images = [image for image in scanned.images if image.problem is None]
    if not images:
        reject(f"{scanned.images[0].path} {scanned.images[0].problem}")
    if name == "auto":
        return (_guess_labelled if labelled else _guess)(scanned.root, images)
    layout = LAYOUTS[name]
    if labelled and not layout.has_labels:
        refuse_unlabelled(scanned.root, f"the layout {name!r} has none")
    for image in images:
        if not layout.has(image):
            more = " or more" if layout.most is None else ""
            reject(
                f"{image.path} lies {image.depth} folders below {scanned.root}, and the layout "
                f"{layout.name!r} has its images {layout.least}{more} below. Move or exclude "
                f"it, or choose another layout: {_SHAPES}."
            )
    return layout


def decide_given(scanned: Scan, name: str, labelled: bool) -> Layout:
    """The layout of photos that are given by name: a set per folder, or bursts."""
    if labelled:
        refuse_unlabelled(scanned.root, "photos given by name have none")
    return LAYOUTS["bursts"] if name == "bursts" else GIVEN


def refuse_unlabelled(source: Path, reason: str) -> NoReturn:
    """Explain how sets get their classes."""
    reject(
        f"{source}: the sets need classes, and {reason}. Expected a folder per class: "
        "gallery/anna/*.jpg, where each is one set, or class/set/*.jpg, such as "
        "gallery/anna/party/*.jpg, where it has several; class/*.mp4 for clips; and for a "
        ".mat or .npz file, what holds its labels (labels=, --labels)."
    )


def _guess(root: Path, images: Sequence[FoundFile]) -> Layout:
    """The layout that the depths show where no classes are required."""
    _check_not_deep(root, images)
    depths = {image.depth for image in images}
    if len(depths) == 1:
        return LAYOUTS[("single", "set", "class/set")[depths.pop()]]
    folders = {image.parts[:-1]: image for image in images}
    for image in images:
        above = (folders.get(image.parts[:n]) for n in range(image.depth))
        outer = next(filter(None, above), None)
        if outer is not None:  # it may belong to the set of the folder above, or not
            reject(
                f"{root} mixes layouts: {outer.path} lies {outer.depth} folders below it, "
                f"{image.path} {image.depth}. Move or exclude one of them, say that folders "
                f"are classes (labelled), or choose a layout: {_SHAPES}."
            )
    return replace(LAYOUTS["set"], most=2)


def _guess_labelled(root: Path, images: Sequence[FoundFile]) -> Layout:
    """The layout that the depths show where the first folder is the class."""
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


def group_into_sets(
    images: Sequence[FoundFile],
    times: Sequence[datetime | None],
    scanned: Scan,
    layout: Layout,
    gap_s: float,
) -> list[SetOfFiles]:
    """The sets of images in natural order: by folder, or bursts by time."""
    sets = []
    for home, members in groupby(range(len(images)), key=lambda row: layout.home(images[row])):
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
