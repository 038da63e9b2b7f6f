"""One image file in, one array out; whatever is wrong with the file becomes a DataError."""

from __future__ import annotations

import stat
import threading
import warnings
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from functools import cache, partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parallel import SharedContext
from setwise.errors import DataError, reject
from setwise.io.bursts import time_taken
from setwise.io.image_heads import costly, is_heif
from setwise.io.thumbnails import SIDE, fitted_size, small_jpeg

if TYPE_CHECKING:
    from PIL.Image import Image

__all__ = [
    "DAMAGED",
    "FORMATS",
    "SUFFIXES",
    "NotSupportedError",
    "Picture",
    "Wanted",
    "decode",
    "pillow_at_work",
]

# Rare formats are where decoders have their holes; nothing else is ever tried.
FORMATS = ("JPEG", "PNG", "BMP", "PPM", "TIFF", "WEBP", "AVIF")
SUFFIXES = frozenset((
    ".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".bmp", ".ppm", ".pgm", ".pbm", ".pnm",
    ".tif", ".tiff", ".webp", ".avif", ".heic", ".heif", ".hif",
))  # fmt: skip
ROTATED = "turned as their EXIF tag says"
ON_BLACK = "laid on black where transparent"
FIRST_OF_MANY = "of several pictures in one photo (MPO), the first read"
DAMAGED = "with damaged metadata, read without it"

# Photos of several pictures, of which one is the photo and the others help to show it.
_OF_SEVERAL = ("MPO", "HEIF")
# How the parts of a JPEG are numbered that is neither JFIF nor Adobe, as cameras write it.
_YCC_PARTS = [1, 2, 3]
# Thumbnails are made of so many times their pixels: of more, nobody sees the difference.
_ENOUGH = 4 * SIDE

# How Pillow calls the kinds of pixels that have a known scale.
_EIGHT_BITS = {"1", "L", "LA", "P", "PA", "RGB", "RGBA", "RGBX", "CMYK", "YCbCr", "LAB"}
_SIXTEEN_BITS = {"I;16", "I;16L", "I;16B", "I;16N"}
_ORIENTATION = 0x0112
_TURNS = dict(enumerate(
    ("FLIP_LEFT_RIGHT", "ROTATE_180", "FLIP_TOP_BOTTOM", "TRANSPOSE", "ROTATE_270",
     "TRANSVERSE", "ROTATE_90"), start=2,
))  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What every image is turned into: ``size`` is ``(height, width)``, or ``None`` to keep.

    With ``needs_time``, an image that does not say when it was taken is of no use.
    """

    size: tuple[int, int] | None
    colour: bool
    max_pixels: int
    needs_time: bool = False
    thumbnail: bool = False

    @property
    def mode(self) -> str:
        """What Pillow calls such pixels."""
        return "RGB" if self.colour else "L"


@dataclass(frozen=True)
class Picture:
    """The pixels of a file, what was done to get them, when they were taken, a small JPEG."""

    pixels: npt.NDArray[np.uint8]
    remarks: tuple[str, ...] = ()
    time: datetime | None = None
    thumbnail: bytes = b""


class NotSupportedError(DataError):
    """A good image, as far as one knows, that something not installed could read."""


def decode(path: Path, wanted: Wanted) -> Picture:
    """Read one image file, in a block of `pillow_at_work`.

    16-bit images keep their high byte, transparency is laid on black (what cannot be seen adds
    nothing to a vector), palettes, CMYK and single bits become plain grey or colour, and the
    EXIF orientation is applied. Animations and many-paged files are refused, but of the
    several pictures of one photo (MPO, HEIC) the first is read. A thumbnail does not change
    the pixels by a single bit.

    Raises
    ------
    DataError
        Naming the file and what is wrong with it; NotSupportedError where it is HEIC and
        nothing is installed that reads it.
    """
    with _heard() as warned:
        try:
            _check_file(path, wanted.max_pixels)
            picture = _read(path, wanted)
        except DataError:
            raise
        except Exception as error:
            # A decoder that meets a damaged file may raise anything.
            reject(f"{path} {_what_is_wrong(error, wanted.max_pixels)}", error)
    if warned and DAMAGED not in picture.remarks:
        return replace(picture, remarks=(*picture.remarks, DAMAGED))
    return picture


def _check_file(path: Path, max_pixels: int) -> None:
    """Refuse what must not even be opened: a pipe would wait for ever."""
    about = path.stat()
    if not stat.S_ISREG(about.st_mode):
        reject(f"{path} is no regular file but a {_kind(about.st_mode)}. Leave it out.")
    if about.st_size == 0:
        reject(f"{path} is empty (0 bytes). Expected an image.")
    # Some decoders read the file as a whole before they look at it.
    most = 8 * max_pixels + 2**20
    if about.st_size > most:
        reject(
            f"{path} has {about.st_size} bytes, and no image of max_pixels={max_pixels} needs "
            f"more than {most}. Leave it out, or raise max_pixels."
        )


def _kind(mode: int) -> str:
    return {stat.S_IFIFO: "pipe", stat.S_IFDIR: "folder", stat.S_IFSOCK: "socket"}.get(
        stat.S_IFMT(mode), "device"
    )


def _read(path: Path, wanted: Wanted) -> Picture:
    from PIL import Image

    # Not opened by its path: Pillow would map raw pixels into memory, where a file cut short
    # meanwhile ends the process, and where turned TIFFs come out garbled (Pillow 13.0).
    with ExitStack() as stack:
        file = stack.enter_context(path.open("rb"))
        _check_head(path, file)
        image = stack.enter_context(Image.open(file, formats=_formats()))
        _check_header(path, image, wanted.max_pixels)
        # A JPEG can be decoded at a half, a quarter or an eighth, and without its colours,
        # which is much faster; twice the wanted size leaves the resampling its work.
        aim = None if wanted.size is None else (2 * max(wanted.size),) * 2
        image.draft(_draft_mode(image, wanted), aim)
        exif = _exif(image)
        turn = _TURNS.get((exif or {}).get(_ORIENTATION, 1))
        time = None if exif is None else time_taken(exif)
        image.load()
        is_turned_already = image.format == "TIFF"
        turned = partial(_turned, turn=None if is_turned_already else turn)
        plain = turned(_plain(image, wanted.mode))
        thumbnail = small_jpeg(turned(_preview(image))) if wanted.thumbnail else b""
    if wanted.size is not None:
        plain = plain.resize(wanted.size[::-1], Image.Resampling.BILINEAR)
    remarks = {
        FIRST_OF_MANY: getattr(image, "is_animated", False),
        DAMAGED: exif is None,
        ON_BLACK: _is_transparent(image),
        ROTATED: turn is not None,
    }
    told = tuple(remark for remark, holds in remarks.items() if holds)
    return Picture(np.asarray(plain), told, time, thumbnail)


def _check_head(path: Path, file: BinaryIO) -> None:
    """Refuse what takes very long to read, or cannot be read here at all."""
    problem = costly(file)
    if problem:
        reject(f"{path} {problem}. Save it again in a plain way, or leave it out.")
    if is_heif(file) and not _reads_heif():
        msg = f'{path} is HEIC, which is not supported: pip install "setwise[heif]".'
        raise NotSupportedError(msg)


def _draft_mode(image: Image, wanted: Wanted) -> str:
    """How a JPEG is decoded: its brightness is the same number by number, with colours or not.

    Not so in RGB. The few JPEGs that hold RGB themselves get grey thumbnails.
    """
    if wanted.colour or not wanted.thumbnail or image.format not in ("JPEG", "MPO"):
        return wanted.mode
    info, parts = image.info, [part[0] for part in getattr(image, "layer", [])]
    is_plain = "adobe" not in info and parts == _YCC_PARTS
    holds_ycc = "jfif" in info or info.get("adobe_transform") == 1 or is_plain
    return "YCbCr" if holds_ycc else wanted.mode


def _preview(image: Image) -> Image:
    """The image in colour, a few times larger than a thumbnail, without a copy of all of it."""
    from PIL import Image as pillow

    shrunk = image.resize(fitted_size(image.size, _ENOUGH), pillow.Resampling.NEAREST)
    return shrunk if image.mode == "YCbCr" else _plain(shrunk, "RGB")


def _turned(image: Image, turn: str | None) -> Image:
    """Not ImageOps.exif_transpose, which also rewrites the tags and fails on odd ones."""
    from PIL import Image as pillow

    return image if turn is None else image.transpose(pillow.Transpose[turn])


def _check_header(path: Path, image: Any, max_pixels: int) -> None:
    """Refuse, before any pixel is decoded, what is too large or no single image."""
    width, height = image.size
    if width * height > max_pixels:
        reject(
            f"{path} has {width} x {height} pixels, more than max_pixels={max_pixels}. Make it "
            "smaller, or raise max_pixels if you trust it."
        )
    if getattr(image, "is_animated", False) and image.format not in _OF_SEVERAL:
        reject(
            f"{path} holds several frames ({image.format}). Expected one image per file: save "
            "its frames as files of their own."
        )
    has_sixteen = image.mode in _SIXTEEN_BITS or (image.mode == "I" and image.format == "PPM")
    if image.mode not in _EIGHT_BITS and not has_sixteen:
        reject(
            f"{path} has pixels of mode {image.mode!r}, whose scale is unknown. Expected 8 or "
            "16 bits per channel: convert it first."
        )


def _exif(image: Image) -> Any:
    """The EXIF tags, or ``None`` where they are damaged: the pixels may still be good."""
    if image.format == "PNG":
        image.load()  # which may have its tags behind the pixels
    try:
        return image.getexif()
    except Exception:
        return None


def _plain(image: Image, mode: str) -> Image:
    """Grey or RGB of 8 bits."""
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
    """Whether any pixel may be, but for the one shade of 16 bits that a PNG can name."""
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
    """What Pillow has warned of in this thread, while it decodes a file."""

    words: list[str] | None = None


_HEARING = _Hearing()


@contextmanager
def _pillow_heard() -> Iterator[None]:
    """Take Pillow's warnings about a file to whoever decodes it; pass on all others."""
    from PIL.Image import DecompressionBombWarning

    with warnings.catch_warnings():
        pass_on = warnings.showwarning

        def show(message: Any, category: type[Warning], *where: Any, **more: Any) -> None:
            if _HEARING.words is None:
                pass_on(message, category, *where, **more)
            elif not issubclass(category, DecompressionBombWarning):
                # Of how many pixels are too many, max_pixels is the judge.
                _HEARING.words.append(str(message))

        warnings.showwarning = show
        warnings.filterwarnings("always", module=r"PIL\.")
        yield


_PILLOW = SharedContext(_pillow_heard)


@cache
def _reads_heif() -> bool:
    """Whether HEIC can be read; Pillow is told of it once."""
    if find_spec("pi_heif") is None:
        return False
    require("pi_heif", "heif").register_heif_opener()
    return True


def _formats() -> tuple[str, ...]:
    return (*FORMATS, "HEIF") if _reads_heif() else FORMATS


@contextmanager
def pillow_at_work() -> Iterator[None]:
    """What `decode` needs around it: Pillow's formats known, and its warnings kept in."""
    # Otherwise the first file of a rarer format would import every format there is.
    from PIL import (  # noqa: F401
        AvifImagePlugin,
        BmpImagePlugin,
        JpegImagePlugin,
        PngImagePlugin,
        PpmImagePlugin,
        TiffImagePlugin,
        WebPImagePlugin,
    )

    with _PILLOW:
        yield


@contextmanager
def _heard() -> Iterator[list[str]]:
    """The warnings of this thread from here on."""
    words: list[str] = []
    _HEARING.words = words
    try:
        yield words
    finally:
        _HEARING.words = None
