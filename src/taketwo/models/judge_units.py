"""Texts as short pieces with their times, each compared with a milestone by itself."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taketwo.models.judge_words import Passage, passage

__all__ = ["Unit", "sentences_of", "units_of"]

_MARKER = re.compile(r"^\[marker\].*$", re.MULTILINE)
_T = r"\d{1,3}(?::\d{2}){1,2}(?:[.,]\d{1,3})?|\d{1,6}(?:\.\d{1,3})?"
_INTERVAL = re.compile(
    rf"^[\s\-*•]{{0,8}}\[?(?P<start>{_T})(?: ?s)?(?: ?(?:-->|[-–]) ?(?P<end>{_T}))?(?P<unit> ?s)?"
    r"(?:, \d+ frames?)?(?P<closed>\])?:?(?:\s|$)"
)
_CONFIDENCE = re.compile(r"\(confidence [\d.]{1,6}\)")
_PIECE = 240


@dataclass(frozen=True, kw_only=True)
class Unit:
    """One short piece of text: a line, or a part of a long one; with seconds where it begins with them."""

    source: int
    place: int
    text: str
    passage: Passage
    start_s: float | None = None
    end_s: float | None = None


def units_of(texts: Sequence[str]) -> tuple[Unit, ...]:
    """Return the short pieces of texts that say something, in order; `source` counts the texts."""
    found: list[Unit] = []
    for source, text in enumerate(texts):
        place = 0
        for line in _MARKER.sub("", text).splitlines():
            start, end, rest = _timed(line)
            for piece in _pieces(_CONFIDENCE.sub("", rest).strip()):
                said = passage(piece)
                if said.words or said.quantities or said.times:
                    found.append(
                        Unit(
                            source=source,
                            place=place,
                            text=f"[{start:.1f}-{end:.1f} s] {piece}"
                            if start is not None and end is not None
                            else piece,
                            passage=said,
                            start_s=start,
                            end_s=end,
                        )
                    )
                    place += 1
    return tuple(found)


def sentences_of(text: str) -> list[str]:
    """Return the sentences of a text written by a human, one a line, without empty ones."""
    parts = re.split(r"(?<=[.;!?])\s+|\n+", text)
    return [sentence for part in parts if (sentence := " ".join(part.split()))]


def _timed(line: str) -> tuple[float | None, float | None, str]:
    """Return start, end (seconds) and rest of a line; of several times before the text the last counts."""
    start = end = None
    for _ in range(3):
        match = _INTERVAL.match(line)
        is_time = match and (
            match.group("closed") or match.group("unit") or ":" in match.group("start")
        )
        if not match or not is_time:
            break
        start = _second(match.group("start"))
        end = max(start, _second(match.group("end") or match.group("start")))
        line = line[match.end() :]
    return start, end, line


def _second(written: str) -> float:
    parts = [float(part) for part in written.replace(",", ".").split(":")]
    return sum(part * 60**place for place, part in enumerate(reversed(parts)))


def _pieces(line: str) -> Iterator[str]:
    """Yield a line, cut into pieces where it is long: at the ends of sentences or else between words."""
    if len(line) <= _PIECE:
        if line:
            yield line
        return
    ends = [match.end() for match in re.finditer(r"[.;!?}](?:\s|,)|\s", line)]
    sentences = [match.end() for match in re.finditer(r"[.;!?}](?:\s|,)", line)]
    start = 0
    while start < len(line):
        limit = start + _PIECE
        cut = limit if limit < len(line) else len(line)
        if limit < len(line):
            for places in (sentences, ends):
                at = bisect_left(places, limit + 1) - 1
                if at >= 0 and places[at] > start:
                    cut = places[at]
                    break
        piece = line[start:cut].strip()
        if piece:
            yield piece
        start = cut
