"""What the terminal shows of a plan."""

from __future__ import annotations

from pathlib import Path

from tests.plans import make_plan

from taketwo.analysis.planning import planning_text
from taketwo.benchmarks.question import Question
from taketwo.cli.plan import plan_text
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
