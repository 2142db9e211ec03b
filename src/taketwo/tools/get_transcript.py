"""`get_transcript`: the transcript of a window under the name and arguments of AgentVidBench."""

from __future__ import annotations

from typing import Self, cast

from pydantic import BaseModel, Field, model_validator

from taketwo.tools.transcribe_speech import transcript_reply
from taketwo.tools.video_tool import Seconds, ToolContext, ToolReply, VideoTool, Window

__all__ = ["GET_TRANSCRIPT", "GetTranscript"]


class GetTranscript(Window):
    """Which part of the video; `start` and `end` are accepted as well."""

    start: Seconds | None = Field(default=None, description="Same as start_time")
    end: Seconds | None = Field(default=None, description="Same as end_time")

    @model_validator(mode="after")
    def _one_name_each(self) -> Self:
        if None not in (self.start, self.start_time) or None not in (self.end, self.end_time):
            raise ValueError("give start_time or start, and end_time or end, not both")
        return self


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("GetTranscript", arguments)
    start = asked.start if asked.start_time is None else asked.start_time
    end = asked.end if asked.end_time is None else asked.end_time
    return await transcript_reply(context, start, end)


GET_TRANSCRIPT = VideoTool(
    name="get_transcript",
    description="Get the transcript of a part of the video, with start and end of each segment.",
    guidance=(
        "`get_transcript(start_time, end_time)` returns what is said in a window, one line per "
        "segment, `[start-end s] words`. It is cheap: use it when the question may hang on speech, "
        "and to find the seconds at which to look."
    ),
    arguments=GetTranscript,
    run=_run,
    hidden_arguments=frozenset({"start", "end"}),
)
