"""`transcribe_speech` and the rendering of a transcript, with a cut that is announced."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel

from taketwo.media.transcript import Transcript
from taketwo.tools.clip_arguments import HIDDEN_PATH, ClipArguments
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool

__all__ = ["TRANSCRIBE_SPEECH", "transcript_lines", "transcript_reply"]

_MAX_CHARACTERS = 24_000


def transcript_lines(transcript: Transcript) -> list[str]:
    """Return one line per segment, `[12.0-15.5 s] words`."""
    return [
        f"[{segment.start_s:.1f}-{segment.end_s:.1f} s] {' '.join(segment.text.split())}"
        for segment in transcript.segments
    ]


async def transcript_reply(context: ToolContext, asked: ClipArguments) -> ToolReply:
    """Return the speech of a window as a result, whole segments only.

    At most 24,000 characters are shown; what was cut is said, with the second to go on from. A
    silent video is no error: the result says that nothing can be heard.

    Raises
    ------
    ToolFailure
        If nothing of the video lies in the window.
    """
    start_s, end_s, notes = asked.clamped(context.duration_s)
    notes += asked.path_remarks(context)
    speech = await context.primitives.transcribe_speech(start_s, end_s)
    lines = transcript_lines(speech)
    shown, length = 0, 0
    while shown < len(lines) and (shown == 0 or length + len(lines[shown]) < _MAX_CHARACTERS):
        length += len(lines[shown]) + 1
        shown += 1
    if shown < len(lines):
        notes.append(
            f"cut: {shown} of {len(lines)} segments are shown; "
            f"go on from {speech.segments[shown].start_s:.1f} s"
        )
    if not lines:
        notes.append("no speech in this window" if context.has_audio else "the video has no sound")
    fields = {"window": f"{start_s:.1f}-{end_s:.1f} s", "segments": str(len(lines))}
    if notes:
        fields["note"] = "; ".join(notes)
    text = "\n".join(lines[:shown])[:_MAX_CHARACTERS]
    return ToolReply(
        fields=fields,
        untrusted={"transcript": text} if lines else {},
        truncated=shown < len(lines) or len(lines[0] if lines else "") > _MAX_CHARACTERS,
        data={
            "transcript": text,
            "segments": [
                {"start_s": segment.start_s, "end_s": segment.end_s, "text": segment.text}
                for segment in speech.segments[:shown]
            ],
            "source": speech.source,
            "start_s": start_s,
            "end_s": end_s,
        },
    )


class TranscribeSpeech(ClipArguments):
    """Which part of the video."""


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    return await transcript_reply(context, cast("TranscribeSpeech", arguments))


TRANSCRIBE_SPEECH = VideoTool(
    name="transcribe_speech",
    description="Get what is said in a part of the video, with start and end of each segment.",
    guidance=(
        "`transcribe_speech(start_time, end_time)` returns what is said in a window, one line per "
        "segment, `[start-end s] words`. Speech recognition makes mistakes with names and numbers."
    ),
    arguments=TranscribeSpeech,
    run=_run,
    hidden_arguments=HIDDEN_PATH,
)
