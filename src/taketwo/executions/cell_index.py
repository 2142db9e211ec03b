"""The index that the cells of an arm share on one video, and the clock that stands still meanwhile."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path

import anyio

from taketwo.benchmarks.canonical import sha256_of
from taketwo.executions.plan import Plan, PlannedQuestion
from taketwo.tools.role_model import ModelRole, RoleSettings
from taketwo.tools.video_index_store import IndexLocks, IndexStore

__all__ = ["WallClock", "index_store", "seed_name"]

INDEX_FOLDER = "index"
"""Folder of the indexes inside that of an execution, a folder an arm."""


class WallClock:
    """The observed seconds of a cell, as far as they count against its limit; None is no limit.

    Making an index, and waiting for another cell that makes it, is not the cell's own time: the limit
    is there for cells that hang. `on_pause` is told when the clock stops (True) and goes on (False).
    """

    def __init__(
        self, limit_s: float | None, on_pause: Callable[[bool], None] | None = None
    ) -> None:
        self._limit_s = limit_s
        self._on_pause = on_pause
        self._scope: anyio.CancelScope | None = None
        self._started = 0.0
        self._paused_s = 0.0

    @contextmanager
    def limited(self) -> Generator[None]:
        """Cancel what runs inside when the limit is reached."""
        self._started = time.monotonic()
        with anyio.move_on_after(self._limit_s) as scope:
            self._scope = scope
            yield

    @contextmanager
    def paused(self) -> Generator[None]:
        """Stop the clock for what runs inside."""
        scope, begun = self._scope, time.monotonic()
        deadline = math.inf if scope is None else scope.deadline
        if scope is not None:
            scope.deadline = math.inf
        self._tell(is_paused=True)
        try:
            yield
        finally:
            spent_s = time.monotonic() - begun
            self._paused_s += spent_s
            if scope is not None:
                scope.deadline = deadline + spent_s
            self._tell(is_paused=False)

    @property
    def was_cancelled(self) -> bool:
        """Return whether the limit has cancelled what ran inside."""
        return self._limit_s is not None and self._scope is not None and self._scope.cancel_called

    @property
    def is_over(self) -> bool:
        """Return whether more seconds were used than the limit allows.

        By the clock as well: an agent that blocks the event loop holds up the scope's own timer.
        """
        if self._limit_s is None:
            return False
        used_s = time.monotonic() - self._started - self._paused_s
        return self.was_cancelled or used_s > self._limit_s

    def _tell(self, *, is_paused: bool) -> None:
        if self._on_pause is not None:
            self._on_pause(is_paused)


def index_store(
    plan: Plan,
    execution: int,
    arm: str,
    planned: PlannedQuestion,
    *,
    folder: Path,
    roles: Mapping[ModelRole, RoleSettings],
    locks: IndexLocks,
    clock: WallClock,
) -> IndexStore:
    """Return where the index of a cell's video lies: with its execution and its arm, and nowhere else.

    `folder` is the study's; `roles` are seeded by `seed_name`, not by the cell.
    """
    study = sha256_of([plan.study, plan.seed, plan.benchmark_sha256, plan.code_sha256])[:12]
    return IndexStore(
        folder=folder / f"K{execution}" / INDEX_FOLDER / arm,
        scope=f"{plan.study} {study} K{execution} {arm}",
        roles=roles,
        cells=_cells_on(plan, planned),
        at_once=plan.connections,
        locks=locks,
        paused=clock.paused,
    )


def seed_name(planned: PlannedQuestion) -> str:
    """Return the name under which the model calls of a video's index get their seeds.

    It is no question's, since a question's id has no spaces.
    """
    return f"index of {planned.video_sha256 or planned.question.video_path}"


def _cells_on(plan: Plan, planned: PlannedQuestion) -> int:
    """Return how many questions of the plan are about the same video."""
    if planned.video_sha256 is None:
        path = planned.question.video_path
        return sum(one.question.video_path == path for one in plan.questions)
    return sum(one.video_sha256 == planned.video_sha256 for one in plan.questions)
