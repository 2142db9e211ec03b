"""What the study spent and was allowed to spend, as tables: models, limits, costs."""

from __future__ import annotations

from typing import cast

import polars as pl

from taketwo.executions.model_spec import ModelSpec
from taketwo.executions.plan import Arm, Plan
from taketwo.outcomes.table import Outcomes
from taketwo.report.numbers import NOT_MEASURED, count, dollars, of_planned, seconds
from taketwo.report.tables import Cell, Column, Table, rows_of
from taketwo.report.untrusted import harmless

__all__ = ["costs_table", "limits_table", "models_table"]


def costs_table(outcomes: Outcomes) -> Table:
    """Return what each arm used in each execution: attempts, frames, tokens, time and money."""
    grouped = (
        outcomes.frame
        .group_by("execution", "arm")
        .agg(
            pl.len().alias("cells"),
            pl.col("attempts").sum(),
            *(
                pl.when(pl.col(name).count() > 0).then(pl.col(name).sum()).alias(name)
                for name in _USED
            ),
            *(pl.col(name).count().alias(f"n_{name}") for name in _USED),
        )
        .sort("execution", "arm")
    )
    rows: list[list[Cell | str]] = []
    for row in grouped.iter_rows(named=True):
        cells = int(row["cells"])
        used = {name: cast("float | None", row[name]) for name in _USED}
        known = {name: int(row[f"n_{name}"]) for name in _USED}
        rows.append([
            f"K{row['execution']} {row['arm']}",
            count(int(row["attempts"] or 0)),
            *(
                _sum(
                    count(None if used[name] is None else round(used[name] or 0)),
                    known[name],
                    cells,
                )
                for name in ("frames", "input_tokens", "output_tokens")
            ),
            *(
                _sum(seconds(used[name]), known[name], cells)
                for name in ("latency_s", "latency_wall_s")
            ),
            _sum(dollars(used["cost_usd"]), known["cost_usd"], cells),
        ])
    headings = (
        "Attempts",
        "Frames",
        "Input tokens",
        "Output tokens",
        "Self-timed",
        "As observed",
        "Cost",
    )
    return Table(
        name="costs",
        caption="What each arm used",
        columns=(
            Column(heading="Execution, arm"),
            *(Column(heading=heading, is_number=True) for heading in headings),
        ),
        rows=rows_of(rows),
        note=(
            "Sums over cells. Self-timed is model and tool work without waiting for slots or rate "
            "limits; frames and transcripts that another cell had made already are charged at the "
            "seconds that making them took, so self-timed can exceed what was observed, and what "
            "only repeats shared work differs little between executions. As observed includes "
            "waiting, and cells overlap. What a provider does not "
            "report is not measured, never zero."
        ),
        records=tuple(grouped.select("execution", "arm", "cells", "attempts", *_USED).to_dicts()),
    )


_USED = ("frames", "input_tokens", "output_tokens", "latency_s", "latency_wall_s", "cost_usd")


def _sum(text: str, known: int, cells: int) -> Cell:
    if known == 0:
        return Cell(text=NOT_MEASURED, tone="quiet")
    return Cell(text=text, detail="" if known == cells else f"in {of_planned(known, cells)} cells")


def models_table(plan: Plan) -> Table:
    """Return which model does what in which arm, and how it is sampled."""
    rows: list[list[str]] = []
    for arm in plan.arms:
        for role, model in arm.models.items():
            policy = arm.sampling.get(role)
            sent = {} if policy is None else policy.to_json()
            sampling = ", ".join(
                f"{name.replace('_', ' ')} {value}"
                for name, value in sent.items()
                if value is not None
            )
            rows.append([
                arm.name,
                role,
                harmless(model.name, 200),
                sampling or "provider's default",
            ])
    rows += [
        ["all", role, harmless(model.name, 200), "temperature 0.0"] for role, model in _judges(plan)
    ]
    return Table(
        name="models",
        caption="Models by arm and role",
        columns=tuple(Column(heading=h) for h in ("Arm", "Role", "Model", "Sampling")),
        rows=rows_of(rows),
    )


def _judges(plan: Plan) -> list[tuple[str, ModelSpec]]:
    """Return the judges of the plan with what they do; all are asked at temperature 0."""
    scoring, found = plan.scoring, list[tuple[str, ModelSpec]]()
    if plan.judge is not None:
        found.append(("judge", plan.judge))
    found += [("further judge", judge) for judge in scoring.judges]
    if scoring.extractor is not None:
        found.append(("extractor", scoring.extractor))
    if scoring.trajectories is not None:
        found.append(("judge of trajectories", scoring.trajectories.judge))
        found += [("further judge of trajectories", judge) for judge in scoring.trajectories.judges]
    return found


def limits_table(plan: Plan) -> Table:
    """Return the limits in force per cell, the smallest of the agent's, the study's and the arm's."""
    names = tuple(plan.arms[0].limits.to_json()) if plan.arms else ()

    def row(arm: Arm) -> list[Cell | str]:
        limits = arm.limits.to_json()
        return [
            Cell(text=arm.name, detail=f"agent {arm.agent}, {arm.role}"),
            *(
                Cell(text="none", tone="quiet") if limits[name] is None else f"{limits[name]:,g}"
                for name in names
            ),
        ]

    return Table(
        name="limits",
        caption="Limits in force for every cell",
        columns=(
            Column(heading="Arm"),
            *(
                Column(heading=_LIMITS.get(name, name.replace("_", " ")), is_number=True)
                for name in names
            ),
        ),
        rows=rows_of([row(arm) for arm in plan.arms]),
    )


_LIMITS = {"latency_s": "self-timed (s)", "cost_usd": "US dollars", "wall_s": "wall clock (s)"}
