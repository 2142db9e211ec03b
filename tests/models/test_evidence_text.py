from __future__ import annotations

from taketwo.models.evidence_text import timed_text
from taketwo.models.video_lines import CountLine, TextLine, WordsLine
from taketwo.tools.fencing import fence
from taketwo.tools.star_frames import timed_lines

SAID = WordsLine(start_s=12.0, end_s=15.5, text="the boat leaves")


def test_words_belong_to_speech_or_to_a_description_by_the_name_of_their_fence() -> None:
    line = "[12.0-15.5 s] the boat leaves"

    assert timed_text(fence("transcript", line), is_speech=False).speech == [SAID]
    assert timed_text(fence("observations", line), is_speech=True).lines == [SAID]
    assert timed_text(line, is_speech=True).speech == [SAID]
    assert timed_text(line, is_speech=False).lines == [SAID]


def test_a_question_is_no_evidence() -> None:
    found = timed_text(fence("question", "[3.0 s] 3 red circles"), is_speech=False)

    assert (found.lines, found.speech) == ([], [])


def test_a_transcript_inside_a_result_that_is_fenced_as_a_whole_is_speech() -> None:
    result = f"segments: 1\n{fence('transcript', '[12.0-15.5 s] the boat leaves')}\n[1.0 s] a note"

    found = timed_text(fence("result", result), is_speech=False)

    assert found.speech == [SAID]
    assert found.lines == [WordsLine(start_s=1.0, end_s=1.0, text="a note")]


def test_a_clip_gives_its_lines_and_what_is_said_in_it() -> None:
    clip = '[00:00:10-00:01:00] [10.0-12.0 s] text "EXIT"\n[11.0 s] 2 blue stars\nSaid: hello there'

    found = timed_text(fence("clips", clip), is_speech=False)

    assert found.lines == [
        TextLine(start_s=10.0, end_s=12.0, text="EXIT"),
        CountLine(start_s=11.0, end_s=11.0, count=2, colour="blue", shape="star"),
    ]
    assert found.speech == [WordsLine(start_s=10.0, end_s=60.0, text="hello there")]


def test_counts_under_a_heading_are_counts_of_what_it_names() -> None:
    frames = timed_lines([(1.0, "2, low trust"), (2.0, "2, low trust"), (3.0, "1, low trust")])
    text = "\n".join(["count of red circle", *(f"  {line}" for line in frames), "Asked: what?"])

    counted = [
        (line.start_s, line.end_s, line.count, line.colour, line.shape)
        for line in timed_text(text, is_speech=False).lines
        if isinstance(line, CountLine)
    ]

    assert counted == [(1.0, 2.0, 2, "red", "circle"), (3.0, 3.0, 1, "red", "circle")]
