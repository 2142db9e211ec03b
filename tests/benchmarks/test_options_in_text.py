from __future__ import annotations

import pytest

from taketwo.benchmarks.options_in_text import parse_options
from taketwo.errors import InvalidQuestion

LEAD = "\n Answer the question based on the following options: "
"""The sentence between question and options in the published rows, with its spaces."""


@pytest.mark.parametrize(
    "written",
    [
        f"What number?{LEAD}\n (A) 340\n (B) 407\n (C) 127",
        f"What number?{LEAD}(A) 340\n(B) 407\n(C) 127",
        f"What number?{LEAD}\n (A) 340 (B) 407 (C) 127",
        f"What number?{LEAD}(A) 340 (B) 407 (C) 127",
        f"What number?{LEAD}\n (A) 340\u00a0 (B) 407\n (C) 127",
        f"What number?{LEAD}\n (A) A) 340\n (B) B) 407\n (C) (C) 127",
        f"What number?{LEAD}\n (A) 340\n (B) 407\n (C) C) 127",
        f"What number?{LEAD}\r\n (A) 340\r\n\r\n (B) 407\r\n (C) 127\r\n",
        "What number? Choose from the following options: (A) 340 (B) 407 (C) 127",
        "What number?\n(A)340\n(B)407\n(C)127",
    ],
)
def test_options_are_read_in_every_form_that_the_published_rows_have(written: str) -> None:
    parsed = parse_options(written)

    assert parsed.text == "What number?"
    assert parsed.options == ("340", "407", "127")


@pytest.mark.parametrize(
    ("written", "options"),
    [
        (
            "Which plan?\n(A) the one of (B)\n(B) the one of (C)",
            ("the one of (B)", "the one of (C)"),
        ),
        ("Which?\n(A) see (B) there\n(B) B. Smith", ("see (B) there", "B. Smith")),
        ("Which?\n(A) x (C) y\n(B) z", ("x (C) y", "z")),
    ],
)
def test_a_label_inside_an_option_is_a_part_of_it(written: str, options: tuple[str, ...]) -> None:
    assert parse_options(written).options == options


def test_a_question_without_a_lead_in_keeps_its_whole_text() -> None:
    parsed = parse_options("Which of the options does he name first?\n\n(A) x\n(B) y\n")

    assert parsed.text == "Which of the options does he name first?"
    assert parsed.options == ("x", "y")


@pytest.mark.parametrize(
    "written",
    [
        "What is (A) and what is (B) in the formula?",
        "(A) and (B) are shown. Which is larger?",
        "What is written (in white)?",
    ],
)
def test_letters_in_brackets_that_a_question_talks_of_are_no_options(written: str) -> None:
    assert parse_options(written).text == written
    assert parse_options(written).options == ()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("What?\n(A) x\n(C) y", "labelled A, C, not A, B, C in order"),
        ("What?\n(B) x\n(C) y", "labelled B, C, not A, B, C in order"),
        ("What?\n(A) x\n(A) y", "labelled A, A, not A, B, C in order"),
        ("What?\n(B) x\n(A) y", "labelled B, A, not A, B, C in order"),
        ("What?\n(A) x\n(C) y (B) z", "labelled A, C, not A, B, C in order"),
        ("What?\n(A) x\nand\n(B) y", "'and' stands among them"),
        ("What?\n(A) x\n(B) y\nGood luck", "'Good luck' stands among them"),
    ],
)
def test_a_list_that_is_not_in_order_is_refused(written: str, message: str) -> None:
    with pytest.raises(InvalidQuestion, match=message):
        parse_options(written)


@pytest.mark.parametrize(
    "line",
    [
        "His first choice was",
        "Which of the following options does he choose?",
        "Choose the tool that he takes from the following options:",
        "What are the options",
        "Name his choice.",
    ],
)
def test_a_line_of_the_question_is_not_taken_for_the_lead_in(line: str) -> None:
    parsed = parse_options(f"Watch the clip.\n{line}\n(A) tea\n(B) milk")

    assert parsed.text == f"Watch the clip.\n{line}"
    assert parsed.options == ("tea", "milk")


@pytest.mark.parametrize(
    "line",
    [
        "Answer from one of the following options:",
        "Choose from the following options:",
        "Please select the correct answer from the following choices.",
        "Answer the question from the following options",
        "Answer the question based on the following options:",
    ],
)
def test_the_sentence_that_leads_in_the_options_is_taken_off(line: str) -> None:
    assert parse_options(f"Watch.\nWhat now?\n{line}\n(A) x\n(B) y").text == "Watch.\nWhat now?"
    assert parse_options(f"What now? {line}\n(A) x\n(B) y").text == "What now?"
