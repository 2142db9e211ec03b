"""tau-bench and tau2-bench: rewards by task and trial, and simulations that ended before one.

In tau-bench a result with `info.error` is a failure of the harness, not of the agent, whatever its
reward says. tau2 writes one file, or `results.json` with a file per simulation beside it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, items, part, text, whole
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, once_each
from taketwo.outcomes.imports.sources import Line, Parsed, Source, as_record, open_source, text_of

__all__ = ["KIND_ONE", "KIND_TWO", "is_tau", "is_tau2", "read_tau", "read_tau2"]

KIND_ONE = "tau-bench results"
KIND_TWO = "tau2-bench results"

_METRIC = "reward"
_COLUMNS = ("system", "execution", "question", "score", "metric", "status", "wide")
_NAME = re.compile(r"(?P<system>.+?)_range_.*?_(?P<stamp>\d{8,})")
_ENDINGS: Mapping[str, Status] = {
    "max_steps": "limit",
    "timeout": "limit",
    "too_many_errors": "agent_error",
    "agent_error": "agent_error",
    "user_error": "provider_error",
    "infrastructure_error": "provider_error",
}
"""What a simulation without a reward ended as."""


def is_tau(record: object) -> bool:
    """Return whether a JSON value is a list of results of tau-bench."""
    listed = cast("list[object]", record) if isinstance(record, list) else []
    return bool(listed) and set(as_record(listed[0])) >= {"task_id", "reward", "trial"}


def is_tau2(record: object) -> bool:
    """Return whether a JSON value is the results of tau2-bench."""
    names = set(as_record(record))
    return "info" in names and bool(names & {"simulations", "simulation_index"})


def read_tau(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of tau-bench files: the system by the file's name, an execution a trial.

    Raises
    ------
    InvalidResults
        If a result lacks its task or trial, or two results of one trial contradict each other.
    """
    options.refuse(_COLUMNS, KIND_ONE)
    rows = RowList(KIND_ONE, options)
    results = {source.path: list(source.lines()) for source in sources}
    files = once_each((_tau_file(source) for source in sources), rows)
    trials = [
        (file, trial)
        for file in files
        for trial in sorted({_trial(file, line) for line in results[file.source.path]})
    ]
    numbers = _numbered(trials)
    for file in files:
        for line in results[file.source.path]:
            number = numbers[file.source.path.as_posix(), _trial(file, line)]
            _add_result(rows, file, line, number)
    return rows.parsed(
        [source.as_file(KIND_ONE) for source in sources],
        alignment_reason="trials of two systems have nothing in common but their number",
        default_cluster="no --cluster given",
    )


def _tau_file(source: Source) -> RunFile:
    match = _NAME.match(source.path.stem)
    return RunFile(
        source=source,
        system=match["system"] if match else source.path.stem,
        task="tau",
        run=match["stamp"] if match else "",
    )


def _trial(file: RunFile, line: Line) -> int:
    trial = whole(line.record, "trial")
    if trial is None or text_of(line.record.get("task_id")) is None:
        raise InvalidResults(f"{file.source.path}, {line.place}: a result without task_id or trial")
    return trial


def _numbered(trials: Sequence[tuple[RunFile, int]]) -> dict[tuple[str, int], str]:
    """Return the execution of each file and trial: trials of one system and domain, file by file."""
    counts: dict[tuple[str, str], int] = {}
    numbers: dict[tuple[str, int], str] = {}
    for file, trial in trials:
        key = (file.system, file.task)
        counts[key] = counts.get(key, 0) + 1
        numbers[file.source.path.as_posix(), trial] = str(counts[key])
    return numbers


def _add_result(rows: RowList, file: RunFile, line: Line, number: str) -> None:
    error = part(line.record, "info").get("error")
    failed = error is not None
    rows.add(
        system=file.system,
        execution=number,
        question_id=str(text_of(line.record.get("task_id"))),
        metric=_METRIC,
        value=line.record.get("reward"),
        status="provider_error" if failed else "scored",
        detail=str(error) if failed else None,
        source=file.source.path,
        place=f"{line.place} (trial {whole(line.record, 'trial')})",
    )


def read_tau2(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of tau2 results: the system is implementation and model, an execution a trial.

    A task of the file without a simulation in some trial is `not_run`.

    Raises
    ------
    InvalidResults
        If a simulation lacks its task or trial, or its file is missing.
    """
    options.refuse(_COLUMNS, KIND_TWO)
    rows = RowList(KIND_TWO, options)
    records = {source.path: cast("Json", source.json()) for source in sources}
    files = once_each((_tau2_file(source, records[source.path]) for source in sources), rows)
    simulations = {
        file.source.path: list(_simulations(file, records[file.source.path])) for file in files
    }
    trials: list[tuple[RunFile, int]] = []
    for file in files:
        planned = whole(part(records[file.source.path], "info"), "num_trials") or 0
        found = {_trial(file, line) for line in simulations[file.source.path]}
        trials += [(file, trial) for trial in sorted(found | set(range(planned)))]
    numbers = _numbered(trials)
    several = len({file.task for file in files}) > 1
    for file in files:
        prefix = f"{file.task}/" if several else ""
        own = [(trial, number) for (path, trial), number in numbers.items()
               if path == file.source.path.as_posix()]  # fmt: skip
        there: set[tuple[str, int]] = set()
        for line in simulations[file.source.path]:
            trial = _trial(file, line)
            there.add((str(text_of(line.record.get("task_id"))), trial))
            _add_simulation(
                rows, file, line, numbers[file.source.path.as_posix(), trial], prefix=prefix
            )
        for task in items(records[file.source.path], "tasks"):
            name = text_of(as_record(task).get("id"))
            for trial, number in own:
                if name is not None and (name, trial) not in there:
                    _add_absent(rows, file, f"{prefix}{name}", trial, number)
    return rows.parsed(
        [source.as_file(KIND_TWO) for source in sources],
        alignment_reason="trials of two systems have nothing in common but their number",
        default_cluster="no --cluster given",
    )


def _tau2_file(source: Source, record: Json) -> RunFile:
    info = part(record, "info")
    agent = part(info, "agent_info")
    names = [name for name in (text(agent, "implementation"), text(agent, "llm")) if name]
    domain = text(part(info, "environment_info"), "domain_name") or "tau2"
    return RunFile(
        source=source,
        system="/".join(names) or source.path.stem,
        task=domain,
        run=text(record, "timestamp") or "",
    )


def _simulations(file: RunFile, record: Json) -> Iterator[Line]:
    listed = items(record, "simulations")
    if listed or "simulation_index" not in record:
        for index, item in enumerate(listed):
            if not isinstance(item, Mapping):
                raise InvalidResults(f"{file.source.path}: simulations[{index}] is no object")
            yield Line(place=f"simulations[{index}]", record=cast("Json", item))
        return
    for index, item in enumerate(items(record, "simulation_index")):
        name = text_of(item) or text_of(as_record(item).get("id"))
        if name is None or not re.fullmatch(r"[A-Za-z0-9._-]+", name):
            raise InvalidResults(
                f"{file.source.path}: simulation_index[{index}] names no simulation"
            )
        path = file.source.path.parent / "simulations" / f"{name}.json"
        simulation = open_source(path).json()
        if not isinstance(simulation, Mapping):
            raise InvalidResults(f"{path}: a simulation that is no object")
        yield Line(place=f"simulations/{path.name}", record=cast("Json", simulation))


def _add_simulation(rows: RowList, file: RunFile, line: Line, number: str, *, prefix: str) -> None:
    ending = text(line.record, "termination_reason") or ""
    reward = part(line.record, "reward_info").get("reward")
    status: Status = "scored"
    if reward is None:
        status = _ENDINGS.get(ending, "not_judged")
    elif _ENDINGS.get(ending) == "provider_error":
        status = "provider_error"
    rows.add(
        system=file.system,
        execution=number,
        question_id=f"{prefix}{text_of(line.record.get('task_id'))}",
        metric=_METRIC,
        value=reward,
        status=status,
        detail=None if status == "scored" else f"ended by {ending or 'nothing recorded'}",
        source=file.source.path,
        place=f"{line.place} (trial {whole(line.record, 'trial')})",
    )


def _add_absent(rows: RowList, file: RunFile, task: str, trial: int, number: str) -> None:
    rows.add(
        system=file.system,
        execution=number,
        question_id=task,
        metric=_METRIC,
        status="not_run",
        detail="a task of the file without a simulation",
        source=file.source.path,
        place=f"tasks, {task!r} (trial {trial})",
    )
