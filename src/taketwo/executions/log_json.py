"""Reading JSON whose shape nobody promised: a value of the expected kind, or None."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import ForeignLog

__all__ = [
    "Json",
    "arguments",
    "encodable",
    "first_text",
    "in_ranges",
    "instant",
    "items",
    "number",
    "part",
    "plain_json",
    "plain_text",
    "text",
    "texts",
    "thinking",
    "whole",
]

Json = Mapping[str, object]

_DEEPEST = 100
_TOO_DEEP = "<nested too deeply>"


def encodable(value: str) -> str:
    """Return `value` with every lone surrogate, which no encoding has, as a question mark."""
    try:
        value.encode()
    except UnicodeEncodeError:
        return value.encode("utf-8", "replace").decode()
    return value


def plain_json(value: object, *, put_back: Callable[[str], str] = str, depth: int = 0) -> JsonValue:
    """Return `value` as JSON that every program can hash and write, whatever a model said.

    Numbers that are not finite become the texts `NaN`, `Infinity` and `-Infinity`, lone surrogates
    question marks, what is nested deeper than 100 levels a text that says so, and what is no JSON
    its `repr`. `put_back` is applied to every text first.
    """
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return encodable(put_back(value))
    if isinstance(value, float):
        if math.isfinite(value):
            return value
        return "NaN" if math.isnan(value) else ("Infinity" if value > 0 else "-Infinity")
    if depth >= _DEEPEST:
        return _TOO_DEEP
    if isinstance(value, Mapping):
        return {
            encodable(str(name)): plain_json(item, put_back=put_back, depth=depth + 1)
            for name, item in cast("Mapping[object, object]", value).items()
        }
    if isinstance(value, (list, tuple)):
        return [
            plain_json(item, put_back=put_back, depth=depth + 1)
            for item in cast("list[object]", value)
        ]
    return encodable(repr(value))


def arguments(value: object) -> Mapping[str, JsonValue]:
    """Return the arguments of a call by name; what is no object stands under `value`."""
    if isinstance(value, Mapping):
        return cast("Mapping[str, JsonValue]", value)
    return {} if value is None else {"value": cast("JsonValue", value)}


def part(record: object, name: str) -> Json:
    """Return the object called `name`; empty where there is none."""
    value = cast("Json", record).get(name) if isinstance(record, Mapping) else None
    return cast("Json", value) if isinstance(value, Mapping) else {}


def items(record: object, name: str) -> list[object]:
    """Return the list called `name`; empty where there is none."""
    value = cast("Json", record).get(name) if isinstance(record, Mapping) else None
    return cast("list[object]", value) if isinstance(value, list) else []


def text(record: object, name: str) -> str | None:
    """Return the string called `name`."""
    value = cast("Json", record).get(name) if isinstance(record, Mapping) else None
    return encodable(value) if isinstance(value, str) else None


def number(record: object, name: str) -> float | None:
    """Return the number called `name`, if it is finite; a truth value is none."""
    value = cast("Json", record).get(name) if isinstance(record, Mapping) else None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return None
    return found if math.isfinite(found) else None


def whole(record: object, name: str) -> int | None:
    """Return the whole number called `name`."""
    value = number(record, name)
    return int(value) if value is not None and value.is_integer() else None


def in_ranges(refs: Iterable[object], pool: Sequence[object]) -> list[object]:
    """Return the members of `pool` in the half-open ranges `refs`.

    Raises
    ------
    ForeignLog
        If a range reaches beyond the pool.
    """
    members: list[object] = []
    for ref in refs:
        start, end = cast("tuple[int, int]", ref)
        if not 0 <= start <= end <= len(pool):
            raise ForeignLog(f"the log refers to messages {start} to {end} of {len(pool)}")
        members.extend(pool[start:end])
    return members


def plain_text(content: object) -> str:
    """Return the text parts of a message's content."""
    if isinstance(content, str):
        return encodable(content)
    if isinstance(content, list):
        return "\n".join(
            text(item, "text") or ""
            for item in cast("list[object]", content)
            if text(item, "text") is not None
        )
    return ""


def thinking(content: object) -> str:
    """Return the reasoning parts of a message's content; of one that is hidden its summary, if it has one."""
    if not isinstance(content, list):
        return ""
    parts = [
        text(item, "summary" if cast("Json", item).get("redacted") is True else "reasoning") or ""
        for item in cast("list[object]", content)
        if text(item, "type") == "reasoning"
    ]
    return "\n".join(part for part in parts if part)


def texts(record: Json, name: str) -> tuple[str, ...]:
    """Return the strings in the list called `name`."""
    return tuple(encodable(item) for item in items(record, name) if isinstance(item, str))


def first_text(record: Json, names: Sequence[str]) -> str | None:
    """Return the first string that is there, of those called `names`."""
    return next((found for name in names if (found := text(record, name)) is not None), None)


def instant(stamp: str | None) -> datetime | None:
    """Return the moment of an ISO-8601 stamp; None where it is none."""
    try:
        return None if stamp is None else datetime.fromisoformat(stamp)
    except ValueError:
        return None
