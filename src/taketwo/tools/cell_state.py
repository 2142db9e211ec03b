"""What an agent and its tools remember inside one cell, by type: frames seen, an index, handles of media.

Tools are data and keep nothing themselves; two cells never share a state.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

__all__ = ["CellState"]

_Kept = TypeVar("_Kept")


class CellState:
    """One object of each type, made at its first use."""

    def __init__(self) -> None:
        self._kept: dict[type[object], object] = {}

    def put(self, value: object) -> None:
        """Keep `value` as the one of its type, in place of an earlier one."""
        self._kept[type(value)] = value

    def find(self, kind: type[_Kept]) -> _Kept | None:
        """Return the object of exactly this type, or None."""
        return cast("_Kept | None", self._kept.get(kind))

    def get(self, kind: type[_Kept], make: Callable[[], _Kept] | None = None) -> _Kept:
        """Return the object of exactly this type; `make` (else the type itself) gives the first one."""
        if kind not in self._kept:
            self._kept[kind] = kind() if make is None else make()
        return cast("_Kept", self._kept[kind])
