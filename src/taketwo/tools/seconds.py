"""Seconds as models write them: numbers, `75.5`, `1:15`, `0:01:15`, with or without a unit."""

from __future__ import annotations

import math
import re
from typing import Annotated

from pydantic import BeforeValidator, Field

__all__ = ["Seconds"]

_UNIT = re.compile(r"\s*(?:s|sec|secs|second|seconds)\.?\s*$", re.IGNORECASE)


def _seconds(value: object) -> object:
    """Read clock times; everything else is left to the type."""
    if isinstance(value, bool):
        raise ValueError("a time is a number of seconds, not true or false")  # noqa: TRY004 pydantic explains a ValueError
    if not isinstance(value, str):
        return value
    text = _UNIT.sub("", value)
    if ":" not in text:
        return text
    parts = text.strip().split(":")
    if len(parts) > 3:
        return value
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        return value
    if not all(math.isfinite(number) and number >= 0 for number in numbers):
        return value
    if any(number >= 60 for number in numbers[1:]):
        return value
    return sum(number * 60**place for place, number in enumerate(reversed(numbers)))


Seconds = Annotated[float, BeforeValidator(_seconds), Field(allow_inf_nan=False)]
"""Finite seconds from the start of the video."""
