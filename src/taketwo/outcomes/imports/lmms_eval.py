"""lmms-eval: `<model>/<stamp>_samples_<task>.jsonl`, in the shapes before and after version 0.7.

The file is opened for appending, so it may hold lines of two runs: lines that repeat another are one,
lines that contradict another are an error. A metric is a number or a record that holds `score`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json
from taketwo.outcomes.imports.document_ids import DocumentIds
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, numbered_runs, once_each
from taketwo.outcomes.imports.sources import Line, Parsed, Source, text_of

__all__ = ["FILE_NAME", "KIND", "read_lmms_eval"]

KIND = "lmms-eval samples"
FILE_NAME = re.compile(r"(?P<stamp>\d{8}_\d{4,6})_samples_(?P<task>.+)\.jsonl")

_NOT_METRICS = {
    "doc_id",
    "doc",
    "target",
    "arguments",
    "resps",
    "filtered_resps",
    "filter",
    "doc_hash",
    "prompt_hash",
    "target_hash",
    "input",
    "input_media",
    "token_counts",
    "metrics",
}
_VALUES = ("score", "accuracy", "acc", "correct", "exact_match")
_VIDEO = ("videoID", "video_id", "video")
_NO_LEVELS = {"question_id", "pred_answer", "answer", "pred", "prediction", *_VALUES}
_FAILURES: tuple[tuple[str, Status], ...] = (
    ("[LMMS_EVAL_REQUEST_FAILED after", "provider_error"),
    ("[LMMS_EVAL_BUDGET_EXCEEDED]", "limit"),
    ('"error": "max_agentic_steps_reached"', "limit"),
)


def read_lmms_eval(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of samples files; the system is the folder, the execution the time stamp.

    Raises
    ------
    InvalidResults
        If a line cannot be read, or two lines of one question contradict each other.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    files = once_each((_run_file(source) for source in sources), rows)
    tasks = {file.task for file in files}
    lines = {file.source.path: list(file.source.lines()) for file in files}
    ids = DocumentIds()
    for file in files:
        ids.learn(file.task, file.source.path, lines[file.source.path])
    for file, execution in numbered_runs(files):
        prefix = f"{file.task}/" if len(tasks) > 1 else ""
        for line in lines[file.source.path]:
            question = ids.question(file.task, file.source.path, line)
            _add(rows, file, execution, line, prefix=prefix, question=question)
    for told in ids.notes:
        rows.note(told)
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each samples file is a run of one model by itself",
        default_cluster="the video named in the metric's record",
    )


def _run_file(source: Source) -> RunFile:
    match = FILE_NAME.fullmatch(source.path.name)
    name = match or re.fullmatch(r"()(?P<task>.+)\.jsonl", source.path.name)
    task = name["task"] if name else source.path.stem
    return RunFile(
        source=source,
        system=source.path.resolve().parent.name,
        task=task,
        run=match["stamp"] if match else source.path.stem,
    )


def _add(
    rows: RowList, file: RunFile, execution: str, line: Line, *, prefix: str, question: str
) -> None:
    status, detail = _status_of(line.record)
    where = f"{file.source.path}, {line.place}"
    metrics = list(_metrics(line.record))
    if not metrics and status == "scored":
        raise InvalidResults(f"{where}: no metric beside {', '.join(line.record)}")
    if _repeats(line.record) > 1:
        rows.note(
            f"{file.task}: several replies a question, on which the metric was computed as a whole; "
            "they are one execution, nobody can take them apart"
        )
    for name, written in metrics or [(None, None)]:
        value, record = written, cast("Json", {})
        if isinstance(written, (Mapping, list)):
            record = cast("Json", written) if isinstance(written, Mapping) else record
            found = next((key for key in _VALUES if key in record), None)
            if found is None:
                rows.aside(f"values of {name!r}", "a record without a score of its own", where)
                continue
            value = record[found]
        own = text_of(record.get("question_id")) or question
        cluster = next((text_of(record[key]) for key in _VIDEO if key in record), None)
        rows.add(
            system=file.system,
            execution=execution,
            question_id=f"{prefix}{own}",
            metric=name,
            value=value if status == "scored" else None,
            status=status,
            cluster=cluster,
            attributes={key: level for key, level in record.items() if key not in _NO_LEVELS},
            detail=detail,
            source=file.source.path,
            place=line.place,
        )


def _metrics(record: Json) -> Iterator[tuple[str, object]]:
    for name, value in record.items():
        if name not in _NOT_METRICS:
            yield name, value


def _status_of(record: Json) -> tuple[Status, str | None]:
    """Return how the request ended, by the markers that the harness writes into the reply."""
    for reply in (*_texts(record.get("filtered_resps")), *_texts(record.get("resps"))):
        for marker, status in _FAILURES:
            if marker in reply:
                return status, reply
    return "scored", None


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in cast("list[object]", value):
            yield from _texts(item)


def _repeats(record: Json) -> int:
    """Return how many replies a question has: newer files hold a text for one, a list for several."""
    replies = record.get("filtered_resps")
    return len(cast("list[object]", replies)) if isinstance(replies, list) else 1
