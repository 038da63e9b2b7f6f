"""Albums of photos to try the page on, cut out of pictures that packages bring along.

    python benchmarks/page_photos.py out/page     photos/, inbox/ and things.setwise

Of scikit-image: Chelsea the cat, coffee, a rocket, Eileen Collins, Hubble's deep field, coins,
the moon and a photographer, all in the public domain or CC0. Of Matplotlib: Grace Hopper, in
the public domain. Of scikit-learn: a flower by vultilion and a temple by danielbuechele, both
CC BY 2.0.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from PIL import Image, ImageEnhance

SIZE = (960, 720)
# Albums of the gallery, and of the inbox: who is new there, who is in one album with others.
GALLERY = {
    "Chelsea": 4, "Eileen": 4, "coffee": 3, "rocket": 3, "flower": 3, "temple": 2, "moon": 1,
}  # fmt: skip
INBOX = (
    "Chelsea", "Chelsea coffee", "Eileen", "coffee", "flower", "Grace", "Grace", "Grace",
    "Hubble", "Hubble", "rocket", "temple", "moon", "coins",
)  # fmt: skip
OCCASIONS = ("summer", "garden", "Sunday", "trip")


def pictures() -> dict[str, Image.Image]:
    """The pictures, by who or what they show."""
    import matplotlib as mpl
    import sklearn
    from skimage import data

    here = Path(sklearn.__file__).parent / "datasets" / "images"
    grace = Path(mpl.get_data_path()) / "sample_data" / "grace_hopper.jpg"
    of_skimage = {
        "Chelsea": data.chelsea, "Eileen": data.astronaut, "coffee": data.coffee,
        "rocket": data.rocket, "Hubble": data.hubble_deep_field, "coins": data.coins,
        "moon": data.moon, "photographer": data.camera,
    }  # fmt: skip
    found = {name: Image.fromarray(make()) for name, make in of_skimage.items()}
    for name, path in (("Grace", grace), ("flower", here / "flower.jpg"),
                       ("temple", here / "china.jpg")):  # fmt: skip
        found[name] = Image.open(path)
    return {name: picture.convert("RGB") for name, picture in found.items()}


def shots(
    picture: Image.Image, n_photos: int, seed: int, size: tuple[int, int] = SIZE
) -> list[Image.Image]:
    """Pieces of a picture, as if photographed from here and there, in other light."""
    rng = np.random.default_rng(seed)
    width, height = picture.size
    made = []
    for _ in range(n_photos):
        share = rng.uniform(0.6, 0.9)
        wide = min(width, height * size[0] / size[1]) * share
        high = wide * size[1] / size[0]
        left, top = (
            (width - wide) * rng.uniform(0.2, 0.8),
            (height - high) * rng.uniform(0.2, 0.8),
        )
        turned = picture.rotate(rng.uniform(-5, 5), Image.Resampling.BICUBIC)
        box = (round(left), round(top), round(left + wide), round(top + high))
        piece = turned.crop(box).resize(size, Image.Resampling.LANCZOS)
        piece = ImageEnhance.Brightness(piece).enhance(rng.uniform(0.75, 1.2))
        made.append(ImageEnhance.Color(piece).enhance(rng.uniform(0.8, 1.2)))
    return made


def write_album(folder: Path, photos: list[Image.Image]) -> Path:
    """Write photos as a camera names them."""
    folder.mkdir(parents=True, exist_ok=True)
    for i, photo in enumerate(photos):
        photo.save(folder / f"IMG_{2000 + i}.jpg", quality=88)
    return folder


def write_albums(root: Path) -> Path:
    """Write ``photos/`` by name and album, and an ``inbox/`` of albums without names."""
    found, seed = pictures(), 0
    for label, n_albums in GALLERY.items():
        for occasion in OCCASIONS[:n_albums]:
            seed += 1
            write_album(root / "photos" / label / occasion, shots(found[label], 8, seed))
    for number, labels in enumerate(INBOX, start=1):
        photos: list[Image.Image] = []
        for label in labels.split():
            seed += 1
            photos += shots(found[label], 5 + seed % 4, 500 + seed)
        write_album(root / "inbox" / f"2026-07-{number:02d}", photos)
    return root


def write_heap(folder: Path, n_photos: int, size: tuple[int, int] = SIZE) -> dict[str, str]:
    """Write photos of everything into one folder, as of a camera; what each file shows."""
    found = pictures()
    names = np.random.default_rng(0).choice(list(found), n_photos).tolist()
    folder.mkdir(parents=True, exist_ok=True)
    for i, name in enumerate(names):
        photo = shots(found[name], 1, 10_000 + i, size)[0]
        photo.save(folder / f"IMG_{1000 + i}.jpg", quality=88)
    return {f"IMG_{1000 + i}.jpg": name for i, name in enumerate(names)}


def write_gallery(root: Path) -> Path:
    """A gallery file of the albums below ``photos/``."""
    from setwise import CVC
    from setwise.io import load_images

    sets = load_images(root / "photos", size=64, colour=True, labelled=True)
    clf = CVC.for_images(unknown=0.2, random_state=0).fit(sets, sets.labels)
    return clf.save(root / "things.setwise")


if __name__ == "__main__":
    home = Path(sys.argv[1])
    if not (home / "things.setwise").exists():
        write_gallery(write_albums(home))
