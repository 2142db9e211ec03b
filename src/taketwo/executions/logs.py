"""Reading the logs of executions, without the engine: trajectories by cell, first settled record wins.

An execution is a folder `K<k>` of attempts: `attempt-01.eval`, ... one a process, or, where that
process was killed, the folder `attempt-01/` with the log as the engine left it. A log of 0 bytes is
none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import cast

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import DataError, ForeignLog
from taketwo.executions.deaths import Death, blamed, deaths_by_cell, deaths_in
from taketwo.executions.log_cells import cell_of, is_unreadable
from taketwo.executions.log_json import Json, part, text, whole
from taketwo.executions.log_zip import LogFile, open_log_file
from taketwo.executions.plan import Plan
from taketwo.executions.stopped import Stopped, stopped_in, with_stop
from taketwo.executions.trajectory import RunStatus, Trajectory

__all__ = [
    "RETRIED",
    "SETTLED",
    "LogHeader",
    "LogReader",
    "UnknownLayout",
    "attempt_files",
    "attempt_number",
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
_ATTEMPT_LOG = re.compile(r"attempt-(\d+)\.eval")

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

    A cell that was started and not finished is `not_run`, one whose record cannot be read is
    `agent_error` with the reason. Cells that were in flight when the process was killed left
    nothing and are not yielded.

    Raises
    ------
    UnknownLayout
        If the file's layout is not the one that this reader knows.
    ForeignLog
        If it is no log of a study, or damaged.
    """
    log = open_log_file(path)
    header = _header_of(log) if log.members else None
    yield from _cells_of(log, None if header is None else header.execution)


def attempt_number(name: str) -> int | None:
    """Return the number of the attempt whose folder is called so; None where it is none."""
    match = _ATTEMPT.fullmatch(name)
    return None if match is None else int(match[1])


def attempt_files(folder: Path) -> tuple[Path, ...]:
    """Return the logs of an execution's folder, by attempt; those of 0 bytes are none.

    Raises
    ------
    DataError
        If something lies there, or in place of the folder, that no attempt leaves.
    """
    if folder.exists() and not folder.is_dir():
        raise DataError(
            f"{folder}: a file, where the folder of an execution should be; move it away"
        )
    found: list[tuple[int, str, Path]] = []
    for entry in folder.iterdir() if folder.is_dir() else ():
        number = attempt_number(entry.name)
        if number is not None:
            if not entry.is_dir():
                raise DataError(
                    f"{entry}: a file, where the folder of a running attempt would be; move it "
                    "away, or name it .eval if it is a log"
                )
            logs = sorted(entry.glob("*.eval"))
        elif match := _ATTEMPT_LOG.fullmatch(entry.name):
            number, logs = int(match[1]), [entry]
        elif entry.suffix == ".eval":
            raise DataError(
                f"{entry}: no log of an attempt is called so (attempt-01.eval is); move it away"
            )
        else:
            continue
        found.extend((number, log.name, _file(log)) for log in logs if _is_written(log))
    return tuple(path for _, _, path in sorted(found))


def _is_written(log: Path) -> bool:
    return not log.is_file() or log.stat().st_size > 0


def _file(log: Path) -> Path:
    if not log.is_file():
        raise DataError(f"{log}: a folder, where the log of an attempt should be; move it away")
    return log


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
    deaths = {execution: deaths_in(folder / f"K{execution}") for execution in logs}
    stops = {execution: stopped_in(folder / f"K{execution}", plan) for execution in logs}
    return merge(plan, logs, read_unknown=read_unknown, deaths=deaths, stops=stops)


def merge(
    plan: Plan,
    logs: Mapping[int, Sequence[Path]],
    *,
    read_unknown: LogReader | None = None,
    deaths: Mapping[int, Sequence[Death]] | None = None,
    stops: Mapping[int, Stopped | None] | None = None,
) -> tuple[Trajectory, ...]:
    """Return one trajectory per planned cell out of the attempts of each execution.

    The record of a cell is its first settled one. Where no attempt settled it, it is the last
    that ended in an error, and without that the cell is `not_run`, or `agent_error` where it is to
    blame for `deaths` of the attempts' processes. Where the execution was stopped early (`stops`),
    that is the reason of what did not run.

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
        died = deaths_by_cell((deaths or {}).get(execution, ()))
        stop = (stops or {}).get(execution)
        for arm in plan.arms:
            for planned in plan.questions:
                empty = Trajectory(
                    arm=arm.name,
                    question_id=planned.question.question_id,
                    execution=execution,
                    run_status="not_run",
                )
                found = chosen.pop(empty.sample_id, empty)
                cell = replace(found, attempts=starts.get(empty.sample_id, 0))
                own = died.get(empty.sample_id, ())
                cells.append(with_stop(blamed(cell, own, plan.rule.attempts) or cell, stop))
        foreign = [key for key, cell in chosen.items() if not is_unreadable(cell)]
        if foreign:
            raise ForeignLog(
                f"{len(foreign)} cells of K{execution} are in no plan, first {min(foreign)!r}; "
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
        found = None if header is None else header.execution
        records: Iterable[Trajectory] = tuple(_cells_of(log, found))
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


def _cells_of(log: LogFile, execution: int | None) -> Iterator[Trajectory]:
    is_attempt_folder = attempt_number(log.path.parent.name) is not None
    label = f"{log.path.parent.name}/{log.path.name}" if is_attempt_folder else log.path.name
    for name in log.names:
        if not name.startswith("samples/"):
            continue
        match = _SAMPLE.fullmatch(name)
        if match is None:
            raise UnknownLayout(
                f"{log.path}: member {name!r} is no sample of layout {_LAYOUT}; "
                f"read it with the engine's own reader"
            )
        content = log.read(name)
        cell = cell_of(
            partial(_json_of, log, name, content),
            sample_id=match["id"],
            execution=execution,
            log=label,
        )
        if cell is not None:
            yield cell


def _header_of(log: LogFile) -> LogHeader:
    name = next(
        (name for name in ("header.json", "_journal/start.json") if name in log.members), None
    )
    if name is None:
        raise UnknownLayout(
            f"{log.path}: no header among its {len(log.members)} members; "
            f"not an .eval log of layout {_LAYOUT}"
        )
    record = _json_of(log, name, log.read(name))
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


def _json_of(log: LogFile, name: str, content: bytes) -> Json:
    try:
        record: object = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise ForeignLog(f"{log.path}: member {name!r} is not JSON ({error})") from error
    if not isinstance(record, Mapping):
        raise UnknownLayout(f"{log.path}: member {name!r} is no JSON object")
    return cast("Json", record)
