"""Where a reply commits itself to an answer: JSON objects, `FINAL ANSWER:` lines, a closing phrase."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

__all__ = ["Commitment", "commitments", "without_thoughts"]

_THOUGHTS = re.compile(r"<(think|thinking)>.*?</\1>", re.DOTALL | re.IGNORECASE)
_UNOPENED_THOUGHTS = re.compile(r"\A.*</(?:think|thinking)>", re.DOTALL | re.IGNORECASE)
_FINAL = re.compile(
    r"\bfinal\s+answer\b[ \t*_`]*(?:is\b[ \t*_`]*:?|[:=\uff1a])(?P<value>.*)$",
    re.IGNORECASE | re.MULTILINE,
)
_KEYED = re.compile(
    r"""["']answer["']\s*:\s*(?:"(?P<double>(?:[^"\\]|\\.)*)"|'(?P<single>[^'\\]*)'|(?P<bare>null|None|-?\d+(?:\.\d+)?)\b)""",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?:the\s+(?:correct\s+|best\s+|right\s+)?(?:answer|option|choice)\s+is|answer\s*[:=])"
    r"[ \t*_`:]*(?P<value>[^\n]+)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Commitment:
    """An answer as it stands in a reply, from character `start` on; None is an abstention."""

    start: int
    value: str | None
    reasoning: str | None = None
    is_readable: bool = True


def without_thoughts(text: str) -> str:
    """Return the reply without what a model thought aloud between think tags."""
    return _UNOPENED_THOUGHTS.sub("", _THOUGHTS.sub("", text))


def commitments(text: str) -> tuple[Commitment, ...]:
    """Return the explicit commitments of `text` in order; phrases count only where there is no other."""
    objects = list(_objects(text))
    inside = [(start, end) for start, end, _ in objects]
    found = [item for _, _, item in objects if item is not None]
    found += [
        item
        for item in _final_lines(text)
        if not any(start <= item.start < end for start, end in inside)
    ]
    if not found:
        found = [
            Commitment(start=match.start(), value=match["value"])
            for match in _PHRASE.finditer(text)
        ]
    return tuple(sorted(found, key=lambda item: item.start))


def _final_lines(text: str) -> Iterator[Commitment]:
    for match in _FINAL.finditer(text):
        value = match["value"].strip(" \t*_`")
        if not value:
            # The answer may stand on the next line that is not empty.
            rest = text[match.end() :].strip().splitlines()
            value = rest[0] if rest else ""
        if not value.lstrip(" `").startswith("{"):
            yield Commitment(start=match.start(), value=value)


def _objects(text: str) -> Iterator[tuple[int, int, Commitment | None]]:
    """Yield start, end and commitment of each outermost object in braces; the last may be unclosed."""
    position = 0
    while (start := text.find("{", position)) >= 0:
        end = _closing(text, start)
        body = text[start:end]
        yield start, end, _commitment(body, start)
        position = end


def _closing(text: str, start: int) -> int:
    depth, in_string, position = 0, False, start
    while position < len(text):
        character = text[position]
        if in_string:
            if character == "\\":
                position += 1
            elif character == '"':
                in_string = False
        elif character == '"':
            in_string = True
        elif character == "{":
            depth += 1
        elif character == "}":
            depth -= 1
            if depth == 0:
                return position + 1
        position += 1
    return len(text)


def _commitment(body: str, start: int) -> Commitment | None:
    try:
        record: object = json.loads(body)
    except ValueError:
        return _garbled(body, start)
    if not isinstance(record, dict) or "answer" not in record:
        return None
    entry = cast("dict[str, object]", record)
    answer, reasoning = entry["answer"], entry.get("reasoning")
    return Commitment(
        start=start,
        value=None if answer is None else str(answer),
        reasoning=reasoning if isinstance(reasoning, str) else None,
        is_readable=answer is None
        or (isinstance(answer, (str, int, float)) and not isinstance(answer, bool)),
    )


def _garbled(body: str, start: int) -> Commitment | None:
    """Read the answer of an object that is no JSON: cut off, single quotes, a comma too many."""
    matches = list(_KEYED.finditer(body))
    if not matches:
        return None
    values = {match["double"] or match["single"] or match["bare"] or "" for match in matches}
    bare = (matches[-1]["bare"] or "").lower()
    value = None if bare in {"null", "none"} else values.pop() if len(values) == 1 else ""
    return Commitment(start=start, value=value, is_readable=value is None or bool(value))
