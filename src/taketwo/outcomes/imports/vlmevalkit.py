"""VLMEvalKit: `<model>/T<stamp>/<model>_<dataset>...` as xlsx, tsv or json, scored by its judges.

Only scored files can be audited: those with a column `score` (1, 0; -1 is a reply that the judge
rejected) or `hit`. A row that the judge "randomly generated" is a failure of the judge, not an
answer. A spreadsheet cell holds 32,767 characters at most and what goes beyond is lost without a
word; cells of exactly that length are flagged.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from typing import cast

from python_calamine import CalamineError, CalamineWorkbook

from taketwo.errors import InvalidResults
from taketwo.executions.log_json import Json
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.runs import RunFile, numbered_runs, once_each
from taketwo.outcomes.imports.sources import Parsed, Source, text_of

__all__ = ["CELL_LIMIT", "KIND", "SUFFIXES", "read_vlmevalkit"]

KIND = "VLMEvalKit results"
SUFFIXES = (".xlsx", ".tsv", ".json")
CELL_LIMIT = 32_767

_STAMP = re.compile(r"T\d{8}[-_].+")
_SCORES = ("score", "hit")
_FAILED = "Failed to obtain answer"
_GUESSED = "randomly generate"
_LONG = {"question", "prediction", "thinking", "answer", "candidates", "log", "index", *_SCORES}


def read_vlmevalkit(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of scored files; the system is the model, the execution the stamped folder.

    Raises
    ------
    InvalidResults
        If no file is scored, or a file cannot be read.
    """
    options.refuse(("system", "execution", "question", "score", "metric", "status", "wide"), KIND)
    rows = RowList(KIND, options)
    tables = {source.path: _table(source) for source in sources}
    files = once_each((_run_file(source) for source in sources), rows)
    scored = [file for file in files if _score_column(tables[file.source.path]) is not None]
    plain = [file for file in files if file not in scored]
    for file in plain:
        rows.aside("files of predictions", "they hold no score", str(file.source.path))
    if not scored:
        raise InvalidResults(
            f"{files[0].source.path}: predictions without a column {' or '.join(_SCORES)}; run the "
            "harness's own evaluation and audit what it writes (..._score.xlsx or the judge's file)"
        )
    named = [_with_dataset(file, plain) for file in scored]
    tasks = {file.task for file, _ in named}
    judges = {judge for _, judge in named}
    numbers = {file.source.path: number for file, number in numbered_runs(f for f, _ in named)}
    for file, judge in named:
        table = tables[file.source.path]
        _flag_cut_cells(rows, file, table)
        column = str(_score_column(table))
        for number, row in enumerate(table, start=1):
            _add(
                rows,
                file,
                row,
                number=number,
                column=column,
                metric=f"{column}@{judge}" if len(judges) > 1 else column,
                execution=numbers[file.source.path],
                prefix=f"{file.task}/" if len(tasks) > 1 else "",
            )
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        alignment_reason="each results folder is a run of one model by itself",
        default_cluster="column video",
    )


def _table(source: Source) -> list[Json]:
    suffix = source.path.suffix.lower()
    if suffix == ".xlsx":
        return _sheet(source)
    if suffix == ".tsv":
        csv.field_size_limit(2**31 - 1)
        reader = csv.DictReader(io.StringIO(source.text, newline=""), delimiter="\t")
        return [cast("Json", row) for row in reader]
    return [line.record for line in source.lines()]


def _sheet(source: Source) -> list[Json]:
    try:
        listed = CalamineWorkbook.from_filelike(io.BytesIO(source.data)).get_sheet_by_index(0)
        cells = listed.to_python()
    except (CalamineError, IndexError, ValueError) as error:
        raise InvalidResults(f"{source.path}: not a readable spreadsheet ({error})") from error
    if len(cells) < 2:
        raise InvalidResults(f"{source.path}: the first sheet has no rows below its header")
    header = [str(name) for name in cells[0]]
    return [
        {name: (None if cell == "" else cell) for name, cell in zip(header, row, strict=False)}
        for row in cells[1:]
    ]


def _score_column(table: Sequence[Json]) -> str | None:
    columns = {name for row in table for name in row}
    return next((name for name in _SCORES if name in columns), None)


def _run_file(source: Source) -> RunFile:
    """Return the run of a file: by its folders, or where it lies loose, by its name."""
    folder = source.path.resolve().parent
    stem = source.path.name.removesuffix(source.path.suffix)
    run = folder.name if _STAMP.fullmatch(folder.name) else ""
    model = folder.parent.name if run else folder.name
    if stem.startswith(f"{model}_"):
        return RunFile(source=source, system=model, task=stem[len(model) + 1 :], run=run)
    model, _, task = stem.partition("_")
    return RunFile(source=source, system=model, task=task or stem, run=run or folder.name)


def _with_dataset(file: RunFile, plain: Sequence[RunFile]) -> tuple[RunFile, str]:
    """Return a scored file under its data set's name, and who scored it."""
    known = [
        other.task
        for other in plain
        if other.system == file.system and file.task.startswith(f"{other.task}_")
    ]
    dataset = max(known, key=len, default=file.task.removesuffix("_score"))
    judge = file.task[len(dataset) + 1 :] or "file"
    renamed = RunFile(source=file.source, system=file.system, task=dataset, run=file.run)
    return renamed, judge


def _flag_cut_cells(rows: RowList, file: RunFile, table: Sequence[Json]) -> None:
    cut = [
        f"row {number}, column {name}"
        for number, row in enumerate(table, start=1)
        for name, cell in row.items()
        if isinstance(cell, str) and len(cell) == CELL_LIMIT
    ]
    if cut and file.source.path.suffix.lower() == ".xlsx":
        rows.note(
            f"{file.source.path}: {len(cut)} cells are exactly {CELL_LIMIT:,} characters long, the "
            f"most that a spreadsheet holds: they were cut (first: {cut[0]}); scores made from the "
            "file afterwards judged the cut text"
        )


def _add(
    rows: RowList,
    file: RunFile,
    row: Json,
    *,
    number: int,
    column: str,
    metric: str,
    execution: str,
    prefix: str,
) -> None:
    place = f"row {number}"
    question = text_of(row.get("index"))
    if question is None:
        raise InvalidResults(f"{file.source.path}, {place}: no index; nothing to pair it by")
    status, detail = _status_of(row, row.get(column))
    rows.add(
        system=file.system,
        execution=execution,
        question_id=f"{prefix}{question}",
        metric=metric,
        value=None if status != "scored" else row.get(column),
        status=status,
        cluster=text_of(row.get("video")),
        attributes=_levels(row),
        detail=detail,
        source=file.source.path,
        place=place,
    )


def _levels(row: Mapping[str, object]) -> Mapping[str, object]:
    return {
        name: cell
        for name, cell in row.items()
        if name not in _LONG and not (isinstance(cell, str) and len(cell) > 200)
    }


def _status_of(row: Json, score: object) -> tuple[Status, str | None]:
    prediction, log = row.get("prediction"), row.get("log")
    if isinstance(prediction, str) and prediction.startswith(_FAILED):
        return "provider_error", prediction
    if isinstance(log, str) and _GUESSED in log:
        return "judge_error", log
    if text_of(score) in {"-1", "-1.0"}:
        return "judge_error", "the judge rejected the reply (score -1)"
    return "scored", None
