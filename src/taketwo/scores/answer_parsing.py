"""From a text to a choice by rule alone: one option, talk of options without a single one, or nothing.

It stands on the agents' own reader, `taketwo.agents.answer`, which also says what makes no
difference between texts, and reads two things more: replies in full-width characters, and a last
line that consists of a label or an option. What it finds is never
a guess; whether a model may be asked about the rest is for the caller to say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from taketwo.agents.answer import FULL_WIDTH, as_matched, option_index, parse_answer, read_end
from taketwo.agents.commitments import commitments, without_thoughts
from taketwo.benchmarks.question import VisibleQuestion

__all__ = ["LONGEST_READ", "ParseHow", "ParseOutcome", "ParsedOption", "parse_option"]

ParseOutcome = Literal["letter", "ambiguous", "none"]
ParseHow = Literal["structured", "anchored", "option_text"]

LONGEST_READ = 100_000
"""Characters that are read, from the end of a text, where the last commitment stands."""

_WRAPPING = " \t\r\n*_`'\".,;:!\u201c\u201d\u2018\u2019\u3002"
_LEAD = re.compile(
    r"(?:(?:so|thus|hence|therefore)\b[ ,:]*+)?(?:(?:my|the)[ ]++)?(?:(?:final|correct|best|own)[ ]++)?"
    r"(?:answer|choice|option|pick|selection|conclusion)\b[ *_`]*+(?:is\b|[:=-])?[ *_`:]*+",
    re.IGNORECASE,
)
_LABELLED_LINE = re.compile(r"[ \t*_`>-]*+[(\[]?(?P<label>[A-Za-z]|\d{1,4})[)\]]")
_MARKED = re.compile(
    r"(?:(?i:\b(?:option|choice))[ ]?|(?<!\w)[(\[*\"'`])(?P<label>[A-Za-z]|\d{1,4})(?=[)\]*\"'`.,:;]|\s|\Z)"
)
_CLOSED = re.compile(r"(?<![\w(\[])(?P<label>[A-Za-z]|\d{1,4})\)")
_CAPITAL = re.compile(r"(?<![\w'\u2019-])(?P<label>[A-Z])(?=\Z|[\s,/&).:;!?*\"])(?![ ]+[a-z])")
_REFUSAL = re.compile(
    r"\b(?:cannot|can\s?not|can['\u2019]t|could\s+not|couldn['\u2019]t|unable\s+to|not\s+possible\s+to|"
    r"impossible\s+to)\s+(?:be\s+)?(?:determine|answer|tell|decide|choose|identif|say|know)|"
    r"\b(?:unknown|undetermined|not\s+sure|no\s+answer)\b",
    re.IGNORECASE,
)
_NONE_OF = re.compile(r"(?:none|neither)\s+of\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class ParsedOption:
    """What a text says about the options of its question.

    `letter` names exactly one, whose 0-based index is `option_index`; `how` says where it stood: in
    a JSON object (`structured`), after words such as "final answer" or as a label alone
    (`anchored`), or as an option's own words alone (`option_text`). `ambiguous` talks of options and
    names no single one. `none` refuses, is empty, or says nothing that looks like an option.
    """

    outcome: ParseOutcome
    option_index: int | None = None
    how: ParseHow | None = None


_AMBIGUOUS = ParsedOption(outcome="ambiguous")
_NONE = ParsedOption(outcome="none")


def parse_option(text: str, question: VisibleQuestion) -> ParsedOption:
    r"""Say which option a text names, the same way every time and in time proportional to its length.

    The last commitment counts, as for the agents' reader: of two answers in a row the later one is
    the answer, two answers in one commitment are none. Without a commitment, a last line counts
    that is a label, an option's text, or both where they belong together, unless another line is
    one of another option. Abstentions are `none`.

    Parameters
    ----------
    text
        What an agent handed back. Of more than `LONGEST_READ` characters the end is read; what a
        model thought aloud is left out, to the end where it was cut off in a thought.
    question
        The question it belongs to, which has options.

    Raises
    ------
    ValueError
        If the question has no options.

    Examples
    --------
    >>> asked = VisibleQuestion(question_id="q", text="Which?", options=("red", "blue"),
    ...                         video_duration_s=None)
    >>> parse_option("It was blue, I think.\n(B)", asked)
    ParsedOption(outcome='letter', option_index=1, how='anchored')
    >>> parse_option("Either red or blue.", asked).outcome
    'ambiguous'
    >>> parse_option("I cannot determine the answer.", asked).outcome
    'none'
    """
    if not question.options:
        raise ValueError(f"question {question.question_id!r} has no options to be read from a text")
    said = read_end(text)
    found = _read(said, question)
    narrow, narrowed = said.translate(FULL_WIDTH), _narrowed(question)
    if found.outcome != "letter" and (narrow != said or narrowed != question):
        found = _read(narrow, narrowed)
    return found


def _read(text: str, question: VisibleQuestion) -> ParsedOption:
    answer = parse_answer(text, question)
    said = without_thoughts(as_matched(text))
    if answer.option_index is not None:
        how = _how(said, question, answer.option_index)
        return ParsedOption(outcome="letter", option_index=answer.option_index, how=how)
    if answer.status == "abstained":
        return _NONE
    committed = commitments(said)
    if not committed:
        found = _closing_line(said, question)
        if found is not None:
            return found
    closing = committed[-1].value or "" if committed else _last_line(said)
    if _says_none_of(closing):
        return _AMBIGUOUS if any(map(_says_none_of, question.options)) else _NONE
    if _REFUSAL.search(closing) and not _talks_of_options(closing, question):
        return _NONE
    return _AMBIGUOUS if _talks_of_options(said, question) else _NONE


def _how(said: str, question: VisibleQuestion, index: int) -> ParseHow:
    committed = commitments(said)
    if committed:
        return "structured" if said.startswith("{", committed[-1].start) else "anchored"
    is_text = _plain(said) == _plain(question.options[index])
    return "option_text" if is_text and not _is_label(_plain(said), question) else "anchored"


def _closing_line(said: str, question: VisibleQuestion) -> ParsedOption | None:
    """Return the option that the last line consists of, None where it consists of none."""
    line = _last_line(said)
    lead = _LEAD.match(line)
    index = option_index(line, question, is_alone=True)
    if index is None and lead is not None:
        index = option_index(line[lead.end() :], question, is_alone=True)
    if index is None:
        return None
    if any(other != index for other in _options_alone(said, question)):
        return _AMBIGUOUS
    is_text = _plain(line) == _plain(question.options[index])
    return ParsedOption(
        outcome="letter", option_index=index, how="option_text" if is_text else "anchored"
    )


def _options_alone(said: str, question: VisibleQuestion) -> Iterator[int]:
    """Yield the options that have a line of their own, by a label in brackets or by their text."""
    by_text: dict[str, int] = {
        plain: index for index, option in enumerate(question.options) if (plain := _plain(option))
    }
    by_label = {label: index for index, label in enumerate(question.labels)}
    for line in said.splitlines():
        match = _LABELLED_LINE.match(line)
        if match is not None and match["label"].upper() in by_label:
            yield by_label[match["label"].upper()]
        plain = _plain(line)
        if plain.upper() in by_label:
            yield by_label[plain.upper()]
        elif plain in by_text:
            yield by_text[plain]


def _says_none_of(text: str) -> bool:
    return _NONE_OF.match(text.strip(_WRAPPING)) is not None


def _talks_of_options(text: str, question: VisibleQuestion) -> bool:
    """Return whether a label of an option, marked as such or a capital alone, or an option's text occurs."""
    labels = frozenset(question.labels)
    for pattern in (_MARKED, _CLOSED, _CAPITAL):
        if any(match["label"].upper() in labels for match in pattern.finditer(text)):
            return True
    words = _plain(text)
    return any(_occurs(_plain(option), words) for option in question.options)


def _occurs(sought: str, words: str) -> bool:
    """Return whether `sought` stands in `words` and is not part of a longer word or number there."""
    start = words.find(sought) if sought else -1
    while start >= 0:
        end = start + len(sought)
        before, after = words[start - 1 : start] or " ", words[end : end + 1] or " "
        if not _is_one_word(before + sought[0]) and not _is_one_word(sought[-1] + after):
            return True
        start = words.find(sought, start + 1)
    return False


def _is_one_word(pair: str) -> bool:
    """Return whether two characters run on; those of scripts without case are words of their own."""
    return all(sign.isdigit() or sign.lower() != sign.upper() for sign in pair)


def _is_label(plain: str, question: VisibleQuestion) -> bool:
    return plain.upper() in question.labels


def _last_line(said: str) -> str:
    return next((line.strip() for line in reversed(said.splitlines()) if line.strip()), "")


def _plain(text: str) -> str:
    return " ".join(as_matched(text).split()).strip(_WRAPPING).casefold()


def _narrowed(question: VisibleQuestion) -> VisibleQuestion:
    """Return the question with options in ordinary instead of full-width characters."""
    return VisibleQuestion(
        question_id=question.question_id,
        text=question.text,
        options=tuple(option.translate(FULL_WIDTH) for option in question.options),
        video_duration_s=question.video_duration_s,
    )
