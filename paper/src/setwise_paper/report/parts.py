"""What a report is made of: the numbers at its top, pictures of sets, pages of wrong probes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise.classify import Explanation
from setwise.errors import SetwiseError
from setwise.report.parts import (
    as_pixels,
    cluster_table,
    count_votes,
    number,
    png_data_uri,
    strip_data_uri,
    tree_figure,
)
from setwise.sets import SetBatch
from setwise_paper.accuracy import AccuracyRow, accuracy, agreement, signed
from setwise_paper.data import read_data
from setwise_paper.spec import Data

if TYPE_CHECKING:
    from setwise_paper.study import StudyResult


@dataclass(frozen=True)
class Fact:
    """One number at the top."""

    label: str
    value: str
    unit: str
    note: str
    anchor: str
    mark: str = ""


@dataclass(frozen=True)
class _Entry:
    """An accuracy, what has it, and the experiment it is from."""

    called: str
    row: AccuracyRow
    experiment: str
    shows: str

    @property
    def note(self) -> str:
        return f"{self.called}, {self.shows}" if self.shows else self.called

    @property
    def anchor(self) -> str:
        return f"section-{self.experiment}"


def at_a_glance(result: StudyResult) -> tuple[Fact, ...]:
    """The paper's best figure beside ours, our best one, and how much of the work is done."""
    entries = [
        _Entry(called, row, section.experiment.name, section.experiment.shows)
        for section in result.sections
        for called, row in section.accuracies()
    ]
    more = [fact for section in result.sections for fact in section.facts()]
    return (*_beside_paper(entries), *_best(entries), *more[:1], _progress(result))


def _beside_paper(entries: list[_Entry]) -> Iterator[Fact]:
    """The best figure of the paper for CVC itself, whose fusions come first in a study."""
    known = [one for one in entries if one.row.difference is not None]
    ours = [one for one in known if one.called.startswith("CVC")]
    for best in sorted(ours or known, key=lambda one: -_published(one.row))[:1]:
        yield Fact(
            label="The paper says",
            value=accuracy(_published(best.row)),
            unit="%",
            note=best.note,
            anchor=best.anchor,
        )
        yield Fact(
            label="We find",
            value=accuracy(best.row.mean),
            unit="%",
            note=f"{signed(best.row.difference)} points, over {_folds(best.row)}",
            anchor=best.anchor,
            mark=agreement(best.row),
        )


def _published(row: AccuracyRow) -> float:
    published = row.published
    return published.mean if published is not None and published.mean is not None else 0.0


def _best(entries: list[_Entry]) -> Iterator[Fact]:
    """The best accuracy, and whose it is: all of those that share it."""
    if not entries:
        return
    value = accuracy(max(one.row.mean for one in entries))
    best = [one for one in entries if accuracy(one.row.mean) == value]
    names = list(dict.fromkeys(one.called for one in best))
    many = f"{len(names)} methods: {', '.join(names[:2])}" + (", …" if len(names) > 2 else "")
    yield Fact(
        label="Best of all here" if len(names) == 1 else "Best here, shared",
        value=value,
        unit="%",
        note=best[0].note if len(names) == 1 else many,
        anchor=best[0].anchor,
    )


def _progress(result: StudyResult) -> Fact:
    n_failed = len(result.failures)
    left = result.n_items - result.n_finished
    failed = f", {n_failed} failed" if n_failed else ""
    return Fact(
        label="Finished",
        value=str(result.n_finished),
        unit=f"of {result.n_items}",
        note="items of work" + (f": {left} to go{failed}" if left else ""),
        anchor="unfinished" if left or n_failed else "about",
        mark="below" if left or n_failed else "",
    )


def _folds(row: AccuracyRow) -> str:
    return f"{row.n_folds} fold{'' if row.n_folds == 1 else 's'}"


# Images of a set that a page shows; of more, evenly spread ones.
MOST_IMAGES = 70


@dataclass(frozen=True)
class Sprite:
    """Several images in one picture, row by row; ``ratio`` is width over height of each."""

    uri: str
    n_columns: int
    n_rows: int
    ratio: float


def sprite(images: npt.NDArray[Any], n_columns: int = 12, largest_side: int = 40) -> Sprite:
    """Several images in one PNG, row by row, stretched alike; places left over are black."""
    small = []
    for pixels in as_pixels(images, is_many=True):
        picture = Image.fromarray(pixels)
        picture.thumbnail((largest_side, largest_side), Image.Resampling.LANCZOS)
        small.append(np.asarray(picture))
    n_columns = min(n_columns, len(small))
    n_rows = -(-len(small) // n_columns)
    small += [np.zeros_like(small[0])] * (n_rows * n_columns - len(small))
    starts = range(0, len(small), n_columns)
    rows = [np.concatenate(small[start : start + n_columns], axis=1) for start in starts]
    height, width = small[0].shape[:2]
    sheet = np.concatenate(rows)
    return Sprite(png_data_uri(sheet, max(sheet.shape)), n_columns, n_rows, width / height)


@dataclass(frozen=True)
class Album:
    """The images of one set."""

    sprite: Sprite
    images: npt.NDArray[np.int64]
    n_images: int


@dataclass(frozen=True)
class Pictures:
    """Pictures of the sets of some data."""

    sets: SetBatch | None
    labels: npt.NDArray[Any]
    why_none: str = ""

    @classmethod
    def of(cls, data: Data, folder: Path | None) -> Pictures:
        """Read the data again, as it was before features; without it a report has no images."""
        try:
            found = read_data(data.model_copy(update={"feature": None}), folder)
        except (SetwiseError, OSError) as error:
            return cls(
                None, np.array([], dtype=str), f"The data could not be read again: {error}"
            )
        sets = found.sets if found.images is None else found.images
        return cls(sets, np.asarray(found.labels).astype(str))

    @classmethod
    def none(cls) -> Pictures:
        """No pictures, where none are asked for."""
        return cls(None, np.array([], dtype=str))

    @property
    def has_images(self) -> bool:
        """Whether the sets are of images."""
        return self.sets is not None and self.sets.image_shape is not None

    def one(self, index: int, image: int, largest_side: int = 40) -> str:
        """One image of a set as a ``data:`` address; empty where there are no images."""
        shown = self._images(index)
        if shown is None or not 0 <= image < len(shown):
            return ""
        return png_data_uri(shown[image], largest_side)

    def size(self, index: int) -> int:
        """How many images or vectors a set has; 0 where it is not at hand."""
        if self.sets is None or not 0 <= index < len(self.sets):
            return 0
        return len(self.sets[index])

    def album(self, index: int) -> Album | None:
        """All images of a set, or as many as a page shows; None where there are none."""
        shown = self._images(index)
        if shown is None or not len(shown):
            return None
        n_shown = min(len(shown), MOST_IMAGES)
        chosen = np.linspace(0, len(shown) - 1, n_shown).round().astype(np.int64)
        return Album(sprite(shown[chosen]), chosen, len(shown))

    def strip(self, index: int) -> str:
        """The vectors of a set as a strip; empty where they are images, or not at hand."""
        if self.sets is None or self.has_images or not 0 <= index < len(self.sets):
            return ""
        return strip_data_uri(self.sets[index])

    @cached_property
    def of_classes(self) -> Mapping[str, str]:
        """An image of each class: the middle one of its first set."""
        if not self.has_images or self.sets is None:
            return {}
        names, first = np.unique(self.labels, return_index=True)
        sizes = self.sets.sizes
        return {
            str(name): self.one(int(index), int(sizes[index]) // 2)
            for name, index in zip(names, first, strict=True)
        }

    def _images(self, index: int) -> npt.NDArray[Any] | None:
        if self.sets is None or self.sets.image_shape is None:
            return None
        if not 0 <= index < len(self.sets):
            return None
        return self.sets[index].reshape(-1, *self.sets.image_shape)


_MOST_NEIGHBOURS = 6


@dataclass(frozen=True)
class WrongProbe:
    """A probe that got a wrong label, and why."""

    method: str
    fold: int
    seed: int
    probe: str
    truth: str
    answer: str
    index: int
    explanation: Mapping[str, Any]


@dataclass(frozen=True)
class Tile:
    """One image of the probe: what it supports (``"answer"``, ``"other"``, ``""``)."""

    image: int
    supports: str
    words: str


@dataclass(frozen=True)
class Neighbour:
    """An image of the probe beside the gallery image nearest to it."""

    probe_image: str
    gallery_image: str
    place: int
    set_name: str
    label: str
    distance: float | None


@dataclass(frozen=True)
class ProbePage:
    """Everything the page of one wrong probe shows."""

    id: str
    card: str
    previous: str
    next: str
    place: int
    n_pages: int
    wrong: WrongProbe
    thumbnail: str
    votes: Any  # of `count_votes`
    clusters: Any  # of `cluster_table`
    shown: str
    snr: str
    tree: str
    tree_note: str
    album: Album | None
    tiles: tuple[Tile, ...]
    strip: str
    nearest: tuple[Neighbour, ...]
    nearest_of_truth: tuple[Neighbour, ...]
    is_informed: bool

    @property
    def n_doubtful(self) -> int:
        """How many of the images shown support another class."""
        return sum(tile.supports == "other" for tile in self.tiles)


def probe_pages(
    section: str, wrong: Sequence[WrongProbe], pictures: Pictures
) -> tuple[ProbePage, ...]:
    """One page for each wrong probe that is explained, in order, linked to each other."""
    explained = [one for one in wrong if one.explanation.get("why")]
    ids = [f"probe-{section}-{place}" for place in range(1, len(explained) + 1)]
    around = ["", *ids, ""]
    return tuple(
        _page(one, place, around[place : place + 3], len(ids), pictures)
        for place, one in enumerate(explained)
    )


def _page(
    wrong: WrongProbe, place: int, around: list[str], n_pages: int, pictures: Pictures
) -> ProbePage:
    why = Explanation.from_dict(wrong.explanation["why"])
    previous, own, following = around
    kinds = {wrong.truth: "truth", wrong.answer: "answer"}
    tree, note = tree_figure(why, f"Tree of cuts of {wrong.probe}")
    album = pictures.album(wrong.index)
    return ProbePage(
        id=own,
        card=f"card-{own}",
        previous=previous,
        next=following,
        place=place + 1,
        n_pages=n_pages,
        wrong=wrong,
        thumbnail=pictures.one(wrong.index, pictures.size(wrong.index) // 2),
        votes=count_votes(why, kinds),
        clusters=cluster_table(why, kinds),
        shown=str(why.shown),
        snr=number(float(why.snr)),
        tree=tree,
        tree_note=note,
        album=album,
        tiles=() if album is None else tuple(_tile(why, int(i)) for i in album.images),
        strip=pictures.strip(wrong.index),
        nearest=_neighbours(wrong, "nearest", pictures),
        nearest_of_truth=_neighbours(wrong, "nearest_of_truth", pictures),
        is_informed=bool(why.is_informed),
    )


def _tile(why: Explanation, image: int) -> Tile:
    """What one image says, by its support and by how often it changed sides."""
    support = float(why.support[image]) if image < len(why.support) else np.nan
    switches = float(why.sign_switches[image]) if image < len(why.sign_switches) else 0.0
    changed = f"{switches:.1f} sign switches"
    if np.isnan(support):
        return Tile(image, "", f"image {image + 1}: says nothing; {changed}")
    words = f"image {image + 1}: support of the answer {support:.2f}; {changed}"
    return Tile(image, "answer" if support >= 0.5 else "other", words)


def _neighbours(wrong: WrongProbe, which: str, pictures: Pictures) -> tuple[Neighbour, ...]:
    found: Sequence[Mapping[str, Any]] = wrong.explanation.get(which) or ()
    return tuple(
        Neighbour(
            probe_image=pictures.one(wrong.index, int(one["image"])),
            gallery_image=pictures.one(int(one["set"]), int(one["gallery_image"])),
            place=int(one["image"]) + 1,
            set_name=str(one["set_name"]),
            label=str(one["label"]),
            distance=one["distance"],
        )
        for one in found[:_MOST_NEIGHBOURS]
    )
