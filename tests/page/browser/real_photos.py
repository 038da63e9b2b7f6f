"""Folders of real photos: pieces of the pictures that scikit-image brings along."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

SIDE, N_PHOTOS = 160, 8
# Which picture a class is cut out of; the rocket has one set only, and so is weak.
PICTURES = {"cat": "chelsea", "astronaut": "astronaut", "coffee": "coffee", "rocket": "rocket"}
N_SETS = {"cat": 3, "astronaut": 3, "coffee": 2, "rocket": 1}


def cuts(picture: str, seed: int, n_photos: int = N_PHOTOS) -> list[Image.Image]:
    """Pieces of one of scikit-image's pictures, as if photographed from here and there."""
    from skimage import data

    whole = Image.fromarray(getattr(data, picture)()).convert("RGB")
    rng = np.random.default_rng(seed)
    side = 0.75 * min(whole.size)
    pieces = []
    for _ in range(n_photos):
        left, top = ((length - side) * rng.uniform(0.3, 0.7) for length in whole.size)
        piece = whole.crop((int(left), int(top), int(left + side), int(top + side)))
        pieces.append(piece.resize((SIDE, SIDE)).rotate(rng.uniform(-6, 6)))
    return pieces


def write_set(folder: Path, photos: list[Image.Image]) -> Path:
    folder.mkdir(parents=True)
    for i, photo in enumerate(photos):
        photo.save(folder / f"IMG_{i + 1}.jpg", quality=92)
    return folder


def write_gallery(root: Path) -> Path:
    """A gallery file of nine sets of four classes, with a threshold for unknown sets."""
    from setwise import CVC
    from setwise.io import load_images

    for label, n_sets in N_SETS.items():
        for i in range(n_sets):
            photos = cuts(PICTURES[label], seed=10 * i + len(label))
            write_set(root / "photos" / label / f"day {i + 1}", photos)
    sets = load_images(root / "photos", size=24, colour=True, labelled=True)
    looks = (("plain", "mean"), ("plain", "svd"))  # few, so that many tests are quick
    clf = CVC(dims=(1, 2, 3), representations=looks, unknown=0.3, random_state=0)
    return clf.fit(sets, sets.labels).save(root / "people.setwise")


def write_probes(root: Path) -> dict[str, Path]:
    """Sets to ask about: a cat among whose photos are two of coffee, and an unknown set."""
    mixed = cuts("chelsea", 77)
    mixed[2:4] = cuts("coffee", 78, 2)
    return {
        "cat": write_set(root / "a cat", cuts("chelsea", 76)),
        "mixed": write_set(root / "mixed", mixed),
        "unknown": write_set(root / "a stranger", cuts("coins", 79)),
    }


def write_inbox(root: Path) -> Path:
    """Six sets that nobody has named: one of two things, one with two photos out of place."""
    given = {"one": "chelsea", "two": "astronaut", "three": "coffee", "four": "coins"}
    for i, (name, picture) in enumerate(given.items()):
        write_set(root / name, cuts(picture, 100 + i))
    write_set(root / "five", [*cuts("chelsea", 110, 4), *cuts("astronaut", 111, 4)])
    six = cuts("chelsea", 120)
    six[2:4] = cuts("coffee", 121, 2)
    write_set(root / "six", six)
    (root / "one" / "broken.png").write_bytes(b"no photo")
    return root
