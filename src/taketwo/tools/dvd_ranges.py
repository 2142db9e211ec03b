"""Time ranges as a model writes them, brought into the video, and the seconds to look at in them."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, cast

from pydantic import BeforeValidator, Field, WithJsonSchema

from taketwo.media.sampling import clamp_window
from taketwo.tools.clip_index import span
from taketwo.tools.seconds import Seconds
from taketwo.tools.tool_failure import ToolFailure

__all__ = ["RangesInVideo", "TimeRanges", "ranges_in_video", "times_in"]

_MOST = 100
_NAMED = 3
_SAMPLE_STEP_S = 1e-3
_DASHED = re.compile(r"^\s*(?P<start>[\d:.]+)\s*(?:-|\u2013|to)\s*(?P<end>[\d:.]+)\s*$")


def _ranges(value: object) -> object:
    """Read ranges in other shapes than a list of pairs: one pair, texts `a-b`, objects, JSON in a text."""
    if isinstance(value, str):
        dashed = _DASHED.match(value)
        if dashed is not None:
            return [[dashed["start"], dashed["end"]]]
        try:
            return _ranges(json.loads(value))
        except (ValueError, RecursionError):
            return value
    if not isinstance(value, list):
        return value
    items = cast("list[object]", value)
    if len(items) == 2 and not any(isinstance(item, (list, dict)) for item in items):
        texts = [item for item in items if isinstance(item, str) and _DASHED.match(item)]
        if not texts:
            return [items]
    return [_pair(item) for item in items]


def _pair(item: object) -> object:
    if isinstance(item, str) and (dashed := _DASHED.match(item)) is not None:
        return [dashed["start"], dashed["end"]]
    if isinstance(item, Mapping):
        record = cast("Mapping[str, object]", item)
        for start, end in (("start", "end"), ("start_time", "end_time")):
            if start in record and end in record:
                return [record[start], record[end]]
    return cast("object", item)


TimeRanges = Annotated[
    list[tuple[Seconds, Seconds]],
    BeforeValidator(_ranges),
    Field(min_length=1, max_length=_MOST),
    WithJsonSchema({
        "type": "array",
        "items": {"type": "array", "items": {"type": "string"}},
    }),
]
"""Pairs of start and end in seconds; shown to a model as pairs of texts HH:MM:SS."""


@dataclass(frozen=True, kw_only=True)
class RangesInVideo:
    """Ranges inside the video in seconds, in order, none touching another, and what was changed."""

    ranges: tuple[tuple[float, float], ...]
    notes: tuple[str, ...]

    @property
    def total_s(self) -> float:
        """Return how many seconds they cover."""
        return sum(end_s - start_s for start_s, end_s in self.ranges)

    def to_text(self) -> str:
        """Return them as `HH:MM:SS-HH:MM:SS, ...`."""
        return ", ".join(span(start_s, end_s) for start_s, end_s in self.ranges)


def ranges_in_video(asked: Sequence[tuple[float, float]], duration_s: float) -> RangesInVideo:
    """Return what of the ranges lies inside a video of `duration_s` seconds.

    A range that goes past the end is cut there; one that is empty or lies beyond the end is left
    out, and said to be.

    Raises
    ------
    ToolFailure
        With code `invalid_window` where nothing is left.
    """
    kept: list[tuple[float, float]] = []
    notes: list[str] = []
    refused: list[str] = []
    for start_s, end_s in asked:
        try:
            inside = clamp_window(start_s, end_s, duration_s)
        except ValueError as error:
            refused.append(str(error))
            continue
        kept.append(inside)
        if end_s - inside[1] > 1.0:
            notes.append(f"{span(start_s, end_s)} was cut at the end of the video")
        if start_s < inside[0]:
            notes.append(f"a start of {start_s:g} s was moved to 0 s")
    if not kept:
        more = f" (and {len(refused) - 1} more ranges like it)" if len(refused) > 1 else ""
        raise ToolFailure("invalid_window", f"{refused[0]}{more}", retryable=True)
    notes += [f"left out: {problem}" for problem in refused[:_NAMED]]
    if len(refused) > _NAMED:
        notes.append(f"and {len(refused) - _NAMED} more ranges were left out")
    return RangesInVideo(ranges=_joined(kept), notes=tuple(notes))


def times_in(ranges: Sequence[tuple[float, float]], count: int) -> tuple[float, ...]:
    """Return `count` seconds spread evenly over ranges put end to end, both ends among them.

    One second is the middle. Seconds less than 1 ms apart are one.

    Examples
    --------
    >>> times_in([(0.0, 2.0), (10.0, 12.0)], 5)
    (0.0, 1.0, 2.0, 11.0, 12.0)
    """
    total_s = sum(end_s - start_s for start_s, end_s in ranges)
    offsets = [total_s / 2] if count == 1 else [total_s * n / (count - 1) for n in range(count)]
    times: list[float] = []
    for offset in offsets:
        time_s = round(_at(ranges, offset), 6)
        if not times or time_s - times[-1] >= _SAMPLE_STEP_S:
            times.append(time_s)
    return tuple(times)


def _at(ranges: Sequence[tuple[float, float]], offset: float) -> float:
    for start_s, end_s in ranges:
        if offset <= end_s - start_s or math.isclose(offset, end_s - start_s):
            return min(end_s, start_s + offset)
        offset -= end_s - start_s
    return ranges[-1][1]


def _joined(ranges: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    joined: list[tuple[float, float]] = []
    for start_s, end_s in sorted(ranges):
        if joined and start_s <= joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end_s, joined[-1][1]))
        else:
            joined.append((start_s, end_s))
    return tuple(joined)
