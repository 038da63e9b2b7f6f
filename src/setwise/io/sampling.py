"""One frame per so many seconds, decoding no more of a film than that needs."""

from __future__ import annotations

from bisect import bisect_right
from heapq import heappop, heappush
from typing import Any

# Times are sums of fractions: a frame this much before its time is in time.
IN_TIME_S = 1e-6


class Sampling:
    """The packets of a stream to decode, and the frames to take.

    Not decoded are packets between the last frame taken and the next keyframe, and frames
    neither taken nor needed to decode others. All are counted: frames keep their numbers.
    """

    def __init__(self, stream: Any, every_s: float, start_s: float) -> None:
        self.every_s, self.start_s = every_s, start_s
        self.n_packets = self.n_undecoded = 0
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
            self.n_undecoded += 1
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
