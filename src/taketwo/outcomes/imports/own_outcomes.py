"""Our own `outcomes.parquet`, read like anybody's results."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import cast

from taketwo.executions.rule import METRICS
from taketwo.outcomes.imports.options import ReadOptions
from taketwo.outcomes.imports.record import Status
from taketwo.outcomes.imports.row_list import RowList
from taketwo.outcomes.imports.sources import Parsed, Source
from taketwo.outcomes.table import Outcomes, read_outcomes

__all__ = ["KIND", "read_own_outcomes"]

KIND = "Take Two outcomes table"

_OF_SCORES: tuple[Status, ...] = ("ungradable", "judge_error", "not_judged")


def read_own_outcomes(sources: Sequence[Source], options: ReadOptions) -> Parsed:
    """Return the rows of outcomes tables: arms are systems, run together by execution.

    Raises
    ------
    InvalidResults
        If a file violates the declaration of the table.
    RequestError
        If an option names a column, which the table declares itself.
    """
    options.refuse(
        ("system", "execution", "question", "score", "metric", "status", "wide"), f"a {KIND}"
    )
    rows = RowList(KIND, options)
    baselines: dict[str, str] = {}
    for source in sources:
        table = read_outcomes(source.path)
        _add_table(rows, source, table)
        named = table.frame.select("arm", "baseline").drop_nulls().unique().sort("arm")
        baselines.update(dict(named.iter_rows()))
    return rows.parsed(
        [source.as_file(KIND) for source in sources],
        is_blocked=True,
        alignment_reason="arms of a study run interleaved inside one execution",
        default_cluster="the question's video",
        baselines=baselines,
    )


def _add_table(rows: RowList, source: Source, table: Outcomes) -> None:
    frame = table.frame
    others = [m for m in METRICS if m != "accuracy" and frame[m].drop_nulls().len()]
    metrics = ["accuracy", *others]
    for number, row in enumerate(frame.iter_rows(named=True), start=1):
        levels = _levels(row["attributes"])
        attributes = {"video_id": row["video_id"], **levels}
        several = {
            name: [str(level) for level in cast("list[object]", found)]
            for name, found in levels.items()
            if isinstance(found, list)
        }
        status = _status(row)
        cell = {
            "system": row["arm"],
            "execution": f"K{row['execution']}",
            "question_id": row["question_id"],
        }
        for metric in metrics:
            value = row[metric]
            if metric != "accuracy" and value is None:
                continue  # not reported; the cell's status stands in the row of its accuracy
            rows.add(
                **cell,
                metric=metric,
                value=value,
                status=status if metric == "accuracy" or status not in _OF_SCORES else "scored",
                cluster=row["video_id"],
                attributes=attributes,
                several=several,
                detail=row["failure"],
                source=source.path,
                place=f"row {number}",
            )


def _levels(written: str | None) -> dict[str, object]:
    return cast("dict[str, object]", json.loads(written)) if written else {}


def _status(row: dict[str, object]) -> Status:
    """Return the one status of a cell, out of that of its run and that of its score."""
    if row["availability"] != "available":
        return "no_video"
    run = str(row["run_status"] or "not_run")
    return cast("Status", run if run != "answered" else str(row["score_status"] or "not_judged"))
