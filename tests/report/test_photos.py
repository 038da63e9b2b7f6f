"""Which photos are shown, and when they were taken."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from setwise import SetBatch
from setwise.report.photos import choose, photo, time_span
from setwise.sets import Origins


@given(st.lists(st.booleans(), min_size=1, max_size=60), st.integers(1, 30))
def test_so_many_are_shown_in_order_and_those_out_of_place_first(is_out, most):
    is_out = np.array(is_out)
    shown = choose(is_out, most)
    assert len(shown) == min(most, len(is_out))
    assert (np.diff(shown) > 0).all()
    n_out = int(is_out.sum())
    assert is_out[shown].sum() >= min(n_out, most // 2)
    if n_out <= most // 2:
        assert set(np.flatnonzero(is_out)) <= set(shown)


@pytest.mark.parametrize(
    ("times", "expected"),
    [
        (["2024-05-01T12:01:30", "2024-05-01T12:05"], "2024-05-01 12:01 to 12:05"),
        (["2024-05-02T08:00", "2024-05-01T12:05"], "2024-05-01 12:05 to 2024-05-02 08:00"),
        (["2024-05-01T12:01", None], "2024-05-01 12:01"),
        ([None, None], ""),
    ],
)
def test_times(times, expected):
    origins = Origins.of_files(["a", "b"], times)
    sets = SetBatch(np.eye(2), [0, 2], origins=origins)
    assert time_span(sets, 0) == expected


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("albums/anna/IMG_1.jpg", "IMG_1.jpg"),
        ("C:\\albums\\IMG_1.jpg", "IMG_1.jpg"),
        ("clips/clip.mp4, frame 12", "clip.mp4, frame 12"),
        ("", "vector 1"),
        ("..", ".."),
    ],
)
def test_a_photo_is_called_by_the_tail_of_its_path(path, expected):
    sets = SetBatch(np.eye(2)[:1], [0, 1], origins=Origins.of_files([path]))
    shown = photo(sets, 0, 0)
    assert (shown.file, shown.path, shown.uri) == (expected, path, "")
