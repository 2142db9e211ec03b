"""The visible tools by name; schemas, guidance and prompts are generated from here and nowhere else."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType

from taketwo.benchmarks.canonical import JsonValue, sha256_of
from taketwo.errors import UnknownName
from taketwo.tools.analyze_video import ANALYZE_VIDEO
from taketwo.tools.extract_video_parts import EXTRACT_VIDEO_PARTS
from taketwo.tools.get_transcript import GET_TRANSCRIPT
from taketwo.tools.transcribe_speech import TRANSCRIBE_SPEECH
from taketwo.tools.video_tool import VideoTool

__all__ = ["TOOLS", "tool_guidance", "tool_prompts", "tools_block", "tools_sha256", "video_tool"]

TOOLS: Mapping[str, VideoTool] = MappingProxyType({
    tool.name: tool
    for tool in (ANALYZE_VIDEO, EXTRACT_VIDEO_PARTS, GET_TRANSCRIPT, TRANSCRIBE_SPEECH)
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


def tools_block(names: Iterable[str]) -> list[dict[str, JsonValue]]:
    """Return the schemas that the orchestrator sees, sorted by name, each tool once."""
    return [video_tool(name).schema() for name in sorted(set(names))]


def tools_sha256(names: Iterable[str]) -> str:
    """Return the hash of the tool schema block."""
    return sha256_of(tools_block(names))


def tool_guidance(names: Iterable[str]) -> str:
    """Return what a system prompt says about the tools, one item each, sorted by name."""
    return "\n".join(f"- {video_tool(name).guidance}" for name in sorted(set(names)))


def tool_prompts(names: Iterable[str]) -> dict[str, str]:
    """Return the templates that the tools send to other models, by role.

    Several tools of one role have their templates joined in the order of their names.
    """
    found: dict[str, list[str]] = {}
    for name in sorted(set(names)):
        for role, template in video_tool(name).prompts.items():
            found.setdefault(role, []).append(template)
    return {role: "\n\f\n".join(templates) for role, templates in found.items()}
