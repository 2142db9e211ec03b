from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.tools.clip_index import Clip, ClipCaption, clip_windows, clock, span
from taketwo.tools.structured import form_request, read_in_form


@given(
    duration_s=st.floats(0.001, 7200, allow_nan=False),
    clip_s=st.floats(1, 120, allow_nan=False),
)
def test_the_clips_cover_the_video_without_gaps_and_their_frames_lie_inside(
    duration_s: float, clip_s: float
) -> None:
    windows = clip_windows(duration_s, clip_s)

    assert windows[0].start_s == 0.0
    assert windows[-1].end_s == pytest.approx(duration_s, abs=1e-6)
    for before, after in pairwise(windows):
        assert before.end_s == after.start_s
    for window in windows:
        assert window.times_s[0] == window.start_s
        assert window.start_s <= window.times_s[-1] < max(window.end_s, window.start_s + 1e-6)
        # no part of a clip is further than half a second from the frame before it
        assert window.end_s - window.times_s[-1] <= 0.5 + 2e-6


@pytest.mark.parametrize(
    ("duration_s", "ends"),
    [
        (24.0, [10.0, 20.0, 24.0]),
        (20.0, [10.0, 20.0]),
        (20.04, [10.0, 20.04]),
        (20.5, [10.0, 20.5]),
        (20.6, [10.0, 20.0, 20.6]),
        (0.04, [0.04]),
    ],
)
def test_a_rest_that_is_too_short_for_a_frame_belongs_to_the_clip_before(
    duration_s: float, ends: list[float]
) -> None:
    assert [window.end_s for window in clip_windows(duration_s, 10.0)] == ends


def test_ten_seconds_have_twenty_frames() -> None:
    assert len(clip_windows(30.0, 10.0)[1].times_s) == 20


def test_times_are_written_as_a_clock_shows_them() -> None:
    assert clock(0) == "00:00:00"
    assert clock(35999.999) == "09:59:59"
    assert clock(59.9999999) == "00:01:00"
    assert span(0.0, 0.04) == "00:00:00-00:00:01"


def test_the_form_has_exactly_the_published_fields() -> None:
    fields = ["clip_start_time", "clip_end_time", "subject_registry", "clip_description"]
    subject = ["name", "appearance", "identity", "first_seen"]

    assert list(ClipCaption.model_fields) == fields
    request = form_request(ClipCaption)
    assert [f'"{name}"' in request for name in (*fields, *subject)] == [True] * 8


def test_more_subjects_than_a_clip_can_show_do_not_fit() -> None:
    subject = '{"name": "n", "appearance": [], "identity": [], "first_seen": "0"}'
    many = ",".join(f'"s{number}": {subject}' for number in range(65))
    text = (
        '{"clip_start_time": "0", "clip_end_time": "1", "clip_description": "d", '
        f'"subject_registry": {{{many}}}}}'
    )

    found, problem = read_in_form(text, ClipCaption)

    assert found is None
    assert "at most 64 items" in str(problem)


def test_a_clip_comes_back_as_it_was_written() -> None:
    clip = Clip(position=3, start_s=1.5, end_s=2.0, speech="x", problem="p", subjects={"a": {}})

    assert Clip.from_json(clip.to_json()) == clip
    assert clip.text == "x"
