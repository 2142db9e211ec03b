"""Reading JSON whose shape nobody promised: a value of the expected kind, or None."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import cast

from taketwo.errors import ForeignLog

__all__ = [
    "Json",
    "first_text",
    "in_ranges",
    "instant",
    "items",
    "number",
    "part",
    "plain_text",
    "text",
    "texts",
    "whole",
]

Json = Mapping[str, object]


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
    return value if isinstance(value, str) else None


def number(record: object, name: str) -> float | None:
    """Return the number called `name`; a truth value is none."""
    value = cast("Json", record).get(name) if isinstance(record, Mapping) else None
    return float(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else None


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
        return content
    if isinstance(content, list):
        return "\n".join(
            text(item, "text") or ""
            for item in cast("list[object]", content)
            if text(item, "text") is not None
        )
    return ""


def texts(record: Json, name: str) -> tuple[str, ...]:
    """Return the strings in the list called `name`."""
    return tuple(item for item in items(record, name) if isinstance(item, str))


def first_text(record: Json, names: Sequence[str]) -> str | None:
    """Return the first string that is there, of those called `names`."""
    return next((found for name in names if (found := text(record, name)) is not None), None)


def instant(stamp: str | None) -> datetime | None:
    """Return the moment of an ISO-8601 stamp; None where it is none."""
    try:
        return None if stamp is None else datetime.fromisoformat(stamp)
    except ValueError:
        return None
