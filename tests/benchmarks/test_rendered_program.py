"""The language on hand-made evidence: a word from 0 to 4 s, another from 4 to 8 s, looks at 1 fps."""

from __future__ import annotations

import pytest

from taketwo.benchmarks.rendered_evidence import Evidence, Heard, Look, Program
from taketwo.benchmarks.rendered_program import Value, run_program

RED, STAR_G, STAR_B, FLASH = (
    ("red", "circle"),
    ("green", "star"),
    ("blue", "star"),
    ("purple", "square"),
)


def evidence() -> Evidence:
    looks = [
        Look(0.0, ("HARBOR", "XK34"), {RED: 3, STAR_G: 1}),
        Look(1.0, ("HARBOR",), {RED: 3, STAR_G: 1, FLASH: 1}),
        Look(2.0, ("HARB0R",), {RED: 2, STAR_G: 1}),
        Look(3.0, ("HARBOR",), {RED: 3, STAR_B: 1, FLASH: 1}),
        Look(4.0, ("WINTER",), {RED: 5, STAR_B: 1}),
        Look(5.0, ("WINTER", "PM-79"), {RED: 5, STAR_B: 1}),
        Look(6.0, ("WINTER", "WRONG"), {RED: 5, STAR_B: 1, FLASH: 1}),
        Look(7.0, ("WINTER",), {RED: 5, STAR_B: 1, FLASH: 1}),
    ]
    heard = [
        Heard(0.5, 2.0, "The old boat sails. I can see 6 red circles."),
        Heard(5.0, 7.0, "Please count all the red circles. A piano plays."),
    ]
    return Evidence(tuple(looks), tuple(heard))


HARBOR: Program = {"op": "while_sign", "text": "HARBOR"}
WINTER: Program = {"op": "while_sign", "text": "WINTER"}
BOAT: Program = {"op": "while_spoken", "keywords": ["boat"]}
TOPICS = {"boat": ["boat"], "piano": ["piano"], "snow": ["snow"]}
COUNT: Program = {"op": "count", "colour": "red", "shape": "circle"}


@pytest.mark.parametrize(
    ("program", "value"),
    [
        ({**COUNT, "window": HARBOR}, 3),
        ({**COUNT, "window": {"op": "section_of", "window": BOAT}}, 3),
        ({**COUNT, "window": {"op": "next_section", "window": HARBOR}}, 5),
        ({**COUNT, "window": {"op": "next_section", "window": WINTER}}, None),
        ({**COUNT, "window": {"op": "while_sign", "text": "PEPPER"}}, None),
        (
            {
                "op": "minus",
                "left": {**COUNT, "window": WINTER},
                "right": {**COUNT, "window": HARBOR},
            },
            2,
        ),
        ({"op": "appearances", "colour": "purple", "shape": "square"}, 3),
        ({"op": "spoken_number", "colour": "red", "shape": "circle"}, 6),
        ({"op": "spoken_number", "colour": "blue", "shape": "circle"}, None),
        ({"op": "count_called", "among": [["red", "circle"]], "window": WINTER}, 5),
        ({"op": "word", "window": BOAT}, "HARBOR"),
        ({"op": "word_before", "window": WINTER}, "HARBOR"),
        ({"op": "word_before", "window": HARBOR}, None),
        ({"op": "code", "window": WINTER}, "PM79"),
        ({"op": "code", "window": HARBOR}, "XK34"),
        ({"op": "never_shown", "among": ["HARBOR", "TICKET", "WINTER"]}, "TICKET"),
        ({"op": "word_with_most", "colour": "red", "shape": "circle"}, "WINTER"),
        ({"op": "star_colour", "n": -1}, "blue"),
        ({"op": "star_colour_after", "colour": "green"}, "blue"),
        ({"op": "star_colour_after", "colour": "blue"}, None),
        (
            {"op": "pair_order", "among": [["blue", "star"], ["purple", "square"]]},
            "purple square, blue star",
        ),
        (
            {
                "op": "pair_after",
                "pair": "purple square",
                "among": [["blue", "star"], ["purple", "square"]],
            },
            "blue star",
        ),
        ({"op": "topic", "window": HARBOR, "among": TOPICS}, "boat"),
        ({"op": "topic_after", "topic": "boat", "among": TOPICS}, "piano"),
        ({"op": "topic_never_spoken", "among": TOPICS}, "snow"),
        (
            {
                **COUNT,
                "window": {
                    "op": "section_of",
                    "window": {"op": "while_claimed", "colour": "red", "shape": "circle"},
                },
            },
            3,
        ),
    ],
)
def test_an_operation_gives_what_the_evidence_says(program: Program, value: Value) -> None:
    assert run_program(program, evidence()) == value


def test_a_sign_that_was_misread_throughout_is_found_by_likeness() -> None:
    misread = Evidence(tuple(Look(float(t), ("HARB0R",), {RED: 4}) for t in range(4)), ())
    assert run_program({**COUNT, "window": HARBOR}, misread) == 4


def test_nothing_seen_and_nothing_heard_is_no_answer() -> None:
    nothing = Evidence((), ())
    assert run_program({**COUNT, "window": HARBOR}, nothing) is None
    assert run_program({"op": "code", "window": HARBOR}, nothing) is None
    assert run_program({"op": "topic", "window": HARBOR, "among": TOPICS}, nothing) is None


@pytest.mark.parametrize(
    ("program", "message"),
    [
        ({"op": "__class__"}, "unknown operation '__class__'"),
        ({**COUNT, "window": {"op": "forever"}}, "unknown window 'forever'"),
    ],
)
def test_unknown_operations_are_refused(program: Program, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        run_program(program, evidence())
