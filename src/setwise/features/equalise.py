"""Histogram equalisation."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise.features.images import ImageFeature
from setwise.features.pixels import as_bytes

__all__ = ["Equalised"]


class Equalised(ImageFeature):
    """Spread the brightness of each image evenly, so that lighting matters less.

    A pixel's new value says what share of the image is at most as bright, of 255. An image of
    one brightness becomes white. Needs scikit-image: ``pip install "setwise[image]"``.

    Images in, grey images of dtype uint8 out, for another feature to look at. Colour becomes
    brightness, ``0.299 R + 0.587 G + 0.114 B``. An image of floats of which none exceeds 1 is
    taken for one in 0 to 1; all other values must lie in 0 to 255.

    Examples
    --------
    >>> import numpy as np
    >>> Equalised().transform(np.array([[[10, 10, 20, 30]]], dtype=np.uint8))
    array([[[128, 128, 191, 255]]], dtype=uint8)
    """

    libraries = ("scikit-image",)
    sees_bytes = True

    def compute(self, images: npt.NDArray[Any]) -> npt.NDArray[np.uint8]:
        """Equalised images."""
        equalise = require("skimage.exposure", "image").equalize_hist
        shares = [equalise(image) for image in as_bytes(images, "Equalised")]
        return np.rint(255 * np.stack(shares)).astype(np.uint8)
