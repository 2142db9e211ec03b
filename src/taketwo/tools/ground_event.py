"""`ground_event`: an observer finds out between which seconds of a window something is seen."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel, Field

from taketwo.tools.clip_arguments import HIDDEN_PATH, ClipArguments
from taketwo.tools.extract_video_parts import frames_remark
from taketwo.tools.grounding import GROUNDING_PROMPT
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool

__all__ = ["GROUND_EVENT", "GroundEvent"]

_MOST_FRAMES = 64


class GroundEvent(ClipArguments):
    """What to find, and where to look for it."""

    event: str = Field(
        min_length=1, max_length=2000, description="What is to be seen, in words, one event"
    )


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("GroundEvent", arguments)
    start_s, end_s, notes = asked.clamped(context.duration_s)
    notes += asked.path_remarks(context)
    found = await context.primitives.ground_event(
        event=asked.event,
        start_s=start_s,
        end_s=end_s,
        max_frames=min(_MOST_FRAMES, context.frames_left()),
    )
    notes += [found.remark] if found.remark else []
    fields = {
        "window": f"{start_s:.1f}-{end_s:.1f} s",
        "found": "yes" if found.found else "no",
    }
    if found.start_s is not None and found.end_s is not None:
        fields["event"] = f"{found.start_s:.1f}-{found.end_s:.1f} s"
    fields["frames"] = frames_remark(found.frames, len(found.frames), len(found.frames))
    if notes:
        fields["note"] = "; ".join(notes)
    return ToolReply(
        fields=fields,
        untrusted={"description": found.description} if found.description.strip() else {},
        seen=found.frames,
        data={
            "name": asked.event,
            "found": found.found,
            "timestamps": {"start": found.start_s, "end": found.end_s},
            "description": found.description,
            "remark": found.remark,
            "start_s": start_s,
            "end_s": end_s,
        },
    )


GROUND_EVENT = VideoTool(
    name="ground_event",
    description=(
        "Find out between which seconds of a part of the video something is seen, or that it is "
        "not seen there."
    ),
    guidance=(
        "`ground_event(event, start_time, end_time)` has an observer look through a window for one "
        "visible event and returns its seconds, or that it was not seen. It hears nothing: find what "
        "is said in the transcript. Narrow windows are searched more finely."
    ),
    arguments=GroundEvent,
    run=_run,
    prompts={"observer": GROUNDING_PROMPT},
    hidden_arguments=HIDDEN_PATH,
)
