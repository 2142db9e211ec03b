from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.plans import make_plan, make_trajectory

from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.trajectory import (
    Event,
    Failure,
    ModelCall,
    PrimitiveOperation,
    RunStatus,
    ToolCall,
    Trajectory,
)
from taketwo.outcomes.build import Label, outcomes_of
from taketwo.outcomes.table import ScoreStatus

MCQ = Question(
    question_id="mcq",
    text="Which?",
    video_id="v1",
    video_path="v.mp4",
    options=("a", "b"),
    answer_index=1,
    attributes={"kind": "order"},
)
OPEN = Question(
    question_id="open", text="What?", video_id="v2", video_path="v.mp4", answer_text="cat"
)
PRICED = {"openai/m": {"input": 2.0, "output": 10.0}}
PLAN = replace(make_plan(questions=[MCQ, OPEN]), prices=PRICED)
EFFORT = ("turns", "visible_calls", "primitive_ops", "latency_s", "tokens", "cost_usd", "frames")


def generation(role: str = "orchestrator", **fields: object) -> ModelCall:
    values: dict[str, object] = {
        "role": role,
        "model": "openai/m",
        "input_tokens": 1000,
        "output_tokens": 100,
        "media_sha256": ("a", "b"),
        **fields,
    }
    return ModelCall(**values)  # type: ignore[arg-type]


def operation(*, succeeded: bool = True, freshness: str = "fresh") -> PrimitiveOperation:
    return PrimitiveOperation(
        operation="analyze",
        succeeded=succeeded,
        freshness=freshness,  # type: ignore[arg-type]
        seconds=1,
        charged_s=1,
    )


def row(trajectory: Trajectory) -> dict[str, object]:
    frame = outcomes_of(PLAN, [trajectory]).frame
    key = (trajectory.arm, trajectory.execution, trajectory.question_id)
    (found,) = [
        item
        for item in frame.iter_rows(named=True)
        if (item["arm"], item["execution"], item["question_id"]) == key
    ]
    return found


def answered(*events: Event, **fields: object) -> Trajectory:
    cell = make_trajectory("mcq", answer_index=1, events=events)
    return replace(cell, latency_s=4.5, **fields)  # type: ignore[arg-type]


def test_there_is_a_row_for_every_planned_cell() -> None:
    frame = outcomes_of(PLAN, []).frame

    assert frame.height == 2 * 2 * 2
    assert set(frame["run_status"]) == {"not_run"}
    assert frame["accuracy"].null_count() == frame.height
    for metric in EFFORT:
        assert frame[metric].null_count() == frame.height


def test_effort_is_counted_from_the_events() -> None:
    found = row(
        answered(
            generation(),
            ToolCall(call_id="1", name="look", arguments={}),
            operation(),
            operation(succeeded=False),
            operation(freshness="shared"),
            generation("observer"),
            generation(),
        )
    )

    assert (found["turns"], found["visible_calls"], found["primitive_ops"]) == (2.0, 1.0, 3.0)
    assert (found["primitive_ops_succeeded"], found["primitive_ops_shared"]) == (2.0, 1.0)
    assert (found["input_tokens"], found["output_tokens"], found["tokens"]) == (3000, 300, 3300)
    assert found["cost_usd"] == pytest.approx(3 * (1000 * 2 + 100 * 10) / 1e6)
    assert (found["frames"], found["latency_s"]) == (6.0, 4.5)
    assert json.loads(str(found["tokens_by_role"])) == {
        "observer": {"input": 1000, "output": 100},
        "orchestrator": {"input": 2000, "output": 200},
    }


def test_a_reply_that_was_thrown_away_is_no_turn_but_was_paid() -> None:
    wasted = generation(error="ProviderReplyError: empty")
    refused = generation(error="HttpError", input_tokens=None, output_tokens=None)

    found = row(answered(wasted, refused, generation()))

    assert (found["turns"], found["tokens"]) == (1.0, 2200)


def test_what_one_call_does_not_report_is_null_and_not_a_smaller_sum() -> None:
    found = row(answered(generation(), generation(input_tokens=None, output_tokens=None)))

    assert found["tokens"] is None
    assert found["cost_usd"] is None
    assert found["turns"] == 2.0


def test_a_model_without_a_price_has_no_cost() -> None:
    found = row(answered(generation(), generation(model="taketwo/offline-observer")))

    assert (found["cost_usd"], found["tokens"]) == (None, 2200)


def test_a_cell_that_made_no_call_has_no_tokens_rather_than_none_at_all() -> None:
    found = row(answered())

    assert (found["tokens"], found["cost_usd"], found["visible_calls"]) == (None, None, 0.0)


@pytest.mark.parametrize("status", ["abstained", "unparsed", "limit"])
def test_no_answer_by_the_agents_own_doing_is_wrong(status: RunStatus) -> None:
    found = row(make_trajectory("mcq", run_status=status))

    assert (found["score_status"], found["accuracy"]) == ("scored", 0.0)


@pytest.mark.parametrize("status", ["agent_error", "provider_error", "media_error", "not_run"])
def test_no_failure_is_ever_scored(status: RunStatus) -> None:
    cell = replace(
        make_trajectory("mcq", run_status=status, answer_index=1, events=[generation()]),
        latency_s=3.0,
        failure=Failure(cause="HttpError", message="HTTP 500"),
    )

    found = row(cell)

    assert (found["score_status"], found["accuracy"]) == ("not_judged", None)
    assert [found[metric] for metric in EFFORT] == [None] * len(EFFORT)
    assert found["failure"] == "HttpError: HTTP 500"


def test_options_are_matched_where_nobody_else_judges() -> None:
    assert row(make_trajectory("mcq", answer_index=1))["accuracy"] == 1.0
    assert row(make_trajectory("mcq", answer_index=0))["accuracy"] == 0.0
    assert row(make_trajectory("open", answer_text="cat"))["score_status"] == "not_judged"


@pytest.mark.parametrize(
    ("status", "accuracy"), [("scored", 1.0), ("ungradable", None), ("judge_error", None)]
)
def test_the_label_of_the_judge_is_taken(status: ScoreStatus, accuracy: float | None) -> None:
    frame = outcomes_of(
        PLAN, [make_trajectory("open", answer_text="cat")], lambda *_: Label(status, accuracy)
    ).frame

    found = frame.filter(run_status="answered").row(0, named=True)
    assert (found["score_status"], found["accuracy"]) == (status, accuracy)


def test_a_label_that_contradicts_itself_is_refused() -> None:
    with pytest.raises(InvalidResults, match=r"status 'ungradable' with accuracy 0\.0"):
        outcomes_of(PLAN, [make_trajectory("open")], lambda *_: Label("ungradable", 0.0))


def test_a_row_names_arm_video_factors_log_and_attempts() -> None:
    found = row(
        replace(
            make_trajectory("mcq", arm="method", answer_index=1), log="attempt-02.eval", attempts=2
        )
    )

    assert (found["baseline"], found["video_id"]) == ("base", "v1")
    assert (found["log"], found["attempts"]) == ("K1/attempt-02.eval", 2)
    assert found["attributes"] == '{"kind": "order"}'
    assert (found["availability"], found["answer_text"]) == ("available", None)


def test_factors_with_several_levels_stand_as_lists_beside_the_attributes() -> None:
    question = replace(
        MCQ,
        skills=("count", "see"),
        capabilities=("temporal",),
        multi_attributes={"style": ("cut",)},
    )
    plan = make_plan(questions=[question])

    frame = outcomes_of(plan, [make_trajectory("mcq", answer_index=1)]).frame

    assert json.loads(frame["attributes"][0]) == {
        "kind": "order",
        "skill": ["count", "see"],
        "capability": ["temporal"],
        "style": ["cut"],
    }


def test_a_video_that_is_gone_shows_as_its_availability() -> None:
    gone = Failure(cause="VideoMissing", message="v.mp4", retryable=False)

    found = row(replace(make_trajectory("mcq", run_status="media_error"), failure=gone))

    assert found["availability"] == "missing"


def test_a_cell_of_no_plan_is_refused() -> None:
    with pytest.raises(InvalidResults, match="'base:nobody' of K1 is of no planned cell"):
        outcomes_of(PLAN, [make_trajectory("nobody")])
    with pytest.raises(InvalidResults, match="of K3 is of no planned cell"):
        outcomes_of(PLAN, [make_trajectory("mcq", execution=3)])


def test_a_cell_that_occurs_twice_is_refused() -> None:
    with pytest.raises(InvalidResults, match="cell 'base:mcq' of K1 occurs twice"):
        outcomes_of(PLAN, [make_trajectory("mcq"), make_trajectory("mcq")])
