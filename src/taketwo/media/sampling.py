"""Which seconds of a video to look at: arithmetic only, no file is opened.

Times are float seconds from the first video timestamp. Every function returns strictly increasing
times that cover both ends of the window, because the last second of a window holds the answer as
often as the first.
"""

from __future__ import annotations

import math

__all__ = ["clamp_window", "times_by_count", "times_by_fps"]

_SMALLEST_STEP_S = 1e-3
"""Frames less than this apart are the same frame to `frames_at`."""


def times_by_count(start_s: float, end_s: float, count: int) -> tuple[float, ...]:
    """Return `count` times spread evenly over a window, both ends among them.

    Parameters
    ----------
    start_s, end_s : float
        The window in seconds, `start_s <= end_s`.
    count : int
        How many times, at least 1. One time is the middle of the window. A window too short for
        `count` times at least 1 ms apart gives fewer.

    Raises
    ------
    ValueError
        The window is not finite or ends before it starts, or `count` is below 1.

    Examples
    --------
    >>> times_by_count(0.0, 9.0, 4)
    (0.0, 3.0, 6.0, 9.0)
    """
    start_s, end_s = _window(start_s, end_s)
    if count < 1:
        raise ValueError(f"a sample needs at least 1 frame, got count={count}")
    if count == 1:
        return (round((start_s + end_s) / 2, 6),)
    fitting = math.floor((end_s - start_s) / _SMALLEST_STEP_S + 1e-9) + 1
    steps = min(count, fitting) - 1
    if steps == 0:
        return (start_s,)
    inner = (round(start_s + (end_s - start_s) * i / steps, 6) for i in range(1, steps))
    return (start_s, *inner, end_s)


def times_by_fps(start_s: float, end_s: float, fps: float, cap: int) -> tuple[float, ...]:
    """Return times `1 / fps` apart over a window, both ends among them, at most `cap`.

    The grid starts at `start_s`; where it does not meet the end, `end_s` is added. More than `cap`
    times are replaced by `cap` evenly spread ones.

    Parameters
    ----------
    start_s, end_s : float
        The window in seconds, `start_s <= end_s`.
    fps : float
        Frames per second of the sample, above 0; more than 1000 counts as 1000.
    cap : int
        The most times to return, at least 1.

    Raises
    ------
    ValueError
        The window is not finite or ends before it starts, `fps` is not above 0, or `cap` is
        below 1.

    Examples
    --------
    >>> times_by_fps(0.0, 2.5, 1.0, cap=10)
    (0.0, 1.0, 2.0, 2.5)
    >>> times_by_fps(0.0, 100.0, 1.0, cap=3)
    (0.0, 50.0, 100.0)
    """
    start_s, end_s = _window(start_s, end_s)
    if not (math.isfinite(fps) and fps > 0):
        raise ValueError(f"frames per second must be a finite number above 0, got fps={fps}")
    if cap < 1:
        raise ValueError(f"a sample needs at least 1 frame, got cap={cap}")
    fps = min(fps, 1 / _SMALLEST_STEP_S)
    steps = (end_s - start_s) * fps
    if steps >= cap:
        return times_by_count(start_s, end_s, cap)
    grid = [start_s, *(round(start_s + i / fps, 6) for i in range(1, math.floor(steps + 1e-6) + 1))]
    if end_s - grid[-1] > _SMALLEST_STEP_S:
        grid.append(end_s)
    elif len(grid) > 1:
        grid[-1] = end_s
    return tuple(grid) if len(grid) <= cap else times_by_count(start_s, end_s, cap)


def clamp_window(
    start_s: float | None, end_s: float | None, duration_s: float
) -> tuple[float, float]:
    """Return the part of a requested window that lies inside a video.

    Parameters
    ----------
    start_s, end_s : float or None
        The window as asked for; None means the start or the end of the video. A negative start
        becomes 0, an end beyond the video becomes its duration.
    duration_s : float
        Duration of the video in seconds.

    Raises
    ------
    ValueError
        Nothing is left: a number is not finite, the window is empty, or it starts after the end
        of the video. The message names the numbers and is fit for a model to read.

    Examples
    --------
    >>> clamp_window(5.0, 99.0, duration_s=24.0)
    (5.0, 24.0)
    """
    start = 0.0 if start_s is None else float(start_s)
    end = duration_s if end_s is None else float(end_s)
    if not (math.isfinite(start) and math.isfinite(end)):
        raise ValueError(f"start and end must be finite seconds, got {start} and {end}")
    if start > duration_s or (start == duration_s and duration_s > 0):
        raise ValueError(
            f"the window starts at {start:g} s, but the video lasts {duration_s:g} s; "
            f"ask for a start below {duration_s:g}"
        )
    if start >= end:
        raise ValueError(
            f"the window from {start:g} s to {end:g} s is empty; the end must be after the start"
        )
    start, end = max(0.0, start), min(end, duration_s)
    if start >= end:
        raise ValueError(
            f"the window from {start_s} s to {end_s} s holds nothing of the video, "
            f"which runs from 0 to {duration_s:g} s"
        )
    return start, end


def _window(start_s: float, end_s: float) -> tuple[float, float]:
    if not (math.isfinite(start_s) and math.isfinite(end_s)):
        raise ValueError(f"a window needs finite seconds, got {start_s} to {end_s}")
    if end_s < start_s:
        raise ValueError(f"the window ends before it starts: {start_s:g} s to {end_s:g} s")
    return float(start_s), float(end_s)
