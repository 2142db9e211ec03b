"""Durations as data sets write them: seconds, or texts such as 2:26."""

from __future__ import annotations

import math
import re
from typing import Annotated, cast

from pydantic import BeforeValidator
from pydantic_core import PydanticCustomError

from taketwo.benchmarks.row_fields import refuse_other_numbers
from taketwo.errors import InvalidQuestion

__all__ = ["WrittenDuration", "duration_of"]

_MOST_DIGITS = 12
_DURATION = re.compile(r"~?\s*(\d+)(?::(\d{1,2}))?(?::(\d{1,2}))?")


def duration_of(written: float | str | None) -> float | None:
    """Return a duration in seconds: a number, `s`, `m:s` or `h:m:s`, perhaps after `~`; else None.

    Raises
    ------
    InvalidQuestion
        If it has more digits than a number of seconds can have.
    """
    if isinstance(written, bool):
        return None
    if isinstance(written, (int, float)):
        return float(written) if written > 0 else None
    match = _DURATION.fullmatch((written or "").strip())
    if match is None:
        return None
    if len(match[1]) > _MOST_DIGITS:
        raise InvalidQuestion(
            f"field 'duration' is {written!r:.60}: more than {_MOST_DIGITS} digits; give the seconds"
        )
    parts = [int(part) for part in match.groups() if part is not None]
    seconds = float(sum(part * 60**place for place, part in enumerate(reversed(parts))))
    return seconds if seconds > 0 else None


def _duration(value: object) -> object:
    """Let texts pass, which `duration_of` reads, and finite numbers; a plain union would take more."""
    if value is None or isinstance(value, str):
        return value
    refuse_other_numbers(value)
    try:
        number = float(cast("float", value))
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not math.isfinite(number):
        raise PydanticCustomError("duration", "expected seconds, or a text such as 2:26")
    return number


WrittenDuration = Annotated[float | str | None, BeforeValidator(_duration)]
"""Finite seconds, or a text that `duration_of` reads."""
