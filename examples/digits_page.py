"""Something to open the page with: a gallery of digits, and an inbox to be sorted.

``python examples/digits_page.py FOLDER`` writes ``digits.setwise`` and ``inbox/``.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

from setwise.classify import CVC
from setwise.demo import digit_sets
from setwise.io import load_images, save_images
from setwise.sets import SetBatch

__all__ = ["write_page_demo"]

WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
SIDE = 32
# One in as many classes as there are: with fewer strangers nobody could tell.
UNKNOWN_RATE = 0.125


def write_page_demo(folder: str | Path, *, n_gallery: int = 4, n_probes: int = 2) -> Path:
    """Write a gallery of eight digits, and an inbox of sets of all ten.

    Parameters
    ----------
    folder : str or Path
        Where ``digits.setwise`` and ``inbox/`` go; what is there already stays as it is.
    n_gallery, n_probes : int
        Sets of each digit.

    Returns
    -------
    Path
        The gallery file.
    """
    root = Path(folder)
    gallery = root / "digits.setwise"
    if gallery.exists():
        return gallery
    root.mkdir(parents=True, exist_ok=True)
    made = digit_sets(n_gallery, n_probes, 12, 3, 1, one_other=True, hidden=(0, 5), light=0.4)
    if not (root / "inbox").exists():
        save_images(_pictures(made.probes, "set {}"), root / "inbox")
    if not (root / "photos").exists():
        save_images(_pictures(made.gallery, "{}", is_labelled=True), root / "photos")
    sets = load_images(root / "photos", size=SIDE, labelled=True)
    clf = CVC(unknown=UNKNOWN_RATE, n_jobs=-1, random_state=0).fit(sets, sets.labels)
    return clf.save(gallery)


def _pictures(sets: SetBatch, name: str, *, is_labelled: bool = False) -> SetBatch:
    """The sets as pictures that are large enough to be looked at."""
    from PIL import Image

    def larger(vector: Any) -> Any:
        image = Image.fromarray(vector.reshape(8, 8).astype(np.uint8))
        return np.asarray(image.resize((SIDE, SIDE), Image.Resampling.BICUBIC))

    labels = np.array([WORDS[int(digit)] for digit in np.asarray(sets.labels)])
    images = [np.stack([larger(vector) for vector in vectors]) for vectors in sets]
    names = [name.format(i + 1) for i in range(len(images))]
    # Sorted by digit, an inbox would be no task.
    order = np.arange(len(images))
    if not is_labelled:
        order = np.random.default_rng(0).permutation(order)
    return SetBatch.from_images(
        [images[i] for i in order], names, labels[order] if is_labelled else None
    )


if __name__ == "__main__":
    write_page_demo(sys.argv[1])
