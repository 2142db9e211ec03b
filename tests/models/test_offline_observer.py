from __future__ import annotations

import hashlib

import pytest

from taketwo.media.text_in_frames import TextBox
from taketwo.models.offline_observer import observe, report_of
from taketwo.models.perception import FrameFacts, ShapeCount
from taketwo.models.request_media import SentFrame
from taketwo.models.video_lines import CountLine, TextLine, lines_in


def facts(time_s: float, *shapes: tuple[int, str, str], text: str = "") -> FrameFacts:
    box = TextBox(text=text, confidence=0.9, box=(0.0, 0.0, 0.1, 0.1))
    return FrameFacts(
        time_s=time_s,
        texts=(box,) if text else (),
        shapes=tuple(
            ShapeCount(colour=colour, shape=shape, count=count, confidence=0.8)
            for count, colour, shape in shapes
        ),
        background="grey",
        sharpness=100.0,
    )


def test_equal_sightings_in_successive_frames_become_one_line() -> None:
    report = report_of(
        [
            facts(0.0, (3, "red", "circle"), text="EXIT 42"),
            facts(1.0, (3, "red", "circle"), text="EX1T 42"),
            facts(2.0, (2, "red", "circle")),
            facts(3.0, (3, "red", "circle")),
        ],
        focus="red circles",
    )

    counts = {line for line in lines_in(report) if isinstance(line, CountLine)}
    assert {(line.start_s, line.end_s, line.count) for line in counts} == {
        (0.0, 1.0, 3),
        (2.0, 2.0, 2),
        (3.0, 3.0, 3),
    }
    assert [line for line in lines_in(report) if isinstance(line, TextLine)] == [
        TextLine(start_s=0.0, end_s=1.0, text="EXIT 42", confidence=0.9)
    ]


def test_the_report_has_four_headings_and_says_what_it_cannot_see() -> None:
    report = report_of([facts(0.0, (1, "red", "circle"))], focus="red circles")

    assert report.index("Focus answer:") < report.index("Observations:")
    assert report.index("Observations:") < report.index("Coverage: rich")
    assert report.index("Coverage: rich") < report.index("Uncertainty:")
    assert "[0.0 s] 1 red circle (confidence 0.80)" in report
    assert "people, actions, objects" in report
    assert "1 frames were measured" in report


@pytest.mark.parametrize(
    ("focus", "frames", "coverage"),
    [
        ("blue stars", [facts(0.0, (1, "red", "circle"))], "partial"),
        ("", [facts(0.0, (1, "red", "circle"))], "rich"),
        ("red circles", [facts(0.0)], "none"),
        ("red circles", [], "none"),
    ],
)
def test_coverage_follows_what_was_found(
    focus: str, frames: list[FrameFacts], coverage: str
) -> None:
    report = report_of(frames, focus)

    assert f"Coverage: {coverage}" in report
    assert "Focus answer:\nnot observed" in report or coverage == "rich"


def test_a_quote_in_a_text_does_not_break_its_line() -> None:
    report = report_of([facts(1.0, text='SAY "HI"')], "")

    assert [line.text for line in lines_in(report) if isinstance(line, TextLine)] == ["SAY 'HI'"]


def test_frames_are_reported_in_the_order_of_time(painted) -> None:
    def frame(time_s: float, jpeg: bytes) -> SentFrame:
        return SentFrame(
            time_s=time_s,
            data=jpeg,
            sha256=hashlib.sha256(jpeg).hexdigest(),
            media_type="image/jpeg",
            message_index=0,
        )

    late, early = painted((("blue", "star", 100, 100, 30),)), painted((("red", "circle", 9, 9, 4),))
    seen = observe([frame(5.0, late), frame(2.0, early)], "stars", None)

    assert "[5.0 s] 1 blue star" in seen.text
    assert "[2.0-5.0 s] motion in 1 of 1 steps between frames" in seen.text
    assert "[2.0-5.0 s] background grey" in seen.text
    assert seen.charged_s > 0
