from __future__ import annotations

import random

import jsonschema
import pytest

from taketwo.errors import UnknownName
from taketwo.tools.catalog import (
    TOOLS,
    tool_guidance,
    tool_prompts,
    tools_block,
    tools_sha256,
    video_tool,
)


def test_the_block_is_sorted_whatever_the_order_of_names() -> None:
    names = list(TOOLS)
    shuffled = random.Random(3).sample(names, len(names)) + names

    assert [tool["name"] for tool in tools_block(shuffled)] == sorted(names)
    assert tools_sha256(shuffled) == tools_sha256(names)
    assert tools_sha256(names) != tools_sha256(names[:-1])


@pytest.mark.parametrize("name", TOOLS)
def test_a_schema_is_valid_and_every_argument_is_described(name: str) -> None:
    schema = TOOLS[name].schema()["parameters"]

    jsonschema.Draft7Validator.check_schema(schema)
    assert all(entry["description"] for entry in schema["properties"].values())  # type: ignore[index, call-overload, union-attr]
    assert schema["additionalProperties"] is False  # type: ignore[index, call-overload]


def test_arguments_of_agentvidbench_are_as_published() -> None:
    block = {tool["name"]: tool["parameters"]["properties"] for tool in tools_block(TOOLS)}  # type: ignore[index, call-overload]

    assert set(block["analyze_video"]) == {"start_time", "end_time", "fps", "focus", "resolution"}
    assert block["analyze_video"]["resolution"]["enum"] == ["low", "medium", "high"]
    assert set(block["get_transcript"]) == {"start_time", "end_time"}


def test_guidance_names_the_asked_tools_and_no_other() -> None:
    guidance = tool_guidance(["get_transcript"])

    assert "`get_transcript(" in guidance
    assert not any(name in guidance for name in TOOLS if name != "get_transcript")


def test_only_a_tool_that_asks_a_model_has_a_prompt() -> None:
    assert set(tool_prompts(TOOLS)) == {"observer"}
    assert tool_prompts(["get_transcript"]) == {}


def test_an_unknown_tool_has_near_names() -> None:
    with pytest.raises(
        UnknownName, match="unknown tool 'analyse_video': did you mean 'analyze_video'"
    ):
        video_tool("analyse_video")
