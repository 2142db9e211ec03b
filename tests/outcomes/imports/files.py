"""Result files of other harnesses, written small and by hand."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from tests.executions.written_logs import write_log

from taketwo.outcomes.imports.detect import read_results
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import ImportedResults

Cell = tuple[float | None, str]


def read(*paths: Path, **options: object) -> ImportedResults:
    return read_results(paths, ReadOptions(**options))  # type: ignore[arg-type]


def cells(results: ImportedResults, metric: str | None = None) -> dict[tuple[str, str, str], Cell]:
    """Return value and status by system, execution (as numbered) and question."""
    rows = results.rows.iter_rows(named=True)
    return {
        (
            row["system"],
            f"K{results.numbers[row['system'], row['execution']]}",
            row["question_id"],
        ): (
            row["value"],
            row["status"],
        )
        for row in rows
        if metric is None or row["metric"] == metric
    }


def write_json(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value), "utf-8")
    return path


def write_lines(path: Path, records: Sequence[object]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    return path


def write_text(path: Path, *lines: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", "utf-8")
    return path


def write_sheet(path: Path, rows: Sequence[Sequence[object]]) -> Path:
    """Write a spreadsheet with one sheet, texts inline."""
    path.parent.mkdir(parents=True, exist_ok=True)

    def cell(value: object) -> str:
        if value is None:
            return "<c/>"
        if isinstance(value, (int, float)):
            return f"<c><v>{value}</v></c>"
        return f'<c t="inlineStr"><is><t>{escape(str(value))}</t></is></c>'

    main = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
    package = "http://schemas.openxmlformats.org/package/2006"
    body = "".join(f"<row>{''.join(map(cell, row))}</row>" for row in rows)
    kind = "application/vnd.openxmlformats-officedocument.spreadsheetml"
    members = {
        "[Content_Types].xml": f'<Types xmlns="{package}/content-types">'
        f'<Default Extension="rels" ContentType="{package}.relationships+xml"/>'
        f'<Override PartName="/xl/workbook.xml" ContentType="{kind}.sheet.main+xml"/>'
        f'<Override PartName="/xl/sheet1.xml" ContentType="{kind}.worksheet+xml"/></Types>',
        "_rels/.rels": f'<Relationships xmlns="{package}/relationships"><Relationship Id="r1" '
        f'Type="{office}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/workbook.xml": f'<workbook xmlns="{main}" xmlns:r="{office}"><sheets>'
        '<sheet name="S" sheetId="1" r:id="r1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{package}/relationships">'
        f'<Relationship Id="r1" Type="{office}/worksheet" Target="sheet1.xml"/></Relationships>',
        "xl/sheet1.xml": f'<worksheet xmlns="{main}"><sheetData>{body}</sheetData></worksheet>',
    }
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, '<?xml version="1.0" encoding="UTF-8"?>' + content)
    return path


def summary(
    sample_id: str | int, value: object = None, *, epoch: int = 1, **fields: object
) -> dict[str, object]:
    """Return a sample's summary as inspect writes it."""
    scores = {} if value is None else {"scores": {"match": {"value": value}}}
    return {"id": sample_id, "epoch": epoch, "uuid": f"u{sample_id}-{epoch}", **scores, **fields}


def write_inspect(
    path: Path,
    summaries: Sequence[Mapping[str, object]],
    *,
    finished: bool = True,
    directory: bool = True,
    **spec: object,
) -> Path:
    """Write an inspect log, or the journal of an unfinished one."""
    written = {
        "eval_id": path.stem,
        "task_id": path.stem,
        "task": "arith",
        "model": "openai/gpt-4o",
        "created": "2026-01-01T00:00:00+00:00",
        "dataset": {"sample_ids": sorted({str(item["id"]) for item in summaries})},
        "config": {"epochs": 1},
        "metadata": {},
        **spec,
    }
    header = {"version": 2, "status": "success", "eval": written, "plan": {}}
    start = ("_journal/start.json", _packed({"version": 2, "eval": written, "plan": {}}))
    half = len(summaries) // 2
    journal = [
        ("_journal/summaries/1.json", _packed(summaries[:half])),
        ("_journal/summaries/2.json", _packed(summaries[half:])),
    ]
    ending = [("summaries.json", _packed(summaries)), ("header.json", _packed(header))]
    path.parent.mkdir(parents=True, exist_ok=True)
    return write_log(path, start, *journal, *(ending if finished else []), directory=directory)


def _packed(value: object) -> bytes:
    return json.dumps(value).encode("utf-8")
