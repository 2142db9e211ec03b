"""The section on trajectories: what was judged, profiles, failures, milestones, grids."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from taketwo.analysis.dominant_tags import tag_intervals, tag_rates
from taketwo.analysis.grid_rates import milestone_grid, tag_grid
from taketwo.analysis.milestone_rates import (
    milestone_counts,
    milestone_intervals,
    reference_milestones,
)
from taketwo.analysis.process import (
    ArmProfile,
    Measured,
    arms_in,
    is_judged,
    process_breakdowns,
    process_profiles,
    reference_measures,
)
from taketwo.analysis.process_grid import arm_grid, measure_grid
from taketwo.analysis.unit_intervals import Drawing
from taketwo.errors import InvalidResults
from taketwo.executions.plan import Plan
from taketwo.executions.rule import Metric, Rule
from taketwo.outcomes.table import Outcomes
from taketwo.report.blocks import Block, Folded, Heading, Prose, Section
from taketwo.report.grid_tables import (
    dominant_table,
    grid_table,
    milestone_grid_table,
    tag_grid_table,
)
from taketwo.report.process_tables import (
    breakdown_table,
    milestones_table,
    profile_table,
    tags_table,
)
from taketwo.report.radar import MOST_STARS, radar_figure
from taketwo.report.untrusted import harmless

__all__ = ["process_section"]

_GRID_METRICS: tuple[Metric, ...] = ("accuracy", "trajectory_score", "mc_rate")
_MOST_COLUMNS = 12


def process_section(
    outcomes: Outcomes | None, plan: Plan | None = None, references: pl.DataFrame | None = None
) -> Section:
    """Return what judges said of the trajectories; without a block where nothing was judged.

    Parameters
    ----------
    references
        The judged curated trajectories, one row a question (`analysis.process.reference_measures`).

    Raises
    ------
    InvalidResults
        If milestones, tags or references cannot be read.
    """
    blocks: list[Block] = []
    if outcomes is not None and is_judged(outcomes):
        blocks = _blocks(outcomes, plan, references)
    return Section(anchor="trajectories", title="Trajectories", blocks=tuple(blocks))


def _blocks(outcomes: Outcomes, plan: Plan | None, references: pl.DataFrame | None) -> list[Block]:
    given = references is not None and references.height > 0
    reference = reference_measures(references) if given and references is not None else None
    labels = reference_milestones(references) if given and references is not None else None
    rule = Rule() if plan is None else plan.rule
    drawing = Drawing(by=rule.cluster, level=rule.level, seed=0 if plan is None else plan.seed)
    profiles = process_profiles(outcomes, drawing=drawing)
    blocks: list[Block] = [Prose(text=_how(plan, profiles))]
    blocks += _profiles(profiles, reference)
    tables = [
        tags_table(tag_rates(outcomes), tag_intervals(outcomes, drawing)),
        milestones_table(
            milestone_counts(outcomes), labels, milestone_intervals(outcomes, drawing)
        ),
    ]
    is_wide = len(arms_in(outcomes)) > _MOST_COLUMNS
    for table in tables:
        if table is not None:
            blocks.append(Folded(summary=table.caption, table=table) if is_wide else table)
    for found in process_breakdowns(outcomes, drawing=drawing):
        if found.reason is not None:
            blocks.append(Prose(text=f"Not broken down by {found.factor}: {found.reason}."))
        table = breakdown_table(found)
        if table is not None:
            blocks.append(Folded(summary=table.caption, table=table))
    blocks += _grids(outcomes, drawing)
    return blocks


def _how(plan: Plan | None, profiles: Sequence[ArmProfile]) -> str:
    spec = None if plan is None else plan.scoring.trajectories
    single = [p for p in profiles if p.execution is not None]
    judged, planned = sum(p.judged for p in single), sum(p.planned for p in single)
    errors, left = sum(p.judge_errors for p in single), sum(p.not_judged for p in single)
    who = (
        "A judge labelled each trajectory"
        if spec is None
        else f"{harmless(spec.judge.name, 200)} labelled each trajectory "
        f"(protocol {spec.protocol}, rubric {harmless(spec.rubric, 80)})"
    )
    return (
        f"{who} against the reference milestones of its question. Judged are {judged:,} of "
        f"{planned:,} planned trajectories; the judge failed on {errors:,}, and {left:,} were not "
        "judged. What a judge says is a model's opinion of a text: the audit of the judge says how "
        "far it can be trusted."
    )


def _profiles(
    profiles: Sequence[ArmProfile], reference: Mapping[Metric, Measured] | None
) -> list[Block]:
    overall = [profile for profile in profiles if profile.execution is None]
    single = [profile for profile in profiles if profile.execution is not None]
    shown = overall or single
    figure = radar_figure(shown, reference)
    blocks: list[Block] = [
        profile_table(shown, reference),
        *(() if figure is None else (figure,)),
    ]
    if figure is None and len(shown) > MOST_STARS:
        blocks.append(Prose(text=f"Profiles are drawn for up to {MOST_STARS} arms."))
    if overall:
        table = profile_table(
            sorted(single, key=lambda profile: profile.execution or 0),
            name="trajectories-by-execution",
            caption="Trajectories by execution and arm",
        )
        blocks.append(Folded(summary=table.caption, table=table))
    return blocks


def _grids(outcomes: Outcomes, drawing: Drawing) -> list[Block]:
    try:
        grid = arm_grid(outcomes)
    except InvalidResults as error:
        return [Prose(text=f"No grid of the arms can be shown: {error}.")]
    if grid is None:
        return []
    by = f"{', '.join(grid.rows_factors)} by {grid.columns_factor}"
    blocks: list[Block] = [Heading(text=by)]
    for metric in _GRID_METRICS:
        found = measure_grid(outcomes, grid, metric, drawing)
        if any(cell.value is not None for cell in found.cells.values()):
            blocks.append(grid_table(found))
    tags = tag_grid(outcomes, grid, drawing)
    tables = (
        tag_grid_table(tags),
        dominant_table(tags),
        milestone_grid_table(milestone_grid(outcomes, grid, drawing)),
    )
    blocks += [Folded(summary=table.caption, table=table) for table in tables if table is not None]
    return blocks
