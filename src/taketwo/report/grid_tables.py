"""Arms that form a grid, as tables: a metric by row and column, tags and milestones by column."""

from __future__ import annotations

from collections.abc import Sequence

from taketwo.analysis.effects import Interval
from taketwo.analysis.grid_rates import AveragedRates, TagGrid
from taketwo.analysis.process_grid import GridCell, MeasureGrid
from taketwo.executions.rule import Metric
from taketwo.report.numbers import (
    UNDEFINED,
    change,
    interval,
    level,
    of_planned,
    percent,
    scale_of,
)
from taketwo.report.process_intervals import ends, interval_note, interval_record, rate, rate_ends
from taketwo.report.process_tables import tied
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["dominant_table", "grid_table", "milestone_grid_table", "tag_grid_table"]


def grid_table(found: MeasureGrid) -> Table:
    """Return a metric by row and column with the change against the reference, the averages last."""
    grid, metric = found.grid, found.metric
    rows: list[list[str | Cell]] = [
        [row, *(_cell(metric, found.cells[row, column]) for column in grid.columns)]
        for row in grid.rows
    ]
    rows.append([
        Cell(text="mean over rows", detail=of_planned(len(found.averaged), len(grid.rows))),
        *(
            Cell(
                text=UNDEFINED
                if found.averages[column] is None
                else level(metric, found.averages[column]),
                detail="\n".join([
                    *ends(metric, found.average_intervals[column]),
                    *_change(metric, found.changes[column], found.change_intervals[column]),
                ]),
                tone="quiet" if found.averages[column] is None else "",
            )
            for column in grid.columns
        ),
    ])
    return Table(
        name=f"grid-{metric}",
        caption=f"{scale_of(metric).label} by {_axes(grid.rows_factors)} and {grid.columns_factor}",
        columns=(
            Column(heading=_axes(grid.rows_factors).capitalize()),
            *(Column(heading=column, is_number=True) for column in grid.columns),
        ),
        rows=rows_of(rows),
        note=_note(found),
        records=tuple(_records(found)),
    )


def _axes(names: tuple[str, ...]) -> str:
    return ", ".join(names)


def _change(metric: Metric, value: float | None, found: Interval | None) -> list[str]:
    if value is None:
        return []
    around = "" if found is None else f" {interval(metric, found.low, found.high)}"
    return [f"{change(metric, value)}{around}"]


def _cell(metric: Metric, found: GridCell) -> Cell:
    if found.value is None:
        return Cell(text=found.hole or UNDEFINED, tone="quiet")
    details = [
        *ends(metric, found.interval),
        *_change(metric, found.change, found.change_interval),
        *([f"n = {of_planned(found.n, found.planned)}"] if found.n < found.planned else []),
    ]
    return Cell(text=level(metric, found.value), detail="\n".join(details))


def _note(found: MeasureGrid) -> str:
    reference = found.grid.reference
    parts = [
        f"Below a mean: its change against {reference}, on the questions that both have."
        if reference is not None
        else "No column is a reference, so there are no changes.",
        "The last row is the unweighted mean over the rows with a value in every column.",
    ]
    if found.left_out:
        parts.append(f"Left out of it: {', '.join(found.left_out)}.")
    if found.grid.left_out:
        parts.append(f"Arms without factors, not in the table: {', '.join(found.grid.left_out)}.")
    return " ".join(parts) + _drawn_note([
        *(cell.interval for cell in found.cells.values()),
        *found.average_intervals.values(),
    ])


def _drawn_note(intervals: Sequence[Interval | None]) -> str:
    note = interval_note(intervals)
    if not note:
        return ""
    return (
        f"{note} Those of the means over rows draw a question for all rows at once: they are about "
        "other questions, not other rows."
    )


def _records(found: MeasureGrid) -> list[Record]:
    records: list[Record] = []
    for (row, column), cell in found.cells.items():
        records.append({
            "metric": found.metric,
            "row": row,
            "column": column,
            "arm": found.grid.arms.get((row, column)),
            "value": cell.value,
            "n": cell.n,
            "planned": cell.planned,
            **interval_record(cell.interval),
            "change": cell.change,
            **interval_record(cell.change_interval, "change"),
            "paired_questions": cell.paired,
            "hole": cell.hole,
        })
    averages: list[Record] = [
        {
            "metric": found.metric,
            "row": "mean over rows",
            "column": column,
            "value": found.averages[column],
            "n": len(found.averaged),
            "planned": len(found.grid.rows),
            **interval_record(found.average_intervals[column]),
            "change": found.changes[column],
            **interval_record(found.change_intervals[column], "change"),
        }
        for column in found.grid.columns
    ]
    return [*records, *averages]


def tag_grid_table(found: TagGrid) -> Table | None:
    """Return failure tags per 100 judged trajectories by column, None where no tag was given."""
    rates = found.tags
    if not rates.names:
        return None
    rows: list[list[str | Cell]] = [
        [
            tag.replace("_", " "),
            *(
                Cell(
                    text=rate(rates.rates[tag, column]),
                    detail="\n".join([
                        *rate_ends(rates.intervals[tag, column]),
                        *(["dominant"] if found.dominant[column] == (tag,) else []),
                    ]),
                )
                for column in rates.grid.columns
            ),
        ]
        for tag in rates.names
    ]
    rows.append([
        "dominant tag",
        *(tied(found.dominant[column]) for column in rates.grid.columns),
    ])
    return Table(
        name="grid-failure-tags",
        caption=f"Failure tags per 100 judged trajectories by {rates.grid.columns_factor}",
        columns=_columns("Tag", rates),
        rows=rows_of(rows),
        note=_averaged_note(rates),
        records=tuple(
            {
                "tag": tag,
                "column": column,
                "per_100": rates.rates[tag, column],
                **interval_record(rates.intervals[tag, column]),
                "rows": rates.rows[tag],
                "dominant": tag in found.dominant[column],
            }
            for tag in rates.names
            for column in rates.grid.columns
        ),
    )


def dominant_table(found: TagGrid) -> Table:
    """Return the dominant failure tag of every arm of the grid; ties are named."""
    grid = found.tags.grid
    rows: list[list[str | Cell]] = []
    for row in grid.rows:
        cells: list[str | Cell] = [row]
        for column in grid.columns:
            if (row, column) not in grid.arms:
                cells.append(Cell(text="not run", tone="quiet"))
                continue
            tags = found.by_arm[row, column]
            text = ", ".join(tag.replace("_", " ") for tag in tags)
            cells.append(Cell(text=text or UNDEFINED, tone="" if text else "quiet"))
        rows.append(cells)
    return Table(
        name="grid-dominant-tags",
        caption=f"Dominant failure tag by {_axes(grid.rows_factors)} and {grid.columns_factor}",
        columns=(
            Column(heading=_axes(grid.rows_factors).capitalize()),
            *(Column(heading=column) for column in grid.columns),
        ),
        rows=rows_of(rows),
        note=f"{UNDEFINED}: no tag was given, or nothing judged.",
    )


def milestone_grid_table(rates: AveragedRates) -> Table | None:
    """Return the milestones reached by type and column, None without milestones."""
    if not rates.names:
        return None
    return Table(
        name="grid-milestone-types",
        caption=f"Milestones reached, by type and {rates.grid.columns_factor}",
        columns=_columns("Type", rates),
        rows=rows_of([
            [
                kind.replace("_", " "),
                *(
                    Cell(
                        text=percent(rates.rates[kind, column]),
                        detail="\n".join(ends("mc_rate", rates.intervals[kind, column])),
                    )
                    for column in rates.grid.columns
                ),
            ]
            for kind in rates.names
        ]),
        note=_averaged_note(rates),
        records=tuple(
            {
                "kind": kind,
                "column": column,
                "rate": rates.rates[kind, column],
                **interval_record(rates.intervals[kind, column]),
                "rows": rates.rows[kind],
            }
            for kind in rates.names
            for column in rates.grid.columns
        ),
    )


def _columns(first: str, rates: AveragedRates) -> tuple[Column, ...]:
    return (
        Column(heading=first),
        *(Column(heading=column, is_number=True) for column in rates.grid.columns),
    )


def _averaged_note(rates: AveragedRates) -> str:
    over = sorted(set(rates.rows.values()))
    each = f"{over[0]}" if len(over) == 1 else f"{over[0]} to {over[-1]}"
    left = f" Left out: {', '.join(rates.left_out)}." if rates.left_out else ""
    return (
        f"Unweighted means over the {each} of {len(rates.grid.rows)} rows of "
        f"{_axes(rates.grid.rows_factors)} that have a judged arm in every column.{left}"
        f"{_drawn_note(list(rates.intervals.values()))}"
    )
