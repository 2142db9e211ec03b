"""Where a reply commits itself to an answer: JSON objects, `FINAL ANSWER:` lines, answer tags, a closing phrase.

Every scan passes over a reply once, whatever stands in it.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from taketwo.tools.loggable import loggable_text

__all__ = ["LINE_BREAK", "Commitment", "commitments", "without_thoughts"]

_BREAKS = "\\n\\r\\v\\f\\x1c-\\x1e\\x85\\u2028\\u2029"
LINE_BREAK = re.compile(f"[{_BREAKS}]")
"""A line break of any system, as `str.splitlines` takes them."""

_MAX_DEPTH = 64
_TAG = re.compile(r"<(?P<end>/?)(?P<name>think(?:ing)?)>", re.IGNORECASE)
_UNENDED = re.compile(r"\s*+<think(?:ing)?>", re.IGNORECASE)
_TOKEN = re.compile(r'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)|[{}\[\]]', re.DOTALL)
_FINAL = re.compile(
    r"\bfinal\s++answer\b[ \t*_`]*+(?:is\b[ \t*_`]*+:?|[:=\uff1a])"
    rf"(?P<value>[^{_BREAKS}]*+)",
    re.IGNORECASE,
)
_NEXT_LINE = re.compile(rf"\s*+(?P<line>[^{_BREAKS}]*+)")
_TAGGED = re.compile(
    r"<(?P<tag>(?:final_?)?answer)>\s*+(?P<value>[^<]*+)</(?P=tag)>", re.IGNORECASE
)
_KEY = re.compile(r"""["']answer["']\s*+:""", re.IGNORECASE)
_KEYED = re.compile(
    r"""["']answer["']\s*+:\s*+(?:"(?P<double>(?:[^"\\]++|\\.)*+)"|'(?P<single>[^'\\]*+)'|(?P<bare>null|None|-?\d++(?:\.\d++)?)\b)""",
    re.IGNORECASE,
)
_PHRASE = re.compile(
    r"\b(?:the\s++(?:(?:correct|best|right)\s++)?(?:answer|option|choice)\s++is|answer\s*+[:=])"
    rf"[ \t*_`:]*(?P<value>[^{_BREAKS}]++)",
    re.IGNORECASE,
)


@dataclass(frozen=True, kw_only=True)
class Commitment:
    """An answer as it stands in a reply, from character `start` on; None is an abstention."""

    start: int
    value: str | None
    reasoning: str | None = None
    is_readable: bool = True


class _Object:
    """An object of JSON with all of its pairs, a key that stands twice included."""

    def __init__(self, pairs: list[tuple[str, object]]) -> None:
        self.pairs = pairs

    def values(self, key: str) -> list[object]:
        return [value for name, value in self.pairs if name == key]


def without_thoughts(text: str) -> str:
    """Return the reply without what a model thought aloud between think tags.

    What stands before an end without a begin was thought as well. So was everything where what is
    said would begin with a tag that nothing ends: the reply was cut off in its thought. Such a tag
    after other words hides nothing, for there it may be a mere word.
    """
    tags = list(_TAG.finditer(text))
    last_end = {tag["name"].lower(): tag.start() for tag in tags if tag["end"]}
    kept: list[str] = []
    position, thinking = 0, ""
    for tag in tags:
        name = tag["name"].lower()
        if thinking:
            if tag["end"] and name == thinking:
                position, thinking = tag.end(), ""
        elif not tag["end"] and tag.start() < last_end.get(name, -1):
            kept.append(text[position : tag.start()])
            thinking = name
    said = "".join([*kept, text[position:]])
    ends = [tag.end() for tag in _TAG.finditer(said) if tag["end"]]
    said = said[ends[-1] :] if ends else said
    return "" if _UNENDED.match(said) else said


def commitments(text: str) -> tuple[Commitment, ...]:
    """Return the explicit commitments of `text` in order; phrases count only where there is no other."""
    objects = list(_objects(text))
    starts = [start for start, _, _ in objects]
    found = [item for _, _, item in objects if item is not None]
    for item in (*_final_lines(text), *_tagged(text)):
        before = bisect_right(starts, item.start) - 1
        if before < 0 or item.start >= objects[before][1]:
            found.append(item)
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
            following = _NEXT_LINE.match(text, match.end())
            value = following["line"].rstrip() if following else ""
        if not value.lstrip(" `").startswith("{"):
            yield Commitment(start=match.start(), value=value)


def _tagged(text: str) -> Iterator[Commitment]:
    for match in _TAGGED.finditer(text):
        value = match["value"].strip()
        if value and not value.lstrip(" `").startswith("{"):
            yield Commitment(start=match.start(), value=value)


def _objects(text: str) -> Iterator[tuple[int, int, Commitment | None]]:
    """Yield start, end and commitment of each outermost object in braces; the last may be unclosed."""
    position = 0
    while (start := text.find("{", position)) >= 0:
        end, is_deep = _closing(text, start)
        body = text[start:end]
        yield start, end, _too_deep(body, start) if is_deep else _commitment(body, start)
        position = end


def _closing(text: str, start: int) -> tuple[int, bool]:
    """Return where the object ends that begins at `start`, and whether it is nested too deep to read."""
    braces, brackets, deepest = 0, 0, 0
    for match in _TOKEN.finditer(text, start):
        sign = text[match.start()]
        if sign == "{":
            braces += 1
        elif sign == "}":
            braces -= 1
            if braces == 0:
                return match.end(), deepest > _MAX_DEPTH
        elif sign == "[":
            brackets += 1
        elif sign == "]":
            brackets -= 1
        deepest = max(deepest, braces + brackets)
    return len(text), deepest > _MAX_DEPTH


def _commitment(body: str, start: int) -> Commitment | None:
    try:
        # Whole numbers and NaN as they are written: one with 5,000 digits is none to Python.
        record: object = json.loads(
            body, object_pairs_hook=_Object, parse_int=str, parse_constant=str
        )
    except ValueError:
        return _garbled(body, start)
    answers = record.values("answer") if isinstance(record, _Object) else []
    if not isinstance(record, _Object) or not answers:
        return None
    answer, is_readable = answers[-1], _is_plain(answers)
    reasoning = next(reversed(record.values("reasoning")), None)
    return Commitment(
        start=start,
        value=loggable_text(str(answer)) if is_readable and answer is not None else None,
        reasoning=loggable_text(reasoning) if isinstance(reasoning, str) else None,
        is_readable=is_readable,
    )


def _is_plain(answers: Sequence[object]) -> bool:
    """Return whether the values of a key, should it stand more than once, are one plain value."""
    answer = answers[-1]
    return all(type(other) is type(answer) and other == answer for other in answers) and (
        answer is None or isinstance(answer, (str, float))
    )


def _too_deep(body: str, start: int) -> Commitment | None:
    return Commitment(start=start, value=None, is_readable=False) if _KEY.search(body) else None


def _garbled(body: str, start: int) -> Commitment | None:
    """Read the answer of an object that is no JSON: cut off, single quotes, a comma too many."""
    matches = list(_KEYED.finditer(body))
    if not matches:
        return None
    values = {match["double"] or match["single"] or match["bare"] or "" for match in matches}
    bare = (matches[-1]["bare"] or "").lower()
    value = None if bare in {"null", "none"} else values.pop() if len(values) == 1 else ""
    return Commitment(start=start, value=value, is_readable=value is None or bool(value))
