"""Running a frozen study: executions one after the other, each in a process of its own, resumable.

Run again what was interrupted: finished cells are never run twice, what ended in an error of the
provider is tried again as often as the rule allows, and a plan that no longer matches is refused
before anything is spent.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from taketwo.errors import HarnessError, RequestError
from taketwo.executions.attempts import attempts_in, number_of_next_attempt, settle_attempts
from taketwo.executions.log_json import Json, number, text
from taketwo.executions.logs import RETRIED, attempt_files, collect, error_records
from taketwo.executions.logs_by_engine import read_any_log
from taketwo.executions.manifest import Manifest, build_manifest
from taketwo.executions.plan import Plan, PlannedQuestion, read_plan
from taketwo.executions.planned_media import paths_of
from taketwo.executions.progress import Progress, ProgressCount
from taketwo.executions.schedule import cell_order
from taketwo.executions.trajectory import RunStatus, Trajectory
from taketwo.executions.unchanged import check_unchanged
from taketwo.media.store import write_atomically

__all__ = ["StudyRun", "cells_to_run", "child_environment", "run_execution", "run_study"]

_STOP_S = 30.0
_LOCK_S = 10.0
_TAIL_LINES = 15


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

    Raises
    ------
    PlanChanged
        If what would run is not what was frozen; nothing was spent.
    RequestError
        If another process runs this study.
    HarnessError
        If an attempt's process died; the message ends with what it last said.
    KeyboardInterrupt
        After an orderly stop; the study can be resumed.
    """
    folder = folder.resolve()
    plan = read_plan(folder / "plan.json")
    with _only_one(folder) as lock:
        manifests = tuple(
            run_execution(
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
            for execution in range(1, plan.executions + 1)
        )
        trajectories = collect(folder, plan, read_unknown=read_any_log)
    return StudyRun(plan=plan, trajectories=trajectories, manifests=manifests)


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
) -> Manifest:
    """Run what is left of one execution, in one attempt, and write its manifest.

    `located` are the plan's questions as `check_unchanged` found them just now. `lock` is a
    file descriptor that the attempt's process holds open.

    Raises
    ------
    HarnessError
        If the attempt's process died.
    KeyboardInterrupt
        After an orderly stop.
    """
    place = folder / f"K{execution}"
    settle_attempts(place)
    so_far = _records(folder, plan, execution)
    wanted = cells_to_run(folder, plan, execution, retry_errors=retry_errors, so_far=so_far)
    if wanted:
        count = ProgressCount(plan, execution, so_far)
        count.start(len(wanted))
        attempt = number_of_next_attempt(place)
        try:
            command = _command(folder, execution, attempt, plugins)
            place_of_attempt = place / f"attempt-{attempt:02d}"
            order = {"cells": list(wanted), "media": paths_of(located)}
            write_atomically(place_of_attempt / "cells.json", json.dumps(order).encode())
            _run_attempt(command, place_of_attempt, lock, count, on_progress)
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

    These are the cells that no attempt finished, those that ended as `provider_error` and, with
    `retry_errors`, as `agent_error` or `media_error`, each at most `rule.attempts` times in all.
    """
    again: set[RunStatus] = {"provider_error"}
    if retry_errors:
        again |= RETRIED
    records = _records(folder, plan, execution) if so_far is None else so_far
    failed = error_records(attempt_files(folder / f"K{execution}"), read_any_log)
    by_id = {record.sample_id: record for record in records}
    wanted: list[str] = []
    for cell in cell_order(plan, execution):
        record = by_id[cell.sample_id]
        may_retry = failed.get(cell.sample_id, 0) < plan.rule.attempts
        if record.run_status == "not_run" or (record.run_status in again and may_retry):
            wanted.append(cell.sample_id)
    return tuple(wanted)


def child_environment(cache: Path) -> dict[str, str]:
    """Return the environment of an attempt's process.

    Nothing in it sets how the engine evaluates: its variables are left out, `.env` files are not
    read, and its cache is an empty folder. Keys and addresses of providers stay.
    """
    kept = {name: value for name, value in os.environ.items() if not name.startswith("INSPECT_")}
    return kept | {
        "INSPECT_CACHE_DIR": str(cache),
        "OMP_WAIT_POLICY": "PASSIVE",
        "PYTHONPATH": os.pathsep.join(entry for entry in sys.path if entry),
        "PYTHONUNBUFFERED": "1",
        "PYTHON_DOTENV_DISABLED": "1",
    }


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


def _command(folder: Path, execution: int, attempt: int, plugins: Sequence[str]) -> list[str]:
    command = [sys.executable, "-m", "taketwo.executions.child"]
    command += ["--folder", str(folder), "--execution", str(execution), "--attempt", str(attempt)]
    return command + [word for plugin in plugins for word in ("--plugin", plugin)]


def _run_attempt(
    command: Sequence[str],
    place: Path,
    lock: int | None,
    count: ProgressCount,
    on_progress: Callable[[Progress], None] | None,
) -> None:
    """Run one attempt in a child process and follow it to its end."""
    started = time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="taketwo-cache-") as cache,
        tempfile.TemporaryFile() as said,
        subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=said,
            env=child_environment(Path(cache)),
            start_new_session=True,
            pass_fds=() if lock is None else (lock,),
        ) as child,
    ):
        try:
            for line in cast("IO[bytes]", child.stdout):
                report = cast("Json", json.loads(line))
                if text(report, "kind") == "end":
                    _keep_end(place, report)
                else:
                    count.add(report)
                    if on_progress is not None:
                        on_progress(count.at(time.monotonic() - started))
            status = child.wait()
        except BaseException:
            _stop(child)
            raise
        if status != 0:
            raise HarnessError(
                f"{place.parent.name}, {place.name}: the process ended with status {status}; "
                f"finished cells are kept, run again to resume. It last said:\n{_tail(said)}"
            )


def _stop(child: subprocess.Popen[bytes]) -> None:
    """Let the engine cancel its cells and close its log; insist after a while."""
    child.send_signal(signal.SIGINT)
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        child.kill()
        child.wait()


def _keep_end(place: Path, report: Json) -> None:
    lag = number(report, "loop_lag_p99_s")
    kept = json.dumps({"loop_lag_p99_s": lag, "status": text(report, "status")})
    write_atomically(place.with_suffix(".json"), kept.encode())


def _tail(said: IO[bytes]) -> str:
    said.seek(0)
    lines = said.read().decode("utf-8", "replace").splitlines()
    return "\n".join(lines[-_TAIL_LINES:]) or "(nothing)"
