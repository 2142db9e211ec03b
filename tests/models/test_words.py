from __future__ import annotations

import pytest

from taketwo.models.words import content_words, likeness, number_in, overlap


def test_small_words_are_dropped_and_plurals_and_numbers_are_made_alike() -> None:
    assert content_words("The two red circles") == {"2", "red", "circle"}
    assert content_words("boxes and glass") == {"box", "glass"}


def test_a_text_of_small_words_keeps_them() -> None:
    assert content_words("AT") == {"at"}


def test_overlap_is_the_share_of_the_first_set() -> None:
    assert overlap({"a", "b"}, {"b", "c"}) == 0.5
    assert overlap(set(), {"b"}) == 0.0


def test_one_misread_letter_still_agrees() -> None:
    assert likeness("HARBOUR", "HARB0UR") > 0.8
    assert likeness("HARBOUR", "LANTERN") == 0.0


@pytest.mark.parametrize(
    ("text", "number"),
    [("3", 3), ("three circles", 3), ("-2", -2), ("twelve", 12), ("2 or 3", None), ("red", None)],
)
def test_a_number_is_read_where_there_is_exactly_one(text: str, number: int | None) -> None:
    assert number_in(text) == number
