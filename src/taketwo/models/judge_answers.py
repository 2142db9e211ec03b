"""Whether an answer says what the true one says, and which option a reply ends on, by shared words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from taketwo.models.judge_axes import committed_answer, options_in
from taketwo.models.judge_words import number_of, stem

__all__ = ["AnswerLabel", "chosen_option", "label_of"]

AnswerLabel = Literal["correct", "incorrect", "ungradable"]

_WORD = re.compile(r"[0-9]+(?:[.,:][0-9]+)*|[^\W_]+(?:['’][^\W_]+)?")
_SMALL_TEXT = """
a an the is are was were be been being it its this that these those there of to in on at by for
with and s answer final option i think
"""
_DENIALS_TEXT = """
not no never none neither nor cannot without isn't aren't wasn't weren't don't doesn't didn't can't
couldn't won't
"""
_HEDGES_TEXT = "or either maybe perhaps possibly unsure unclear unknown"
_SMALL = frozenset(_SMALL_TEXT.split())
_DENIALS = frozenset(_DENIALS_TEXT.split())
_HEDGES = frozenset(_HEDGES_TEXT.split())
_LABEL = re.compile(r"^\s{0,8}\(?([A-Z]|\d{1,3})[.):]\s+(\S.*)$", re.DOTALL)
_BARE_LABEL = re.compile(r"^\s{0,8}\(?([A-Z])\)?[.):]?\s*$")
_NAMED_LABEL = re.compile(
    r"(?:\b(?:option|answer|choice|choose|pick|select)(?: is| would be)?:?\s+|\()([A-Z]|\d{1,3})\b(?![.,]\d)"
)
_MOST_READ = 20_000
_HALF = 0.5
_LAST_LINES = 3


def label_of(question: str, truth: str, answer: str) -> tuple[AnswerLabel, str]:
    """Return the label of an answer and one sentence on why.

    `truth` has one accepted form a line. An answer is correct where all words of a form are in it, or
    all its words are in the form and they are at least half of it; the numbers must be the same, and
    so must be whether it denies and whether it hedges. Small words do not count.
    """
    forms = [line.strip() for line in truth.splitlines() if line.strip()]
    if not forms or not any(_words(form) for form in forms):
        return "ungradable", "There is no true answer to compare with."
    options = options_in(question)
    said = committed_answer(answer[-_MOST_READ:], {}) if _is_long(answer) else answer.strip()
    if not _words(said):
        return "incorrect", "The answer says nothing."
    if any(_says(said, form, options) for form in forms):
        return "correct", "It shares the words and the numbers of the true answer."
    return "incorrect", "Its words or numbers are not those of the true answer."


def chosen_option(question: str, reply: str) -> tuple[str | None, str]:
    """Return the label of the option that a reply ends on, None where it names none or several.

    The last three lines that are not empty are read from the end; the first of them that names an
    option, by label or by all of its words, decides.
    """
    options = options_in(question)
    lines = [line for line in reply[-_MOST_READ:].splitlines() if line.strip()]
    for line in reversed(lines[-_LAST_LINES:]):
        named = _named(line, options)
        if len(named) == 1:
            return named.pop(), "The last line that names an option names this one."
        if named:
            return None, "The last line that names an option names several."
    return None, "No option is named near the end."


def _is_long(answer: str) -> bool:
    return "\n" in answer.strip() or "final answer" in answer.lower() or answer.lstrip()[:1] == "{"


def _words(text: str) -> list[str]:
    found = [number_of(word.lower()) for word in _WORD.findall(text[:_MOST_READ])]
    kept = [word if word in _DENIALS else stem(word) for word in found if word not in _SMALL]
    return kept or found


def _numbers(words: list[str]) -> set[str]:
    return {word for word in words if word[0].isdigit()}


def _says(said: str, form: str, options: Mapping[str, str]) -> bool:
    """Return whether `said` says what `form` says, where both may have a label, a text or both."""
    said_label, said_text = _apart(said, options)
    form_label, form_text = _apart(form, options)
    if said_label and form_label and said_label != form_label:
        return False
    if said_label and form_label and not (said_text and form_text):
        return True
    return _is_same(said_text or said, form_text or form)


def _apart(text: str, options: Mapping[str, str]) -> tuple[str, str]:
    """Return label and text of `B. blue square`; the text alone where it has no label."""
    if match := _LABEL.match(text):
        return match.group(1), match.group(2)
    if match := _BARE_LABEL.match(text):
        return match.group(1), options.get(match.group(1), "")
    return "", text


def _is_same(said: str, form: str) -> bool:
    ours, theirs = _words(said), _words(form)
    if _numbers(ours) != _numbers(theirs):
        return False
    if bool(_DENIALS & set(ours)) != bool(_DENIALS & set(theirs)):
        return False
    if _HEDGES & set(ours) and not _HEDGES & set(theirs):
        return False
    shared = set(ours) & set(theirs)
    return shared == set(theirs) or (
        shared == set(ours) and len(shared) >= _HALF * len(set(theirs))
    )


def _named(line: str, options: Mapping[str, str]) -> set[str]:
    match = _BARE_LABEL.match(line) or _LABEL.match(line)
    labels = {label for label in _NAMED_LABEL.findall(line) if label in options}
    if match and match.group(1) in options:
        labels.add(match.group(1))
    if labels:
        return labels
    words = set(_words(line))
    by_words = {
        label for label, text in options.items() if (own := set(_words(text))) and own <= words
    }
    # "a red circle" is also in "a dark red circle": the longer one is meant.
    return {
        label
        for label in by_words
        if not any(set(_words(options[label])) < set(_words(options[other])) for other in by_words)
    }
