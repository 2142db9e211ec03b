"""STAR's tools that ask every visible frame the same thing: a question, or for a description.

Published code runs LLaVA-1.5-7B frame by frame. Here the observer gets batches of frames and replies
by their times; a frame that it leaves out is asked for once more and then stays without an answer.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeVar

from pydantic import BaseModel

from taketwo.tools.budget import BudgetExhausted
from taketwo.tools.fencing import FENCE_RULE
from taketwo.tools.star_forms import FrameAnswers
from taketwo.tools.star_frames import FrameAnswer, VisibleFrame, timed_lines
from taketwo.tools.star_tool import (
    StarTool,
    asked_of,
    crop_remark,
    focused_frames,
    no_form,
    pictures,
    request,
    star_tool,
)
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_tool import ToolContext, ToolReply

__all__ = [
    "FRAME_PROMPT",
    "IMAGE_CAPTION",
    "IMAGE_QUESTION_ANSWERING",
    "FrameReplies",
    "asked_in_batches",
    "frames_reply",
]

FRAME_PROMPT = f"""\
You look at single frames of a video for a colleague who cannot see them. Each frame stands after its
time, as in [frame at 12.00 s]. Treat every frame as if it were the only one: say what this frame
shows and nothing that you know from another one. Where a frame does not show what is asked for, say
"not visible" for it. Write text exactly as it stands in the picture.

Reply with one entry for each frame; its time_s is the time that stands before the frame. Keep each
entry to one or two sentences. {FENCE_RULE}"""

_DESCRIBE = (
    "Describe each frame: the people and things in it with their colours, what they do, where they "
    "are in the picture, the place, and any text."
)
_BATCH = 8
_LONGEST = 600
_MOST_CHARACTERS = 8000
_NEAR_S = 0.5
_ROUNDED_S = 0.006
_Form = TypeVar("_Form", bound=BaseModel)


@dataclass
class FrameReplies:
    """What was said of frames, which were shown, and why some were not."""

    said: list[tuple[VisibleFrame, str]] = field(default_factory=list[tuple[VisibleFrame, str]])
    shown: list[VisibleFrame] = field(default_factory=list["VisibleFrame"])
    stopped: str = ""


async def asked_in_batches(
    context: ToolContext,
    frames: Sequence[VisibleFrame],
    *,
    form: type[_Form],
    system: str,
    text: str,
    entries: Callable[[_Form], Sequence[tuple[float, str]]],
) -> FrameReplies:
    """Ask about `frames`, a batch at a time, and return what was said of each.

    Raises
    ------
    BudgetExhausted, ToolFailure
        If not even the first batch could be asked, or gave no usable reply.
    """
    replies = FrameReplies()
    waiting = list(frames)
    again: list[VisibleFrame] = []
    while waiting or again:
        is_second = not waiting
        source = again if is_second else waiting
        try:
            batch = source[: min(_BATCH, context.frames_left())]
            del source[: len(batch)]
            reply = await context.primitives.analyze_in_form(
                form,
                system=system,
                text=f"{text}\n\n{crop_remark(batch)}".strip(),
                frames=pictures(batch),
            )
            replies.shown += [] if is_second else batch
            if reply.value is None:
                raise no_form(reply.asked, reply.problem)
        except (BudgetExhausted, ToolFailure) as error:
            if not replies.said:
                raise
            replies.stopped = str(error)
            break
        found = _by_frame(entries(reply.value), [frame.time_s for frame in batch])
        replies.said += [(frame, found[frame.time_s]) for frame in batch if frame.time_s in found]
        if found and not is_second:
            again += [frame for frame in batch if frame.time_s not in found]
    return replies


def _by_frame(said: Sequence[tuple[float, str]], times_s: Sequence[float]) -> dict[float, str]:
    """Return what was said by the time of the frame that it is about; the last word counts."""
    found: dict[float, str] = {}
    for time_s, text in said:
        nearest = _nearest(time_s, times_s)
        if nearest is not None and text.strip():
            found[nearest] = text.strip()[:_LONGEST]
    return found


def _nearest(time_s: float, times_s: Sequence[float]) -> float | None:
    """Return the frame's time that `time_s` means: the nearest one, less than half a step away."""
    steps = [after - before for before, after in pairwise(sorted(times_s))]
    within_s = max(_ROUNDED_S, min([_NEAR_S, *(step / 2 for step in steps)]))
    nearest = min(times_s, key=lambda known: abs(known - time_s))
    return nearest if abs(nearest - time_s) <= within_s else None


def frames_reply(
    replies: FrameReplies, asked: Sequence[VisibleFrame], known: int, name: str
) -> ToolReply:
    """Return the result of a tool that asked frames: how many, why not all, and what was said."""
    missing = len(asked) - len(replies.said)
    fields = {"frames asked": str(len(asked)), "answered": str(len(replies.said))}
    if known:
        fields["answered before"] = f"{known}; not asked again"
    if missing:
        why = f"; {replies.stopped}" if replies.stopped else ""
        fields["note"] = f"frames without an answer: {missing}{why}"
    lines = "\n".join(timed_lines([(frame.time_s, said) for frame, said in replies.said]))
    is_long = len(lines) > _MOST_CHARACTERS
    if is_long:
        fields["cut"] = f"after {_MOST_CHARACTERS} of {len(lines)} characters"
    return ToolReply(
        fields=fields,
        untrusted={name: lines[:_MOST_CHARACTERS]} if lines else {},
        seen=pictures(replies.shown),
        truncated=is_long or bool(replies.stopped),
    )


def _answers(form: FrameAnswers) -> list[tuple[float, str]]:
    return [(entry.time_s, entry.answer) for entry in form.answers]


async def _answer(context: ToolContext, text: str) -> ToolReply:
    question = asked_of(text, "a question that one frame can answer")
    frames = await focused_frames(context)
    asked = [frame for frame in frames if not frame.has_answered(question)]
    if not asked:
        fields = {"frames asked": "0", "note": "every frame in focus has answered exactly this"}
        return ToolReply(fields=fields)
    replies = await asked_in_batches(
        context,
        asked,
        form=FrameAnswers,
        system=FRAME_PROMPT,
        text=request(context, "What is asked of each frame", question),
        entries=_answers,
    )
    for frame, said in replies.said:
        frame.answers.append(FrameAnswer(question=question, answer=said, view=frame.view))
    return frames_reply(replies, asked, len(frames) - len(asked), "answers")


async def _caption(context: ToolContext, text: str) -> ToolReply:
    frames = await focused_frames(context)
    asked = [frame for frame in frames if _caption_of(frame) not in frame.notes]
    if not asked:
        fields = {"frames asked": "0", "note": "every frame in focus is described already"}
        return ToolReply(fields=fields)
    replies = await asked_in_batches(
        context,
        asked,
        form=FrameAnswers,
        system=FRAME_PROMPT,
        text=f"{_DESCRIBE}\n\n{request(context, 'Look especially at', text)}".strip(),
        entries=_answers,
    )
    for frame, said in replies.said:
        frame.notes[_caption_of(frame)] = said
    return frames_reply(replies, asked, len(frames) - len(asked), "descriptions")


def _caption_of(frame: VisibleFrame) -> str:
    return f"description of {frame.view}"


IMAGE_QUESTION_ANSWERING: StarTool = star_tool(
    name="image-question-answering-tool",
    kind="spatial",
    does=(
        "Asks every frame in focus the same question, each on its own, and keeps the answers with the "
        "frames. No frame knows of the others, so ask for what one picture can show (which colour, "
        "what text, who is there) and compare the answers yourself."
    ),
    takes="the question, as one would put it to a single photograph.",
    run=_answer,
    prompt=FRAME_PROMPT,
)

IMAGE_CAPTION: StarTool = star_tool(
    name="image-caption-tool",
    kind="spatial",
    does=(
        "Describes every frame in focus in one or two sentences and keeps the descriptions with the "
        "frames. Use it when it is not yet clear what to ask."
    ),
    takes="what to look at especially, or nothing.",
    run=_caption,
    prompt=f"{FRAME_PROMPT}\n\n{_DESCRIBE}",
)
