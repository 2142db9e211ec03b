"""How numbers are written: sign, unit, digits, and words where there is no number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeGuard

from taketwo.executions.rule import Metric

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

NOT_MEASURED = "not measured"
UNDEFINED = "—"
_MINUS = "\u2212"
_SUPERSCRIPT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


@dataclass(frozen=True, kw_only=True)
class Scale:
    """How a metric is shown.

    `factor` turns the stored unit into the shown one, `unit` follows a level and `change_unit` a
    difference. `decimals` is fixed, or None for three significant digits of the largest number of
    a group; where all numbers of a group are below `finest`, three significant digits as well. `better` says which direction is usually wanted; it colours nothing and decides
    nothing.
    """

    label: str
    unit: str
    change_unit: str
    factor: float = 1.0
    decimals: int | None = None
    finest: float = 0.0
    better: str = "neither"


_SCALES: Mapping[Metric, Scale] = MappingProxyType({
    "accuracy": Scale(
        label="Accuracy", unit=" %", change_unit=" pp", factor=100, decimals=1, better="higher"
    ),
    "trajectory_score": Scale(
        label="Trajectory score", unit="", change_unit="", decimals=1, better="higher"
    ),
    "mc_rate": Scale(
        label="Milestones reached",
        unit=" %",
        change_unit=" pp",
        factor=100,
        decimals=1,
        better="higher",
    ),
    "turns": Scale(label="Turns", unit="", change_unit="", decimals=2, better="lower"),
    "visible_calls": Scale(
        label="Visible calls", unit="", change_unit="", decimals=2, better="lower"
    ),
    "primitive_ops": Scale(
        label="Primitive operations", unit="", change_unit="", decimals=2, better="lower"
    ),
    "latency_s": Scale(
        label="Latency", unit=" s", change_unit=" s", decimals=2, finest=0.1, better="lower"
    ),
    "tokens": Scale(label="Tokens", unit="", change_unit="", better="lower"),
    "cost_usd": Scale(label="Cost", unit=" USD", change_unit=" USD", better="lower"),
})


def scale_of(metric: Metric) -> Scale:
    """Return how `metric` is shown."""
    return _SCALES[metric]


def level(metric: Metric, value: float | None) -> str:
    """Return a mean of `metric` with its unit, `not measured` where there is none.

    Examples
    --------
    >>> level("accuracy", 0.617), level("cost_usd", None)
    ('61.7 %', 'not measured')
    """
    if not _is_number(value):
        return NOT_MEASURED
    scale = scale_of(metric)
    shown = value * scale.factor
    return f"{_number(shown, _decimals(scale, shown))}{scale.unit}"


def change(metric: Metric, value: float | None, *, unit: bool = True) -> str:
    """Return a difference of `metric` with its sign and unit.

    Examples
    --------
    >>> change("accuracy", -0.0405)
    '−4.0 pp'
    """
    if not _is_number(value):
        return UNDEFINED
    scale = scale_of(metric)
    shown = value * scale.factor
    text = _signed(shown, _decimals(scale, shown))
    return f"{text}{scale.change_unit}" if unit else text


def interval(metric: Metric, low: float | None, high: float | None) -> str:
    """Return the interval of a difference, both ends with the same digits; no unit."""
    if not (_is_number(low) and _is_number(high)):
        return UNDEFINED
    scale = scale_of(metric)
    ends = (low * scale.factor, high * scale.factor)
    decimals = _decimals(scale, *ends)
    return f"[{_signed(ends[0], decimals)}, {_signed(ends[1], decimals)}]"


def p_value(p: float | None) -> str:
    """Return a probability with two or three significant digits; never 0.

    Examples
    --------
    >>> p_value(0.0364), p_value(6.11e-11), p_value(1.0)
    ('0.036', '6.1 × 10⁻¹¹', '1.00')
    """
    if not _is_number(p):
        return UNDEFINED
    if p == 0:
        return "< 10⁻³⁰⁰"
    if p >= 0.095:
        return f"{p:.2f}"
    if p >= 0.001:
        return f"{p:.{1 - math.floor(math.log10(p))}f}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def count(number: int | None) -> str:
    """Return a whole number with separators of thousands."""
    return UNDEFINED if number is None else f"{number:,}"


def of_planned(part: int, planned: int) -> str:
    """Return a numerator with its denominator: `58 / 60`."""
    return f"{part:,} / {planned:,}"


def percent(share: float | None, decimals: int = 1) -> str:
    """Return a share out of 1 as a percentage."""
    return f"{share * 100:.{decimals}f} %" if _is_number(share) else UNDEFINED


def seconds(value: float | None) -> str:
    """Return a span of time: seconds below a minute, then minutes, then hours.

    Examples
    --------
    >>> seconds(0.3921), seconds(101), seconds(7380)
    ('0.392 s', '1 min 41 s', '2 h 03 min')
    """
    if not _is_number(value):
        return NOT_MEASURED
    if abs(value) < 59.95:
        return f"{_number(value, _significant(value))} s"
    whole = round(value)
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02d} s"
    return f"{whole // 3600} h {whole % 3600 // 60:02d} min"


def moment(time_s: float | None) -> str:
    """Return a time in a video, in seconds from its start."""
    return f"{time_s:.1f} s" if _is_number(time_s) else "time not recorded"


def dollars(value: float | None) -> str:
    """Return an amount of money in US dollars, `not measured` where nobody reported it."""
    if not _is_number(value):
        return NOT_MEASURED
    decimals = 2 if value == 0 or abs(value) >= 1 else max(2, _significant(value))
    return f"{value:,.{decimals}f} USD"


def short_hash(sha256: str | None) -> str:
    """Return the first 12 digits of a hash, `unavailable` where it was not recorded."""
    return "unavailable" if not sha256 else sha256[:12]


def _is_number(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def _decimals(scale: Scale, *values: float) -> int:
    largest = max(abs(value) for value in values)
    if scale.decimals is None or 0 < largest < scale.finest:
        return _significant(*values)
    return scale.decimals


def _significant(*values: float) -> int:
    largest = max(abs(value) for value in values)
    return 2 if largest == 0 else min(6, max(0, 2 - math.floor(math.log10(largest))))


def _number(value: float, decimals: int) -> str:
    text = f"{abs(value):,.{decimals}f}"
    return f"{_MINUS}{text}" if value < 0 and float(text.replace(",", "")) != 0 else text


def _signed(value: float, decimals: int) -> str:
    text = _number(value, decimals)
    if text.startswith(_MINUS):
        return text
    return text if float(text.replace(",", "")) == 0 else f"+{text}"
