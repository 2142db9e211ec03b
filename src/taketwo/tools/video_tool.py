"""What a visible tool is: a name, typed arguments, guidance, and a function over the primitives."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from typing import Literal, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from taketwo.benchmarks.canonical import JsonValue
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.media.sampling import clamp_window
from taketwo.tools.cell_state import CellState
from taketwo.tools.fencing import fence
from taketwo.tools.primitives import Primitives, SeenFrame
from taketwo.tools.seconds import Seconds
from taketwo.tools.tool_failure import ToolFailure

__all__ = [
    "Resolution",
    "Seconds",
    "ToolContext",
    "ToolFailure",
    "ToolReply",
    "VideoTool",
    "Window",
    "Working",
    "max_side_of",
]

Resolution = Literal["low", "medium", "high"]
_MAX_SIDE: Mapping[Resolution, int] = {"low": 320, "medium": 640, "high": 1280}


def max_side_of(resolution: Resolution) -> int:
    """Return the longer side of frames at a resolution, in pixels; smaller videos are not enlarged."""
    return _MAX_SIDE[resolution]


@dataclass(frozen=True, kw_only=True)
class ToolReply:
    """The result of a call.

    `fields` are ours and stand first, one line each; `untrusted` is text from the video or a model
    by name and is fenced; `frames` follow as pictures with their times, `seen` were only looked at.
    `data` is the result as values, for those who work with it in code. `truncated` marks a result
    that holds less than was asked for, which a field says too.
    """

    fields: Mapping[str, str] = field(default_factory=dict[str, str])
    untrusted: Mapping[str, str] = field(default_factory=dict[str, str])
    frames: tuple[SeenFrame, ...] = ()
    seen: tuple[SeenFrame, ...] = ()
    truncated: bool = False
    data: Mapping[str, JsonValue] = field(default_factory=dict[str, JsonValue])

    def to_text(self) -> str:
        """Return the textual part as the orchestrator sees it."""
        lines = [f"{name}: {value}" for name, value in self.fields.items()]
        return "\n".join([*lines, *(fence(name, text) for name, text in self.untrusted.items())])

    def to_dict(self) -> dict[str, JsonValue]:
        """Return the result as values: fields and texts by name, `data` in place of equal names.

        Texts of the video, a model or the web are in it unfenced.
        """
        whole: dict[str, JsonValue] = {**self.fields, **self.untrusted, **self.data}
        return {**whole, "truncated": True} if self.truncated else whole


@dataclass(frozen=True, kw_only=True)
class ToolContext:
    """What a tool works with: the cell's primitives, and the question where it may be seen.

    `max_frames` caps the frames of one look; `state` is what the agent and its tools remember.
    """

    primitives: Primitives
    question: VisibleQuestion | None
    max_frames: int
    state: CellState = field(default_factory=CellState)

    @property
    def duration_s(self) -> float:
        """Return the duration of the video in seconds."""
        return self.primitives.media.info.duration_s

    @property
    def has_audio(self) -> bool:
        """Return whether the video has sound or subtitles that stand in for it."""
        media = self.primitives.media
        return media.info.has_audio or media.subtitles is not None

    def frames_left(self) -> int:
        """Return how many frames one look may take now.

        Raises
        ------
        ToolFailure
            If the cell may hand no further frame to a model.
        """
        left = self.primitives.account.budget.left("frames")
        allowed = self.max_frames if left is None else min(self.max_frames, int(left))
        if allowed < 1:
            raise ToolFailure(
                "budget_exhausted",
                "the budget of frames is used up; answer from what is known",
                retryable=False,
            )
        return allowed


@dataclass(frozen=True, kw_only=True)
class Working:
    """Whether a tool can do its work in a cell: `degraded` and `missing` have a reason."""

    mode: Literal["full", "degraded", "missing"] = "full"
    reason: str = ""


@dataclass(frozen=True, kw_only=True)
class VideoTool:
    """A tool that the orchestrator sees.

    `guidance` is what the system prompt says of it; `prompts` are the templates that it sends to
    other models, by role, and whatever else of it must be held fixed, by a name of its own.
    `hidden_arguments` are accepted and not shown. `works` says how well it can work in a cell: a
    degraded tool says so in each of its results, a missing one is not shown and not called.
    """

    name: str
    description: str
    guidance: str
    arguments: type[BaseModel]
    run: Callable[[ToolContext, BaseModel], Awaitable[ToolReply]]
    prompts: Mapping[str, str] = field(default_factory=dict[str, str])
    hidden_arguments: frozenset[str] = frozenset()
    works: Callable[[ToolContext], Working] = field(default=lambda _: Working())

    def schema(self) -> dict[str, JsonValue]:
        """Return the tool as function schema: name, description and parameters."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": _parameters(self.arguments, self.hidden_arguments),
        }

    async def call(self, context: ToolContext, arguments: Mapping[str, object]) -> ToolReply:
        """Check the arguments and run the tool.

        Raises
        ------
        ToolFailure
            With code `invalid_arguments` where they do not fit, or as the tool says.
        """
        try:
            # A model that has nothing to say about an argument may send null.
            given = {name: value for name, value in arguments.items() if value is not None}
            checked = self.arguments.model_validate(given)
        except ValidationError as error:
            raise ToolFailure(
                "invalid_arguments", _explained(self.name, error), retryable=True
            ) from error
        working = self.works(context)
        if working.mode == "missing":
            raise ToolFailure(
                "unavailable", f"{self.name} cannot work here: {working.reason}", retryable=False
            )
        reply = await self.run(context, checked)
        if working.mode == "degraded":
            reply = replace(reply, fields={"mode": f"degraded: {working.reason}", **reply.fields})
        return reply


class Window(BaseModel):
    """Arguments that name a part of the video; both ends may be left out."""

    model_config = ConfigDict(extra="forbid")

    start_time: Seconds | None = Field(
        default=None, description="Start of the window in seconds; the start of the video if absent"
    )
    end_time: Seconds | None = Field(
        default=None, description="End of the window in seconds; the end of the video if absent"
    )

    def clamped(self, duration_s: float) -> tuple[float, float, list[str]]:
        """Return start, end and remarks about what was changed to fit the video.

        Raises
        ------
        ToolFailure
            With code `invalid_window` where nothing of the video is left.
        """
        notes: list[str] = []
        end_time = self.end_time
        if end_time is not None and end_time < 0:
            notes.append(f"end {end_time:g} s is negative and was read as the end of the video")
            end_time = None
        try:
            start_s, end_s = clamp_window(self.start_time, end_time, duration_s)
        except ValueError as error:
            raise ToolFailure("invalid_window", str(error), retryable=True) from error
        if self.start_time is not None and self.start_time != start_s:
            notes.append(f"start {self.start_time:g} s was moved to {start_s:g} s")
        if end_time is not None and end_time != end_s:
            notes.append(f"end {end_time:g} s was moved to the end of the video, {end_s:g} s")
        return start_s, end_s, notes


_Schema = dict[str, JsonValue]


@cache
def _parameters(arguments: type[BaseModel], hidden: frozenset[str]) -> Mapping[str, JsonValue]:
    """Return the JSON schema of the arguments: no titles, and no nulls (leave the argument out)."""
    schema = cast("_Schema", arguments.model_json_schema(by_alias=False))
    properties: dict[str, JsonValue] = {}
    for name, entry in cast("dict[str, _Schema]", schema.get("properties", {})).items():
        if name in hidden:
            continue
        kinds = cast("list[_Schema]", entry.get("anyOf", []))
        chosen = next((kind for kind in kinds if kind.get("type") != "null"), _Schema())
        kept = {
            key: value
            for key, value in {**entry, **chosen}.items()
            if key not in {"title", "anyOf"} and not (key == "default" and value is None)
        }
        properties[name] = kept
    return {
        "type": "object",
        "properties": properties,
        "required": cast("list[str]", schema.get("required", [])),
        "additionalProperties": False,
    }


def _explained(tool: str, error: ValidationError) -> str:
    problems = [
        f"{'.'.join(map(str, item['loc'])) or 'arguments'}: {item['msg']}, found {item['input']!r:.80}"
        for item in error.errors(include_url=False)
    ]
    return f"{tool} cannot be called with these arguments: {'; '.join(problems[:5])}"
