"""Image files become arrays; every fault of a file becomes a DataError."""

from __future__ import annotations

import io
import stat
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parallel import SharedContext
from setwise.errors import DataError, reject
from setwise.io.heads import JPEG, costly, is_heif
from setwise.io.raw import RAW_SUFFIXES, Preview, is_raw, read_preview, reads_raw

if TYPE_CHECKING:
    from PIL.Image import Image


# The longest side, in pixels.
SIDE = 64
QUALITY = 80
# No rare formats, whose decoders are the weakest.
FORMATS = ("JPEG", "PNG", "BMP", "PPM", "TIFF", "WEBP", "AVIF")
SUFFIXES = frozenset((
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".ppm", ".pgm", ".pbm", ".pnm",
    ".tif", ".tiff", ".webp", ".avif", ".heic", ".heif", ".hif",
)) | (RAW_SUFFIXES if reads_raw() else frozenset())  # fmt: skip
PREVIEW = "of RAW photos, the preview of the camera read"
ROTATED = "turned as their EXIF tag says"
ON_BLACK = "laid on black where transparent"
FIRST_OF_MANY = "of several pictures in one photo (MPO), the first read"
DAMAGED = "with damaged metadata, read without it"

# Formats of one photo with auxiliary pictures.
_OF_SEVERAL = ("MPO", "HEIF")
# Numbers of the components of a camera's JPEG that is neither JFIF nor Adobe.
_YCC_PARTS = [1, 2, 3]
# JPEGs that are decoded at a half or less of their size may have so many times more pixels.
_REDUCED = 4
# Thumbnails are made from this many pixels a side: more make no visible difference.
_ENOUGH = 4 * SIDE

# Pillow's modes of a known scale.
_EIGHT_BITS = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "LAB"}
_SIXTEEN_BITS = {"I;16", "I;16L", "I;16B", "I;16N"}
_KINDS = {stat.S_IFIFO: "pipe", stat.S_IFDIR: "folder", stat.S_IFSOCK: "socket"}
# Tags of EXIF.
_ORIENTATION, _EXIF, _TAKEN, _TAKEN_FRACTION = 0x0112, 0x8769, 0x9003, 0x9291
_TURNS = dict(enumerate(
    ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE", "ROTATE_270",
     "TRANSVERSE", "ROTATE_90"), start=2,
))  # fmt: skip
_ON_THEIR_SIDE = ("TRANSPOSE", "ROTATE_270", "TRANSVERSE", "ROTATE_90")


def fitted_size(size: tuple[int, int], side: int = SIDE) -> tuple[int, int]:
    """``(width, height)`` with the longest side at most ``side``.

    >>> fitted_size((4000, 3000)), fitted_size((20, 30))
    ((64, 48), (20, 30))
    """
    if max(size) <= side:
        return size
    width, height = (max(1, round(length * side / max(size))) for length in size)
    return width, height


def small_jpeg(image: Image) -> bytes:
    """A colour JPEG of at most 64 x 64 pixels, without metadata."""
    from PIL import Image as pillow

    # Whole pixels are added up first, which is much faster.
    size, method = fitted_size(image.size), pillow.Resampling.BILINEAR
    small = image.resize(size, method, reducing_gap=1.0)
    if small.mode != "YCbCr":  # as which JPEG has its colours
        small = small.convert("RGB")
    # Pillow writes the profile and comment that it finds there.
    small.info = {}
    buffer = io.BytesIO()
    small.save(buffer, "JPEG", quality=QUALITY)
    return buffer.getvalue()


@dataclass(frozen=True)
class Wanted:
    """What every image is turned into."""

    size: tuple[int, int] | None  # (height, width), None keeps the size
    colour: bool
    max_pixels: int
    needs_time: bool = False  # an image without a time of its own is left out
    thumbnail: bool = False
    longest: int | None = None  # with no ``size``: JPEGs are reduced to no less than this

    def aim(self, size: tuple[int, int]) -> tuple[int, int] | None:
        """Least width and height to which a JPEG of this size may be reduced."""
        if self.size is not None:  # twice the wanted size leaves the resampling its work
            return (2 * max(self.size),) * 2
        if self.longest is None:
            return None
        width, height = (max(1, side * self.longest // max(size)) for side in size)
        return width, height

    @property
    def mode(self) -> str:
        """Pillow's name of such pixels."""
        return "RGB" if self.colour else "L"


@dataclass(frozen=True)
class Picture:
    """Pixels of a file, remarks on them, time taken, and a small JPEG."""

    pixels: npt.NDArray[np.uint8]
    remarks: tuple[str, ...] = ()
    time: datetime | None = None
    thumbnail: bytes = b""
    full_size: tuple[int, int] = (0, 0)  # (width, height) of the upright photo


class NotSupportedError(DataError):
    """An image that needs a package that is not installed."""


def decode(path: Path, wanted: Wanted) -> Picture:
    """Read one image file, in a block of `pillow_at_work`.

    Of several pictures of one photo (MPO, HEIC) the first is read. A thumbnail does not change
    the pixels by a single bit.
    """
    with _heard() as warned:
        try:
            _check_file(path, wanted.max_pixels)
            picture = _read(path, wanted)
        except DataError:
            raise
        except Exception as error:  # decoders raise anything on damaged files
            reject(f"{path} {_what_is_wrong(error, wanted.max_pixels)}", error)
    if warned and DAMAGED not in picture.remarks:
        return replace(picture, remarks=(*picture.remarks, DAMAGED))
    return picture


def _check_file(path: Path, max_pixels: int) -> None:
    """Refuse files that must not be opened, such as a pipe, which would block."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        kind = _KINDS.get(stat.S_IFMT(about.st_mode), "device")
        reject(f"{path} is no regular file but a {kind}. Leave it out.")
    if about.st_size == 0:
        reject(f"{path} is empty (0 bytes). Expected an image.")
    # Some decoders read the file as a whole before they look at it.
    most = 8 * max_pixels + 2**20
    if about.st_size > most:
        told = f"and no image of max_pixels={max_pixels} needs more than {most}"
        advice = "Leave it out, or raise max_pixels."
        reject(f"{path} has {about.st_size} bytes, {told}. {advice}")


def _read(path: Path, wanted: Wanted) -> Picture:
    from PIL import Image

    # Opened by its path, Pillow would map raw pixels into memory: a file cut short meanwhile
    # then ends the process, and turned TIFFs come out garbled (Pillow 13.0).
    with ExitStack() as stack:
        preview = read_preview(path) if is_raw(path) else None
        file = stack.enter_context(_content(path, preview))
        problem = costly(file)
        if problem:
            reject(f"{path} {problem}. Save it again in a plain way, or leave it out.")
        if is_heif(file) and not _reads_heif():
            msg = f'{path} is HEIC, which is not supported: pip install "setwise[heif]".'
            raise NotSupportedError(msg)
        formats = (*FORMATS, "HEIF") if _reads_heif() else FORMATS
        image = stack.enter_context(_opened(file, formats))
        _check_header(path, image, wanted)
        # A JPEG can be decoded at a half, a quarter or an eighth, and without its colours,
        # which is much faster.
        full_size = image.size
        image.draft(_draft_mode(image, wanted), wanted.aim(image.size))
        exif = _exif(image)
        turn = _TURNS.get((exif or {}).get(_ORIENTATION, 1))
        time = None if exif is None else time_taken(exif)
        if preview is not None:
            turn, time = _TURNS.get(preview.orientation), preview.time or time
        image.load()
        # TIFFs are turned already.
        turned = partial(_turned, turn=None if image.format == "TIFF" else turn)
        plain = turned(_plain(image, wanted.mode))
        thumbnail = small_jpeg(turned(_preview(image))) if wanted.thumbnail else b""
    if wanted.size is not None:
        plain = plain.resize(wanted.size[::-1], Image.Resampling.BILINEAR)
    remarks = {
        FIRST_OF_MANY: getattr(image, "is_animated", False),
        DAMAGED: exif is None,
        ON_BLACK: _is_transparent(image),
        ROTATED: turn is not None,
        PREVIEW: preview is not None,
    }
    told = tuple(remark for remark, holds in remarks.items() if holds)
    if turn in _ON_THEIR_SIDE:
        full_size = full_size[::-1]
    return Picture(np.asarray(plain), told, time, thumbnail, full_size)


def _content(path: Path, preview: Preview | None) -> BinaryIO:
    return path.open("rb") if preview is None else io.BytesIO(preview.jpeg)


def orientation_of(path: Path) -> int:
    """How the pixels of a photo have to be turned, as EXIF says it, 1 for not at all."""
    from PIL import Image

    if is_raw(path):
        return read_preview(path).orientation
    if path.suffix.lower() in (".heic", ".heif", ".hif"):
        return 1  # its reader turns it, and programs show it upright
    with Image.open(path) as image:
        value = image.getexif().get(_ORIENTATION, 1)
    return value if value in range(1, 9) else 1


def _opened(file: BinaryIO, formats: tuple[str, ...]) -> Image:
    """The image of a file, its pixels unread; also a JPEG that Pillow finds too large."""
    from PIL import Image, JpegImagePlugin

    try:
        return Image.open(file, formats=list(formats))
    except Image.DecompressionBombError:
        file.seek(0)
        if not file.read(len(JPEG)) == JPEG:
            raise
        file.seek(0)
        return JpegImagePlugin.jpeg_factory(file)


def _draft_mode(image: Image, wanted: Wanted) -> str:
    """Mode for decoding a JPEG, whose brightness is the same with colours; not so in RGB."""
    if wanted.colour or not wanted.thumbnail or image.format not in ("JPEG", "MPO"):
        return wanted.mode
    info, parts = image.info, [part[0] for part in getattr(image, "layer", [])]
    is_plain = "adobe" not in info and parts == _YCC_PARTS
    holds_ycc = "jfif" in info or info.get("adobe_transform") == 1 or is_plain
    return "YCbCr" if holds_ycc else wanted.mode


def _preview(image: Image) -> Image:
    """The image in colour, a few times larger than a thumbnail, without a full copy."""
    from PIL import Image as pillow

    shrunk = image.resize(fitted_size(image.size, _ENOUGH), pillow.Resampling.NEAREST)
    return shrunk if image.mode == "YCbCr" else _plain(shrunk, "RGB")


def _turned(image: Image, turn: str | None) -> Image:
    """The image turned upright; ImageOps.exif_transpose fails on odd tags."""
    from PIL import Image as pillow

    return image if turn is None else image.transpose(pillow.Transpose[turn])


def _check_header(path: Path, image: Any, wanted: Wanted) -> None:
    """Refuse large and multi-frame images before any pixel is decoded."""
    width, height = image.size
    max_pixels = wanted.max_pixels
    # A progressive JPEG is held as a whole, whatever the size that is asked for.
    is_reduced = image.format in ("JPEG", "MPO") and "progressive" not in image.info
    aim = wanted.aim(image.size)
    if is_reduced and aim is not None and width >= 2 * aim[0] and height >= 2 * aim[1]:
        max_pixels *= _REDUCED
    if width * height > max_pixels:
        problem = f"has {width} x {height} pixels, more than max_pixels={max_pixels}"
        reject(f"{path} {problem}. Make it smaller, or raise max_pixels if you trust it.")
    if getattr(image, "is_animated", False) and image.format not in _OF_SEVERAL:
        expected = "Expected one image per file: save its frames as files of their own."
        reject(f"{path} holds several frames ({image.format}). {expected}")
    has_sixteen = image.mode in _SIXTEEN_BITS or (image.mode == "I" and image.format == "PPM")
    if image.mode not in _EIGHT_BITS and not has_sixteen:
        problem = f"has pixels of mode {image.mode!r}, whose scale is unknown"
        reject(f"{path} {problem}. Expected 8 or 16 bits per channel: convert it first.")


def _exif(image: Image) -> Any:
    """The EXIF tags, or ``None`` where they are damaged: the pixels may still be good."""
    if image.format == "PNG":
        image.load()  # which may have its tags behind the pixels
    try:
        return image.getexif()
    except Exception:
        return None


def _plain(image: Image, mode: str) -> Image:
    from PIL import Image as pillow

    if image.mode in _SIXTEEN_BITS or image.mode == "I":
        high = (np.asarray(image) >> 8).astype(np.uint8)
        return pillow.fromarray(high).convert(mode)
    if _is_transparent(image):
        opaque = pillow.new("RGB", image.size)
        # Not a copy of each: of a large image, they would be most of the memory.
        seen = image if image.mode == "RGBA" else image.convert("RGBA")
        opaque.paste(seen, mask=seen.getchannel("A"))
        return opaque if mode == "RGB" else opaque.convert(mode)
    if image.mode == "YCbCr" and mode == "L":
        return image.getchannel("Y")
    if image.mode in ("CMYK", "LAB"):
        return image.convert("RGB").convert(mode)
    return image.convert(mode)


def _is_transparent(image: Image) -> bool:
    """Whether any pixel may be; ignores the one 16-bit shade that a PNG can name."""
    return image.mode not in _SIXTEEN_BITS and image.has_transparency_data


def _what_is_wrong(error: Exception, max_pixels: int) -> str:
    from PIL import Image, UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        return f"is none of {', '.join(FORMATS)}, whatever its name says. Leave it out."
    reason = " ".join(f"{type(error).__name__}: {error}".split())[:200]
    if isinstance(error, Image.DecompressionBombError):
        limits = f"max_pixels={max_pixels} or the limit of Pillow"
        return f"has more pixels than {limits} ({reason}). Leave it out."
    if isinstance(error, OSError) and error.errno is not None:
        return f"cannot be read: {error.strerror}."
    return f"is damaged and cannot be decoded ({reason}). Replace it or leave it out."


class _Hearing(threading.local):
    words: list[str] | None = None


_HEARING = _Hearing()


@contextmanager
def _pillow_heard() -> Iterator[None]:
    """Collect Pillow's warnings about a file for its decoder; pass on all others."""
    from PIL.Image import DecompressionBombWarning

    with warnings.catch_warnings():
        pass_on = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if _HEARING.words is None:
                pass_on(message, category, *where, **more)
            elif not issubclass(category, DecompressionBombWarning):  # max_pixels does that
                _HEARING.words.append(str(message))

        warnings.showwarning = show
        warnings.filterwarnings("always", module=r"PIL\.")
        yield


_PILLOW = SharedContext(_pillow_heard)


@cache
def _reads_heif() -> bool:
    """Whether HEIC can be read; registers the reader once."""
    if find_spec("pi_heif") is None:
        return False
    require("pi_heif", "heif").register_heif_opener()
    return True


@contextmanager
def pillow_at_work() -> Iterator[None]:
    """The context that `decode` needs: formats registered, warnings collected."""
    # Otherwise the first file of a rarer format would import every format there is.
    for name in ("Avif", "Bmp", "Jpeg", "Png", "Ppm", "Tiff", "WebP"):
        import_module(f"PIL.{name}ImagePlugin")
    with _PILLOW:
        yield


@contextmanager
def _heard() -> Iterator[list[str]]:
    words: list[str] = []
    _HEARING.words = words
    try:
        yield words
    finally:
        _HEARING.words = None


def time_taken(exif: Any) -> datetime | None:
    """When a photo was taken by the camera's clock, None without EXIF time."""
    try:
        tags = exif.get_ifd(_EXIF)
        whole = datetime.strptime(_tag_text(tags[_TAKEN]), "%Y:%m:%d %H:%M:%S")
    except Exception:  # damaged tags, or the zeros of cameras without a clock
        return None
    fraction = _tag_text(tags.get(_TAKEN_FRACTION, ""))
    if not (fraction.isascii() and fraction.isdigit()):
        return whole
    return whole.replace(microsecond=int(fraction[:6].ljust(6, "0")))


def _tag_text(value: Any) -> str:
    text = value.decode("ascii") if isinstance(value, bytes) else str(value)
    return text.strip("\0 ")
