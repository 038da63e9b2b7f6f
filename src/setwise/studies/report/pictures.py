"""What the sets of some data look like: images where there are any, else strips of numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.lazy import lazy
from setwise.errors import SetwiseError
from setwise.report.photos import Sprite, png_data_uri, sprite, strip_data_uri
from setwise.sets import SetBatch
from setwise.studies.data import read_data
from setwise.studies.spec import Data

__all__ = ["Album", "Pictures"]

# Images of a set that a page shows; of more, evenly spread ones.
MOST_IMAGES = 70


@dataclass(frozen=True)
class Album:
    """The images of one set.

    Attributes
    ----------
    sprite : Sprite
        All of them in one picture.
    images : array of int
        Which image of the set each place shows.
    n_images : int
        How many the set has.
    """

    sprite: Sprite
    images: npt.NDArray[np.int64]
    n_images: int


@dataclass(frozen=True)
class Pictures:
    """Pictures of the sets of some data.

    Attributes
    ----------
    sets : SetBatch or None
        What is shown; None where the data is not at hand.
    labels : array of str
        Class of each set.
    why_none : str
        Why there are no pictures, where there are none.
    """

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

    @lazy
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
