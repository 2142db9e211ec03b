from __future__ import annotations

import pytest

from taketwo.models.asked import understand


def test_a_count_names_its_colour_and_shape() -> None:
    asked = understand("How many red circles are shown in the video?")

    assert (asked.counts, asked.colour, asked.shape, asked.direction) == (
        True,
        "red",
        "circle",
        None,
    )
    assert asked.relation is None


@pytest.mark.parametrize(
    ("question", "relation", "anchor", "is_spoken"),
    [
        ('Which word appears right after "EXIT"?', "after", "EXIT", False),
        ("Which word comes immediately before LAMP?", "before", "LAMP", False),
        (
            "What code is shown while the speaker says “the train is late”?",
            "during",
            "the train is late",
            True,
        ),
        (
            'After the speaker says "look, a boat", how many green triangles are shown?',
            "after",
            "look, a boat",
            True,
        ),
        ("How many stars are shown when the word LAMP is on screen?", "during", "LAMP", False),
    ],
)
def test_the_place_that_a_question_names_is_found(
    question: str, relation: str, anchor: str, is_spoken: bool
) -> None:
    asked = understand(question)

    assert (asked.relation, asked.anchor, asked.anchor_is_spoken) == (relation, anchor, is_spoken)


def test_a_colour_in_the_anchor_is_not_what_is_counted() -> None:
    asked = understand('After the speaker says "the red door", how many blue squares are shown?')

    assert (asked.colour, asked.shape) == ("blue", "square")


@pytest.mark.parametrize(
    ("question", "direction"),
    [
        ("How many more blue squares are there at the end than at the beginning?", "more"),
        ("How many fewer stars are there at the end than at the start?", "fewer"),
        ("By how many does the number of stars change?", "difference"),
    ],
)
def test_a_change_has_a_direction(question: str, direction: str) -> None:
    assert understand(question).direction == direction


def test_speech_order_negation_and_seconds_are_recognised() -> None:
    assert understand("Which colour does the speaker name?").is_spoken
    assert understand("Which of these words comes first?").edge == "first"
    assert understand("Which of these words is shown last?").edge == "last"
    assert understand("Which word is never shown?").is_negated
    assert understand("What code is shown between 3 and 8 seconds?").window_s == (3.0, 8.0)
    assert understand("What code is shown at 12 seconds?").window_s == (11.0, 13.0)


def test_an_empty_question_asks_nothing() -> None:
    asked = understand("")

    assert not asked.counts
    assert (asked.relation, asked.anchor, asked.window_s) == (None, "", None)
