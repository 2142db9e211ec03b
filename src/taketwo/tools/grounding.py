"""When something happens: an observer looks at timestamped frames, then closer around what it found.

SAGE's released code asks for times of a cut clip and moves them by a heuristic, which is wrong where
a time inside the clip happens to exceed the start of the window. Here the frames carry their times
in the video, the reply is in a form, and a time is either inside the window or no find.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Protocol, Self

from pydantic import BaseModel, Field, model_validator

from taketwo.media.sampling import clamp_window, times_by_fps
from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.fencing import FENCE_RULE, fence
from taketwo.tools.seconds import Seconds
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.structured import Structured

__all__ = ["GROUNDING_PROMPT", "GroundedEvent", "Grounding", "Looking", "found_event"]

GROUNDING_PROMPT = f"""\
You find out when something happens in a video. You get a description of an event and frames of one
part of the video in their order, each after its time, as in [frame at 12.00 s]. Say whether the
frames show the event, and between which seconds.

- Times are seconds from the start of the whole video, as they stand before the frames. Do not count
  from the first frame that you get.
- start_s is the time of the first frame that shows the event and end_s that of the last one. A time
  between two frames is allowed where the frames speak for it.
- Of several occurrences take the one that fits the description best, the earliest of equal ones, and
  name the others in the description.
- Where no frame shows the event, found is false, and start_s and end_s are left out. Nobody needs a
  guess: a wrong time costs more than none.
- description says in one or two sentences what the frames show of the event, or what they show
  instead.

{FENCE_RULE}"""

_FINEST_FPS = 2.0
_FEWEST = 8
_CLOSE_ENOUGH_S = 1.0
"""Where the frames of the first look are at most this far apart, there is no second one."""
_LEAST_CLOSER = 4
_MAX_CHARACTERS = 2000


class Grounding(BaseModel):
    """The observer's reply: whether the event is seen, and between which seconds of the video."""

    found: bool
    start_s: Seconds | None = Field(default=None, description="seconds from the start of the video")
    end_s: Seconds | None = Field(default=None, description="seconds from the start of the video")
    description: str = Field(default="", description="what is seen of it, in a sentence or two")

    @model_validator(mode="after")
    def _has_times_in_order(self) -> Self:
        if not self.found:
            return self
        if self.start_s is None or self.end_s is None:
            raise ValueError("found is true, so start_s and end_s are needed")
        if self.end_s < self.start_s:
            raise ValueError(f"end_s {self.end_s:g} lies before start_s {self.start_s:g}")
        return self


@dataclass(frozen=True, kw_only=True)
class GroundedEvent:
    """Whether and when an event was seen.

    `start_s` and `end_s` are seconds of the video, inside the window that was asked about, and None
    where nothing was found. `description` is the observer's and untrusted. `frames` are all frames
    that it was shown, in order of time. `spacing_s` is how far apart the frames were from which the
    times come. `remark` says why nothing was found, or what to bear in mind of what was found.
    """

    found: bool
    start_s: float | None = None
    end_s: float | None = None
    description: str = ""
    frames: tuple[SeenFrame, ...] = ()
    spacing_s: float | None = None
    remark: str = ""


class Looking(Protocol):
    """How a search looks: it gets frames, and has the observer reply about them."""

    @property
    def duration_s(self) -> float:
        """Return the duration of the video in seconds."""
        ...

    def most_frames(self) -> int:
        """Return how many frames the next look may take; BudgetExhausted where none."""
        ...

    async def frames(self, times_s: Sequence[float]) -> tuple[SeenFrame, ...]:
        """Return the frames shown at some seconds."""
        ...

    async def ask(self, text: str, frames: Sequence[SeenFrame]) -> Structured[Grounding]:
        """Return the observer's reply about the frames."""
        ...


async def found_event(looking: Looking, event: str, start_s: float, end_s: float) -> GroundedEvent:
    """Return when `event` happens between two seconds, or that it was not seen, and why.

    The first look spreads its frames over the window. Where they are more than 1 s apart, a second
    one looks at both ends of what was found; a find that it does not confirm is none. No reply of
    the observer raises.

    Raises
    ------
    BudgetExhausted
        If the first look cannot be made.
    """
    if not event.strip():
        return GroundedEvent(found=False, remark="no event was named")
    try:
        start_s, end_s = clamp_window(start_s, end_s, looking.duration_s)
    except ValueError as error:
        return GroundedEvent(found=False, remark=str(error))
    wide = await _wide_look(looking, event, start_s, end_s)
    if wide.start_s is None or wide.end_s is None or wide.spacing_s is None:
        return wide if wide.remark else replace(wide, remark=_not_seen(wide))
    if wide.spacing_s <= _CLOSE_ENOUGH_S:
        return wide
    around = _Around(
        start_s=max(start_s, wide.start_s - wide.spacing_s),
        first_s=min(end_s, wide.start_s + wide.spacing_s),
        last_s=max(start_s, wide.end_s - wide.spacing_s),
        end_s=min(end_s, wide.end_s + wide.spacing_s),
    )
    try:
        return await _closer_look(looking, event, wide, around)
    except BudgetExhausted as error:
        return replace(wide, remark=f"{_coarse(wide)}: {error}")


@dataclass(frozen=True, kw_only=True)
class _Around:
    """Where a closer look is taken: from `start_s` to `first_s`, and from `last_s` to `end_s`."""

    start_s: float
    first_s: float
    last_s: float
    end_s: float

    def times_s(self, most: int) -> tuple[float, ...]:
        if self.first_s >= self.last_s:
            return times_by_fps(self.start_s, self.end_s, _FINEST_FPS, most)
        return (
            *times_by_fps(self.start_s, self.first_s, _FINEST_FPS, most // 2),
            *times_by_fps(self.last_s, self.end_s, _FINEST_FPS, most // 2),
        )


async def _wide_look(looking: Looking, event: str, start_s: float, end_s: float) -> GroundedEvent:
    fps = max(_FINEST_FPS, (_FEWEST - 1) / (end_s - start_s))
    frames = await looking.frames(times_by_fps(start_s, end_s, fps, looking.most_frames()))
    reply = await looking.ask(_request(event, start_s, end_s, looking.duration_s), frames)
    return _read(reply, frames, start_s, end_s)


async def _closer_look(
    looking: Looking, event: str, wide: GroundedEvent, around: _Around
) -> GroundedEvent:
    """Look at both ends of a find, one step of the wide look to either side."""
    most = looking.most_frames()
    if most < _LEAST_CLOSER:
        return replace(wide, remark=f"{_coarse(wide)}: the budget of frames is nearly used up")
    frames = await looking.frames(around.times_s(most))
    text = _request(event, around.start_s, around.end_s, looking.duration_s, is_closer=True)
    close = _read(await looking.ask(text, frames), frames, around.start_s, around.end_s)
    seen = _together(wide.frames, close.frames)
    if close.found:
        return replace(close, frames=seen)
    if close.remark:
        return replace(wide, frames=seen, remark=f"{_coarse(wide)}: {close.remark}")
    return GroundedEvent(
        found=False,
        description=close.description,
        frames=seen,
        remark=(
            f"seen at {wide.start_s or 0.0:.1f}-{wide.end_s or 0.0:.1f} s, but a closer look there "
            f"did not show it; {_coarse(wide)}"
        ),
    )


def _coarse(wide: GroundedEvent) -> str:
    return f"the times come from frames {wide.spacing_s or 0.0:.1f} s apart"


def _not_seen(wide: GroundedEvent) -> str:
    return f"the observer did not see it in {len(wide.frames)} frames"


def _request(
    event: str, start_s: float, end_s: float, duration_s: float, *, is_closer: bool = False
) -> str:
    where = (
        "They lie around the begin and the end of where it was seen before"
        if is_closer
        else "They are spread over this part"
    )
    return (
        f"Event:\n{fence('event', event)}\n\nThe frames come from {start_s:.1f} s to {end_s:.1f} s "
        f"of a video of {duration_s:.1f} s. {where}."
    )


def _read(
    reply: Structured[Grounding], frames: tuple[SeenFrame, ...], start_s: float, end_s: float
) -> GroundedEvent:
    """Return the find of one look; a remark only where the reply could not be used."""
    nothing = GroundedEvent(found=False, frames=frames)
    value = reply.value
    if value is None:
        return replace(
            nothing,
            remark=f"the observer gave no usable reply in {reply.asked} tries: {reply.problem}",
        )
    description = value.description[:_MAX_CHARACTERS]
    if not value.found or value.start_s is None or value.end_s is None:
        return replace(nothing, description=description)
    if value.end_s < start_s or value.start_s > end_s:
        return replace(
            nothing,
            description=description,
            remark=(
                f"the observer named {value.start_s:g}-{value.end_s:g} s, which lies outside the "
                f"window {start_s:g}-{end_s:g} s"
            ),
        )
    return GroundedEvent(
        found=True,
        start_s=max(start_s, value.start_s),
        end_s=min(end_s, value.end_s),
        description=description,
        frames=frames,
        spacing_s=_spacing_s(frames, start_s, end_s),
    )


def _spacing_s(frames: tuple[SeenFrame, ...], start_s: float, end_s: float) -> float:
    """Return the median distance of neighbouring frames in seconds; of one frame, its window."""
    steps = sorted(after.time_s - before.time_s for before, after in pairwise(frames))
    return steps[len(steps) // 2] if steps else end_s - start_s


def _together(first: Sequence[SeenFrame], second: Sequence[SeenFrame]) -> tuple[SeenFrame, ...]:
    by_time = {frame.time_s: frame for frame in (*first, *second)}
    return tuple(by_time[time] for time in sorted(by_time))
