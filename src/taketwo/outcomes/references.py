"""The curated trajectories of a study's questions as judged: a line to read the agents' scores by."""

from __future__ import annotations

import json
from collections.abc import Mapping

import polars as pl

from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.scores.process_scores import AXES
from taketwo.scores.reference_trajectory import rendered_reference
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest

__all__ = ["reference_requests", "references_of"]

_SCHEMA = {
    "question_id": pl.String(),
    "trajectory_score": pl.Float64(),
    "mc_rate": pl.Float64(),
    **dict.fromkeys(AXES, pl.Float64()),
    "milestones": pl.String(),
}


def reference_requests(plan: Plan, scoring: TrajectoryScoring) -> tuple[TrajectoryRequest, ...]:
    """Return what a judge is asked about the curated trajectories; none where they are not wanted."""
    if not scoring.references:
        return ()
    found: list[TrajectoryRequest] = []
    for planned in plan.questions:
        trajectory = rendered_reference(planned.question)
        if trajectory is not None and planned.question.milestones:
            found.append(
                TrajectoryRequest(
                    question=planned.question,
                    trajectory=trajectory,
                    protocol=scoring.protocol,
                    rubric=scoring.rubric,
                )
            )
    return tuple(found)


def references_of(
    plan: Plan,
    scoring: TrajectoryScoring | None,
    judgements: Mapping[str, TrajectoryJudgement],
) -> pl.DataFrame | None:
    """Return one row for each judged curated trajectory; None where none was judged."""
    if scoring is None:
        return None
    rows: list[dict[str, object]] = []
    for request in reference_requests(plan, scoring):
        judgement = judgements.get(request.key(scoring.judge.name))
        if judgement is None:
            continue
        kinds = {step.milestone_id: step.kind for step in request.question.milestones}
        rows.append({
            "question_id": request.question.question_id,
            "trajectory_score": judgement.trajectory_score,
            "mc_rate": judgement.mc_rate,
            **{axis: judgement.scores.axes[axis] for axis in AXES},
            "milestones": json.dumps({
                label.milestone_id: {"kind": kinds[label.milestone_id], "status": label.status}
                for label in judgement.scores.milestones
            }),
        })
    return pl.DataFrame(rows, schema=_SCHEMA) if rows else None
