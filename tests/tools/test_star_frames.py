from __future__ import annotations

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_frames import Crop, FrameAnswer, VisibleFrames, evenly, timed_lines
from taketwo.tools.star_known import answer_lines, description_lines, frames_line
from taketwo.tools.star_times import seconds_named, span_named


def frame(time_s: float) -> SeenFrame:
    jpeg = str(time_s).encode()
    return SeenFrame(
        time_s=time_s, requested_s=time_s, jpeg=jpeg, sha256=hashlib.sha256(jpeg).hexdigest()
    )


def store(*times_s: float, cap: int = 64) -> VisibleFrames:
    frames = VisibleFrames(cap)
    frames.add([frame(time_s) for time_s in times_s], "start")
    return frames


@given(st.lists(st.floats(0, 100).map(lambda t: round(t, 2)), max_size=40), st.integers(1, 20))
def test_frames_are_sorted_once_each_and_never_more_than_the_cap(
    times_s: list[float], cap: int
) -> None:
    frames = store(*times_s, cap=cap)

    found = [item.time_s for item in frames.all]

    assert found == sorted(set(found))
    assert len(found) == min(cap, len(set(times_s)))
    assert frames.room == cap - len(found)


def test_adding_returns_what_is_new_and_takes_known_frames_into_the_focus() -> None:
    frames = store(1.0, 2.0, 3.0)
    frames.narrow(2.0, 2.0)

    added = frames.add([frame(3.0), frame(4.0)], "later")

    assert [item.time_s for item in added] == [4.0]
    assert [item.time_s for item in frames.focused] == [2.0, 3.0, 4.0]
    assert added[0].origin == "later"


def test_unseen_segments_are_longer_than_a_second_head_and_tail_included() -> None:
    assert store(2.0, 3.0, 7.5).gaps(9.0) == ((0.0, 2.0), (3.0, 7.5), (7.5, 9.0))
    assert store(0.0, 1.0).gaps(1.0) == ()


def test_narrowing_keeps_frames_and_answers_and_can_be_taken_back() -> None:
    frames = store(1.0, 2.0, 3.0)
    frames.all[0].answers.append(FrameAnswer(question="q", answer="red", view="whole frame"))

    frames.narrow(2.0, 3.0)
    narrowed = [item.time_s for item in frames.focused]
    frames.widen()

    assert narrowed == [2.0, 3.0]
    assert len(frames.focused) == 3
    assert frames.focused[0].answers[0].answer == "red"


def test_a_crop_is_a_view_of_its_own_and_the_whole_frame_stays() -> None:
    (seen,) = store(1.0).all
    seen.answers.append(FrameAnswer(question="q", answer="red", view=seen.view))
    assert seen.has_answered("q")

    seen.crop = Crop(patch="top left", picture=frame(9.0))

    assert not seen.has_answered("q")
    assert (seen.shown.time_s, seen.whole.time_s) == (9.0, 1.0)
    seen.answers.append(FrameAnswer(question="q", answer="a 7", view=seen.view))
    assert answer_lines([seen]) == [
        "Asked: q",
        "  [1.0 s] a 7 (enlarged part: top left)",
        "  [1.0 s] red",
    ]
    assert "Enlarged parts stand in for the frames at 1.0 s (top left)." in frames_line([seen])


def test_equal_neighbouring_answers_stand_in_one_line() -> None:
    said = [(3.0, "blue"), (1.0, "red"), (2.0, "red\n"), (4.0, "red")]

    assert timed_lines(said) == ["[1.0-2.0 s, 2 frames] red", "[3.0 s] blue", "[4.0 s] red"]


def test_notes_stand_under_their_heading() -> None:
    frames = store(1.0, 2.0)
    for item in frames.all:
        item.notes["description of whole frame"] = "a hall"
    frames.all[1].notes["count of ball"] = "3"

    assert description_lines(frames.all) == [
        "description",
        "  [1.0-2.0 s, 2 frames] a hall",
        "count of ball",
        "  [2.0 s] 3",
    ]


@pytest.mark.parametrize("count", [0, 1, 2, 5, 9])
def test_evenly_spread_items_have_both_ends_and_the_number_asked_for(count: int) -> None:
    found = evenly(range(7), count)

    assert len(found) == min(count, 7)
    if count >= 2:
        assert (found[0], found[-1]) == (0, 6)


@pytest.mark.parametrize(
    ("text", "seconds", "span"),
    [
        ("what happens at 12 seconds?", (12.0,), None),
        ("the sign at 12.5s and at 1:05", (12.5, 65.0), None),
        ("from 3 to 9 seconds", (9.0,), (3.0, 9.0)),
        ("between 0:10 and 0:20 who speaks", (10.0, 20.0), (10.0, 20.0)),
        ("3.5-9 s", (9.0,), (3.5, 9.0)),
        ("1:02:03 - 1:02:10", (3723.0, 3730.0), (3723.0, 3730.0)),
        ("from 9 to 3 seconds", (3.0,), None),
        ("second 7 of the video", (7.0,), None),
        ("3 to 4 people in 2 rooms", (), None),
        ("version 1.2.3 costs 5 dollars", (), None),
        ("", (), None),
        ("9" * 5000 + " seconds", (), None),
    ],
)
def test_times_in_words_are_read(
    text: str, seconds: tuple[float, ...], span: tuple[float, float] | None
) -> None:
    assert seconds_named(text) == seconds
    assert span_named(text) == span
