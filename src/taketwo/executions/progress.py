"""How far a run is, by arm, and what it has used so far."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from taketwo.executions.log_json import Json, items, part, text, whole
from taketwo.executions.logs import SETTLED
from taketwo.executions.plan import Plan
from taketwo.executions.prices import cost_usd
from taketwo.executions.trajectory import Trajectory

__all__ = ["Progress", "ProgressCount"]


@dataclass(frozen=True, kw_only=True)
class Progress:
    """The state of one execution while it runs.

    `done` are cells with an answer, an abstention or a limit, by arm, out of `planned`; `failures`
    are cells that ended in an error, by arm and status. `tokens` and `cost_usd` are of this start
    only; None is not reported, or without a price. `left_s` are seconds at the present pace.
    """

    execution: int
    executions: int
    planned: Mapping[str, int]
    done: Mapping[str, int]
    failures: Mapping[str, Mapping[str, int]]
    tokens: int | None
    cost_usd: float | None
    elapsed_s: float
    left_s: float | None


class ProgressCount:
    """Counts what a child process reports, one JSON object per ended cell."""

    def __init__(self, plan: Plan, execution: int, so_far: Iterable[Trajectory]) -> None:
        self._plan = plan
        self._execution = execution
        self._done = {arm.name: 0 for arm in plan.arms}
        self._failures: dict[str, dict[str, int]] = {arm.name: {} for arm in plan.arms}
        self._tokens: int | None = None
        self._cost_usd: float | None = 0.0
        self._ended = 0
        self._to_run = 0
        for cell in so_far:
            if cell.run_status in SETTLED:
                self._done[cell.arm] += 1

    def start(self, to_run: int) -> None:
        """Note how many cells this start is about to run."""
        self._to_run = to_run

    def add(self, report: Json) -> None:
        """Take in the report of an ended cell: `arm`, `run_status`, `usage` (a list by model)."""
        arm, status = text(report, "arm"), text(report, "run_status")
        if arm not in self._done or status is None:
            return
        self._ended += 1
        if status in SETTLED:
            self._done[arm] += 1
        else:
            failures = self._failures[arm]
            failures[status] = failures.get(status, 0) + 1
        for usage in items(report, "usage"):
            self._add_usage(part({"usage": usage}, "usage"))

    def _add_usage(self, usage: Json) -> None:
        tokens_in, tokens_out = whole(usage, "input") or 0, whole(usage, "output") or 0
        self._tokens = (self._tokens or 0) + tokens_in + tokens_out
        model = text(usage, "model") or ""
        cost = cost_usd(self._plan.prices, model, tokens_in, tokens_out)
        known = self._cost_usd
        self._cost_usd = None if cost is None or known is None else known + cost

    def at(self, elapsed_s: float) -> Progress:
        """Return the progress after `elapsed_s` seconds of this start."""
        waiting = max(0, self._to_run - self._ended)
        left_s = elapsed_s / self._ended * waiting if self._ended else None
        return Progress(
            execution=self._execution,
            executions=self._plan.executions,
            planned={arm.name: len(self._plan.questions) for arm in self._plan.arms},
            done=dict(self._done),
            failures={arm: dict(counts) for arm, counts in self._failures.items()},
            tokens=self._tokens,
            cost_usd=self._cost_usd if self._tokens is not None else None,
            elapsed_s=elapsed_s,
            left_s=left_s,
        )
