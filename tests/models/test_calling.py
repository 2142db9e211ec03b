"""The offline orchestrator among the tools of the agents: native calls, written ones, and the last one."""

from __future__ import annotations

import json

import numpy as np
import pytest
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
)
from inspect_ai.tool import ToolCall, ToolChoice, ToolFunction, ToolInfo

from taketwo.agents.called_in_text import read_calls, tool_block
from taketwo.agents.prompt_text import filled
from taketwo.benchmarks.question import VisibleQuestion
from taketwo.models.offline_orchestrator import Turn, take_turn
from taketwo.tools.catalog import resolved_tools
from taketwo.tools.dvd_tools import dvd_tools
from taketwo.tools.fencing import fence, question_block, video_length_line
from taketwo.tools.library import library_of
from taketwo.tools.video_tool import VideoTool

QUESTION = VisibleQuestion(
    question_id="q",
    text="How many red circles are shown while the sign shows LAMP?",
    options=("1", "2", "3"),
    video_duration_s=24.0,
)
SEEN = '[4.0-6.0 s] text "LAMP"\n[4.0-6.0 s] 2 red circles'
DVD = dvd_tools(top_k=16, lite=False)
COMPOSITES = library_of("composites").tools()
SAGE = resolved_tools(["analyze", "ground_event", "transcribe_speech", *COMPOSITES])


def infos(tools: tuple[VideoTool, ...]) -> list[ToolInfo]:
    return [ToolInfo.model_validate(tool.schema()) for tool in tools]


def task(more: str = "") -> ChatMessageUser:
    return ChatMessageUser(
        content=f"{question_block(QUESTION)}\n\n{video_length_line(24.0)}\n\n{more}".strip()
    )


def turn(
    messages: list[ChatMessage],
    tools: tuple[VideoTool, ...] = (),
    choice: ToolChoice = "auto",
    *,
    temperature: float = 0.0,
    seed: int = 0,
) -> Turn:
    rng = np.random.default_rng(seed)
    return take_turn(messages, infos(tools), choice, temperature=temperature, rng=rng)


def after(call: ToolCall, result: str) -> list[ChatMessage]:
    return [
        ChatMessageAssistant(content="", tool_calls=[call]),
        ChatMessageTool(content=result, function=call.function, tool_call_id=call.id),
    ]


def test_without_any_evidence_nothing_is_finished() -> None:
    first = [turn([task()], DVD, temperature=0.4, seed=seed).call for seed in range(30)]

    assert all(call is not None for call in first)
    assert {call.function for call in first if call} == {
        "clip_search_tool",
        "frame_inspect_tool",
        "global_browse_tool",
    }


def test_the_place_that_was_found_is_inspected_and_then_the_answer_is_a_call() -> None:
    search = ToolCall(id="1", function="clip_search_tool", arguments={"event_description": "LAMP"})
    browse = ToolCall(id="2", function="global_browse_tool", arguments={"query": "red circles"})
    report = fence("clips", f"[00:00:00-00:00:10] {SEEN}")
    messages: list[ChatMessage] = [task(), *after(search, report)]

    calls: list[tuple[str, object]] = []
    for seed in range(20):
        call = turn([*messages, *after(browse, SEEN)], DVD, temperature=1.0, seed=seed).call
        assert call is not None
        calls.append((call.function, call.arguments))

    assert ("finish", {"answer": "B"}) in calls
    assert (
        "frame_inspect_tool",
        {"question": "red circles", "time_ranges_hhmmss": [["00:00:04", "00:00:06"]]},
    ) in calls


def test_a_last_turn_that_demands_the_answer_gets_it_as_the_named_call() -> None:
    notice = filled("dvd_last_turn", resource="turns used up", finish_form="")
    messages = [task(fence("notes", SEEN)), ChatMessageUser(content=notice)]

    call = turn(messages, DVD[-1:], ToolFunction(name="finish")).call

    assert call is not None
    assert (call.function, call.arguments) == ("finish", {"answer": "B"})


def test_where_no_call_is_allowed_the_answer_is_text() -> None:
    said = turn([task(fence("notes", SEEN))], DVD, "none")

    assert said.call is None
    assert '{"answer": "B"' in said.text


def test_composite_tools_are_called_by_what_their_arguments_are_named() -> None:
    made: dict[str, object] = {}
    for seed in range(150):
        call = turn([task()], SAGE, temperature=1.0, seed=seed).call
        if call is not None:
            made.setdefault(call.function, call.arguments)

    window = {"start_time": 0.0, "end_time": 24.0}
    assert made == {
        "analyze": window | {"query": "red circles", "mode": "observe"},
        "event_detail": window | {"event": "LAMP"},
        "ground_event": window | {"event": "LAMP"},
        "mcq_evidence": window | {"options": ["1", "2", "3"]},
        "topic_speech": window | {"shown": "LAMP"},
        "transcribe_speech": window,
        "visual_detail": window | {"subject": "red circles"},
        "visual_verbal": window,
    }


def test_every_call_fits_the_tool_that_it_is_made_of() -> None:
    tools = {tool.name: tool for tool in (*SAGE, *DVD, *resolved_tools(["observe_video"]))}
    for seed in range(60):
        call = turn([task(fence("notes", SEEN))], tuple(tools.values()), "any", seed=seed,
                    temperature=3.0).call  # fmt: skip
        assert call is not None
        tools[call.function].arguments.model_validate(call.arguments)


@pytest.mark.parametrize("name", ["web_search", "parse_website"])
def test_the_web_is_left_alone(name: str) -> None:
    assert turn([task()], resolved_tools([name]), "any").call is None


def written(*more: ChatMessage) -> list[ChatMessage]:
    block = tool_block(["analyze_video", "get_transcript"])
    return [ChatMessageSystem(content=f"You answer.\n\n{block}"), task(), *more]


def test_tools_in_the_instructions_are_called_in_writing() -> None:
    said = turn(written())

    assert said.call is None
    (call,) = read_calls(said.text, ["analyze_video", "get_transcript"]).calls
    assert call.function == "analyze_video"
    assert call.arguments["focus"] == "red circles"


def test_results_of_written_calls_are_evidence_and_their_calls_are_remembered() -> None:
    first = turn(written())
    result = f"Result 1 of 1 (analyze_video):\n\n{fence('observations', SEEN)}"

    said = turn(written(ChatMessageAssistant(content=first.text), ChatMessageUser(content=result)))

    assert read_calls(said.text, ["analyze_video", "get_transcript"]).calls == ()
    assert '{"answer": "B"' in said.text


def test_two_written_calls_that_failed_end_the_search() -> None:
    call = turn(written()).text
    failed = ChatMessageUser(content=f"Result 1 of 1:\n{fence('error', 'no frames')}")

    said = turn(
        written(
            ChatMessageAssistant(content=call), failed, ChatMessageAssistant(content=call), failed
        )
    )

    assert '"answer"' in said.text


def test_a_notice_that_was_joined_to_the_task_is_obeyed() -> None:
    notice = filled("video_react_last_turn", resource="turns", answer_form="")
    messages = written()
    messages[-1] = task(notice)

    assert '"answer"' in turn(messages).text


def sage(*more: ChatMessage) -> list[ChatMessage]:
    system = filled("sage_context_system", tools="", answer_form="Give your final answer as JSON.")
    return [ChatMessageSystem(content=system), task(fence("notes", SEEN)), *more]


def test_a_note_that_is_asked_for_stands_before_the_answer_or_the_call() -> None:
    answered, called = turn(sage(), (), "none"), turn(sage(), SAGE, "any")

    for said in (answered, called):
        note = json.loads(said.text.split("```")[1].removeprefix("json\n"))
        assert note["video_context"].splitlines() == SEEN.splitlines()
        assert note["query_intent"] == "It asks for the number of red circles, during 'LAMP'."
    assert answered.text.rstrip("`\n").endswith("}")
    assert '{"answer": "B"' in answered.text
    assert called.call is not None


def test_a_note_that_was_left_out_is_given_alone() -> None:
    asked = ChatMessageUser(content=filled("sage_ask_context"))

    said = turn(sage(ChatMessageAssistant(content="calling"), asked), (), "none")

    assert said.text.startswith('```json\n{"video_context"')
    assert '"answer"' not in said.text


def test_a_call_of_the_history_is_not_made_again() -> None:
    made = 'ground_event {"start_time": 4.0, "end_time": 6.0, "event": "LAMP"}'
    known = f"Result 1 (called in step 1):\n{fence('call', made)}\n{fence('description', SEEN)}"

    again = turn([task(known)], resolved_tools(["ground_event"]), "any").call
    first = turn([task(fence("description", SEEN))], resolved_tools(["ground_event"]), "any").call

    assert again is None
    assert first is not None
    assert first.arguments == {"start_time": 4.0, "end_time": 6.0, "event": "LAMP"}
