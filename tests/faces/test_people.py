"""Tracking of boxes: by hand, against every possible matching, and what always holds."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from setwise.faces.people import Track, drop_nested, group_tracks, overlaps, track_boxes

NONE = np.zeros((0, 4))


def box(left, top=0, width=10, height=10):
    return [left, top, width, height]


def frames_of(tracks):
    return [track.frames for track in tracks]


def as_values(tracks):
    """Tracks without what hangs on the order of the detections."""
    return sorted((tuple(track.frames), tuple(track.boxes)) for track in tracks)


def test_overlaps_by_hand():
    found = overlaps(
        np.array([box(0), box(100)]),
        np.array([box(0), box(5), box(0, 0, 5, 5), box(10), box(90, 0, 30, 10)]),
    )
    np.testing.assert_allclose(found[0], [1, 50 / 150, 25 / 100, 0, 0])
    np.testing.assert_allclose(found[1], [0, 0, 0, 0, 100 / 300])


def test_two_things_that_move_are_two_tracks():
    seen = [np.array([box(200 - 2 * i), box(2 * i)]) for i in range(20)]
    tracks = track_boxes(seen)
    assert frames_of(tracks) == [list(range(20))] * 2
    assert [b[0] for b in tracks[0].boxes] == [2 * i for i in range(20)]
    assert [b[0] for b in tracks[1].boxes] == [200 - 2 * i for i in range(20)]
    assert tracks[0].picks == [1] * 20
    assert tracks[1].picks == [0] * 20


@pytest.mark.parametrize(("gap", "expected"), [(0, 1), (2, 1), (3, 2), (7, 2)])
def test_a_track_survives_a_gap_of_max_gap_frames(gap, expected):
    seen = [np.array([box(0)]), *[NONE] * gap, np.array([box(0)])]
    assert len(track_boxes(seen, max_gap=2)) == expected


def test_without_a_gap_allowed_neighbouring_frames_still_join():
    assert frames_of(track_boxes([np.array([box(0)])] * 3, max_gap=0)) == [[0, 1, 2]]


@pytest.mark.parametrize(("step", "expected"), [(5, 1), (6, 2)])
def test_boxes_join_at_the_overlap_asked_for(step, expected):
    # 5 apart they share a third, 6 apart a quarter.
    seen = [np.array([box(0)]), np.array([box(step)])]
    assert len(track_boxes(seen, min_overlap=1 / 3)) == expected


def test_boxes_that_only_touch_never_join():
    seen = [np.array([box(0)]), np.array([box(10)])]
    assert len(track_boxes(seen, min_overlap=0.0)) == 2


def test_the_best_of_two_candidates_is_followed():
    seen = [np.array([box(0)]), np.array([box(4), box(1)])]
    tracks = track_boxes(seen)
    assert [b[0] for b in tracks[0].boxes] == [0, 1]
    assert frames_of(tracks) == [[0, 1], [1]]


def test_both_are_followed_where_the_greedy_would_lose_one():
    # The pair that overlaps most, 5 and 3, would leave 0 and 8 with each other.
    seen = [np.array([box(0), box(5)]), np.array([box(3), box(8)])]
    tracks = track_boxes(seen)
    assert [[b[0] for b in track.boxes] for track in tracks] == [[0, 3], [5, 8]]


def test_nothing_seen_is_no_track():
    assert track_boxes([]) == []
    assert track_boxes([NONE, NONE]) == []


def best_total(boxes, others, min_overlap):
    """The largest sum of overlaps, over every way to match; slow and literal."""
    gains = overlaps(boxes, others)
    gains = np.where(gains >= min_overlap, gains, 0.0)
    if len(boxes) > len(others):
        gains = gains.T
    ways = permutations(range(gains.shape[1]), gains.shape[0])
    return max(sum(gains[i, j] for i, j in enumerate(way)) for way in ways)


sides = st.integers(1, 6)
places = st.integers(0, 8)
boxes_of_a_frame = st.lists(st.tuples(places, places, sides, sides), max_size=4).map(
    lambda rows: np.array(rows, dtype=float).reshape(-1, 4)
)


@settings(max_examples=25, deadline=None)
@given(boxes_of_a_frame, boxes_of_a_frame, st.floats(0.0, 0.9))
def test_matching_is_as_good_as_the_best_of_all(boxes, others, min_overlap):
    tracks = track_boxes([boxes, others], min_overlap=min_overlap)
    joined = [track.boxes for track in tracks if len(track) == 2]
    shared = [overlaps(np.array([a]), np.array([b]))[0, 0] for a, b in joined]
    assert all(value >= min_overlap for value in shared)
    expected = best_total(boxes, others, min_overlap) if len(boxes) and len(others) else 0.0
    assert sum(shared) == pytest.approx(expected)


@settings(max_examples=25, deadline=None)
@given(st.lists(boxes_of_a_frame, max_size=6), st.floats(0.0, 0.9), st.integers(0, 3))
def test_every_detection_is_in_one_track_and_no_track_twice_in_a_frame(
    seen, min_overlap, max_gap
):
    tracks = track_boxes(seen, min_overlap=min_overlap, max_gap=max_gap)
    placed = [pair for track in tracks for pair in zip(track.frames, track.picks, strict=True)]
    assert sorted(placed) == [(i, j) for i, found in enumerate(seen) for j in range(len(found))]
    for track in tracks:
        steps = np.diff(track.frames)
        assert (steps >= 1).all()
        assert (steps <= max_gap + 1).all()
        for frame, pick, where in zip(track.frames, track.picks, track.boxes, strict=True):
            assert tuple(seen[frame][pick]) == where


@settings(max_examples=25, deadline=None)
@given(st.lists(boxes_of_a_frame, max_size=6), st.integers(0, 2**32 - 1))
def test_the_order_inside_a_frame_does_not_matter(seen, seed):
    rng = np.random.default_rng(seed)
    shuffled = [rng.permutation(found) for found in seen]
    assert as_values(track_boxes(shuffled)) == as_values(track_boxes(seen))


# ------------------------------------------------------------------- tracks inside tracks


def track(boxes, first=0):
    """A track with one box per frame; ``None`` is a frame it was not seen in."""
    seen = [(first + i, tuple(map(float, b))) for i, b in enumerate(boxes) if b is not None]
    return Track([frame for frame, _ in seen], [0] * len(seen), [b for _, b in seen])


FACE = track([box(2 * i, 0, 30, 30) for i in range(10)])


@pytest.mark.parametrize(
    ("other", "is_dropped"),
    [
        (track([box(2 * i + 8, 2, 12, 12) for i in range(10)]), True),
        (track([box(2 * i + 8, 40, 12, 12) for i in range(10)]), False),
        # A box that sticks out by 4 of 10 is 60 % inside, by 5 it is not.
        (track([box(2 * i, 24, 10, 10) for i in range(10)]), True),
        (track([box(2 * i, 25, 10, 10) for i in range(10)]), False),
        # The face walks away over it, and later it is elsewhere.
        (track([box(0, 0, 11, 11)] * 5 + [box(60, 0, 11, 11)] * 5), False),
        (track([box(2 * i, 0, 11, 11) for i in range(5)] + [box(90)] * 5), True),
        (track([box(2 * i, 0, 11, 11) for i in range(4)] + [box(90)] * 6), False),
        # It goes on where the face is not seen any more.
        (track([box(2 * i, 0, 11, 11) for i in range(20)]), True),
        (track([box(2 * i, 0, 11, 11) for i in range(21)]), False),
        # In the same place at another time.
        (track([box(8, 2, 12, 12)] * 10, first=10), False),
        # A larger track around the face is no track inside of it, but the face is one in it.
        (track([box(2 * i - 9, -9, 60, 60) for i in range(4)]), False),
    ],
)
def test_a_track_inside_another_is_dropped(other, is_dropped):
    for given_tracks in ([FACE, other], [other, FACE]):
        left = drop_nested(given_tracks)
        assert left == [t for t in given_tracks if t is FACE or not is_dropped]


def test_of_one_track_seen_twice_one_is_left():
    assert drop_nested([FACE, FACE]) == [FACE]


def nested_slowly(tracks):
    """Which tracks go, pixel by pixel: slow and literal."""

    def pixels(where):
        left, top, width, height = map(int, where)
        return {(x, y) for x in range(left, left + width) for y in range(top, top + height)}

    def room(t):
        return sum(len(pixels(b)) for b in t.boxes), t.frames, t.boxes

    def is_inside(t, other):
        both = [
            (pixels(b), pixels(c))
            for frame, b in zip(t.frames, t.boxes, strict=True)
            for at, c in zip(other.frames, other.boxes, strict=True)
            if at == frame
        ]
        return 2 * sum(10 * len(b & c) >= 6 * len(b) for b, c in both) >= len(t)

    return [any(room(o) > room(t) and is_inside(t, o) for o in tracks) for t in tracks]


some_boxes = st.lists(
    st.none() | st.tuples(places, places, sides, sides), min_size=1, max_size=5
).filter(any)
some_tracks = st.lists(
    st.builds(track, some_boxes, st.integers(0, 2)), max_size=5, unique_by=str
)


@settings(max_examples=50, deadline=None)
@given(some_tracks, st.randoms(use_true_random=False))
def test_nested_tracks_are_those_found_pixel_by_pixel_in_any_order(tracks, random):
    left = drop_nested(tracks)
    goes = nested_slowly(tracks)
    assert left == [t for t, is_nested in zip(tracks, goes, strict=True) if not is_nested]
    shuffled = random.sample(tracks, len(tracks))
    assert as_values(drop_nested(shuffled)) == as_values(left)


@settings(max_examples=25, deadline=None)
@given(some_tracks)
def test_a_track_alone_is_never_dropped(tracks):
    assert all(drop_nested([t]) == [t] for t in tracks)
    assert bool(drop_nested(tracks)) == bool(tracks)


# ------------------------------------------------------------------- tracks of one person


def seen(*frames):
    return Track(list(frames), [0] * len(frames), [(0.0, 0.0, 9.0, 9.0)] * len(frames))


def test_groups_are_those_of_complete_linkage():
    """0, 1 and 2 in a row: the ends are too far apart, and the closer two go together."""
    tracks = [seen(0), seen(1), seen(2), seen(3)]
    vectors = np.array([[0.0], [0.3], [0.7], [5.0]])
    assert group_tracks(tracks, vectors, 0.5) == [[0, 1], [2], [3]]
    assert group_tracks(tracks, vectors, 0.7) == [[0, 1, 2], [3]]
    assert group_tracks(tracks, vectors, 0.2) == [[0], [1], [2], [3]]
    assert group_tracks([], np.zeros((0, 3)), 1.0) == []


def test_tracks_of_one_time_are_never_grouped():
    same = np.zeros((3, 2))
    assert group_tracks([seen(0, 1, 2), seen(2, 3), seen(4)], same, 1.0) == [[0, 2], [1]]
    # Nor where one is seen in a gap of the other.
    assert group_tracks([seen(0, 4), seen(2), seen(5)], same, 1.0) == [[0, 2], [1]]


spans = st.tuples(st.integers(0, 12), st.integers(1, 4))
points = st.tuples(st.integers(0, 3), st.integers(0, 3))


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(spans, points), max_size=8, unique=True), st.randoms())
def test_groups_in_any_order_are_apart_in_time_close_and_as_large_as_can_be(drawn, random):
    """Ties are many on this grid; equal tracks with equal vectors are left out."""
    tracks = [seen(*range(first, first + length)) for (first, length), _ in drawn]
    vectors = np.array([point for _, point in drawn], dtype=float).reshape(-1, 2)
    groups = group_tracks(tracks, vectors, 1.5)

    def may_join(one, other):
        return all(
            np.linalg.norm(vectors[i] - vectors[j]) <= 1.5
            and (tracks[i].frames[-1] < tracks[j].frames[0]
                 or tracks[j].frames[-1] < tracks[i].frames[0])
            for i in one for j in other
        )  # fmt: skip

    assert sorted(i for group in groups for i in group) == list(range(len(tracks)))
    for place, group in enumerate(groups):
        assert [tracks[i].frames for i in group] == sorted(tracks[i].frames for i in group)
        assert all(may_join([i], [j]) for i in group for j in group if i < j)
        assert not any(may_join(group, other) for other in groups[place + 1 :])
    order = random.sample(range(len(tracks)), len(tracks))
    again = group_tracks([tracks[i] for i in order], vectors[order], 1.5)
    assert [[order[i] for i in group] for group in again] == groups
