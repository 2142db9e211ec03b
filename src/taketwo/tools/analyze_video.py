"""`analyze_video`: an observer model looks at frames of a window and reports observations, not answers."""

from __future__ import annotations

from typing import cast

from pydantic import BaseModel, Field

from taketwo.media.sampling import times_by_fps
from taketwo.tools.extract_video_parts import frames_remark, frames_wanted
from taketwo.tools.fencing import FENCE_RULE, fence, question_block
from taketwo.tools.video_tool import (
    Resolution,
    ToolContext,
    ToolReply,
    VideoTool,
    Window,
    max_side_of,
)

__all__ = ["ANALYZE_VIDEO", "OBSERVER_PROMPT", "AnalyzeVideo"]

OBSERVER_PROMPT = f"""\
You look at frames of a video for a colleague who cannot see them. Each frame stands after its time,
as in [frame at 12.00 s]. Report what the frames show. You do not answer the colleague's question and
you do not choose an option, even where the question is given as context.

Reply in four parts, each under its heading on a line of its own:
Focus answer: what the frames show about the focus, in one to three sentences; say plainly where it
is not to be seen.
Observations: one line each, beginning with its time, as in [12.0 s] or [3.0-9.0 s]. Write text on
screen exactly as it stands, and count things where the focus is about a number.
Coverage: rich, partial or none, for how well these frames cover the focus.
Uncertainty: what you cannot see or tell, such as things between frames, small text, or sound.

Report nothing outside the window that is given. {FENCE_RULE}"""

_MIN_FPS, _MAX_FPS = 1.0, 20.0
_MAX_CHARACTERS = 24_000


class AnalyzeVideo(Window):
    """What to look at, and how closely."""

    fps: float = Field(
        default=1.0, allow_inf_nan=False, description="Frames per second, 1 to 20; 1 if absent"
    )
    focus: str = Field(default="", max_length=4000, description="What to look for, in words")
    resolution: Resolution = Field(
        default="medium", description="low for wide scans, medium as a rule, high for small text"
    )


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("AnalyzeVideo", arguments)
    start_s, end_s, notes = asked.clamped(context.duration_s)
    fps = min(_MAX_FPS, max(_MIN_FPS, asked.fps))
    if fps != asked.fps:
        notes.append(f"fps {asked.fps:g} was moved to {fps:g} (allowed are 1 to 20)")
    cap = context.frames_left()
    wanted = frames_wanted(start_s, end_s, fps)
    frames = await context.primitives.extract_video_parts(
        times_by_fps(start_s, end_s, fps, cap=cap), max_side=max_side_of(asked.resolution)
    )
    focus = asked.focus.strip() or "whatever is to be seen, in order"
    parts = [f"Focus:\n{fence('focus', focus)}", f"Window: {start_s:.1f}-{end_s:.1f} s"]
    if context.question is not None:
        parts.append(f"For context, the question behind it:\n{question_block(context.question)}")
    seen = await context.primitives.analyze(
        system=OBSERVER_PROMPT, text="\n\n".join(parts), frames=frames
    )
    is_long = len(seen) > _MAX_CHARACTERS
    if is_long:
        notes.append(f"the report was cut after {_MAX_CHARACTERS} of {len(seen)} characters")
    fields = {
        "window": f"{start_s:.1f}-{end_s:.1f} s",
        "frames": frames_remark(frames, wanted, cap),
        "fps": f"{fps:g}",
        "resolution": asked.resolution,
    }
    if notes:
        fields["note"] = "; ".join(notes)
    return ToolReply(
        fields=fields,
        untrusted={"observations": seen[:_MAX_CHARACTERS]},
        seen=frames,
        truncated=is_long or wanted > cap,
    )


ANALYZE_VIDEO = VideoTool(
    name="analyze_video",
    description=(
        "Have an observer look at frames of a part of the video and report timed observations about "
        "a focus. It reports what is seen; it does not answer the question."
    ),
    guidance=(
        "`analyze_video(start_time, end_time, fps, focus, resolution)` has an observer look at a "
        "window and report: an answer to your focus or that it was not seen, observations with "
        "their seconds, how well the frames cover the focus (rich, partial, none), and what is "
        "uncertain. The observer hears nothing. Say in `focus` exactly what to look for. Scan at "
        "fps 1 and resolution low or medium; look closely at narrow windows with fps 3 to 10, and "
        "with resolution high at small text."
    ),
    arguments=AnalyzeVideo,
    run=_run,
    prompts={"observer": OBSERVER_PROMPT},
)
