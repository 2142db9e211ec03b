"""Rates of failure tags and of milestones by column of a grid of arms, averaged over its rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from taketwo.analysis.dominant_tags import (
    dominant_of,
    in_order_of_frequency,
    tag_rates,
    tagged_cells,
)
from taketwo.analysis.effects import Interval
from taketwo.analysis.milestone_rates import (
    labelled_milestones,
    milestone_counts,
    milestone_kinds,
)
from taketwo.analysis.process_grid import ArmGrid
from taketwo.analysis.unit_intervals import Drawing, Parts, mean_of_ratios, units_of
from taketwo.outcomes.table import Outcomes

__all__ = ["AveragedRates", "TagGrid", "milestone_grid", "tag_grid"]

Place = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class AveragedRates:
    """Rates of several things by column, each the unweighted mean over the rows that have it.

    `rows` says over how many rows the rates of each thing are; the rate is None without such a row.
    `intervals` draw each question (or video) for all rows at once.
    """

    grid: ArmGrid
    names: tuple[str, ...]
    rates: Mapping[Place, float | None]
    intervals: Mapping[Place, Interval | None]
    rows: Mapping[str, int]
    left_out: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class TagGrid:
    """Failure tags per 100 judged trajectories by column, and the dominant tags of each column."""

    tags: AveragedRates
    dominant: Mapping[str, tuple[str, ...]]
    by_arm: Mapping[Place, tuple[str, ...]]


def tag_grid(outcomes: Outcomes, grid: ArmGrid, drawing: Drawing | None = None) -> TagGrid:
    """Return failure tags per 100 judged trajectories, averaged over the rows (its Table 18)."""
    rates = tag_rates(outcomes, tuple(grid.arms.values()))
    cells = tagged_cells(outcomes, tuple(grid.arms.values()))
    found: dict[str, dict[str, dict[str, tuple[float, float]]]] = {}
    for tag in rates.tags:
        by_arm = found.setdefault(tag, {})
        for cell in cells:
            parts = by_arm.setdefault(cell.arm, {})
            total, n = parts.get(cell.question, (0.0, 0.0))
            parts[cell.question] = (total + 100.0 * (cell.tags.count(tag)), n + 1)
    averaged = _averaged(outcomes, grid, found, drawing or Drawing(), most=100.0)
    by_column = {
        tag: [averaged.rates[tag, column] for column in grid.columns] for tag in rates.tags
    }
    ordered = AveragedRates(
        grid=grid,
        names=in_order_of_frequency(by_column),
        rates=averaged.rates,
        intervals=averaged.intervals,
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


def milestone_grid(
    outcomes: Outcomes, grid: ArmGrid, drawing: Drawing | None = None
) -> AveragedRates:
    """Return the milestones reached by type, pooled in an arm, averaged over the rows (its Table 19)."""
    arms = tuple(grid.arms.values())
    kinds = milestone_kinds(milestone_counts(outcomes, arms).values())
    found: dict[str, dict[str, dict[str, tuple[float, float]]]] = {kind: {} for kind in kinds}
    for item in labelled_milestones(outcomes, arms):
        parts = found[item.kind].setdefault(item.arm, {})
        total, n = parts.get(item.question, (0.0, 0.0))
        parts[item.question] = (total + item.credit, n + 1)
    return _averaged(outcomes, grid, found, drawing or Drawing(), most=1.0)


def _averaged(
    outcomes: Outcomes,
    grid: ArmGrid,
    found: Mapping[str, Mapping[str, Parts]],
    drawing: Drawing,
    *,
    most: float,
) -> AveragedRates:
    """Return the means over rows; `found` holds the parts of each ratio by name and arm."""
    units = units_of(outcomes.frame, drawing.by)
    rates: dict[Place, float | None] = {}
    intervals: dict[Place, Interval | None] = {}
    whole: dict[str, list[str]] = {}
    for name, by_arm in found.items():
        whole[name] = [
            row
            for row in grid.rows
            if all(by_arm.get(grid.arms.get((row, column), "")) for column in grid.columns)
        ]
        for column in grid.columns:
            parts = [by_arm[grid.arms[row, column]] for row in whole[name]]
            rates[name, column] = _mean_of(parts)
            intervals[name, column] = mean_of_ratios(parts, units, drawing, most=most)
    never = [row for row in grid.rows if all(row not in kept for kept in whole.values())]
    return AveragedRates(
        grid=grid,
        names=tuple(found),
        rates=rates,
        intervals=intervals,
        rows={name: len(rows) for name, rows in whole.items()},
        left_out=tuple(never),
    )


def _mean_of(parts: list[Parts]) -> float | None:
    ratios = [
        sum(total for total, _ in part.values()) / sum(n for _, n in part.values())
        for part in parts
    ]
    return sum(ratios) / len(ratios) if ratios else None
