"""Asking the judges of a study, a batch at a time, so that what was paid for is on disk soon after."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine, Iterable, Sequence
from typing import TypeVar

from taketwo.errors import RequestError
from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Plan
from taketwo.executions.scoring_spec import TrajectoryScoring
from taketwo.executions.trajectory import Trajectory
from taketwo.scores.answer_extractor import extract_options
from taketwo.scores.answer_judge import judge_answers
from taketwo.scores.grading import Grader
from taketwo.scores.judge_work import JudgeWork
from taketwo.scores.judgement_pool import JudgementPool
from taketwo.scores.judgements import Judgement
from taketwo.scores.process_labels import ProcessLabels
from taketwo.scores.trajectory_judge import judge_trajectories
from taketwo.scores.trajectory_judgements import TrajectoryJudgement
from taketwo.scores.trajectory_request import TrajectoryRequest

__all__ = ["Judging"]

_BATCH = 2
"""Requests of a batch by connection: what a crash can lose, against idle connections at its end."""

_WORDS = {
    "answers": "answers",
    "ambiguous replies": "ambiguous replies",
    "trajectories": "trajectories",
    "references": "curated trajectories",
}
"""What is asked about, for people; everything else is a check of an audit."""

Item = TypeVar("Item")
Label = TypeVar("Label", Judgement, TrajectoryJudgement)


def _run(work: Coroutine[object, object, None]) -> None:
    """Run to the end; an interrupt comes out as one, whatever it interrupted."""
    try:
        asyncio.run(work)
    except BaseExceptionGroup as group:
        if group.subgroup(KeyboardInterrupt) is not None:
            raise KeyboardInterrupt from None
        raise


def _of_one_model(
    done: Sequence[Label], known: Iterable[Label], judge: str
) -> tuple[tuple[Label, ...], dict[str, str]]:
    """Return the labels of the model that served this judge so far, and why the others are none.

    A provider may put another model behind a name while it is asked. Labels of both are not one
    measure; those of the later one are left out before they mix with the others.
    """
    served = next(
        (item.served_model for item in known if item.judge == judge and item.served_model), None
    )
    if served is None:
        counts = Counter(item.served_model for item in done if item.served_model)
        served = counts.most_common(1)[0][0] if counts else None
    kept = tuple(item for item in done if item.served_model in {None, served})
    return kept, {
        item.key: f"served by {item.served_model}, while the labels so far are by {served}; remove those, or "
        "name the served model itself as the judge"
        for item in done
        if item.served_model not in {None, served}
    }


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

    def _ask(self, judge: str, work: Coroutine[object, object, None]) -> None:
        """Run one judge's work; a judge that cannot be asked at all stops no other one."""
        try:
            _run(work)
        except RequestError as error:
            self.unasked[judge] = str(error)

    def answers(self, further: Sequence[ModelSpec]) -> None:
        """Ask which option ambiguous replies mean, then the plan's judge and `further` ones of answers."""
        if self._plan.scoring.extractor is not None:
            extractor = self._plan.scoring.extractor
            self._ask(extractor.name, self._extract(extractor))
        if self._plan.judge is not None:
            known = {self._plan.judge.name}
            self._ask(self._plan.judge.name, self._answers(self._plan.judge))
            for judge in further:
                if judge.name not in known:
                    known.add(judge.name)
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
            self.requests("trajectories", labels.pending(self._cells), judge, scoring.max_tokens)
        self.requests("references", references, scoring.judge, scoring.max_tokens)

    def requests(
        self,
        what: str,
        requests: Sequence[TrajectoryRequest],
        judge: ModelSpec,
        max_tokens: int | None,
    ) -> None:
        """Ask one judge about those trajectories that the pool has no judgement of."""
        pending = {
            key: request
            for request in requests
            if (key := request.key(judge.name)) not in self._pool.trajectories
            and key not in self.failed
        }
        if pending and judge.name not in self.unasked:
            self._ask(
                judge.name, self._trajectories(what, tuple(pending.values()), judge, max_tokens)
            )

    async def _extract(self, spec: ModelSpec) -> None:
        pending = Grader(
            self._plan, self._pool.answers, self._pool.extractions
        ).pending_extractions(self._cells)
        self._announce("ambiguous replies", len(pending), spec)
        causes: dict[str, str] = {}
        for batch in self._batches(pending):
            done, failures = await extract_options(batch, spec, **self._limits())
            self._pool.add_extractions(done)
            causes.update({failure.key: failure.cause for failure in failures})
        self._note("options", spec, len(pending), causes)

    async def _answers(self, spec: ModelSpec) -> None:
        grader = Grader(
            self._plan,
            self._pool.answers,
            self._pool.extractions,
            failed=self.failed.keys(),
            judge=spec.name,
        )
        pending = grader.pending(self._cells)
        self._announce("answers", len(pending), spec)
        causes: dict[str, str] = {}
        for batch in self._batches(pending):
            done, failures = await judge_answers(batch, spec, **self._limits())
            kept, others = _of_one_model(done, self._pool.answers.values(), spec.name)
            self._pool.add_answers(kept)
            causes.update(others)
            causes.update({failure.key: failure.cause for failure in failures})
        self._note("answers", spec, len(pending), causes)

    async def _trajectories(
        self,
        what: str,
        pending: Sequence[TrajectoryRequest],
        spec: ModelSpec,
        max_tokens: int | None,
    ) -> None:
        self._announce(what, len(pending), spec)
        causes: dict[str, str] = {}
        for batch in self._batches(pending):
            done, failures = await judge_trajectories(
                batch, spec, max_tokens=max_tokens, **self._limits()
            )
            kept, others = _of_one_model(done, self._pool.trajectories.values(), spec.name)
            self._pool.add_trajectories(kept)
            causes.update(others)
            causes.update({failure.key: failure.cause for failure in failures})
        self._note(what, spec, len(pending), causes)

    def _announce(self, what: str, count: int, spec: ModelSpec) -> None:
        if count:
            told = _WORDS.get(what, f"trajectories for the check '{what}'")
            self._on_work(f"asking {spec.name} about {count:,} different {told}")

    def _note(self, what: str, spec: ModelSpec, asked: int, causes: dict[str, str]) -> None:
        if asked:
            self.failed.update(causes)
            self.work.append(
                JudgeWork(
                    what=what,
                    judge=spec.name,
                    asked=asked,
                    done=asked - len(causes),
                    failures=tuple(sorted(causes.values())),
                )
            )

    def _limits(self) -> dict[str, int]:
        return {
            "connections": self._plan.connections,
            "retries": self._plan.retries,
            "timeout_s": max(1, round(self._plan.timeout_s)),
        }

    def _batches(self, pending: Sequence[Item]) -> list[Sequence[Item]]:
        size = _BATCH * self._plan.connections
        return [pending[start : start + size] for start in range(0, len(pending), size)]
