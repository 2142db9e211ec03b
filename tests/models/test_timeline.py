from __future__ import annotations

import pytest

from taketwo.models.asked import understand
from taketwo.models.conversation import Evidence
from taketwo.models.timeline import anchor_line, asked_window
from taketwo.models.video_lines import TextLine, WordsLine

SPEECH = (
    WordsLine(start_s=4.0, end_s=6.0, text="The boat leaves at noon."),
    WordsLine(start_s=10.0, end_s=12.0, text="Nobody is here."),
)
EVIDENCE = Evidence(texts=(TextLine(start_s=15.0, end_s=18.0, text="LAMP"),), speech=SPEECH)


@pytest.mark.parametrize(
    ("question", "window"),
    [
        ('What is shown while the speaker says "the boat leaves"?', (3.0, 7.0)),
        ('What is shown after the speaker says "the boat leaves"?', (6.0, 10.0)),
        ('What is shown after the speaker says "nobody is here"?', (12.0, 18.0)),
        ('What is shown before the speaker says "the boat leaves"?', (0.0, 4.0)),
        ("How many stars are shown while LAMP is on screen?", (15.0, 18.0)),
        ("How many stars are there at the beginning?", (0.0, 6.0)),
        ("How many stars are there at the end?", (24.0, 30.0)),
        ("What is shown between 3 and 8 seconds?", (3.0, 8.0)),
        ("What is shown while TABLE is on screen?", None),
        ("Which word is shown?", None),
    ],
)
def test_the_stretch_that_a_question_points_to(
    question: str, window: tuple[float, float] | None
) -> None:
    assert asked_window(understand(question), EVIDENCE, 30.0) == window


def test_a_spoken_anchor_is_sought_in_speech_first() -> None:
    both = Evidence(
        texts=(TextLine(start_s=1.0, end_s=2.0, text="NOON"),),
        speech=(WordsLine(start_s=8.0, end_s=9.0, text="It is noon"),),
    )

    spoken = anchor_line(understand('What is shown after the speaker says "noon"?'), both)
    shown = anchor_line(understand('What is shown after the word "NOON"?'), both)

    assert spoken is not None
    assert shown is not None
    assert (spoken.start_s, shown.start_s) == (8.0, 1.0)
