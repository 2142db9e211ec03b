"""`frame_inspect_tool`: an observer looks at frames of some time ranges and answers a question about them."""

from __future__ import annotations

import math
from typing import cast

from pydantic import BaseModel, ConfigDict, Field

from taketwo.tools.clip_index import FRAMES_PER_S
from taketwo.tools.dvd_ranges import TimeRanges, ranges_in_video, times_in
from taketwo.tools.extract_video_parts import frames_remark
from taketwo.tools.fencing import FENCE_RULE, fence
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool, max_side_of

__all__ = ["FRAME_INSPECT", "INSPECT_PROMPT", "MOST_FRAMES", "FrameInspect"]

MOST_FRAMES = 50
"""Frames of one look; 25 s at two frames a second, further apart beyond."""

_MAX_CHARACTERS = 24_000

INSPECT_PROMPT = f"""\
You look at frames of a video and answer a question about them for a colleague who cannot see them.
The frames are in order, each after its time, as in [frame at 12.00 s]; there may be gaps between
ranges of time.

Follow what moves, from frame to frame: who acts and on what, which way things go, how bodies are held,
what changes and what brings the change about. Then answer the question from what is visible, with the
times that show it. Write text on screen exactly as it stands. Say what stays uncertain, and do not fill
it in. If none of the frames has anything to do with the question, reply with this sentence and nothing
else: Nothing in these frames answers the question.

{FENCE_RULE}"""


class FrameInspect(BaseModel):
    """What to find out, and where to look."""

    model_config = ConfigDict(extra="forbid")

    question: str = Field(
        min_length=1, max_length=4000, description="What is to be found out from the frames"
    )
    time_ranges_hhmmss: TimeRanges = Field(
        description="Where to look: a list of [start, end] pairs, each time written HH:MM:SS"
    )


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("FrameInspect", arguments)
    inside = ranges_in_video(asked.time_ranges_hhmmss, context.duration_s)
    cap = min(MOST_FRAMES, context.frames_left())
    wanted = math.floor(inside.total_s * FRAMES_PER_S + 1e-6) + 1
    frames = await context.primitives.extract_video_parts(
        times_in(inside.ranges, min(wanted, cap)), max_side=max_side_of("medium")
    )
    found = await context.primitives.analyze(
        system=INSPECT_PROMPT,
        text=f"Frames of: {inside.to_text()}\n\nQuestion:\n{fence('question', asked.question)}",
        frames=frames,
    )
    notes = list(inside.notes)
    is_long = len(found) > _MAX_CHARACTERS
    if is_long:
        notes.append(f"the answer was cut after {_MAX_CHARACTERS} of {len(found)} characters")
    fields = {"ranges": inside.to_text(), "frames": frames_remark(frames, wanted, cap)}
    if notes:
        fields["note"] = "; ".join(notes)
    return ToolReply(
        fields=fields,
        untrusted={"observations": found[:_MAX_CHARACTERS]},
        seen=frames,
        truncated=is_long or wanted > cap,
    )


FRAME_INSPECT = VideoTool(
    name="frame_inspect_tool",
    description=(
        "Have an observer look at frames of one or more time ranges of the video and answer a "
        f"question about them. It sees two frames a second, at most {MOST_FRAMES} in all: ranges of "
        "25 seconds together are seen closely, longer ones with gaps."
    ),
    guidance=(
        "`frame_inspect_tool(question, time_ranges_hhmmss)` has an observer look at the pictures of "
        "the ranges that you name and answer your question about them. It is the only tool that sees "
        "the video now: use it for details that no description holds, wherever you doubt, and to "
        "confirm an answer that you found in text. Name short ranges, 25 seconds together at most, "
        "where details matter."
    ),
    arguments=FrameInspect,
    run=_run,
    prompts={"observer": INSPECT_PROMPT},
)
