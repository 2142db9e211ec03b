"""`extract_video_parts`: frames of a window, handed to whoever asked as pictures with their times.

What was extracted has a name (`frames_1`) by which `analyze` takes it: no model ever names a file.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, Self, cast

from pydantic import BaseModel, Field, model_validator

from taketwo.media.sampling import times_by_count, times_by_fps
from taketwo.tools.clip_arguments import HIDDEN_PATH, ClipArguments
from taketwo.tools.media_shelf import MediaShelf
from taketwo.tools.primitives import SeenFrame
from taketwo.tools.video_tool import (
    Resolution,
    ToolContext,
    ToolReply,
    VideoTool,
    max_side_of,
)

__all__ = ["EXTRACT_VIDEO_PARTS", "ExtractVideoParts", "frames_remark", "frames_wanted"]

_DEFAULT_COUNT = 8


class ExtractVideoParts(ClipArguments):
    """Which frames: a window, and either how many or how many a second."""

    count: int | None = Field(
        default=None, ge=1, le=256, description="How many frames, spread evenly over the window"
    )
    fps: float | None = Field(
        default=None, gt=0, le=60, description="Frames per second, instead of count"
    )
    resolution: Resolution = Field(
        default="medium", description="Size of the frames: low 320, medium 640, high 1280 pixels"
    )
    extract_type: Literal["frames", "subclips"] = Field(
        default="frames", description="Frames are given in any case"
    )

    @model_validator(mode="after")
    def _one_of_count_and_fps(self) -> Self:
        if self.count is not None and self.fps is not None:
            raise ValueError("give count or fps, not both")
        return self


def frames_wanted(start_s: float, end_s: float, fps: float) -> int:
    """Return how many frames a window holds at a rate, both ends counted where they are on the grid."""
    return math.floor((end_s - start_s) * fps + 1e-6) + 1


def frames_remark(frames: Sequence[SeenFrame], wanted: int, cap: int) -> str:
    """Return how many frames there are, and why fewer than wanted."""
    corrupt = sum(frame.is_corrupt for frame in frames)
    remark = str(len(frames))
    if wanted > cap:
        remark += f" of {wanted} asked for; one look takes at most {cap}, spread over the window"
    elif len(frames) < wanted:
        remark += f" of {wanted} asked for; the others could not be decoded"
    return remark + (f"; {corrupt} damaged" if corrupt else "")


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("ExtractVideoParts", arguments)
    start_s, end_s, notes = asked.clamped(context.duration_s)
    notes += asked.path_remarks(context)
    if asked.extract_type == "subclips":
        notes.append("clips are not handed over; these are frames of the part, each with its time")
    cap = context.frames_left()
    if asked.fps is not None:
        wanted = frames_wanted(start_s, end_s, asked.fps)
        times_s = times_by_fps(start_s, end_s, asked.fps, cap=cap)
    else:
        wanted = asked.count or _DEFAULT_COUNT
        times_s = times_by_count(start_s, end_s, min(wanted, cap))
    frames = await context.primitives.extract_video_parts(
        times_s, max_side=max_side_of(asked.resolution)
    )
    name = context.state.get(MediaShelf).put(frames)
    fields = {
        "window": f"{start_s:.1f}-{end_s:.1f} s",
        "name": name,
        "frames": frames_remark(frames, wanted, cap),
        "resolution": asked.resolution,
    }
    if notes:
        fields["note"] = "; ".join(notes)
    return ToolReply(
        fields=fields,
        frames=frames,
        truncated=wanted > cap,
        data={
            "media": [name],
            "frame_times_s": [frame.time_s for frame in frames],
            "start_s": start_s,
            "end_s": end_s,
        },
    )


EXTRACT_VIDEO_PARTS = VideoTool(
    name="extract_video_parts",
    description="Get frames of a part of the video as pictures, each with its time in seconds.",
    guidance=(
        "`extract_video_parts(start_time, end_time, count or fps, resolution)` shows you frames of a "
        "window as pictures, each after its time, and a name for them, such as frames_1. Use it when "
        "you can look at pictures yourself, or to have the frames of that name analysed."
    ),
    arguments=ExtractVideoParts,
    run=_run,
    hidden_arguments=HIDDEN_PATH | {"extract_type"},
)
