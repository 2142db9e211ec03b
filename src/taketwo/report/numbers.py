"""How numbers are written: those of metrics as in the sentences, and counts, times, money, shares."""

from __future__ import annotations

from taketwo.analysis.number_text import (
    NOT_MEASURED,
    UNDEFINED,
    Scale,
    change,
    decimal_text,
    interval,
    is_number,
    level,
    p_value,
    scale_of,
    significant_decimals,
)

__all__ = [
    "NOT_MEASURED",
    "UNDEFINED",
    "Scale",
    "change",
    "count",
    "dollars",
    "interval",
    "level",
    "moment",
    "of_planned",
    "p_value",
    "percent",
    "scale_of",
    "seconds",
    "short_hash",
]


def count(number: int | None) -> str:
    """Return a whole number with separators of thousands."""
    return UNDEFINED if number is None else f"{number:,}"


def of_planned(part: int, planned: int) -> str:
    """Return a numerator with its denominator: `58 / 60`."""
    return f"{part:,} / {planned:,}"


def percent(share: float | None, decimals: int = 1) -> str:
    """Return a share out of 1 as a percentage."""
    return f"{share * 100:.{decimals}f} %" if is_number(share) else UNDEFINED


def seconds(value: float | None) -> str:
    """Return a span of time: seconds below a minute, then minutes, then hours.

    Examples
    --------
    >>> seconds(0.3921), seconds(101), seconds(7380)
    ('0.392 s', '1 min 41 s', '2 h 03 min')
    """
    if not is_number(value):
        return NOT_MEASURED
    if abs(value) < 59.95:
        return f"{decimal_text(value, significant_decimals(value))} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def moment(time_s: float | None) -> str:
    """Return a time in a video, in seconds from its start."""
    return f"{time_s:.1f} s" if is_number(time_s) else "time not recorded"


def dollars(value: float | None) -> str:
    """Return an amount of money in US dollars, `not measured` where nobody reported it."""
    if not is_number(value):
        return NOT_MEASURED
    decimals = 2 if value == 0 or abs(value) >= 1 else max(2, significant_decimals(value))
    return f"{value:,.{decimals}f} USD"


def short_hash(sha256: str | None) -> str:
    """Return the first 12 digits of a hash, `unavailable` where it was not recorded."""
    return "unavailable" if not sha256 else sha256[:12]
