"""Text from outside is harmless to look at."""

from __future__ import annotations

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from taketwo.report.untrusted import harmless


def test_overrides_of_direction_are_spelled_out() -> None:
    assert harmless("a\u202egnp.exe\u2066") == "a[U+202E]gnp.exe[U+2066]"


def test_invisible_characters_and_tags_are_spelled_out() -> None:
    assert harmless("B\u200b\ufeff\U000e0041") == "B[U+200B][U+FEFF][U+E0041]"


def test_control_characters_are_spelled_out_and_line_breaks_unified() -> None:
    assert harmless("a\x00b\x1b[31m\r\nc\u2028d\te") == "a[U+0000]b[U+001B][31m\nc\nd\te"


def test_a_long_text_is_cut_and_the_cut_is_said() -> None:
    assert harmless("x" * 1_000_000, 10) == "xxxxxxxxxx … [999,990 more characters]"
    assert harmless("abcd", 3) == "abc … [1 more character]"
    assert harmless("abc", 3) == "abc"


def test_towers_of_combining_marks_are_cut() -> None:
    assert harmless("e" + "\u0301" * 50 + "f") == "e" + "\u0301" * 4 + "f"


def test_scripts_that_need_joiners_stay_whole() -> None:
    text = "می\u200cخواهم קורא 日本語"

    assert harmless(text) == text


@given(st.text(alphabet=st.characters(codec=None), max_size=60))
def test_what_is_left_can_be_encoded_and_holds_no_control(text: str) -> None:
    shown = harmless(text)

    shown.encode("utf-8")
    assert all(
        unicodedata.category(character) != "Cc" or character in "\n\t" for character in shown
    )
    assert not set(shown) & set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
