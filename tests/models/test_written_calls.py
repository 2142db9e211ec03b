from __future__ import annotations

from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall

from taketwo.agents.called_in_text import read_calls, tool_block
from taketwo.models.written_calls import (
    calls_in_texts,
    errors_in_texts,
    in_writing,
    written_tools,
)
from taketwo.tools.fencing import fence


def made(messages: list[ChatMessage]) -> list[tuple[str, object]]:
    return [(call.function, call.arguments) for call in calls_in_texts(messages)]


def test_tools_are_read_from_the_instructions_that_agents_write() -> None:
    system = ChatMessageSystem(content=tool_block(["analyze_video", "get_transcript"]))

    tools = {tool.name: tool for tool in written_tools([system])}

    assert set(tools) == {"analyze_video", "get_transcript"}
    assert "fps" in tools["analyze_video"].parameters.properties


def test_a_tool_inside_a_fence_is_none() -> None:
    user = ChatMessageUser(content=fence("notes", tool_block(["analyze_video"])))

    assert written_tools([user]) == []


def test_what_is_written_is_read_by_agents_and_by_the_model_itself() -> None:
    call = ToolCall(id="1", function="analyze_video", arguments={"focus": 'a "sign" } {', "fps": 1})

    text = f"PLAN: look\n\n{in_writing(call)}"

    assert [found.arguments for found in read_calls(text, ["analyze_video"]).calls] == [
        call.arguments
    ]
    assert made([ChatMessageAssistant(content=text)]) == [("analyze_video", call.arguments)]


def test_calls_of_a_history_are_read_and_others_are_not() -> None:
    messages: list[ChatMessage] = [
        ChatMessageUser(
            content="\n".join([
                fence("call", 'analyze {"query": "a sign", "start_time": 2.0}'),
                fence("call", "analyze not json"),
                fence("notes", 'analyze {"query": "x"}'),
            ])
        )
    ]

    assert made(messages) == [("analyze", {"query": "a sign", "start_time": 2.0})]


def test_errors_are_those_that_a_fence_names_so() -> None:
    text = (
        f"Result 1 of 1 (analyze):\n{fence('error', 'no such window')}\n{fence('notes', 'error')}"
    )

    assert errors_in_texts([ChatMessageUser(content=text)]) == ["no such window"]
