"""`get_transcript`: the transcript of a window under the name and arguments of AgentVidBench."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel

from taketwo.tools.clip_arguments import HIDDEN_PATH, ClipArguments
from taketwo.tools.transcribe_speech import transcript_reply
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool

__all__ = ["GET_TRANSCRIPT", "GetTranscript"]


class GetTranscript(ClipArguments):
    """Which part of the video; `start` and `end` are accepted as well."""


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    return await transcript_reply(context, cast("GetTranscript", arguments))


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
    hidden_arguments=HIDDEN_PATH,
)
