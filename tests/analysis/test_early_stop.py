"""The rule of stopping, applied to outcomes written by hand."""

from __future__ import annotations

from dataclasses import replace

import polars as pl
import pytest
from tests.plans import make_plan

from taketwo.analysis.early_stop import early_stop
from taketwo.benchmarks.question import Question
from taketwo.errors import RuleMismatch
from taketwo.executions.plan import Plan
from taketwo.executions.rule import Rule, Stopping
from taketwo.executions.stopped import blocks_of
from taketwo.outcomes.build import outcomes_of
from taketwo.outcomes.table import Outcomes


def _plan(questions: int) -> Plan:
    return make_plan(
        questions=[
            Question(
                question_id=f"q{number}",
                text="Which?",
                video_id=f"v{number}",
                video_path=f"v{number}.mp4",
                options=("this", "that"),
                answer_index=0,
            )
            for number in range(questions)
        ]
    )


@pytest.fixture
def plan() -> Plan:
    """Return a plan of 60 questions in blocks of 20."""
    return replace(_plan(60), rule=Rule(stopping=Stopping(block=20)))


def _outcomes(plan: Plan, *unknown: tuple[int, str]) -> Outcomes:
    """Return outcomes in which the method is right in K1 only, the baseline in K2 only."""
    lost = pl.format("{} {}", "execution", "question_id").is_in([f"{k} {q}" for k, q in unknown])
    is_right = (pl.col("arm") == "method") == (pl.col("execution") == 1)
    accuracy = pl.when(~lost).then(is_right.cast(pl.Float64))
    return Outcomes(outcomes_of(plan, ()).frame.with_columns(accuracy=accuracy))


def test_it_stops_after_the_block_and_names_the_drawn_questions(plan: Plan) -> None:
    found = early_stop(plan, _outcomes(plan), 2, 1)

    assert found is not None
    assert found.questions == blocks_of(plan, 2)[0]
    assert found.statistic["shift"] == 2.0
    assert "effect in K1 minus effect in K2 +200.0 points" in found.reason


def test_a_question_without_an_effect_in_k1_is_left_out(plan: Plan) -> None:
    first = blocks_of(plan, 2)[0][0]

    found = early_stop(plan, _outcomes(plan, (1, first)), 2, 1)

    assert found is not None
    assert found.statistic["questions"] == 19


def test_a_question_without_an_effect_in_the_execution_lets_it_run_on(plan: Plan) -> None:
    first, second, _ = blocks_of(plan, 2)

    assert early_stop(plan, _outcomes(plan, (2, first[5])), 2, 2) is None
    assert early_stop(plan, _outcomes(plan, (2, second[5])), 2, 1) is not None


def test_a_plan_without_the_rule_has_no_blocks() -> None:
    plan = _plan(4)

    with pytest.raises(RuleMismatch, match=r"has no rule\.stopping"):
        early_stop(plan, outcomes_of(plan, ()), 2, 1)
