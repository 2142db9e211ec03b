"""The clips of a video and what is known of each: position, seconds, description, speech, subjects.

A clip is its position in the video. Two clips with the same description are two clips, and one that
could not be described is there all the same and says why.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, StringConstraints

from taketwo.benchmarks.canonical import JsonValue

__all__ = [
    "FRAMES_PER_S",
    "Clip",
    "ClipCaption",
    "ClipWindow",
    "Subject",
    "SubjectRegistry",
    "clip_windows",
    "clock",
    "span",
]

FRAMES_PER_S = 2.0
"""Frames of a clip that its description is made of, per second of video."""

_MOST_SUBJECTS = 64
_WRITTEN = 600
_DESCRIBED = 12_000


def _as_text(value: object) -> object:
    """Let a number stand where a text is asked for; models write seconds as numbers."""
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return f"{value:g}" if is_number else value


Written = Annotated[str, BeforeValidator(_as_text), Field(max_length=_WRITTEN)]


class Subject(BaseModel):
    """Somebody or something that is seen."""

    model_config = ConfigDict(frozen=True)

    name: Written
    appearance: list[Written] = Field(default_factory=list[str])
    identity: list[Written] = Field(default_factory=list[str])
    first_seen: Written


class SubjectRegistry(BaseModel):
    """The subjects of a part of the video, by an id."""

    subject_registry: dict[str, Subject] = Field(max_length=_MOST_SUBJECTS)


class ClipCaption(BaseModel):
    """What a clip shows, in words."""

    clip_start_time: Written
    clip_end_time: Written
    subject_registry: dict[str, Subject] = Field(max_length=_MOST_SUBJECTS)
    clip_description: Annotated[
        str, StringConstraints(strip_whitespace=True, min_length=1, max_length=_DESCRIBED)
    ]


@dataclass(frozen=True, kw_only=True)
class ClipWindow:
    """A stretch of the video, from `start_s` up to, and without, `end_s` (seconds)."""

    position: int
    start_s: float
    end_s: float

    @property
    def times_s(self) -> tuple[float, ...]:
        """Return the seconds of the frames that it is described by: its start, then every half second."""
        steps = max(1, math.ceil((self.end_s - self.start_s) * FRAMES_PER_S - 1e-6))
        return tuple(round(self.start_s + step / FRAMES_PER_S, 6) for step in range(steps))


@dataclass(frozen=True, kw_only=True)
class Clip:
    """A clip in an index.

    `description` is None where there is none: `problem` says why, if there should have been one.
    `speech` is what is said while it lasts. `subjects` are those of its own description.
    """

    position: int
    start_s: float
    end_s: float
    description: str | None = None
    speech: str = ""
    problem: str | None = None
    subjects: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    @property
    def text(self) -> str:
        """Return everything that is known of it in words, as it is searched and shown."""
        said = f"Said: {self.speech}" if self.speech and self.description else self.speech
        return "\n".join(part for part in (self.description, said) if part)

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as JSON values."""
        return cast("dict[str, JsonValue]", asdict(self))

    @classmethod
    def from_json(cls, record: Mapping[str, JsonValue]) -> Clip:
        """Read what `to_json` wrote."""
        return cls(**cast("dict[str, str]", dict(record)))  # pyright: ignore[reportArgumentType] written by to_json


def clip_windows(duration_s: float, clip_s: float) -> tuple[ClipWindow, ...]:
    """Return the clips of a video, one after the other, the last one up to its end.

    What is left over after the last whole clip is a clip of its own, unless it is shorter than the
    step between two frames; then the clip before it is that much longer.

    Parameters
    ----------
    duration_s
        Duration of the video in seconds.
    clip_s
        Length of a clip in seconds.

    Examples
    --------
    >>> [(window.start_s, window.end_s) for window in clip_windows(24.0, 10.0)]
    [(0.0, 10.0), (10.0, 20.0), (20.0, 24.0)]
    """
    count = max(1, math.ceil((duration_s - 1 / FRAMES_PER_S) / clip_s))
    return tuple(
        ClipWindow(
            position=position,
            start_s=round(position * clip_s, 6),
            end_s=round(duration_s if position == count - 1 else (position + 1) * clip_s, 6),
        )
        for position in range(count)
    )


def clock(time_s: float) -> str:
    """Return a second of the video as HH:MM:SS; parts of a second are left out.

    Examples
    --------
    >>> clock(3723.9)
    '01:02:03'
    """
    whole = math.floor(time_s + 1e-6)
    return f"{whole // 3600:02d}:{whole // 60 % 60:02d}:{whole % 60:02d}"


def span(start_s: float, end_s: float) -> str:
    """Return a stretch as `HH:MM:SS-HH:MM:SS`; an end inside a second is rounded up.

    Examples
    --------
    >>> span(20.0, 24.04)
    '00:00:20-00:00:25'
    """
    return f"{clock(start_s)}-{clock(math.ceil(end_s - 1e-6))}"
