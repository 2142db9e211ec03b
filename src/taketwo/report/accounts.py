"""What the numbers rest on, as tables: denominators, losses, failures, references."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast, get_args

import polars as pl

from taketwo.analysis.comparison import Comparison
from taketwo.analysis.effects import Bounds
from taketwo.executions.rule import Metric
from taketwo.executions.trajectory import RunStatus
from taketwo.outcomes.table import Outcomes
from taketwo.report.numbers import (
    UNDEFINED,
    count,
    level,
    of_planned,
    percent,
)
from taketwo.report.tables import Cell, Column, Record, Table, rows_of
from taketwo.report.untrusted import harmless

__all__ = [
    "ContextNumber",
    "clusters_sentence",
    "context_table",
    "denominators_table",
    "failures_table",
    "losses_table",
]

_IDS = 20


@dataclass(frozen=True, kw_only=True)
class ContextNumber:
    """A number that helps to read a metric and is no result: chance, an upper bound."""

    label: str
    metric: Metric
    value: float
    meaning: str


def context_table(numbers: Sequence[ContextNumber]) -> Table | None:
    """Return the context numbers, None where none were given."""
    if not numbers:
        return None
    return Table(
        name="context",
        caption="To read the accuracies by",
        columns=(
            Column(heading="Reference"),
            Column(heading="Value", is_number=True),
            Column(heading="What it is"),
        ),
        rows=rows_of([
            [number.label, level(number.metric, number.value), number.meaning] for number in numbers
        ]),
        records=tuple(
            {"reference": number.label, "metric": number.metric, "value": number.value}
            for number in numbers
        ),
    )


def denominators_table(comparison: Comparison) -> Table:
    """Return planned, present, scored and failed cells by arm and execution, statuses included."""
    cells = sorted(comparison.population.cells, key=lambda cell: cell.execution)
    statuses = [
        status
        for status in cast("tuple[RunStatus, ...]", get_args(RunStatus))
        if any(cell.run_statuses.get(status, 0) for cell in cells)
    ]
    shown = [*statuses, *(["stopped"] if any("stopped" in c.run_statuses for c in cells) else [])]
    rows: list[list[Cell | str]] = []
    records: list[Record] = []
    for cell in cells:
        forced = f"{cell.forced} forced" if cell.forced else ""
        rows.append([
            f"K{cell.execution} {cell.arm}",
            of_planned(cell.n_scored, cell.n_planned),
            count(cell.n_present),
            Cell(text=count(cell.n_failed), tone="warn" if cell.n_failed else ""),
            *(
                Cell(
                    text=count(cell.run_statuses.get(status, 0)),
                    detail=forced if status == "answered" else "",
                    tone="" if cell.run_statuses.get(status, 0) else "quiet",
                )
                for status in shown
            ),
            _bounds(cell.worst_case),
        ])
        records.append({
            "arm": cell.arm,
            "execution": cell.execution,
            "n_planned": cell.n_planned,
            "n_present": cell.n_present,
            "n_scored": cell.n_scored,
            "n_failed": cell.n_failed,
            "forced": cell.forced,
            **{status: cell.run_statuses.get(status, 0) for status in shown},
            **{f"score_{name}": number for name, number in cell.score_statuses.items()},
            "accuracy_if_failed_wrong": None if cell.worst_case is None else cell.worst_case.low,
            "accuracy_if_failed_right": None if cell.worst_case is None else cell.worst_case.high,
        })
    return Table(
        name="denominators",
        caption="Scored cells out of planned ones, and how every cell ended",
        columns=(
            Column(heading="Execution, arm"),
            Column(heading="Scored / planned", is_number=True),
            Column(heading="Video present", is_number=True),
            Column(heading="Failed", is_number=True),
            *(Column(heading=status.replace("_", " "), is_number=True) for status in shown),
            Column(heading="Worst-case accuracy", is_number=True),
        ),
        rows=rows_of(rows),
        note=(
            "Abstained, unparsed and limit count as wrong answers; errors are never scored as "
            "wrong. The worst-case bounds say where the accuracy would lie if every failed cell had "
            "been wrong, or right."
            + (
                " Stopped cells were not run, because the rule let their execution stop early; "
                "they are neither failed nor counted as present."
                if "stopped" in shown
                else ""
            )
        ),
        records=tuple(records),
    )


def _bounds(bounds: Bounds | None) -> Cell:
    if bounds is None:
        return Cell(text=UNDEFINED, tone="quiet")
    if bounds.n_failed == 0:
        return Cell(text=level("accuracy", bounds.low), detail="no failed cell")
    return Cell(text=f"{level('accuracy', bounds.low)} to {level('accuracy', bounds.high)}")


def losses_table(comparison: Comparison) -> Table:
    """Return the chain from planned to compared questions, with the ids that each step lost."""
    rows: list[list[str]] = []
    records: list[Record] = []
    for step in comparison.population.losses:
        ids = [f"{loss.question_id} ({', '.join(loss.cells)})" for loss in step.lost[:_IDS]]
        more = len(step.lost) - len(ids)
        rows.append([
            step.step,
            count(step.n_before),
            count(step.n_after),
            ("; ".join(ids) + (f"; and {more:,} more" if more > 0 else "")) or "none",
        ])
        records += [
            {
                "step": step.step,
                "question_id": loss.question_id,
                "video_id": loss.video_id,
                "cells": "; ".join(loss.cells),
            }
            for loss in step.lost
        ]
    return Table(
        name="losses",
        caption="From planned to compared questions",
        columns=(
            Column(heading="Step"),
            Column(heading="Before", is_number=True),
            Column(heading="After", is_number=True),
            Column(heading="Lost questions and the cells that cost them"),
        ),
        rows=rows_of(rows),
        records=tuple(records),
    )


def clusters_sentence(comparison: Comparison) -> str:
    """Return what is compared and what the unit of resampling is."""
    population = comparison.population
    account = population.clusters
    unit = "videos" if account.by == "video" else "questions"
    each = (
        f"{account.smallest}"
        if account.smallest == account.largest
        else f"{account.smallest} to {account.largest}"
    )
    sizes = (
        f", {each} questions each, the largest holding {percent(account.largest_share)} of all"
        if account.by == "video"
        else ""
    )
    return (
        f"Compared are {population.n_matched:,} of {population.n_union:,} questions "
        f"({percent(population.matched_share)}; population: {population.rule}; failed cells: "
        f"{population.missing}) on {account.n:,} {unit}{sizes}."
    )


def failures_table(outcomes: Outcomes) -> Table | None:
    """Return the failed cells by arm, execution and cause, None where no cell failed."""
    failed = (
        outcomes.frame
        .filter(pl.col("failure").is_not_null() & (pl.col("failure") != ""))
        .filter((pl.col("availability") != "stopped").fill_null(value=True))
        .with_columns(pl.col("failure").str.slice(0, 160).alias("cause"))
        .group_by("arm", "execution", "run_status", "cause")
        .agg(pl.len().alias("cells"), pl.col("question_id").min().alias("first"))
        .sort("execution", "arm", "run_status", "cause")
    )
    if failed.is_empty():
        return None
    rows = [
        [
            f"K{row['execution']} {row['arm']}",
            str(row["run_status"]).replace("_", " "),
            harmless(str(row["cause"]), 160),
            count(int(row["cells"])),
            str(row["first"]),
        ]
        for row in failed.head(40).iter_rows(named=True)
    ]
    more = failed.height - len(rows)
    return Table(
        name="failures",
        caption="Failures by arm and cause",
        columns=(
            Column(heading="Execution, arm"),
            Column(heading="Status"),
            Column(heading="Cause"),
            Column(heading="Cells", is_number=True),
            Column(heading="First question"),
        ),
        rows=rows_of(rows),
        note=f"{more:,} further causes are in outcomes.parquet." if more > 0 else "",
    )
