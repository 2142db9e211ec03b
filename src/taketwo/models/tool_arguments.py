"""Arguments of a video tool, filled in by what its own schema calls them."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from inspect_ai.tool import ToolInfo, ToolParam
from pydantic import JsonValue

from taketwo.models.video_lines import clock

__all__ = [
    "LISTENING",
    "LOOKING",
    "Look",
    "answering_tool",
    "arguments_for",
    "other_tools",
    "usable",
]

LOOKING = ("analyze_video", "extract_video_parts")
LISTENING = ("get_transcript", "transcribe_speech")

_START = ("start_time", "start", "start_s", "timestamp_start")
_END = ("end_time", "end", "end_s", "timestamp_end")
_FOCUS = ("focus", "query", "question", "subject", "topic", "target", "prompt", "description")
_THING = ("event", "event_description", "shown", "moment", "object", "input")
_ITEMS = ("options", "statements", "items", "choices", "events", "queries")
_TIMES = ("times", "times_s", "timestamps")
_RANGES = ("time_ranges_hhmmss", "time_ranges", "ranges", "windows", "regions", "spans")
_ANSWERING = re.compile(r"^(finish|submit|final|give_answer|answer)\w*$")
_ANSWER = ("answer", "final_answer", "text", "response")
# The web says nothing about a video that somebody painted or filmed, and pages are never opened blindly.
_OUTSIDE = re.compile(r"web|url|internet|search_engine|browser")
_FRAMES_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Look:
    """A stretch of the video to look at or listen to; None for an end that is left open.

    `focus` is a question or a theme, `thing` an event or an object in a few words, `items` are
    statements to look into one by one.
    """

    start_s: float | None = None
    end_s: float | None = None
    fps: float = 1.0
    focus: str = ""
    is_close: bool = False
    thing: str = ""
    items: tuple[str, ...] = ()


def _number(value: float, param: ToolParam) -> JsonValue:
    if param.type == "integer":
        return max(1, round(value))
    return f"{value:.1f}" if param.type == "string" else round(value, 2)


def _second(value: float, param: ToolParam) -> JsonValue:
    if param.type == "integer":
        return round(value)
    return f"{value:.1f}" if param.type == "string" else round(value, 2)


def _times(look: Look) -> list[JsonValue]:
    start_s, end_s = look.start_s or 0.0, look.end_s or 0.0
    step = (end_s - start_s) / (_FRAMES_AT_ONCE - 1)
    return [round(start_s + number * step, 2) for number in range(_FRAMES_AT_ONCE)]


def _range(name: str, start_s: float, end_s: float, param: ToolParam) -> JsonValue:
    """Return a stretch in the type that its ends have: `HH:MM:SS` in texts, else seconds."""
    ends = param.items.items if param.items is not None else None
    is_text = "hhmmss" in name or (ends is not None and ends.type == "string")
    return [clock(start_s), clock(math.ceil(end_s))] if is_text else [start_s, end_s]


def _value(name: str, param: ToolParam, look: Look) -> JsonValue:
    if name in _START and look.start_s is not None:
        return _second(look.start_s, param)
    if name in _END and look.end_s is not None:
        return _second(look.end_s, param)
    if name in _TIMES and look.end_s is not None:
        return _times(look)
    if name in _FOCUS and look.focus:
        return look.focus
    if name in _THING and (look.thing or look.focus):
        return look.thing or look.focus
    if name in _ITEMS and param.type in {None, "array"}:
        return [*(look.items or (look.focus,))] if look.items or look.focus else None
    if name in _RANGES and look.start_s is not None and look.end_s is not None:
        return [_range(name, look.start_s, look.end_s, param)]
    if name == "fps":
        return _number(look.fps, param)
    if name == "resolution" and look.is_close and "high" in (param.enum or []):
        return "high"
    if name == "mode" and not look.is_close and "observe" in (param.enum or []):
        return "observe"
    if name == "extract_type":
        return "frames"
    return None


def arguments_for(tool: ToolInfo, look: Look) -> dict[str, JsonValue] | None:
    """Return the arguments of `tool` for `look`; None where it requires something we cannot fill."""
    values = {name: _value(name, param, look) for name, param in tool.parameters.properties.items()}
    arguments: dict[str, JsonValue] = {
        name: value for name, value in values.items() if value is not None
    }
    missing = [name for name in tool.parameters.required if name not in arguments]
    return None if missing else arguments


def usable(tools: list[ToolInfo], names: tuple[str, ...]) -> ToolInfo | None:
    """Return the first of `names` among `tools`, in the order of `names`."""
    by_name = {tool.name: tool for tool in tools}
    return next((by_name[name] for name in names if name in by_name), None)


def answering_tool(tools: Sequence[ToolInfo]) -> tuple[str, str] | None:
    """Return the tool that takes the answer, and its argument for it; None where there is none."""
    for tool in tools:
        names = [name for name in _ANSWER if name in tool.parameters.properties]
        if _ANSWERING.match(tool.name) and names:
            return tool.name, names[0]
    return None


def other_tools(tools: Sequence[ToolInfo]) -> list[ToolInfo]:
    """Return the tools that are known by their arguments alone: neither looks, ears, answers nor the web."""
    answering = answering_tool(tools)
    known = {*LOOKING, *LISTENING, *((answering[0],) if answering else ())}
    return [
        tool
        for tool in tools
        if tool.name not in known
        and not _OUTSIDE.search(tool.name)
        and not any(_OUTSIDE.search(name) for name in tool.parameters.properties)
    ]
