"""Options that stand in the text of a question, as SAGE-Bench writes them: `(A) text`, one a line, mostly."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taketwo.benchmarks.question import option_labels
from taketwo.errors import InvalidQuestion

__all__ = ["ParsedQuestion", "parse_options"]

_MARK = re.compile(r"(?<!\S)\((?P<label>[A-Z])\)[^\S\n]*")
_LAST_SENTENCE = re.compile(r"(?P<before>.*[.?!][\"')\]]*)\s+(?P<last>\S.*)", re.DOTALL)
_LEAD_IN = re.compile(r"[a-z ]*\bfollowing (?:answer )?(?:options|choices)\b[a-z ]*", re.IGNORECASE)
_LEADING_VERBS = frozenset({"answer", "choose", "give", "pick", "reply", "respond", "select"})
_LEAD_IN_WORD = re.compile(
    r"(?:an?|and|answers?|appropriate|based|best|by|choices?|choos(?:e|ing)|correct|exactly|following|"
    r"from|give|given|into?|most|of|on|one|only|options?|out|pick|picking|please|provided|question|"
    r"reply|respond|right|select|selecting|single|the|this|to|using|with|your)"
)


@dataclass(frozen=True, kw_only=True)
class ParsedQuestion:
    """A question as asked, and its options in their order; none where its text lists none."""

    text: str
    options: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class _Mark:
    """A label in brackets, from character `start` to where its text begins."""

    label: str
    start: int
    end: int
    begins_line: bool


def parse_options(written: str) -> ParsedQuestion:
    """Return a question and the options that stand in its text.

    The list begins with a label at the beginning of a line, or with `(A)` right after a sentence that
    only asks to answer from the following options; that sentence is taken off, as agents are shown the
    options in a form of their own, any other stays in the question. Labels begin a line. Within a line
    they count where all of the list stands on one, and where the one before and the one after would
    else leave a hole. A label that is written twice (`(C) C) text`) is taken off.

    Raises
    ------
    InvalidQuestion
        If the labels are not A, B, C, ... in order, or text stands between or after them.
    """
    text = written.replace("\r\n", "\n")
    marks = _marks(text)
    first = next((at for at, mark in enumerate(marks) if _opens(text, mark)), None)
    if first is None or not text[: marks[first].start].strip():
        return ParsedQuestion(text=written.strip(), options=())
    listed = _in_order(marks[first:])
    ends = [mark.start for mark in listed[1:]] + [len(text)]
    return ParsedQuestion(
        text=_without_lead_in(text[: listed[0].start]),
        options=tuple(
            _option(mark.label, text[mark.end : end])
            for mark, end in zip(listed, ends, strict=True)
        ),
    )


def _marks(text: str) -> list[_Mark]:
    return [
        _Mark(
            label=found["label"],
            start=found.start(),
            end=found.end(),
            begins_line=not _line_before(text, found.start()).strip(),
        )
        for found in _MARK.finditer(text)
    ]


def _line_before(text: str, at: int) -> str:
    return text[text.rfind("\n", 0, at) + 1 : at]


def _opens(text: str, mark: _Mark) -> bool:
    """Return whether a list may begin with a label."""
    if mark.begins_line:
        return True
    return mark.label == "A" and _leads_in(_last_sentence(_line_before(text, mark.start))[1])


def _in_order(marks: Sequence[_Mark]) -> list[_Mark]:
    """Return the labels of a list, A and on; those within a line only where they fill it.

    Raises
    ------
    InvalidQuestion
        If those that begin a line are not in order, or not all of them are of the list.
    """
    of_lines = [mark for mark in marks if mark.begins_line or mark is marks[0]]
    if len(of_lines) > 1 and _labels(of_lines) == option_labels(len(of_lines)):
        return of_lines
    filled = _filled(marks, last=of_lines[-1] if len(of_lines) > 1 else None)
    if not filled or any(mark not in filled for mark in of_lines):
        raise InvalidQuestion(
            f"the options are labelled {', '.join(_labels(of_lines))}, not A, B, C in order"
        )
    return filled


def _filled(marks: Sequence[_Mark], last: _Mark | None) -> list[_Mark]:
    """Return labels that follow each other up to `last`; one that begins a line goes before another."""
    found: list[_Mark] = []
    at = -1
    for label in option_labels(26):
        later = [mark for mark in marks if mark.start > at and mark.label == label]
        if not later or (found and found[-1] is last):
            break
        found.append(next((mark for mark in later if mark.begins_line), later[0]))
        at = found[-1].start
    return found


def _labels(marks: Sequence[_Mark]) -> tuple[str, ...]:
    return tuple(mark.label for mark in marks)


def _option(label: str, written: str) -> str:
    lines = [line.strip() for line in written.split("\n") if line.strip()]
    if len(lines) > 1:
        raise InvalidQuestion(
            f"the options are not one '(A) text' a line: {lines[1][:60]!r} stands among them"
        )
    return re.sub(rf"\(?{label}\)\s+(?=\S)", "", lines[0], count=1) if lines else ""


def _without_lead_in(head: str) -> str:
    """Return what is asked, without the last sentence where it only leads in the options."""
    lines = [line for line in head.split("\n") if line.strip()]
    *before, line = lines
    asked, sentence = _last_sentence(line)
    if _leads_in(sentence) and (before or asked):
        lines = [*before, asked] if asked else before
    return "\n".join(lines).strip()


def _last_sentence(line: str) -> tuple[str, str]:
    """Return a line before its last sentence, and that sentence."""
    found = _LAST_SENTENCE.fullmatch(line.strip())
    return ("", line.strip()) if found is None else (found["before"], found["last"])


def _leads_in(sentence: str) -> bool:
    """Return whether a sentence asks to answer from the following options, and says nothing else."""
    plain = sentence.strip().removesuffix(":").removesuffix(".").rstrip().lower()
    words = plain.split()
    first = next((word for word in words if word != "please"), "")
    return (
        _LEAD_IN.fullmatch(plain) is not None
        and first in _LEADING_VERBS
        and all(map(_LEAD_IN_WORD.fullmatch, words))
    )
