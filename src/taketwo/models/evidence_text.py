"""Evidence in the texts that agents pass on: timed lines, and which of their words were said.

A text may hold fences, and inside them fences that were defused (`[marker] transcript`), blocks of
clips (`[00:00:10-00:00:20] ...`, with `Said: ...` in them), and headings above lines
(`count of red circle` over `[3.0 s] 2, low trust`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from taketwo.models.fences import fenced, unfenced
from taketwo.models.video_lines import CountLine, TextLine, WordsLine, lines_in, when

__all__ = ["TimedText", "timed_text"]

Line = TextLine | CountLine | WordsLine

_SPEECH = re.compile(r"transcript|speech|subtitle|narration", re.IGNORECASE)
_INNER = re.compile(r"^\s*\[marker\]\s*(.*?)\s*$")
_CLIP = re.compile(r"^\s*\[(\d+):(\d\d):(\d\d)-(\d+):(\d\d):(\d\d)\]\s*(.*)$")
_SAID = re.compile(r"^\s*Said:\s*(.*\S)\s*$")
_COUNT_OF = re.compile(r"^\s*count of (.*\S)\s*$", re.IGNORECASE)
_COUNTED = re.compile(r"^(\s*\[[^\]]*\]\s*)(\d+)(?:, low trust)?\s*$")


@dataclass(frozen=True, kw_only=True)
class TimedText:
    """The timed lines of a text; words that were said stand apart."""

    lines: list[Line] = field(default_factory=list[Line])
    speech: list[WordsLine] = field(default_factory=list[WordsLine])


def timed_text(text: str, *, is_speech: bool) -> TimedText:
    """Return the timed lines of `text`.

    Words in a fence that is named for speech were said, words in another fence are a description;
    outside fences `is_speech` says what they are. What is fenced as the question is left out.
    """
    found = TimedText()
    _read(unfenced(text), found, is_speech=is_speech)
    for part in fenced(text):
        if part.name != "question":
            _read(part.text, found, is_speech=bool(_SPEECH.search(part.name)))
    return found


def _read(body: str, found: TimedText, *, is_speech: bool) -> None:
    for plain, said in _plain_lines(body, is_speech=is_speech):
        for line in lines_in(plain):
            if said and isinstance(line, WordsLine):
                found.speech.append(line)
            else:
                found.lines.append(line)


def _plain_lines(body: str, *, is_speech: bool) -> Iterator[tuple[str, bool]]:
    """Yield the lines of `body` as `lines_in` reads them, and whether their words were said."""
    said, span, counted = is_speech, "", ""
    for line in body.splitlines():
        if inner := _INNER.match(line):
            said = bool(_SPEECH.search(inner.group(1))) if inner.group(1) else is_speech
            continue
        if clip := _CLIP.match(line):
            times = [int(group) for group in clip.groups()[:6]]
            start, end = (h * 3600 + m * 60 + s for h, m, s in (times[:3], times[3:]))
            span, line = when(start, end), clip.group(7)
        if (spoken := _SAID.match(line)) and span:
            yield f"{span} {spoken.group(1)}", True
        elif heading := _COUNT_OF.match(line):
            counted = heading.group(1)
        elif counted and (number := _COUNTED.match(line)):
            yield f"{number.group(1)}{number.group(2)} {counted}", said
        else:
            counted = counted if line.startswith(" ") else ""
            yield line, said
