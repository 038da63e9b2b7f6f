"""The frames of a video, one at a time, from a local file or given as arrays."""

from __future__ import annotations

import math
import os
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np
import numpy.typing as npt

from setwise._support.extras import require
from setwise._support.parameters import (
    check_choice,
    check_count,
    check_not_negative,
    check_number,
    refuse,
)
from setwise.errors import reject
from setwise.io.decode import SIDE, fitted_size, small_jpeg
from setwise.io.heads import check_announced, is_other_container
from setwise.io.loading_report import Skipped
from setwise.io.untrusted import one_kind_of_error, regular_file

# Containers that hold a film themselves, mp4 first. Not among them are playlists and scripts
# (hls, dash, concat, ...), which make FFmpeg open other files or addresses, and rare formats.
CONTAINERS = (
    "mov,mp4,m4a,3gp,3g2,mj2", "avi", "matroska,webm", "mpeg", "mpegts", "ogg", "flv", "asf",
    "gif",
)  # fmt: skip
CODECS = (
    "h264", "hevc", "h263", "mpeg4", "mpeg1video", "mpeg2video", "msmpeg4v1", "msmpeg4v2",
    "msmpeg4", "wmv1", "wmv2", "wmv3", "vc1", "flv", "vp6", "vp6f", "vp8", "vp9", "libvpx-vp9",
    "av1", "libdav1d", "theora", "mjpeg", "png", "gif", "ffv1", "huffyuv", "ffvhuff", "utvideo",
    "prores", "dvvideo", "cinepak", "indeo3", "indeo5", "svq3", "rawvideo",
)  # fmt: skip
ADVICE = (
    "Expected an undamaged mp4, mov, avi, mkv, webm, mpeg, ogg, flv, wmv or gif, no playlist"
)
# FFmpeg counts the length of a file in microseconds.
AV_TIME_BASE = 1_000_000
# Times are sums of fractions: a frame this much before its time is in time.
IN_TIME_S = 1e-6


class Frame(NamedTuple):
    """A frame, its number in the file, from 0, and a small JPEG if wanted."""

    number: int
    pixels: npt.NDArray[np.uint8]
    thumbnail: bytes = b""


@dataclass(frozen=True)
class Reading:
    """Which frames to read, and how; see :func:`setwise.io.load_video`."""

    every: int = 1
    max_frames: int | None = None
    start_s: float = 0.0
    stop_s: float | None = None
    colour: bool = False
    max_pixels: int = 25_000_000
    on_error: str = "raise"
    max_bad: float = 0.05
    max_bytes: int = 2 * 2**30
    thumbnails: bool = False
    every_s: float | None = None

    def check(self, owner: str) -> None:
        """Refuse values that no video can be read with."""
        for name in ("every", "max_frames", "max_pixels", "max_bytes"):
            if name != "max_frames" or self.max_frames is not None:
                check_count(owner, name, getattr(self, name))
        if self.every_s is not None:
            check_number(owner, "every_s", self.every_s)
            if self.every != 1:
                refuse(owner, "every", "left out where every_s is given", self.every)
        for name in ("colour", "thumbnails"):
            check_choice(owner, name, getattr(self, name), (False, True))
        check_choice(owner, "on_error", self.on_error, ("raise", "skip", "list"))
        check_not_negative(owner, "start_s", self.start_s)
        check_not_negative(owner, "max_bad", self.max_bad, at_most=1.0)
        if self.stop_s is None:
            return
        check_not_negative(owner, "stop_s", self.stop_s)
        if self.stop_s <= self.start_s:
            refuse(owner, "stop_s", f"above start_s ({self.start_s:g})", self.stop_s)

    def expected(self, announced: int) -> int:
        """About how many of the announced frames are taken, 0 if unknown."""
        taken = -(-announced // self.every)
        limit = self.max_frames
        return taken if limit is None else min(taken or limit, limit)


@contextmanager
def open_video(
    owner: str, path: str | os.PathLike[str], reading: Reading
) -> Iterator[VideoFrames]:
    """The frames of a file, opened so that FFmpeg opens nothing else."""
    av = require("av", "video")
    film = VideoFrames(owner, regular_file(owner, path), reading)
    with one_kind_of_error(owner, film.path):
        # A file object instead of a name: a name could be taken for an address.
        file = film.path.open("rb")
    with file:
        is_mp4 = not is_other_container(file)
        if is_mp4:
            check_announced(owner, film.path, file)
        options = {
            "format_whitelist": ",".join(CONTAINERS if is_mp4 else CONTAINERS[1:]),
            "codec_whitelist": ",".join(CODECS),
            "protocol_whitelist": "none",
            "max_pixels": str(reading.max_pixels),
        }
        try:
            container = av.open(file, options=options, metadata_errors="replace")
        except (av.error.FFmpegError, OSError, ValueError) as error:
            film.refuse(f"is no video that can be read ({_reason(error)})", ADVICE, error)
        with container:
            film.choose_stream(container)
            yield film


class VideoFrames:
    """The selected frames of a video, decoded one by one, to be read once."""

    def __init__(self, owner: str, path: Path, reading: Reading) -> None:
        self.owner, self.path, self.reading = owner, path, reading
        # What the file announces, 0 if nothing. It may lie: nothing is allocated by it.
        self.announced, self.length_s = 0, 0.0
        self.n_decoded = self.n_taken = self.n_rotated = 0
        self.end_s = 0.0  # time of the last decoded frame
        self.is_over = False  # read to the end
        self.skipped: list[Skipped] = []
        self._sampling: _Sampling | None = None

    def __iter__(self) -> Iterator[Frame]:
        yield from islice(self._taken(), self.reading.max_frames)
        self._check_enough()

    @property
    def expected(self) -> int:
        """About how many frames are taken, 0 if unknown."""
        if self.reading.every_s is None:
            return self.reading.expected(self.announced)
        stop_s = min(self.reading.stop_s or self.length_s, self.length_s)
        seconds = stop_s - self.reading.start_s
        return self.reading.expected(math.ceil(seconds / self.reading.every_s))

    def notes(self) -> tuple[str, ...]:
        """Differences between the file's announcements and its frames, and rotations."""
        notes = []
        n_there = self.n_decoded if self._sampling is None else self._sampling.n_packets
        if self.is_over and self.announced not in (0, n_there):
            what = "could be decoded" if self._sampling is None else "are there"
            announced = f"announces {self.announced} frames"
            notes.append(f"{self.path.name} {announced}, and {n_there} {what}")
        # The sound may end a little later than the picture.
        elif self.is_over and not self.announced and self.end_s < 0.9 * self.length_s - 1:
            announced = f"announces {self.length_s:.1f} s"
            last = f"its last frame is at {self.end_s:.1f} s"
            notes.append(f"{self.path.name} {announced}, and {last}")
        if self.n_rotated:
            turned = f"{self.n_rotated} frames of {self.path.name}"
            notes.append(f"{turned} were turned, as it asks for")
        return tuple(notes)

    def choose_stream(self, container: Any) -> None:
        """Find the video stream of an open file, and check it before decoding."""
        cover = require("av.stream", "video").Disposition.attached_pic
        films = [s for s in container.streams.video if not s.disposition & cover]
        if not films:
            kinds = sorted({s.type for s in container.streams})
            self.refuse(f"holds no moving pictures, only {kinds or 'nothing'}", ADVICE)
        context = films[0].codec_context
        if context is None or context.name not in CODECS:
            name = getattr(context, "name", "unknown")
            self.refuse(f"is coded in a rare way ({name})", "Convert it, such as to mp4")
        # FFmpeg, which knows the limit, says 0 x 0 where a frame is larger.
        n_pixels = context.width * context.height
        if not 0 < n_pixels <= self.reading.max_pixels:
            size = f"{context.width} x {context.height} pixels," if n_pixels else "a size of"
            limit = f"more than max_pixels = {self.reading.max_pixels}"
            advice = "Where the file is trusted, raise max_pixels"
            self.refuse(f"has frames of {size} {limit}", advice)
        # A frame may turn out larger than announced; FFmpeg then refuses to decode it.
        context.options = {"max_pixels": str(self.reading.max_pixels)}
        self._container, self._stream = container, films[0]
        if self.reading.every_s is not None:
            self._sampling = _Sampling(films[0], self.reading.every_s, self.reading.start_s)
        self._shrinker = require("av.video.reformatter", "video").VideoReformatter()
        self.announced = max(films[0].frames, 0)
        self.length_s = max((container.duration or 0) / AV_TIME_BASE, 0.0)

    def _taken(self) -> Iterator[Frame]:
        start, stop = self.reading.start_s, self.reading.stop_s
        n_inside = 0
        for number, frame in self._decoded():
            time = self.end_s = self._time(number, frame)
            if stop is not None and time >= stop:
                return
            if time < start:
                continue
            sampling = self._sampling
            if sampling.is_taken(time) if sampling else n_inside % self.reading.every == 0:
                self.n_taken += 1
                yield Frame(number, self._pixels(frame), self._thumbnail(frame))
            n_inside += 1
        self.is_over = True

    def _decoded(self) -> Iterator[tuple[int, Any]]:
        """All undamaged frames that are needed, with their numbers."""
        av = require("av", "video")
        packets = self._container.demux(self._stream)
        while True:
            try:
                packet = next(packets)
                is_needed = self._sampling is None or self._sampling.is_needed(packet)
                frames = packet.decode() if is_needed else ()
            except StopIteration:
                return
            except (av.error.FFmpegError, OSError, ValueError) as error:
                self._leave_out(f"cannot be decoded ({_reason(error)})")
                continue
            for frame in frames:
                if frame.is_corrupt:
                    self._leave_out("is damaged")
                else:
                    self.n_decoded += 1
                    yield self._number(frame), frame

    def _number(self, frame: Any) -> int:
        number = None if self._sampling is None else self._sampling.number(frame)
        return self.n_decoded + len(self.skipped) - 1 if number is None else number

    def _time(self, number: int, frame: Any) -> float:
        """Seconds since the beginning."""
        stream, reading = self._stream, self.reading
        if frame.pts is not None and frame.time_base:
            begin = (stream.start_time or 0) * stream.time_base
            return float(frame.pts * frame.time_base - begin)
        if stream.average_rate:
            return float(number / stream.average_rate)
        if reading.start_s or reading.stop_s is not None or reading.every_s is not None:
            advice = "Leave out start_s, stop_s and every_s"
            self.refuse("does not say when a frame is shown", advice)
        return 0.0

    def _pixels(self, frame: Any) -> npt.NDArray[np.uint8]:
        self.n_rotated += _quarters(frame) != 0
        return self._upright(frame, "rgb24" if self.reading.colour else "gray")

    def _thumbnail(self, frame: Any) -> bytes:
        """A small JPEG of the frame itself: the returned pixels may be grey or smaller."""
        from PIL import Image

        if not self.reading.thumbnails:
            return b""
        size = fitted_size((frame.width, frame.height), 2 * SIDE)
        return small_jpeg(Image.fromarray(self._upright(frame, "rgb24", size)))

    def _upright(
        self, frame: Any, kind: str, size: tuple[int, int] | None = None
    ) -> npt.NDArray[np.uint8]:
        quarters = _quarters(frame)
        try:
            if size is not None:
                # One for all frames: setting it up takes longer than its work.
                frame = self._shrinker.reformat(frame, *size, kind, interpolation="AREA")
            pixels = frame.to_ndarray(format=kind)
        except (require("av", "video").error.FFmpegError, ValueError) as error:
            kind = f"has frames of a kind, {frame.format.name}, that cannot be converted"
            self.refuse(f"{kind} ({_reason(error)})", "Convert it, such as to mp4", error)
        return np.ascontiguousarray(np.rot90(pixels, quarters)) if quarters else pixels

    def _leave_out(self, reason: str) -> None:
        where = f"frame {self.n_decoded + len(self.skipped)}"
        if self.reading.on_error == "raise":
            expected = 'Expected an undamaged video; on_error="skip" leaves such frames out.'
            reject(f"{self.owner}: {where} of {str(self.path)!r} {reason}. {expected}")
        self.skipped.append(Skipped(self.path, f"{where} {reason}"))

    def _check_enough(self) -> None:
        n_bad, reading = len(self.skipped), self.reading
        if self.n_decoded == 0:
            limit = f"at most max_pixels = {reading.max_pixels}"
            self.refuse(f"holds no frame that can be decoded, of {limit} pixels", ADVICE)
        if reading.on_error != "list" and n_bad > reading.max_bad * (self.n_decoded + n_bad):
            bad = f"has {n_bad} bad frames among {self.n_decoded + n_bad}"
            limit = f"more than max_bad = {reading.max_bad:g} of them"
            self.refuse(f"{bad}, {limit}", "Mend the file, or raise max_bad")
        if self.n_taken == 0:
            times = f"between start_s = {reading.start_s:g} and stop_s = {reading.stop_s}"
            problem = f"has {self.n_decoded} frames, and none of them {times}"
            self.refuse(problem, "Choose times inside the video")

    def refuse(self, problem: str, advice: str, cause: Exception | None = None) -> NoReturn:
        """Raise what is wrong with this file."""
        reject(f"{self.owner}: {str(self.path)!r} {problem}. {advice}.", cause)


class _Sampling:
    """The packets of a stream to decode, and the frames to take.

    Not decoded are packets between the last frame taken and the next keyframe, and frames
    neither taken nor needed to decode others. All are counted: frames keep their numbers.
    """

    def __init__(self, stream: Any, every_s: float, start_s: float) -> None:
        self.every_s, self.start_s = every_s, start_s
        self.n_packets = 0
        self._time_base = stream.time_base
        self._begin = stream.start_time or 0
        self._context = stream.codec_context
        # Without a full index, more is decoded than needed.
        self._keyframes = sorted(e.timestamp for e in stream.index_entries if e.is_keyframe)
        self._delay_s = 0.0
        self._last_slot = -1
        # Display times of frames whose packets were seen; a decoder holds back a few.
        self._waiting: list[int] = []
        self._n_shown = 0

    def is_taken(self, time_s: float) -> bool:
        """Whether a frame is the first of its interval; frames come in display order."""
        slot = self._slot(time_s)
        is_first = slot > self._last_slot
        self._last_slot = max(slot, self._last_slot)
        return is_first

    def is_needed(self, packet: Any) -> bool:
        """Whether a packet goes to the decoder; also sets how carefully it is decoded."""
        if packet.size == 0:  # the last one, which makes the decoder give back the rest
            return True
        self.n_packets += 1
        if packet.pts is not None:
            heappush(self._waiting, packet.pts)
        self._context.skip_frame = "DEFAULT"
        if packet.pts is None or packet.dts is None or not packet.duration:
            return True
        decoded_s, shown_s = self._seconds(packet.dts), self._seconds(packet.pts)
        length_s = float(packet.duration * self._time_base)
        # Frames are decoded some time before they are shown, and the index has either time.
        self._delay_s = max(self._delay_s, shown_s - decoded_s)
        ends_s = self._next_keyframe(packet.dts) + self._delay_s
        # What is taken at a time is the frame shown then, or the next one.
        if self._next_time(decoded_s - length_s) >= ends_s - IN_TIME_S:
            return False
        if self._slot(shown_s) == self._slot(shown_s - length_s):
            self._context.skip_frame = "NONREF"
        return True

    def number(self, frame: Any) -> int | None:
        """Number of frames shown before this one, None if unknown."""
        if frame.pts is None:
            return None
        while self._waiting and self._waiting[0] <= frame.pts:
            heappop(self._waiting)
            self._n_shown += 1
        return self._n_shown - 1

    def _seconds(self, ticks: int) -> float:
        return float((ticks - self._begin) * self._time_base)

    def _slot(self, time_s: float) -> int:
        return int((time_s - self.start_s + IN_TIME_S) // self.every_s)

    def _next_time(self, time_s: float) -> float:
        return self.start_s + max(self._slot(time_s) + 1, 0) * self.every_s

    def _next_keyframe(self, ticks: int) -> float:
        place = bisect_right(self._keyframes, ticks)
        is_last = place == len(self._keyframes)
        return float("inf") if is_last else self._seconds(self._keyframes[place])


def _quarters(frame: Any) -> int:
    """Number of quarter turns to the left that put a frame upright."""
    return round(getattr(frame, "rotation", 0) / 90) % 4  # unknown to old PyAV


def _reason(error: Exception) -> str:
    """FFmpeg's message, without number and file name."""
    reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
    return " ".join(reason.split())
