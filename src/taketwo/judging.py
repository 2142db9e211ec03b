"""Asking the judges of a study, a batch at a time, so that what was paid for is on disk soon after."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from typing import TypeVar

from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.answer_extractor import extract_options
from taketwo.scores.answer_judge import judge_answers
from taketwo.scores.extractions import Extraction, ExtractRequest
from taketwo.scores.grading import Grader, JudgeRequest
from taketwo.scores.judge_work import JudgeWork, spent_on
from taketwo.scores.judged_in_batches import (
    Ask,
    JudgingFailure,
    Save,
    judged_in_batches,
    run_judging,
)
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.judgements import Judgement
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.trajectory_judge import judge_trajectories
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest

__all__ = ["Judging"]

_WORDS = {
    "answers": "answers",
    "options": "ambiguous replies",
    "trajectories": "trajectories",
    "references": "curated trajectories",
}
"""What is asked about, for people; everything else is a check of an audit."""

Item = TypeVar("Item", JudgeRequest, ExtractRequest, TrajectoryRequest)
Label = TypeVar("Label", Judgement, Extraction, TrajectoryJudgement)


class Judging:
    """Asks judges for what the pool does not know yet, and adds what they say to it.

    `work` tells what each judge did, `failed` the causes by key of what could not be labelled, and
    `unasked` why a judge could not be asked at all (a key is missing), by its name.
    """

    def __init__(
        self,
        plan: Plan,
        pool: JudgementPool,
        trajectories: Sequence[Trajectory],
        on_work: Callable[[str], None],
    ) -> None:
        self._plan = plan
        self._pool = pool
        self._cells = trajectories
        self._on_work = on_work
        self.work: list[JudgeWork] = []
        self.failed: dict[str, str] = {}
        self.unasked: dict[str, str] = {}
        self._question_ids = {item.question.question_id for item in plan.questions}

    def _ask(self, judge: str, work: Coroutine[object, object, None]) -> None:
        """Run one judge's work; a judge that cannot be asked at all stops no other one."""
        try:
            run_judging(work)
        except RequestError as error:
            self.unasked[judge] = str(error)

    def options(self) -> None:
        """Ask which option ambiguous replies mean, where the plan has somebody to ask."""
        if self._plan.scoring.extractor is not None:
            extractor = self._plan.scoring.extractor
            self._ask(extractor.name, self._extract(extractor))

    def answers(self, judges: Iterable[ModelSpec]) -> None:
        """Ask judges of answers, one after the other; one that is named twice is asked once."""
        asked: set[str] = set()
        for judge in judges:
            if judge.name not in asked:
                asked.add(judge.name)
                self._ask(judge.name, self._answers(judge))

    def trajectories(
        self,
        scoring: TrajectoryScoring,
        further: Sequence[ModelSpec],
        references: Sequence[TrajectoryRequest],
    ) -> None:
        """Ask the primary judge of trajectories, for the curated ones too, and the further ones."""
        for judge in (scoring.judge, *scoring.judges, *further):
            labels = ProcessLabels(self._plan, scoring, self._pool.trajectories, judge=judge.name)
            self.requests(
                "trajectories",
                labels.pending(self._cells),
                judge,
                scoring.max_tokens,
                known=labels.in_use(self._cells),
            )
        self.requests("references", references, scoring.judge, scoring.max_tokens)

    def requests(
        self,
        what: str,
        requests: Sequence[TrajectoryRequest],
        judge: ModelSpec,
        max_tokens: int | None,
        *,
        known: Sequence[TrajectoryJudgement] = (),
    ) -> None:
        """Ask one judge about those trajectories that the pool has no judgement of.

        `known` are judgements in use under ids of questions that are not the study's.
        """
        pending = {
            key: request
            for request in requests
            if (key := request.key(judge.name)) not in self._pool.trajectories
            and key not in self.failed
        }
        if pending and judge.name not in self.unasked:
            self._ask(
                judge.name,
                self._trajectories(what, tuple(pending.values()), judge, max_tokens, known),
            )

    async def _extract(self, spec: ModelSpec) -> None:
        grader = Grader(self._plan, self._pool.answers, self._pool.extractions)
        known = [
            *(one for one in self._of_study(self._pool.extractions) if one.extractor == spec.name),
            *grader.extractions_in_use(self._cells),
        ]

        async def ask(
            batch: Sequence[ExtractRequest], save: Save[Extraction]
        ) -> tuple[Sequence[Extraction], Sequence[JudgingFailure]]:
            return await extract_options(batch, spec, rescue=save, **self._limits())

        pending = grader.pending_extractions(self._cells)
        await self._in_batches("options", pending, spec, ask, self._pool.add_extractions, known)

    async def _answers(self, spec: ModelSpec) -> None:
        grader = Grader(
            self._plan,
            self._pool.answers,
            self._pool.extractions,
            failed=self.failed.keys(),
            judge=spec.name,
        )
        known = [
            *(one for one in self._of_study(self._pool.answers) if one.judge == spec.name),
            *grader.judgements_in_use(self._cells),
        ]

        async def ask(
            batch: Sequence[JudgeRequest], save: Save[Judgement]
        ) -> tuple[Sequence[Judgement], Sequence[JudgingFailure]]:
            return await judge_answers(batch, spec, rescue=save, **self._limits())

        pending = grader.pending(self._cells)
        await self._in_batches("answers", pending, spec, ask, self._pool.add_answers, known)

    async def _trajectories(
        self,
        what: str,
        pending: Sequence[TrajectoryRequest],
        spec: ModelSpec,
        max_tokens: int | None,
        in_use: Sequence[TrajectoryJudgement],
    ) -> None:
        known = [
            *(one for one in self._of_study(self._pool.trajectories) if one.judge == spec.name),
            *in_use,
        ]

        async def ask(
            batch: Sequence[TrajectoryRequest], save: Save[TrajectoryJudgement]
        ) -> tuple[Sequence[TrajectoryJudgement], Sequence[JudgingFailure]]:
            return await judge_trajectories(
                batch, spec, max_tokens=max_tokens, rescue=save, **self._limits()
            )

        await self._in_batches(what, pending, spec, ask, self._pool.add_trajectories, known)

    async def _in_batches(
        self,
        what: str,
        pending: Sequence[Item],
        spec: ModelSpec,
        ask: Ask[Item, Label],
        add: Save[Label],
        known: Iterable[Label],
    ) -> None:
        """Ask a judge, and keep what it did and why something has no label."""
        self._announce(what, len(pending), spec)
        done = await judged_in_batches(
            pending, spec.name, ask, add, known=known, connections=self._plan.connections
        )
        if pending:
            self._note(what, spec, len(pending), done.causes, done.labels)

    def _of_study(self, labels: Mapping[str, Label]) -> Iterable[Label]:
        """Return the labels that bear the id of a question of this study."""
        return (item for item in labels.values() if item.question_id in self._question_ids)

    def _announce(self, what: str, count: int, spec: ModelSpec) -> None:
        if count:
            told = _WORDS.get(what, f"trajectories for the check '{what}'")
            self._on_work(f"asking {spec.name} about {count:,} different {told}")

    def _note(
        self,
        what: str,
        spec: ModelSpec,
        asked: int,
        causes: Mapping[str, str],
        labels: Sequence[Judgement | Extraction | TrajectoryJudgement],
    ) -> None:
        self.failed.update(causes)
        spent = spent_on(labels, spec.name, self._plan.prices)
        self.work.append(
            JudgeWork(
                what=what,
                judge=spec.name,
                asked=asked,
                done=asked - len(causes),
                failures=tuple(sorted(causes.values())),
                input_tokens=spent.input_tokens,
                output_tokens=spent.output_tokens,
                cost_usd=spent.cost_usd,
            )
        )

    def _limits(self) -> dict[str, int]:
        return {
            "connections": self._plan.connections,
            "retries": self._plan.retries,
            "timeout_s": max(1, round(self._plan.timeout_s)),
        }
