"""Running a frozen study: executions one after the other, each in a process of its own, resumable.

Run again what was interrupted: finished cells are never run twice, what ended in an error of the
provider is tried again as often as the rule allows, and a plan that no longer matches is refused
before anything is spent. A cell that takes its process with it stops no other: see `deaths`.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
from collections.abc import Callable, Collection, Generator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from taketwo.errors import HarnessError, RequestError
from taketwo.executions.attempts import attempts_in, require_listed_logs, settle_attempts
from taketwo.executions.deaths import deaths_by_cell, deaths_in
from taketwo.executions.execution_run import ExecutionRun, Telling
from taketwo.executions.logs import RETRIED, attempt_files, collect, error_records
from taketwo.executions.logs_by_engine import read_any_log
from taketwo.executions.manifest import Manifest, build_manifest
from taketwo.executions.plan import Plan, PlannedQuestion, read_plan
from taketwo.executions.progress import Progress, ProgressCount
from taketwo.executions.schedule import cell_order
from taketwo.executions.stopped import Decide, blocks_of, is_stopped, stopped_in, write_stopped
from taketwo.executions.trajectory import RunStatus, Trajectory
from taketwo.executions.unchanged import check_unchanged

__all__ = ["StudyRun", "cells_to_run", "run_execution", "run_study"]

_LOCK_S = 10.0


@dataclass(frozen=True, kw_only=True)
class StudyRun:
    """What a run left: a record per planned cell, and a manifest per execution."""

    plan: Plan
    trajectories: tuple[Trajectory, ...]
    manifests: tuple[Manifest, ...]


def run_study(
    folder: Path,
    *,
    on_progress: Callable[[Progress], None] | None = None,
    retry_errors: bool = False,
    plugins: Sequence[str] = (),
    decide: Decide | None = None,
) -> StudyRun:
    """Run or resume all executions of the study in `folder`.

    Parameters
    ----------
    folder
        Where `plan.json` lies.
    on_progress
        Called after every ended cell.
    retry_errors
        Also run again what ended as `agent_error` or `media_error`.
    plugins
        Modules to import in the running process, so that their models and agents are known.
    decide
        Asked after every block of a re-execution, where the rule has `stopping`, whether it stops;
        without it every execution runs completely. K1 always does, for the shift from it decides.

    Raises
    ------
    PlanChanged
        If what would run is not what was frozen; nothing was spent.
    RequestError
        If another process runs this study.
    ForeignLog
        If a log that a manifest lists is gone.
    DataError
        If something lies in the folder of an execution that no attempt leaves.
    HarnessError
        If an attempt's process died and no cell is to blame, or something cannot be written.
    KeyboardInterrupt
        After an orderly stop; the study can be resumed.
    """
    folder = folder.resolve()
    plan = read_plan(folder / "plan.json")
    with _machine_faults(folder), _only_one(folder) as lock:
        for execution in range(1, plan.executions + 1):
            attempt_files(folder / f"K{execution}")
            require_listed_logs(folder / f"K{execution}")
        manifests: list[Manifest] = []
        for execution in range(1, plan.executions + 1):
            run = partial(
                run_execution,
                folder,
                plan,
                execution,
                # again for each: the one before may have taken days
                located=check_unchanged(plan, folder),
                on_progress=on_progress,
                retry_errors=retry_errors,
                plugins=plugins,
                lock=lock,
            )
            may_stop = plan.rule.stopping is not None and execution > 1
            if decide is not None and may_stop:
                manifests.append(_run_by_blocks(run, folder, plan, execution, decide))
            else:
                manifests.append(run())
        trajectories = collect(folder, plan, read_unknown=read_any_log)
    return StudyRun(plan=plan, trajectories=trajectories, manifests=tuple(manifests))


def _run_by_blocks(
    run: Callable[..., Manifest], folder: Path, plan: Plan, execution: int, decide: Decide
) -> Manifest:
    """Run an execution block by block until `decide` stops it, or it has been stopped before."""
    place = folder / f"K{execution}"
    if stopped_in(place, plan) is not None:
        return run()
    *blocks, last = blocks_of(plan, execution)
    seen: list[str] = []
    for number, block in enumerate(blocks, start=1):
        seen += block
        run(only=seen)
        stopped = decide(execution, number)
        if stopped is not None:
            write_stopped(stopped, place, plan)
            return run()
    return run(only=[*seen, *last])


def run_execution(
    folder: Path,
    plan: Plan,
    execution: int,
    *,
    located: Sequence[PlannedQuestion],
    on_progress: Callable[[Progress], None] | None = None,
    retry_errors: bool = False,
    plugins: Sequence[str] = (),
    lock: int | None = None,
    only: Collection[str] | None = None,
) -> Manifest:
    """Run what is left of one execution, and write its manifest.

    `located` are the plan's questions as `check_unchanged` found them just now. `lock` is a
    file descriptor that the attempt's process holds open. `only` are the ids of the questions to
    run, all by default.

    One attempt runs it all, unless its process dies. Then another goes on with the cells that were
    not in it, and each that was in it gets an attempt of its own.

    Raises
    ------
    HarnessError
        If an attempt's process died without a cell in it, or too many did in a row.
    KeyboardInterrupt
        After an orderly stop.
    """
    place = folder / f"K{execution}"
    require_listed_logs(place)
    settle_attempts(place)
    so_far = _records(folder, plan, execution)
    wanted = cells_to_run(folder, plan, execution, retry_errors=retry_errors, so_far=so_far)
    if only is not None:
        wanted = tuple(cell for cell in wanted if cell.partition(":")[2] in only)
    if wanted:
        count = ProgressCount(plan, execution, so_far)
        count.start(len(wanted))
        run = ExecutionRun(
            folder, plan, execution, located, plugins, lock, Telling(count, on_progress)
        )
        try:
            run.all_of(wanted)
        finally:
            settle_attempts(place)
            _write_manifest(folder, plan, execution)
    return _write_manifest(folder, plan, execution)


def cells_to_run(
    folder: Path,
    plan: Plan,
    execution: int,
    *,
    retry_errors: bool,
    so_far: Sequence[Trajectory] | None = None,
) -> tuple[str, ...]:
    """Return the sample ids that a start of `run` would run now, in the order of their start.

    These are the cells that no attempt finished (unless the execution was stopped early), those that ended as `provider_error` and, with
    `retry_errors`, as `agent_error` or `media_error`, each at most `rule.attempts` times in all,
    deaths of a process that ran it included.
    """
    again: set[RunStatus] = {"provider_error"}
    if retry_errors:
        again |= RETRIED
    records = _records(folder, plan, execution) if so_far is None else so_far
    place = folder / f"K{execution}"
    failed = error_records(attempt_files(place), read_any_log)
    died = deaths_by_cell(deaths_in(place))
    by_id = {record.sample_id: record for record in records}
    wanted: list[str] = []
    for cell in cell_order(plan, execution):
        record = by_id[cell.sample_id]
        if is_stopped(record):
            continue
        times = failed.get(cell.sample_id, 0) + len(died.get(cell.sample_id, ()))
        may_retry = times < plan.rule.attempts
        if record.run_status == "not_run" or (record.run_status in again and may_retry):
            wanted.append(cell.sample_id)
    return tuple(wanted)


def _records(folder: Path, plan: Plan, execution: int) -> tuple[Trajectory, ...]:
    cells = collect(folder, plan, read_unknown=read_any_log, executions=(execution,))
    return tuple(cell for cell in cells if cell.execution == execution)


def _write_manifest(folder: Path, plan: Plan, execution: int) -> Manifest:
    place = folder / f"K{execution}"
    manifest = build_manifest(
        plan, execution, _records(folder, plan, execution), attempts_in(place)
    )
    place.mkdir(exist_ok=True)
    manifest.write(place / "manifest.json")
    return manifest


@contextlib.contextmanager
def _machine_faults(folder: Path) -> Generator[None]:
    """Turn what the machine refuses (no room, no permission) into an error of the tree."""
    try:
        yield
    except OSError as error:
        raise HarnessError(
            f"{error.filename or folder}: {error.strerror or error}; finished cells are kept, put "
            "it right and run again to resume"
        ) from error


@contextlib.contextmanager
def _only_one(folder: Path) -> Generator[int]:
    """Hold the study's lock while this process runs it, and yield its file descriptor.

    An attempt's process holds the same lock, so that a new start waits until the process of a
    start that was killed is gone too.
    """
    with (folder / "run.lock").open("w") as lock:
        deadline = time.monotonic() + _LOCK_S
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError as error:
                if time.monotonic() > deadline:
                    raise RequestError(
                        f"{folder}: another process is running this study; wait for it, or stop "
                        f"it first"
                    ) from error
                time.sleep(0.1)
        yield lock.fileno()
