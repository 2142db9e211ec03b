"""The trajectories of a study as one Parquet file: a row per cell, events as JSON."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import polars as pl

from taketwo.benchmarks.canonical import JsonValue
from taketwo.errors import InvalidResults
from taketwo.executions.log_json import encodable, plain_json
from taketwo.executions.trajectory import Trajectory
from taketwo.executions.written_table import write_table

__all__ = ["FORMAT", "read_trajectories", "write_trajectories"]

FORMAT = "taketwo.trajectories/1"

_JSON_COLUMNS = ("failure", "limits", "events", "index", "unavailable")
_LATER_COLUMNS = ("index", "unavailable")
"""Columns that tables written before them lack; absent is null."""
_SCHEMA: dict[str, type[pl.DataType]] = {
    "arm": pl.String,
    "question_id": pl.String,
    "execution": pl.Int32,
    "run_status": pl.String,
    "log": pl.String,
    "attempts": pl.Int32,
    "answer_index": pl.Int32,
    "answer_text": pl.String,
    "reasoning": pl.String,
    "forced": pl.Boolean,
    "limit": pl.String,
    "failure": pl.String,
    "started": pl.String,
    "latency_s": pl.Float64,
    "latency_wall_s": pl.Float64,
    "video_sha256": pl.String,
    "limits": pl.String,
    "events": pl.String,
    "index": pl.String,
    "unavailable": pl.String,
}


def write_trajectories(path: Path, trajectories: Sequence[Trajectory]) -> None:
    """Write one row per cell; the file appears whole or not at all.

    Raises
    ------
    HarnessError
        If it cannot be written and does not hold just these rows.
    """
    rows: list[dict[str, JsonValue]] = []
    for trajectory in trajectories:
        row = trajectory.to_json()
        for name in _JSON_COLUMNS:
            value = plain_json(row[name])
            row[name] = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        rows.append({
            name: encodable(value) if isinstance(value, str) else value
            for name, value in row.items()
        })
    frame = pl.DataFrame(rows, schema=_SCHEMA, orient="row")
    write_table(path, frame, form=FORMAT)


def read_trajectories(path: Path) -> tuple[Trajectory, ...]:
    """Read what `write_trajectories` wrote.

    Raises
    ------
    InvalidResults
        If the file is missing, no Parquet, of a newer version, or lacks a column.
    """
    try:
        found = pl.read_parquet_metadata(path).get("format")
        frame = pl.read_parquet(path, glob=False)
    except FileNotFoundError as error:
        raise InvalidResults(
            f"{path}: no trajectories here; make them with: taketwo run STUDY"
        ) from error
    except pl.exceptions.PolarsError as error:
        raise InvalidResults(f"{path}: not a readable Parquet file ({error})") from error
    match = re.fullmatch(r"taketwo\.trajectories/(\d+)", str(found))
    if match is None:
        raise InvalidResults(f"{path}: format is {found!r}, expected {FORMAT!r}")
    if int(match[1]) > 1:
        raise InvalidResults(f"{path}: written by a newer version ({found})")
    absent = [name for name in _LATER_COLUMNS if name not in frame.columns]
    frame = frame.with_columns(pl.lit("null").alias(name) for name in absent)
    missing = sorted(set(_SCHEMA) - set(frame.columns))
    if missing:
        raise InvalidResults(f"{path}: the columns {', '.join(missing)} are missing")
    trajectories: list[Trajectory] = []
    for row in frame.select(list(_SCHEMA)).iter_rows(named=True):
        record = cast("dict[str, JsonValue]", row)
        for name in _JSON_COLUMNS:
            record[name] = json.loads(cast("str", record[name]))
        trajectories.append(Trajectory.from_json(record))
    return tuple(trajectories)
