"""A scored study in a folder, made without running anything: two arms, two executions, three questions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from tests.plans import make_plan

from taketwo.benchmarks.question import Milestone, Question
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import ScoringSpec, TrajectoryScoring
from taketwo.executions.trajectory import Failure, ModelCall, Note, ToolCall, Trajectory
from taketwo.executions.trajectory_table import write_trajectories
from taketwo.outcomes.build import outcomes_of
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.process_scores import MilestoneLabel, ProcessScores
from taketwo.scores.trajectory_judgements import TrajectoryJudgement, write_trajectory_judgements

JUDGE = ModelSpec(name="scripted/judge")
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def question(number: int, *, prefix: str = "") -> Question:
    """Return a question with 26 options and three milestones; C is true."""
    return Question(
        question_id=f"{prefix}{number}",
        text=f"How many things are in scene {number}?",
        video_id=f"video{number}",
        video_path=f"/secret/place/video{number}.mp4",
        options=tuple(str(index) for index in range(26)),
        answer_index=2,
        attributes={"difficulty": "hard" if number % 2 else "easy"},
        capabilities=("counting",),
        skills=("simple_counting",),
        sweep="no",
        milestones=tuple(
            Milestone(milestone_id=f"M{at}", text=f"Find thing {at}.", kind="counting")
            for at in (1, 2, 3)
        ),
    )


def make_study_plan(*, prefix: str = "", executions: int = 2) -> Plan:
    plan = make_plan(
        questions=[question(n, prefix=prefix) for n in (7, 8, 9)], executions=executions
    )
    base, method = plan.arms
    scoring = ScoringSpec(trajectories=TrajectoryScoring(judge=JUDGE))
    return replace(plan, arms=(base, replace(method, agent="video_react")), scoring=scoring)


def cells_of(plan: Plan) -> list[Trajectory]:
    """Return a cell of each kind: right, wrong, failed, given up, and one that did not run."""
    ids = [planned.question.question_id for planned in plan.questions]
    found: list[Trajectory] = []
    for execution in range(1, plan.executions + 1):
        found += [
            _single(ids[0], execution, index=2),
            _single(ids[1], execution, index=3),
            Trajectory(
                arm="base", question_id=ids[2], execution=execution, run_status="provider_error",
                failure=Failure(cause="Timeout", message="after 3 attempts"),
            ),
            _stepped(ids[0], execution, index=4),
            _stepped(ids[1], execution, index=None),
        ]  # fmt: skip
    return found


def _single(question_id: str, execution: int, *, index: int) -> Trajectory:
    said = f"I looked {execution} times.\nFINAL ANSWER: {LETTERS[index]}"
    call = ModelCall(
        role="orchestrator", model="m", text=said, input_tokens=100, output_tokens=10,
        media_sha256=("a", "b"),
    )  # fmt: skip
    return Trajectory(
        arm="base", question_id=question_id, execution=execution, run_status="answered",
        answer_index=index, answer_text=said, latency_s=12.345, latency_wall_s=20.0, attempts=1,
        events=(call,),
    )  # fmt: skip


def _stepped(question_id: str, execution: int, *, index: int | None) -> Trajectory:
    told = "It is unclear." if index is None else f'{{"answer": "{LETTERS[index]}"}}'
    first = ModelCall(
        role="orchestrator", model="m", text="I look.", tool_calls=("analyze_video",),
        input_tokens=50, output_tokens=5,
    )  # fmt: skip
    call = ToolCall(
        call_id="c1", name="analyze_video", arguments={"fps": 2, "start_time": 0, "end_time": 9},
        result=f"4 things, seen in run {execution}", latency_s=1.5,
    )  # fmt: skip
    failed = ToolCall(call_id="c2", name="get_transcript", arguments={}, error="no speech")
    last = ModelCall(
        role="orchestrator", model="m", text=told, input_tokens=60, output_tokens=6
    )  # fmt: skip
    return Trajectory(
        arm="method", question_id=question_id, execution=execution,
        run_status="limit" if index is None else "answered", answer_index=index,
        answer_text="" if index is None else told, latency_s=3.25, attempts=1,
        forced=index is not None, events=(first, call, failed, Note(text="the budget ran out"), last),
    )  # fmt: skip


def scores_of(level: int) -> ProcessScores:
    return ProcessScores(
        axes={
            "task_understanding": 2,
            "gt_evidence_coverage": level,
            "evidence_grounding": level,
            "evidence_completeness": None,
            "reasoning_faithfulness": 1,
        },
        rationales={f"P{at}": "so" for at in range(1, 6)},
        milestones=tuple(
            MilestoneLabel(milestone_id=f"M{at}", status=status, evidence="seen")
            for at, status in ((1, "covered"), (2, "partial"), (3, "missing"))
        ),
        failure_tags=("counting_error",),
        summary="Fine.",
    )


def write_study(folder: Path, plan: Plan, cells: Sequence[Trajectory]) -> Path:
    """Write plan, tables and judgements, as `taketwo score` leaves them; there are no logs."""
    folder.mkdir(parents=True)
    (folder / "plan.json").write_text(json.dumps(plan.to_json()), "utf-8")
    scoring = plan.scoring.trajectories
    assert scoring is not None
    asked = ProcessLabels(plan, scoring, {})
    judgements: dict[str, TrajectoryJudgement] = {}
    for cell in cells:
        request = asked.request(cell)
        if request is None:
            continue
        key = request.key(JUDGE.name)
        judgements[key] = TrajectoryJudgement(
            key=key, question_id=cell.question_id, judge=JUDGE.name, protocol="blind",
            rubric="standard", prompt_sha256="0" * 64, scores=scores_of(cell.execution % 3),
            created="2026-01-01T00:00:00+00:00", served_model="judge-1",
        )  # fmt: skip
    write_trajectory_judgements(folder / "judgements", judgements.values())
    labels = ProcessLabels(plan, scoring, judgements)
    write_trajectories(folder / "trajectories.parquet", cells)
    outcomes_of(plan, cells, None, labels.process_of).write(folder / "outcomes.parquet")
    return folder
