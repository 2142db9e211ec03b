"""Arms that form a grid, backbones by frameworks: a metric in every cell, changes, macro-averages.

A hole is a hole and never 0: a combination that was not run, or that nobody judged, has no value, and
a row with a hole is in no average, so that all columns are averaged over the same rows.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, cast

import numpy as np
import polars as pl

from taketwo.analysis.effects import Interval
from taketwo.analysis.process import arms_in, measured
from taketwo.analysis.unit_intervals import Drawing, Parts, mean_interval, mean_of_ratios, units_of
from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.rule import MOST, Metric
from taketwo.outcomes.missing import with_causes
from taketwo.outcomes.table import Outcomes

__all__ = [
    "ArmGrid",
    "GridCell",
    "MeasureGrid",
    "arm_grid",
    "measure_grid",
]

Hole = Literal["not run", "not measured"]

_COLUMN_FACTORS = ("framework", "agent", "method", "setting")
_SINGLE_TURN = ("singleturn", "single")


@dataclass(frozen=True, kw_only=True)
class ArmGrid:
    """Which arm stands where: `arms` by row and column.

    Columns are the levels of one factor, rows the settings of all others that vary by themselves.
    `reference` is the column that changes are against, the first one; None where no column is one.
    `left_out` are arms that have no place in the grid.
    """

    columns_factor: str
    rows_factors: tuple[str, ...]
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    arms: Mapping[tuple[str, str], str]
    reference: str | None
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class GridCell:
    """A mean over the `n` of `planned` cells of an arm that have the metric, or why there is none.

    `change` is against the reference column of the row, on the `paired` questions that both have.
    Intervals draw whole questions (or videos), with all their executions, of this cell alone.
    """

    value: float | None
    n: int
    planned: int
    hole: Hole | None = None
    interval: Interval | None = None
    change: float | None = None
    change_interval: Interval | None = None
    paired: int = 0


@dataclass(frozen=True, kw_only=True)
class MeasureGrid:
    """A metric over a grid, and the unweighted means of the columns over the `averaged` rows.

    Those are the rows with a value in every column; `left_out` are the others. The intervals of the
    means draw each question for all rows at once: they say how far the means would move with other
    questions, not with other rows.
    """

    metric: Metric
    grid: ArmGrid
    cells: Mapping[tuple[str, str], GridCell]
    averaged: tuple[str, ...]
    left_out: tuple[str, ...]
    averages: Mapping[str, float | None]
    changes: Mapping[str, float | None]
    average_intervals: Mapping[str, Interval | None]
    change_intervals: Mapping[str, Interval | None]


def arm_grid(
    outcomes: Outcomes, *, columns: str | None = None, reference: str | None = None
) -> ArmGrid | None:
    """Return the grid that the arms form by their factors, None where they form none.

    Parameters
    ----------
    columns
        The factor whose levels are the columns. By default the one named framework, agent, method
        or setting; without one, the factor with fewer levels where there are two.
    reference
        The column that changes are against. By default the one that holds the baselines of all
        other arms, or the single-turn one.

    Raises
    ------
    UnknownName
        If no arm has the factor, or it has no such level.
    InvalidResults
        If two arms have the same place, or an arm has several sets of factors.
    """
    factors = _factors(outcomes)
    shared = [
        name for name in _names(factors) if all(name in levels for levels in factors.values())
    ]
    varying = [name for name in shared if len({levels[name] for levels in factors.values()}) > 1]
    if columns is not None and columns not in varying:
        raise UnknownName.among("factor of the arms with several levels", columns, varying)
    across = columns or _column_factor(varying, factors)
    if across is None:
        return None
    down = [name for name in varying if name != across and not _follows(name, across, factors)]
    if not down:
        return None
    arms: dict[tuple[str, str], str] = {}
    for arm, levels in factors.items():
        place = (", ".join(_labelled(name, levels[name], down) for name in down), levels[across])
        if place in arms:
            raise InvalidResults(
                f"arms {arms[place]!r} and {arm!r} have the same place in the grid, {place[0]!r} by "
                f"{place[1]!r}; give them a factor that tells them apart"
            )
        arms[place] = arm
    levels = list(dict.fromkeys(column for _, column in arms))
    first = _reference(outcomes, arms, levels) if reference is None else reference
    if first is not None and first not in levels:
        raise UnknownName.among(f"level of {across!r}", first, levels)
    ordered = levels if first is None else [first, *(name for name in levels if name != first)]
    return ArmGrid(
        columns_factor=across,
        rows_factors=tuple(down),
        rows=tuple(dict.fromkeys(row for row, _ in arms)),
        columns=tuple(ordered),
        arms=arms,
        reference=first,
        left_out=tuple(arm for arm in arms_in(outcomes) if arm not in factors),
    )


def _factors(outcomes: Outcomes) -> dict[str, dict[str, str]]:
    """Return the factors of the arms that have any."""
    found: dict[str, dict[str, str]] = {}
    pairs = outcomes.frame.select("arm", "factors").drop_nulls().unique(maintain_order=True)
    for arm, text in pairs.iter_rows():
        levels = {k: str(v) for k, v in cast("dict[str, object]", json.loads(text)).items()}
        if found.setdefault(arm, levels) != levels:
            raise InvalidResults(f"arm {arm!r} has more than one set of factors")
    return {arm: levels for arm, levels in found.items() if levels}


def _names(factors: Mapping[str, Mapping[str, str]]) -> list[str]:
    return list(dict.fromkeys(name for levels in factors.values() for name in levels))


def _column_factor(varying: Sequence[str], factors: Mapping[str, Mapping[str, str]]) -> str | None:
    for name in _COLUMN_FACTORS:
        if name in varying:
            return name
    if len(varying) != 2:
        return None
    return min(varying, key=lambda name: len({levels[name] for levels in factors.values()}))


def _follows(name: str, other: str, factors: Mapping[str, Mapping[str, str]]) -> bool:
    """Return whether the level of one factor is given by that of another: it makes no rows."""
    pairs = {(levels[other], levels[name]) for levels in factors.values()}
    return len(pairs) == len({first for first, _ in pairs})


def _labelled(name: str, level: str, down: Sequence[str]) -> str:
    return level if name == down[0] else f"{name} {level}"


def _reference(
    outcomes: Outcomes, arms: Mapping[tuple[str, str], str], columns: Sequence[str]
) -> str | None:
    baselines = set(outcomes.frame["baseline"].drop_nulls().to_list())
    holding = {column for (_, column), arm in arms.items() if arm in baselines}
    if len(holding) == 1:
        return holding.pop()
    plain = {column: "".join(c for c in column.lower() if c.isalnum()) for column in columns}
    return next((column for column in columns if plain[column] in _SINGLE_TURN), None)


def measure_grid(
    outcomes: Outcomes, grid: ArmGrid, metric: Metric, drawing: Drawing | None = None
) -> MeasureGrid:
    """Return a metric over the grid (AgentVidBench, arXiv 2609.21386, Tables 1 and 17).

    The mean of a cell is over all its questions and executions that have the metric. A change is
    the mean over the questions that both arms have, each averaged over its arm's executions, so that
    a judgement that failed on one side does not pass for an effect; where nothing is missing it is
    the difference of the two means.
    """
    frame = with_causes(outcomes.frame)
    how = drawing or Drawing()
    found = _Filled(grid=grid, metric=metric, drawing=how, frame=frame)
    places = list(product(grid.rows, grid.columns))
    cells = {place: found.cell(place) for place in places}
    whole = [row for row in grid.rows if all(cells[row, c].value is not None for c in grid.columns)]
    most = MOST.get(metric, math.inf)
    units = units_of(frame, how.by)
    averages = {c: _mean([cells[row, c].value for row in whole]) for c in grid.columns}
    changes = {c: _mean([cells[row, c].change for row in whole]) for c in grid.columns}
    return MeasureGrid(
        metric=metric,
        grid=grid,
        cells=cells,
        averaged=tuple(whole),
        left_out=tuple(row for row in grid.rows if row not in whole),
        averages=averages,
        changes=changes,
        average_intervals={
            c: None
            if averages[c] is None
            else mean_of_ratios([found.sums((row, c)) for row in whole], units, how, most=most)
            for c in grid.columns
        },
        change_intervals={
            c: None
            if changes[c] is None
            else mean_of_ratios(
                [found.differences((row, c)) for row in whole],
                units,
                how,
                lowest=-most,
                most=most,
            )
            for c in grid.columns
        },
    )


@dataclass(frozen=True, kw_only=True)
class _Filled:
    """A metric at the places of a grid."""

    grid: ArmGrid
    metric: Metric
    drawing: Drawing
    frame: pl.DataFrame

    def cell(self, place: tuple[str, str]) -> GridCell:
        if place not in self.grid.arms:
            return GridCell(value=None, n=0, planned=0, hole="not run")
        cells = self._cells(place)
        found = measured(cells, (self.metric,), self.drawing)[self.metric]
        if found.value is None:
            is_idle = bool((cells["run_status"].fill_null("not_run") == "not_run").all())
            hole = "not run" if is_idle else "not measured"
            return GridCell(value=None, n=0, planned=cells.height, hole=hole)
        differences = self.differences(place)
        values = np.array([value for value, _ in differences.values()])
        units = units_of(self.frame, self.drawing.by)
        most = MOST.get(self.metric, math.inf)
        return GridCell(
            value=found.value,
            n=found.n,
            planned=found.planned,
            interval=found.interval,
            change=float(values.mean()) if differences else None,
            change_interval=mean_interval(
                values, [units[name] for name in differences], self.drawing, lowest=-most, most=most
            ),
            paired=len(differences),
        )

    def sums(self, place: tuple[str, str]) -> Parts:
        """Return the sum and the number of the cells of each question that have the metric."""
        return {name: (total, n) for name, (total, n) in self._by_question(place).items() if n}

    def differences(self, place: tuple[str, str]) -> Parts:
        """Return the change of each question that both have; none in the column of reference itself."""
        row, column = place
        reference = self.grid.reference
        if reference is None or column == reference:
            return {}
        here, there = self.sums(place), self.sums((row, reference))
        return {
            name: (here[name][0] / here[name][1] - there[name][0] / there[name][1], 1.0)
            for name in sorted(here.keys() & there.keys())
        }

    def _cells(self, place: tuple[str, str]) -> pl.DataFrame:
        return self.frame.filter(pl.col("arm") == self.grid.arms[place])

    def _by_question(self, place: tuple[str, str]) -> dict[str, tuple[float, float]]:
        if place not in self.grid.arms:
            return {}
        values = pl.col(self.metric)
        grouped = (
            self
            ._cells(place)
            .group_by("question_id")
            .agg(
                values.sum().cast(pl.Float64).alias("sum"),
                values.count().cast(pl.Float64).alias("n"),
            )
        )
        return {name: (total, n) for name, total, n in grouped.sort("question_id").iter_rows()}


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None
