"""Arguments of a video tool, filled in by what its own schema calls them."""

from __future__ import annotations

from dataclasses import dataclass

from inspect_ai.tool import ToolInfo, ToolParam
from pydantic import JsonValue

__all__ = ["LISTENING", "LOOKING", "Look", "arguments_for", "usable"]

LOOKING = ("analyze_video", "extract_video_parts")
LISTENING = ("get_transcript", "transcribe_speech")

_START = ("start_time", "start", "start_s", "timestamp_start")
_END = ("end_time", "end", "end_s", "timestamp_end")
_FOCUS = ("focus", "query")
_TIMES = ("times", "times_s", "timestamps")
_FRAMES_AT_ONCE = 8


@dataclass(frozen=True, kw_only=True)
class Look:
    """A stretch of the video to look at or listen to; None for an end that is left open."""

    start_s: float | None = None
    end_s: float | None = None
    fps: float = 1.0
    focus: str = ""
    is_close: bool = False


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


def _value(name: str, param: ToolParam, look: Look) -> JsonValue:
    if name in _START and look.start_s is not None:
        return _second(look.start_s, param)
    if name in _END and look.end_s is not None:
        return _second(look.end_s, param)
    if name in _TIMES and look.end_s is not None:
        return _times(look)
    if name in _FOCUS and look.focus:
        return look.focus
    if name == "fps":
        return _number(look.fps, param)
    if name == "resolution" and look.is_close and "high" in (param.enum or []):
        return "high"
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
