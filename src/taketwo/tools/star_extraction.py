"""STAR's temporal tools that make further frames visible: of unseen segments, or of an event.

Published code adds one frame a second without any bound; here a call takes at most half of the room
that is left under the cap, 16 frames at least, so that a later call finds some. The grounding model
of the publication (Grounded-Video-LLM) is replaced by the observer, which the tool announces.
"""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.media.sampling import times_by_fps
from taketwo.tools.fencing import FENCE_RULE, fence
from taketwo.tools.grounding import GROUNDING_PROMPT
from taketwo.tools.star_forms import segment_choice
from taketwo.tools.star_frames import StarState, VisibleFrame, evenly
from taketwo.tools.star_known import answer_lines, description_lines, frames_line
from taketwo.tools.star_tool import StarTool, asked_of, no_form, request, star_tool, starred
from taketwo.tools.video_tool import ToolContext, ToolReply, Working

__all__ = ["FRAME_EXTRACTION", "SEGMENTS_PROMPT", "TEMPORAL_GROUNDING"]

SEGMENTS_PROMPT = f"""\
Some frames of a video have been looked at, and stretches between them have not. You get what is
looked for, what is known of the frames, and the unseen segments by number with their seconds. You see
no pictures. Choose the segments where what is looked for most likely is: those between or next to
frames that speak for it, or an even spread where nothing does. Choose few; choose none where what is
known settles it. {FENCE_RULE}"""

_LEAST_SHARE = 16
_GROUNDING_FRAMES = 96
_EDGE_S = 0.5
_MOST_KNOWN = 6000
_MOST_CHARACTERS = 4000
_OBSERVED = "found by the observer on sampled frames, not by a model made for temporal grounding"


async def _extract(context: ToolContext, text: str) -> ToolReply:
    state = await starred(context)
    gaps = state.frames.gaps(context.duration_s)
    if not gaps:
        return ToolReply(fields={"new frames": "0", "note": "no second of the video is unseen"})
    if not state.frames.room:
        return _full(state)
    reply = await context.primitives.analyze_in_form(
        segment_choice(len(gaps)),
        system=SEGMENTS_PROMPT,
        text=request(
            context, "What is looked for", text, _known(state.frames.all), _segments(gaps)
        ),
        frames=(),
    )
    if reply.value is None:
        raise no_form(reply.asked, reply.problem)
    chosen = [gaps[number - 1] for number in sorted(set(reply.value.segments))]
    wanted = [time_s for start, end in chosen for time_s in _inner(start, end)]
    added = await _add(context, state, wanted, "frame-extraction-tool")
    for start_s, end_s in chosen:
        state.looked(start_s, end_s)
        state.frames.include(start_s, end_s)
    fields = {
        "chosen segments": ", ".join(f"{start:.1f}-{end:.1f} s" for start, end in chosen) or "none",
        "new frames": _of(len(added), len(wanted)),
        "times": ", ".join(f"{frame.time_s:.1f}" for frame in added) + " s" if added else "none",
    }
    return ToolReply(fields=fields, untrusted={"analysis": reply.value.analysis[:_MOST_CHARACTERS]})


async def _ground(context: ToolContext, text: str) -> ToolReply:
    event = asked_of(text, "a description of the event to find")
    state = await starred(context)
    found = await context.primitives.ground_event(
        event=event,
        start_s=0.0,
        end_s=context.duration_s,
        max_frames=min(_GROUNDING_FRAMES, context.frames_left()),
        max_side=state.max_side,
    )
    state.looked(0.0, context.duration_s)
    untrusted = {"description": found.description} if found.description else {}
    fields = {"found": "yes" if found.found else "no"}
    if found.remark:
        fields["note"] = found.remark
    if found.found and found.start_s is not None and found.end_s is not None:
        start_s, end_s = found.start_s, found.end_s
        state.looked(start_s, end_s)
        wanted = [start_s, *_inner(start_s, end_s), end_s] if end_s > start_s else [start_s]
        added = await _add(context, state, wanted, "temporal-grounding-tool")
        state.frames.include(start_s, end_s)
        fields |= {
            "event": f"{start_s:.1f}-{end_s:.1f} s",
            "new frames": _of(len(added), len(wanted)),
        }
        if not state.frames.room:
            fields["room"] = f"none left: {state.frames.cap} frames are visible"
    return ToolReply(fields=fields, untrusted=untrusted, seen=found.frames)


def _full(state: StarState) -> ToolReply:
    note = f"no room: {state.frames.cap} frames are visible, which is all that may be"
    return ToolReply(fields={"new frames": "0", "note": note})


def _inner(start_s: float, end_s: float) -> list[float]:
    """Return seconds one apart between two visible frames, or their middle."""
    grid = times_by_fps(start_s, end_s, 1.0, cap=100_000)
    inner = [time_s for time_s in grid if start_s + _EDGE_S < time_s < end_s - _EDGE_S]
    return inner or [(start_s + end_s) / 2]


async def _add(
    context: ToolContext, state: StarState, wanted: Sequence[float], tool: str
) -> tuple[VisibleFrame, ...]:
    """Make evenly spread ones of the `wanted` seconds visible, within this call's share of the room."""
    visible = state.frames
    fresh = [time_s for time_s in wanted if visible.at(time_s) is None]
    share = min(visible.room, max(_LEAST_SHARE, visible.room // 2))
    times_s = evenly(fresh, share)
    if not times_s:
        return ()
    frames = await context.primitives.extract_video_parts(times_s, max_side=state.max_side)
    return visible.add(frames, f"{tool}, step {state.step}")


def _of(added: int, wanted: int) -> str:
    return str(added) if added == wanted else f"{added} of {wanted} at one a second"


def _segments(gaps: Sequence[tuple[float, float]]) -> str:
    lines = [f"{number}: {start:.1f}-{end:.1f} s" for number, (start, end) in enumerate(gaps, 1)]
    return "Unseen segments:\n" + "\n".join(lines)


def _known(frames: Sequence[VisibleFrame]) -> str:
    lines = [*description_lines(frames), *answer_lines(frames)]
    text = "\n".join(lines)[:_MOST_KNOWN] or "nothing yet"
    return f"{frames_line(frames)}\nWhat is known of them:\n{fence('known', text)}"


FRAME_EXTRACTION: StarTool = star_tool(
    name="frame-extraction-tool",
    kind="temporal",
    does=(
        "Chooses among the stretches of the video that no visible frame covers and makes frames there "
        "visible, one a second where there is room. Use it when what matters may lie between the "
        "visible frames."
    ),
    takes="what the new frames are to show.",
    run=_extract,
    prompt=SEGMENTS_PROMPT,
)

TEMPORAL_GROUNDING: StarTool = star_tool(
    name="temporal-grounding-tool",
    kind="temporal",
    does=(
        "Looks through the whole video for an event, says between which seconds it happens, and makes "
        "frames of it visible, one a second where there is room."
    ),
    takes="a description of one event, such as: a man opens the red door.",
    run=_ground,
    prompt=GROUNDING_PROMPT,
    works=lambda _: Working(mode="degraded", reason=_OBSERVED),
)
