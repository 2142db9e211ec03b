from __future__ import annotations

import json
from typing import Any

import pytest

from taketwo.tools.loggable import MAX_CHARACTERS, MAX_DEPTH, Cleaning, loggable_json, loggable_text


@pytest.mark.parametrize(
    "text", ["", "plain", "\u00e9\u4e2d\U0001f600", "\x00\x1b[2J", "x" * MAX_CHARACTERS]
)
def test_text_that_a_log_can_hold_is_returned_as_it_is(text: str) -> None:
    assert loggable_text(text) is text


@pytest.mark.parametrize(
    ("text", "clean"),
    [
        ("a\ud800b", "a\ufffdb"),
        ("\udfff", "\ufffd"),
        ("\ud83d\ude00 and \ud83d", "\U0001f600 and \ufffd"),
        ("\U0001f600\ud800", "\U0001f600\ufffd"),
    ],
)
def test_halves_of_a_pair_are_joined_and_lone_surrogates_replaced(text: str, clean: str) -> None:
    assert loggable_text(text) == clean


def test_of_a_long_text_begin_and_end_are_kept_around_a_notice() -> None:
    assert loggable_text("abcdefghij", limit=4) == ("ab\n[... 6 characters were cut here ...]\nij")


def levels(count: int) -> dict[str, Any]:
    value: dict[str, Any] = {"x": 1}
    for _ in range(count - 1):
        value = {"x": value}
    return value


def test_objects_may_be_nested_sixteen_times() -> None:
    allowed, cleaning = levels(MAX_DEPTH), Cleaning()

    assert cleaning.json(allowed, "arguments") is allowed
    assert cleaning.losses == []


@pytest.mark.parametrize("count", [MAX_DEPTH + 1, 300, 100_000])
def test_deeper_nesting_is_cut_and_is_a_loss(count: int) -> None:
    cleaning = Cleaning()

    clean = cleaning.json(levels(count), "arguments")

    assert json.dumps(clean) == ('{"x": ' * 16 + '"[values nested more than 16 deep]"' + "}" * 16)
    assert cleaning.losses == ["x: values nested more than 16 deep"]


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        (float("nan"), "[the number nan]"),
        (float("-inf"), "[the number -inf]"),
        (10**400, "[a whole number of 1329 bits]"),
    ],
)
def test_a_number_that_json_does_not_know_becomes_words(value: float, clean: str) -> None:
    cleaning = Cleaning()

    assert cleaning.json({"a": [1, value], "b": 2.5}, "arguments") == {"a": [1, clean], "b": 2.5}
    assert cleaning.losses == [f"a: {clean[1:-1]}"]


def test_lone_surrogates_in_names_and_values_are_replaced_without_a_loss() -> None:
    cleaning = Cleaning()

    assert cleaning.json({"\ud800": ["\udc00"]}, "arguments") == {"\ufffd": ["\ufffd"]}
    assert cleaning.losses == []
    assert cleaning.changes == 2


def test_more_values_than_anybody_means_are_left_out() -> None:
    cleaning = Cleaning()

    clean = cleaning.json({"a": [0] * 200_000, "b": 1}, "arguments")

    assert len(json.dumps(clean)) < 200_000
    assert cleaning.losses == ["a: more than 50000 values", "arguments: more than 50000 values"]


def test_many_long_texts_share_one_allowance() -> None:
    clean = Cleaning().json(["x" * MAX_CHARACTERS] * 1000, "response")

    assert len(json.dumps(clean)) < 1_100_000


def test_what_an_event_says_is_cleaned_whatever_it_is() -> None:
    assert loggable_json({"text": "\ud800", "seconds": float("nan"), "frames": ["ab", None]}) == {
        "text": "\ufffd",
        "seconds": "[the number nan]",
        "frames": ["ab", None],
    }
