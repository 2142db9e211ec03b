"""Small plans and trajectories for tests."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.benchmarks.question import Question
from taketwo.executions.plan import Arm, ModelSpec, Plan, PlannedQuestion
from taketwo.executions.rule import Rule
from taketwo.executions.trajectory import Event, RunStatus, Trajectory
from taketwo.tools.budget import Limits


def make_arm(name: str, baseline: str | None = None) -> Arm:
    """Return an arm that uses one offline model."""
    return Arm(
        name=name,
        agent="single_turn",
        baseline=baseline,
        options={},
        models={"orchestrator": ModelSpec(name="taketwo/offline-orchestrator")},
        sampling={},
        limits=Limits(),
        tools=(),
        prompts={"orchestrator": "0" * 64},
        tools_sha256="1" * 64,
    )


def make_plan(
    *, questions: Sequence[Question], judge: ModelSpec | None = None, executions: int = 2
) -> Plan:
    """Return a plan of two arms on `questions`, all of them available."""
    return Plan(
        study="test",
        created="2026-01-01T00:00:00+00:00",
        seed=1,
        executions=executions,
        benchmark="local",
        benchmark_version="1",
        benchmark_sha256="2" * 64,
        questions=tuple(
            PlannedQuestion(
                question=question,
                question_sha256=question.content_sha256,
                video_sha256="3" * 64,
                subtitles_sha256=None,
                availability="available",
            )
            for question in questions
        ),
        arms=(make_arm("base"), make_arm("method", "base")),
        rule=Rule(),
        judge=judge,
        cells=2,
        connections=2,
        retries=1,
        timeout_s=30,
        provider_seeds=False,
        code_sha256="4" * 64,
        packages={},
    )


def make_trajectory(
    question_id: str,
    *,
    arm: str = "base",
    execution: int = 1,
    run_status: RunStatus = "answered",
    answer_index: int | None = None,
    answer_text: str = "",
    events: Sequence[Event] = (),
) -> Trajectory:
    """Return the trajectory of one cell."""
    return Trajectory(
        arm=arm,
        question_id=question_id,
        execution=execution,
        run_status=run_status,
        answer_index=answer_index,
        answer_text=answer_text,
        events=tuple(events),
    )
