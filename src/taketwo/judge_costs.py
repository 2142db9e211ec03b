"""What the labels of a study took, by judge: tokens, and dollars by the plan's prices."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.added_scoring import StudyScoring
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.outcomes.references import reference_requests
from taketwo.report.judge_use_tables import JudgeCost
from taketwo.scores.extractions import Extraction
from taketwo.scores.grading import Grader
from taketwo.scores.judge_work import spent_on
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.judgements import Judgement
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.trajectory_judgements import TrajectoryJudgement

__all__ = ["judge_costs"]


def judge_costs(
    plan: Plan, pool: JudgementPool, trajectories: Sequence[Trajectory], process: StudyScoring
) -> tuple[JudgeCost, ...]:
    """Return what the labels in use took: those of answers, of options, of trajectories and curated ones.

    Every judge whose labels stand somewhere in the report is in it, the ones that count first.
    """
    found: list[JudgeCost] = []
    grader = Grader(plan, pool.answers, pool.extractions)
    counts = process.answer_judge(plan)
    first = [] if counts is None else [counts.name]
    for name in (*first, *sorted({item.judge for item in pool.answers.values()} - set(first))):
        found += _cost(plan, name, "answers", grader.judgements_in_use(trajectories, name))
    if plan.scoring.extractor is not None:
        read = grader.extractions_in_use(trajectories)
        found += _cost(plan, plan.scoring.extractor.name, "options of replies", read)
    scoring = process.scoring
    if scoring is not None:
        name = scoring.judge.name
        others = {item.judge for item in pool.trajectories.values()} - {name}
        for judge in (name, *sorted(others)):
            labels = ProcessLabels(plan, scoring, pool.trajectories, judge=judge)
            found += _cost(plan, judge, "trajectories", labels.in_use(trajectories))
        keys = {request.key(name) for request in reference_requests(plan, scoring)}
        curated = [pool.trajectories[key] for key in sorted(keys) if key in pool.trajectories]
        found += _cost(plan, name, "curated trajectories", curated)
    return tuple(found)


def _cost(
    plan: Plan,
    judge: str,
    what: str,
    labels: Sequence[Judgement | Extraction | TrajectoryJudgement],
) -> list[JudgeCost]:
    if not labels:
        return []
    spent = spent_on(labels, judge, plan.prices)
    return [
        JudgeCost(
            judge=judge,
            what=what,
            labels=len(labels),
            input_tokens=spent.input_tokens,
            output_tokens=spent.output_tokens,
            usd=spent.cost_usd,
        )
    ]
