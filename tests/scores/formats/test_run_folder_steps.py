from __future__ import annotations

import copy
import json
from dataclasses import replace
from typing import Any

import pytest
from tests.plans import make_trajectory
from tests.scores.formats.lemon_run import NORMALIZED, QUESTION, canonical

from taketwo.benchmarks.question import Question, option_labels
from taketwo.executions.trajectory import ModelCall, Note, PrimitiveOperation, ToolCall
from taketwo.scores.formats.run_folder_steps import (
    canonical_text,
    normalized_record,
    record_in,
    turn_of_each,
    without_identity,
)
from taketwo.scores.formats.run_folder_trajectory import answer_in, record_problems, trajectory_of
from taketwo.scores.trajectory_text import rendered

LEMON = Question(
    question_id="9001",
    text=QUESTION["question_text"],
    video_id="video901",
    video_path="videos/video901.mp4",
    options=tuple(option["text"] for option in QUESTION["options"]),
    answer_index=option_labels(26).index("F"),
)
EVENTS = (
    ModelCall(role="orchestrator", model="m", text="look first", tool_calls=("analyze_video",)),
    ModelCall(role="observer", model="o", text="not of the planner"),
    ToolCall(
        call_id="c1",
        name="analyze_video",
        arguments={"start_time": 0, "end_time": 65, "fps": 3},
        result="4 slices",
        latency_s=2.5,
    ),
    PrimitiveOperation(
        operation="analyze", succeeded=True, freshness="fresh", seconds=1, charged_s=1, call_id="c1"
    ),
    ToolCall(call_id="c2", name="get_transcript", arguments={}, error="no speech"),
    Note(text="the budget ran out"),
    ModelCall(role="orchestrator", model="m", text='{"answer": "E"}'),
)


def record(**changes: Any) -> dict[str, Any]:
    cell = make_trajectory("9001", answer_index=4, answer_text='{"answer": "E"}', events=EVENTS)
    return normalized_record(cell, LEMON, question_id=9001, method="react", model="m") | changes


def test_a_cell_becomes_the_phases_of_schema_1_1() -> None:
    found = record()

    assert record_problems(found) == []
    assert found["schema_version"] == "1.1"
    assert [(step["step_id"], step["phase"]) for step in found["steps"]] == [
        (1, "thinking"),
        (2, "tool_call"),
        (3, "tool_result"),
        (4, "tool_call"),
        (5, "tool_result"),
        (6, "thinking"),
        (7, "thinking"),
        (8, "answer"),
    ]
    assert found["steps"][0]["data"] == {"text": "[PRE-ACTION] look first"}
    assert found["steps"][1]["data"] == {
        "tool": "analyze_video",
        "arguments": {"start_time": 0, "end_time": 65, "fps": 3},
    }
    assert found["steps"][2]["data"] == {
        "tool": "analyze_video",
        "success": True,
        "result_text": "4 slices",
        "fps": 3,
        "time_range": [0, 65],
    }
    assert found["steps"][4]["data"]["result_text"] == "[ERROR] no speech"
    assert found["steps"][5]["data"] == {"text": "[HARNESS] the budget ran out"}
    assert found["steps"][6]["data"] == {"text": '[RESPONSE] {"answer": "E"}'}
    assert found["steps"][7]["data"] == {"letter": "E", "reasoning": ""}
    assert found["steps"][7]["taketwo"] == {"text": '{"answer": "E"}'}
    assert found["metrics"] == {
        "n_steps": 8,
        "n_tool_calls": 2,
        "n_observe": 0,
        "n_plans": 0,
        "n_reflects": 0,
        "n_rounds": 2,
        "n_replans": 0,
        "total_observation_chars": 25,
    }


def test_no_truth_is_in_the_steps() -> None:
    assert '"F"' not in json.dumps(record())


def test_what_a_judge_sees_of_a_cell_survives_the_way_there_and_back() -> None:
    cell = make_trajectory("9001", answer_index=4, answer_text='{"answer": "E"}', events=EVENTS)

    back = trajectory_of(record(), arm="base", question_id="9001", run_status="answered")

    assert rendered(back, system="s") == rendered(cell, system="s")
    assert back.answer_index == 4
    assert [call.error for call in back.tool_calls] == [None, "no speech"]


def look(frames: int, call_id: str | None = None) -> PrimitiveOperation:
    return PrimitiveOperation(
        operation="extract_video_parts", succeeded=True, freshness="fresh", seconds=1, charged_s=1,
        frames=frames, call_id=call_id,
    )  # fmt: skip


SEEN = ModelCall(role="observer", model="o", text="[RESPONSE] two boats")
SAID = ModelCall(role="orchestrator", model="m", text="I think so.")
CALLED = ToolCall(call_id="c", name="see", arguments={}, result="two boats")


@pytest.mark.parametrize(
    ("events", "phases"),
    [
        ((look(6), SAID), ["observe", "thinking"]),
        ((look(6, "c"), CALLED, SAID), ["tool_call", "tool_result", "thinking"]),
        ((look(0), SAID), ["thinking"]),
        ((SEEN, SAID), ["observe", "thinking"]),
        ((SAID, look(2), SEEN), ["thinking", "observe", "observe"]),
        ((SAID, SEEN, CALLED, SAID), ["thinking", "tool_call", "tool_result", "thinking"]),
        ((SAID, CALLED, SAID, SEEN), ["thinking", "tool_call", "tool_result", "thinking", "observe"]),
    ],
)  # fmt: skip
def test_what_an_agent_saw_without_a_tool_is_observed(
    events: tuple[Any, ...], phases: list[str]
) -> None:
    cell = make_trajectory("9001", answer_index=4, answer_text="E", events=events)

    found = normalized_record(cell, LEMON, question_id=9001, method="star", model="m")

    assert record_problems(found) == []
    steps: Any = found["steps"]
    assert [step["phase"] for step in steps] == [*phases, "answer"]
    assert found["metrics"]["n_observe"] == phases.count("observe")  # type: ignore[index,call-overload]
    back = trajectory_of(found, arm="base", question_id="9001", run_status="answered")
    assert rendered(back, system="s") == rendered(cell, system="s")


def test_a_cell_without_an_answer_states_no_letter() -> None:
    cell = make_trajectory("9001", run_status="limit", events=EVENTS[:3])
    found = normalized_record(cell, LEMON, question_id=9001, method="react", model="m")

    answer = answer_in(found)

    assert answer is not None
    assert (answer.letter, answer.gave_up) == (None, False)


def test_the_canonical_text_is_that_of_the_reference() -> None:
    assert canonical_text(NORMALIZED) == canonical(NORMALIZED)


def test_the_blind_reading_of_a_canonical_text_names_nobody() -> None:
    shown = without_identity(canonical(NORMALIZED))

    assert "gemini" not in shown
    assert "ours" not in shown
    assert "Metrics:" not in shown
    assert "[Step 6]" in shown
    assert without_identity("a reply\nMetrics are nice") == "a reply\nMetrics are nice"


def test_the_prefixes_of_the_reference_are_no_words_of_the_model() -> None:
    back = trajectory_of(NORMALIZED, arm="ours", question_id="9001", run_status="answered")

    said = [event.text for event in back.events if isinstance(event, ModelCall)]
    assert said[0].startswith("PLAN: read the transcript")
    assert said[-1].startswith("PLAN: answer.")
    assert back.answer_text == said[-1]
    assert back.tool_calls[1].arguments["fps"] == 3
    assert back.tool_calls[1].latency_s == 18.417


def test_results_go_to_their_calls_and_a_call_without_one_says_so() -> None:
    steps = copy.deepcopy(NORMALIZED)
    call = {"phase": "tool_call", "method_native_type": "tool_call"}
    reply = {"phase": "tool_result", "method_native_type": "tool_result"}
    steps["steps"] = [
        {**call, "step_id": 1, "data": {"tool": "a", "arguments": {"n": 1}}},
        {**call, "step_id": 2, "data": {"tool": "b", "arguments": {}}},
        {**reply, "step_id": 3, "data": {"tool": "b", "success": True, "result_text": "of b"}},
        {**reply, "step_id": 4, "data": {"tool": "c", "success": False, "result_text": "lone"}},
    ]

    back = trajectory_of(steps, arm="x", question_id="1", run_status="unparsed")

    assert [(call.name, call.result, call.error) for call in back.tool_calls] == [
        ("a", "", "the run recorded no result of this call"),
        ("b", "of b", None),
        ("c", "lone", "the call failed"),
    ]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"schema_version": "2.0"}, "schema_version"),
        ({"question_id": "9001"}, "question_id"),
        ({"steps": None}, "steps"),
        ({"method": None}, "method"),
    ],
)
def test_a_record_that_breaks_the_schema_is_told_by_field(
    change: dict[str, Any], told: str
) -> None:
    (problem,) = record_problems({**NORMALIZED, **change})

    assert f"field '{told}'" in problem


@pytest.mark.parametrize(
    ("letter", "read"),
    [
        ("e", "E"),
        (" F ", "F"),
        ("27", "27"),
        ("?", None),
        ("", None),
        (None, None),
        ("<b>", None),
        ("EF", None),
    ],
)
def test_only_one_label_is_a_letter(letter: str | None, read: str | None) -> None:
    steps = copy.deepcopy(NORMALIZED)
    steps["steps"][-1]["data"]["letter"] = letter

    answer = answer_in(steps)

    assert answer is not None
    assert answer.letter == read


def said(text: str = "", reasoning: str = "", **fields: Any) -> ModelCall:
    return ModelCall(role="orchestrator", model="m", text=text, reasoning=reasoning, **fields)


LOOK = ToolCall(call_id="c1", name="see", arguments={"tokens": 5}, result="4 slices")


@pytest.mark.parametrize(
    "events",
    [
        (said("I look.", "I wonder.", tool_calls=("see",)), LOOK, said("E", "It is four.")),
        (said("", "only thought", tool_calls=("see",)), LOOK, said("E")),
        (said("", "one generation"), said("another", ""), LOOK),
        (said("", "first"), said("", "second"), said("third")),
        (said("a", "[RESPONSE] thought under a mark"), said("[PRE-ACTION] [RESPONSE] said")),
        (said("", "[PRE-ACTION] x"), Note(text="the budget ran out"), said("E")),
        (said("  ", "thought"), said("E", "  ")),
        (said("a", "x", error="broken"), said("E")),
    ],
)
def test_thoughts_and_words_survive_the_way_there_and_back(events: tuple[Any, ...]) -> None:
    bare = make_trajectory("9001", answer_index=4, answer_text="E", events=events)
    cell = replace(bare, reasoning="four of them")

    made = normalized_record(cell, LEMON, question_id=9001, method="react", model="m")
    text = record_in(canonical_text(made))
    assert text is not None

    for record in (made, text):
        assert record_problems(record) == []
        back = trajectory_of(record, arm="base", question_id="9001", run_status="answered")
        assert rendered(back, system="s") == rendered(cell, system="s")
        assert (back.answer_text, back.reasoning) == ("E", "four of them")
        assert [(call.reasoning.strip(), call.text.strip()) for call in back.model_calls] == [
            (call.reasoning.strip(), call.text.strip())
            for call in cell.model_calls
            if not call.error
        ]


def test_thoughts_are_steps_without_a_mark_and_of_the_turn_of_the_words() -> None:
    first = said("I look.", "I wonder.", latency_s=1.5, tool_calls=("see",))
    cell = make_trajectory("9001", answer_text="E", events=(first, LOOK, said("E", "Four.")))
    steps: Any = normalized_record(cell, LEMON, question_id=9001, method="r", model="m")["steps"]

    assert [(step["phase"], step["data"].get("text")) for step in steps] == [
        ("thinking", "I wonder."),
        ("thinking", "[PRE-ACTION] I look."),
        ("tool_call", None),
        ("tool_result", None),
        ("thinking", "Four."),
        ("thinking", "[RESPONSE] E"),
        ("answer", None),
    ]
    assert [step.get("elapsed_seconds") for step in steps[:2]] == [None, 1.5]
    assert turn_of_each(steps) == [1, 1, 1, 1, 2, 2, 2]


def test_a_canonical_text_shows_the_record_that_it_was_made_of() -> None:
    found = record_in(canonical(NORMALIZED))

    assert found == {
        "schema_version": "1.1",
        "question_id": 9001,
        "method": "ours",
        "model": "gemini-2.5-pro",
        "question_text": NORMALIZED["question_text"],
        "steps": NORMALIZED["steps"],
    }
    assert record_in("a reply\n[Step 1]\n{}") is None


def test_steps_in_the_text_of_a_step_are_none() -> None:
    steps = copy.deepcopy(NORMALIZED)
    steps["steps"][0]["data"]["text"] = "\n[Step 2]\n{}\n"

    found = record_in(canonical(steps))

    assert found is not None
    assert found["steps"] == steps["steps"]


@pytest.mark.parametrize(("before", "line"), [("", "\n"), ("\ufeff", "\n"), ("\ufeff", "\r\n")])
def test_the_blind_text_tells_neither_tokens_nor_times(before: str, line: str) -> None:
    steps = copy.deepcopy(NORMALIZED)
    steps["steps"][4]["data"]["arguments"]["tokens"] = "of the question"
    steps["steps"][5]["data"]["nested"] = [{"elapsed_seconds": 4, "seen": "a lemon"}]

    shown = without_identity(before + canonical(steps).replace("\n", line))

    for word in (
        "gemini", "ours", "Metrics:", "total_tokens", "elapsed_seconds", "tokens_used", "41230",
        "18.417", '"tokens": {', "\r", "\ufeff",
    ):  # fmt: skip
        assert word not in shown
    for word in (
        "Question: ",
        "[Step 8]",
        "Focus Answer",
        '"tokens": "of the question"',
        "a lemon",
    ):
        assert word in shown


def test_a_text_that_is_cut_off_is_blind_all_the_same() -> None:
    shown = without_identity("\ufeff" + canonical(NORMALIZED)[:-30])

    for word in ("gemini", "Metrics:", "total_tokens", "elapsed_seconds", "tokens_used"):
        assert word not in shown
    assert "Focus Answer" in shown


def test_any_other_text_stays_as_it_stands() -> None:
    assert without_identity("\ufeffa reply\r\n") == "\ufeffa reply\r\n"
