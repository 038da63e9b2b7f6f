"""Files made to hurt: each ends in one error that names it, soon and in little memory."""

from __future__ import annotations

import inspect
import io
import os
import shutil
import struct
import time
import zlib
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.attacks.sandbox import Attack, attacked
from tests.io.made_images import chunk, png, scene, write

from setwise.errors import DataError
from setwise.io.images import load_images

SETUP = "from setwise.io.images import load_images"
N_MUTANTS = int(os.environ.get("SETWISE_FUZZ", "100"))


def loaded(root: Path, options: str = "") -> Attack:
    return attacked(f"load_images(sys.argv[1], {options})", root, setup=SETUP)


def encoded(kind: str, pixels: np.ndarray | None = None, **options: object) -> bytes:
    file = io.BytesIO()
    Image.fromarray(scene(colour=True) if pixels is None else pixels).save(
        file, kind, **options
    )
    return file.getvalue()


def jpeg_that_claims(width: int, height: int) -> bytes:
    honest = encoded("JPEG", scene())
    at = honest.index(b"\xff\xc0") + 5
    return honest[:at] + struct.pack(">HH", height, width) + honest[at + 4 :]


def tiff(pixels: bytes | None = None, **lies: int) -> bytes:
    """A 64 x 48 grey TIFF of one strip, some of whose tags lie."""
    pixels = scene().tobytes() if pixels is None else pixels
    tags = {256: 64, 257: 48, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: 48, 279: len(pixels)}
    tags |= {int(name.removeprefix("tag")): value for name, value in lies.items()}
    table = [struct.pack("<HHII", tag, 4, 1, value) for tag, value in sorted(tags.items())]
    head = b"II*\0" + struct.pack("<I", 8 + len(pixels))
    return head + pixels + struct.pack("<H", len(tags)) + b"".join(table) + bytes(4)


def vast_tile() -> bytes:
    """A small TIFF that claims to be one tile of four gigapixels, deflated."""
    pixels = zlib.compress(bytes(1000))
    return tiff(pixels, tag259=8, tag322=2**16, tag323=2**16, tag324=8, tag325=len(pixels))


def jpeg_of_scans(n_scans: int, **options: object) -> bytes:
    """A black JPEG whose last scan, of two bytes, comes again and again."""
    whole = encoded("JPEG", np.zeros((4992, 4992), np.uint8), progressive=True, **options)
    start, end = whole.rindex(b"\xff\xda"), whole.rindex(b"\xff\xd9")
    head = whole[start : start + 2 + int.from_bytes(whole[start + 2 : start + 4])]
    return whole[:end] + (head + b"\0\0") * n_scans + whole[end:]


EPS = b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9999 9999\n%%EndComments\nshowpage\n"
FITS = b"".join(f"{card:<80}".encode() for card in (
    "SIMPLE  = T", "BITPIX  = 8", "NAXIS   = 2", "NAXIS1  = 9", "NAXIS2  = 9", "END",
)).ljust(2880)  # fmt: skip
SVG = b'<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
TEXT = zlib.compress(bytes(200 * 2**20), 9)
FILES = {
    "bomb of 100 Mpx.png": lambda: png(10_000, 10_000),
    "bomb of 400 Mpx.png": lambda: png(20_000, 20_000),
    "truncated.jpg": lambda: encoded("JPEG")[:-200],
    "truncated.png": lambda: encoded("PNG")[:-200],
    "truncated.webp": lambda: encoded("WEBP")[:-200],
    "truncated.tif": lambda: encoded("TIFF")[:-200],
    "truncated.bmp": lambda: encoded("BMP")[:-200],
    "truncated.ppm": lambda: encoded("PPM")[:-200],
    "junk.jpg": lambda: np.random.default_rng(0).bytes(5000),
    "empty.jpg": lambda: b"",
    "eps.jpg": lambda: EPS,
    "fits.jpg": lambda: FITS,
    "svg.png": lambda: SVG,
    "gif.png": lambda: encoded("GIF"),
    "text.png": lambda: png(8, 8, chunk(b"zTXt", b"a\0\0" + TEXT)),
    "many texts.png": lambda: png(
        8, 8, *[chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(2**20 - 9)))] * 200
    ),
    "chunk that lies.png": lambda: png(8, 8)[:33] + b"\x7f\xff\xff\xfftEXta",
    "claims.jpg": lambda: jpeg_that_claims(65_500, 65_500),
    "scans.jpg": lambda: jpeg_of_scans(8000),
    "scans behind a filler.jpg": lambda: jpeg_of_scans(8000).replace(
        b"\xff\xc2", b"\xff\xff\xc2"
    ),
    "comment.ppm": lambda: b"P3\n#" + b"a" * 30_000_000,
    "blanks.ppm": lambda: b"P5 4" + b" " * 30_000_000 + b"4 255\n" + bytes(16),
    "claims.bmp": lambda: encoded("BMP")[:18] + struct.pack("<ii", 2**30, 2**30) + bytes(99),
    "claims.ppm": lambda: b"P6 1000000000 1000000000 255\n" + bytes(99),
    "claims a little.ppm": lambda: b"P6 5000 5000 255\n" + bytes(99),
    "width.tif": lambda: tiff(tag256=2**31),
    "height.tif": lambda: tiff(tag257=2**31, tag278=2**31),
    "strip behind the end.tif": lambda: tiff(tag273=2**31),
    "samples.tif": lambda: tiff(tag277=60_000),
    "bits.tif": lambda: tiff(tag258=60_000),
    "compressed.tif": lambda: tiff(tag259=5, tag279=2**31),
    "vast tile.tif": vast_tile,
    "animated.webp": lambda: encoded(
        "WEBP", save_all=True, append_images=[Image.new("RGB", (64, 48), "red")]
    ),
}


@pytest.mark.parametrize("name", FILES)
def test_file_is_refused(tmp_path, name):
    write(tmp_path / "a good one.png")
    (tmp_path / name).write_bytes(FILES[name]())
    loaded(tmp_path).assert_refused(str(tmp_path / name))


HARMLESS = {
    "a hundred scans.jpg": lambda: jpeg_of_scans(80),
    # Pillow skips a profile that is too large, libtiff a count, and libjpeg paints it grey.
    "profile.png": lambda: png(8, 8, chunk(b"iCCP", b"a\0\0" + TEXT)),
    "count.tif": lambda: tiff(tag279=2**31),
    "claims a little.jpg": lambda: jpeg_that_claims(5000, 5000),
}


@pytest.mark.parametrize("name", HARMLESS)
def test_file_may_be_read_but_costs_little(tmp_path, name):
    (tmp_path / name).write_bytes(HARMLESS[name]())
    loaded(tmp_path).assert_harmless()


def test_a_film_behind_a_photo_is_no_scan(tmp_path):
    """Phones write one there, and any bytes may be in it."""
    (tmp_path / "a.jpg").write_bytes(encoded("JPEG", scene()) + b"\xff\xda" * 1000)
    assert len(load_images(tmp_path).vectors) == 1


@pytest.mark.parametrize(
    "head", [b"P4 256 200\n", b"P4\n#c\n256 #d\r200\n", b"P5\n# made here\n256 200\n255\n"]
)
def test_honest_pnm_is_read(tmp_path, head):
    (tmp_path / "a.pnm").write_bytes(head + bytes(256 * 200))
    assert load_images(tmp_path, size=None).image_shape == (200, 256)


def test_large_transparent_image_is_not_copied_again_and_again(tmp_path):
    """The image, what is left of it on black, and its transparency: 4 + 4 + 1 bytes a pixel."""
    megabytes = []
    for side in (8, 4992):
        path = tmp_path / f"{side}" / "glass.png"
        path.parent.mkdir()
        path.write_bytes(encoded("PNG", np.zeros((side, side, 4), np.uint8), compress_level=1))
        megabytes.append(loaded(path.parent, "colour=True").megabytes)
    assert megabytes[1] - megabytes[0] < 12 * 25


def test_honest_tiff_is_read(tmp_path):
    (tmp_path / "a.tif").write_bytes(tiff())
    np.testing.assert_array_equal(load_images(tmp_path, size=None).images[0], scene())


def test_file_of_a_gigabyte_is_not_read(tmp_path):
    (tmp_path / "vast.webp").write_bytes(encoded("WEBP"))
    os.truncate(tmp_path / "vast.webp", 2**30)
    loaded(tmp_path).assert_refused(str(tmp_path / "vast.webp"))


def test_link_to_a_file_outside(tmp_path):
    write(tmp_path / "root/a.png")
    write(tmp_path / "secret.png")
    (tmp_path / "root/b.png").symlink_to(tmp_path / "secret.png")
    loaded(tmp_path / "root").assert_refused(str(tmp_path / "root/b.png"), "link out of")


def test_link_to_a_folder_outside(tmp_path):
    write(tmp_path / "root/s/a.png")
    (tmp_path / "root/t").symlink_to("/")
    loaded(tmp_path / "root").assert_refused(str(tmp_path / "root/t"), "link out of")


@pytest.mark.parametrize("target", [".", "..", "loop"])
def test_links_in_a_loop(tmp_path, target):
    write(tmp_path / "s/a.png")
    (tmp_path / "s/loop").symlink_to(target)
    loaded(tmp_path).assert_refused(str(tmp_path / "s/loop"), "is a link")


def test_links_that_double_at_every_level(tmp_path):
    for level in range(30):
        folder = tmp_path / f"level{level}"
        folder.mkdir()
        for side in "ab":
            (folder / side).symlink_to(tmp_path / f"level{level + 1}")
    write(tmp_path / "level30/a.png")
    loaded(tmp_path, "max_files=10_000").assert_refused(str(tmp_path), "max_files=10000")


def test_pipe_and_device_are_not_opened(tmp_path):
    os.mkfifo(tmp_path / "x.jpg")
    loaded(tmp_path).assert_refused(str(tmp_path / "x.jpg"), "pipe")


def test_more_files_than_allowed(tmp_path):
    for i in range(1001):
        (tmp_path / f"{i}.jpg").touch()
    loaded(tmp_path, "max_files=1000").assert_refused(str(tmp_path), "max_files=1000")
    assert inspect.signature(load_images).parameters["max_files"].default == 100_000


@pytest.mark.slow  # as the one before, with the limit that is asked for there
def test_more_files_than_allowed_by_default(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    started = time.perf_counter()
    for i in range(100_001):
        os.close(os.open(f"{root}/{i}.jpg", os.O_CREAT))
        if time.perf_counter() - started > 5:
            shutil.rmtree(root)
            pytest.skip("this file system is too slow to make 100 001 files")
    attack = loaded(root)
    shutil.rmtree(root)
    attack.assert_refused(str(root), "max_files=100000")


@pytest.mark.parametrize("name", ["a\nb.jpg", "a\x1b[31m.jpg", "\u2028.jpg", "\udcff.jpg"])
def test_name_that_would_break_a_report(tmp_path, name):
    (tmp_path / name).write_bytes(encoded("JPEG"))
    loaded(tmp_path).assert_refused(str(tmp_path), repr(name), "rename it")


@pytest.mark.parametrize("name", ["Zoë 猫.jpg", "-rf.jpg", "a..jpg", "%s{0}.jpg", "<b>.jpg"])
def test_name_that_is_only_unusual(tmp_path, name):
    (tmp_path / name).write_bytes(encoded("JPEG"))
    attack = loaded(tmp_path)
    assert attack.error is None, attack


def test_error_that_quotes_the_file_stays_on_one_line(tmp_path):
    (tmp_path / "a.ppm").write_bytes(b"P6\n8 8\nno\x0bnumber\n")
    loaded(tmp_path).assert_refused(str(tmp_path / "a.ppm"))


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Some bytes replaced, most of them near the beginning, or the end cut off."""
    if rng.random() < 0.25:
        return content[: rng.integers(1, len(content))]
    changed = bytearray(content)
    for _ in range(rng.integers(1, 8)):
        at = int(len(changed) * rng.random() ** 3)
        changed[at] = rng.integers(256)
    return bytes(changed)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "TIFF", "WEBP", "BMP", "PPM"])
def test_mutants_are_read_or_refused(tmp_path, kind, seed):
    rng = np.random.default_rng([seed, *kind.encode()])
    exif = Image.Exif()
    exif[0x0112] = 6
    tagged = {} if kind in ("BMP", "PPM") else {"exif": exif}
    content = encoded(kind, scene(height=24, width=32, colour=True), **tagged)
    path = tmp_path / f"mutant.{kind.lower()}"
    n_read = 0
    for _ in range(N_MUTANTS):
        path.write_bytes(mutated(content, rng))
        started = time.process_time()
        message = str(path)
        try:
            n_read += len(load_images(tmp_path, size=16))
        except DataError as error:
            message = str(error)
        assert str(path) in message
        assert "\n" not in message
        assert time.process_time() - started < 2
    # Otherwise nothing but the first check would be tested, or nothing at all.
    assert 0 < n_read < N_MUTANTS
