"""A finished study in a folder, its logs written by hand, for tests of everything that judges it."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.executions.written_logs import cell_event, sample_member, start_member, write_log
from tests.plans import make_plan
from tests.scripted_model import Request, script

from taketwo.benchmarks.question import Milestone, Question, ReferenceStep
from taketwo.executions.freeze import write_plan
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import ScoringSpec

ARMS = ("base", "method")
EXECUTIONS = (1, 2)


def choice(number: int, **changes: Any) -> Question:
    """Return a question with options, milestones and a curated trajectory; `red` is true."""
    fields: dict[str, Any] = {
        "question_id": f"q{number}",
        "text": f"Which colour has ball {number}?",
        "video_id": f"v{number}",
        "video_path": f"v{number}.mp4",
        "options": ("red", "blue", "green"),
        "answer_index": 0,
        "sweep": "no",
        "attributes": {"difficulty": "easy" if number % 2 else "hard"},
        "milestones": (
            Milestone(milestone_id="M1", text="Find the ball.", kind="temporal_localization"),
            Milestone(milestone_id="M2", text="Read its colour as red.", kind="visual_recognition"),
        ),
        "reference": (
            ReferenceStep(tool="look", arguments="0-4 s", thought="", observation="a red ball"),
        ),
    }
    return Question(**(fields | changes))


def opened(number: int) -> Question:
    """Return an open question whose truth is `a red ball`; it has no milestones."""
    return Question(
        question_id=f"o{number}",
        text=f"What rolls in scene {number}?",
        video_id=f"v{number}",
        video_path=f"v{number}.mp4",
        answer_text="a red ball",
    )


def finished(
    folder: Path,
    questions: Sequence[Question],
    answers: Mapping[tuple[str, int, str], Mapping[str, Any]],
    *,
    judge: str | None = None,
    scoring: ScoringSpec | None = None,
    **changes: Any,
) -> Plan:
    """Write a plan and the logs of its executions; returns the plan.

    `answers` has the fields of the cell's event by (arm, execution, question id); a cell that is not
    named answered with the first option, or with `a red ball`. `changes` are fields of the plan.
    """
    plan = make_plan(
        questions=questions, judge=None if judge is None else ModelSpec(name=judge), executions=2
    )
    if scoring is not None:
        plan = replace(plan, scoring=scoring)
    plan = replace(plan, **changes)
    folder.mkdir(parents=True, exist_ok=True)
    write_plan(plan, folder)
    for execution in EXECUTIONS:
        members = [
            sample_member(
                arm,
                question.question_id,
                execution=execution,
                events=[
                    cell_event(**{
                        **_usual(question),
                        **answers.get((arm, execution, question.question_id), {}),
                    })
                ],
            )
            for question in questions
            for arm in ARMS
        ]
        start = start_member(plan_sha256=plan.sha256, execution=execution)
        write_log(folder / f"K{execution}" / "attempt-01.eval", start, *members)
    return plan


def says_option(index: int, text: str) -> dict[str, Any]:
    """Return the fields of a cell that chose an option with those words."""
    return {"answer": {"status": "answered", "text": text, "option_index": index}}


def says_text(text: str) -> dict[str, Any]:
    """Return the fields of a cell that gave an open answer."""
    return {"answer": {"status": "answered", "text": text, "option_index": None}}


def unparsed(text: str) -> dict[str, Any]:
    """Return the fields of a cell whose reply named no single option."""
    return {
        "run_status": "unparsed",
        "answer": {"status": "unparsed", "text": text, "option_index": None},
    }


def _usual(question: Question) -> dict[str, Any]:
    return says_option(0, "FINAL ANSWER: A") if question.options else says_text("a red ball")


def trajectory_reply(request: Request, *, grounding: int = 2, tags: Sequence[str] = ()) -> str:
    """Return a valid reply of a judge of trajectories to questions that need no sweep, of two milestones."""
    assert "milestones" in request.text
    return json.dumps({
        "process_scores": {
            "task_understanding": 2,
            "gt_evidence_coverage": 1,
            "evidence_grounding": grounding,
            "evidence_completeness": None,
            "reasoning_faithfulness": 2,
        },
        "axis_rationales": dict.fromkeys(("P1", "P2", "P3", "P4", "P5"), "said"),
        "milestone_coverage": [
            {"milestone_id": "M1", "status": "covered", "evidence_in_prediction": "ball"},
            {"milestone_id": "M2", "status": "partial", "evidence_in_prediction": ""},
        ],
        "failure_tags": list(tags),
        "summary": "",
    })


def trajectory_judge(**how: Any) -> str:
    """Return the name of a judge of trajectories that always gives the same valid reply."""
    return script([lambda request: trajectory_reply(request, **how)], repeat_last=True)


def answer_reply(label: str) -> str:
    """Return a valid reply of a judge of answers."""
    return json.dumps({"label": label, "reason": "said"})
