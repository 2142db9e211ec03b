"""The record that an execution was stopped early, by the rule: `K<k>/stopped.json`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import DataError, RuleMismatch
from taketwo.executions.plan import Plan
from taketwo.executions.schedule import cell_order
from taketwo.executions.trajectory import Failure, Trajectory
from taketwo.media.store import write_atomically

__all__ = [
    "STOPPED",
    "Decide",
    "Stopped",
    "blocks_of",
    "is_stopped",
    "stopped_in",
    "with_stop",
    "write_stopped",
]

FORMAT = "taketwo.stopped/1"
STOPPED = "Stopped"
"""Cause of the failure of a cell that was not run because its execution was stopped early."""

_NAME = "stopped.json"


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """Why an execution was stopped: `questions` are the ids of those that ran, in their order.

    `statistic` holds `shift` (the effect in K1 minus that here), the ends `low` and `high` of its
    confidence sequence, and `questions`, how many were looked at. `alpha` is the chance of ever
    stopping where there is no shift.
    """

    execution: int
    questions: tuple[str, ...]
    statistic: Mapping[str, float | None]
    method: str
    alpha: float
    reason: str

    def to_json(self) -> dict[str, JsonValue]:
        """Return the record as it stands in `stopped.json`, without the plan's hash."""
        return {
            "format": FORMAT,
            "execution": self.execution,
            "questions": list(self.questions),
            "statistic": dict(self.statistic),
            "method": self.method,
            "alpha": self.alpha,
            "reason": self.reason,
        }


Decide = Callable[[int, int], Stopped | None]
"""Says whether an execution (its number) stops after so many complete blocks."""


def blocks_of(plan: Plan, execution: int) -> tuple[tuple[str, ...], ...]:
    """Return the ids of the questions of an execution by block, in the order that the plan drew.

    Raises
    ------
    RuleMismatch
        If the plan has no rule of stopping.
    RequestError
        If it has no such execution.
    """
    rule = plan.rule.stopping
    if rule is None:
        raise RuleMismatch(
            f"study {plan.study!r} has no rule.stopping; a stopping rule is fixed before the run"
        )
    ids = tuple(dict.fromkeys(cell.question_id for cell in cell_order(plan, execution)))
    return tuple(ids[start : start + rule.block] for start in range(0, len(ids), rule.block))


def write_stopped(stopped: Stopped, place: Path, plan: Plan) -> None:
    """Write `stopped.json` into the folder of the execution, whole or not at all."""
    record = {**stopped.to_json(), "plan_sha256": plan.sha256}
    text = json.dumps(record, indent=1, ensure_ascii=False, allow_nan=False)
    write_atomically(place / _NAME, text.encode("utf-8"))


def stopped_in(place: Path, plan: Plan) -> Stopped | None:
    """Return the record in the folder of an execution; None where it was not stopped.

    Raises
    ------
    DataError
        If the record cannot be read, or is of another plan.
    """
    path = place / _NAME
    if not path.exists():
        return None
    try:
        record = cast("dict[str, JsonValue]", json.loads(path.read_bytes()))
        form, owner = record.pop("format"), record.pop("plan_sha256")
        questions = cast("list[str]", record.pop("questions"))
        found = Stopped(questions=tuple(questions), **record)  # pyright: ignore[reportArgumentType] written by write_stopped
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DataError(
            f"{path}: no readable record of an early stop ({error!r}); remove it and run again to "
            "have it decided anew"
        ) from error
    if form != FORMAT or owner != plan.sha256:
        raise DataError(
            f"{path}: {form!r} of plan {str(owner)[:12]}, expected {FORMAT!r} of "
            f"{plan.sha256[:12]}; restore the one of this study, or remove it"
        )
    return found


def with_stop(cell: Trajectory, stopped: Stopped | None) -> Trajectory:
    """Return the record of a cell, with the stop as its reason where it did not run because of it."""
    if stopped is None or cell.run_status != "not_run" or cell.question_id in stopped.questions:
        return cell
    return replace(cell, failure=Failure(cause=STOPPED, message=stopped.reason, retryable=False))


def is_stopped(cell: Trajectory) -> bool:
    """Return whether a cell did not run because its execution was stopped early."""
    is_cause = cell.failure is not None and cell.failure.cause == STOPPED
    return cell.run_status == "not_run" and is_cause
