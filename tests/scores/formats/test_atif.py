from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from tests.plans import make_arm, make_trajectory

from taketwo.benchmarks.question import Question
from taketwo.executions.trajectory import Event, ModelCall, Note, PrimitiveOperation, ToolCall
from taketwo.scores.formats.atif import atif_record

ASKED = Question(
    question_id="q1",
    text="How many slices?",
    video_id="v1",
    video_path="/secret/v1.mp4",
    options=("three", "four"),
    answer_index=0,
)
EVENTS: tuple[Event, ...] = (
    ModelCall(
        role="orchestrator", model="m", text="I look.", tool_calls=("see", "hear"),
        input_tokens=10, output_tokens=5, cost_usd=0.25,
    ),
    ToolCall(call_id="c1", name="see", arguments={"fps": 1}, result="4 slices"),
    ModelCall(role="observer", model="o", text="4 slices", input_tokens=100, output_tokens=7),
    ToolCall(call_id="c2", name="hear", arguments={}, error="no speech"),
    Note(text="the budget ran out"),
    ModelCall(role="orchestrator", model="m", text="B", input_tokens=20, output_tokens=1),
)  # fmt: skip

# The format, written down from its description: field, kind, whether null may stand there.
NUMBER = (int, float)
DOCUMENT = {
    "schema_version": (str, False), "session_id": (str, False), "agent": (dict, False),
    "steps": (list, False), "final_metrics": (dict, True), "extra": (dict, True), "notes": (str, True),
}  # fmt: skip
AGENT = {
    "name": (str, False), "version": (str, False), "model_name": (str, True), "extra": (dict, True),
}  # fmt: skip
STEP = {
    "step_id": (int, False), "source": (str, False), "message": (str, False),
    "model_name": (str, True), "timestamp": (str, True), "reasoning_content": (str, True),
    "tool_calls": (list, True), "observation": (dict, True), "metrics": (dict, True),
    "extra": (dict, True),
}  # fmt: skip
CALL = {
    "tool_call_id": (str, False), "function_name": (str, False), "arguments": (dict, False),
}  # fmt: skip
RESULT = {"source_call_id": (str, True), "content": (str, True)}
METRICS = {
    "prompt_tokens": (int, True), "completion_tokens": (int, True), "cost_usd": (NUMBER, True),
    "cached_tokens": (int, True),
}  # fmt: skip
TOTALS = {
    "total_prompt_tokens": (int, True), "total_completion_tokens": (int, True),
    "total_cost_usd": (NUMBER, True), "total_steps": (int, True), "total_cached_tokens": (int, True),
}  # fmt: skip


def check(record: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    for name, value in record.items():
        assert name in schema, f"{where}.{name} is no field of the format"
        kind, nullable = schema[name]
        assert (value is None and nullable) or isinstance(value, kind), f"{where}.{name}"
    lacking = {name for name, (_, nullable) in schema.items() if not nullable} - set(record)
    assert not lacking, f"{where} lacks {lacking}"


def check_document(record: Mapping[str, Any]) -> None:
    check(record, DOCUMENT, "document")
    check(record["agent"], AGENT, "agent")
    check(record["final_metrics"], TOTALS, "final_metrics")
    assert [step["step_id"] for step in record["steps"]] == list(range(1, len(record["steps"]) + 1))
    for step in record["steps"]:
        check(step, STEP, "step")
        assert step["source"] in {"user", "agent", "system"}
        if step["source"] != "agent":
            assert not {"tool_calls", "metrics", "model_name"} & set(step)
        for call in step.get("tool_calls", []):
            check(call, CALL, "tool_call")
        for result in step.get("observation", {}).get("results", []):
            check(result, RESULT, "result")
            assert result["source_call_id"] in {c["tool_call_id"] for c in step["tool_calls"]}
        check(step.get("metrics", {}), METRICS, "metrics")


def record(**changes: Any) -> dict[str, Any]:
    cell = make_trajectory("q1", answer_index=1, answer_text="B", events=EVENTS)
    return atif_record(cell, ASKED, make_arm("base"), session_id="s1", **changes)


def test_a_cell_is_a_document_of_the_format() -> None:
    found = record(cost_usd=1.5)

    check_document(found)
    assert found["schema_version"] == "ATIF-v1.4"
    assert [step["source"] for step in found["steps"]] == ["user", "agent", "system", "agent"]
    assert found["steps"][0]["message"] == "How many slices?\nA. three\nB. four"
    looked = found["steps"][1]
    assert looked["tool_calls"] == [
        {"tool_call_id": "c1", "function_name": "see", "arguments": {"fps": 1}},
        {"tool_call_id": "c2", "function_name": "hear", "arguments": {}},
    ]
    assert looked["observation"]["results"] == [
        {"source_call_id": "c1", "content": "4 slices"},
        {"source_call_id": "c2", "content": "error: no speech"},
    ]
    assert looked["metrics"] == {"prompt_tokens": 10, "completion_tokens": 5, "cost_usd": 0.25}
    assert found["final_metrics"] == {
        "total_prompt_tokens": 130,
        "total_completion_tokens": 13,
        "total_cost_usd": 1.5,
        "total_steps": 4,
    }
    assert (found["extra"]["answer_label"], found["extra"]["run_status"]) == ("B", "answered")


def test_thoughts_are_the_reasoning_of_their_step() -> None:
    thinking = (
        ModelCall(role="orchestrator", model="m", text="B", reasoning="It is four."),
        ModelCall(role="orchestrator", model="m", text="C", reasoning=" "),
    )
    cell = make_trajectory("q1", answer_index=1, answer_text="B", events=thinking)

    found: Any = atif_record(cell, ASKED, make_arm("base"), session_id="s1")

    check_document(found)
    assert (found["steps"][1]["message"], found["steps"][1]["reasoning_content"]) == (
        "B", "It is four.",
    )  # fmt: skip
    assert "reasoning_content" not in found["steps"][2]


def test_frames_that_were_looked_at_without_a_call_are_told() -> None:
    def look(call_id: str | None) -> PrimitiveOperation:
        return PrimitiveOperation(
            operation="extract_video_parts", succeeded=True, freshness="fresh", seconds=1,
            charged_s=1, frames=6, call_id=call_id,
        )  # fmt: skip

    cell = make_trajectory("q1", answer_index=1, events=(look(None), look("c1"), *EVENTS))

    found: Any = atif_record(cell, ASKED, make_arm("base"), session_id="s1")

    check_document(found)
    assert [(step["source"], step["message"][:8]) for step in found["steps"][:3]] == [
        ("user", "How many"), ("system", "looked a"), ("agent", "I look."),
    ]  # fmt: skip


def test_what_nobody_reported_is_null() -> None:
    silent = (ModelCall(role="orchestrator", model="m", text="B"),)
    cell = make_trajectory("q1", answer_index=1, answer_text="B", events=silent)

    found: Any = atif_record(cell, ASKED, make_arm("base"), session_id="s1")

    check_document(found)
    assert found["final_metrics"]["total_prompt_tokens"] is None
    assert found["final_metrics"]["total_cost_usd"] is None
    assert found["steps"][1]["metrics"]["prompt_tokens"] is None


def test_a_call_before_anything_was_said_has_a_step_of_its_own() -> None:
    cell = make_trajectory("q1", run_status="agent_error", events=EVENTS[1:2])

    found: Any = atif_record(cell, ASKED, make_arm("base"), session_id="s1")

    check_document(found)
    assert (found["steps"][1]["source"], found["steps"][1]["message"]) == ("agent", "")


def test_neither_path_nor_truth_is_in_it() -> None:
    assert "secret" not in str(record())
    assert "answer_index" not in str(record())


def test_what_a_model_said_cannot_break_the_file() -> None:
    odd = (ModelCall(role="orchestrator", model="m", text="half \ud800 of it"),)
    cell = make_trajectory("q1", answer_text="\ud800", events=odd)

    found: Any = atif_record(cell, ASKED, make_arm("base"), session_id="s1")

    assert found["steps"][1]["message"] == "half ? of it"


@pytest.mark.parametrize("status", ["limit", "abstained", "unparsed", "provider_error"])
def test_a_cell_without_an_answer_has_no_label(status: Any) -> None:
    found: Any = atif_record(
        make_trajectory("q1", run_status=status), ASKED, make_arm("base"), session_id="s1"
    )

    check_document(found)
    assert found["extra"]["answer_label"] is None
