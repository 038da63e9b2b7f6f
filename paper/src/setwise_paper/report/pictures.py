"""Pictures of the sets of some data: images, or strips of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from setwise.errors import SetwiseError
from setwise.report.parts import as_pixels, png_data_uri, strip_data_uri
from setwise.sets import SetBatch
from setwise_paper.data import read_data
from setwise_paper.spec import Data

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
