"""What tokens bought, and what shared indices cost, as tables."""

from __future__ import annotations

from typing import cast

import polars as pl

from taketwo.analysis.efficiency import Efficiency, efficiencies
from taketwo.analysis.number_text import decimal_text, significant_decimals
from taketwo.outcomes.table import Outcomes
from taketwo.report.numbers import (
    NOT_MEASURED,
    UNDEFINED,
    count,
    dollars,
    level,
    of_planned,
    seconds,
)
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["efficiency_table", "index_table"]

_INDEX = (
    "index_tokens",
    "index_cost_usd",
    "index_latency_s",
    "index_model_calls",
    "index_frames",
)


def efficiency_table(outcomes: Outcomes) -> Table | None:
    """Return accuracy per million tokens of each arm and execution, None where no tokens are known."""
    found = efficiencies(outcomes)
    if all(item.tokens is None for item in found):
        return None
    return Table(
        name="efficiency",
        caption="Accuracy per million tokens of a whole run",
        columns=(
            Column(heading="Execution, arm"),
            Column(heading="Accuracy", is_number=True),
            Column(heading="Tokens, million", is_number=True),
            Column(heading="Tokens per question", is_number=True),
            Column(heading="% per million tokens", is_number=True),
        ),
        rows=rows_of([_efficiency_row(item) for item in found]),
        note=(
            "Tokens are input and output of all roles of the agent, over all cells whose video was "
            "there; tokens of judges are no part of them. Where those of one cell are not known the "
            "run has no efficiency. It falls with the number of questions: compare runs over the "
            "same questions only."
        ),
        records=tuple(_efficiency_record(item) for item in found),
    )


def _efficiency_row(item: Efficiency) -> list[str | Cell]:
    unknown = Cell(text=NOT_MEASURED, tone="quiet")
    return [
        f"K{item.execution} {item.arm}",
        Cell(
            text=level("accuracy", item.accuracy),
            detail="" if item.scored == item.cells else of_planned(item.scored, item.cells),
        ),
        unknown if item.tokens is None else _millions(item.tokens),
        unknown if item.per_question is None else count(round(item.per_question)),
        Cell(text=UNDEFINED, detail=item.reason or "", tone="quiet")
        if item.efficiency is None
        else f"{item.efficiency:,.2f} %",
    ]


def _millions(tokens: float) -> str:
    millions = tokens / 1e6
    return decimal_text(millions, max(2, significant_decimals(millions)))


def _efficiency_record(item: Efficiency) -> Record:
    return {
        "arm": item.arm,
        "execution": item.execution,
        "cells": item.cells,
        "scored": item.scored,
        "accuracy": item.accuracy,
        "tokens": item.tokens,
        "tokens_per_question": item.per_question,
        "percent_per_million_tokens": item.efficiency,
        "reason": item.reason,
    }


def index_table(outcomes: Outcomes) -> Table | None:
    """Return what the indices of the videos cost each arm, None where no cell worked with one."""
    grouped = (
        outcomes.frame
        .filter(pl.any_horizontal(pl.col(name).is_not_null() for name in _INDEX))
        .group_by("execution", "arm")
        .agg(
            pl.len().alias("cells"),
            *(pl.when(pl.col(n).count() > 0).then(pl.col(n).sum()).alias(n) for n in _INDEX),
            *(pl.col(n).count().alias(f"n_{n}") for n in _INDEX),
        )
        .sort("execution", "arm")
    )
    if grouped.is_empty():
        return None
    rows: list[list[str | Cell]] = []
    for row in grouped.iter_rows(named=True):
        cells = int(row["cells"])
        used = {name: cast("float | None", row[name]) for name in _INDEX}
        texts = {
            name: dollars(value)
            if name == "index_cost_usd"
            else seconds(value)
            if name == "index_latency_s"
            else count(None if value is None else round(value))
            for name, value in used.items()
        }
        rows.append([
            f"K{row['execution']} {row['arm']}",
            count(cells),
            *(_sum(texts[name], int(row[f"n_{name}"]), cells) for name in _INDEX),
        ])
    return Table(
        name="indices",
        caption="What making the indices of the videos cost",
        columns=(
            Column(heading="Execution, arm"),
            *(
                Column(heading=heading, is_number=True)
                for heading in ("Cells", "Tokens", "Cost", "Self-timed", "Model calls", "Frames")
            ),
        ),
        rows=rows_of(rows),
        note=(
            "Sums of the shares of the cells that worked with an index, which is divided equally "
            "over the planned questions on its video. Whether the shares are part of what the arm "
            "used is said by its agent's settings."
        ),
        records=tuple(grouped.select("execution", "arm", "cells", *_INDEX).to_dicts()),
    )


def _sum(text: str, known: int, cells: int) -> Cell:
    if known == 0:
        return Cell(text=NOT_MEASURED, tone="quiet")
    return Cell(text=text, detail="" if known == cells else f"in {of_planned(known, cells)} cells")
