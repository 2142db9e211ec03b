"""Where the evidence shows what somebody looks for: an event, a thing or a text described in words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from taketwo.models.video_lines import CountLine, TextLine, WordsLine, count_text
from taketwo.models.words import content_words, likeness, number_in, overlap

__all__ = ["Found", "Line", "body_of", "found_in", "wants_shapes", "wants_text"]

Line = CountLine | TextLine | WordsLine

_ENOUGH = 0.6
_WANTS_TEXT = re.compile(
    r"\b(text|words?|signs?|codes?|letters?|captions?|titles?|written|writing|reads?|says?|labels?)\b",
    re.IGNORECASE,
)
_WANTS_SHAPES = re.compile(
    r"\b(shapes?|colou?rs?|circles?|squares?|triangles?|stars?|how many|number of|count)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Found:
    """Lines that show what was looked for, the best first, and the stretch (seconds) of the first."""

    lines: tuple[Line, ...]
    start_s: float
    end_s: float


def body_of(line: Line) -> str:
    """Return a line without its times, as `lines_in` reads it back."""
    if isinstance(line, CountLine):
        return count_text(line.count, line.colour, line.shape)
    return f'text "{line.text}"' if isinstance(line, TextLine) else line.text


def wants_text(target: str) -> bool:
    """Return whether `target` speaks of something that is written."""
    return bool(_WANTS_TEXT.search(target))


def wants_shapes(target: str) -> bool:
    """Return whether `target` speaks of shapes, colours or a number."""
    return bool(_WANTS_SHAPES.search(target))


def _agreement(line: Line, target: str) -> float:
    """Return how far (0..1) `line` shows `target`.

    A text and a shape are things: the target must name all of them. Words describe: they must hold
    most of the target.
    """
    wanted = content_words(target)
    if isinstance(line, WordsLine):
        return overlap(wanted, content_words(line.text))
    if isinstance(line, CountLine):
        named = overlap(content_words(f"{line.colour} {line.shape}"), wanted)
        number = number_in(target)
        return named * (0.7 if number is not None and number != line.count else 1.0)
    return max(overlap(content_words(line.text), wanted), likeness(line.text, target))


def found_in(lines: Sequence[Line], target: str) -> Found | None:
    """Return where `lines` show `target`, None where they do not; of equals the earliest is taken."""
    if not content_words(target):
        return None
    scored = [(_agreement(line, target), line) for line in lines]
    kept = [(score, line) for score, line in scored if score >= _ENOUGH]
    if not kept:
        return None
    kept.sort(key=lambda pair: (-pair[0], pair[1].start_s))
    first = kept[0][1]
    return Found(lines=tuple(line for _, line in kept), start_s=first.start_s, end_s=first.end_s)
