"""One byte string for equal records, so that equal things have equal hashes."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence

__all__ = ["JsonValue", "canonical_json", "sha256_of", "sha256_of_text"]

JsonValue = None | bool | int | float | str | Sequence["JsonValue"] | Mapping[str, "JsonValue"]


def canonical_json(value: JsonValue) -> bytes:
    """Return the UTF-8 JSON of `value`: keys sorted, no spaces, no NaN.

    Raises
    ------
    ValueError
        If a float is not finite.
    TypeError
        If a value has no JSON form.
    """
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode("utf-8", "surrogatepass")


def sha256_of(value: JsonValue) -> str:
    """Return the hex SHA-256 of the canonical JSON of `value`."""
    return hashlib.sha256(canonical_json(value)).hexdigest()


def sha256_of_text(text: str) -> str:
    """Return the hex SHA-256 of the UTF-8 bytes of `text`."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
