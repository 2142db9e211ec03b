"""`global_browse_tool`, `clip_search_tool` and `finish`: what a question asks of the index of a video.

A search in the index is no primitive operation: it touches neither the media nor a model of a role.
Browsing asks the observer once, without a frame, and is one `analyze`.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import cast

import anyio.to_thread
from pydantic import BaseModel, ConfigDict, Field

from taketwo.benchmarks.canonical import JsonValue
from taketwo.tools.clip_index import Clip, span
from taketwo.tools.dvd_frame_inspect import FRAME_INSPECT
from taketwo.tools.fencing import FENCE_RULE, fence
from taketwo.tools.text_search import ranked
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_index import OpenedIndex
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool, Working

__all__ = ["BROWSE_PROMPT", "FINISH", "GLOBAL_BROWSE", "Finish", "clip_search", "dvd_tools"]

_BROWSED = 300
_BROWSED_CHARACTERS = 400_000
_FOUND_CHARACTERS = 60_000
_REGISTRY_CHARACTERS = 12_000
_MOST_CLIPS = 300

BROWSE_PROMPT = f"""\
You are given descriptions of the clips of a video, in order, each after its times, and a request. You
do not see the video. Write what the descriptions say about the request, thoroughly: every event that
bears on it, in order, with its times as they stand there, who takes part, and how the events hang
together. Where the request is about the whole video, give its course from start to end. Tell what the
descriptions state from what you conclude, and say what they leave open. {FENCE_RULE}"""


class GlobalBrowse(BaseModel):
    """What is to be found out about the whole video."""

    model_config = ConfigDict(extra="forbid")

    query: str = Field(
        min_length=1, max_length=4000, description="What to find out about the whole video"
    )


class ClipSearch(BaseModel):
    """What is sought."""

    model_config = ConfigDict(extra="forbid")

    event_description: str = Field(
        min_length=1, max_length=4000, description="What happens in the clips that are sought"
    )
    top_k: int = Field(
        default=16, ge=1, le=_MOST_CLIPS, description="How many clips to return at most"
    )


class Finish(BaseModel):
    """The answer."""

    model_config = ConfigDict(extra="forbid", coerce_numbers_to_str=True)

    answer: str = Field(min_length=1, max_length=20_000, description="The answer to the question")


def dvd_tools(*, top_k: int, lite: bool) -> tuple[VideoTool, ...]:
    """Return the visible tools; `lite` has none that looks at frames."""
    seeing = () if lite else (FRAME_INSPECT,)
    return (GLOBAL_BROWSE, clip_search(top_k), *seeing, FINISH)


def _works(context: ToolContext) -> Working:
    opened = context.state.find(OpenedIndex)
    if opened is None:
        return Working(mode="missing", reason="the video has no index")
    if not opened.index.has_text:
        what = "no clip could be described" if opened.index.described else "nothing is said"
        return Working(mode="missing", reason=f"the index of the video has no text: {what}")
    remark = opened.index.remark
    return Working() if remark is None else Working(mode="degraded", reason=remark)


def _opened(context: ToolContext) -> OpenedIndex:
    opened = context.state.find(OpenedIndex)
    if opened is None:
        raise ToolFailure("unavailable", "the video has no index", retryable=False)
    return opened


async def _best(opened: OpenedIndex, query: str, count: int, *, above: float | None) -> list[Clip]:
    """Return the clips that fit best, best first."""
    scores = await anyio.to_thread.run_sync(opened.search.scores, query)
    clips = opened.index.clips
    order = ranked(scores, len(clips), above=above)
    return [clips[place] for place in order if clips[place].text][:count]


async def _browse(context: ToolContext, arguments: BaseModel) -> ToolReply:
    query = cast("GlobalBrowse", arguments).query
    opened = _opened(context)
    best = await _best(opened, query, _BROWSED, above=None)
    shown = _written(best, _BROWSED_CHARACTERS)
    said = await context.primitives.analyze(
        system=BROWSE_PROMPT,
        text=f"Request:\n{fence('query', query)}\n\n{fence('clips', shown.text)}",
        frames=(),
    )
    registry, note = _registry(opened)
    fields = {
        "clips": f"{shown.count} of {len(opened.index.clips)} were read",
        **({} if note is None else {"registry": note}),
    }
    untrusted = {"subject_registry": registry, "query_related_event": said}
    return ToolReply(
        fields=fields,
        untrusted={name: text for name, text in untrusted.items() if text},
        truncated=shown.count < len(best),
    )


async def _search(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("ClipSearch", arguments)
    opened = _opened(context)
    best = await _best(opened, asked.event_description, asked.top_k, above=0.0)
    fields = {"search": opened.search.label}
    if not best:
        fields["clips"] = "none has anything in common with the description; try other words"
        return ToolReply(fields=fields)
    shown = _written(best, _FOUND_CHARACTERS)
    fields["clips"] = f"{shown.count} of {len(opened.index.clips)}, in order of time"
    if shown.count < len(best):
        fields["note"] = f"{len(best) - shown.count} more were left out because of their length"
    return ToolReply(
        fields=fields, untrusted={"clips": shown.text}, truncated=shown.count < len(best)
    )


@dataclass(frozen=True, kw_only=True)
class _Shown:
    """Clips as text, in order of time, and how many they are."""

    text: str
    count: int


def _written(best: Sequence[Clip], most: int) -> _Shown:
    """Return the best clips that fit into `most` characters; the first one does always."""
    kept: list[Clip] = []
    length = 0
    for clip in best:
        length += len(clip.text) + 30
        if kept and length > most:
            break
        kept.append(clip)
    entries = [
        f"[{span(clip.start_s, clip.end_s)}] {clip.text[:most]}"
        for clip in sorted(kept, key=lambda clip: clip.position)
    ]
    return _Shown(text="\n".join(entries), count=len(kept))


def _registry(opened: OpenedIndex) -> tuple[str, str | None]:
    """Return the subjects of the video as JSON, as many as fit, and what is to be said about them."""
    subjects = opened.index.registry
    kept: dict[str, JsonValue] = {}
    length = 2
    for name, subject in subjects.items():
        length += len(json.dumps({name: subject}, ensure_ascii=False))
        if length > _REGISTRY_CHARACTERS:
            break
        kept[name] = subject
    remarks: list[str] = []
    if opened.index.registry_problem is not None:
        remarks.append("those of the clips side by side, because they could not be merged")
    if len(kept) < len(subjects):
        remarks.append(f"{len(kept)} of {len(subjects)} subjects are shown")
    text = json.dumps(kept, ensure_ascii=False) if kept else ""
    return text, "; ".join(remarks) or None


async def _finish(context: ToolContext, arguments: BaseModel) -> ToolReply:
    del context, arguments  # an agent reads the answer out of the call, which is never made
    return ToolReply(fields={"status": "ended"})


GLOBAL_BROWSE = VideoTool(
    name="global_browse_tool",
    description=(
        "Get an overview of the whole video with regard to a query: the people and things that appear "
        "in it, and the events that bear on the query, with their times. It is written from "
        "descriptions of clips, not from the pictures."
    ),
    guidance=(
        "`global_browse_tool(query)` gives an overview of the whole video with regard to your query: "
        "who and what appears, and which events bear on it, with times. Use it for questions about "
        "the whole video, and as a first step."
    ),
    arguments=GlobalBrowse,
    run=_browse,
    prompts={"observer": BROWSE_PROMPT},
    works=_works,
)

FINISH = VideoTool(
    name="finish",
    description="End the work with your answer to the question.",
    guidance=(
        "`finish(answer)` ends the work with your answer. Call it when the evidence settles the "
        "question."
    ),
    arguments=Finish,
    run=_finish,
)


@cache
def clip_search(top_k: int) -> VideoTool:
    """Return the search for clips; `top_k` is how many it returns where the orchestrator does not say."""
    return VideoTool(
        name="clip_search_tool",
        description=(
            "Find the clips of the video whose descriptions fit an event best, and get those "
            "descriptions, with their times, in order of time."
        ),
        guidance=(
            "`clip_search_tool(event_description, top_k)` finds the clips whose descriptions fit an "
            "event best. Use it where you do not know when something happens. Describe what would be "
            "seen or said; search again in other words where nothing fits."
        ),
        arguments=_arguments(top_k),
        run=_search,
        works=_works,
    )


def _arguments(default: int) -> type[ClipSearch]:
    class _ClipSearch(ClipSearch):
        top_k: int = Field(
            default=default, ge=1, le=_MOST_CLIPS, description="How many clips to return at most"
        )

    return _ClipSearch
