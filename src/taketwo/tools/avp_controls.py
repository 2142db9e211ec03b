"""The controls of one look of AVP: which are left to the planner, and how many frames a look takes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

from pydantic import BaseModel, Field, create_model

from taketwo.media.video import VideoInfo
from taketwo.tools.avp_spans import MAX_FPS, MIN_FPS
from taketwo.tools.fixed_controls import FREE_CONTROLS, FixedControls
from taketwo.tools.seconds import Seconds
from taketwo.tools.video_tool import Resolution, max_side_of

__all__ = [
    "ChoosesFps",
    "ChoosesInterval",
    "ChoosesResolution",
    "ObservationSettings",
    "SpatialTokenRate",
    "free_controls_form",
    "most_frames",
]

SpatialTokenRate = Literal["low", "medium"]

_PIXELS_PER_TOKEN = 750


@dataclass(frozen=True, kw_only=True)
class ObservationSettings:
    """How one look works, whoever orders it.

    `frames_low` and `frames_medium` are the most frames of one look by resolution; sizes above
    medium count as medium. Above 0, `tokens` bounds a look by the tokens that its pictures are
    estimated to take instead, and the larger of the two numbers of frames still holds.
    `with_transcript` puts the speech of the parts before the observer, `with_goal` the planner's
    words on what the look is for. `asks` is how often a report that does not fit is sent back.
    """

    frames_low: int = 512
    frames_medium: int = 128
    tokens: int = 0
    with_transcript: bool = False
    with_goal: bool = False
    asks: int = 2
    fixed: FixedControls = FREE_CONTROLS


class ChoosesInterval(BaseModel):
    """Which parts of the video a look shows."""

    load_mode: Literal["uniform", "region"] = Field(
        description="uniform for the whole video, region for the spans in regions only"
    )
    regions: list[Annotated[list[Seconds], Field(min_length=2, max_length=2)]] = Field(
        default_factory=list[list[float]],
        description="Spans [start, end] in seconds; empty for uniform",
    )


class ChoosesFps(BaseModel):
    """How many frames a look shows."""

    # The limits are stated, and moved to with a remark where they are passed.
    fps: float = Field(
        allow_inf_nan=False,
        description=f"Frames per second, {MIN_FPS:g} to {MAX_FPS:g}",
        json_schema_extra={"minimum": MIN_FPS, "maximum": MAX_FPS},
    )


class ChoosesResolution(BaseModel):
    """How large the frames of a look are."""

    spatial_token_rate: SpatialTokenRate = Field(
        description="low for wide scans, medium for small things and text"
    )


@cache
def free_controls_form(base: type[BaseModel], fixed: FixedControls, name: str) -> type[BaseModel]:
    """Return `base` with a field for each control that is left to the planner.

    Such a form is an instance of `ChoosesInterval`, `ChoosesFps` or `ChoosesResolution` where it
    has the fields of it.
    """
    # Fields of the last base stand first in the form.
    bases: list[type[BaseModel]] = [base]
    for control, part in (
        ("interval", ChoosesInterval),
        ("fps", ChoosesFps),
        ("resolution", ChoosesResolution),
    ):
        if control not in fixed.fixed:
            bases.insert(0, part)
    return create_model(name, __base__=tuple(bases), __doc__=base.__doc__)


def most_frames(settings: ObservationSettings, video: VideoInfo, resolution: Resolution) -> int:
    """Return how many frames one look may take by its settings.

    Notes
    -----
    A picture of w x h pixels is taken to cost w h / 750 tokens (Anthropic, documentation of Claude,
    section Vision). Google states 66 and 258 tokens for a frame at its low and default resolution;
    320 x 180 and 640 x 360 pixels come to 77 and 308 by this rule. What a picture really costs is
    up to the observer's provider.
    """
    by_resolution = settings.frames_low if resolution == "low" else settings.frames_medium
    if settings.tokens <= 0:
        return by_resolution
    longer = max(video.width, video.height, 1)
    scale = min(1.0, max_side_of(resolution) / longer)
    tokens = max(1, math.ceil(video.width * video.height * scale**2 / _PIXELS_PER_TOKEN))
    return min(max(settings.frames_low, settings.frames_medium), max(1, settings.tokens // tokens))
