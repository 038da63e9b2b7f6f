"""Sets by time: photos taken one after the other belong together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

__all__ = ["burst_name", "bursts", "time_taken"]

_EXIF = 0x8769
_DATE_TIME_ORIGINAL = 0x9003
_SUB_SEC_TIME_ORIGINAL = 0x9291


def time_taken(exif: Any) -> datetime | None:
    """When a photo was taken, or ``None`` where its EXIF tags do not say.

    The clock of the camera as it stands: time zones are not looked at.

    Parameters
    ----------
    exif : PIL.Image.Exif
        Tags of the photo: ``DateTimeOriginal`` and, where it is there, ``SubSecTimeOriginal``.
    """
    try:
        tags = exif.get_ifd(_EXIF)
        whole = datetime.strptime(_text(tags[_DATE_TIME_ORIGINAL]), "%Y:%m:%d %H:%M:%S")
    except Exception:
        # Pillow may raise anything on damaged tags; cameras without a clock write zeros.
        return None
    fraction = _text(tags.get(_SUB_SEC_TIME_ORIGINAL, ""))
    if not (fraction.isascii() and fraction.isdigit()):
        return whole
    return whole.replace(microsecond=int(fraction[:6].ljust(6, "0")))


def _text(value: Any) -> str:
    text = value.decode("ascii") if isinstance(value, bytes) else str(value)
    return text.strip("\0 ")


def bursts(times: Sequence[datetime], gap_s: float) -> list[list[int]]:
    """Group photos by time: a pause of more than ``gap_s`` seconds begins a new burst.

    Parameters
    ----------
    times : sequence of datetime
        When each photo was taken, in any order.
    gap_s : float
        The longest pause inside a burst, in seconds.

    Returns
    -------
    list of list of int
        The photos of each burst by time, photos of equal time in the order given.

    Examples
    --------
    >>> at = [datetime(2024, 5, 1, 12, 0, second) for second in (40, 0, 2)]
    >>> bursts(at, gap_s=30.0)
    [[1, 2], [0]]
    """
    groups: list[list[int]] = []
    for i in sorted(range(len(times)), key=times.__getitem__):
        if groups and (times[i] - times[groups[-1][-1]]).total_seconds() <= gap_s:
            groups[-1].append(i)
        else:
            groups.append([i])
    return groups


def burst_name(first: datetime) -> str:
    """What a burst is called: when its first photo was taken.

    Examples
    --------
    >>> burst_name(datetime(2024, 5, 1, 12, 0, 30))
    '2024-05-01 12:00:30'
    """
    return first.isoformat(sep=" ")
