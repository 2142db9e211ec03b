"""What a tool of STAR is: a tool of one kind that takes one text, over the visible frames of the cell."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field

from taketwo.media.sampling import times_by_count
from taketwo.tools.fencing import fence, question_block
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_frames import StarState, VisibleFrame
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool, Working

__all__ = [
    "StarInput",
    "StarKind",
    "StarTool",
    "asked_of",
    "crop_remark",
    "focused_frames",
    "no_form",
    "pictures",
    "request",
    "star_tool",
    "starred",
]

StarKind = Literal["temporal", "spatial", "generalist"]
_MOST_INPUT = 4000


class StarInput(BaseModel):
    """The one argument of every tool of STAR."""

    model_config = ConfigDict(extra="forbid")

    input: str = Field(default="", max_length=_MOST_INPUT, description="What the tool is to do")


@dataclass(frozen=True, kw_only=True)
class StarTool(VideoTool):
    """A tool with its kind: `temporal` finds where to look, `spatial` says what is there.

    A `generalist` would answer the question on its own; it is never offered while evidence is
    sought.
    """

    kind: StarKind


def star_tool(
    *,
    name: str,
    kind: StarKind,
    does: str,
    takes: str,
    run: Callable[[ToolContext, str], Awaitable[ToolReply]],
    prompt: str = "",
    works: Callable[[ToolContext], Working] = lambda _: Working(),
) -> StarTool:
    """Return a tool of STAR: `does` says what it does, `takes` what its input is.

    `prompt` is what it tells the observer, where it asks one.
    """

    async def run_checked(context: ToolContext, arguments: BaseModel) -> ToolReply:
        return await run(context, cast("StarInput", arguments).input.strip())

    prompts: Mapping[str, str] = {"observer": prompt} if prompt else {}
    return StarTool(
        name=name,
        kind=kind,
        description=f"{does} Input: {takes}",
        guidance=f"`{name}` ({kind}): {does} Input: {takes}",
        arguments=StarInput,
        run=run_checked,
        prompts=prompts,
        works=works,
    )


async def starred(context: ToolContext) -> StarState:
    """Return the state of the cell; at its first use the first frames become visible.

    Raises
    ------
    BudgetExhausted
        If they may not be decoded.
    """
    state = context.state.get(StarState)
    if not state.frames.all:
        times_s = times_by_count(0.0, context.duration_s, state.start_frames)
        frames = await context.primitives.extract_video_parts(times_s, max_side=state.max_side)
        state.frames.add(frames, "start")
    return state


async def focused_frames(context: ToolContext) -> tuple[VisibleFrame, ...]:
    """Return the visible frames in focus, and note that the running call looks at their span."""
    state = await starred(context)
    frames = state.frames.focused
    state.looked(frames[0].time_s, frames[-1].time_s)
    return frames


def asked_of(text: str, what: str) -> str:
    """Return `text`, which must say something.

    Raises
    ------
    ToolFailure
        With code `invalid_arguments` where it is empty; `what` says what is wanted.
    """
    if not text:
        raise ToolFailure(
            "invalid_arguments", f"the input is empty; it must be {what}", retryable=True
        )
    return text


def request(context: ToolContext, heading: str, text: str, *parts: str) -> str:
    """Return what a tool sends the observer: the input fenced, further parts, the question if seen."""
    said = [f"{heading}:\n{fence('focus', text)}" if text else "", *parts]
    if context.question is not None:
        said.append(f"For context, the question behind it:\n{question_block(context.question)}")
    return "\n\n".join(part for part in said if part)


def crop_remark(frames: Sequence[VisibleFrame]) -> str:
    """Return which frames are enlarged patches and not whole frames; empty where none is."""
    crops = [f"{frame.time_s:.2f} s ({frame.view})" for frame in frames if frame.crop is not None]
    return f"Enlarged patches, not whole frames: {', '.join(crops)}." if crops else ""


def no_form(asked: int, problem: str | None) -> ToolFailure:
    """Return the failure of a tool whose observer did not keep to the form."""
    return ToolFailure(
        "no_usable_reply",
        f"the observer gave no usable reply in {asked} tries: {problem}",
        retryable=True,
    )


def pictures(frames: Sequence[VisibleFrame]) -> tuple[SeenFrame, ...]:
    """Return what a look at `frames` shows: whole frames, or the patches that stand in for them."""
    return tuple(frame.shown for frame in frames)
