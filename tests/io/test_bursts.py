from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.io.made_images import EXIF, SUB_SECONDS, TIME

from setwise.io.bursts import burst_name, bursts, time_taken

NOON = datetime(2024, 5, 1, 12)


def exif(**tags: object) -> Image.Exif:
    made = Image.Exif()
    made.get_ifd(EXIF).update({{"time": TIME, "fraction": SUB_SECONDS}[k]: v
                               for k, v in tags.items()})  # fmt: skip
    return made


@pytest.mark.parametrize(
    ("fraction", "microseconds"),
    [("5", 500_000), ("123", 123_000), ("1234567", 123_456), ("", 0), ("x", 0), ("٣", 0)],
)
def test_time_with_a_fraction_of_a_second(fraction, microseconds):
    taken = time_taken(exif(time="2024:05:01 12:00:00", fraction=fraction))
    assert taken == NOON + timedelta(microseconds=microseconds)


def test_bytes_and_padding_are_times_too():
    assert time_taken(exif(time=b"2024:05:01 12:00:00\0")) == NOON


@pytest.mark.parametrize("time", ["0000:00:00 00:00:00", "yesterday", "", b"\xff\xff", 7, None])
def test_no_clock_no_time(time):
    assert time_taken(exif(time=time)) is None


def test_no_tags_no_time():
    assert time_taken(Image.Exif()) is None


def test_a_gap_is_longer_than_the_limit():
    times = [NOON, NOON + timedelta(seconds=30), NOON + timedelta(seconds=60.5)]
    assert bursts(times, gap_s=30.0) == [[0, 1], [2]]
    assert bursts(times, gap_s=30.5) == [[0, 1, 2]]
    assert bursts(times, gap_s=1e300) == [[0, 1, 2]]


def test_equal_times_stay_in_order():
    assert bursts([NOON, NOON, NOON - timedelta(seconds=1)], gap_s=5) == [[2, 0, 1]]


@given(
    seconds=st.lists(st.integers(0, 2000), min_size=1, max_size=30),
    gap_s=st.floats(0.5, 200.0),
)
def test_bursts_partition_the_photos_by_time(seconds, gap_s):
    times = [NOON + timedelta(seconds=s) for s in seconds]
    groups = bursts(times, gap_s)
    assert sorted(i for group in groups for i in group) == list(range(len(times)))
    for group in groups:
        steps = [seconds[b] - seconds[a] for a, b in pairwise(group)]
        assert all(0 <= step <= gap_s for step in steps)
    for before, after in pairwise(groups):
        assert seconds[after[0]] - seconds[before[-1]] > gap_s


def test_name_tells_fractions_apart():
    assert burst_name(NOON) == "2024-05-01 12:00:00"
    assert burst_name(NOON + timedelta(seconds=0.25)) == "2024-05-01 12:00:00.250000"
