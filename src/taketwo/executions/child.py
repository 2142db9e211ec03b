"""One attempt inside its process: runs the cells that are asked for and reports each.

A report is one JSON object a line: a cell was started, a cell has ended, the attempt has ended.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib
import json
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TextIO

from inspect_ai import eval as evaluate  # pyright: ignore[reportUnknownVariableType] its untyped parameters are not used
from inspect_ai.hooks import Hooks, RunEnd, RunStart, SampleEnd, hooks
from inspect_ai.log import EvalLog

from taketwo.executions.plan import Plan, PlannedQuestion, read_plan
from taketwo.executions.planned_media import with_paths
from taketwo.executions.schedule import Cell, cell_order
from taketwo.executions.task import task_of_cells

__all__ = ["LoopWatch", "main", "run_attempt"]

_LOOK_EVERY_S = 0.05
_FEWEST_LOOKS = 100


class LoopWatch:
    """How late the event loop is: seconds beyond the asked ones, at every look."""

    def __init__(self) -> None:
        self._lags: list[float] = []
        self._task: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to look; needs a running loop."""
        self._task = asyncio.get_running_loop().create_task(self._look())

    def stop(self) -> None:
        """Look no more."""
        if self._task is not None:
            self._task.cancel()

    @property
    def p99_s(self) -> float | None:
        """Return the 99th percentile in seconds; None where fewer than 100 looks were taken."""
        if len(self._lags) < _FEWEST_LOOKS:
            return None
        ordered = sorted(self._lags)
        return round(ordered[min(len(ordered) - 1, int(0.99 * len(ordered)))], 4)

    async def _look(self) -> None:
        while True:
            asked = time.perf_counter()
            await asyncio.sleep(_LOOK_EVERY_S)
            self._lags.append(max(0.0, time.perf_counter() - asked - _LOOK_EVERY_S))


def run_attempt(
    plan: Plan,
    execution: int,
    folder: Path,
    cells: Sequence[Cell],
    log_dir: Path,
    out: TextIO,
    *,
    located: Sequence[PlannedQuestion],
) -> EvalLog:
    """Run `cells` in this process and return the engine's log; `located` as for `task_of_cells`.

    Nothing is taken from a cache, pictures are logged by hash, every ended cell is written to the
    log file at once, and the requests are captured.
    """
    watch = LoopWatch()
    _report_to(out, watch)
    task = task_of_cells(
        plan,
        execution,
        folder,
        cells,
        located=located,
        on_start=lambda cell: _write(out, {"kind": "started", "cell": cell}),
        on_pause=lambda cell, is_paused: _write(
            out, {"kind": "paused" if is_paused else "resumed", "cell": cell}
        ),
    )
    logs = evaluate(
        task,
        model=None,
        log_dir=str(log_dir),
        log_format="eval",
        log_buffer=1,
        log_realtime=False,
        log_images=False,
        log_model_api=True,
        log_level="warning",
        display="none",
        score=False,
        fail_on_error=False,
        retry_on_error=0,
        max_samples=plan.cells,
        max_tasks=1,
        ctl_server=False,
        acp_server=False,
    )
    log = logs[0]
    said = None if log.error is None else log.error.message
    end = {"kind": "end", "status": log.status, "error": said, "loop_lag_p99_s": watch.p99_s}
    _write(out, end)
    return log


def _report_to(out: TextIO, watch: LoopWatch) -> None:
    """Have the engine tell `out` about every cell that ends."""

    @hooks(name="taketwo_progress", description="Reports ended cells on standard output.")  # pyright: ignore[reportUntypedClassDecorator] the engine leaves it untyped
    class _Progress(Hooks):  # pyright: ignore[reportUnusedClass] the engine keeps it
        async def on_run_start(self, data: RunStart) -> None:
            del data
            watch.start()

        async def on_run_end(self, data: RunEnd) -> None:
            del data
            watch.stop()

        async def on_sample_end(self, data: SampleEnd) -> None:
            sample = data.sample
            _write(
                out,
                {
                    "kind": "cell",
                    "arm": sample.metadata.get("arm"),
                    "question_id": sample.metadata.get("question_id"),
                    "run_status": sample.metadata.get("run_status", "not_run"),
                    "usage": [
                        {"model": model, "input": use.total_tokens - use.output_tokens}
                        | {"output": use.output_tokens}
                        for model, use in sample.model_usage.items()
                    ],
                },
            )


def _write(out: TextIO, report: object) -> None:
    with contextlib.suppress(OSError):
        out.write(json.dumps(report) + "\n")
        out.flush()


def _arguments(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m taketwo.executions.child_process")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--execution", type=int, required=True)
    parser.add_argument("--attempt", type=int, required=True)
    parser.add_argument("--plugin", action="append", default=[])
    return parser.parse_args(words)


def main(words: Sequence[str], out: TextIO) -> int:
    """Run one attempt as `words` say, report to `out`, and return the exit status."""
    arguments = _arguments(words)
    for plugin in arguments.plugin:
        importlib.import_module(plugin)
    folder: Path = arguments.folder
    plan = read_plan(folder / "plan.json")
    attempt = folder / f"K{arguments.execution}" / f"attempt-{arguments.attempt:02d}"
    order = json.loads((attempt / "cells.json").read_bytes())
    wanted = set(order["cells"])
    cells = [cell for cell in cell_order(plan, arguments.execution) if cell.sample_id in wanted]
    located = with_paths(plan.questions, order["media"])
    log = run_attempt(plan, arguments.execution, folder, cells, attempt, out, located=located)
    return 0 if log.status in {"success", "cancelled"} else 1
