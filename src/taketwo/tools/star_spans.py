"""STAR's temporal tools that tell what happens in a stretch of the video or around a second of it.

The publication asks Grounded-Video-LLM. Here the observer looks at up to 32 frames, which the tools
announce. Nothing becomes visible, and the answer stands in the result only.
"""

from __future__ import annotations

from taketwo.media.sampling import clamp_window, times_by_count
from taketwo.tools.fencing import FENCE_RULE
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_frames import evenly
from taketwo.tools.star_times import seconds_named, span_named
from taketwo.tools.star_tool import (
    StarTool,
    asked_of,
    crop_remark,
    focused_frames,
    pictures,
    request,
    star_tool,
    starred,
)
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_tool import ToolContext, ToolReply, Working

__all__ = ["SPAN_PROMPT", "TEMPORAL_QA", "TEMPORAL_REFERRING"]

SPAN_PROMPT = f"""\
You look at frames of one stretch of a video, in the order of time, for a colleague who cannot see
them. Each frame stands after its time, as in [frame at 12.00 s]. Answer what is asked about the
stretch as a whole: what happens, in which order, what changes, how often. Give the seconds of what
you rely on. What happens between frames you cannot see; say so where it matters, and say plainly
where the frames do not show what is asked for. {FENCE_RULE}"""

_MOST_FRAMES = 32
_AROUND_S = 8.0
_MOST_CHARACTERS = 6000
_OBSERVED = "answered by the observer on at most 32 frames, not by a video model"


async def _tell(context: ToolContext, text: str) -> ToolReply:
    question = asked_of(text, "a question about a stretch of the video")
    span = span_named(question)
    if span is not None:
        return await _look(context, question, *_clamped(span, context.duration_s))
    frames = evenly(await focused_frames(context), min(_MOST_FRAMES, context.frames_left()))
    where = f"visible frames from {frames[0].time_s:.1f} s to {frames[-1].time_s:.1f} s"
    return await _asked(context, question, pictures(frames), where, crop_remark(frames))


async def _refer(context: ToolContext, text: str) -> ToolReply:
    question = asked_of(text, "a question that names a time, such as: what happens at 12 seconds?")
    span, named = span_named(question), seconds_named(question)
    if span is None and not named:
        raise ToolFailure(
            "invalid_arguments",
            "the input names no time; write it as in: what happens at 12 seconds?",
            retryable=True,
        )
    if span is None:
        span = min(named) - _AROUND_S, max(named) + _AROUND_S
    return await _look(context, question, *_clamped(span, context.duration_s))


def _clamped(span: tuple[float, float], duration_s: float) -> tuple[float, float]:
    try:
        return clamp_window(*span, duration_s)
    except ValueError as error:
        raise ToolFailure("invalid_window", str(error), retryable=True) from error


async def _look(context: ToolContext, question: str, start_s: float, end_s: float) -> ToolReply:
    state = await starred(context)
    times_s = times_by_count(start_s, end_s, min(_MOST_FRAMES, context.frames_left()))
    frames = await context.primitives.extract_video_parts(times_s, max_side=state.max_side)
    state.looked(start_s, end_s)
    return await _asked(context, question, frames, f"{start_s:.1f}-{end_s:.1f} s", "")


async def _asked(
    context: ToolContext, question: str, frames: tuple[SeenFrame, ...], where: str, remark: str
) -> ToolReply:
    text = request(context, "What is asked", question, f"Stretch: {where}.\n{remark}".strip())
    said = await context.primitives.analyze(system=SPAN_PROMPT, text=text, frames=frames)
    fields = {"looked at": where, "frames": str(len(frames))}
    is_long = len(said) > _MOST_CHARACTERS
    if is_long:
        fields["note"] = f"the answer was cut after {_MOST_CHARACTERS} of {len(said)} characters"
    return ToolReply(
        fields=fields,
        untrusted={"answer": said[:_MOST_CHARACTERS]},
        seen=frames,
        truncated=is_long,
    )


TEMPORAL_QA: StarTool = star_tool(
    name="temporal-qa-tool",
    kind="temporal",
    does=(
        "Answers a question about what happens over time: actions, their order, changes, repetitions. "
        "It looks at up to 32 frames of the stretch that the input names, else at the frames in focus."
    ),
    takes="the question, with the stretch where it matters, such as: from 12 to 20 seconds.",
    run=_tell,
    prompt=SPAN_PROMPT,
    works=lambda _: Working(mode="degraded", reason=_OBSERVED),
)

TEMPORAL_REFERRING: StarTool = star_tool(
    name="temporal-referring-tool",
    kind="temporal",
    does="Tells what happens at or around a second of the video, from up to 32 frames close to it.",
    takes="a question that names the time, such as: what happens at 12 seconds?",
    run=_refer,
    prompt=SPAN_PROMPT,
    works=lambda _: Working(mode="degraded", reason=_OBSERVED),
)
