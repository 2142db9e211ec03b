"""Having trajectories in several notations judged beside one fixed path, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from taketwo.audit_input import AuditInput
from taketwo.scores.judge_audit.fixed_path_judge import (
    FixedPathJudgement,
    FixedPathRequest,
    by_fixed_path,
    fixed_path_requests,
    judge_fixed_path,
    read_fixed_path_judgements,
    write_fixed_path_judgements,
)
from taketwo.scores.judge_audit.judge_probes import Probe
from taketwo.scores.judged_in_batches import Save, judged_in_batches, run_judging
from taketwo.scores.served_models import require_one_served_model
from taketwo.scores.trajectory_judge import TrajectoryJudgeFailure

__all__ = ["judged_by_fixed_path"]


def judged_by_fixed_path(
    found: AuditInput, probes: Sequence[Probe], *, may_ask: bool
) -> tuple[Mapping[str, FixedPathJudgement], Counter[str]]:
    """Return the judgements of the probes by key, and the causes of those that failed now, counted.

    What is lacking is asked of the audit's judge where `may_ask`, a batch at a time, and written
    beside its other judgements. All are of one served model, as those of a study's trajectories are:
    what another one says is a failure.

    Raises
    ------
    InvalidResults
        If the judgements that are there cannot be read, or those of the probes are of different
        served models.
    RequestError
        If the judge cannot be asked at all.
    """
    judge, plan = found.scoring.judge, found.plan
    wanted = {request.key(judge.name): request for request in fixed_path_requests(probes)}
    there = read_fixed_path_judgements(found.folder)
    known = {key: there[key] for key in wanted if key in there}
    require_one_served_model(known.values(), judge.name)
    lacking = tuple(request for key, request in wanted.items() if key not in known)
    if not may_ask or not lacking:
        return known, Counter()
    ours = {item.question.question_id for item in plan.questions}
    others = [one for one in there.values() if one.judge == judge.name and one.question_id in ours]

    async def ask(
        batch: Sequence[FixedPathRequest], save: Save[FixedPathJudgement]
    ) -> tuple[Sequence[FixedPathJudgement], Sequence[TrajectoryJudgeFailure]]:
        return await judge_fixed_path(
            batch,
            judge,
            connections=plan.connections,
            retries=plan.retries,
            timeout_s=max(1, round(plan.timeout_s)),
            max_tokens=found.scoring.max_tokens,
            rescue=save,
        )

    done = run_judging(
        judged_in_batches(
            lacking,
            judge.name,
            ask,
            lambda labels: write_fixed_path_judgements(found.folder, labels),
            known=[*known.values(), *others],
            connections=plan.connections,
        )
    )
    causes = Counter(f"{by_fixed_path(judge.name)}: {cause}" for cause in done.causes.values())
    return known | {item.key: item for item in done.labels}, causes
