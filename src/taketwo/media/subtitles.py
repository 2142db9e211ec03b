"""Cues of SRT and WebVTT files, which in the wild obey neither standard to the letter."""

from __future__ import annotations

import codecs
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass

__all__ = ["Cue", "cues_of"]

_MOST_CUES = 100_000
_MOST_TEXT = 2_000
_TIME = r"(?:(\d{1,4}):)?(\d{1,2}):(\d{1,2})(?:[.,](\d{1,6}))?"
_TIMING = re.compile(rf"\s*{_TIME}\s*-->\s*{_TIME}(?:\s.*)?")
_MARKUP = re.compile(r"<[^<>]{0,400}>|\{\\[^{}]{0,200}\}")
_BLOCKS_WITHOUT_SPEECH = ("NOTE", "STYLE", "REGION")


@dataclass(frozen=True, kw_only=True)
class Cue:
    """A text with the seconds during which it is shown."""

    start_s: float
    end_s: float
    text: str


def cues_of(data: bytes) -> tuple[Cue, ...]:
    """Return the cues in the bytes of an SRT or WebVTT file, in order of time.

    Cues without text and cues that end before they start are left out; a text longer than 2,000
    characters is cut.

    Raises
    ------
    ValueError
        There is text but no line of timing, or there are more than 100,000 cues.
    """
    text = _decoded(data)
    cues: list[Cue] = []
    has_timing = False
    for start_s, end_s, lines in _timed_blocks(text):
        has_timing = True
        words = _plain(lines)
        if not words or end_s < start_s:
            continue
        if len(cues) == _MOST_CUES:
            raise ValueError(f"it has more than {_MOST_CUES} cues")
        cues.append(Cue(start_s=start_s, end_s=end_s, text=words))
    if not has_timing and not _is_silent(text):
        raise ValueError(
            "it has text but no line of timing such as '00:00:01,000 --> 00:00:02,000'"
        )
    return tuple(sorted(cues, key=lambda cue: (cue.start_s, cue.end_s)))


def _decoded(data: bytes) -> str:
    for mark in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE):
        if data.startswith(mark):
            return data.decode("utf-16", errors="replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", errors="replace")


def _timed_blocks(text: str) -> Iterator[tuple[float, float, list[str]]]:
    """Yield start, end and lines of text of each cue.

    A cue begins at its line of timing and ends at the next blank line or the next line of timing,
    whichever comes first; a number just before that line is the next cue's name.
    """
    timing: tuple[float, float] | None = None
    lines: list[str] = []
    for line in text.splitlines():
        match = _TIMING.fullmatch(line) if "-->" in line else None
        if match is None and line.strip():
            lines.append(line)
            continue
        if timing is not None:
            is_name = match is not None and bool(lines) and lines[-1].strip().isdigit()
            yield (*timing, lines[:-1] if is_name else lines)
        lines = []
        timing = None if match is None else (_seconds(match, 1), _seconds(match, 5))
    if timing is not None:
        yield (*timing, lines)


def _seconds(match: re.Match[str], first: int) -> float:
    hours, minutes, seconds, fraction = match.group(first, first + 1, first + 2, first + 3)
    whole = int(hours or 0) * 3600 + int(minutes) * 60 + int(seconds)
    return whole + (float(f"0.{fraction}") if fraction else 0.0)


def _plain(lines: list[str]) -> str:
    """Return the words of a cue on one line: no tags, no override codes, entities resolved."""
    joined = " ".join(lines)[: 4 * _MOST_TEXT]
    text = html.unescape(_MARKUP.sub("", joined)).replace("\u200b", "")
    return " ".join(text.split())[:_MOST_TEXT]


def _is_silent(text: str) -> bool:
    """Return whether a file without cues says nothing: blank, or a WebVTT header only."""
    head, _, rest = text.lstrip("\ufeff").partition("\n")
    if head.strip() and not head.startswith("WEBVTT"):
        return False
    blocks = re.split(r"\n\s*\n", rest.replace("\r", ""))
    return all(
        not block.strip() or block.strip().startswith(_BLOCKS_WITHOUT_SPEECH) for block in blocks
    )
