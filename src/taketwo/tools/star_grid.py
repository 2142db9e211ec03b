"""STAR's tools that look at many frames at once, as tiles of one numbered grid.

Selecting a part of the grid puts the focus on it and adds frames there. Published code deletes all
other frames and what they answered; here they are kept, and the selection can be taken back.
"""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.media.sampling import times_by_count
from taketwo.tools.fencing import FENCE_RULE
from taketwo.tools.star_forms import GridAnswer, grid_span
from taketwo.tools.star_frames import VisibleFrame, evenly
from taketwo.tools.star_pictures import GRID_TILES, grid_picture
from taketwo.tools.star_tool import (
    StarTool,
    asked_of,
    crop_remark,
    focused_frames,
    no_form,
    pictures,
    request,
    star_tool,
    starred,
)
from taketwo.tools.video_tool import ToolContext, ToolReply

__all__ = ["GRID_ANSWER_PROMPT", "GRID_SELECT_PROMPT", "IMAGE_GRID_QA", "IMAGE_GRID_SELECT"]

_GRID = """\
The one picture that you get is a grid of frames of a video in the order of time: row by row, from
left to right. Each tile has its number in its upper left corner, and the times of the tiles stand in
the text; the time before the picture is that of tile 1."""

GRID_ANSWER_PROMPT = f"""\
{_GRID}

Answer what is asked from the tiles together, comparing them where that matters. Name the tiles that
you rely on, and say plainly where they do not show it. {FENCE_RULE}"""

GRID_SELECT_PROMPT = f"""\
{_GRID}

Choose the part of the grid that deserves a closer look for what is asked: its first and its last
tile. Keep it as short as you safely can; where you cannot tell, choose all tiles. {FENCE_RULE}"""

_ALL = frozenset({"all", "all frames", "everything", "undo"})
_MOST_CHARACTERS = 6000


def _tiles(frames: Sequence[VisibleFrame]) -> str:
    times = ", ".join(f"{number} at {f.time_s:.2f} s" for number, f in enumerate(frames, start=1))
    return f"Tiles: {times}.\n{crop_remark(frames)}".strip()


async def _answer(context: ToolContext, text: str) -> ToolReply:
    question = asked_of(text, "a question about several frames together")
    frames = evenly(await focused_frames(context), GRID_TILES)
    context.frames_left()
    grid = grid_picture(pictures(frames), context.primitives.media.frames)
    reply = await context.primitives.analyze_in_form(
        GridAnswer,
        system=GRID_ANSWER_PROMPT,
        text=request(context, "What is asked", question, _tiles(frames)),
        frames=(grid,),
    )
    if reply.value is None:
        raise no_form(reply.asked, reply.problem)
    return ToolReply(
        fields={"tiles": _described(frames)},
        untrusted={
            "answer": reply.value.answer[:_MOST_CHARACTERS],
            "analysis": reply.value.analysis[:_MOST_CHARACTERS],
        },
        seen=(grid,),
    )


async def _select(context: ToolContext, text: str) -> ToolReply:
    state = await starred(context)
    visible = state.frames
    if text.casefold().strip(" .\"'") in _ALL:
        visible.widen()
        return ToolReply(
            fields={"focus": _described(visible.focused), "note": "on all frames again"}
        )
    wanted = asked_of(text, "what to look for, or: all frames")
    frames = evenly(await focused_frames(context), GRID_TILES)
    context.frames_left()
    grid = grid_picture(pictures(frames), context.primitives.media.frames)
    reply = await context.primitives.analyze_in_form(
        grid_span(len(frames)),
        system=GRID_SELECT_PROMPT,
        text=request(context, "What is looked for", wanted, _tiles(frames)),
        frames=(grid,),
    )
    if reply.value is None:
        raise no_form(reply.asked, reply.problem)
    first, last = frames[reply.value.start - 1].time_s, frames[reply.value.end - 1].time_s
    added = await _closer(context, first, last)
    visible.narrow(first, last)
    fields = {
        "chosen": f"tiles {reply.value.start} to {reply.value.end}, {first:.1f}-{last:.1f} s",
        "new frames": str(added),
        "focus": f"{_described(visible.focused)}; the other frames and their answers are kept",
    }
    if not visible.room:
        fields["note"] = f"no room for further frames: {visible.cap} are visible"
    return ToolReply(
        fields=fields,
        untrusted={"analysis": reply.value.analysis[:_MOST_CHARACTERS]},
        seen=(grid,),
    )


async def _closer(context: ToolContext, start_s: float, end_s: float) -> int:
    """Make up to a grid of evenly spread frames between two seconds visible; return how many are new."""
    state = await starred(context)
    visible = state.frames
    times_s = [
        time_s
        for time_s in times_by_count(start_s, end_s, GRID_TILES)
        if visible.at(time_s) is None
    ]
    times_s = list(evenly(times_s, visible.room))
    if not times_s:
        return 0
    frames = await context.primitives.extract_video_parts(times_s, max_side=state.max_side)
    return len(visible.add(frames, f"image-grid-select-tool, step {state.step}"))


def _described(frames: Sequence[VisibleFrame]) -> str:
    return f"{len(frames)} frames from {frames[0].time_s:.1f} s to {frames[-1].time_s:.1f} s"


IMAGE_GRID_QA: StarTool = star_tool(
    name="image-grid-qa-tool",
    kind="spatial",
    does=(
        "Puts up to 16 frames in focus into one numbered grid and answers a question about them "
        "together: what changes, what comes first, in how many frames something occurs. Tiles are "
        "small, so details and small text may be missed."
    ),
    takes="the question about the frames together.",
    run=_answer,
    prompt=GRID_ANSWER_PROMPT,
)

IMAGE_GRID_SELECT: StarTool = star_tool(
    name="image-grid-select-tool",
    kind="temporal",
    does=(
        "Shows up to 16 frames in focus as a numbered grid, has the part chosen where what you look for "
        "happens, puts the focus on that part and makes further frames inside it visible. Frames "
        "outside the focus are kept but no longer looked at; the input `all frames` takes the focus "
        "back to all of them."
    ),
    takes="what to look for, or `all frames`.",
    run=_select,
    prompt=GRID_SELECT_PROMPT,
)
