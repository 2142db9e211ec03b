"""STAR's count of one kind of thing in every visible frame: by a detector, or by the observer.

Published code runs YOLOE-11L-seg and keeps the counts of the first class that was asked for only.
Here the counts of every class are kept, and counts that an observer estimated say that they were.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import anyio.to_thread

from taketwo.tools.fencing import FENCE_RULE
from taketwo.tools.seen_frames import SeenFrame
from taketwo.tools.star_forms import FrameCounts
from taketwo.tools.star_frame_answers import FrameReplies, asked_in_batches, frames_reply
from taketwo.tools.star_frames import VisibleFrame
from taketwo.tools.star_tool import (
    StarTool,
    asked_of,
    focused_frames,
    pictures,
    request,
    star_tool,
)
from taketwo.tools.video_tool import ToolContext, ToolReply, Working

__all__ = ["COUNT_PROMPT", "Detection", "Detector", "object_tracking_tool"]

COUNT_PROMPT = f"""\
You count things in single frames of a video. Each frame stands after its time, as in
[frame at 12.00 s]. Count in every frame on its own how many of the named thing can be seen in it,
those that are partly covered included, and reflections and pictures of it left out. 0 is a count.

Reply with one entry for each frame; its time_s is the time that stands before the frame.
{FENCE_RULE}"""

_ESTIMATED = "counts are the observer's estimates, frame by frame, with no detector: low trust"
_LONGEST = 60
_LEAST_CONFIDENCE = 0.25


@dataclass(frozen=True, kw_only=True)
class Detection:
    """One thing found in a frame.

    `box` is x0, y0, x1, y1 as shares of width and height from the upper left corner; `confidence`
    lies between 0 and 1.
    """

    time_s: float
    label: str
    box: tuple[float, float, float, float]
    confidence: float


class Detector(Protocol):
    """A model that finds things of a named class in frames."""

    @property
    def identity(self) -> str:
        """Return which detector this is: name, version, weights and settings."""
        ...

    def detect(self, frames: Sequence[SeenFrame], label: str) -> Sequence[Detection]:
        """Return what is found of `label`, each with the `time_s` of its frame; may block."""
        ...


def object_tracking_tool(detector: Detector | None = None) -> StarTool:
    """Return the counting tool; without a detector it works degraded, by the observer."""

    async def run(context: ToolContext, text: str) -> ToolReply:
        label = asked_of(text, "one kind of thing, such as dog")[:_LONGEST]
        frames = await focused_frames(context)
        if detector is None:
            replies = await _estimated(context, frames, label)
            trust = ", low trust"
        else:
            replies = await _detected(context, detector, frames, label)
            trust = ""
        for frame, count in replies.said:
            frame.notes[f"count of {label}"] = f"{count}{trust}"
        return frames_reply(replies, frames, 0, "counts")

    tool = star_tool(
        name="object-tracking-tool",
        kind="spatial",
        does="Counts one kind of thing in every frame in focus and keeps the counts with the frames.",
        takes="the kind of thing, one noun, such as dog.",
        run=run,
        prompt=COUNT_PROMPT,
        works=lambda _: Working(mode="degraded", reason=_ESTIMATED),
    )
    if detector is None:
        return tool
    return replace(tool, prompts={"detector": detector.identity}, works=_works_fully)


async def _estimated(
    context: ToolContext, frames: Sequence[VisibleFrame], label: str
) -> FrameReplies:
    return await asked_in_batches(
        context,
        frames,
        form=FrameCounts,
        system=COUNT_PROMPT,
        text=request(context, "What to count", label),
        entries=lambda form: [(entry.time_s, str(entry.count)) for entry in form.counts],
    )


async def _detected(
    context: ToolContext, detector: Detector, frames: Sequence[VisibleFrame], label: str
) -> FrameReplies:
    found = await anyio.to_thread.run_sync(
        detector.detect, pictures(frames), label, limiter=context.primitives.media.slots
    )
    counts = Counter(item.time_s for item in found if item.confidence >= _LEAST_CONFIDENCE)
    said = [(frame, str(counts[frame.time_s])) for frame in frames]
    return FrameReplies(said=said, shown=list(frames))


def _works_fully(_: ToolContext) -> Working:
    return Working()
