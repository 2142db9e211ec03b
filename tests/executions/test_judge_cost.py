"""What a plan foretells of its judges: requests, rough tokens, dollars."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from tests.plans import make_plan
from tests.scored_study import choice, opened

from taketwo.benchmarks.question import Question
from taketwo.executions.expected_cost import expected_cost
from taketwo.executions.judge_cost import JudgeCalls
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.scores.grading import judge_prompt
from taketwo.scores.trajectory_request import rubric

PRICES = {"a/judge": {"input": 2.0, "output": 10.0}}


def a_plan(*questions: Question, scoring: ScoringSpec | None = None, **changes: Any) -> Plan:
    plan = make_plan(questions=questions, judge=ModelSpec(name="a/judge"))
    return replace(plan, scoring=scoring or ScoringSpec(), **changes)


def judges_of(plan: Plan) -> tuple[JudgeCalls, ...]:
    return expected_cost(plan).judges


def test_every_judge_has_its_requests_tokens_and_dollars() -> None:
    scoring = ScoringSpec(repeats=3, judges=(ModelSpec(name="b/judge"),))

    first, second = judges_of(a_plan(opened(1), choice(1), scoring=scoring, prices=PRICES))

    # one open question, two arms, two executions, three repeats
    assert (first.judge, first.requests, second.requests) == ("a/judge", 12, 12)
    assert first.usd == pytest.approx((first.input_tokens * 2 + first.output_tokens * 10) / 1e6)
    assert (second.judge, second.usd) == ("b/judge", None)
    assert expected_cost(a_plan(opened(1), prices=PRICES)).judges_usd is not None
    assert expected_cost(a_plan(opened(1))).judges_usd is None


def test_a_judge_is_told_before_anything_is_paid() -> None:
    text = expected_cost(a_plan(opened(1), prices=PRICES)).to_text()

    # "What rolls in scene 1?" and "a red ball" are 8 tokens, by 4 characters a token; with 410 of
    # instructions and answer and 60 of a reply four times
    assert (
        "judge of answers a/judge: at most 4 requests, ~1,912 tokens, ~US$ 0.01 "
        "(equal answers are judged once)" in text
    )
    assert "in none of the dollars of the arms" in text


def test_the_curated_trajectories_are_for_the_first_judge_of_trajectories_alone() -> None:
    scoring = ScoringSpec(
        trajectories=TrajectoryScoring(
            judge=ModelSpec(name="a/judge"), judges=(ModelSpec(name="b/judge"),)
        )
    )

    first, second = judges_of(a_plan(choice(1), choice(2), scoring=scoring))

    assert (first.what, first.requests, second.requests) == ("trajectories", 2 * 2 * 2 + 2, 8)
    assert first.input_tokens > second.input_tokens


def test_nobody_to_ask_is_no_line() -> None:
    assert judges_of(a_plan(choice(1))) == ()
    assert "judge" not in expected_cost(a_plan(choice(1))).to_text()


def test_the_assumed_length_of_instructions_is_about_that_of_ours() -> None:
    """By four characters a token, within a third, fences and words around included."""
    assert len(judge_prompt()) / 4 == pytest.approx(350, rel=1 / 3)
    assert len(rubric("standard")) / 4 == pytest.approx(1_000, rel=1 / 3)
