"""Numbers and tables written as the REPAIR paper writes them.

Digits follow the paper (percentages and points with two decimals, costs with three), so that both can be
laid side by side; unrounded numbers are in the records.
"""

from __future__ import annotations

from taketwo.executions.rule import Metric
from taketwo.report.numbers import UNDEFINED
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["MAGNITUDE_ONLY", "bracket", "paper_change", "paper_table", "plain", "points"]

MAGNITUDE_ONLY = (
    "The gains calibrate magnitude only: they say nothing about whether the systems they come from "
    "would reproduce."
)
_MINUS = "\u2212"
_POINTS: tuple[Metric, ...] = ("accuracy", "mc_rate")


def paper_table(
    name: str,
    caption: str,
    headings: tuple[str, ...],
    rows: list[list[str]],
    note: str,
    records: list[Record] | tuple[Record, ...] = (),
) -> Table:
    """Return a table whose first column names the row and whose others hold numbers."""
    columns = tuple(
        Column(heading=heading, is_number=index > 0) for index, heading in enumerate(headings)
    )
    cells: list[list[str | Cell]] = [list(row) for row in rows]
    return Table(
        name=name,
        caption=caption,
        columns=columns,
        rows=rows_of(cells),
        note=note,
        records=tuple(records),
    )


def plain(value: float) -> str:
    """Return a number with two decimals."""
    return f"{value:.2f}".replace("-", _MINUS)


def points(value: float) -> str:
    """Return a share out of 1 as signed points with two decimals."""
    return f"{100 * value:+.2f}".replace("-", _MINUS)


def paper_change(metric: Metric, value: float) -> str:
    """Return a difference: points with two decimals, everything else with three."""
    return points(value) if metric in _POINTS else f"{value:+.3f}".replace("-", _MINUS)


def bracket(metric: Metric, low: float | None, high: float | None) -> str:
    """Return an interval of differences."""
    if low is None or high is None:
        return UNDEFINED
    return f"[{paper_change(metric, low)}, {paper_change(metric, high)}]"
