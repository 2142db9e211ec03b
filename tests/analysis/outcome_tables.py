"""Outcomes tables for tests of the analysis: the reconstructed paper, and small ones by hand."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import polars as pl

from taketwo.outcomes.table import COLUMNS, Outcomes

DATA = Path(__file__).parents[1] / "data"
FIVE = ("accuracy", "turns", "visible_calls", "primitive_ops", "latency_s")


def table(rows: Sequence[Mapping[str, object]]) -> Outcomes:
    """Return an outcomes table; a row gives what differs from an answered, judged cell."""
    columns: dict[str, list[object]] = {column.name: [] for column in COLUMNS}
    for row in rows:
        given = {
            "availability": "available",
            "run_status": "answered",
            "score_status": "scored",
            "baseline": None if row["arm"] == "static" else "static",
            "video_id": f"video-{row['question_id']}",
            **row,
        }
        for name, cells in columns.items():
            cells.append(given.get(name))
    schema = {column.name: column.dtype for column in COLUMNS}
    return Outcomes(pl.DataFrame(columns, schema=schema))


def grid(
    accuracy: Mapping[tuple[str, int], Sequence[float]],
    **others: Mapping[tuple[str, int], Sequence[float]],
) -> Outcomes:
    """Return a table from lists by (arm, execution), question q000 first."""
    return table([
        {
            "arm": arm,
            "execution": execution,
            "question_id": f"q{index:03d}",
            "accuracy": float(value),
            **{name: float(cells[arm, execution][index]) for name, cells in others.items()},
        }
        for (arm, execution), values in accuracy.items()
        for index, value in enumerate(values)
    ])


def paper() -> Outcomes:
    """Return the five reconstructed metrics of the REPAIR paper."""
    wide = pl.read_csv(DATA / "repair_paper_five_metrics_synthetic.csv")
    parts = [
        wide.select(
            "question_id",
            pl.col("video_id_synthetic").alias("video_id"),
            *(pl.col(f"{m}_K{k}_{arm}").cast(pl.Float64).alias(m) for m in FIVE),
        ).with_columns(
            arm=pl.lit(arm),
            execution=pl.lit(k, pl.Int32),
            baseline=pl.lit(None if arm == "static" else "static", pl.String),
            availability=pl.lit("available"),
            run_status=pl.lit("answered"),
            score_status=pl.lit("scored"),
        )
        for k in (1, 2)
        for arm in ("static", "dynamic")
    ]
    cells = pl.concat(parts)
    absent = [
        pl.lit(None, column.dtype).alias(column.name)
        for column in COLUMNS
        if column.name not in cells.columns
    ]
    return Outcomes(cells.with_columns(absent).select(column.name for column in COLUMNS))
