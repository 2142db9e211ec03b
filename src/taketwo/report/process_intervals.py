"""Intervals of what judges said, as tables show, explain and record them."""

from __future__ import annotations

from collections.abc import Iterable

from taketwo.analysis.effects import Interval
from taketwo.executions.rule import Metric
from taketwo.report.numbers import UNDEFINED, level
from taketwo.report.tables import Record

__all__ = ["ends", "interval_note", "interval_record", "rate", "rate_ends"]


def interval_note(intervals: Iterable[Interval | None]) -> str:
    """Return what the intervals of a table are, as the end of its note; nothing where it has none."""
    known = [found for found in intervals if found is not None]
    if not known:
        return ""
    methods = " or ".join(sorted({found.method for found in known}))
    return (
        f" Intervals at {100 * known[0].level:g} % ({methods}): whole questions, or videos where the "
        "rule clusters by them, are drawn with all their executions; each is of its own number, and "
        "inside what that can be. A number without one rests on one question or video, or does not "
        "vary between them."
    )


def ends(metric: Metric, found: Interval | None) -> list[str]:
    """Return the interval of a level as a line of its own; none where there is none."""
    if found is None:
        return []
    return [f"{level(metric, found.low)} to {level(metric, found.high)}"]


def rate(value: float | None) -> str:
    """Return occurrences per 100 with one decimal."""
    return UNDEFINED if value is None else f"{value:.1f}"


def rate_ends(found: Interval | None) -> list[str]:
    """Return the interval of occurrences per 100 as a line of its own; none where there is none."""
    return [] if found is None else [f"{rate(found.low)} to {rate(found.high)}"]


def interval_record(found: Interval | None, name: str = "") -> Record:
    """Return the ends of an interval under the names that tables give them, and what made it."""
    begin = f"{name}_" if name else ""
    return {
        f"{begin}low": None if found is None else found.low,
        f"{begin}high": None if found is None else found.high,
        f"{begin}interval": None if found is None else f"{found.method}, {found.level:g}",
    }
