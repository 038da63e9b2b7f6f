import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise.plots.labels import one_line, spread


@st.composite
def heights_and_gaps(draw):
    heights = draw(st.lists(st.floats(0, 1), min_size=1, max_size=30))
    most = 1.0 / max(len(heights) - 1, 1)
    return np.sort(heights)[::-1], draw(st.floats(0, 1)) * most


@given(heights_and_gaps())
def test_names_keep_apart_and_inside(case):
    heights, gap = case
    places = spread(heights, gap)
    assert (-np.diff(places) >= gap - 1e-12).all()
    assert places.max() <= 1 + 1e-12
    assert places.min() >= -1e-12


def test_names_with_room_stand_beside_their_points():
    np.testing.assert_allclose(spread(np.array([0.9, 0.5, 0.1]), 0.2), [0.9, 0.5, 0.1])


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("two\nlines", "two lines"),
        ("  wide   name ", "wide name"),
        ("a\x00b\ud800", "a\ufffdb\ufffd"),
        (7, "7"),
        ("x" * 40, "x" * 27 + "…"),
        ("日本語", "日本語"),
    ],
)
def test_names_on_one_line(name, line):
    assert one_line(name) == line


def test_no_font_is_asked_for_twice():
    pytest.importorskip("matplotlib")
    from setwise.plots.labels import fonts_for

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        family, known = fonts_for(["plain"])
    assert family == ["DejaVu Sans"]
    assert ord("é") in known
