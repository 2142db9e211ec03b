"""Terminal-Bench: `<run>/results.json` with a result per trial.

An execution is a run's folder, or, where a run tried every task several times, the k of `.k-of-n` in
a trial's name. What the agent did not finish in its time is its own doing (`limit`); an agent that
could not be installed, tests that timed out or could not be parsed are not.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import items, text
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, numbered_runs, once_each
from taketwo.outcomes.imports.sources import Parsed, Source, as_record, open_source, text_of

__all__ = ["KIND", "is_terminal_bench", "read_terminal_bench"]

KIND = "Terminal-Bench run"

_METRIC = "is_resolved"
_TRIAL = re.compile(r"\.(?P<k>\d+)-of-(?P<n>\d+)(?:\.|$)")
_MODES: Mapping[str, Status] = {
    "agent_timeout": "limit",
    "test_timeout": "judge_error",
    "parse_error": "judge_error",
    "unknown_agent_error": "agent_error",
    "agent_installation_failed": "agent_error",
}


def is_terminal_bench(record: object) -> bool:
    """Return whether a JSON value is the results of a run."""
    return set(as_record(record)) >= {"results", "n_resolved"}


def read_terminal_bench(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of runs; the system is agent and model, by `run_metadata.json` or the folder.

    Raises
    ------
    InvalidResults
        If a trial lacks its task, or two trials of one execution contradict each other.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    files = once_each((_run_file(source) for source in sources), rows)
    records = {file.source.path: file.source.json() for file in files}
    widths = {file.source.path: _attempts(records[file.source.path]) for file in files}
    starts: dict[str, int] = {}
    for file, _ in sorted(numbered_runs(files), key=lambda pair: (pair[0].system, int(pair[1]))):
        start = starts.get(file.system, 0)
        starts[file.system] = start + widths[file.source.path]
        for index, item in enumerate(items(records[file.source.path], "results")):
            _add(rows, file, item, f"results[{index}]", start)
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each folder is a run of one agent by itself",
        default_cluster="no --cluster given",
    )


def _run_file(source: Source) -> RunFile:
    folder = source.path.resolve().parent
    metadata: object = {}
    if (folder / "run_metadata.json").is_file():
        metadata = open_source(folder / "run_metadata.json").json()
    names = [name for key in ("agent_name", "model_name") if (name := text(metadata, key))]
    started = text(metadata, "start_time") or ""
    return RunFile(
        source=source,
        system="/".join(names) or folder.name,
        task="terminal-bench",
        run=f"{started} {text(metadata, 'run_id') or folder.name}",
    )


def _attempts(record: object) -> int:
    found = [_TRIAL.search(text(item, "trial_name") or "") for item in items(record, "results")]
    return max([1, *(int(match["n"]) for match in found if match is not None)])


def _add(rows: RowList, file: RunFile, item: object, place: str, start: int) -> None:
    record = as_record(item)
    task = text_of(record.get("task_id"))
    if task is None:
        raise InvalidResults(f"{file.source.path}, {place}: a trial without task_id")
    match = _TRIAL.search(text(record, "trial_name") or "")
    resolved = record.get("is_resolved")
    mode = text(record, "failure_mode") or "unset"
    status: Status = "scored"
    if resolved is not True:
        status = _MODES.get(mode, "scored" if resolved is not None else "not_judged")
    rows.add(
        system=file.system,
        execution=str(start + (int(match["k"]) if match else 1)),
        question_id=task,
        metric=_METRIC,
        # A test that never ran proves nothing; only what the agent did itself counts as unresolved.
        value=resolved if status in {"scored", "limit"} else None,
        status=status,
        detail=None if status == "scored" else mode,
        source=file.source.path,
        place=f"{place} ({text(record, 'trial_name') or task})",
    )
