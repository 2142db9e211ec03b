"""STAR's patch zoom: which part of a frame holds what is looked for, and that part in real pixels.

The patch is cut out of the frame decoded anew at its full size. Published code enlarges the small
picture instead and overwrites it; here the whole frame stays and can be taken up again.
"""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.fencing import FENCE_RULE
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_forms import PatchChoice
from taketwo.tools.star_frames import Crop, VisibleFrame, evenly
from taketwo.tools.star_pictures import PATCH_BOXES, patch_picture
from taketwo.tools.star_times import seconds_named
from taketwo.tools.star_tool import (
    StarTool,
    asked_of,
    focused_frames,
    no_form,
    request,
    star_tool,
    starred,
)
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_tool import ToolContext, ToolReply

__all__ = ["PATCH_ZOOM", "ZOOM_PROMPT"]

ZOOM_PROMPT = f"""\
You get one frame of a video and a description of what is looked for in it. Say in which part of the
picture it is: top left, top right, bottom left, bottom right, or centre. The part will be cut out and
looked at more closely. Reply none where it is not to be seen, or where it does not fit into one part.
{FENCE_RULE}"""

_MOST_FRAMES = 8
_LONGEST = 600
_WHOLE = frozenset({"whole frame", "whole frames", "undo"})


async def _zoom(context: ToolContext, text: str) -> ToolReply:
    state = await starred(context)
    if text.casefold().strip(" .\"'") in _WHOLE:
        cropped = [frame for frame in state.frames.all if frame.crop is not None]
        for frame in cropped:
            frame.crop = None
        return ToolReply(fields={"whole frames again": str(len(cropped))})
    wanted = asked_of(text, "what to look for in the frames, or: whole frames")
    frames = _chosen(await focused_frames(context), wanted)
    lines: list[str] = []
    seen: list[SeenFrame] = []
    stopped = ""
    for frame in frames:
        try:
            choice = await _choice(context, frame, wanted)
            cut = await _cut(context, frame, choice)
        except (BudgetExhausted, ToolFailure) as error:
            if not lines:
                raise
            stopped = str(error)
            break
        lines.append(f"[{frame.time_s:.1f} s] {choice.patch}: {choice.analysis[:_LONGEST]}")
        seen += [frame.whole, *([] if cut is None else [cut])]
    cropped = sum(frame.crop is not None for frame in frames)
    fields = {"frames asked": f"{len(lines)} of {len(frames)}", "enlarged": str(cropped)}
    if cropped:
        fields["note"] = "the next spatial tool sees these parts; `whole frames` takes that back"
    if stopped:
        fields["stopped"] = stopped
    return ToolReply(
        fields=fields,
        untrusted={"parts": "\n".join(lines)},
        seen=tuple(seen),
        truncated=bool(stopped),
    )


def _chosen(frames: Sequence[VisibleFrame], text: str) -> tuple[VisibleFrame, ...]:
    """Return the frames nearest to the times that the input names, else some evenly spread ones."""
    named = seconds_named(text)
    near = {min(frames, key=lambda f: abs(f.time_s - time_s)).time_s for time_s in named}
    wanted = [frame for frame in frames if frame.time_s in near] if near else frames
    return evenly(wanted, _MOST_FRAMES)


async def _choice(context: ToolContext, frame: VisibleFrame, wanted: str) -> PatchChoice:
    context.frames_left()
    reply = await context.primitives.analyze_in_form(
        PatchChoice,
        system=ZOOM_PROMPT,
        text=request(context, "What is looked for", wanted),
        frames=(frame.whole,),
    )
    if reply.value is None:
        raise no_form(reply.asked, reply.problem)
    return reply.value


async def _cut(context: ToolContext, frame: VisibleFrame, choice: PatchChoice) -> SeenFrame | None:
    if choice.patch not in PATCH_BOXES:
        frame.crop = None
        return None
    (full,) = await context.primitives.extract_video_parts([frame.whole.requested_s], max_side=None)
    picture = patch_picture(full, choice.patch, context.primitives.media.frames)
    frame.crop = Crop(patch=choice.patch, picture=picture)
    return picture


PATCH_ZOOM: StarTool = star_tool(
    name="relevant-patch-zooming-tool",
    kind="spatial",
    does=(
        "Finds in up to 8 frames in focus the part of the picture that holds what you look for and cuts "
        "it out in full resolution, so that the next spatial tool sees small things and small text "
        "larger. It tells where things are; it does not answer questions. The input `whole frames` "
        "goes back to whole pictures."
    ),
    takes="what to look for, with the seconds of the frames where only some matter.",
    run=_zoom,
    prompt=ZOOM_PROMPT,
)
