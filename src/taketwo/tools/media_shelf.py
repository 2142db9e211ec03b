"""Frames of a cell by name, so that a model can hand on what it has seen without naming a file."""

from __future__ import annotations

import re
from collections.abc import Iterable

from taketwo.tools.seen_frames import SeenFrame

__all__ = ["MediaShelf", "in_time_order"]

_ONE_FRAME = re.compile(r"(.+?)\s*(?:[#/]\s*(\d{1,6})|\[\s*(\d{1,6})\s*\])")


class MediaShelf:
    """What was extracted so far; lives in the `CellState` of one cell.

    Frames that were put here together have one name, `frames_1`, `frames_2`, ...; one of them alone
    is `frames_1#3`, counted from 1.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[SeenFrame, ...]] = {}

    def put(self, frames: Iterable[SeenFrame]) -> str:
        """Keep frames and return their name."""
        name = f"frames_{len(self._kept) + 1}"
        self._kept[name] = tuple(frames)
        return name

    def find(self, name: str) -> tuple[SeenFrame, ...] | None:
        """Return the frames of a name, or of one frame of it; None where there are none."""
        wanted = name.strip()
        if wanted in self._kept:
            return self._kept[wanted]
        match = _ONE_FRAME.fullmatch(wanted)
        if match is None or match[1] not in self._kept:
            return None
        number = int(match[2] or match[3])
        frames = self._kept[match[1]]
        return (frames[number - 1],) if 1 <= number <= len(frames) else None

    @property
    def names(self) -> tuple[str, ...]:
        """Return all names, in the order in which they were given."""
        return tuple(self._kept)

    @property
    def latest(self) -> str | None:
        """Return the name that was given last."""
        return self.names[-1] if self._kept else None


def in_time_order(frames: Iterable[SeenFrame]) -> tuple[SeenFrame, ...]:
    """Return frames by their time, each picture of a time once."""
    by_key = {(frame.time_s, frame.sha256): frame for frame in frames}
    return tuple(by_key[key] for key in sorted(by_key))
