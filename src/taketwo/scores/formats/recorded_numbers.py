"""The numbers that other people's runs recorded: amounts, so neither negative nor infinite."""

from __future__ import annotations

import math
from collections.abc import Iterable

from taketwo.executions.log_json import Json

__all__ = ["amount_problems"]


def amount_problems(record: Json, names: Iterable[str], *, place: str = "") -> list[str]:
    """Return what is wrong with the named amounts of a record, each with its field.

    A field that is not there or holds no number is none of them. `place` is where the record stands
    in its file, `tokens.` for instance.

    Examples
    --------
    >>> amount_problems({"calls": -1, "retries": 0}, ("calls", "retries"), place="tokens.")
    ["field 'tokens.calls' is negative, expected 0 or more"]
    """
    return [
        f"field {f'{place}{name}'!r} is {told}, expected 0 or more"
        for name in names
        if (told := _told(record.get(name))) is not None
    ]


def _told(value: object) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    try:
        found = float(value)
    except OverflowError:
        return "beyond any amount"
    if not math.isfinite(found):
        return "no finite number"
    return "negative" if found < 0 else None
