"""The attempts that one start makes of an execution: one process for all cells, and one for each suspect.

A cell can take its process with it (a crash in C code, a record that the engine cannot write, a
loop that never ends). The cells that were not in it go on in another process; those that were run
alone, so that one of them cannot stop the others, and no innocent one is blamed.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from taketwo.errors import HarnessError
from taketwo.executions.attempt_run import AttemptEnd, run_attempt_process
from taketwo.executions.attempts import number_of_next_attempt, settle_attempts
from taketwo.executions.deaths import (
    Death,
    death_record,
    deaths_by_cell,
    deaths_in,
    is_given_up,
)
from taketwo.executions.log_json import Json
from taketwo.executions.logs_by_engine import read_any_log
from taketwo.executions.plan import Plan, PlannedQuestion
from taketwo.executions.planned_media import paths_of
from taketwo.executions.progress import Progress, ProgressCount
from taketwo.media.store import write_atomically

__all__ = ["ExecutionRun", "Telling"]

_DEATHS_IN_A_ROW = 20
"""So many processes may die one after the other without one finished cell; then something else is
wrong than a cell."""


class Telling:
    """Counts the cells that end, and tells whoever wants to know."""

    def __init__(
        self, count: ProgressCount, on_progress: Callable[[Progress], None] | None
    ) -> None:
        self._count = count
        self._on_progress = on_progress
        self._started = time.monotonic()

    def __call__(self, report: Json) -> None:
        """Take in the report of an ended cell."""
        self._count.add(report)
        if self._on_progress is not None:
            self._on_progress(self._count.at(time.monotonic() - self._started))


@dataclass
class ExecutionRun:
    """The attempts that one start makes of one execution.

    `located` are the plan's questions with the paths that their media have now, `plugins` modules
    that the processes import, `lock` a file descriptor that they hold open, and `tell` is told of
    every cell that ends.
    """

    folder: Path
    plan: Plan
    execution: int
    located: Sequence[PlannedQuestion]
    plugins: Sequence[str]
    lock: int | None
    tell: Telling
    _deaths_in_a_row: int = 0

    @property
    def place(self) -> Path:
        """Return the execution's folder."""
        return self.folder / f"K{self.execution}"

    def all_of(self, wanted: Sequence[str]) -> None:
        """Run `wanted`: together what no process died of, then the suspects one by one."""
        together = self._unsuspected(wanted)
        while together:
            finished = self._attempt(together)
            if finished is None:
                break
            together = self._unsuspected(cell for cell in together if cell not in finished)
        suspects = self._deaths()
        for cell in [cell for cell in wanted if cell in suspects]:
            self._alone(cell)

    def _alone(self, cell: str) -> None:
        """Run a suspect in processes of its own until it ends, or is to blame."""
        while not is_given_up(self._deaths().get(cell, ()), self.plan.rule.attempts):
            finished = self._attempt([cell])
            if finished is None or cell in finished:
                return
        arm, _, question_id = cell.partition(":")
        self.tell({"arm": arm, "question_id": question_id, "run_status": "agent_error"})

    def _unsuspected(self, cells: Iterable[str]) -> list[str]:
        suspects = self._deaths()
        return [cell for cell in cells if cell not in suspects]

    def _deaths(self) -> dict[str, tuple[Death, ...]]:
        return deaths_by_cell(deaths_in(self.place))

    def _attempt(self, cells: Sequence[str]) -> frozenset[str] | None:
        """Run `cells` in one process; return those that it finished if it died, else None.

        Raises
        ------
        HarnessError
            If it died with no cell in it, or as one of too many.
        """
        attempt = number_of_next_attempt(self.place)
        place = self.place / f"attempt-{attempt:02d}"
        order = {"cells": list(cells), "media": paths_of(self.located)}
        write_atomically(place / "cells.json", json.dumps(order).encode())
        words = ["--folder", str(self.folder), "--execution", str(self.execution)]
        words += ["--attempt", str(attempt)]
        words += [word for plugin in self.plugins for word in ("--plugin", plugin)]
        end = run_attempt_process(words, self.plan, lock=self.lock, on_end_of_cell=self.tell)
        settle_attempts(self.place)
        known: dict[str, object] = {"loop_lag_p99_s": end.loop_lag_p99_s, "status": end.engine}
        if not end.has_died:
            write_atomically(place.with_suffix(".json"), json.dumps(known).encode())
            return None
        finished = self._finished_in(place.with_suffix(".eval"))
        in_flight = [cell for cell in cells if cell in end.started and cell not in finished]
        if in_flight:
            known["death"] = death_record(in_flight, is_alone=len(cells) == 1, said=end.cause)
        if in_flight or place.with_suffix(".eval").is_file():
            write_atomically(place.with_suffix(".json"), json.dumps(known).encode())
        self._deaths_in_a_row = 0 if finished else self._deaths_in_a_row + 1
        if not in_flight or self._deaths_in_a_row >= _DEATHS_IN_A_ROW:
            raise HarnessError(self._obituary(place, end))
        return finished

    def _finished_in(self, log: Path) -> frozenset[str]:
        records = read_any_log(log) if log.is_file() else ()
        return frozenset(cell.sample_id for cell in records if cell.run_status != "not_run")

    def _obituary(self, place: Path, end: AttemptEnd) -> str:
        row = self._deaths_in_a_row
        often = f", as the {row - 1} before it did without finishing a cell" if row > 1 else ""
        return (
            f"{place.parent.name}, {place.name}: the process ended with status {end.status}{often}: "
            f"{end.cause}; finished cells are kept, run again to resume. It last said:\n{end.said}"
        )
