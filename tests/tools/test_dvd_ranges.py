from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.tools.dvd_frame_inspect import FrameInspect
from taketwo.tools.dvd_ranges import ranges_in_video, times_in
from taketwo.tools.tool_failure import ToolFailure


def read(value: object) -> list[tuple[float, float]]:
    return FrameInspect.model_validate({
        "question": "q",
        "time_ranges_hhmmss": value,
    }).time_ranges_hhmmss


@pytest.mark.parametrize(
    "value",
    [
        [["00:00:01", "00:00:05"]],
        ["00:00:01", "00:00:05"],
        ["0:01-0:05"],
        "00:00:01-00:00:05",
        "00:00:01 to 00:00:05",
        '[["00:00:01", "00:00:05"]]',
        [{"start": "00:00:01", "end": 5}],
        [{"start_time": 1, "end_time": "5.0 s"}],
        [[1, 5]],
    ],
)
def test_ranges_are_read_in_the_ways_models_write_them(value: object) -> None:
    assert read(value) == [(1.0, 5.0)]


def test_two_texts_with_dashes_are_two_ranges() -> None:
    assert read(["0:01-0:02", "0:03-0:04"]) == [(1.0, 2.0), (3.0, 4.0)]


@pytest.mark.parametrize(
    "value",
    [
        [],
        None,
        5,
        "soon",
        [["a", "b"]],
        [[1, 2, 3]],
        [[1]],
        [[None, 2]],
        [[float("nan"), 2]],
        [[0, float("inf")]],
        [[True, 2]],
        [["00:00:99", "00:02:00"]],
        [[1, 2]] * 101,
        '"' * 5000,
        "[" * 5000,
    ],
)
def test_what_is_no_range_is_refused(value: Any) -> None:
    with pytest.raises(ValueError, match="time_ranges_hhmmss"):
        read(value)


def test_a_range_past_the_end_is_cut_there_and_that_is_said() -> None:
    found = ranges_in_video([(20.0, 99.0)], 24.0)

    assert found.ranges == ((20.0, 24.0),)
    assert found.notes == ("00:00:20-00:01:39 was cut at the end of the video",)
    assert found.to_text() == "00:00:20-00:00:24"


def test_the_last_second_as_a_clock_shows_it_is_no_cut() -> None:
    assert ranges_in_video([(20.0, 25.0)], 24.04).notes == ()


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ([(5.0, 5.0)], "the window from 5 s to 5 s is empty; the end must be after the start"),
        ([(9.0, 5.0)], "the window from 9 s to 5 s is empty; the end must be after the start"),
        (
            [(30.0, 40.0)],
            "the window starts at 30 s, but the video lasts 24 s; ask for a start below 24",
        ),
        (
            [(24.0, 25.0), (99.0, 99.0)],
            "but the video lasts 24 s; ask for a start below 24 (and 1 more",
        ),
    ],
)
def test_where_nothing_is_left_the_call_fails_and_says_why(
    asked: list[tuple[float, float]], message: str
) -> None:
    with pytest.raises(ToolFailure) as failure:
        ranges_in_video(asked, 24.0)

    assert failure.value.code == "invalid_window"
    assert failure.value.retryable
    assert message in failure.value.message


def test_ranges_that_hold_nothing_are_left_out_beside_others() -> None:
    found = ranges_in_video([(1.0, 2.0), (5.0, 5.0), (-3.0, 1.5)], 24.0)

    assert found.ranges == ((0.0, 2.0),)
    assert found.notes == (
        "a start of -3 s was moved to 0 s",
        "left out: the window from 5 s to 5 s is empty; the end must be after the start",
    )


@given(
    ranges=st.lists(
        st.tuples(st.floats(0, 100), st.floats(0.01, 20)).map(lambda pair: (pair[0], sum(pair))),
        min_size=1,
        max_size=8,
    ),
    count=st.integers(1, 50),
)
def test_times_lie_inside_the_ranges_rise_and_are_spread_evenly(
    ranges: list[tuple[float, float]], count: int
) -> None:
    inside = ranges_in_video(ranges, 200.0)

    times = times_in(inside.ranges, count)

    assert 1 <= len(times) <= count
    assert list(times) == sorted(set(times))
    assert all(
        any(start - 1e-5 <= time <= end + 1e-5 for start, end in inside.ranges) for time in times
    )
    if count > 1:
        assert times[0] == pytest.approx(inside.ranges[0][0], abs=1e-5)
        assert times[-1] == pytest.approx(inside.ranges[-1][1], abs=2e-3)
