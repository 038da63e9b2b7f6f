"""Bursts of photos by time, and which folders are sets."""

from __future__ import annotations

from datetime import datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from tests.io.made_images import EXIF, SUB_SECONDS, TIME, files

from setwise.errors import DataError
from setwise.io.decode import time_taken
from setwise.io.layouts import LAYOUTS, burst_name, bursts, decide_layout
from setwise.io.scan import scan

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
    seconds=st.lists(st.integers(0, 2000), min_size=1, max_size=30), gap_s=st.floats(0.5, 200.0)
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


@pytest.mark.parametrize(
    ("paths", "layout"),
    [
        (["c/s/a.png", "d/s/a.png"], "class/set"),
        (["s/a.png", "t/a.png"], "set"),
        (["a.png", "b.png"], "single"),
    ],
)
def test_auto_tells_by_depth(tmp_path, paths, layout):
    assert decide_layout(scan(files(tmp_path, *paths), 100), "auto").name == layout


@pytest.mark.parametrize(
    ("inner", "outer"), [("c/a.png", "b.png"), ("c/s/a.png", "b.png"), ("c/s/a.png", "c/b.png")]
)
def test_auto_refuses_a_mixture_naming_two_files(tmp_path, inner, outer):
    """A folder of images in a folder of images: one set or two?"""
    files(tmp_path, inner, outer, "d/c.png")
    with pytest.raises(DataError, match="mixes layouts") as raised:
        decide_layout(scan(tmp_path, 100), "auto")
    for word in (str(tmp_path / inner), str(tmp_path / outer), *map(repr, LAYOUTS), "exclude"):
        assert word in str(raised.value)


def test_folders_at_several_depths_are_sets_where_none_holds_another(tmp_path):
    found = scan(files(tmp_path, "c/s/a.png", "d/b.png"), 100)
    layout = decide_layout(found, "auto")
    assert (layout.name, layout.has_labels, layout.is_uneven) == ("set", False, True)
    assert [layout.home(image) for image in found.images] == [("c", "s"), ("d",)]


@pytest.mark.parametrize(
    ("paths", "layout", "is_uneven"),
    [
        (["anna/1.png", "bert/2.png"], "class", False),
        (["anna/s/1.png", "bert/s/2.png"], "class/set", False),
        (["anna/1.png", "anna/s/1.png", "bert/2.png"], "class/set", True),
    ],
)
def test_the_first_folder_of_a_gallery_is_the_class(tmp_path, paths, layout, is_uneven):
    decided = decide_layout(scan(files(tmp_path, *paths), 100), "auto", labelled=True)
    assert (decided.name, decided.has_labels, decided.is_uneven) == (layout, True, is_uneven)


@pytest.mark.parametrize(
    ("path", "layout"), [("a.png", "auto"), ("s/a.png", "set"), ("a.png", "bursts")]
)
def test_a_gallery_needs_classes(tmp_path, path, layout):
    with pytest.raises(DataError, match="the sets need classes, and ") as raised:
        decide_layout(scan(files(tmp_path, path), 100), layout, labelled=True)
    for word in ("gallery/anna/*.jpg", "class/set/*.jpg", "labels="):
        assert word in str(raised.value)


@pytest.mark.parametrize(("layout", "depth"), [("bursts", 0), ("class/bursts", 1)])
def test_bursts_lie_at_any_depth(tmp_path, layout, depth):
    folder = tmp_path.joinpath(*"x"[:depth])
    files(folder, "a.png", "DCIM/b.png", "DCIM/100EK113/c.png")
    decided = decide_layout(scan(tmp_path, 100), layout)
    assert {decided.home(image) for image in scan(tmp_path, 100).images} == {("x",) * depth}


def test_bursts_of_classes_lie_in_a_class(tmp_path):
    with pytest.raises(DataError, match=r"a\.png lies 0 folders .* images 1 or more below"):
        decide_layout(scan(files(tmp_path, "a.png"), 100), "class/bursts")


def test_auto_refuses_what_is_too_deep(tmp_path):
    files(tmp_path, "a/b/c/d.png")
    with pytest.raises(DataError, match=r"d\.png lies 3 folders below .* at most 2"):
        decide_layout(scan(tmp_path, 100), "auto")


@pytest.mark.parametrize(
    ("layout", "depth"), [("class/set", 2), ("class", 1), ("set", 1), ("single", 0)]
)
def test_a_named_layout_holds_for_every_image(tmp_path, layout, depth):
    folder = tmp_path.joinpath(*"xy"[:depth])
    files(folder, "a.png")
    assert decide_layout(scan(tmp_path, 100), layout) == LAYOUTS[layout]
    stray = folder / "deeper/b.png"
    files(folder, "deeper/b.png")
    with pytest.raises(DataError, match=f"{stray} lies {depth + 1} folders below"):
        decide_layout(scan(tmp_path, 100), layout)


@pytest.mark.parametrize(
    ("paths", "said"),
    [
        ([], "holds no images .it is empty"),
        (["a.gif", "b.gif"], r"no images: 2 \(2 \.gif such as a"),
    ],
)
def test_no_images_at_all(tmp_path, paths, said):
    with pytest.raises(DataError, match=said):
        decide_layout(scan(files(tmp_path, *paths), 100), "auto")


def test_nothing_but_problems_has_no_layout(tmp_path):
    (tmp_path / "gone.png").symlink_to("nowhere.png")
    with pytest.raises(DataError, match=r"gone\.png is a link that leads nowhere"):
        decide_layout(scan(tmp_path, 100), "auto")
