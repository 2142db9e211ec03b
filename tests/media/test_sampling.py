from __future__ import annotations

import math
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.media.sampling import clamp_window, times_by_count, times_by_fps

starts = st.floats(0, 5000)
lengths = st.one_of(st.just(0.0), st.floats(0, 10), st.floats(0, 8000))


def test_a_count_covers_both_ends_evenly() -> None:
    assert times_by_count(0, 9, 4) == (0.0, 3.0, 6.0, 9.0)
    assert times_by_count(10, 20, 2) == (10.0, 20.0)


def test_one_frame_is_the_middle() -> None:
    assert times_by_count(10, 20, 1) == (15.0,)
    assert times_by_fps(10, 20, 1, cap=1) == (15.0,)


def test_a_rate_gives_a_grid_from_the_start_and_the_end() -> None:
    assert times_by_fps(1, 3, 2, cap=99) == (1.0, 1.5, 2.0, 2.5, 3.0)
    assert times_by_fps(0, 2.5, 1, cap=99) == (0.0, 1.0, 2.0, 2.5)
    assert times_by_fps(0, 1, 0.1, cap=99) == (0.0, 1.0)


def test_more_than_the_cap_is_thinned_evenly() -> None:
    assert times_by_fps(0, 100, 1, cap=3) == (0.0, 50.0, 100.0)
    assert len(times_by_fps(0, 24, 1, cap=25)) == 25
    assert times_by_fps(0, 24, 1, cap=24)[1] == pytest.approx(24 / 23, abs=1e-6)


def test_an_empty_window_has_one_time() -> None:
    assert times_by_count(5, 5, 10) == (5.0,)
    assert times_by_fps(5, 5, 10, cap=3) == (5.0,)


@given(start=starts, length=lengths, count=st.integers(2, 300))
def test_counts_are_strictly_increasing_and_meet_both_ends(
    start: float, length: float, count: int
) -> None:
    end = start + length
    times = times_by_count(start, end, count)

    assert all(a < b for a, b in pairwise(times))
    assert len(times) <= count
    assert times[0] == start
    assert times[-1] == pytest.approx(end, abs=1e-3)


@given(start=starts, length=lengths, fps=st.floats(0.01, 5000), cap=st.integers(2, 300))
def test_rates_are_strictly_increasing_and_meet_both_ends(
    start: float, length: float, fps: float, cap: int
) -> None:
    end = start + length
    times = times_by_fps(start, end, fps, cap)

    assert all(a < b for a, b in pairwise(times))
    assert 1 <= len(times) <= cap
    assert times[0] == start
    assert times[-1] == pytest.approx(end, abs=1.1e-3)
    if len(times) < cap and length > 0.01:
        assert max(b - a for a, b in pairwise(times)) <= max(1 / fps, 1e-3) + 2e-3


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: times_by_count(0, 1, 0), "at least 1 frame, got count=0"),
        (lambda: times_by_count(2, 1, 3), "ends before it starts: 2 s to 1 s"),
        (lambda: times_by_count(0, math.inf, 3), "needs finite seconds"),
        (lambda: times_by_fps(0, 1, 0, cap=3), "finite number above 0, got fps=0"),
        (lambda: times_by_fps(0, 1, math.nan, cap=3), "finite number above 0, got fps=nan"),
        (lambda: times_by_fps(0, 1, 1, cap=0), "at least 1 frame, got cap=0"),
        (lambda: times_by_fps(math.nan, 1, 1, cap=3), "needs finite seconds"),
    ],
)
def test_impossible_samples_say_why(call, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


def test_a_window_is_clamped_to_the_video() -> None:
    assert clamp_window(None, None, 24.0) == (0.0, 24.0)
    assert clamp_window(-3.0, 99.0, 24.0) == (0.0, 24.0)
    assert clamp_window(5.0, None, 24.0) == (5.0, 24.0)
    assert clamp_window(None, 5, 24.0) == (0.0, 5.0)


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ((5.0, 5.0), "from 5 s to 5 s is empty; the end must be after the start"),
        ((9.0, 5.0), "from 9 s to 5 s is empty"),
        ((30.0, 40.0), "starts at 30 s, but the video lasts 24 s; ask for a start below 24"),
        ((24.0, None), "starts at 24 s, but the video lasts 24 s"),
        ((-5.0, -1.0), "holds nothing of the video, which runs from 0 to 24 s"),
        ((math.nan, 4.0), "must be finite seconds"),
        ((0.0, math.inf), "must be finite seconds"),
    ],
)
def test_a_window_without_video_says_what_to_ask_for(
    window: tuple[float | None, float | None], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        clamp_window(*window, 24.0)
