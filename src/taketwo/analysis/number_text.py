"""How a metric's numbers are written: sign, unit, digits, and words where there is no number."""

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
    "change_in_words",
    "decimal_text",
    "interval",
    "is_number",
    "level",
    "p_value",
    "scale_of",
    "significant_decimals",
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


def _axis(label: str) -> Scale:
    """Return the scale of an axis of the trajectory judge, 0 to 2."""
    return Scale(label=label, unit="", change_unit="", decimals=2, better="higher")


_SCALES: Mapping[Metric, Scale] = MappingProxyType({
    "accuracy": Scale(
        label="Accuracy", unit=" %", change_unit=" pp", factor=100, decimals=1, better="higher"
    ),
    "trajectory_score": Scale(
        label="Trajectory score", unit="", change_unit="", decimals=3, better="higher"
    ),
    "mc_rate": Scale(
        label="Milestones reached",
        unit=" %",
        change_unit=" pp",
        factor=100,
        decimals=1,
        better="higher",
    ),
    "task_understanding": _axis("Task understanding"),
    "gt_evidence_coverage": _axis("Evidence coverage"),
    "evidence_grounding": _axis("Evidence grounding"),
    "evidence_completeness": _axis("Evidence completeness"),
    "reasoning_faithfulness": _axis("Reasoning faithfulness"),
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


_COUNTED: Mapping[Metric, tuple[str, str]] = MappingProxyType({
    "trajectory_score": ("point of trajectory score", "points of trajectory score"),
    "task_understanding": ("point of task understanding", "points of task understanding"),
    "gt_evidence_coverage": ("point of evidence coverage", "points of evidence coverage"),
    "evidence_grounding": ("point of evidence grounding", "points of evidence grounding"),
    "evidence_completeness": ("point of evidence completeness", "points of evidence completeness"),
    "reasoning_faithfulness": (
        "point of reasoning faithfulness",
        "points of reasoning faithfulness",
    ),
    "turns": ("turn", "turns"),
    "visible_calls": ("visible call", "visible calls"),
    "primitive_ops": ("primitive operation", "primitive operations"),
    "tokens": ("token", "tokens"),
})
"""What is counted, one and several, where a table's heading says it and a sentence has to."""


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
    if not is_number(value):
        return NOT_MEASURED
    scale = scale_of(metric)
    shown = value * scale.factor
    return f"{decimal_text(shown, _decimals(scale, shown))}{scale.unit}"


def change(metric: Metric, value: float | None, *, unit: bool = True) -> str:
    """Return a difference of `metric` with its sign and unit.

    Examples
    --------
    >>> change("accuracy", -0.0405)
    '−4.0 pp'
    """
    if not is_number(value):
        return UNDEFINED
    scale = scale_of(metric)
    shown = value * scale.factor
    text = _signed(shown, _decimals(scale, shown))
    return f"{text}{scale.change_unit}" if unit else text


def change_in_words(metric: Metric, value: float) -> str:
    """Return a difference of `metric` for running text: as in the tables, counts with what they count.

    Examples
    --------
    >>> change_in_words("visible_calls", -1.25), change_in_words("accuracy", 0.073)
    ('−1.25 visible calls', '+7.3 pp')
    """
    text = change(metric, value)
    if metric not in _COUNTED:
        return text
    one, several = _COUNTED[metric]
    number = text.lstrip(f"+{_MINUS}").replace(",", "")
    return f"{text} {one if is_number(value) and float(number) == 1 else several}"


def interval(metric: Metric, low: float | None, high: float | None) -> str:
    """Return the interval of a difference, both ends with the same digits; no unit."""
    if not (is_number(low) and is_number(high)):
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
    if not is_number(p):
        return UNDEFINED
    if p == 0:
        return "< 10⁻³⁰⁰"
    if p >= 0.095:
        return f"{p:.2f}"
    if p >= 0.001:
        return f"{p:.{1 - math.floor(math.log10(p))}f}"
    mantissa, exponent = f"{p:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_SUPERSCRIPT)}"


def is_number(value: float | None) -> TypeGuard[float]:
    """Return whether there is a finite number to write."""
    return value is not None and math.isfinite(value)


def _decimals(scale: Scale, *values: float) -> int:
    largest = max(abs(value) for value in values)
    if scale.decimals is None or 0 < largest < scale.finest:
        return significant_decimals(*values)
    return scale.decimals


def significant_decimals(*values: float) -> int:
    """Return the decimals that give the largest of the values three significant digits, at most 6."""
    largest = max(abs(value) for value in values)
    return 2 if largest == 0 else min(6, max(0, 2 - math.floor(math.log10(largest))))


def decimal_text(value: float, decimals: int) -> str:
    """Return a number with separators of thousands and a real minus; what rounds to 0 has no sign."""
    text = f"{abs(value):,.{decimals}f}"
    return f"{_MINUS}{text}" if value < 0 and float(text.replace(",", "")) != 0 else text


def _signed(value: float, decimals: int) -> str:
    text = decimal_text(value, decimals)
    if text.startswith(_MINUS):
        return text
    return text if float(text.replace(",", "")) == 0 else f"+{text}"
