"""The line formats in which a video is described, written by the observer and read by the orchestrator.

[12.0 s] text "EXIT 42" (confidence 0.98)
[3.0-9.0 s] 3 red circles (confidence 0.90)
[3.0-9.0 s] background blue
[12.0-15.5 s] the words of a transcript

Agents pass them on as `- 3.0-9.0 s: 3 red circles` or `[3.0-9.0 s, 4 frames] 3 red circles` as well.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from taketwo.models.shapes import COLOURS, SHAPES

__all__ = [
    "CountLine",
    "TextLine",
    "WordsLine",
    "clock",
    "count_text",
    "lines_in",
    "when",
    "words_in_json",
]

_BULLET = r"^\s*(?:[-*•]\s*)?"
_SECONDS = r"(\d+(?:\.\d+)?)(?:\s*s?\s*[-–]\s*(\d+(?:\.\d+)?))?"
_LINE = re.compile(rf"{_BULLET}\[{_SECONDS}\s*s?(?:, \d+ frames?)?\]\s*(.*\S)\s*$")
_PLAIN_LINE = re.compile(rf"{_BULLET}{_SECONDS}\s*s:\s*(.*\S)\s*$")
_CONFIDENCE = re.compile(r"\s*\(confidence (\d(?:\.\d+)?)\)\s*$")
_TEXT = re.compile(r'^text "(.*)"$')
_COUNT = re.compile(rf"^(\d+) ({'|'.join(COLOURS)}) ({'|'.join(SHAPES)})s?$", re.IGNORECASE)
_SEVERAL = re.compile(r";\s+")
_UNSPOKEN = re.compile(r"^(background|motion|no text|nothing)\b", re.IGNORECASE)


@dataclass(frozen=True, kw_only=True)
class TextLine:
    """A text that was read in the picture."""

    start_s: float
    end_s: float
    text: str
    confidence: float = 1.0


@dataclass(frozen=True, kw_only=True)
class CountLine:
    """A number of equal shapes that was seen."""

    start_s: float
    end_s: float
    count: int
    colour: str
    shape: str
    confidence: float = 1.0


@dataclass(frozen=True, kw_only=True)
class WordsLine:
    """Anything else with a time: speech, or a description in free words."""

    start_s: float
    end_s: float
    text: str


def when(start_s: float, end_s: float) -> str:
    """Return `[12.0 s]` for a moment and `[3.0-9.0 s]` for a span."""
    return f"[{start_s:.1f} s]" if end_s <= start_s else f"[{start_s:.1f}-{end_s:.1f} s]"


def clock(seconds: float) -> str:
    """Return seconds as `HH:MM:SS`, parts of a second left out."""
    whole = int(max(0.0, seconds))
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def count_text(count: int, colour: str, shape: str) -> str:
    """Return a count in words that `lines_in` reads back, such as `1 red circle`."""
    return f"{count} {colour} {shape}{'' if count == 1 else 's'}"


def lines_in(text: str) -> Iterator[TextLine | CountLine | WordsLine]:
    """Yield the timed lines of `text`; lines without a time and backgrounds are passed over.

    A line may hold several things of one time, `[12.0 s] text "EXIT"; 3 red circles`.
    """
    for line in text.splitlines():
        match = _LINE.match(line) or _PLAIN_LINE.match(line)
        if match is None:
            continue
        start_s = float(match.group(1))
        end_s = float(match.group(2)) if match.group(2) else start_s
        body = match.group(3)
        things = [_thing(part, start_s, end_s) for part in _SEVERAL.split(body)]
        known = [thing for thing in things if thing is not None]
        if len(known) == len(things):
            yield from known
        elif (thing := _thing(body, start_s, end_s)) is not None:
            yield thing
        elif not _UNSPOKEN.match(words := _CONFIDENCE.sub("", body)):
            yield WordsLine(start_s=start_s, end_s=end_s, text=words)


def _thing(body: str, start_s: float, end_s: float) -> TextLine | CountLine | None:
    """Return the text or the count that `body` states, None for free words."""
    stated = _CONFIDENCE.search(body)
    confidence = min(1.0, float(stated.group(1))) if stated else 1.0
    body = body[: stated.start()] if stated else body
    if seen := _TEXT.match(body):
        return TextLine(start_s=start_s, end_s=end_s, text=seen.group(1), confidence=confidence)
    if counted := _COUNT.match(body):
        return CountLine(
            start_s=start_s,
            end_s=end_s,
            count=int(counted.group(1)),
            colour=counted.group(2).lower(),
            shape=counted.group(3).lower(),
            confidence=confidence,
        )
    return None


def words_in_json(text: str) -> tuple[WordsLine, ...]:
    """Return the segments of a JSON transcript (`segments` of start, end, text), else nothing."""
    stripped = text.strip()
    if not stripped.startswith("{"):
        return ()
    try:
        record = cast("dict[str, object]", json.loads(stripped))
        return tuple(
            WordsLine(
                start_s=float(cast("float", item["start"])),
                end_s=float(cast("float", item["end"])),
                text=str(item["text"]).strip(),
            )
            for item in cast("list[dict[str, object]]", record["segments"])
        )
    except (ValueError, KeyError, TypeError, OverflowError, RecursionError):
        return ()
