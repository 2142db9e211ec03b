"""What the terminal shows of a plan."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest
from tests.plans import make_plan

from taketwo.analysis.planning import planning_text
from taketwo.auditing import audit
from taketwo.benchmarks.question import Question
from taketwo.cli.plan import budget_text, plan_text
from taketwo.errors import InvalidResults, RequestError
from taketwo.executions.expected_cost import expected_cost
from taketwo.study import Planned


def _text(questions: int, executions: int) -> str:
    plan = make_plan(
        questions=[
            Question(
                question_id=f"q{number}",
                text="What?",
                video_id="v",
                video_path="v.mp4",
                answer_text="this",
            )
            for number in range(questions)
        ],
        executions=executions,
    )
    return plan_text(
        Planned(plan=plan, folder=Path("march"), cost=expected_cost(plan), is_new=True)
    )


def test_a_plan_ends_with_what_its_design_can_see() -> None:
    text = _text(40, 2)

    assert text.endswith("\n\n" + planning_text(40, 2, level=0.95))
    assert "40 questions, 40 with a readable video" in text


def test_the_spread_between_executions_is_told_once() -> None:
    text = _text(40, 2)

    assert text.count("spread between executions (tau)") == 1
    assert "standard deviation of" not in text


def test_one_question_has_no_design_to_speak_of() -> None:
    assert "can see" not in _text(1, 2)


def test_one_execution_says_that_survival_stays_unknown() -> None:
    text = _text(40, 1)

    assert "whether the effect survives re-execution stays unknown" in text
    assert "no shift: one execution has nothing to be compared with" in text


def test_a_benchmark_near_its_ceiling_is_told_before_anything_is_paid() -> None:
    question = Question(
        question_id="q",
        text="What?",
        video_id="v",
        video_path="v.mp4",
        answer_text="this",
        attributes={"duration": "long"},
    )
    plan = replace(make_plan(questions=[question]), benchmark="video_mme")

    text = plan_text(
        Planned(plan=plan, folder=Path("march"), cost=expected_cost(plan), is_new=True)
    )

    assert "1 of 1 questions are of Video-MME's long videos" in text


def test_a_budget_needs_a_study_that_was_compared(tmp_path: Path) -> None:
    with pytest.raises(RequestError, match=r"was not\s+compared yet; run two executions and"):
        budget_text(tmp_path, 500)


def test_a_budget_is_split_by_what_executions_varied_by(tmp_path: Path) -> None:
    table = Path(__file__).parents[1] / "data" / "repair_paper_accuracy.csv"
    found = audit(
        table,
        question="question_id",
        wide="{execution}_{system}",
        baseline="static",
        method="dynamic",
    )
    (tmp_path / "comparison.json").write_text(json.dumps(found.comparison.to_json()), "utf-8")

    text = budget_text(tmp_path, 2000)

    # K* = tau sqrt(M) / s_QM = 7.95 x sqrt(2000) / 5.45 = 65.2 executions
    assert "2000 cells an arm buy best, for dynamic against static:" in text
    executions, questions = map(int, re.findall(r"(\d+) executions of (\d+) questions", text)[0])
    assert executions * questions <= 2000
    assert executions == pytest.approx(65, abs=3)


def test_a_garbled_comparison_is_named(tmp_path: Path) -> None:
    (tmp_path / "comparison.json").write_text("{", "utf-8")

    with pytest.raises(InvalidResults, match=r"comparison\.json: not a readable comparison"):
        budget_text(tmp_path, 500)
