"""Logs of any inspect task (`.eval`, complete or cut off, and the older `.json`), without the engine.

The summaries of the samples are enough for an audit and are what is read; a sample without a summary
(the run was cut off between two flushes) is read itself. Epochs are executions, and so are several
logs of one task by one model. Logs that share a `task_id` are tries of one run: a retry copies the
finished samples of the try before, so samples are joined by their `uuid`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import cast

from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.log_json import Json, items, part, text, whole
from taketwo.executions.log_zip import LogFile, open_log_file
from taketwo.outcomes.imports.inspect_samples import Sample, choose_samples, samples_in
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.sources import Parsed, Source, text_of

__all__ = ["KIND", "read_inspect_logs"]

KIND = "inspect log"

_SAMPLE = re.compile(r"(samples/.+_epoch_\d+)(\.json|/sample\.json)")
_SUMMARY = re.compile(r"_journal/summaries/(\d+)\.json")


@dataclass(frozen=True, kw_only=True)
class _Log:
    """A log: where it is, what it says of its run, and its samples."""

    source: Source
    spec: Json
    is_finished: bool
    samples: tuple[Sample, ...]

    @property
    def created(self) -> str:
        return text(self.spec, "created") or ""

    @property
    def task(self) -> str:
        return text(self.spec, "task") or "task"

    @property
    def run_key(self) -> str:
        return text(self.spec, "task_id") or text(self.spec, "eval_id") or self.source.sha256

    def fields(self) -> dict[str, str]:
        """Return what can name a system."""
        named = {
            "model": text(self.spec, "model"),
            "task": text(self.spec, "task"),
            "solver": text(self.spec, "solver"),
            **{name: text_of(value) for name, value in part(self.spec, "metadata").items()},
        }
        return {name: value for name, value in named.items() if value is not None}


def read_inspect_logs(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of inspect logs: a row per sample, epoch and score.

    `--system` may name a field of the log (`model`, `task`, `solver` or a key of its metadata); by
    default the system is the model, with the solver where several were used. `--cluster` and `--by`
    name keys of the samples' metadata.

    Raises
    ------
    InvalidResults
        If a log cannot be read, two tries of one run contradict each other, or a score is a text
        without an agreed meaning.
    """
    options.refuse(("execution", "question", "score", "metric", "status", "wide"), "inspect logs")
    rows = RowList(KIND, options)
    logs = sorted((_log_of(source) for source in sources), key=lambda log: (log.created, log.source.sha256))  # fmt: skip
    _refuse_own(logs)
    runs: dict[str, list[_Log]] = {}
    for log in logs:
        runs.setdefault(log.run_key, []).append(log)
    tasks = {log.task for log in logs}
    numbers: dict[tuple[str, str], int] = {}
    arguments: dict[tuple[str, str], str] = {}
    for tries in runs.values():
        system = _system_of(tries[-1], logs, options)
        key = (system, tries[-1].task)
        _note_arguments(rows, arguments, key, tries[-1])
        first = numbers.get(key, 0)
        epochs = max([1, *(sample.epoch for log in tries for sample in log.samples)])
        numbers[key] = first + epochs
        if not tries[-1].is_finished:
            rows.note(f"{tries[-1].source.path}: the run did not finish; read through its journal")
        prefix = f"{tries[-1].task}/" if len(tasks) > 1 else ""
        _add_run(rows, tries, system=system, offset=first, prefix=prefix, epochs=epochs)
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each inspect log is a run of one model by itself",
        default_cluster="no --cluster given",
    )


def _system_of(log: _Log, logs: Sequence[_Log], options: ReadOptions) -> str:
    fields = log.fields()
    if options.system is not None:
        if options.system not in fields:
            raise UnknownName.among("field for --system", options.system, fields)
        return fields[options.system]
    model = fields.get("model", "unknown model")
    solvers = {other.fields().get("solver") for other in logs}
    return model if len(solvers) < 2 else f"{model}/{fields.get('solver', 'default')}"


def _note_arguments(
    rows: RowList, seen: dict[tuple[str, str], str], key: tuple[str, str], log: _Log
) -> None:
    names = ("task_args", "model_args", "model_generate_config", "solver_args")
    written = json.dumps({name: log.spec.get(name) for name in names}, sort_keys=True, default=str)
    if seen.setdefault(key, written) != written:
        rows.note(
            f"logs of {key[1]!r} by {key[0]!r} differ in their arguments and are read as executions "
            f"of one system all the same (first: {log.source.path}); name the field that tells them "
            "apart with --system"
        )


def _add_run(
    rows: RowList, tries: Sequence[_Log], *, system: str, offset: int, prefix: str, epochs: int
) -> None:
    for later in tries[1:]:
        rows.note(f"{later.source.path} is a retry of the run of {tries[0].source.path}")
    last = tries[-1]
    chosen = choose_samples([sample for log in tries for sample in log.samples])
    for sample in chosen:
        for metric, value, status in sample.scores():
            rows.add(
                system=system,
                execution=str(offset + sample.epoch),
                question_id=f"{prefix}{sample.sample_id}",
                metric=metric,
                value=value,
                status=status,
                attributes=sample.metadata,
                detail=sample.detail,
                source=sample.path,
                place=sample.place,
            )
    there = {(sample.sample_id, sample.epoch) for sample in chosen}
    planned = [text_of(name) for name in items(part(last.spec, "dataset"), "sample_ids")]
    n_epochs = max(epochs, whole(part(last.spec, "config"), "epochs") or 1)
    for name in planned:
        for epoch in range(1, n_epochs + 1):
            if name is not None and (name, epoch) not in there:
                rows.add(
                    system=system,
                    execution=str(offset + epoch),
                    question_id=f"{prefix}{name}",
                    metric=None,
                    status="not_run",
                    detail="in the data set of the log, without a sample",
                    source=last.source.path,
                    place=f"sample {name} epoch {epoch}",
                )


def _refuse_own(logs: Iterable[_Log]) -> None:
    for log in logs:
        if text(part(log.spec, "metadata"), "plan_sha256") is not None:
            raise InvalidResults(
                f"{log.source.path}: a log of a Take Two study, whose answers are judged after the "
                "run; compare it with: taketwo compare LOG..., or audit its outcomes.parquet"
            )


def _log_of(source: Source) -> _Log:
    if source.path.suffix == ".json":
        record = source.json()
        spec = part(record, "eval")
        found = [
            (f"sample {index}", sample) for index, sample in enumerate(items(record, "samples"), 1)
        ]
        samples = samples_in(source.path, found)
        return _Log(source=source, spec=spec, is_finished=text(record, "status") == "success", samples=samples)  # fmt: skip
    log = open_log_file(source.path)
    header = next((n for n in ("header.json", "_journal/start.json") if n in log.members), None)
    if header is None:
        raise InvalidResults(
            f"{source.path}: neither header.json nor _journal/start.json among its "
            f"{len(log.members)} members; not an inspect log, or cut off before it began"
        )
    record = _member(log, header)
    return _Log(
        source=source,
        spec=part(record, "eval"),
        is_finished=header == "header.json",
        samples=_samples_of(log),
    )


def _samples_of(log: LogFile) -> tuple[Sample, ...]:
    if "summaries.json" in log.members:
        names = ["summaries.json"]
    else:
        numbered = [
            (int(match[1]), name) for name in log.names if (match := _SUMMARY.fullmatch(name))
        ]
        names = [name for _, name in sorted(numbered)]
    found: list[tuple[str, object]] = []
    for name in names:
        listed = _member(log, name)
        if not isinstance(listed, list):
            raise InvalidResults(f"{log.path}: member {name!r} is no list of summaries")
        found += [
            (f"{name} item {index}", item)
            for index, item in enumerate(cast("list[object]", listed), start=1)
        ]
    samples = samples_in(log.path, found)
    there = {f"samples/{sample.sample_id}_epoch_{sample.epoch}" for sample in samples}
    extra = [
        name
        for name in log.names
        if (match := _SAMPLE.fullmatch(name)) is not None and match[1] not in there
    ]
    return samples + samples_in(log.path, [(name, _member(log, name)) for name in extra])


def _member(log: LogFile, name: str) -> object:
    try:
        record: object = json.loads(log.read(name))
    except (ValueError, RecursionError) as error:
        raise InvalidResults(f"{log.path}: member {name!r} is not JSON ({error})") from error
    return record
