"""One cell: the agent of an arm answers one question, and the log gets to know how it ended.

This is the only place where an exception of an agent, a model or a decoder is caught, those that
end a process (`SystemExit`, `KeyboardInterrupt`) included. What ended the cell becomes its status;
a cell that the engine cancels writes nothing and is run again.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from typing import Literal

import anyio
import anyio.lowlevel
from inspect_ai.log import transcript

from taketwo.agents.answer import Answer
from taketwo.agents.catalog import agent_spec
from taketwo.benchmarks.canonical import JsonValue
from taketwo.executions.cell_index import WallClock, index_store, seed_name
from taketwo.executions.failures import CellFailure, WallLimitReached, failure_of
from taketwo.executions.plan import Arm, ModelRole, Plan
from taketwo.executions.returned_answer import checked_answer
from taketwo.executions.schedule import cell_seed
from taketwo.executions.studio import Studio, VideoLost
from taketwo.executions.trajectory import Failure, RunStatus
from taketwo.tools.budget import Limits
from taketwo.tools.primitives import CellMedia
from taketwo.tools.role_model import RoleSettings, SeedOf
from taketwo.tools.toolbox import Toolbox

__all__ = ["CellEnd", "run_cell"]

_SEEDED_PROVIDERS = ("taketwo/", "llama/")


@dataclass(frozen=True, kw_only=True)
class CellEnd:
    """How a cell ended.

    `latency_s` is self-timed work, None where nobody timed it; `latency_wall_s` is as observed.
    """

    run_status: RunStatus
    answer: Answer | None
    failure: Failure | None
    limit: str | None
    latency_s: float | None
    latency_wall_s: float


async def run_cell(
    plan: Plan, execution: int, arm_name: str, question_id: str, studio: Studio
) -> CellEnd:
    """Run one cell and write its `taketwo.cell` event.

    Whatever goes wrong inside becomes the cell's status. Only cancellation passes through, and
    then no event is written: the cell is not finished.
    """
    arm = plan.arm(arm_name)
    started = time.perf_counter()
    cell = _Cell(plan, execution, arm, question_id, studio)
    answer: Answer | None = None
    failed: CellFailure | None = None
    try:
        answer = await cell.answer()
        await anyio.lowlevel.checkpoint()  # an agent may have swallowed the engine's cancellation
        if cell.met_outside is not None:
            failed = failure_of(cell.met_outside)
    except GeneratorExit:
        raise
    except BaseException as error:  # around one cell; the cause is its status
        if await _is_cancelled():
            raise
        failed = failure_of(error, met_outside=cell.met_outside)
        if isinstance(error, VideoLost):
            lost = replace(failed.failure, cause=error.cause)
            failed = CellFailure(status="media_error", failure=lost)
    end = _end_of(answer, failed, cell, time.perf_counter() - started)
    transcript().info(_record(end, cell), source="taketwo.cell")  # pyright: ignore[reportArgumentType] JSON values
    return end


async def _is_cancelled() -> bool:
    """Return whether the engine is cancelling this cell.

    An agent can raise what a signal raises, or a cancellation that nobody asked for.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        return True
    try:
        await anyio.lowlevel.checkpoint()
    except anyio.get_cancelled_exc_class():
        return True
    return False


class _Cell:
    """The world of one cell while it runs."""

    def __init__(
        self, plan: Plan, execution: int, arm: Arm, question_id: str, studio: Studio
    ) -> None:
        self.arm = arm
        self.media: CellMedia | None = None
        self.toolbox: Toolbox | None = None
        self._plan = plan
        self._execution = execution
        self._planned = plan.planned(question_id)
        self._studio = studio
        self._clock = WallClock(
            arm.limits.wall_s, partial(studio.tell_pause, arm.name, question_id)
        )

    @property
    def met_outside(self) -> BaseException | None:
        """Return the first fault of a provider or of the media."""
        return None if self.toolbox is None else self.toolbox.failure

    @property
    def limits(self) -> Limits:
        """Return what the cell could spend, the agent's own options included."""
        return self.arm.limits if self.toolbox is None else self.toolbox.budget.limits

    @property
    def latency_s(self) -> float | None:
        if "latency_s" in self.unavailable:
            return None
        return 0.0 if self.toolbox is None else self.toolbox.latency_s

    @property
    def unavailable(self) -> Mapping[str, str]:
        """Return the metrics that nobody measured, each with the reason."""
        return {} if self.toolbox is None else self.toolbox.unavailable

    async def answer(self) -> Answer:
        """Let the agent answer, within the safety net of observed seconds."""
        self.media = await self._studio.media_of(self._planned)
        arm = self.arm
        spec = agent_spec(arm.agent)
        options = spec.checked(arm.options)
        self.toolbox = Toolbox(
            question=self._planned.question.for_agent(),
            tools=spec.tools(options),
            roles=self._roles(self._planned.question.question_id),
            limits=arm.limits,
            media=self.media,
            index=index_store(
                self._plan,
                self._execution,
                arm.name,
                self._planned,
                folder=self._studio.folder,
                roles=self._roles(seed_name(self._planned)),
                locks=self._studio.index_locks,
                clock=self._clock,
            ),
            web=self._studio.web,
        )
        agent = spec.build(options)
        wall_s = arm.limits.wall_s
        question = self._planned.question.for_agent()
        returned: object = None
        with self._clock.limited():
            try:
                returned = await agent(question, self.toolbox)
            except Exception as error:
                if wall_s is not None and self._clock.was_cancelled:
                    raise WallLimitReached(wall_s) from error
                raise
        if wall_s is not None and self._clock.is_over:
            raise WallLimitReached(wall_s)
        return checked_answer(returned, question)

    def _roles(self, seeded_by: str) -> dict[ModelRole, RoleSettings]:
        plan, arm = self._plan, self.arm
        settings: dict[ModelRole, RoleSettings] = {}
        for role, model in arm.models.items():
            args: dict[str, JsonValue] = dict(model.args)
            if model.name.startswith("taketwo/"):
                args.setdefault("store", str(self._studio.derived_folder))
            policy = arm.sampling.get(role)
            settings[role] = RoleSettings(
                role=role,
                model=model.name,
                base_url=model.base_url,
                args=args,
                sampling={} if policy is None else policy.to_json(),
                retries=plan.retries,
                timeout_s=plan.timeout_s,
                connections=plan.connections,
                seed_of=self._seeds(model.name, seeded_by),
                price=plan.prices.get(model.name),
            )
        return settings

    def _seeds(self, model: str, seeded_by: str) -> SeedOf | None:
        """Return where a model's seeds come from; paid providers get one only if the plan says so."""
        if not (self._plan.provider_seeds or model.startswith(_SEEDED_PROVIDERS)):
            return None
        seed: Callable[[int], int] = lambda call: cell_seed(  # noqa: E731 a closure over the cell
            self._plan, self._execution, self.arm.name, seeded_by, call
        )
        return seed


def _end_of(
    answer: Answer | None, failed: CellFailure | None, cell: _Cell, wall_s: float
) -> CellEnd:
    status: Literal[
        "answered", "abstained", "unparsed", "limit", "agent_error", "provider_error", "media_error"
    ]
    if failed is not None:
        status, limit, failure = failed.status, failed.limit, failed.failure
    elif answer is not None:
        status, limit, failure = answer.status, answer.limit, None
    else:
        raise RuntimeError("a cell ended without an answer and without a failure")
    return CellEnd(
        run_status=status,
        answer=answer,
        failure=failure,
        limit=limit,
        latency_s=cell.latency_s,
        latency_wall_s=wall_s,
    )


def _record(end: CellEnd, cell: _Cell) -> dict[str, JsonValue]:
    media = cell.media
    return {
        "run_status": end.run_status,
        "answer": None if end.answer is None else asdict(end.answer),
        "failure": None if end.failure is None else asdict(end.failure),
        "limit": end.limit,
        "latency_s": None if end.latency_s is None else round(end.latency_s, 6),
        "latency_wall_s": round(end.latency_wall_s, 6),
        "video_sha256": None if media is None else media.info.sha256,
        "limits": {
            name: value for name, value in cell.limits.to_json().items() if value is not None
        },
        "unavailable": dict(cell.unavailable),
    }
