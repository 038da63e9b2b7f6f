"""Photos of people, composed of faces that come with scikit-image.

The faces are small photographs of real people (25 x 25 pixels, of Labeled Faces in the Wild).
Each photo of a person is the same face in another size, light, sharpness and turn, or mirrored,
before a wall: easier than photographs of years.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image, ImageFilter
from skimage import data

# Places of faces in `lfw_subset` that dlib finds when they are enlarged, of which each two are
# more than 0.62 apart by its network.
FOUND = (
    0, 1, 2, 5, 7, 12, 15, 17, 18, 20, 21, 26, 31,
    34, 45, 46, 50, 52, 62, 66, 72, 84, 85, 88, 93,
)  # fmt: skip


def face(person: int, seed: int, side: int = 150) -> Image.Image:
    """A variant of a face."""
    rng = np.random.default_rng([person, seed])
    pixels = (255 * data.lfw_subset()[FOUND[person]]).astype(np.uint8)
    image = Image.fromarray(pixels).resize((side, side), Image.Resampling.BICUBIC)
    if seed % 2:
        image = image.transpose(Image.Transpose.FLIP_LEFT_RIGHT)
    image = image.rotate(rng.uniform(-6, 6), Image.Resampling.BICUBIC, fillcolor=90)
    light = rng.uniform(0.75, 1.2)
    image = image.point(lambda value: min(255, int(value * light)))
    return image.filter(ImageFilter.GaussianBlur(rng.uniform(0, 1.0)))


def photo(path: Path, people: list[tuple[int, int]], *, side: int = 150, **save) -> Path:
    """A photo of some people side by side, each as (person, seed)."""
    path.parent.mkdir(parents=True, exist_ok=True)
    width = max(640, (side + 60) * len(people) + 60)
    wall = np.tile(data.gravel(), (2, width // 512 + 1))[: side + 240, :width]
    image = Image.fromarray(wall).convert("RGB")
    for i, (person, seed) in enumerate(people):
        image.paste(face(person, seed, side).convert("RGB"), (60 + i * (side + 60), 110))
    image.save(path, quality=92, **save)
    return path
