"""What an agent hands back: an answer, an abstention, or text from which none can be read."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

from taketwo.agents.commitments import Commitment, commitments, without_thoughts
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.tools.loggable import MAX_CHARACTERS

__all__ = ["Answer", "AnswerStatus", "option_index", "parse_answer"]

AnswerStatus = Literal["answered", "abstained", "unparsed", "limit"]


@dataclass(frozen=True, kw_only=True)
class Answer:
    """An agent's reply to a question.

    `option_index` is the 0-based option of a multiple-choice question and None otherwise. `text`
    is the reply as given (for an open question, the answer). `forced` marks an answer that was
    given because a budget ran out. A status other than `answered` never carries an option.
    """

    status: AnswerStatus
    text: str
    option_index: int | None = None
    reasoning: str = ""
    forced: bool = False
    limit: str | None = None

    def __post_init__(self) -> None:
        if self.status != "answered" and self.option_index is not None:
            raise ValueError(f"an answer with status {self.status!r} cannot carry an option")


_ABSTENTIONS = frozenset({"none", "null", "n/a", "abstain", "no answer"})
_WRAPPING = " \t\r\n*_`'\"\u201c\u201d\u2018\u2019"
_BOX = "\\boxed{"
_MAX_READ = MAX_CHARACTERS // 2
_LED_IN = re.compile(r"^(?:option|choice|answer|label)\s*:?\s*", re.IGNORECASE)
_LABELLED = re.compile(
    r"^[(\[]?\s*(?P<label>[A-Za-z]|\d{1,4})\s*[)\].:,\u2013\u2014-]+\s*(?P<rest>.*)$", re.DOTALL
)


def parse_answer(text: str, question: VisibleQuestion) -> Answer:
    """Read an answer out of a reply, the same way every time, without ever guessing.

    The last commitment counts: a JSON object with the key `answer` (fenced, bare or cut off) or a
    line `FINAL ANSWER: ...`; where there is none, a phrase such as "the answer is B", or a reply
    that consists of the answer alone. For a multiple-choice question it must name exactly one
    option, by its label (any number of options, letters or numbers) or by its whole text; the label
    goes before the text where both fit. `null` and `none` abstain. Whatever names no option, or
    more than one, is `unparsed`. So is an object whose answer stands twice with different values, or
    one nested more than 64 deep.

    Parameters
    ----------
    text
        The reply; what a model thought aloud between think tags is left out. Of one that is longer
        than 100,000 characters the end is read, where the last commitment stands.
    question
        The question that it replies to.

    Examples
    --------
    >>> asked = VisibleQuestion(question_id="q", text="Which?", options=("red", "blue"),
    ...                         video_duration_s=None)
    >>> parse_answer('I saw it. {"answer": "B"}', asked).option_index
    1
    >>> parse_answer("I cannot determine the answer.", asked).status
    'unparsed'
    """
    said = without_thoughts(text[-_MAX_READ:])
    found = commitments(said)
    if not found:
        found = (Commitment(start=0, value=said),) if question.options else ()
        alone = True
    else:
        alone = False
    if not found:
        return Answer(status="unparsed", text=text)
    last = found[-1]
    reasoning = last.reasoning if last.reasoning is not None else said[: last.start].strip()
    if alone:
        reasoning = ""
    if not last.is_readable:
        return Answer(status="unparsed", text=text, reasoning=reasoning)
    if not question.options:
        return _open_answer(last.value, text, reasoning)
    index = None if last.value is None else option_index(last.value, question, is_alone=alone)
    if index is not None:
        return Answer(status="answered", text=text, option_index=index, reasoning=reasoning)
    is_none = last.value is None or _bare(last.value).casefold() in _ABSTENTIONS
    return Answer(status="abstained" if is_none else "unparsed", text=text, reasoning=reasoning)


def option_index(value: str, question: VisibleQuestion, *, is_alone: bool = False) -> int | None:
    """Return the 0-based option that `value` names, by label or by its whole text; None for no single one.

    A label may be followed by words, which must not name another option; where `is_alone`, they
    must be the option's own text, because any text may begin like a label.
    """
    bare = _bare(value)
    by_label = _label_index(bare, question.labels)
    if by_label is not None:
        return by_label
    by_text = _text_indices(bare, question.options)
    if by_text:
        return by_text[0] if len(by_text) == 1 else None
    match = _LABELLED.match(bare)
    index = None if match is None else _label_index(match["label"], question.labels)
    if match is None or index is None:
        return None
    named = _text_indices(_bare(match["rest"]), question.options)
    if named or is_alone:
        return index if named == [index] else None
    return None if _other_labels(match["rest"], question.labels) - {index} else index


def _other_labels(text: str, labels: tuple[str, ...]) -> set[int]:
    """Return the options whose labels stand alone in `text`; the words `A` and `I` are none."""
    words = re.findall(r"(?:^|(?<=[\s,/&(]))([A-Z]|\d{1,4})(?=$|[\s,/&).])(?! [a-z])", text)
    return {labels.index(word) for word in set(words).intersection(labels)}


def _bare(value: str) -> str:
    text = _unboxed(value).strip(_WRAPPING)
    text = _LED_IN.sub("", text).strip(_WRAPPING)
    return text.rstrip(".").strip(_WRAPPING) or text


def _unboxed(value: str) -> str:
    r"""Return what stands in the first `\boxed{...}`, up to the last brace of its line, else `value`."""
    start = value.find(_BOX)
    while start >= 0:
        line_end = value.find("\n", start)
        line_end = len(value) if line_end < 0 else line_end
        inside = start + len(_BOX)
        close = value.rfind("}", inside, line_end)
        if close >= 0:
            return value[inside:close]
        start = value.find(_BOX, line_end)
    return value


def _label_index(text: str, labels: tuple[str, ...]) -> int | None:
    label = text.strip("()[] \t.:").upper()
    return labels.index(label) if label in labels else None


def _text_indices(text: str, options: tuple[str, ...]) -> list[int]:
    sought = _folded(text)
    return [index for index, option in enumerate(options) if _folded(option) == sought]


def _folded(text: str) -> str:
    return " ".join(text.split()).strip(_WRAPPING).rstrip(".").casefold()


def _open_answer(value: str | None, text: str, reasoning: str) -> Answer:
    stripped = "" if value is None else _plain(value)
    if value is None or stripped.casefold() in _ABSTENTIONS:
        return Answer(status="abstained", text=text, reasoning=reasoning)
    if not stripped:
        return Answer(status="unparsed", text=text, reasoning=reasoning)
    return Answer(status="answered", text=stripped, reasoning=reasoning)


def _plain(value: str) -> str:
    return " ".join(value.split()).strip("*_` ")
