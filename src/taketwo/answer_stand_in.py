"""Another judge of answers in the place of one that cannot be asked any more: a model that was retired, a lost key.

The plan's judge stays the one that counts for as long as it can be asked: it is asked first, and
only where it leaves answers without a label and gives none may another one take its place. That one
then labels all answers anew. Labels of the two are never mixed, and both stay in the folder.
"""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.added_scoring import AnswerStandIn
from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import Trajectory
from taketwo.judging import Judging
from taketwo.scores.grading import Grader
from taketwo.scores.judgement_pool import JudgementPool

__all__ = ["ask_stand_in"]


def ask_stand_in(
    judging: Judging,
    pool: JudgementPool,
    plan: Plan,
    trajectories: Sequence[Trajectory],
    *,
    current: ModelSpec,
    judge: ModelSpec,
) -> AnswerStandIn:
    """Ask `judge` about all answers of a study, where `current`, just asked, could label none more.

    Raises
    ------
    RequestError
        If `current` has labelled all answers or gave a label just now, or `judge` gave none either.
    """
    if judge.name == current.name:
        raise RequestError(
            f"{judge.name} is the judge of this study's answers already; name another one"
        )
    grader = Grader(plan, pool.answers, pool.extractions, judge=current.name)
    lacking = [request.key(current.name) for request in grader.pending(trajectories)]
    beside = f"to see another judge's labels beside its own: --judge {judge.name}"
    if not lacking:
        raise RequestError(
            f"{current.name} has labelled all answers of this study; nobody stands in for it ({beside})"
        )
    now = sum(
        work.done for work in judging.work if work.what == "answers" and work.judge == current.name
    )
    if now:
        raise RequestError(
            f"{current.name} can be asked: it gave {now:,} labels just now, and {len(lacking):,} are "
            f"still lacking; score again, nobody stands in for it ({beside})"
        )
    judging.answers([judge])
    used = Grader(plan, pool.answers, pool.extractions, judge=judge.name).judgements_in_use(
        trajectories
    )
    if not used:
        raise RequestError(
            f"{judge.name} gave no label either, and does not stand in for {current.name}: "
            f"{_cause(judging, judge.name)}"
        )
    labelled = len(grader.judgements_in_use(trajectories))
    return AnswerStandIn(
        judge=judge,
        replaced=current.name,
        labelled=labelled,
        wanted=labelled + len(lacking),
        cause=_cause(judging, current.name),
    )


def _cause(judging: Judging, judge: str) -> str:
    """Return why a judge gave no label, as far as it is known."""
    if judge in judging.unasked:
        return judging.unasked[judge]
    failures = (
        work.failures for work in judging.work if work.what == "answers" and work.judge == judge
    )
    return next((causes[0] for causes in failures if causes), "the cause is not known")
