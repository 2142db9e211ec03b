"""What judges said of the trajectories of an arm: means with their denominators.

A null is out of its mean and counted: an axis that does not apply, a judgement that failed, a
trajectory that nobody judged. None of them is ever 0.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import polars as pl

from taketwo.analysis.effects import Interval
from taketwo.analysis.subgroups import Factor, factors_of
from taketwo.analysis.unit_intervals import Drawing, mean_interval, unit_names
from taketwo.errors import InvalidResults, UnknownName
from taketwo.executions.rule import MOST, Metric
from taketwo.outcomes.missing import with_causes
from taketwo.outcomes.table import Outcomes
from taketwo.scores.process_scores import AXES

__all__ = [
    "AXIS_METRICS",
    "MEASURES",
    "ArmProfile",
    "LevelProfile",
    "Measured",
    "ProcessBreakdown",
    "arms_in",
    "is_judged",
    "measured",
    "process_breakdowns",
    "process_profiles",
    "reference_measures",
]

AXIS_METRICS = cast("tuple[Metric, ...]", tuple(AXES))
"""The five axes of the trajectory judge, 0 to 2 each."""

MEASURES: tuple[Metric, ...] = ("accuracy", "trajectory_score", "mc_rate", *AXIS_METRICS)
"""What a profile holds."""

_BROKEN_DOWN: tuple[Metric, ...] = ("accuracy", "trajectory_score", "mc_rate")
_DIFFICULTIES = ("easy", "medium", "hard", "very hard")


@dataclass(frozen=True, kw_only=True)
class Measured:
    """The mean of a metric over the `n` of `planned` cells that have it; None where none has.

    `interval` is by question or video, its ends inside what the metric can be; None where nobody
    asked for one or there is none.
    """

    value: float | None
    n: int
    planned: int
    interval: Interval | None = None


@dataclass(frozen=True, kw_only=True)
class ArmProfile:
    """What was judged of an arm in one execution, or in all of them together (`execution` None).

    Of `planned` cells `judged` have scores; of the others the judge failed on `judge_errors`.
    """

    arm: str
    execution: int | None
    planned: int
    judged: int
    judge_errors: int
    measures: Mapping[Metric, Measured]

    @property
    def not_judged(self) -> int:
        """Return the cells whose trajectory no judge was asked about, or that have none."""
        return self.planned - self.judged - self.judge_errors


@dataclass(frozen=True, kw_only=True)
class LevelProfile:
    """The `questions` of one level of a factor: means by arm, over all executions."""

    level: str
    questions: int
    arms: Mapping[str, Mapping[Metric, Measured]]


@dataclass(frozen=True, kw_only=True)
class ProcessBreakdown:
    """The profiles by a factor of the questions; where levels `overlap`, a question is under each.

    `reason` says why there are no levels, where the factor cannot be used.
    """

    factor: str
    overlap: bool
    levels: tuple[LevelProfile, ...]
    reason: str | None = None


def arms_in(outcomes: Outcomes) -> tuple[str, ...]:
    """Return the arms in the order in which the table names them."""
    return tuple(outcomes.frame["arm"].unique(maintain_order=True).to_list())


def is_judged(outcomes: Outcomes) -> bool:
    """Return whether any trajectory has been judged."""
    return bool((outcomes.frame["trajectory_status"] == "scored").any())


def process_profiles(
    outcomes: Outcomes,
    arms: Sequence[str] | None = None,
    executions: Sequence[int] | None = None,
    drawing: Drawing | None = None,
) -> tuple[ArmProfile, ...]:
    """Return the profile of every arm in every execution, and over them where there are several.

    Parameters
    ----------
    arms, executions
        Which ones, in this order; all by default.
    drawing
        How the intervals are made. Over several executions the cells of a question belong to one
        unit in either case.

    Raises
    ------
    InvalidResults
        If a cell is recorded as right although it ended without an answer.
    """
    drawing = drawing or Drawing()
    frame = with_causes(outcomes.frame)
    ks = sorted(frame["execution"].unique().to_list()) if executions is None else list(executions)
    found: list[ArmProfile] = []
    for arm in arms_in(outcomes) if arms is None else arms:
        cells = frame.filter((pl.col("arm") == arm) & pl.col("execution").is_in(ks))
        parts = [(k, cells.filter(pl.col("execution") == k)) for k in ks]
        if len(ks) > 1:
            parts.append((None, cells))
        for execution, part in parts:
            found.append(_profile(arm, execution, part, measured(part, MEASURES, drawing)))
    return tuple(found)


def _profile(
    arm: str, execution: int | None, cells: pl.DataFrame, measures: Mapping[Metric, Measured]
) -> ArmProfile:
    statuses = Counter(cells["trajectory_status"].to_list())
    return ArmProfile(
        arm=arm,
        execution=execution,
        planned=cells.height,
        judged=statuses["scored"],
        judge_errors=statuses["judge_error"],
        measures=measures,
    )


def measured(
    cells: pl.DataFrame, metrics: Sequence[Metric], drawing: Drawing
) -> Mapping[Metric, Measured]:
    """Return the means of metrics over cells, with what each is a mean of and its interval."""
    units = cells.select(unit_names(drawing.by))["unit"]
    found: dict[Metric, Measured] = {}
    for metric, mean in _means(cells, metrics).items():
        values = cells[metric].to_numpy().astype(np.float64)
        is_known = np.isfinite(values)
        found[metric] = replace(
            mean,
            interval=mean_interval(
                values[is_known],
                units.filter(pl.Series(is_known)).to_list(),
                drawing,
                most=MOST.get(metric, math.inf),
            ),
        )
    return found


def _means(cells: pl.DataFrame, metrics: Sequence[Metric]) -> dict[Metric, Measured]:
    return {
        metric: Measured(
            value=cast("float | None", cells[metric].mean()),
            n=cells.height - cells[metric].null_count(),
            planned=cells.height,
        )
        for metric in metrics
    }


def process_breakdowns(
    outcomes: Outcomes,
    factors: Sequence[str] = ("difficulty", "capability", "skill"),
    arms: Sequence[str] | None = None,
    drawing: Drawing | None = None,
) -> tuple[ProcessBreakdown, ...]:
    """Return accuracy, trajectory score and MC-Rate by factors of the questions, over all executions.

    Intervals are of one level and arm, from the questions of that level alone.

    A factor that no question has, or that has one level only, is left out. One that some questions
    lack is there without levels, with the reason.
    """
    frame = with_causes(outcomes.frame)
    shown = arms_in(outcomes) if arms is None else tuple(arms)
    ids = tuple(frame["question_id"].unique().sort().to_list())
    found: list[ProcessBreakdown] = []
    for name in factors:
        try:
            factor = factors_of(frame, ids, (name,))[name]
        except UnknownName:
            continue
        except InvalidResults as error:
            found.append(ProcessBreakdown(factor=name, overlap=False, levels=(), reason=str(error)))
            continue
        if len(factor.names) > 1:
            found.append(_breakdown(frame, name, factor, shown, drawing or Drawing()))
    return tuple(found)


def _breakdown(
    frame: pl.DataFrame, name: str, factor: Factor, arms: Sequence[str], drawing: Drawing
) -> ProcessBreakdown:
    levels: list[LevelProfile] = []
    ids: list[str] = frame["question_id"].unique().sort().to_list()
    for level in sorted(factor.names, key=_rank):
        inside = [one for one, has in zip(ids, factor.has(level).tolist(), strict=True) if has]
        cells = frame.filter(pl.col("question_id").is_in(inside))
        levels.append(
            LevelProfile(
                level=level,
                questions=len(inside),
                arms={
                    arm: measured(cells.filter(pl.col("arm") == arm), _BROKEN_DOWN, drawing)
                    for arm in arms
                },
            )
        )
    return ProcessBreakdown(factor=name, overlap=factor.overlap, levels=tuple(levels))


def _rank(level: str) -> tuple[int, str]:
    """Return difficulties from easy to very hard, and everything else by name."""
    plain = level.lower().replace("_", " ").replace("-", " ")
    return (
        (_DIFFICULTIES.index(plain), "") if plain in _DIFFICULTIES else (len(_DIFFICULTIES), level)
    )


def reference_measures(references: pl.DataFrame) -> Mapping[Metric, Measured]:
    """Return the means of the curated trajectories, judged as if they were an arm's; no accuracy.

    Parameters
    ----------
    references
        One row a question: `question_id`, `trajectory_score`, `mc_rate`, the five axes, `milestones`.

    Raises
    ------
    InvalidResults
        If a column is missing.
    """
    measures = MEASURES[1:]
    absent = [name for name in (*measures, "milestones") if name not in references.columns]
    if absent:
        raise InvalidResults(f"the judged references lack the columns {', '.join(absent)}")
    return _means(references.with_columns(pl.col(m).cast(pl.Float64) for m in measures), measures)
