"""Rows that no run, or not this plan, can have."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import polars as pl
import pytest
from tests.plans import make_plan

from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.scoring_spec import ScoringSpec
from taketwo.outcomes.possible import require_planned, require_possible
from taketwo.outcomes.table import COLUMNS

MEASURED = [column.name for column in COLUMNS if column.dtype == pl.Float64()]


def _frame(rows: Sequence[Mapping[str, object]]) -> pl.DataFrame:
    schema = {column.name: column.dtype for column in COLUMNS}
    return pl.DataFrame({name: [row.get(name) for row in rows] for name in schema}, schema=schema)


def _row(**given: object) -> dict[str, object]:
    return {
        "arm": "static",
        "execution": 1,
        "question_id": "q1",
        "video_id": "v1",
        "availability": "available",
        "run_status": "answered",
        "score_status": "scored",
        "forced": False,
        "answer_index": 0,
        "accuracy": 1.0,
        "turns": 3.0,
        "factors": '{"agent": "single_turn"}',
        **given,
    }


@pytest.mark.parametrize(
    "row",
    [
        _row(),
        _row(run_status="limit", answer_index=None, accuracy=0.0),
        _row(run_status="agent_error", score_status="not_judged", answer_index=None, accuracy=None),
        _row(
            availability="stopped",
            run_status="not_run",
            score_status="not_judged",
            answer_index=None,
            accuracy=None,
        ),
        _row(trajectory_score=1.0, mc_rate=0.0, attempts=0, factors=None),
        _row(trajectory_status="scored", evidence_grounding=2.0, failure_tags="[]"),
        _row(score_status="ungradable", accuracy=0.0),
        _row(run_status="unparsed", answer_source="extracted", answer_index=1),
    ],
)
def test_rows_that_runs_have_are_taken(row: dict[str, object]) -> None:
    require_possible(_frame([row]), MEASURED)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"forced": None}, "forced is empty in 1 rows; fill it, first None in"),
        (
            {"run_status": "bogus"},
            "run_status has 1 values other than answered, abstained, .*'bogus'",
        ),
        ({"score_status": "bogus"}, "score_status has 1 values other than scored, .*'bogus'"),
        (
            {"availability": "gone"},
            "availability has 1 values other than available, missing, .*'gone'",
        ),
        ({"latency_s": -0.5}, "latency_s has 1 values below 0, first -0.5 in"),
        ({"cost_usd": -1.0}, "cost_usd has 1 values below 0, first -1.0 in"),
        ({"input_tokens": float("inf")}, "input_tokens has 1 values that are not finite"),
        ({"mc_rate": 1.5}, "mc_rate has 1 values above 1, first 1.5 in"),
        ({"trajectory_score": 1.5}, "trajectory_score has 1 values above 1, first 1.5 in"),
        ({"evidence_grounding": 3.0}, "evidence_grounding has 1 values above 2, first 3.0 in"),
        (
            {"trajectory_score": 0.5, "trajectory_status": "judge_error"},
            "trajectory_status is not that of a judged trajectory in 1 rows",
        ),
        ({"trajectory_status": "bogus"}, "trajectory_status has 1 values other than scored, "),
        ({"answer_source": "guess"}, "answer_source has 1 values other than agent, extracted"),
        (
            {"answer_source": "extracted"},
            "run_status is not unparsed in 1 rows whose answer a model read",
        ),
        ({"failure_tags": "{}"}, "failure_tags is no JSON list, first '{}' in"),
        ({"milestones": "[]"}, r"milestones is no JSON object, first '\[\]' in"),
        ({"answer_index": -1}, "answer_index has 1 values below 0, first -1 in"),
        ({"attempts": -1}, "attempts has 1 values below 0, first -1 in"),
        ({"execution": 0}, "execution has 1 values below 1, first 0 in"),
        ({"run_status": "agent_error"}, "run_status is an error in 1 rows that have an accuracy"),
        ({"run_status": "abstained"}, "says that there is no answer in 1 rows with accuracy 1"),
        (
            {"run_status": "limit", "accuracy": 0.0},
            "says that there is no answer in 1 rows with an answer_index",
        ),
        (
            {"score_status": "judge_error"},
            "score_status is not scored in 1 rows that have an accuracy",
        ),
        (
            {"availability": "stopped"},
            "run_status is not not_run in 1 rows whose execution was stopped before them",
        ),
        ({"factors": "[1]"}, r"factors is no JSON object, first '\[1\]' in"),
        ({"attributes": "[" * 100_000}, "attributes is no JSON object, first "),
    ],
)
def test_a_row_that_no_run_has_is_refused_with_its_first_cell(
    changed: dict[str, object], message: str
) -> None:
    frame = _frame([_row(question_id="q0"), _row(**changed)])

    with pytest.raises(InvalidResults, match=message) as error:
        require_possible(frame, MEASURED)
    number = changed.get("execution", 1)
    assert f"question 'q1', arm 'static', execution K{number}" in str(error.value)


def test_an_option_is_not_right_in_one_cell_and_wrong_in_another() -> None:
    frame = _frame([_row(), _row(arm="dynamic", accuracy=0.0)])

    with pytest.raises(
        InvalidResults, match="answer 0 of question 'q1' is right in one cell and wrong in another"
    ):
        require_possible(frame, MEASURED)


def test_a_judge_may_find_two_wordings_of_one_option_different() -> None:
    rows = [_row(option_accuracy=1.0), _row(arm="dynamic", accuracy=0.0, option_accuracy=1.0)]

    require_possible(_frame(rows), MEASURED)

    rows[1]["option_accuracy"] = 0.0
    with pytest.raises(InvalidResults, match="answer 0 of question 'q1' is right in one cell"):
        require_possible(_frame(rows), MEASURED)


PLAN = make_plan(
    questions=[
        Question(
            question_id=name,
            text="What?",
            video_id="v",
            video_path="v.mp4",
            options=("a", "b"),
            answer_index=1,
        )
        for name in ("q1", "q2")
    ]
)


def _planned() -> pl.DataFrame:
    return _frame([
        _row(arm=arm, execution=execution, question_id=question, answer_index=1)
        for arm in ("base", "method")
        for execution in (1, 2)
        for question in ("q1", "q2")
    ])


def test_a_table_of_its_plan_is_taken() -> None:
    require_planned(_planned(), PLAN)


def test_a_table_of_another_plan_is_refused() -> None:
    frame = _planned().with_columns(arm=pl.col("arm").replace("method", "other"))

    with pytest.raises(
        InvalidResults,
        match="4 cells are not of the plan of study 'test', first question 'q1', arm 'o",
    ):
        require_planned(frame, PLAN)


def test_a_table_without_some_of_the_planned_cells_is_refused() -> None:
    with pytest.raises(
        InvalidResults,
        match="3 planned cells have no row, first question 'q2', arm 'method', execution K1",
    ):
        require_planned(_planned().head(5), PLAN)


def test_an_answer_that_is_scored_against_the_truth_is_refused() -> None:
    frame = _planned().with_columns(
        accuracy=pl.when(pl.col("question_id") == "q2").then(0.0).otherwise(pl.col("accuracy"))
    )

    with pytest.raises(
        InvalidResults,
        match="4 cells are scored against the plan, first question 'q2', arm 'base', execution K1: "
        "answer 1, truth 1, accuracy 0; score the study again",
    ):
        require_planned(frame, PLAN)


def test_where_every_answer_is_judged_the_judge_may_overrule_the_option_and_nobody_the_truth() -> (
    None
):
    plan = replace(PLAN, scoring=ScoringSpec(answers="published"))
    overruled = _planned().with_columns(accuracy=pl.lit(0.0), option_accuracy=pl.lit(1.0))

    require_planned(overruled, plan)

    with pytest.raises(InvalidResults, match=r"8 cells are scored against the plan.*accuracy 0;"):
        require_planned(overruled, PLAN)
    forged = overruled.with_columns(option_accuracy=pl.lit(0.0))
    with pytest.raises(InvalidResults, match=r"8 cells are .*truth 1, option_accuracy 0; score"):
        require_planned(forged, plan)
