from __future__ import annotations

import json
import time

import numpy as np
import pytest
from tests.scores.judge_audit.test_judge_probes import called, course, said

from taketwo.executions.trajectory import Note, ToolCall
from taketwo.scores.judge_audit.time_notations import (
    STYLES,
    TimeStyle,
    times_in,
    trajectory_with_times,
    with_times,
)


def rng() -> np.random.Generator:
    return np.random.default_rng(3)


@pytest.mark.parametrize(
    ("text", "frames", "seconds", "clock"),
    [
        ("at 75 seconds", "at frame 150", "at 75 s", "at 1:15"),
        ("at 12.5 s, then", "at frame 25, then", "at 12.5 s, then", "at 0:12.5, then"),
        ("At 62s it", "At frame 124 it", "At 62 s it", "At 1:02 it"),
        ("12s, 19s and 55s.", "frame 24, frame 38 and frame 110.", "12 s, 19 s and 55 s.",
         "0:12, 0:19 and 0:55."),
        ("at 1:15.", "at frame 150.", "at 75 s.", "at 1:15."),
        ("at 0:01:15 or", "at frame 150 or", "at 75 s or", "at 1:15 or"),
        ("at 1:02:03", "at frame 7446", "at 3723 s", "at 62:03"),
        ("00:00:03,500 --> 00:00:05,000", "frame 7 --> frame 10", "3.5 s --> 5 s",
         "0:03.5 --> 0:05"),
        ("[62.0] a door", "[frame 124] a door", "[62 s] a door", "[1:02] a door"),
        ("[3.0-5.5 s] Hello", "[frames 6-11] Hello", "[3-5.5 s] Hello", "[0:03-0:05.5] Hello"),
        ("0:10-0:20", "frames 20-40", "10-20 s", "0:10-0:20"),
        ("from 3 to 5 seconds", "from frame 6 to frame 10", "from 3 s to 5 s", "from 0:03 to 0:05"),
        ("between 3 and 5 s", "between frame 6 and frame 10", "between 3 s and 5 s",
         "between 0:03 and 0:05"),
        ("[frame at 12.50 s]", "[frame at frame 25]", "[frame at 12.5 s]", "[frame at 0:12.5]"),
        ('{"start": 3.0, "end": 75}', '{"start": "frame 6", "end": "frame 150"}',
         '{"start": 3.0, "end": 75}', '{"start": "0:03", "end": "1:15"}'),
        ('"time_range": [0, 65]', '"time_range": ["frame 0", "frame 130"]', '"time_range": [0, 65]',
         '"time_range": ["0:00", "1:05"]'),
        ('{"start_time": "00:01:15"}', '{"start_time": "frame 150"}', '{"start_time": "75 s"}',
         '{"start_time": "1:15"}'),
        (r'{\"time\": 4}', r'{\"time\": \"frame 8\"}', r'{\"time\": 4}', r'{\"time\": \"0:04\"}'),
        ("timer reads 0:45 near 62 s", "timer reads 0:45 near frame 124", "timer reads 0:45 near 62 s",
         "timer reads 0:45 near 1:02"),
        ("counted 3 and 5 s", "counted 3 and frame 10", "counted 3 and 5 s", "counted 3 and 0:05"),
        ("frames of 12.0-24.0 s follow", "frames of frames 24-48 follow",
         "frames of 12-24 s follow", "frames of 0:12-0:24 follow"),
    ],
)  # fmt: skip
def test_times_are_written_in_each_notation(
    text: str, frames: str, seconds: str, clock: str
) -> None:
    assert [with_times(text, style, fps=2) for style in STYLES] == [frames, seconds, clock]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "5 slices, 12 people, 3 of 4",
        "option 5 S or C",
        "the score was 3:2, in 16:9",
        "they won 21:15",
        "it starts at 4:30 pm",
        "at 4:30 p.m. sharp",
        "the timer shows 0:45",
        'it says "0:45" there',
        "in the 1990s",
        "a song of the 90s",
        "for 5 seconds",
        "it lasts about 12 s",
        "every 2 s",
        "within 10 s",
        "Video length: 24.0 s",
        "a clip of 24 s",
        "5 s later",
        "12 seconds long",
        "a 30 s window",
        "a 3-second clip",
        "waited 3 to 5 seconds long",
        "for 3-5 s",
        "[3] and [1, 2] and [step 4]",
        "[0.1, 0.2, 0.5, 0.6]",
        "frame 12 of 64 frames",
        "looked at 64 frames of the video",
        '{"fps": 3, "count": 5, "event": 2, "focus": "5 lemons"}',
        '{"start_time": null, "end": -1}',
        "2.5 s/frame",
        "version 1.12.5 shipped",
        "1:234 and 12:3 and 1:75",
        "$12 s",
        "5 stars, 3 sides, 2 secondary roles",
        "2024-01-02",
    ],
)
@pytest.mark.parametrize("style", STYLES)
def test_what_only_looks_like_a_time_stays(text: str, style: TimeStyle) -> None:
    assert with_times(text, style, fps=2) == text
    assert not [found for found in times_in(text) if not found.startswith('"')]


def test_what_is_to_be_kept_stays() -> None:
    assert with_times("at 0:45 and 0:50", "seconds", keep={"0:45"}) == "at 0:45 and 50 s"


def test_the_same_moments_come_back_from_every_notation() -> None:
    text = "From 0:10 on, at 75.5 s and in 1:00-1:05."

    clock = with_times(text, "clock")

    assert clock == "From 0:10 on, at 1:15.5 and in 1:00-1:05."
    assert with_times(with_times(text, "seconds"), "clock") == clock
    assert times_in(text) == ("0:10", "75.5 s", "1:00-1:05")


@pytest.mark.parametrize("fps", [0.0, -1.0, float("nan")])
def test_a_rate_that_is_none_is_refused(fps: float) -> None:
    with pytest.raises(ValueError, match="give a number above 0"):
        with_times("at 5 s", "frames", fps=fps)


def test_arguments_results_remarks_and_the_answer_are_rewritten_and_nothing_else() -> None:
    before = course(
        "q1",
        said("I look at 62 s."),
        called(
            1,
            "[62.0] the door",
            start_time=3.5,
            end_time="75",
            fps=3,
            max_frames=12,
            timestamps=[1, 2.5],
            parts=[{"start": 5, "count": 5, "exact": True}],
            focus="Count 4 cuts before 62 s",
        ),
        Note(text="cut off at 1:15"),
        answer="5 cuts by 1:02",
    )

    after = trajectory_with_times(before, "clock")

    call = after.events[1]
    assert isinstance(call, ToolCall)
    assert call.arguments == {
        "start_time": "0:03.5",
        "end_time": "1:15",
        "fps": 3,
        "max_frames": 12,
        "timestamps": ["0:01", "0:02.5"],
        "parts": [{"start": "0:05", "count": 5, "exact": True}],
        "focus": "Count 4 cuts before 1:02",
    }
    assert call.result == "[1:02] the door"
    assert [getattr(after.events[at], "text", "") for at in (0, 2)] == [
        "I look at 1:02.",
        "cut off at 1:15",
    ]
    assert after.answer_text == "5 cuts by 1:02"
    assert trajectory_with_times(before, "frames", fps=2).answer_text == "5 cuts by frame 124"


def test_arguments_in_seconds_stay_numbers() -> None:
    before = course("q1", called(1, "", start_time=3.5, ranges=["0:05", "10 seconds"]))

    call = trajectory_with_times(before, "seconds").events[0]

    assert isinstance(call, ToolCall)
    assert call.arguments == {"start_time": 3.5, "ranges": ["5 s", "10 s"]}


def test_a_rewritten_result_that_was_json_still_is() -> None:
    result = json.dumps(
        {
            "window": {"start_time": 0, "end_time": 65},
            "segments": [{"start": 3.0, "text": "at 9 s"}],
        },
        indent=2,
    )

    found = json.loads(with_times(result, "clock"))

    assert found == {
        "window": {"start_time": "0:00", "end_time": "1:05"},
        "segments": [{"start": "0:03", "text": "at 0:09"}],
    }


def test_long_hostile_texts_are_read_in_time() -> None:
    for piece in (
        "\\",
        '"start": [',
        "1:15-",
        "12 to ",
        "[1.1",
        "for of about ",
        "9",
        '"times": [1 ',
    ):
        text = piece * (60_000 // len(piece))
        started = time.perf_counter()
        with_times(text, "clock")
        assert time.perf_counter() - started < 5
