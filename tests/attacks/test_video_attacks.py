"""Videos made to do harm: each ends in one DataError, soon and cheaply."""

from __future__ import annotations

import io
import os
import socket
import struct
import zlib

import numpy as np
import pytest
from PIL import Image
from tests.attacks.sandbox import LIMIT_MB, LIMIT_S, attacked
from tests.io.made_videos import numbered_frames, write_sound, write_video

from setwise.errors import DataError
from setwise.io.heads import check_announced
from setwise.io.video import load_video

pytest.importorskip("av")

SETUP = "import av, PIL.Image\nfrom setwise.io.video import load_video"
LOAD = "load_video(sys.argv[1])"
N_FRAMES = 20


def film(folder, suffix="mp4", codec="libx264", **options):
    path = write_video(
        folder / f"clip.{suffix}", numbered_frames(N_FRAMES), codec=codec, **options
    )
    return bytearray(path.read_bytes())


def png(width, height):
    """A black picture, which takes hardly any bytes however large it is."""

    def chunk(kind, content):
        check = zlib.crc32(kind + content)
        return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

    packer = zlib.compressobj(1)
    rows = [packer.compress(bytes(1 + width)) for _ in range(height)]
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = b"".join(rows) + packer.flush()
    kinds = ((b"IHDR", header), (b"IDAT", pixels), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*kind) for kind in kinds)


def random_bytes(folder):
    return np.random.default_rng(0).bytes(500)


def no_bytes(folder):
    return b""


def text(folder):
    return b"not a video\n" * 1000


def picture(folder):
    Image.new("RGB", (64, 64)).save(folder / "picture.png")
    return (folder / "picture.png").read_bytes()


def sound(folder):
    return write_sound(folder / "sound.wav").read_bytes()


def header_missing(folder):
    content = film(folder)
    return content[: content.index(b"moov")]


def many_frames_announced(folder):
    """Frames of one byte each, so that FFmpeg needs no table to believe in 10^8 of them."""
    content = film(folder)
    struct.pack_into(">III", content, content.index(b"stsz") + 4, 0, 1, 10**8)
    struct.pack_into(">I", content, content.index(b"stsc") + 16, 10**8)
    struct.pack_into(">II", content, content.index(b"stts") + 8, 1, 10**8)
    return content


def many_frames_announced_in_a_table(folder):
    content = film(folder)
    struct.pack_into(">I", content, content.index(b"stsz") + 12, 10**5)
    return content


def many_frames_announced_in_a_fragment(folder):
    options = {"movflags": "frag_keyframe+empty_moov+default_base_moof"}
    content = film(folder, container_options=options)
    place = content.index(b"trun")
    # No flags, so that nothing is told of the single frames.
    struct.pack_into(">II", content, place + 4, 0, 10**8)
    return content


def packed_header(folder):
    content = film(folder)
    place = content.index(b"moov") - 4
    hidden = zlib.compress(bytes(content[place:]))
    inner = struct.pack(">I4s4s", 12, b"dcom", b"zlib")
    inner += struct.pack(">I4sI", 12 + len(hidden), b"cmvd", 10**9) + hidden
    inner = struct.pack(">I4s", 8 + len(inner), b"cmov") + inner
    return content[:place] + struct.pack(">I4s", 8 + len(inner), b"moov") + inner


def many_pieces(folder):
    return film(folder) + struct.pack(">I4s", 8, b"free") * 10**6


def many_tables(folder):
    """Tables of no frames, each of which must be looked at."""
    tables = struct.pack(">I4s12x", 20, b"stsz") * 200_000
    return film(folder) + struct.pack(">I4s", 8 + len(tables), b"skip") + tables


def huge_frames(folder):
    """A codec that takes the size of its frames from the header of the file."""
    content = film(folder, "avi", "huffyuv", pixel_format="yuv422p")
    struct.pack_into("<II", content, content.index(b"strf") + 12, 65000, 65000)
    struct.pack_into("<I", content, content.index(b"strh") + 40, 10**9)
    return content


def large_frames(folder):
    """Too many pixels for us, but not for FFmpeg."""
    content = huge_frames(folder)
    struct.pack_into("<II", content, content.index(b"strf") + 12, 16000, 16000)
    return content


def huge_picture_in_a_small_film(folder):
    """A PNG of 256 million pixels behind one of 64 x 48."""
    content = film(folder, "avi", "png", pixel_format="rgb24")
    start = content.index(b"movi")
    chunk = content.index(b"00dc", content.index(b"00dc", start) + 4)
    bomb = png(16000, 16000)
    bomb += b"\0" * (len(bomb) % 2)
    movie = content[:chunk] + b"00dc" + struct.pack("<I", len(bomb)) + bomb
    struct.pack_into("<I", movie, 4, len(movie) - 8)
    struct.pack_into("<I", movie, start - 4, len(movie) - start)
    return movie


def huge_gif(folder):
    content = film(folder, "gif", "gif", pixel_format="rgb8")
    struct.pack_into("<HH", content, 6, 65535, 65535)
    return content


def playlist_of_a_file(folder):
    return (
        b"#EXTM3U\n#EXT-X-TARGETDURATION:10\n#EXTINF:10,\nfile:///etc/passwd\n#EXT-X-ENDLIST\n"
    )


def script(folder):
    film(folder, "avi", "mpeg4")
    return f"ffconcat version 1.0\nfile '{folder}/clip.avi'\n".encode()


def drawing(folder):
    return b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="99999"/>'


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (many_frames_announced, "announces 100000000 frames"),
        (many_frames_announced_in_a_table, "announces 100000 frames"),
        (many_frames_announced_in_a_fragment, "announces 1000000"),
        (packed_header, "packed header"),
        (many_pieces, "more than 100000 pieces"),
        (many_tables, "more than 100000 tables"),
        (huge_frames, "more than max_pixels = 25000000"),
        (large_frames, "more than max_pixels = 25000000"),
        (huge_picture_in_a_small_film, "frame 1 of"),
        (huge_gif, "more than max_pixels = 25000000"),
    ],
)
def test_one_error_soon_and_cheaply(tmp_path, make, words):
    path = tmp_path / "attack.mp4"
    path.write_bytes(make(tmp_path))
    attacked(LOAD, path, setup=SETUP).assert_refused("load_video: ", str(path), words)


def test_a_gap_of_gigabytes_is_not_searched(tmp_path):
    path = tmp_path / "gap.mp4"
    path.write_bytes(film(tmp_path) + struct.pack(">I4sQ", 1, b"free", 6 * 10**9))
    os.truncate(path, 6 * 10**9)
    attacked(LOAD, path, setup=SETUP).assert_refused(str(path), "neither pictures nor sounds")


def test_no_video_is_mapped_into_memory(tmp_path):
    """Where another process that cuts it short would end this one (SIGBUS)."""
    film(tmp_path)
    code = """
def refuse_to_map(event, details):
    if event == "mmap.__new__":
        raise RuntimeError("mapped")
sys.addaudithook(refuse_to_map)
raise DataError(str(load_video(sys.argv[1])))
"""
    told = attacked(
        code, tmp_path / "clip.mp4", setup=f"{SETUP}\nfrom setwise.errors import DataError"
    )
    told.assert_refused("LoadedSets of 1 set")


class CutShort(io.FileIO):
    """A file that another process cuts after it was read so often."""

    def __init__(self, path, n_reads):
        super().__init__(path)
        self.path, self.n_reads = path, n_reads

    def read(self, size=-1):
        if self.n_reads == 0:
            os.truncate(self.path, 10)
        self.n_reads -= 1
        return super().read(size)


@pytest.mark.parametrize("n_reads", range(8))
def test_a_video_cut_short_while_it_is_looked_at(tmp_path, n_reads):
    path = tmp_path / "cut.mp4"
    path.write_bytes(film(tmp_path))
    with CutShort(path, n_reads) as file:
        check_announced("load_video", path, file)
        assert file.n_reads < 0
        assert file.tell() == 0


def test_a_film_of_more_frames_than_memory_is_left_when_it_is_full(tmp_path):
    """A GIF of 19 bytes a frame, of which no more is decoded than may be kept."""
    frame = b"\x21\xf9\4\0\1\0\0\0\x2c" + struct.pack("<HHHHB", 0, 0, 1, 1, 0) + b"\2\2\x44\1\0"
    head = b"GIF89a" + struct.pack("<HHBBB", 2, 2, 0x80, 0, 0) + b"\0\0\0\xff\xff\xff"
    path = tmp_path / "long.gif"
    path.write_bytes(head + frame * 50_000 + b";")
    decoded = []
    with pytest.raises(DataError, match=r"the first 513 frames of .*max_bytes=2097152"):
        load_video(
            path, max_bytes=512 * 64 * 64, progress=lambda _, n, total: decoded.append(n)
        )
    assert max(decoded) <= 513


def test_what_is_no_video_at_all(tmp_path):
    """All in one process, which is even more than each on its own."""
    wrong = (
        random_bytes, no_bytes, text, picture, sound, header_missing, playlist_of_a_file,
        script, drawing,
    )  # fmt: skip
    paths = [tmp_path / f"{make.__name__}.mp4" for make in wrong]
    for path, make in zip(paths, wrong, strict=True):
        path.write_bytes(make(tmp_path))
    code = """
told = []
for path in sys.argv[1:]:
    try:
        load_video(path)
    except DataError as error:
        assert path in str(error) and chr(10) not in str(error), error
        told.append(path)
assert told == sys.argv[1:], told
raise DataError("all refused")
"""
    told = attacked(code, *paths, setup=f"{SETUP}\nfrom setwise.errors import DataError")
    told.assert_refused("all refused")


def test_a_pipe_is_not_waited_for(tmp_path):
    path = tmp_path / "pipe.mp4"
    os.mkfifo(path)
    attacked(LOAD, path, setup=SETUP, patience_s=20).assert_refused("no regular file")


@pytest.mark.parametrize("name", ["list.m3u8", "list.mp4"])
def test_nobody_is_called(tmp_path, name):
    """A playlist that names an address, and the address itself."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        address = f"http://127.0.0.1:{server.getsockname()[1]}/a.ts"
        path = tmp_path / name
        path.write_text(
            f"#EXTM3U\n#EXT-X-TARGETDURATION:9\n#EXTINF:9,\n{address}\n#EXT-X-ENDLIST\n"
        )
        attacked(LOAD, path, setup=SETUP).assert_refused("no playlist")
        attacked(LOAD, address, setup=SETUP).assert_refused("not there")
        with pytest.raises(BlockingIOError):
            server.accept()


def test_a_film_cut_short_gives_what_there_is_and_says_so(tmp_path):
    """Matroska can be read as far as it goes."""
    rng = np.random.default_rng(0)
    frames = [rng.integers(0, 256, (48, 64), dtype=np.uint8) for _ in range(40)]
    content = write_video(tmp_path / "whole.mkv", frames).read_bytes()
    path = tmp_path / "cut.mkv"
    path.write_bytes(content[: len(content) // 3])
    code = "raise SystemExit(str(load_video(sys.argv[1], on_error='skip', max_bad=0.5).report))"
    told = attacked(code, path, setup=SETUP)
    assert told.error == "SystemExit", told
    assert "announces 4.0 s, and its last frame is at " in told.message
    assert told.seconds < LIMIT_S
    assert told.megabytes < LIMIT_MB


def test_random_damage_ends_in_a_result_or_one_error(tmp_path):
    """Bytes overwritten anywhere, in every kind of file: nothing but DataError comes out."""
    code = """
import warnings
warnings.simplefilter("ignore")
import numpy as np
rng = np.random.default_rng(0)
for path in sys.argv[1:]:
    whole = open(path, "rb").read()
    for _ in range(25):
        spoilt = bytearray(whole)
        for place in rng.integers(0, len(whole), rng.integers(1, 30)):
            spoilt[place] = rng.integers(256)
        spoilt = spoilt[: rng.integers(1, 2 * len(whole))]
        open(path, "wb").write(spoilt)
        try:
            load_video(path, on_error="skip", max_bad=1.0)
        except DataError as error:
            assert "\\n" not in str(error)
"""
    kinds = [("mp4", "libx264"), ("avi", "mpeg4"), ("mkv", "libvpx"), ("ts", "mpeg2video")]
    paths = []
    for suffix, codec in kinds:
        paths.append(tmp_path / f"clip.{suffix}")
        film(tmp_path, suffix, codec)
    told = attacked(code, *paths, setup=f"{SETUP}\nfrom setwise.errors import DataError")
    assert told.error is None, told
    assert told.megabytes < LIMIT_MB
