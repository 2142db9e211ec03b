"""`analyze`: an observer judges or describes frames that were extracted before, or those of a window.

Frames are named by what `extract_video_parts` called them. In SAGE's released code a model names
files, any of which is read and sent; here a name that is not on the cell's shelf is either the
question's own video or an error. An empty list takes the frames that were extracted last, and says so.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Annotated, Literal, Self, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from taketwo.benchmarks.canonical import JsonValue
from taketwo.media.sampling import times_by_fps
from taketwo.tools.clip_arguments import (
    HIDDEN_PATH,
    ClipArguments,
    names_own_video,
    with_our_names,
)
from taketwo.tools.extract_video_parts import frames_remark, frames_wanted
from taketwo.tools.fencing import FENCE_RULE, fence, question_block
from taketwo.tools.media_shelf import MediaShelf, in_time_order
from taketwo.tools.primitives import SeenFrame
from taketwo.tools.tool_failure import ToolFailure
from taketwo.tools.video_tool import ToolContext, ToolReply, VideoTool, max_side_of

__all__ = ["ANALYZE", "ANSWER_PROMPT", "OBSERVE_PROMPT", "Analyze", "Judgement"]

ANSWER_PROMPT = f"""\
You judge what frames of a video prove. You get a request and frames, each after its time, as in
[frame at 12.00 s]. Use the frames and nothing else.

- answerable says whether the frames settle the request. Where something that it hangs on cannot be
  seen, answerable is false: do not fill the gap with what is likely.
- final_answer is the answer to the request, as short as it can be; left out where answerable is false.
- reasoning names the frames that speak for it by their seconds, and what is missing, in a few
  sentences. Do not plan further steps.

{FENCE_RULE}"""

OBSERVE_PROMPT = f"""\
You write down what frames of a video show. You get a request that says what to look at and frames,
each after its time, as in [frame at 12.00 s].

Reply as a list, one observation a line, each beginning with its time, as in [12.0 s] or
[3.0-9.0 s]. Write text on screen exactly as it stands, say how many where something is counted, and
keep what is seen apart from what you take it for. Where what the request asks about is not to be
seen, write one line that says so. Give no verdict: you do not answer a question, choose an option or
recommend anything, even where the request asks for it.

{FENCE_RULE}"""

_FPS = 1.0
_MAX_CHARACTERS = 24_000
_NAMES: Mapping[str, str] = MappingProxyType({"media_paths": "media"})


def _list_of_names(value: object) -> object:
    """Read one name, and a list that was written as text."""
    if not isinstance(value, str):
        return value
    text = value.strip()
    if text.startswith("["):
        try:
            return json.loads(text)
        except (ValueError, RecursionError):
            return [text]
    return [text] if text else []


class Analyze(ClipArguments):
    """What to find out, of which frames, and in which way."""

    query: str = Field(min_length=1, max_length=8000, description="What to find out, in words")
    media: Annotated[list[str], BeforeValidator(_list_of_names)] = Field(
        default_factory=list,
        max_length=64,
        description="Names of frames that were extracted, such as frames_1; or give a window",
    )
    mode: Literal["answer", "observe"] = Field(
        default="answer",
        description="answer: whether the frames settle it, and how; observe: what they show, no verdict",
    )

    @model_validator(mode="before")
    @classmethod
    def _our_media(cls, values: object) -> object:
        return with_our_names(values, _NAMES)


class Judgement(BaseModel):
    """The observer's reply in mode `answer`."""

    model_config = ConfigDict(coerce_numbers_to_str=True)

    answerable: bool
    final_answer: str | None = None
    reasoning: str = ""

    @model_validator(mode="after")
    def _has_its_answer(self) -> Self:
        if self.answerable and not (self.final_answer or "").strip():
            raise ValueError("answerable is true, so final_answer is needed")
        return self


@dataclass(frozen=True, kw_only=True)
class _Media:
    """The frames of an analysis, where they come from, and what is to be said of that."""

    frames: tuple[SeenFrame, ...]
    names: tuple[str, ...]
    remark: str
    notes: tuple[str, ...]
    is_less: bool


async def _run(context: ToolContext, arguments: BaseModel) -> ToolReply:
    asked = cast("Analyze", arguments)
    media = await _media_of(context, asked)
    parts = [f"Request:\n{fence('request', asked.query)}"]
    if context.question is not None:
        parts.append(f"For context, the question behind it:\n{question_block(context.question)}")
    text = "\n\n".join(parts)
    fields = {"media": ", ".join(media.names), "frames": media.remark, "mode": asked.mode}
    notes = [*media.notes, *asked.path_remarks(context)]
    data: dict[str, JsonValue] = {
        "media": list(media.names),
        "frame_times_s": [frame.time_s for frame in media.frames],
    }
    if asked.mode == "observe":
        seen = await context.primitives.analyze(
            system=OBSERVE_PROMPT, text=text, frames=media.frames
        )
        untrusted = {"observations": seen}
        data["observations"] = seen
    else:
        judged = await _judged(context, text, media.frames)
        answer = judged.final_answer if judged.answerable else None
        untrusted = {} if answer is None else {"final_answer": answer}
        untrusted |= {"reasoning": judged.reasoning} if judged.reasoning.strip() else {}
        fields["answerable"] = "yes" if judged.answerable else "no"
        data |= {
            "answerable": judged.answerable,
            "final_answer": answer,
            "reasoning": judged.reasoning,
        }
    is_long = any(len(value) > _MAX_CHARACTERS for value in untrusted.values())
    if is_long:
        notes.append(f"the reply was cut after {_MAX_CHARACTERS} characters")
    if notes:
        fields["note"] = "; ".join(notes)
    return ToolReply(
        fields=fields,
        untrusted={name: value[:_MAX_CHARACTERS] for name, value in untrusted.items()},
        seen=media.frames,
        truncated=is_long or media.is_less,
        data=data,
    )


async def _judged(context: ToolContext, text: str, frames: Sequence[SeenFrame]) -> Judgement:
    reply = await context.primitives.analyze_in_form(
        Judgement, system=ANSWER_PROMPT, text=text, frames=frames
    )
    if reply.value is None:
        raise ToolFailure(
            "unreadable_reply",
            f"the observer gave no usable reply in {reply.asked} tries: {reply.problem}",
            retryable=True,
        )
    return reply.value


async def _media_of(context: ToolContext, asked: Analyze) -> _Media:
    shelf = context.state.get(MediaShelf)
    has_window = asked.start_time is not None or asked.end_time is not None
    names = [name for name in asked.media if name.strip()]
    if not names and has_window:
        return await _of_window(context, asked)
    notes: list[str] = []
    if not names:
        if shelf.latest is None:
            raise ToolFailure(
                "unknown_media",
                "no frames were named and none were extracted yet; give start_time and end_time, "
                "or extract frames first",
                retryable=True,
            )
        names = [shelf.latest]
        notes.append(f"no frames were named, so those extracted last were taken: {shelf.latest}")
    if all(shelf.find(name) is None and names_own_video(name, context) for name in names):
        return await _of_window(context, asked)
    frames = in_time_order(frame for name in names for frame in _on_shelf(shelf, name))
    if has_window:
        start_s, end_s, moved = asked.clamped(context.duration_s)
        notes += moved
        frames = tuple(frame for frame in frames if start_s <= frame.time_s <= end_s)
        if not frames:
            raise ToolFailure(
                "invalid_window",
                f"none of the frames of {', '.join(names)[:200]} lies in {start_s:g}-{end_s:g} s; "
                "leave out the window or the names",
                retryable=True,
            )
    kept = _thinned(frames, context.frames_left())
    return _Media(
        frames=kept,
        names=tuple(names),
        remark=frames_remark(kept, len(frames), context.frames_left()),
        notes=tuple(notes),
        is_less=len(kept) < len(frames),
    )


def _on_shelf(shelf: MediaShelf, name: str) -> tuple[SeenFrame, ...]:
    frames = shelf.find(name)
    if frames is None:
        known = ", ".join(shelf.names) or "none yet"
        raise ToolFailure(
            "unknown_media",
            f"there are no frames called {name!r:.80}; extracted are {known}. Files cannot be named",
            retryable=True,
        )
    return frames


async def _of_window(context: ToolContext, asked: Analyze) -> _Media:
    start_s, end_s, notes = asked.clamped(context.duration_s)
    cap = context.frames_left()
    wanted = frames_wanted(start_s, end_s, _FPS)
    frames = await context.primitives.extract_video_parts(
        times_by_fps(start_s, end_s, _FPS, cap), max_side=max_side_of("medium")
    )
    return _Media(
        frames=frames,
        names=(f"{start_s:.1f}-{end_s:.1f} s of the video",),
        remark=frames_remark(frames, wanted, cap),
        notes=tuple(notes),
        is_less=wanted > cap,
    )


def _thinned(frames: tuple[SeenFrame, ...], most: int) -> tuple[SeenFrame, ...]:
    """Return at most so many frames, spread evenly, first and last among them."""
    if len(frames) <= most:
        return frames
    if most == 1:
        return (frames[len(frames) // 2],)
    last = len(frames) - 1
    return tuple(frames[round(last * number / (most - 1))] for number in range(most))


ANALYZE = VideoTool(
    name="analyze",
    description=(
        "Have an observer look at extracted frames, or at frames of a window, and either judge "
        "whether they settle a request or write down what they show."
    ),
    guidance=(
        "`analyze(query, media, start_time, end_time, mode)` has an observer look at frames: those "
        "that were extracted under the names in `media`, such as frames_1, or one frame a second of a "
        "window. In mode answer it says whether the frames settle the query, and how; in mode observe "
        "it lists what they show with the seconds, without a verdict. It hears nothing and knows "
        "nothing of earlier calls: say in `query` all that it needs."
    ),
    arguments=Analyze,
    run=_run,
    prompts={"observer": f"{ANSWER_PROMPT}\n\f\n{OBSERVE_PROMPT}"},
    hidden_arguments=HIDDEN_PATH,
)
