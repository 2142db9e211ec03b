"""lm-evaluation-harness: `<model>/samples_<task>_<date>.jsonl`, one row per document and filter.

Where a task has several filters, a metric is named `metric,filter`, as in the harness's own results
file, so that `--primary exact_match,strict-match` chooses one. Files of some older versions are one
JSON list.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import items, text
from taketwo.outcomes.imports.document_ids import DocumentIds
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, numbered_runs, once_each
from taketwo.outcomes.imports.sources import Line, Parsed, Source, as_record

__all__ = ["FILE_NAME", "KIND", "read_lm_eval_harness"]

KIND = "lm-evaluation-harness samples"
FILE_NAME = re.compile(
    r"samples_(?P<task>.+?)_(?P<date>\d{4}-\d{2}-\d{2}T\d{2}[-:]\d{2}[-:]\d{2}(?:\.\d+)?)\.jsonl?"
)

_NOT_METRICS = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "metrics",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "task_name",
    "schema_version",
    "schema_hash",
}


def read_lm_eval_harness(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of samples files; the system is the folder, the execution the date.

    `--cluster` and `--by` name fields of the documents.

    Raises
    ------
    InvalidResults
        If a line cannot be read, or document numbers contradict each other without remedy.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    files = once_each((_run_file(source) for source in sources), rows)
    lines = {file.source.path: list(file.source.lines()) for file in files}
    tasks = {file.task for file in files}
    ids = DocumentIds()
    filters: dict[str, set[str]] = {}
    for file in files:
        ids.learn(file.task, file.source.path, lines[file.source.path])
        found = {text(line.record, "filter") or "none" for line in lines[file.source.path]}
        filters.setdefault(file.task, set()).update(found)
    for file, execution in numbered_runs(files):
        prefix = f"{file.task}/" if len(tasks) > 1 else ""
        for line in lines[file.source.path]:
            question = prefix + ids.question(file.task, file.source.path, line)
            _add(rows, file, execution, line, question, several=len(filters[file.task]) > 1)
    for told in ids.notes:
        rows.note(told)
    for task, names in filters.items():
        if len(names) > 1:
            rows.note(
                f"{task}: scored by {len(names)} filters ({', '.join(sorted(names))}); metrics are "
                "named metric,filter"
            )
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each samples file is a run of one model by itself",
        default_cluster="no --cluster given",
    )


def _run_file(source: Source) -> RunFile:
    match = FILE_NAME.fullmatch(source.path.name)
    return RunFile(
        source=source,
        system=source.path.resolve().parent.name,
        task=match["task"] if match else source.path.stem,
        run=match["date"] if match else source.path.stem,
    )


def _add(
    rows: RowList, file: RunFile, execution: str, line: Line, question: str, *, several: bool
) -> None:
    record = line.record
    listed = [str(name) for name in items(record, "metrics")]
    names = listed or [name for name in record if name not in _NOT_METRICS]
    where = f"{file.source.path}, {line.place}"
    if not names:
        raise InvalidResults(f"{where}: no metric beside {', '.join(record)}")
    attributes = as_record(record.get("doc"))
    for name in names:
        value = record.get(name)
        if isinstance(value, (list, Mapping)):
            rows.aside(f"values of {name!r}", "a list of numbers, of which none is a score", where)
            continue
        rows.add(
            system=file.system,
            execution=execution,
            question_id=question,
            metric=f"{name},{text(record, 'filter') or 'none'}" if several else name,
            value=value,
            attributes=attributes,
            source=file.source.path,
            place=line.place,
        )
