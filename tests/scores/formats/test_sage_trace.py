from __future__ import annotations

from typing import Any

import pytest
from tests.plans import make_trajectory

from taketwo.benchmarks.options_in_text import parse_options
from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import ModelCall, Note, ToolCall
from taketwo.scores.formats.sage_trace import (
    SageCell,
    ending_of,
    inference_row,
    join_id,
    sage_trajectory,
    score_row,
    trace_events,
)

ASKED = Question(
    question_id="vid1-abc",
    text="Which colour?",
    video_id="vid1",
    video_path="/secret/place/vid1.webm",
    options=("red", "blue"),
    answer_index=1,
    video_duration_s=75.0,
    attributes={"question_type": "mcq", "difficulty": "hard", "modality": "visual"},
)
EVENTS = (
    ModelCall(role="orchestrator", model="m", text="look"),
    ToolCall(call_id="1", name="ground-event", arguments={"event": "e"}, result="10 to 20 s"),
    ModelCall(role="orchestrator", model="m", text="again"),
    ToolCall(call_id="2", name="ground-event", arguments={"event": "f"}, error="no such event"),
    ModelCall(role="orchestrator", model="m", text="(B) blue"),
)


def row(spelling: str, count: str, reply: str) -> dict[str, Any]:
    return {
        "path": "data/videos/vid1.mp4",
        "question": "Which colour?",
        "answer": "blue",
        "full_answer": "blue",
        "reasoning_steps": ["the near answer"],
        "complete_results": {
            "context_vlm": [{"vlm_response": {"video_context": "a room"}}],
            spelling: [
                {
                    "tool_calls": {
                        "web-search_#1": {
                            "result": {"pages": 2},
                            "arguments": {"query": "x"},
                            "args_validity": True,
                        }
                    },
                    reply: {"final_answer": None},
                },
                {"tool_calls": {"None_#2": {"result": "no tool calls found"}}, reply: "blue"},
            ],
            count: 2,
        },
    }


@pytest.mark.parametrize(
    ("spelling", "count", "reply"),
    [
        ("iterative_reasoner", "num_iterative_reasoner_calls", "iterative_reasoner_results"),
        ("search_llm", "num_search_calls", "search_llm_results"),
    ],
)
def test_old_and_new_traces_tell_the_same(spelling: str, count: str, reply: str) -> None:
    found = sage_trajectory(row(spelling, count, reply), arm="sage")

    assert [type(event).__name__ for event in found.events] == [
        "ModelCall", "ToolCall", "ModelCall", "Note", "ModelCall",
    ]  # fmt: skip
    (call,) = found.tool_calls
    assert (call.name, call.arguments, call.result) == (
        "web-search", {"query": "x"}, '{"pages": 2}',
    )  # fmt: skip
    assert found.answer_text == "blue"
    assert found.run_status == "answered"


def test_the_reference_trajectory_is_no_part_of_what_the_agent_did() -> None:
    old = row("search_llm", "num_search_calls", "search_llm_results")

    assert "near answer" not in str(sage_trajectory(old, arm="sage"))


@pytest.mark.parametrize(
    ("key", "call", "error"),
    [
        ("t_#1", {"result": "Error executing t_#1: boom for argument {}"}, "Error executing"),
        ("t_#1", {"result": "x", "args_validity": False}, "the arguments were not valid"),
        ("invalid_tool_request_blocked_#1", {"result": "no"}, "no such tool"),
        ("t_#1", {"result": "fine", "args_validity": True}, None),
    ],
)
def test_calls_that_failed_are_told_apart(
    key: str, call: dict[str, Any], error: str | None
) -> None:
    events = trace_events({"context_vlm": [], "iterative_reasoner": [{"tool_calls": {key: call}}]})

    assert events is not None
    (found,) = events
    assert isinstance(found, ToolCall)
    assert (found.error is None) == (error is None)
    assert error is None or str(found.error).startswith(error)


def test_the_pseudo_tool_is_no_call() -> None:
    events = trace_events({"search_llm": [{"tool_calls": {"None": {"result": "nothing"}}}]})

    assert events == (Note(text="no tool was called: nothing"),)
    assert trace_events({}) is None


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ("blue", "answered"),
        (None, "abstained"),
        ("  ", "abstained"),
        ("Could not produce an answer after 10 iterative reasoner calls", "limit"),
        ("Could not produce an answer after 5 attempts: timeout", "agent_error"),
        ("  could not produce an answer.", "limit"),
        ('"Could not produce an answer"', "limit"),
        ("Could not produce an answer after 1 attempt", "agent_error"),
        ("Could not produce a supported answer after requesting unavailable tool(s): x", "limit"),
        ("She could not produce an answer, so she left", "answered"),
        ("Could not produce an answer key because the printer broke", "answered"),
        ("Could not produce an answer after the teacher asked", "answered"),
        ("It failed: could not produce an answer after 5 attempts", "answered"),
        (["a", "b"], "answered"),
    ],
)
def test_an_ending_is_no_wrong_answer(answer: object, status: str) -> None:
    assert ending_of(answer, {})[0] == status


def test_what_the_judge_of_the_file_found_right_is_an_answer() -> None:
    said = "Could not produce an answer."

    assert ending_of(said, {}, is_correct=True) == ("answered", None)
    assert ending_of(said, {}, is_correct=False) == ("limit", said)


def test_a_question_has_one_id_wherever_its_video_lay() -> None:
    one = join_id("data/sage_bench_videos/abc.mp4", "What  is\nit?")

    assert one == join_id("/other/abc.mkv", "What is it?")
    assert one == join_id("C:\\videos\\abc.mp4", "What is it?")
    assert one != join_id("/other/abd.mkv", "What is it?")
    assert one.startswith("abc-")


def cell(**changes: Any) -> SageCell:
    fields: dict[str, Any] = {
        "question": ASKED,
        "trajectory": make_trajectory(
            "vid1-abc", answer_index=1, answer_text="(B) blue", events=EVENTS
        ),
        "is_correct": True,
        "score_status": "scored",
        "option_index": 1,
        "shows_letter": False,
        "measures": {"latency_s": 12.5, "turns": 3.0},
    }
    return SageCell(**(fields | changes))


def test_a_row_of_answers_has_the_keys_of_the_reference() -> None:
    found = inference_row(cell())

    assert set(found) - {"taketwo"} == {
        "path", "question", "answer", "correct_answer", "id", "full_answer", "ques_type",
        "difficulty", "modality", "num_attempts", "complete_results",
    }  # fmt: skip
    assert found["path"] == "videos/vid1.webm"
    assert found["full_answer"] == "blue"
    assert found["correct_answer"] is None
    assert parse_options(str(found["question"])).options == ("red", "blue")
    assert parse_options(str(found["question"])).text == "Which colour?"
    assert "secret" not in str(found)


def test_the_answer_to_a_choice_is_its_option_and_the_reply_stands_beside_it() -> None:
    reply = 'The sky is blue, and red is not. {"final_answer": "B"}'
    argued = cell(trajectory=make_trajectory("vid1-abc", answer_index=1, answer_text=reply))

    for found in (inference_row(argued), score_row(argued, index=0)):
        own = found["taketwo"]
        assert isinstance(own, dict)
        assert (found["answer"], own["reply"]) == ("B. blue", reply)
    assert sage_trajectory(inference_row(argued), arm="base").answer_text == reply


def test_the_answer_to_a_choice_may_be_an_option_that_a_model_read_out_of_the_reply() -> None:
    unread = make_trajectory("vid1-abc", run_status="unparsed", answer_text="blue, or else red")

    assert inference_row(cell(trajectory=unread))["answer"] == "B. blue"
    assert (
        inference_row(cell(trajectory=unread, option_index=None))["answer"] == "blue, or else red"
    )


def test_a_row_of_scores_has_the_keys_of_the_reference() -> None:
    found = score_row(cell(), index=4)

    assert set(found) - {"taketwo"} == {
        "index", "question", "answer", "correct_answer", "full_answer", "is_correct",
        "evaluation_reasoning", "none_prediction", "could_not_produce", "is_list_answer",
        "used_tool_calls", "tool_call_types", "ques_type", "difficulty", "modality", "duration",
        "video_path", "num_attempts", "time_taken",
    }  # fmt: skip
    assert (found["index"], found["is_correct"], found["tool_call_types"]) == (
        4, True, {"ground-event": 2},
    )  # fmt: skip
    assert found["time_taken"] == 12.5


def test_a_cell_survives_the_way_there_and_back() -> None:
    back = sage_trajectory(inference_row(cell()), arm="base")

    assert [event.text for event in back.model_calls] == ["look", "again", "(B) blue"]
    assert [(call.name, dict(call.arguments)) for call in back.tool_calls] == [
        ("ground-event", {"event": "e"}),
        ("ground-event", {"event": "f"}),
    ]
    assert back.tool_calls[1].error is not None
    assert (back.question_id, back.answer_index, back.answer_text) == ("vid1-abc", 1, "(B) blue")


def test_an_error_has_no_answer_and_is_not_wrong() -> None:
    broken = cell(
        trajectory=make_trajectory("vid1-abc", run_status="provider_error"),
        is_correct=None,
        score_status="not_judged",
    )

    found = score_row(broken, index=0)

    assert (found["answer"], found["is_correct"], found["none_prediction"]) == (None, None, True)
    assert sage_trajectory(inference_row(broken), arm="base").run_status == "provider_error"
