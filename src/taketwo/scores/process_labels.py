"""From a trajectory to the judgement of it: which cells have one, which still need it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping

from taketwo.benchmarks.question import Question
from taketwo.errors import InvalidResults
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.process_scores import TrajectoryStatus
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest
from taketwo.scores.trajectory_text import rendered

__all__ = ["UNJUDGED", "ProcessLabels"]

UNJUDGED = frozenset({"agent_error", "provider_error", "media_error", "not_run"})
"""Statuses of cells whose trajectory is not judged: it did not come to an end."""


class ProcessLabels:
    """Judgements of a study's trajectories by one judge.

    `scoring` says how; `judge` is the judge's name (the primary one's, unless another is given);
    `failed` are the keys that it could not score just now.
    """

    def __init__(
        self,
        plan: Plan,
        scoring: TrajectoryScoring,
        judgements: Mapping[str, TrajectoryJudgement],
        *,
        judge: str | None = None,
        failed: Collection[str] = (),
    ) -> None:
        self._questions = {
            planned.question.question_id: planned.question for planned in plan.questions
        }
        self._systems = {arm.name: arm.agent for arm in plan.arms}
        self._scoring = scoring
        self._judge = scoring.judge.name if judge is None else judge
        self._judgements = judgements
        self._failed = frozenset(failed)

    def request(self, trajectory: Trajectory) -> TrajectoryRequest | None:
        """Return what the judge is to be asked; None where nothing is to be judged.

        A question without milestones has no reference, and a cell that ended in an error has no
        whole trajectory.
        """
        question = self._questions[trajectory.question_id]
        if not question.milestones or trajectory.run_status in UNJUDGED:
            return None
        return TrajectoryRequest(
            question=question,
            trajectory=rendered(trajectory, system=self._systems[trajectory.arm]),
            protocol=self._scoring.protocol,
            rubric=self._scoring.rubric,
        )

    def process_of(
        self,
        question_id: str,
        trajectory: Trajectory,
    ) -> tuple[TrajectoryStatus, TrajectoryJudgement | None]:
        """Return what became of the trajectory's judging, and the judgement where there is one."""
        request = self.request(trajectory)
        if request is None:
            return "not_judged", None
        key = request.key(self._judge)
        judgement = self._judgements.get(key)
        if judgement is not None:
            _require_of(judgement, request.question, self._judge)
            return "scored", judgement
        return ("judge_error" if key in self._failed else "not_judged"), None

    def in_use(self, trajectories: Iterable[Trajectory]) -> tuple[TrajectoryJudgement, ...]:
        """Return the judgements that the scores rest on, each once, by key."""
        found: dict[str, TrajectoryJudgement] = {}
        for trajectory in trajectories:
            judgement = self.process_of(trajectory.question_id, trajectory)[1]
            if judgement is not None:
                found[judgement.key] = judgement
        return tuple(found[key] for key in sorted(found))

    def pending(self, trajectories: Iterable[Trajectory]) -> tuple[TrajectoryRequest, ...]:
        """Return the distinct trajectories that the judge has not scored, in a stable order."""
        wanted: dict[str, TrajectoryRequest] = {}
        for trajectory in trajectories:
            request = self.request(trajectory)
            if request is not None and request.key(self._judge) not in self._judgements:
                wanted.setdefault(request.key(self._judge), request)
        return tuple(wanted[key] for key in sorted(wanted))


def _require_of(judgement: TrajectoryJudgement, question: Question, judge: str) -> None:
    """Require that a judgement out of a file labels what the question has, by the judge that it is kept for."""
    labels = [label.milestone_id for label in judgement.scores.milestones]
    wanted = [step.milestone_id for step in question.milestones]
    completeness = judgement.scores.axes["evidence_completeness"]
    is_against_flag = (question.sweep == "no" and completeness is not None) or (
        question.sweep == "yes" and completeness is None
    )
    if labels != wanted or is_against_flag or judgement.judge != judge:
        raise InvalidResults(
            f"a judgement of a trajectory on {question.question_id!r} in judgements/ is not one of {judge!r} "
            f"on its milestones {', '.join(wanted)} (it has {', '.join(labels)}) and its sweep flag "
            f"{question.sweep or 'unknown'!r}: the file was changed; remove it and score again"
        )
