"""The visible tools by name; schemas, guidance and prompts are generated from here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.errors import UnknownName
from taketwo.tools.analyze import ANALYZE
from taketwo.tools.analyze_video import ANALYZE_VIDEO
from taketwo.tools.avp_observation import OBSERVE_VIDEO
from taketwo.tools.extract_video_parts import EXTRACT_VIDEO_PARTS
from taketwo.tools.get_transcript import GET_TRANSCRIPT
from taketwo.tools.ground_event import GROUND_EVENT
from taketwo.tools.parse_website import PARSE_WEBSITE
from taketwo.tools.star_toolset import star_tools
from taketwo.tools.transcribe_speech import TRANSCRIBE_SPEECH
from taketwo.tools.video_tool import VideoTool
from taketwo.tools.web_search import WEB_SEARCH

__all__ = [
    "TOOLS",
    "resolved_tools",
    "tool_guidance",
    "tool_prompts",
    "tools_block",
    "tools_sha256",
    "video_tool",
]

TOOLS: Mapping[str, VideoTool] = MappingProxyType({
    tool.name: tool
    for tool in (
        ANALYZE,
        ANALYZE_VIDEO,
        EXTRACT_VIDEO_PARTS,
        GET_TRANSCRIPT,
        GROUND_EVENT,
        OBSERVE_VIDEO,
        PARSE_WEBSITE,
        TRANSCRIBE_SPEECH,
        WEB_SEARCH,
        *star_tools(),
    )
})


def video_tool(name: str) -> VideoTool:
    """Return the tool called `name`.

    Raises
    ------
    UnknownName
        If there is none; the message lists near names.
    """
    if name not in TOOLS:
        raise UnknownName.among("tool", name, TOOLS)
    return TOOLS[name]


def resolved_tools(tools: Iterable[str | VideoTool]) -> tuple[VideoTool, ...]:
    """Return tools given by name or as they are, sorted by name; of one name the last one given.

    Raises
    ------
    UnknownName
        If a name is no tool's.
    """
    found = [video_tool(tool) if isinstance(tool, str) else tool for tool in tools]
    by_name = {tool.name: tool for tool in found}
    return tuple(by_name[name] for name in sorted(by_name))


def tools_block(tools: Iterable[str | VideoTool]) -> list[dict[str, JsonValue]]:
    """Return the schemas that the orchestrator sees, sorted by name, each tool once."""
    return [tool.schema() for tool in resolved_tools(tools)]


def tools_sha256(tools: Iterable[str | VideoTool]) -> str:
    """Return the hash of the tool schema block."""
    return sha256_of(tools_block(tools))


def tool_guidance(tools: Iterable[str | VideoTool]) -> str:
    """Return what a system prompt says about the tools, one item each, sorted by name."""
    return "\n".join(f"- {tool.guidance}" for tool in resolved_tools(tools))


def tool_prompts(tools: Iterable[str | VideoTool]) -> dict[str, str]:
    """Return the templates that the tools send to other models, by role.

    Several tools of one role have their templates joined in the order of their names, each once.
    """
    found: dict[str, dict[str, None]] = {}
    for tool in resolved_tools(tools):
        for role, templates in tool.prompts.items():
            found.setdefault(role, {}).update(dict.fromkeys(templates.split("\n\f\n")))
    return {role: "\n\f\n".join(templates) for role, templates in found.items()}
