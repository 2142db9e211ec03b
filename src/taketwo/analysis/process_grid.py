"""Arms that form a grid, backbones by frameworks: a metric in every cell, changes, macro-averages.

A hole is a hole and never 0: a combination that was not run, or that nobody judged, has no value, and
a row with a hole is in no average, so that all columns are averaged over the same rows.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, cast

import polars as pl

from taketwo.analysis.dominant_tags import dominant_of, in_order_of_frequency, tag_rates
from taketwo.analysis.milestone_rates import milestone_counts, milestone_kinds
from taketwo.analysis.process import arms_in
from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.rule import Metric
from taketwo.outcomes.missing import with_causes
from taketwo.outcomes.table import Outcomes

__all__ = [
    "ArmGrid",
    "AveragedRates",
    "GridCell",
    "MeasureGrid",
    "TagGrid",
    "arm_grid",
    "measure_grid",
    "milestone_grid",
    "tag_grid",
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
    """

    value: float | None
    n: int
    planned: int
    hole: Hole | None = None
    change: float | None = None
    paired: int = 0


@dataclass(frozen=True, kw_only=True)
class MeasureGrid:
    """A metric over a grid, and the unweighted means of the columns over the `averaged` rows.

    Those are the rows with a value in every column; `left_out` are the others.
    """

    metric: Metric
    grid: ArmGrid
    cells: Mapping[tuple[str, str], GridCell]
    averaged: tuple[str, ...]
    left_out: tuple[str, ...]
    averages: Mapping[str, float | None]
    changes: Mapping[str, float | None]


@dataclass(frozen=True, kw_only=True)
class AveragedRates:
    """Rates of several things by column, each the unweighted mean over the rows named in `averaged`.

    `rows` says over how many rows the rates of each thing are; None without such a row.
    """

    grid: ArmGrid
    names: tuple[str, ...]
    rates: Mapping[tuple[str, str], float | None]
    rows: Mapping[str, int]
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TagGrid:
    """Failure tags per 100 judged trajectories by column, and the dominant tags of each column."""

    tags: AveragedRates
    dominant: Mapping[str, tuple[str, ...]]
    by_arm: Mapping[tuple[str, str], tuple[str, ...]]


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


def measure_grid(outcomes: Outcomes, grid: ArmGrid, metric: Metric) -> MeasureGrid:
    """Return a metric over the grid (AgentVidBench, arXiv 2609.21386, Tables 1 and 17).

    The mean of a cell is over all its questions and executions that have the metric. A change is
    the mean over the questions that both arms have, each averaged over its arm's executions, so that
    a judgement that failed on one side does not pass for an effect; where nothing is missing it is
    the difference of the two means.
    """
    frame = with_causes(outcomes.frame)
    by_arm = {arm: frame.filter(pl.col("arm") == arm) for arm in grid.arms.values()}
    cells = {
        (row, column): _cell(by_arm, grid, metric, row, column)
        for row, column in product(grid.rows, grid.columns)
    }
    whole = [row for row in grid.rows if all(cells[row, c].value is not None for c in grid.columns)]
    return MeasureGrid(
        metric=metric,
        grid=grid,
        cells=cells,
        averaged=tuple(whole),
        left_out=tuple(row for row in grid.rows if row not in whole),
        averages={c: _mean([cells[row, c].value for row in whole]) for c in grid.columns},
        changes={c: _mean([cells[row, c].change for row in whole]) for c in grid.columns},
    )


def _cell(
    by_arm: Mapping[str, pl.DataFrame], grid: ArmGrid, metric: Metric, row: str, column: str
) -> GridCell:
    arm = grid.arms.get((row, column))
    if arm is None:
        return GridCell(value=None, n=0, planned=0, hole="not run")
    cells = by_arm[arm]
    n = cells.height - cells[metric].null_count()
    if not n:
        is_idle = bool((cells["run_status"].fill_null("not_run") == "not_run").all())
        hole = "not run" if is_idle else "not measured"
        return GridCell(value=None, n=0, planned=cells.height, hole=hole)
    change, paired = None, 0
    other = None if grid.reference is None else grid.arms.get((row, grid.reference))
    if other is not None and column != grid.reference:
        change, paired = _change(cells, by_arm[other], metric)
    return GridCell(
        value=cast("float", cells[metric].mean()),
        n=n,
        planned=cells.height,
        change=change,
        paired=paired,
    )


def _change(
    cells: pl.DataFrame, reference: pl.DataFrame, metric: Metric
) -> tuple[float | None, int]:
    sides = [
        side.group_by("question_id").agg(pl.col(metric).mean()).drop_nulls()
        for side in (cells, reference)
    ]
    both = sides[0].join(sides[1], on="question_id", suffix="_reference")
    difference = (both[metric] - both[f"{metric}_reference"]).mean()
    return cast("float | None", difference), both.height


def _mean(values: Sequence[float | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known and len(known) == len(values) else None


def tag_grid(outcomes: Outcomes, grid: ArmGrid) -> TagGrid:
    """Return failure tags per 100 judged trajectories, averaged over the rows (its Table 18)."""
    rates = tag_rates(outcomes, tuple(grid.arms.values()))
    found: dict[str, dict[tuple[str, str], float | None]] = {
        tag: {place: rates.per_100(tag, arm) for place, arm in grid.arms.items()}
        for tag in rates.tags
    }
    averaged = _averaged(grid, found)
    by_column = {
        tag: [averaged.rates[tag, column] for column in grid.columns] for tag in rates.tags
    }
    ordered = AveragedRates(
        grid=grid,
        names=in_order_of_frequency(by_column),
        rates=averaged.rates,
        rows=averaged.rows,
        left_out=averaged.left_out,
    )
    return TagGrid(
        tags=ordered,
        dominant={
            column: dominant_of({tag: averaged.rates[tag, column] for tag in ordered.names})
            for column in grid.columns
        },
        by_arm={place: rates.dominant(arm) for place, arm in grid.arms.items()},
    )


def milestone_grid(outcomes: Outcomes, grid: ArmGrid) -> AveragedRates:
    """Return the milestones reached by type, pooled in an arm, averaged over the rows (its Table 19)."""
    counts = milestone_counts(outcomes, tuple(grid.arms.values()))
    kinds = milestone_kinds(counts.values())
    return _averaged(
        grid,
        {
            kind: {
                place: counts[arm][kind].rate if kind in counts[arm] else None
                for place, arm in grid.arms.items()
            }
            for kind in kinds
        },
    )


def _averaged(
    grid: ArmGrid, found: Mapping[str, Mapping[tuple[str, str], float | None]]
) -> AveragedRates:
    rates: dict[tuple[str, str], float | None] = {}
    rows: dict[str, int] = {}
    whole: dict[str, list[str]] = {}
    for name, by_place in found.items():
        whole[name] = [
            row
            for row in grid.rows
            if all(by_place.get((row, column)) is not None for column in grid.columns)
        ]
        rows[name] = len(whole[name])
        for column in grid.columns:
            rates[name, column] = _mean([by_place[row, column] for row in whole[name]])
    never = [row for row in grid.rows if all(row not in kept for kept in whole.values())]
    return AveragedRates(
        grid=grid, names=tuple(found), rates=rates, rows=rows, left_out=tuple(never)
    )
