"""Fields of rows that others wrote: which values are numbers, and what is wrong in words of the file."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field, ValidationError
from pydantic_core import PydanticCustomError

from taketwo.benchmarks.local_rows import WrittenFloat, no_numbers

__all__ = [
    "FiniteJson",
    "JsonText",
    "NumberText",
    "WholeNumber",
    "WrittenNumber",
    "described_problems",
    "number_as_text",
    "refuse_other_numbers",
]

_LISTED = 10
_NUMBER = re.compile(r"\s*[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?\s*")


def refuse_other_numbers(value: object) -> object:
    """Let numbers pass and texts of digits, as CSV has them; refuse what would become a number.

    Truth values would count as 1 and 0, `1_000` as 1000.
    """
    if isinstance(value, bool):
        raise PydanticCustomError("truth_value", "a truth value is no number")
    if isinstance(value, str) and not _NUMBER.fullmatch(value):
        raise PydanticCustomError("written_number", "expected a number, such as 12 or 12.5")
    return value


def number_as_text(value: object) -> object:
    """Let a number be the text that it was written as; anything else passes, truth values and NaN too."""
    if isinstance(value, WrittenFloat):
        return value.written
    if isinstance(value, float) and not math.isfinite(value):
        return value
    return str(value) if isinstance(value, (int, float)) and not isinstance(value, bool) else value


def _json_text(value: object) -> object:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(_finite_json(value), ensure_ascii=False)


def _finite_json(value: object) -> object:
    """Refuse NaN and infinities, also inside of lists and objects: JSON has none, so nothing was meant."""
    if no_numbers(value):
        raise PydanticCustomError("no_number", "it holds NaN or an infinity; leave it out")
    return value


NumberText = Annotated[str, BeforeValidator(number_as_text)]
"""A text, or a number as it was written."""
FiniteJson = Annotated[object, BeforeValidator(_finite_json)]
"""Anything that JSON can say."""
JsonText = Annotated[str, BeforeValidator(_json_text)]
"""A text; null is an empty one, and anything else is its JSON."""
WrittenNumber = Annotated[float, BeforeValidator(refuse_other_numbers), Field(allow_inf_nan=False)]
"""A finite number, or its digits."""
WholeNumber = Annotated[int, BeforeValidator(refuse_other_numbers)]
"""A whole number, or its digits."""


def described_problems(
    error: ValidationError, known: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Return what is wrong with the fields of a row, each by its path in the row and what stands there.

    Parameters
    ----------
    error
        What checking the row raised.
    known
        The fields of the row under an empty name, and those of the objects in a list under the
        field of the list; for rows that may have no others.
    """
    described: list[str] = []
    for problem in error.errors(include_url=False)[:_LISTED]:
        where = ".".join(map(str, problem["loc"]))
        if problem["type"] == "missing":
            described.append(f"field {where!r:.80} is missing")
        elif problem["type"] == "extra_forbidden":
            inside = str(problem["loc"][0]) if len(problem["loc"]) > 1 else ""
            fields = (known or {}).get(inside, ())
            own = "; labels of your own go into 'attributes'" if "attributes" in fields else ""
            described.append(f"unknown field {where!r:.80}; known are {', '.join(fields)}{own}")
        else:
            described.append(f"field {where!r:.80} is {problem['input']!r:.60}: {problem['msg']}")
    return described
