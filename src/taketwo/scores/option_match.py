"""Scores that need no judge: the chosen option, and exact matches of open answers."""

from __future__ import annotations

import re
import string
import unicodedata
from typing import Literal

from taketwo.benchmarks.question import Question

__all__ = ["MatchLabel", "match_open", "match_option", "normalised_answer"]

MatchLabel = Literal["correct", "incorrect"]

_NUMBERS = {
    "zero": "0",
    "one": "1",
    "two": "2",
    "three": "3",
    "four": "4",
    "five": "5",
    "six": "6",
    "seven": "7",
    "eight": "8",
    "nine": "9",
    "ten": "10",
    "eleven": "11",
    "twelve": "12",
}
_ARTICLES = frozenset({"a", "an", "the"})


def match_option(question: Question, option_index: int) -> MatchLabel | None:
    """Say whether the chosen option is the true one; None where none is word by word, for a judge to say."""
    if not question.is_matched_by_option:
        return None
    return "correct" if option_index == question.answer_index else "incorrect"


def match_open(question: Question, answer: str) -> MatchLabel | None:
    """Compare an open answer with the accepted ones, word by word.

    Case, punctuation, articles and number words up to twelve do not count. A match is `correct`.
    Without a match the answer is `incorrect` only where the question lists `accepted_answers`,
    which says that the list is complete; otherwise it needs a judge and None is returned.
    """
    forms = (question.answer_text or "", *question.accepted_answers)
    words = _words(answer)
    if words and any(words == _words(form) for form in forms if form.strip()):
        return "correct"
    return "incorrect" if question.accepted_answers else None


def normalised_answer(text: str) -> str:
    """Return `text` with compatibility forms, case and runs of white space made one, to compare it by."""
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _words(text: str) -> tuple[str, ...]:
    plain = re.sub(f"[{re.escape(string.punctuation)}]+", " ", normalised_answer(text))
    return tuple(_NUMBERS.get(word, word) for word in plain.split() if word not in _ARTICLES)
