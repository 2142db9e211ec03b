"""Which parts of a video one look of AVP shows, and at which seconds: arithmetic only.

Parts that overlap or touch become one. Parts that lie apart stay apart, however much of the video
they span together; a list of parts is never replaced by the whole video.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from taketwo.media.sampling import times_by_fps
from taketwo.tools.tool_failure import ToolFailure

__all__ = ["MAX_FPS", "MIN_FPS", "Sample", "Shown", "Span", "allowed_fps", "sampled", "shown_spans"]

MIN_FPS, MAX_FPS = 0.1, 5.0
"""Frames per second that a plan may ask for."""

Span = tuple[float, float]
"""Start and end in seconds, the start before the end."""

_POINT_S = 1.0
_SMALLEST_STEP_S = 1e-3
_MOST_REMARKS = 5


@dataclass(frozen=True, kw_only=True)
class Shown:
    """The parts that are shown, in the order of time and apart from one another, and what was changed."""

    spans: tuple[Span, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Sample:
    """The seconds at which frames are taken.

    `wanted` is how many frames the rate asks for, `fps` the frames per second that are left of it
    over all `spans`, which lack the parts that no frame was left for.
    """

    times_s: tuple[float, ...]
    spans: tuple[Span, ...]
    wanted: int
    fps: float
    remarks: tuple[str, ...] = ()


def allowed_fps(fps: float) -> tuple[float, str | None]:
    """Return the rate inside 0.1 to 5 frames per second, and a remark where it had to be moved."""
    allowed = min(MAX_FPS, max(MIN_FPS, fps))
    if allowed == fps:
        return fps, None
    return allowed, f"fps {fps:g} was moved to {allowed:g} (allowed are {MIN_FPS:g} to {MAX_FPS:g})"


def shown_spans(regions: Sequence[Sequence[float]], duration_s: float) -> Shown:
    """Return the parts of a video that a plan names.

    Parameters
    ----------
    regions
        Pairs of start and end in seconds, in any order. A point becomes the second after it (at the
        end of the video the second before it); what reaches beyond the video is cut off.
    duration_s
        Duration of the video in seconds.

    Raises
    ------
    ToolFailure
        With code `invalid_window` where nothing of the video is left.

    Examples
    --------
    >>> shown_spans([[20, 40], [0, 2], [1, 3]], duration_s=24.0).spans
    ((0.0, 3.0), (20.0, 24.0))
    """
    found: list[Span] = []
    remarks: list[str] = []
    for region in regions:
        start_s, end_s = float(region[0]), float(region[1])
        span, remark = _inside(start_s, end_s, duration_s)
        if span is not None:
            found.append(span)
        if remark is not None:
            remarks.append(remark)
    if not found:
        raise ToolFailure(
            "invalid_window",
            f"nothing of the video, which runs from 0 to {duration_s:g} s, is in the regions: "
            f"{'; '.join(remarks[:_MOST_REMARKS]) or 'there are none'}",
            retryable=True,
        )
    return Shown(spans=_merged(found), remarks=_few(remarks))


def sampled(spans: Sequence[Span], fps: float, most: int) -> Sample:
    """Return the seconds at which frames of `spans` are taken, both ends of each among them.

    Where the rate asks for more than `most` frames, it is lowered over all parts alike. Where there
    are not two frames for each part, the last parts are left out, which is said.

    Parameters
    ----------
    spans
        Parts that do not overlap, in the order of time.
    fps
        Frames per second, above 0.
    most
        The most frames, at least 1.

    Examples
    --------
    >>> sampled([(0.0, 2.0), (20.0, 22.0)], fps=4.0, most=6).times_s
    (0.0, 1.0, 2.0, 20.0, 21.0, 22.0)
    """
    kept = tuple(spans)
    remarks: tuple[str, ...] = ()
    if most < 2 * len(kept):
        kept = kept[: max(1, most // 2)]
        if len(kept) < len(spans):
            remarks = (
                f"{len(spans) - len(kept)} of {len(spans)} parts are not shown: one look takes at "
                f"most {most} frames",
            )
    wanted = [_wanted(span, fps) for span in kept]
    times_s: list[float] = []
    for span, share in zip(kept, _shares(wanted, most), strict=True):
        times_s += times_by_fps(*span, fps, cap=share)
    seconds = sum(end_s - start_s for start_s, end_s in kept)
    steps = len(times_s) - len(kept)
    return Sample(
        times_s=tuple(times_s),
        spans=kept,
        wanted=sum(_wanted(span, fps) for span in spans),
        fps=fps if steps < 1 else min(fps, steps / seconds),
        remarks=remarks,
    )


def _inside(start_s: float, end_s: float, duration_s: float) -> tuple[Span | None, str | None]:
    """Return what of a region lies in the video, and a remark where that is not all of it."""
    said = f"{start_s:g}-{end_s:g} s"
    if end_s < start_s:
        return None, f"{said} ends before it starts and was left out"
    if start_s >= duration_s + (_SMALLEST_STEP_S if start_s == end_s else 0.0) or end_s < 0:
        return None, f"{said} lies outside the video and was left out"
    first, last = max(0.0, start_s), min(duration_s, end_s)
    if last - first < _SMALLEST_STEP_S:
        first = max(0.0, min(first, duration_s - _POINT_S))
        last = min(duration_s, first + _POINT_S)
        return (first, last), f"{said} is a point and was widened to {first:g}-{last:g} s"
    if (first, last) == (start_s, end_s):
        return (first, last), None
    return (first, last), f"{said} was cut to {first:g}-{last:g} s"


def _merged(spans: Sequence[Span]) -> tuple[Span, ...]:
    joined: list[Span] = []
    for start_s, end_s in sorted(spans):
        if joined and start_s <= joined[-1][1] + _SMALLEST_STEP_S:
            joined[-1] = (joined[-1][0], max(joined[-1][1], end_s))
        else:
            joined.append((start_s, end_s))
    return tuple(joined)


def _wanted(span: Span, fps: float) -> int:
    """Return how many frames a rate takes of a part: its grid from the start on, and the end."""
    steps = (span[1] - span[0]) * fps
    whole = math.floor(steps + 1e-6)
    return max(2, whole + 1 + ((steps - whole) / fps > _SMALLEST_STEP_S))


def _shares(wanted: Sequence[int], most: int) -> list[int]:
    """Return how many frames each part gets: two, and of the rest in proportion to what it wants."""
    if sum(wanted) <= most:
        return list(wanted)
    if most < 2 * len(wanted):
        return [most]
    rest, more = most - 2 * len(wanted), sum(wanted) - 2 * len(wanted)
    return [2 + rest * (count - 2) // more for count in wanted]


def _few(remarks: Sequence[str]) -> tuple[str, ...]:
    if len(remarks) <= _MOST_REMARKS:
        return tuple(remarks)
    return (*remarks[:_MOST_REMARKS], f"and {len(remarks) - _MOST_REMARKS} more such regions")
