"""The frames that STAR has made visible, and what was found out about each of them.

Published code deletes frames with their answers when a grid is narrowed and overwrites pictures when
a patch is enlarged. Here nothing is lost: a frame leaves the focus and keeps its answers, a crop
stands in for a picture and the whole picture stays, and every answer says which view it is about.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from typing import TypeVar

from taketwo.tools.seen_frames import SeenFrame

__all__ = [
    "WHOLE",
    "Crop",
    "FrameAnswer",
    "Observation",
    "StarState",
    "VisibleFrame",
    "VisibleFrames",
    "evenly",
    "timed_lines",
]

WHOLE = "whole frame"
"""The view of a frame that was not cropped."""

_SAME_S = 1e-3
_GAP_S = 1.0
_Item = TypeVar("_Item")


def evenly(items: Sequence[_Item], count: int) -> tuple[_Item, ...]:
    """Return at most `count` of `items`, evenly spread, both ends among them.

    Examples
    --------
    >>> evenly((1, 2, 3, 4, 5), 3)
    (1, 3, 5)
    """
    if len(items) <= count:
        return tuple(items)
    if count == 1:
        return (items[len(items) // 2],)
    return tuple(items[round(i * (len(items) - 1) / (count - 1))] for i in range(max(0, count)))


def timed_lines(said: Sequence[tuple[float, str]]) -> list[str]:
    """Return one line for each run of equal texts, with its seconds and number of frames.

    Examples
    --------
    >>> timed_lines([(1.0, "red"), (2.0, "red"), (3.0, "blue")])
    ['[1.0-2.0 s, 2 frames] red', '[3.0 s] blue']
    """
    lines: list[str] = []
    for text, run in groupby(sorted(said), key=lambda item: " ".join(item[1].split())):
        times = [time_s for time_s, _ in run]
        first, last = f"{times[0]:.1f}", f"{times[-1]:.1f}"
        where = f"{first} s" if len(times) == 1 else f"{first}-{last} s, {len(times)} frames"
        lines.append(f"[{where}] {text}")
    return lines


@dataclass(frozen=True, kw_only=True)
class Crop:
    """An enlarged part of a frame: which patch, and its pixels, cut out of the frame at full size."""

    patch: str
    picture: SeenFrame


@dataclass(frozen=True, kw_only=True)
class FrameAnswer:
    """What one frame was said to show, and in which view it was asked."""

    question: str
    answer: str
    view: str


@dataclass(kw_only=True)
class VisibleFrame:
    """A visible frame.

    `origin` says which tool brought it at which step. `notes` are descriptions by what they
    describe (`caption`, `text on screen`, `count of ball`). A frame outside the focus is not shown
    to tools until the focus is widened.
    """

    whole: SeenFrame
    origin: str
    in_focus: bool = True
    crop: Crop | None = None
    notes: dict[str, str] = field(default_factory=dict[str, str])
    answers: list[FrameAnswer] = field(default_factory=list[FrameAnswer])

    @property
    def time_s(self) -> float:
        """Return the presentation time in seconds."""
        return self.whole.time_s

    @property
    def view(self) -> str:
        """Return which part of the frame the next look shows."""
        return WHOLE if self.crop is None else self.crop.patch

    @property
    def shown(self) -> SeenFrame:
        """Return the picture that the next look shows."""
        return self.whole if self.crop is None else self.crop.picture

    def has_answered(self, question: str) -> bool:
        """Return whether exactly this was asked of the present view."""
        return any(a.question == question and a.view == self.view for a in self.answers)


class VisibleFrames:
    """Visible frames in order of time, each once, at most `cap`."""

    def __init__(self, cap: int) -> None:
        self.cap = cap
        self._frames: list[VisibleFrame] = []

    @property
    def all(self) -> tuple[VisibleFrame, ...]:
        """Return every frame, those outside the focus included."""
        return tuple(self._frames)

    @property
    def focused(self) -> tuple[VisibleFrame, ...]:
        """Return the frames that tools look at."""
        return tuple(frame for frame in self._frames if frame.in_focus)

    @property
    def room(self) -> int:
        """Return how many further frames may become visible."""
        return max(0, self.cap - len(self._frames))

    def at(self, time_s: float) -> VisibleFrame | None:
        """Return the frame of this time, up to 1 ms."""
        return next((f for f in self._frames if abs(f.time_s - time_s) < _SAME_S), None)

    def add(self, frames: Iterable[SeenFrame], origin: str) -> tuple[VisibleFrame, ...]:
        """Make `frames` visible while there is room and return those that were not yet.

        One that is visible already comes into the focus.
        """
        added: list[VisibleFrame] = []
        for seen in frames:
            known = self.at(seen.time_s)
            if known is not None:
                known.in_focus = True
            elif self.room:
                added.append(VisibleFrame(whole=seen, origin=origin))
                self._frames.append(added[-1])
        self._frames.sort(key=lambda frame: frame.time_s)
        return tuple(added)

    def narrow(self, start_s: float, end_s: float) -> None:
        """Put the focus on the frames between two seconds, both included; the others are kept."""
        for frame in self._frames:
            frame.in_focus = start_s - _SAME_S <= frame.time_s <= end_s + _SAME_S

    def include(self, start_s: float, end_s: float) -> None:
        """Take the frames between two seconds into the focus, both included."""
        for frame in self._frames:
            if start_s - _SAME_S <= frame.time_s <= end_s + _SAME_S:
                frame.in_focus = True

    def widen(self) -> None:
        """Put the focus on all frames again."""
        for frame in self._frames:
            frame.in_focus = True

    def gaps(self, duration_s: float) -> tuple[tuple[float, float], ...]:
        """Return the unseen segments: stretches of more than 1 s without a visible frame."""
        edges = [0.0, *(frame.time_s for frame in self._frames), duration_s]
        return tuple((start, end) for start, end in pairwise(edges) if end - start > _GAP_S)


@dataclass(frozen=True, kw_only=True)
class Observation:
    """What a tool was asked and said, and the parts of the video that it looked at, in seconds."""

    step: int
    tool: str
    kind: str
    input: str
    output: str
    ranges: tuple[tuple[float, float], ...]


class StarState:
    """What STAR and its tools remember in one cell.

    `start_frames` is how many frames are visible at first, `max_side` their longer side in pixels.
    `step` is the number of the running tool call and `ranges` what it looked at so far.
    """

    def __init__(
        self, *, start_frames: int = 16, max_frames: int = 64, max_side: int = 640
    ) -> None:
        self.frames = VisibleFrames(max_frames)
        self.start_frames = min(start_frames, max_frames)
        self.max_side = max_side
        self.step = 0
        self.log: list[Observation] = []
        self.ranges: list[tuple[float, float]] = []

    def looked(self, start_s: float, end_s: float) -> None:
        """Note that the running call looked at a part of the video."""
        self.ranges.append((start_s, end_s))
