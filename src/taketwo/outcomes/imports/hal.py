"""HAL: `<run_id>_UPLOAD.json`, one file a run.

A task's record holds `reward` or `score`, or is an error text, or a list over variants of the prompt.
Where it holds neither, the run's own lists of successful and failed tasks say it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json, items, part, text
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, numbered_runs, once_each
from taketwo.outcomes.imports.sources import Parsed, Source, text_of

__all__ = ["KIND", "is_hal", "read_hal"]

KIND = "HAL run"

_METRIC = "score"


def is_hal(record: object) -> bool:
    """Return whether a JSON value is a run of HAL."""
    return bool(part(record, "config")) and (
        "raw_eval_results" in cast("Json", record) or bool(items(part(record, "results"), "successful_tasks"))
    )  # fmt: skip


def read_hal(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of runs; the system is the agent, the execution the run, by date.

    Raises
    ------
    InvalidResults
        If a file is no run, or a task has no score.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    records = {source.path: source.json() for source in sources}
    files = once_each((_run_file(source, records[source.path]) for source in sources), rows)
    tasks = {file.task for file in files}
    for file, execution in numbered_runs(files):
        prefix = f"{file.task}/" if len(tasks) > 1 else ""
        _add_run(rows, file, records[file.source.path], execution, prefix)
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each HAL file is a run of one agent by itself",
        default_cluster="the task, where it has several prompts",
    )


def _run_file(source: Source, record: object) -> RunFile:
    config = part(record, "config")
    system = text(config, "agent_name")
    if system is None or not is_hal(record):
        raise InvalidResults(
            f"{source.path}: no config.agent_name with raw_eval_results; not a HAL run "
            "(public traces are encrypted: decrypt them with hal-decrypt first)"
        )
    run = f"{text(config, 'date') or ''} {text(config, 'run_id') or source.path.stem}"
    return RunFile(
        source=source, system=system, task=text(config, "benchmark_name") or "benchmark", run=run
    )


def _add_run(rows: RowList, file: RunFile, record: object, execution: str, prefix: str) -> None:
    results = part(record, "results")
    solved = {text_of(name) for name in items(results, "successful_tasks")}
    unsolved = {text_of(name) for name in items(results, "failed_tasks")}
    evaluated = dict(part(record, "raw_eval_results"))
    names = dict.fromkeys([*evaluated, *(n for n in (*solved, *unsolved) if n is not None)])

    def add(question: str, task: str, written: object, place: str) -> None:
        if isinstance(written, str) and written.startswith("ERROR"):
            rows.add(
                system=file.system,
                execution=execution,
                question_id=f"{prefix}{question}",
                metric=_METRIC,
                status="agent_error",
                detail=written,
                cluster=task if question != task else None,
                source=file.source.path,
                place=place,
            )
            return
        rows.add(
            system=file.system,
            execution=execution,
            question_id=f"{prefix}{question}",
            metric=_METRIC,
            value=_score(written, task, solved, unsolved, f"{file.source.path}, {place}"),
            cluster=task if question != task else None,
            source=file.source.path,
            place=place,
        )

    for name in sorted(names):
        written = evaluated.get(name)
        place = f"raw_eval_results[{name!r}]"
        if isinstance(written, list):
            variants = cast("list[object]", written)
            rows.note(
                "tasks with several prompts: one question for each prompt, the task its cluster"
            )
            for index, variant in enumerate(variants, start=1):
                add(f"{name}#{index}", name, variant, f"{place}[{index - 1}]")
        else:
            add(name, name, written, place)


def _score(
    written: object, task: str, solved: set[str | None], unsolved: set[str | None], where: str
) -> object:
    if isinstance(written, (bool, int, float)):
        return written
    if isinstance(written, Mapping):
        record = cast("Json", written)
        for key in ("reward", "score"):
            if record.get(key) is not None:
                return record[key]
    if (task in solved) != (task in unsolved):
        return task in solved
    found = "in both lists" if task in solved else "in neither list"
    raise InvalidResults(
        f"{where}: no reward and no score, and the task is {found} of successful and failed tasks"
    )
