"""Reading the logs of executions, without the engine: trajectories by cell, first settled record wins.

An execution is a folder `K<k>` of attempts: `attempt-01.eval`, ... one a start of `run`, or, where
that start was killed, the folder `attempt-01/` with the log as the engine left it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import ForeignLog
from taketwo.executions.log_events import trajectory_of
from taketwo.executions.log_json import Json, part, text, whole
from taketwo.executions.log_zip import LogFile, open_log_file
from taketwo.executions.plan import Plan
from taketwo.executions.trajectory import RunStatus, Trajectory

__all__ = [
    "RETRIED",
    "SETTLED",
    "LogHeader",
    "LogReader",
    "UnknownLayout",
    "attempt_files",
    "collect",
    "error_records",
    "merge",
    "read_header",
    "read_log",
]

SETTLED: frozenset[RunStatus] = frozenset({"answered", "abstained", "unparsed", "limit"})
"""Statuses after which a cell is never run again."""

RETRIED: frozenset[RunStatus] = frozenset({"agent_error", "provider_error", "media_error"})
"""Statuses of a finished record that a later attempt may supersede."""

_LAYOUT = 2
_SAMPLE = re.compile(r"samples/(?P<id>.+)_epoch_(?P<epoch>\d+)\.json")
_ATTEMPT = re.compile(r"attempt-(\d+)")

LogReader = Callable[[Path], Iterable[Trajectory]]


class UnknownLayout(ForeignLog):
    """A log whose layout this reader does not know; the engine's own reader may."""


@dataclass(frozen=True, kw_only=True)
class LogHeader:
    """What a log says of itself.

    `status` is the engine's and is not evidence of completeness; `started` is an attempt that was
    cut off. `plan_sha256` names the study. `packages` are the versions that the engine recorded.
    """

    path: Path
    task: str
    status: str
    created: str | None
    study: str | None
    plan_sha256: str | None
    plan_path: str | None
    execution: int | None
    code_sha256: str | None
    packages: Mapping[str, str]
    config: Mapping[str, JsonValue]
    generate: Mapping[str, JsonValue]


def read_header(path: Path) -> LogHeader:
    """Read what a log says of itself, also when it was cut off.

    Raises
    ------
    UnknownLayout
        If the file is a zip without a header that we know, or of another layout version.
    ForeignLog
        If it is no zip, or damaged.
    """
    return _header_of(open_log_file(path))


def read_log(path: Path) -> Iterator[Trajectory]:
    """Yield the trajectory of every cell that a log holds, in the order of writing.

    A cell that was started and not finished is `not_run`. Cells that were in flight when the
    process was killed left nothing and are not yielded.

    Raises
    ------
    UnknownLayout
        If the file's layout is not the one that this reader knows.
    ForeignLog
        If it is no log of a study, or damaged.
    """
    log = open_log_file(path)
    if log.members:
        _header_of(log)
    yield from _cells_of(log)


def attempt_files(folder: Path) -> tuple[Path, ...]:
    """Return the logs of an execution's folder, by attempt."""
    found: list[tuple[int, str, Path]] = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        match = _ATTEMPT.match(entry.name)
        if match is None:
            continue
        logs = sorted(entry.glob("*.eval")) if entry.is_dir() else [entry]
        found.extend((int(match[1]), log.name, log) for log in logs if log.suffix == ".eval")
    return tuple(path for _, _, path in sorted(found))


def collect(
    folder: Path,
    plan: Plan,
    *,
    read_unknown: LogReader | None = None,
    executions: Sequence[int] | None = None,
) -> tuple[Trajectory, ...]:
    """Return one trajectory per planned cell, `not_run` where no attempt finished it.

    Parameters
    ----------
    folder
        The study's folder.
    read_unknown
        Reads a log whose layout this module does not know; without it such a log is refused.
    executions
        Which executions' logs to read; the cells of the others are `not_run`. All by default.

    Raises
    ------
    ForeignLog
        If a log belongs to another plan or another execution, or is damaged.
    """
    logs = {
        execution: attempt_files(folder / f"K{execution}")
        for execution in executions or range(1, plan.executions + 1)
    }
    return merge(plan, logs, read_unknown=read_unknown)


def merge(
    plan: Plan, logs: Mapping[int, Sequence[Path]], *, read_unknown: LogReader | None = None
) -> tuple[Trajectory, ...]:
    """Return one trajectory per planned cell out of the attempts of each execution.

    The record of a cell is its first settled one. Where no attempt settled it, it is the last
    that ended in an error, and without that the cell is `not_run`.

    Raises
    ------
    ForeignLog
        As `collect`.
    """
    cells: list[Trajectory] = []
    for execution in range(1, plan.executions + 1):
        chosen: dict[str, Trajectory] = {}
        starts: dict[str, int] = {}
        for path in logs.get(execution, ()):
            for trajectory in _records(plan, execution, path, read_unknown):
                key = trajectory.sample_id
                starts[key] = starts.get(key, 0) + 1
                if _supersedes(trajectory, chosen.get(key)):
                    chosen[key] = trajectory
        for arm in plan.arms:
            for planned in plan.questions:
                empty = Trajectory(
                    arm=arm.name,
                    question_id=planned.question.question_id,
                    execution=execution,
                    run_status="not_run",
                )
                found = chosen.pop(empty.sample_id, empty)
                cells.append(replace(found, attempts=starts.get(empty.sample_id, 0)))
        if chosen:
            raise ForeignLog(
                f"{len(chosen)} cells of K{execution} are in no plan, first {min(chosen)!r}; "
                f"the plan has {len(plan.arms)} arms and {len(plan.questions)} questions"
            )
    return tuple(cells)


def error_records(paths: Sequence[Path], read: LogReader) -> dict[str, int]:
    """Return how often each cell, by sample id, ended in an error that may be tried again."""
    counts: dict[str, int] = {}
    for path in paths:
        for trajectory in read(path):
            if trajectory.run_status in RETRIED:
                counts[trajectory.sample_id] = counts.get(trajectory.sample_id, 0) + 1
    return counts


def _supersedes(new: Trajectory, old: Trajectory | None) -> bool:
    if old is None or old.run_status == "not_run":
        return True
    return old.run_status not in SETTLED and new.run_status != "not_run"


def _records(
    plan: Plan, execution: int, path: Path, read_unknown: LogReader | None
) -> Iterable[Trajectory]:
    """Return the trajectories of an attempt, after checking that it belongs here."""
    try:
        log = open_log_file(path)
        header = _header_of(log) if log.members else None
        records: Iterable[Trajectory] = tuple(_cells_of(log))
    except UnknownLayout:
        if read_unknown is None:
            raise
        return tuple(read_unknown(path))
    if header is not None and header.plan_sha256 != plan.sha256:
        raise ForeignLog(
            f"{path}: written for plan {str(header.plan_sha256)[:12]}, not for this one "
            f"({plan.sha256[:12]}); compare logs of one study only"
        )
    wrong = next((item for item in records if item.execution != execution), None)
    if wrong is not None:
        raise ForeignLog(f"{path}: holds cells of K{wrong.execution}, expected K{execution}")
    return records


def _cells_of(log: LogFile) -> Iterator[Trajectory]:
    is_attempt_folder = _ATTEMPT.fullmatch(log.path.parent.name) is not None
    label = f"{log.path.parent.name}/{log.path.name}" if is_attempt_folder else log.path.name
    for name in log.names:
        if not name.startswith("samples/"):
            continue
        if _SAMPLE.fullmatch(name) is None:
            raise UnknownLayout(
                f"{log.path}: member {name!r} is no sample of layout {_LAYOUT}; "
                f"read it with the engine's own reader"
            )
        yield trajectory_of(_json_of(log, name), log=label)


def _header_of(log: LogFile) -> LogHeader:
    name = next(
        (name for name in ("header.json", "_journal/start.json") if name in log.members), None
    )
    if name is None:
        raise UnknownLayout(
            f"{log.path}: no header among its {len(log.members)} members; "
            f"not an .eval log of layout {_LAYOUT}"
        )
    record = _json_of(log, name)
    if whole(record, "version") != _LAYOUT:
        raise UnknownLayout(
            f"{log.path}: layout version {record.get('version')!r}, this reader knows {_LAYOUT}"
        )
    spec = part(record, "eval")
    metadata = part(spec, "metadata")
    return LogHeader(
        path=log.path,
        task=text(spec, "task") or "",
        status=text(record, "status") or "started",
        created=text(spec, "created"),
        study=text(metadata, "study"),
        plan_sha256=text(metadata, "plan_sha256"),
        plan_path=text(metadata, "plan") or text(part(spec, "task_args"), "plan"),
        execution=whole(metadata, "execution"),
        code_sha256=text(metadata, "code_sha256"),
        packages=cast("Mapping[str, str]", part(spec, "packages")),
        config=cast("Mapping[str, JsonValue]", part(spec, "config")),
        generate=cast("Mapping[str, JsonValue]", part(part(record, "plan"), "config")),
    )


def _json_of(log: LogFile, name: str) -> Json:
    try:
        record: object = json.loads(log.read(name))
    except ValueError as error:
        raise ForeignLog(f"{log.path}: member {name!r} is not JSON ({error})") from error
    if not isinstance(record, Mapping):
        raise UnknownLayout(f"{log.path}: member {name!r} is no JSON object")
    return cast("Json", record)
