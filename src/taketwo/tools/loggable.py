"""Text and JSON as a log can hold them: no lone surrogates, no NaN, no bottomless nesting, no megabytes.

What comes from a model is cleaned by this before anything keeps it. A value that needs no cleaning
is returned as it is, the same object.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping, Sequence
from typing import cast

from taketwo.benchmarks.canonical import JsonValue

__all__ = ["MAX_CHARACTERS", "MAX_DEPTH", "Cleaning", "loggable_json", "loggable_text"]

MAX_CHARACTERS = 200_000
"""Characters that are kept of one text: as many of its begin as of its end, with a notice between."""
MAX_DEPTH = 16
"""Objects and lists may stand in one another so often; the arguments of a call are the first."""

_MAX_VALUES = 50_000
_LEAST_CHARACTERS = 100  # of each further text, once four times MAX_CHARACTERS are used up
_MAX_NOTES = 10
_MAX_BITS = 1023  # whole numbers that a float can hold; JSON readers know no others


def loggable_text(text: str, limit: int = MAX_CHARACTERS) -> str:
    """Return `text` in at most about `limit` characters and without lone surrogates.

    The middle of a longer text gives way to a notice, so that its begin and the end, where an
    answer stands, are kept. A surrogate that is half of a pair is joined, a lone one becomes U+FFFD.
    """
    if len(text) > limit:
        half = limit // 2
        notice = f"\n[... {len(text) - 2 * half} characters were cut here ...]\n"
        text = f"{text[:half]}{notice}{text[len(text) - half :]}"
    if text.isascii():
        return text
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
    return text


def loggable_json(value: JsonValue) -> JsonValue:
    """Return `value` as a log can hold it; what had to give way is replaced by words."""
    return cast("JsonValue", Cleaning(depth=4 * MAX_DEPTH).json(value, "value"))


class Cleaning:
    """One pass over values of one origin; how much it keeps is counted over all of them.

    Attributes
    ----------
    notes : list of str
        What was changed, the first ten instances; cut texts with the SHA-256 of the whole.
    changes : int
        How often something was changed.
    losses : list of str
        The changes after which a value no longer means what it did: its nesting was cut, a number
        was not finite, a part was left out.
    """

    def __init__(self, *, depth: int = MAX_DEPTH) -> None:
        self.notes: list[str] = []
        self.changes = 0
        self.losses: list[str] = []
        self._depth = depth
        self._characters = 4 * MAX_CHARACTERS
        self._values = _MAX_VALUES

    def text(self, value: str, where: str, limit: int = MAX_CHARACTERS) -> str:
        """Return `value` as a log can hold it."""
        if len(value) <= _LEAST_CHARACTERS and value.isascii():
            return value  # nearly all texts, so this comes first
        limit = min(limit, max(_LEAST_CHARACTERS, self._characters))
        self._characters -= min(limit, len(value))
        clean = loggable_text(value, limit)
        if clean is value:
            return value
        raw = hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()
        done = f"cut to {limit}" if len(value) > limit else "lone surrogates replaced"
        self.note(f"{where:.80}: {len(value)} characters, {done} (sha256 {raw})")
        return clean

    def json(self, value: object, where: str, depth: int = 0) -> object:
        """Return a JSON value as a log can hold it; what is no JSON is left to the engine."""
        self._values -= 1
        if isinstance(value, str):
            is_short = len(value) <= _LEAST_CHARACTERS and value.isascii()
            return value if is_short else self._json_text(value, where)
        if value is None or isinstance(value, bool):
            return value
        if isinstance(value, int):
            if value.bit_length() <= _MAX_BITS:
                return value
            return self._lose(f"a whole number of {value.bit_length()} bits", where)
        if isinstance(value, float):
            return value if math.isfinite(value) else self._lose(f"the number {value}", where)
        if isinstance(value, Mapping):
            return self._mapping(cast("Mapping[object, object]", value), where, depth)
        if isinstance(value, (list, tuple)):
            return self._sequence(cast("Sequence[object]", value), where, depth)
        return value

    def note(self, text: str) -> None:
        """Count a change and remember it, if it is among the first."""
        self.changes += 1
        if len(self.notes) < _MAX_NOTES:
            self.notes.append(text)

    def take_losses(self) -> list[str]:
        """Return the losses so far and forget them."""
        taken, self.losses = self.losses, []
        return taken

    def _json_text(self, value: str, where: str) -> str:
        clean = self.text(value, where)
        if clean is not value and len(value) > len(clean):
            self.losses.append(f"{where:.80}: a text of {len(value)} characters")
        return clean

    def _mapping(self, value: Mapping[object, object], where: str, depth: int) -> object:
        if depth >= self._depth:
            return self._lose(f"values nested more than {self._depth} deep", where)
        kept: dict[object, object] = {}
        is_same = True
        for name, item in value.items():
            if self._values <= 0:
                self._lose(f"more than {_MAX_VALUES} values", where)
                is_same = False
                break
            clean_name = self._json_text(name, where) if isinstance(name, str) else name
            clean = self.json(item, where if depth else str(clean_name), depth + 1)
            is_same = is_same and clean is item and clean_name is name
            kept[clean_name] = clean
        return value if is_same else kept

    def _sequence(self, value: Sequence[object], where: str, depth: int) -> object:
        if depth >= self._depth:
            return self._lose(f"values nested more than {self._depth} deep", where)
        kept: list[object] = []
        is_same = True
        for item in value:
            if self._values <= 0:
                self._lose(f"more than {_MAX_VALUES} values", where)
                is_same = False
                break
            clean = self.json(item, where, depth + 1)
            is_same = is_same and clean is item
            kept.append(clean)
        return value if is_same else kept

    def _lose(self, what: str, where: str) -> str:
        """Count a loss and return the words that stand for what was lost."""
        self.note(f"{where:.80}: {what}")
        if len(self.losses) < _MAX_NOTES:
            self.losses.append(f"{where:.80}: {what}")
        return f"[{what}]"
