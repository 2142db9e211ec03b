from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.tools.avp_spans import allowed_fps, sampled, shown_spans
from taketwo.tools.video_tool import ToolFailure


def test_regions_at_both_ends_stay_two_regions() -> None:
    shown = shown_spans([[590, 600], [0, 10]], duration_s=600.0)

    assert shown.spans == ((0.0, 10.0), (590.0, 600.0))
    assert shown.remarks == ()


@pytest.mark.parametrize(
    ("region", "span", "remark"),
    [
        ([-5, 4], (0.0, 4.0), "-5-4 s was cut to 0-4 s"),
        ([20, 99], (20.0, 24.0), "20-99 s was cut to 20-24 s"),
        ([7, 7], (7.0, 8.0), "7-7 s is a point and was widened to 7-8 s"),
        ([24, 24], (23.0, 24.0), "24-24 s is a point and was widened to 23-24 s"),
    ],
)
def test_what_is_changed_of_a_region_is_said(
    region: list[float], span: tuple[float, float], remark: str
) -> None:
    shown = shown_spans([region], duration_s=24.0)

    assert shown.spans == (span,)
    assert shown.remarks == (remark,)


def test_a_point_in_a_video_of_half_a_second_is_the_whole_video() -> None:
    assert shown_spans([[0.2, 0.2]], duration_s=0.5).spans == ((0.0, 0.5),)


def test_regions_that_cannot_be_shown_are_named_beside_those_that_are() -> None:
    shown = shown_spans([[9, 3], [30, 40], [1, 2]], duration_s=24.0)

    assert shown.spans == ((1.0, 2.0),)
    assert shown.remarks == (
        "9-3 s ends before it starts and was left out",
        "30-40 s lies outside the video and was left out",
    )


def test_nothing_of_the_video_is_an_error_that_can_be_acted_on() -> None:
    with pytest.raises(
        ToolFailure, match=r"from 0 to 24 s, is in the regions: 30-40 s lies"
    ) as failed:
        shown_spans([[30, 40]], duration_s=24.0)

    assert (failed.value.code, failed.value.retryable) == ("invalid_window", True)


@pytest.mark.parametrize(
    ("asked", "allowed", "remark"),
    [
        (2.0, 2.0, None),
        (40.0, 5.0, "fps 40 was moved to 5 (allowed are 0.1 to 5)"),
        (0.0, 0.1, "fps 0 was moved to 0.1 (allowed are 0.1 to 5)"),
    ],
)
def test_rates_out_of_bounds_are_moved_and_said(
    asked: float, allowed: float, remark: str | None
) -> None:
    assert allowed_fps(asked) == (allowed, remark)


def test_a_rate_that_fits_is_kept() -> None:
    sample = sampled([(0.0, 2.0), (9.0, 10.5)], fps=1.0, most=100)

    assert sample.times_s == (0.0, 1.0, 2.0, 9.0, 10.0, 10.5)
    assert (sample.wanted, sample.fps, sample.remarks) == (6, 1.0, ())


def test_the_budget_is_shared_by_all_regions_at_one_rate() -> None:
    sample = sampled([(0.0, 10.0), (100.0, 130.0)], fps=5.0, most=42)

    assert len(sample.times_s) <= 42
    assert sample.wanted == 51 + 151
    first = [time_s for time_s in sample.times_s if time_s <= 10.0]
    second = [time_s for time_s in sample.times_s if time_s >= 100.0]
    assert (first[0], first[-1], second[0], second[-1]) == (0.0, 10.0, 100.0, 130.0)
    assert len(second) == pytest.approx(3 * len(first), abs=3)


def test_more_regions_than_frames_leaves_the_last_ones_out_and_says_so() -> None:
    sample = sampled([(0.0, 1.0), (5.0, 6.0), (9.0, 10.0)], fps=1.0, most=5)

    assert sample.spans == ((0.0, 1.0), (5.0, 6.0))
    assert sample.times_s == (0.0, 1.0, 5.0, 6.0)
    assert sample.remarks == ("1 of 3 parts are not shown: one look takes at most 5 frames",)


def test_one_frame_is_the_middle() -> None:
    assert sampled([(2.0, 4.0)], fps=1.0, most=1).times_s == (3.0,)


@given(
    cuts=st.lists(st.integers(0, 4000), min_size=2, max_size=14, unique=True),
    fps=st.floats(0.1, 5.0),
    most=st.integers(1, 600),
)
def test_a_look_never_takes_more_frames_than_it_may_and_never_looks_outside(
    cuts: list[int], fps: float, most: int
) -> None:
    edges = sorted(cuts)
    spans = [(edges[at] / 4, edges[at + 1] / 4) for at in range(0, len(edges) - len(edges) % 2, 2)]

    sample = sampled(spans, fps, most)

    assert 1 <= len(sample.times_s) <= most
    assert list(sample.times_s) == sorted(set(sample.times_s))
    for time_s in sample.times_s:
        assert any(start_s <= time_s <= end_s for start_s, end_s in spans)
    if most >= 2 * len(spans):
        assert sample.spans == tuple(spans)
        for start_s, end_s in spans:
            assert {start_s, end_s} <= set(sample.times_s)
    assert sample.fps <= fps
