"""`analyze_video`: an observer model looks at frames of a window and reports observations, not answers.

Its controls (frames per second, resolution, which part of the video) are the planner's, unless a
study fixes them: `analyze_video_tool`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import cast

from pydantic import BaseModel, Field

from taketwo.media.sampling import times_by_fps
from taketwo.tools.extract_video_parts import frames_remark, frames_wanted
from taketwo.tools.fencing import FENCE_RULE, fence, question_block
from taketwo.tools.fixed_controls import FREE_CONTROLS, Control, FixedControls
from taketwo.tools.video_tool import (
    Resolution,
    ToolContext,
    ToolFailure,
    ToolReply,
    VideoTool,
    Window,
    max_side_of,
)

__all__ = ["ANALYZE_VIDEO", "OBSERVER_PROMPT", "AnalyzeVideo", "analyze_video_tool"]

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


_ARGUMENTS_OF: Mapping[Control, tuple[str, ...]] = MappingProxyType({
    "fps": ("fps",),
    "resolution": ("resolution",),
    "interval": ("start_time", "end_time"),
})


def analyze_video_tool(fixed: FixedControls = FREE_CONTROLS) -> VideoTool:
    """Return the tool with some of its controls fixed.

    A fixed control is in neither the schema nor the guidance, holds for each look, and a call that
    names it anyway is refused with `invalid_arguments`.
    """

    async def run(context: ToolContext, arguments: BaseModel) -> ToolReply:
        asked = _settled(cast("AnalyzeVideo", arguments), fixed)
        return await _look(context, asked, fixed.fps)

    part = "the whole video" if fixed.is_full_video else "a part of the video"
    return VideoTool(
        name="analyze_video",
        description=(
            f"Have an observer look at frames of {part} and report timed observations about a focus. "
            "It reports what is seen; it does not answer the question."
        ),
        guidance=_guidance(fixed),
        arguments=AnalyzeVideo,
        run=run,
        prompts={"observer": OBSERVER_PROMPT},
        hidden_arguments=frozenset(_hidden(fixed)),
    )


def _hidden(fixed: FixedControls) -> tuple[str, ...]:
    return tuple(name for control in fixed.fixed for name in _ARGUMENTS_OF[control])


def _settled(asked: AnalyzeVideo, fixed: FixedControls) -> AnalyzeVideo:
    """Return the arguments with the fixed controls in force."""
    named = [name for name in _hidden(fixed) if name in asked.model_fields_set]
    if named:
        raise ToolFailure(
            "invalid_arguments",
            f"analyze_video takes no {' and no '.join(named)}: it is fixed here "
            f"({fixed.describe()}); leave it out",
            retryable=True,
        )
    if fixed.resolution is None:
        return asked
    return asked.model_copy(update={"resolution": fixed.resolution})


def _guidance(fixed: FixedControls) -> str:
    """Return what a system prompt says of the tool, without a word on what is fixed."""
    hidden = _hidden(fixed)
    names = ("start_time", "end_time", "fps", "focus", "resolution")
    part = "the whole video" if fixed.is_full_video else "a window"
    text = (
        f"`analyze_video({', '.join(name for name in names if name not in hidden)})` has an observer "
        f"look at {part} and report: an answer to your focus or that it was not seen, observations "
        "with their seconds, how well the frames cover the focus (rich, partial, none), and what is "
        "uncertain. The observer hears nothing. Say in `focus` exactly what to look for."
    )
    wide = _named(("fps 1", fixed.fps is None), ("resolution low or medium", not fixed.resolution))
    close = _named(
        ("at narrow windows", not fixed.is_full_video), ("with fps 3 to 10", fixed.fps is None)
    )
    looks = _named(
        (" ".join(close), bool(close)),
        ("with resolution high at small text", fixed.resolution is None),
    )
    advice = "; ".join(
        _named(
            (f"scan at {' and '.join(wide)}", bool(wide)),
            (f"look closely {', and '.join(looks)}", bool(looks)),
        )
    )
    return f"{text} {advice[0].upper()}{advice[1:]}." if advice else text


def _named(*parts: tuple[str, bool]) -> list[str]:
    return [part for part, is_said in parts if is_said]


async def _look(context: ToolContext, asked: AnalyzeVideo, fixed_fps: float | None) -> ToolReply:
    start_s, end_s, notes = asked.clamped(context.duration_s)
    fps = min(_MAX_FPS, max(_MIN_FPS, asked.fps)) if fixed_fps is None else fixed_fps
    if fixed_fps is None and fps != asked.fps:
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


ANALYZE_VIDEO = analyze_video_tool()
"""The tool as it is published: all controls are the planner's."""
