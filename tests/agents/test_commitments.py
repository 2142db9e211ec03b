from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from taketwo.agents.answer import option_index, parse_answer
from taketwo.agents.commitments import commitments, without_thoughts
from taketwo.benchmarks.question import VisibleQuestion

CHOICE = VisibleQuestion(
    question_id="q", text="Which?", options=("red", "blue"), video_duration_s=None
)
OPEN = VisibleQuestion(question_id="q", text="Which?", options=(), video_duration_s=None)

HOSTILE = [
    "<think>",
    "</think>",
    "<think></thinking>",
    "\\boxed{",
    "{",
    "{[",
    "[",
    "{}",
    '{"a": [',
    '"answer":',
    '"answer": "',
    "'answer': '",
    '{"answer": "A"}',
    "{}FINAL ANSWER: A\n",
    "FINAL ANSWER:",
    "FINAL ANSWER:\n",
    "<answer>",
    "<answer>A</answer>",
    "final ",
    "the answer is ",
    "the answer is\n",
    "\\",
    '"',
    '\\"',
    '{"\\"',
    "```",
    " ",
    "\n",
    "(A,",
    "9",
    "\u0301\u0323",
    "\u0f73\u0301",
    "e\u0323\u0301\u200b",
    "\u00a0",
    "\u200b",
    "\u200e{",
    "Ａ，",
    "FINAL ANSWER: B\u00a0\n",
    "FINAL ANSWER:\r\n",
    "A. red ",
    "A. red, ",
    "A) b",
    "A. I ",
    "A, e.g. ",
    "not ",
    "A\u2014\u2014",
    "A. **",
    "\r",
]


def seconds(work: Callable[[], object]) -> float:
    """Return the least of three times, since others may hold up the machine."""
    times: list[float] = []
    for _ in range(3):
        started = time.process_time()
        work()
        times.append(time.process_time() - started)
    return min(times)


def at_length(unit: str, length: int) -> str:
    return unit * (length // len(unit))


@pytest.mark.parametrize("unit", HOSTILE)
def test_long_texts_take_time_in_proportion(unit: str) -> None:
    def read(length: int) -> float:
        text = at_length(unit, length)

        def work() -> None:
            for before in ("", '{"', '{"answer": "'):
                commitments(without_thoughts(before + text))
            for before in ("", "A) ", "A. re", "A, "):
                option_index(before + text, CHOICE)
            parse_answer(text, CHOICE)
            parse_answer(f"FINAL ANSWER: {text}", OPEN)

        return seconds(work)

    # Four times the text: 4 times as long in proportion, 16 times as long by the square.
    assert read(100_000) < 9 * read(25_000) + 0.02


@pytest.mark.parametrize("levels", [65, 1_000, 100_000])
@pytest.mark.parametrize("form", ['{"answer": %s}', '{"answer": "A", "steps": %s}'])
def test_an_object_nested_without_end_is_unparsed(levels: int, form: str) -> None:
    reply = form % ("[" * levels + "]" * levels)

    assert parse_answer(reply, CHOICE).status == "unparsed"
    assert parse_answer(reply, OPEN).status == "unparsed"
    assert parse_answer(f'{{"answer": "B"}} {reply}', CHOICE).status == "unparsed"


def test_an_object_nested_a_little_is_read() -> None:
    steps = "[" * 60 + "]" * 60

    assert parse_answer(f'{{"steps": {steps}, "answer": "B"}}', CHOICE).option_index == 1


@pytest.mark.parametrize(
    "reply",
    [
        '{"answer": "A", "answer": "B"}',
        '{"answer": "A", "answer": null}',
        '{"answer": null, "answer": "A"}',
        '{"answer": "A", "reasoning": "r", "answer": ["A"]}',
        '{"answer": 1, "answer": true}',
    ],
)
def test_an_answer_that_stands_twice_with_two_values_is_unparsed(reply: str) -> None:
    assert parse_answer(reply, CHOICE).status == "unparsed"
    assert parse_answer(reply, OPEN).status == "unparsed"


def test_an_answer_that_stands_twice_with_one_value_is_read() -> None:
    assert parse_answer('{"answer": "B", "answer": "B"}', CHOICE).option_index == 1


def test_the_last_of_two_reasonings_is_kept() -> None:
    answer = parse_answer('{"answer": "B", "reasoning": "x", "reasoning": "y"}', CHOICE)

    assert (answer.option_index, answer.reasoning) == (1, "y")


@pytest.mark.parametrize("number", ["NaN", "-Infinity", "9" * 5000])
def test_a_number_that_is_no_option_is_unparsed(number: str) -> None:
    assert parse_answer(f'{{"answer": {number}}}', CHOICE).status == "unparsed"


def test_a_lone_surrogate_written_as_an_escape_is_replaced() -> None:
    reply = '{"answer": "x\\ud800", "reasoning": "\\udfff\\ud83d\\ude00"}'

    answer = parse_answer(reply, OPEN)

    assert (answer.text, answer.reasoning) == ("x\ufffd", "\ufffd\U0001f600")


def test_of_a_very_long_reply_the_end_is_read() -> None:
    assert (
        parse_answer('{"answer": "A"}' + "x" * 200_000 + '{"answer": "B"}', CHOICE).option_index
        == 1
    )
    assert parse_answer('{"answer": "A"}' + "x" * 200_000, CHOICE).status == "unparsed"


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        ("<think>a</think>b", "b"),
        ("a<THINK>b</Think>c", "ac"),
        ("<think>a<think>b</think>c", "c"),
        ("<think>a</thinking>b</think>c", "c"),
        ("<thinking>a</think>b", "b"),
        ("a</think>b", "b"),
        ("<think>a", ""),
        ("\n<thinking>a", ""),
        ("<think>a</think> <think>b", ""),
        ("a</think><think>b", ""),
        ("a<think>b", "a<think>b"),
        ("<think>a</think>b<think>c", "b<think>c"),
    ],
)
def test_thoughts_end_with_the_tag_that_began_them(reply: str, said: str) -> None:
    assert without_thoughts(reply) == said
