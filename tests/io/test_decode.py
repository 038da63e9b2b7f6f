from __future__ import annotations

import io
import os
import threading
import warnings
from datetime import datetime

import numpy as np
import pytest
from PIL import Image
from tests.io.made_heic import heic_file
from tests.io.made_images import chunk, damaged_exif, heic, photo, png, scene, write

from setwise.errors import DataError
from setwise.io import decode as module
from setwise.io.decode import (
    DAMAGED,
    FIRST_OF_MANY,
    FORMATS,
    ON_BLACK,
    ROTATED,
    NotSupportedError,
    Picture,
    Wanted,
    decode,
    pillow_at_work,
)

AS_IS = Wanted(None, colour=False, max_pixels=10**6)
IN_COLOUR = Wanted(None, colour=True, max_pixels=10**6)


def read(path, wanted=AS_IS) -> Picture:
    with pillow_at_work():
        return decode(path, wanted)


@pytest.mark.parametrize("suffix", [".png", ".bmp", ".ppm", ".tif", ".tiff"])
@pytest.mark.parametrize("colour", [False, True])
def test_lossless_formats_come_back_as_they_were(tmp_path, suffix, colour):
    pixels = scene(colour=colour)
    picture = read(write(tmp_path / f"a{suffix}", pixels), IN_COLOUR if colour else AS_IS)
    np.testing.assert_array_equal(picture.pixels, pixels)
    assert picture.pixels.dtype == np.uint8
    assert picture.remarks == ()


@pytest.mark.parametrize("suffix", [".jpg", ".webp"])
def test_lossy_formats_come_back_nearly_as_they_were(tmp_path, suffix):
    pixels = scene()
    picture = read(write(tmp_path / f"a{suffix}", pixels, quality=95))
    assert np.abs(picture.pixels.astype(int) - pixels).max() < 8


def test_grey_of_colour_is_its_luma(tmp_path):
    pixels = scene(colour=True)
    luma = pixels @ [0.299, 0.587, 0.114]
    for suffix, near in ((".png", 1), (".jpg", 8)):
        grey = read(write(tmp_path / f"a{suffix}", pixels)).pixels
        assert grey.shape == luma.shape
        assert np.abs(grey - luma).max() < near


def test_colour_of_grey_repeats_it(tmp_path):
    pixels = scene()
    colour = read(write(tmp_path / "a.png", pixels), IN_COLOUR).pixels
    np.testing.assert_array_equal(colour, np.repeat(pixels[..., None], 3, axis=-1))


@pytest.mark.parametrize("suffix", [".png", ".tif", ".pgm"])
def test_sixteen_bits_are_scaled_not_clipped(tmp_path, suffix):
    pixels = (scene().astype(np.uint16) << 8) + 77
    picture = read(write(tmp_path / f"a{suffix}", pixels))
    np.testing.assert_array_equal(picture.pixels, scene())


def test_pixels_of_unknown_scale_are_refused(tmp_path):
    path = write(tmp_path / "a.tif", scene().astype(np.float32))
    with pytest.raises(DataError, match=r"a\.tif has pixels of mode 'F'.*8 or 16 bits"):
        read(path)


def test_palette_bits_and_cmyk_become_plain(tmp_path):
    colours = Image.fromarray(scene(colour=True))
    palette = colours.quantize(16)
    palette.save(tmp_path / "p.png")
    expected = np.asarray(palette.convert("RGB"))
    np.testing.assert_array_equal(read(tmp_path / "p.png", IN_COLOUR).pixels, expected)
    bits = scene() > 128
    Image.fromarray(bits).save(tmp_path / "b.png")
    np.testing.assert_array_equal(read(tmp_path / "b.png").pixels, 255 * bits)
    colours.convert("CMYK").save(tmp_path / "c.tif")
    np.testing.assert_array_equal(
        read(tmp_path / "c.tif", IN_COLOUR).pixels, np.asarray(colours)
    )
    assert read(tmp_path / "c.tif").pixels.shape == (48, 64)
    colours.convert("LAB").save(tmp_path / "l.tif")
    difference = read(tmp_path / "l.tif", IN_COLOUR).pixels.astype(int) - np.asarray(colours)
    assert np.abs(difference).mean() < 3


@pytest.mark.parametrize("kind", ["RGBA", "LA", "P", "tRNS"])
def test_transparency_is_laid_on_black(tmp_path, kind):
    pixels = scene(colour=kind in ("RGBA", "tRNS"))
    alpha = np.zeros((48, 64), np.uint8)
    alpha[:, :32] = 255
    path = tmp_path / "a.png"
    if kind == "tRNS":
        pixels[:, 32:] = (1, 2, 3)
        Image.fromarray(pixels).save(path, transparency=(1, 2, 3))
    elif kind == "P":
        indices = Image.fromarray((alpha > 0).astype(np.uint8)).convert("P")
        indices.putpalette([9, 9, 9, 200, 200, 200])
        indices.save(path, transparency=0)
    else:
        Image.fromarray(np.dstack([pixels, alpha])).save(path)
    picture = read(path)
    assert picture.remarks == (ON_BLACK,)
    assert (picture.pixels[:, 32:] == 0).all()
    assert (picture.pixels[:, :32] > 10).all()


@pytest.mark.parametrize("orientation", range(1, 9))
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif", ".webp"])
def test_orientation_is_applied(tmp_path, orientation, suffix):
    upright = read(photo(tmp_path / f"a{suffix}", orientation=1)).pixels
    shown = {
        1: upright,
        2: upright[:, ::-1],
        3: upright[::-1, ::-1],
        4: upright[::-1],
        5: upright.T,
        6: np.rot90(upright, -1),
        7: upright[::-1, ::-1].T,
        8: np.rot90(upright),
    }
    picture = read(photo(tmp_path / f"a{suffix}", orientation=orientation))
    np.testing.assert_array_equal(picture.pixels, shown[orientation])
    assert picture.remarks == ((ROTATED,) if orientation > 1 else ())


def test_size_is_height_by_width_also_of_a_turned_photo(tmp_path):
    for orientation in (1, 6):
        path = photo(tmp_path / "a.jpg", orientation=orientation)
        assert read(path, Wanted((10, 20), False, 10**6)).pixels.shape == (10, 20)
        assert read(path, Wanted((10, 20), True, 10**6)).pixels.shape == (10, 20, 3)


def test_reduced_decoding_looks_like_full_decoding(tmp_path):
    path = write(tmp_path / "a.jpg", scene(height=512, width=640, colour=True), quality=90)
    with Image.open(path) as image:
        full = image.convert("L").resize((32, 32), Image.Resampling.BILINEAR)
    reduced = read(path, Wanted((32, 32), False, 10**6)).pixels
    difference = np.abs(reduced.astype(int) - np.asarray(full))
    assert difference.mean() < 1
    assert difference.max() <= 4


@pytest.mark.parametrize("size", [(33, 33), (64, 64)])
def test_reduced_decoding_keeps_twice_the_wanted_size(tmp_path, monkeypatch, size):
    path = write(tmp_path / "a.jpg", scene(height=256, width=256))
    seen = []
    plain = module._plain
    monkeypatch.setattr(
        module, "_plain", lambda im, mode: seen.append(im.size) or plain(im, mode)
    )
    read(path, Wanted(size, False, 10**6))
    assert seen == [(128, 128)]


def test_too_many_pixels_are_refused_before_decoding(tmp_path, monkeypatch):
    path = write(tmp_path / "a.png")
    monkeypatch.setattr("PIL.ImageFile.ImageFile.load", lambda _: pytest.fail("was decoded"))
    with pytest.raises(
        DataError, match=r"a\.png has 64 x 48 pixels, more than max_pixels=3071"
    ):
        read(path, Wanted(None, False, 3071))


def test_a_large_image_is_no_bomb_to_who_allows_it(tmp_path, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 2000)  # Pillow warns above, refuses twice it
    assert read(write(tmp_path / "a.png")).remarks == ()


def test_exactly_as_many_pixels_as_allowed_are_read(tmp_path):
    path = write(tmp_path / "a.png")
    assert read(path, Wanted(None, False, 3072)).pixels.shape == (48, 64)


def test_a_file_far_too_long_is_refused_unread(tmp_path):
    path = write(tmp_path / "a.webp")
    os.truncate(path, 10**9)
    with pytest.raises(DataError, match=r"a\.webp has 1000000000 bytes"):
        read(path)


@pytest.mark.parametrize("suffix", [".png", ".tif", ".webp"])
def test_several_frames_are_refused(tmp_path, suffix):
    frames = [Image.fromarray(scene(seed)) for seed in range(3)]
    path = tmp_path / f"a{suffix}"
    frames[0].save(path, save_all=True, append_images=frames[1:])
    with pytest.raises(DataError, match=r"holds several frames.*frames as files of their own"):
        read(path)


def test_the_first_of_the_pictures_of_a_photo_is_read(tmp_path):
    frames = [Image.fromarray(scene(seed)) for seed in range(2)]
    frames[0].save(tmp_path / "a.mpo", save_all=True, append_images=frames[1:], quality=95)
    path = (tmp_path / "a.mpo").rename(tmp_path / "a.jpg")
    picture = read(path)
    assert picture.remarks == (FIRST_OF_MANY,)
    assert np.abs(picture.pixels.astype(int) - scene(0)).max() < 8


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", r"is empty \(0 bytes\)"),
        (b"junk" * 100, f"is none of {', '.join(FORMATS)}"),
        (png(64, 64, n_rows=0), r"is damaged and cannot be decoded \(\w+: .+\)"),
        (png(9000, 9999, n_rows=0), "has 9000 x 9999 pixels, more than max_pixels=1000000"),
        (png(40_000, 20_000, n_rows=0), r"has more pixels than .*\(800000000 pixels\)"),
    ],
    ids=["empty", "junk", "cut", "large", "bomb"],
)
def test_what_is_wrong_is_said(tmp_path, content, said):
    path = tmp_path / "a.png"
    path.write_bytes(content)
    with pytest.raises(DataError, match=rf"a\.png {said}"):
        read(path)


def test_missing_file_folder_and_pipe(tmp_path):
    with pytest.raises(DataError, match=r"a\.png cannot be read: No such file"):
        read(tmp_path / "a.png")
    with pytest.raises(DataError, match="is no regular file but a folder"):
        read(tmp_path)
    os.mkfifo(tmp_path / "p.png")
    with pytest.raises(DataError, match=r"p\.png is no regular file but a pipe"):
        read(tmp_path / "p.png")
    with pytest.raises(DataError, match="is no regular file but a device"):
        read(module.Path("/dev/null"))


def test_damaged_metadata_is_remarked_and_nothing_is_warned_of(tmp_path):
    picture = read(damaged_exif(tmp_path / "a.jpg"))
    assert picture.remarks == (DAMAGED,)
    assert picture.pixels.shape == (48, 64)


def test_unreadable_metadata_is_remarked(tmp_path):
    path = tmp_path / "a.png"
    path.write_bytes(png(8, 8, chunk(b"eXIf", b"no tags at all")))
    assert read(path).remarks == (DAMAGED,)


def test_what_others_warn_of_is_passed_on():
    def warn_beside_a_load():
        with pillow_at_work():
            warnings.warn("of the user", UserWarning, stacklevel=1)

    with pytest.warns(UserWarning, match="of the user"):
        warn_beside_a_load()


def test_overlapping_loads_leave_the_warnings_as_they_were():
    before = (list(warnings.filters), warnings.showwarning)
    limit = Image.MAX_IMAGE_PIXELS
    begun, may_end = threading.Event(), threading.Event()

    def long_load():
        with pillow_at_work():
            begun.set()
            may_end.wait(10)

    other = threading.Thread(target=long_load)
    with pillow_at_work():
        other.start()
        begun.wait(10)
    assert warnings.showwarning is not before[1]
    may_end.set()
    other.join(10)
    assert (list(warnings.filters), warnings.showwarning) == before
    assert limit == Image.MAX_IMAGE_PIXELS


def thumbnail_of(path, size=(32, 32), colour=False):
    with_one = read(path, Wanted(size, colour, 10**7, thumbnail=True))
    without = read(path, Wanted(size, colour, 10**7))
    np.testing.assert_array_equal(with_one.pixels, without.pixels)
    assert without.thumbnail == b""
    assert with_one.remarks == without.remarks
    return Image.open(io.BytesIO(with_one.thumbnail))


@pytest.mark.parametrize("size", [None, (16, 16), (64, 64)])
@pytest.mark.parametrize("colour", [False, True])
@pytest.mark.parametrize(
    ("name", "options"),
    [
        *(("a.jpg", {"subsampling": sampling, "quality": 88}) for sampling in (0, 1, 2)),
        ("a.jpg", {"progressive": True}),
        ("a.jpg", {"keep_rgb": True}),
        ("a.png", {}),
        ("a.webp", {}),
        ("a.tif", {}),
        ("a.avif", {"speed": 10}),
    ],
)
def test_a_thumbnail_does_not_change_a_single_bit(tmp_path, name, options, size, colour):
    pixels = scene(height=301, width=477, colour=True)
    noise = np.random.default_rng(0).integers(0, 60, pixels.shape, dtype=np.uint8)
    path = write(tmp_path / name, pixels // 2 + noise, **options)
    small = thumbnail_of(path, size, colour)
    assert small.format == "JPEG"
    assert max(small.size) <= 64
    assert small.width > small.height


@pytest.mark.parametrize("name", ["a.jpg", "a.png", "a.avif"])
def test_a_thumbnail_looks_like_its_image(tmp_path, name):
    pixels = scene(height=480, width=640, colour=True)
    small = thumbnail_of(write(tmp_path / name, pixels), (64, 64))
    assert (small.mode, small.size) == ("RGB", (64, 48))
    expected = Image.fromarray(pixels).resize((64, 48), Image.Resampling.BOX)
    difference = np.asarray(small).astype(int) - np.asarray(expected)
    assert np.abs(difference).mean() < 3


@pytest.mark.parametrize("kind", ["CMYK", "P", "1", "LA", "RGBA", "I;16", "L"])
def test_thumbnails_of_every_kind_of_pixels(tmp_path, kind):
    image = Image.fromarray(scene(height=400, width=300, colour=True))
    if kind == "I;16":
        image = Image.fromarray((scene(height=400, width=300).astype(np.uint16) << 8) + 77)
    else:
        image = image.convert(kind)
    path = tmp_path / ("a.tif" if kind == "CMYK" else "a.png")
    image.save(path)
    small = thumbnail_of(path)
    assert (small.mode, small.size) == ("RGB", (48, 64))
    assert np.asarray(small).std() > 5


@pytest.mark.parametrize("orientation", [1, 3, 6])
@pytest.mark.parametrize("suffix", [".jpg", ".png", ".tif"])
def test_thumbnails_are_upright_and_tell_nothing_else(tmp_path, orientation, suffix):
    path = photo(tmp_path / f"a{suffix}", "2024:05:01 12:00:00", orientation=orientation)
    small = thumbnail_of(path, size=None)
    upright = np.asarray(Image.fromarray(read(path).pixels))
    assert small.size == upright.shape[::-1]
    assert np.abs(np.asarray(small.convert("L")).astype(int) - upright).mean() < 4
    assert not small.getexif()
    assert set(small.info) <= {"jfif", "jfif_version", "jfif_unit", "jfif_density"}


def test_small_images_are_not_enlarged(tmp_path):
    path = write(tmp_path / "a.png", scene(height=5, width=7))
    assert thumbnail_of(path, size=None).size == (7, 5)


def test_the_time_is_read_where_it_is_there(tmp_path):
    timed = photo(tmp_path / "a.jpg", "2024:05:01 12:00:00", "5")
    assert read(timed).time == datetime(2024, 5, 1, 12, microsecond=500_000)
    assert read(photo(tmp_path / "b.jpg")).time is None
    assert read(damaged_exif(tmp_path / "c.jpg")).time is None


def test_avif_is_read_and_its_size_checked_first(tmp_path, monkeypatch):
    path = write(tmp_path / "a.avif", scene(), quality=95)
    assert np.abs(read(path).pixels.astype(int) - scene()).max() < 8
    monkeypatch.setattr("PIL.AvifImagePlugin.AvifImageFile.load", lambda _: pytest.fail("read"))
    with pytest.raises(DataError, match="has 64 x 48 pixels, more than max_pixels=3071"):
        read(path, Wanted(None, False, 3071))


@pytest.mark.parametrize("kind", [b"heic", b"mif1"])
def test_heic_without_its_package_is_named(tmp_path, monkeypatch, kind):
    monkeypatch.setattr(module, "_reads_heif", lambda: False)
    (tmp_path / "a.jpg").write_bytes(heic(kind))
    with pytest.raises(
        NotSupportedError, match=r'a\.jpg is HEIC, which is not supported: pip install "setw'
    ):
        read(tmp_path / "a.jpg")


def test_heic_is_read_by_its_package(tmp_path):
    pytest.importorskip("pi_heif", reason="pi_heif is not installed")
    pixels = scene(height=96, width=128, colour=True)
    (tmp_path / "a.heic").write_bytes(heic_file(pixels))
    picture = read(tmp_path / "a.heic", IN_COLOUR)
    assert np.abs(picture.pixels.astype(int) - pixels).mean() < 2
    assert thumbnail_of(tmp_path / "a.heic").size == (64, 48)


@pytest.mark.parametrize(
    ("announced", "said"),
    [
        (None, "has 128 x 96 pixels, more than max_pixels=12287"),
        ((4000, 3000), "has 4000 x 3000 pixels, more than max_pixels=12287"),
        ((8, 8), "is damaged and cannot be decoded"),
    ],
)
def test_the_size_of_a_heic_is_checked_before_it_is_decoded(tmp_path, announced, said):
    pytest.importorskip("pi_heif", reason="pi_heif is not installed")
    pixels = scene(height=96, width=128, colour=True)
    (tmp_path / "a.heic").write_bytes(heic_file(pixels, announced))
    with pytest.raises(DataError, match=said):
        read(tmp_path / "a.heic", Wanted(None, True, 128 * 96 - 1))


def test_junk_that_begins_like_a_heic(tmp_path):
    pytest.importorskip("pi_heif", reason="pi_heif is not installed")
    (tmp_path / "a.heic").write_bytes(heic())
    with pytest.raises(DataError, match=r"a\.heic (is none of|is damaged)") as raised:
        read(tmp_path / "a.heic")
    assert not isinstance(raised.value, NotSupportedError)


def test_a_photo_of_many_megapixels_is_decoded_at_a_reduced_size(tmp_path):
    path = tmp_path / "large.jpg"
    Image.new("L", (16320, 12240), 90).save(path, quality=30)  # Pillow calls it a bomb
    picture = read(path, Wanted((96, 96), True, 64_000_000, thumbnail=True))
    assert picture.pixels.shape == (96, 96, 3)
    with pytest.raises(DataError, match="more than max_pixels=64000000"):
        read(path, Wanted(None, False, 64_000_000))


def test_a_progressive_photo_is_held_whole_and_refused_sooner(tmp_path):
    path = tmp_path / "a.jpg"
    Image.new("L", (400, 400)).save(path, progressive=True)
    with pytest.raises(DataError, match="more than max_pixels=150000"):
        read(path, Wanted((20, 20), False, 150_000))
    Image.new("L", (400, 400)).save(path)
    assert read(path, Wanted((20, 20), False, 150_000)).pixels.shape == (20, 20)
