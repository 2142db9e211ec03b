"""What judging took, and judges of answers that labelled a part only, as tables."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from taketwo.report.numbers import UNDEFINED, count, dollars, percent
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["JudgeCost", "PartJudge", "costs_table", "parts_table"]


@dataclass(frozen=True, kw_only=True)
class JudgeCost:
    """What the labels in use of one judge took; `what` says of what they are.

    Tokens are None where a label does not say what it took, `usd` without a price or tokens.
    """

    judge: str
    what: str
    labels: int
    input_tokens: int | None
    output_tokens: int | None
    usd: float | None


@dataclass(frozen=True, kw_only=True)
class PartJudge:
    """A judge that stands in no table of all judges, against the one that counts, in one arm and execution.

    Of the `cells` that both labelled, 1 or more, `right` were right by this judge, `primary_right`
    by the one that counts, and `same` got one label by both.
    """

    judge: str
    primary: str
    arm: str
    execution: int
    cells: int
    right: int
    primary_right: int
    same: int


def costs_table(costs: Sequence[JudgeCost]) -> Table | None:
    """Return what the labels in use took; None where there is no label."""
    if not costs:
        return None
    rows: list[list[str | Cell]] = [
        [
            Cell(text=item.judge, detail=item.what),
            count(item.labels),
            UNDEFINED if item.input_tokens is None else count(item.input_tokens),
            UNDEFINED if item.output_tokens is None else count(item.output_tokens),
            UNDEFINED if item.usd is None else dollars(item.usd),
        ]
        for item in costs
    ]
    records: list[Record] = [
        {
            "judge": item.judge, "what": item.what, "labels": item.labels,
            "input_tokens": item.input_tokens, "output_tokens": item.output_tokens, "usd": item.usd,
        }
        for item in costs
    ]  # fmt: skip
    return Table(
        name="judge-costs",
        caption="What judging took",
        columns=_columns("Judge", "Labels", "Tokens in", "Tokens out", "Cost"),
        rows=rows_of(rows),
        note=(
            "Of the labels that this study uses, whichever study paid for them; what failed, audits of the "
            "judges, and labels that are not in use are in no number. Judging is in no cost and no limit of "
            "a cell. A dash: the provider or an older label does not say, or there is no price."
        ),
        records=tuple(records),
    )


def parts_table(parts: Sequence[PartJudge]) -> Table | None:
    """Return judges that labelled a part only beside the one that counts; None where there is none."""
    if not parts:
        return None
    rows: list[list[str | Cell]] = [
        [
            Cell(text=item.judge, detail=f"against {item.primary}"),
            Cell(text=item.arm, detail=f"K{item.execution}"),
            count(item.cells),
            percent(item.right / item.cells),
            percent(item.primary_right / item.cells),
            percent(item.same / item.cells),
        ]
        for item in parts
    ]
    records: list[Record] = [
        {
            "judge": item.judge, "primary": item.primary, "arm": item.arm,
            "execution": item.execution, "cells": item.cells, "right": item.right,
            "primary_right": item.primary_right, "same": item.same,
        }
        for item in parts
    ]  # fmt: skip
    return Table(
        name="judge-parts",
        caption="Judges that labelled a part only",
        columns=(
            Column(heading="Judge"),
            Column(heading="Arm"),
            *(
                Column(heading=text, is_number=True)
                for text in (
                    "Cells labelled by both",
                    "Accuracy by it",
                    "By the judge that counts",
                    "Same label",
                )
            ),
        ),
        rows=rows_of(rows),
        note="On the same cells. A judge that labelled no question in every cell allows no comparison of arms.",
        records=tuple(records),
    )


def _columns(first: str, *numbers: str) -> tuple[Column, ...]:
    return (Column(heading=first), *(Column(heading=text, is_number=True) for text in numbers))
