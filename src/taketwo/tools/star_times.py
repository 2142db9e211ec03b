"""Seconds that a planner names in words: `at 12 seconds`, `from 1:05 to 1:20`, `3.5-9 s`."""

from __future__ import annotations

import re

__all__ = ["seconds_named", "span_named"]

_CLOCK = r"(?:\d{1,3}:)?\d{1,3}:[0-5]\d(?:\.\d{1,6})?"
_NUMBER = r"\d{1,6}(?:\.\d{1,6})?"
_UNIT = r"\s*(?:s|secs?|seconds?)\b"
_TIME = re.compile(
    rf"(?<![\w.:])(?:({_CLOCK})(?![\w:])|({_NUMBER}){_UNIT}|seconds?\s+({_NUMBER}))", re.I
)
_SPAN = re.compile(
    rf"(?<![\w.:])({_CLOCK}|{_NUMBER})(?:{_UNIT})?\s*(?:-|\u2013|\u2014|to|and|until|till)\s*"
    rf"(?:({_CLOCK})(?![\w:])|({_NUMBER}){_UNIT})",
    re.I,
)


def seconds_named(text: str) -> tuple[float, ...]:
    """Return the times that `text` names, in their order.

    Examples
    --------
    >>> seconds_named("the sign at 12.5 seconds and again at 1:05")
    (12.5, 65.0)
    """
    return tuple(
        _value(next(group for group in match.groups() if group)) for match in _TIME.finditer(text)
    )


def span_named(text: str) -> tuple[float, float] | None:
    """Return the first stretch of time that `text` names, or None.

    Examples
    --------
    >>> span_named("what happens from 3 to 9 seconds?")
    (3.0, 9.0)
    """
    for match in _SPAN.finditer(text):
        start_s, end_s = _value(match[1]), _value(match[2] or match[3])
        if start_s < end_s:
            return start_s, end_s
    return None


def _value(text: str) -> float:
    return sum(float(part) * 60**place for place, part in enumerate(reversed(text.split(":"))))
