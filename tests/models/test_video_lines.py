from __future__ import annotations

from taketwo.models.video_lines import (
    CountLine,
    TextLine,
    WordsLine,
    clock,
    count_text,
    lines_in,
    when,
    words_in_json,
)


def test_each_kind_of_line_is_read_with_its_times_and_confidence() -> None:
    text = """Observations:
[12.0 s] text "EXIT 42" (confidence 0.98)
- [3.0-9.0 s] 3 red circles (confidence 0.90)
[4-5.5 s] 1 Blue star
[12.0-15.5 s] the train is late
[0.0-24.0 s] background grey
Coverage: rich"""

    assert list(lines_in(text)) == [
        TextLine(start_s=12.0, end_s=12.0, text="EXIT 42", confidence=0.98),
        CountLine(start_s=3.0, end_s=9.0, count=3, colour="red", shape="circle", confidence=0.9),
        CountLine(start_s=4.0, end_s=5.5, count=1, colour="blue", shape="star"),
        WordsLine(start_s=12.0, end_s=15.5, text="the train is late"),
    ]


def test_lines_are_read_in_the_forms_in_which_agents_pass_them_on() -> None:
    text = """- 3.0-9.0 s: 3 red circles
  [1.0-2.0 s, 2 frames] text "EXIT"; 2 blue stars (confidence 0.50)
[4.0 s] text "A; B"
12 things: none of them
[5.0 s] nothing was recognised"""

    assert list(lines_in(text)) == [
        CountLine(start_s=3.0, end_s=9.0, count=3, colour="red", shape="circle"),
        TextLine(start_s=1.0, end_s=2.0, text="EXIT"),
        CountLine(start_s=1.0, end_s=2.0, count=2, colour="blue", shape="star", confidence=0.5),
        TextLine(start_s=4.0, end_s=4.0, text="A; B"),
    ]


def test_a_second_is_written_as_a_clock_without_its_parts() -> None:
    assert [clock(seconds) for seconds in (0.0, 9.99, 3723.0, -1.0)] == [
        "00:00:00",
        "00:00:09",
        "01:02:03",
        "00:00:00",
    ]


def test_what_is_written_is_read_back() -> None:
    assert when(2, 2) == "[2.0 s]"
    assert when(2, 4.5) == "[2.0-4.5 s]"
    assert [count_text(n, "green", "star") for n in (0, 1, 2)] == [
        "0 green stars",
        "1 green star",
        "2 green stars",
    ]


def test_a_json_transcript_gives_its_segments() -> None:
    text = '{"segments": [{"start": 1, "end": 2.5, "text": " hello there "}], "language": "en"}'

    assert words_in_json(text) == (WordsLine(start_s=1.0, end_s=2.5, text="hello there"),)


def test_other_text_is_no_json_transcript() -> None:
    assert words_in_json("plain") == ()
    assert words_in_json('{"segments": [{"start": "x"}]}') == ()
    assert words_in_json("{broken") == ()
