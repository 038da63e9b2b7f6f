"""A heap sorted by what its photos show as a whole: things, pets, places."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from hashlib import blake2b
from importlib.metadata import version
from itertools import count, islice
from pathlib import Path
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from setwise._support.files import cache_folder
from setwise._support.parallel import in_threads
from setwise._support.text import free_names
from setwise._support.types import Array, IntArray
from setwise.classify import CVC
from setwise.classify.image_features import installed_features
from setwise.errors import DataError
from setwise.features import HOG, ImageFeature, Network, Pixels
from setwise.features.cache import FeatureFile
from setwise.io.decode import Wanted, decode, fitted_size, pillow_at_work
from setwise.io.loading_report import Skipped
from setwise.io.scan import FoundFile, scan
from setwise.page.start.items import UNKNOWN, UNKNOWN_LABEL, Found, Item
from setwise.page.start.photo_groups import PhotoGroups
from setwise.sets import Origins, SetBatch

MOST_FILES, MAX_PIXELS = 100_000, 64_000_000
SEEN, KEPT, SHOWN = 224, 64, 320  # pixels that are grouped by, of the gallery, and shown
AT_ONCE = 8  # photos that go through the network together
# Photos of a folder become albums of about so many: of one album alone, nothing can be tried.
ALBUM, FEWEST = 24, 2
VERSION = 1  # changes with everything that a cached photo depends on
Pixelwise: TypeAlias = npt.NDArray[np.uint8]


@dataclass(frozen=True)
class Photo:
    """What is kept of a photo."""

    pixels: Pixelwise  # of the gallery
    vector: npt.NDArray[np.float32]  # that it is grouped by
    copy: npt.NDArray[np.float32]  # of a part of it, mirrored: the same thing seen otherwise
    time: str | None  # when it was taken
    parts: tuple[str, ...]  # its folders and name


@dataclass(frozen=True)
class _Look:
    """What one look at a file gives; it is kept in the cache."""

    pixels: Pixelwise
    picture: bytes
    time: str
    vectors: npt.NDArray[np.float32]  # of the photo, and of its copy

    def packed(self) -> npt.NDArray[np.uint8]:
        """All of it as bytes."""
        stream = io.BytesIO()
        shown = np.frombuffer(self.picture, dtype=np.uint8)
        arrays = {"pixels": self.pixels, "vectors": self.vectors, "time": np.array(self.time)}
        np.savez(stream, picture=shown, **arrays)  # type: ignore[arg-type]
        return np.frombuffer(stream.getvalue(), dtype=np.uint8)

    @classmethod
    def unpacked(cls, content: Array) -> _Look:
        """What :meth:`packed` gave."""
        with np.load(io.BytesIO(content.tobytes()), allow_pickle=False) as found:
            picture = found["picture"].tobytes()
            return cls(found["pixels"], picture, str(found["time"]), found["vectors"])


@lru_cache(maxsize=1)
def _feature() -> ImageFeature:
    """What photos are grouped by: a network where it is installed, else edges or colours."""
    features = installed_features()
    if "network" in features:
        return Network()
    return HOG(64, cell=8) if "edges" in features else Pixels(20)


class PhotosKind:
    """Whole photos, grouped by what they show."""

    noun = "thing"

    def __init__(self) -> None:
        self._groups = PhotoGroups()

    def missing(self) -> str | None:
        """Nothing is missing anywhere."""
        return None

    def count(self, folder: Path) -> int:
        """Number of photos."""
        return len(scan(folder, MOST_FILES).images)

    def items(self, folder: Path) -> Iterator[Found]:
        """One photo after the other."""
        images = scan(folder, MOST_FILES).images
        cache = FeatureFile(cache_folder() / "photos.sqlite")
        with pillow_at_work():
            work = in_threads(partial(_seen, cache=cache), images, -1)
            each = zip(images, work, strict=True)
            while part := list(islice(each, AT_ONCE)):
                yield from _items(part, cache)

    def groups(
        self, items: Sequence[Item], settled: IntArray, apart: Sequence[tuple[int, int]]
    ) -> IntArray:
        """Group of each photo; a photo that is like no other has one of its own."""
        vectors = np.stack([item.content.vector for item in items])
        copies = np.stack([item.content.copy for item in items])
        return self._groups.update(vectors, copies, settled, apart)

    def alike(
        self, items: Sequence[Item], groups: Sequence[Sequence[int]]
    ) -> list[tuple[int, int]]:
        """Pairs of groups that may be one thing, the most similar first."""
        return self._groups.alike(groups)

    def gallery(self, items: Sequence[Item], who: Sequence[str | None]) -> CVC:
        """A gallery of the photos that have a name, in albums."""
        albums, labels = _albums(items, who)
        photos: list[list[Photo]] = [[items[i].content for i in album] for _, album in albums]
        images = [np.stack([photo.pixels for photo in own]) for own in photos]
        sets = SetBatch.from_images(images, free_names([name for name, _ in albums], ()))
        origins = Origins.of_files(
            ["/".join(photo.parts) for own in photos for photo in own],
            [photo.time for own in photos for photo in own],
            [items[i].picture for _, album in albums for i in album],
        )
        clf = CVC.for_images(unknown=UNKNOWN, unknown_label=UNKNOWN_LABEL, random_state=0)
        return clf.fit(sets.replaced(origins=origins), labels)

    def free_names(self, taken: Sequence[str]) -> Iterator[str]:
        """Names for things that have none."""
        names = (f"thing {number}" for number in count(1))
        return (name for name in names if name not in set(taken))


def _key(path: Path) -> bytes:
    about = f"photo {VERSION} {version('setwise')} {_feature()} {_feature().get_params()}"
    digest = blake2b(about.encode(), digest_size=20)
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.digest()


Seen: TypeAlias = tuple[bytes, "_Look | Pixelwise | DataError", bytes, str]


def _seen(image: FoundFile, cache: FeatureFile) -> Seen:
    """A photo as the cache has it, or as it is decoded; errors are returned."""
    from PIL import Image

    try:
        key = _key(image.path)
        known = cache.find([key]).get(key)
        if known is not None:
            return key, _Look.unpacked(known), b"", ""
        photo = decode(image.path, Wanted(None, True, MAX_PIXELS, longest=SHOWN))
    except OSError as error:
        return b"", DataError(f"{image.path} cannot be read: {error.strerror}."), b"", ""
    except DataError as error:
        return b"", error, b"", ""
    whole = Image.fromarray(photo.pixels)
    stream = io.BytesIO()
    shown = whole.resize(
        fitted_size(whole.size, SHOWN), Image.Resampling.BILINEAR, reducing_gap=2
    )
    shown.save(stream, "JPEG", quality=80)
    square = np.asarray(whole.resize((SEEN, SEEN), Image.Resampling.BILINEAR, reducing_gap=2))
    time = "" if photo.time is None else photo.time.isoformat()
    return key, square, stream.getvalue(), time


def _items(part: Sequence[tuple[FoundFile, Seen]], cache: FeatureFile) -> Iterator[Found]:
    """The items of some photos, whose vectors are computed together."""
    new = [square for _, (_, square, _, _) in part if isinstance(square, np.ndarray)]
    seen = [view for square in new for view in (square, _altered(square))]
    values = np.asarray(_feature().transform(np.stack(seen)), np.float32) if new else ()
    vectors = iter(np.reshape(values, (len(new), 2, -1)) if new else ())
    made: dict[bytes, Array] = {}
    for image, (key, square, picture, time) in part:
        if isinstance(square, DataError):
            yield [], (Skipped(image.path, str(square)),)
            continue
        look = square
        if isinstance(look, np.ndarray):
            look = _Look(_small(look), picture, time, next(vectors))
            made[key] = look.packed()
        vector, copy = look.vectors
        photo = Photo(look.pixels, vector, copy, look.time or None, image.parts)
        name = "/".join(image.parts)
        yield [Item(name, name, image.path, look.picture, photo)], ()
    cache.keep(made)


def _altered(square: Pixelwise) -> Pixelwise:
    """Three quarters of a photo, mirrored."""
    from PIL import Image

    side = len(square)
    box = (side // 5, 0, side // 5 + 3 * side // 4, 3 * side // 4)
    part = Image.fromarray(square[:, ::-1]).crop(box)
    return np.asarray(part.resize((side, side), Image.Resampling.BILINEAR))


def _small(square: Pixelwise) -> Pixelwise:
    from PIL import Image

    size = (KEPT, KEPT)
    return np.asarray(Image.fromarray(square).resize(size, Image.Resampling.BILINEAR))


def _albums(
    items: Sequence[Item], who: Sequence[str | None]
) -> tuple[list[tuple[str, list[int]]], list[str]]:
    """Albums of the photos of each name, by folder and a few at a time; and their names."""
    homes: dict[tuple[str, tuple[str, ...]], list[int]] = {}
    for i, (item, name) in enumerate(zip(items, who, strict=True)):
        if name is not None:
            homes.setdefault((name, item.content.parts[:-1]), []).append(i)
    albums, labels = [], []
    for (name, folders), own in homes.items():
        own.sort(key=lambda i: (items[i].content.time or "", items[i].key))
        n_parts = max(1, round(len(own) / ALBUM))
        if len(own) >= 2 * FEWEST and sum(n == name for n, _ in homes) == 1:
            n_parts = max(n_parts, 2)
        for part in np.array_split(own, n_parts):
            albums.append(("/".join(folders) or name, part.tolist()))
            labels.append(name)
    return albums, labels
