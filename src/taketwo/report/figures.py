"""The figures of a comparison: effects, movements of the arms, transitions, ends of the cells."""

from __future__ import annotations

from itertools import pairwise
from typing import cast, get_args

from taketwo.analysis.comparison import Comparison, MetricComparison, PairComparison
from taketwo.executions.rule import Metric
from taketwo.executions.trajectory import RunStatus
from taketwo.report.charts import (
    EffectMark,
    LevelMark,
    StatusMark,
    TransitionMark,
    decomposition_chart,
    effects_chart,
    statuses_chart,
    transitions_chart,
)
from taketwo.report.drawing import Figure
from taketwo.report.findings import kept
from taketwo.report.headlines import pair_name
from taketwo.report.numbers import change, interval, level, scale_of

__all__ = ["decomposition_figure", "effects_figure", "statuses_figure", "transitions_figure"]


def effects_figure(pair: PairComparison) -> Figure | None:
    """Return the forest plot of a comparison, None where nothing was measured."""
    marks: list[EffectMark] = []
    says: list[str] = []
    for item in pair.metrics.values():
        factor = scale_of(item.metric).factor
        for effect in item.executions:
            low, high = effect.headline.low, effect.headline.high
            marks.append(
                EffectMark(
                    panel=_panel(item, of_change=True),
                    row=f"K{effect.execution}",
                    estimate=effect.effect * factor,
                    low=None if low is None else low * factor,
                    high=None if high is None else high * factor,
                    is_supported=effect.supported,
                )
            )
            says.append(
                f"{scale_of(item.metric).label} in K{effect.execution}: "
                f"{change(item.metric, effect.effect)}, interval {interval(item.metric, low, high)}"
            )
    if not marks:
        return None
    return effects_chart(
        marks,
        name=f"effects-{pair.method}-{pair.baseline}",
        caption=(
            f"Effect of {pair_name(pair)} in each execution, with its interval. Filled: the interval "
            "excludes zero. Open: it does not. Each metric has its own scale."
        ),
        says=f"Forest plot. {'; '.join(says)}.",
    )


def decomposition_figure(pair: PairComparison) -> Figure | None:
    """Return the slopes of both arms by metric, None where there is one execution only."""
    marks: list[LevelMark] = []
    says: list[str] = []
    for item in pair.metrics.values():
        if len(item.executions) < 2:
            continue
        for arm, is_baseline in ((pair.baseline, True), (pair.method, False)):
            means = [
                effect.baseline_mean if is_baseline else effect.method_mean
                for effect in item.executions
            ]
            marks += [
                LevelMark(
                    panel=_panel(item, of_change=False),
                    arm=arm,
                    role="baseline" if is_baseline else "method",
                    execution=f"K{effect.execution}",
                    value=mean * scale_of(item.metric).factor,
                )
                for effect, mean in zip(item.executions, means, strict=True)
            ]
            path = ", ".join(level(item.metric, mean) for mean in means)
            says.append(f"{scale_of(item.metric).label} of {arm}: {path}")
    if not marks:
        return None
    return decomposition_chart(
        marks,
        name=f"arms-{pair.method}-{pair.baseline}",
        caption=(
            "Means of both arms by execution. Where the distance between the lines changes, the "
            "slopes show which arm moved. The scales do not start at zero."
        ),
        says=f"Slope charts. {'; '.join(says)}.",
    )


def transitions_figure(pair: PairComparison) -> Figure | None:
    """Return how the correctness of questions changed from execution to execution, by arm."""
    item = pair.metrics.get("accuracy")
    if item is None:
        return None
    ks = [effect.execution for effect in item.executions]
    neighbours = set(pairwise(ks))
    marks: list[TransitionMark] = []
    for move in item.movements:
        if move.gained is None or move.lost is None or (move.earlier, move.later) not in neighbours:
            continue
        kept_right, kept_wrong = kept(item, pair, move)
        label = move.arm if len(ks) == 2 else f"{move.arm} K{move.earlier}→K{move.later}"
        marks.append(
            TransitionMark(
                arm=label,
                kept_right=kept_right,
                gained=move.gained,
                lost=move.lost,
                kept_wrong=kept_wrong,
            )
        )
    if not marks:
        return None
    says = "; ".join(
        f"{mark.arm}: {mark.kept_right} right in both, {mark.gained} gained, {mark.lost} lost, "
        f"{mark.kept_wrong} wrong in both"
        for mark in marks
    )
    between = f"K{ks[0]} and K{ks[1]}" if len(ks) == 2 else "neighbouring executions"
    return transitions_chart(
        marks,
        name=f"transitions-{pair.method}-{pair.baseline}",
        caption=f"Questions by their correctness in {between}: gained is wrong, then right.",
        says=f"Stacked bars. {says}.",
    )


def statuses_figure(comparison: Comparison) -> Figure | None:
    """Return how the cells of each arm and execution ended, over all planned questions."""
    statuses = cast("tuple[RunStatus, ...]", get_args(RunStatus))
    marks = [
        StatusMark(
            row=f"K{cell.execution} {cell.arm}",
            status=status,
            cells=cell.run_statuses.get(status, 0),
        )
        for cell in sorted(comparison.population.cells, key=lambda cell: cell.execution)
        for status in statuses
    ]
    if not any(mark.cells for mark in marks):
        return None
    says = "; ".join(
        f"{mark.row}: {mark.cells} {mark.status.replace('_', ' ')}" for mark in marks if mark.cells
    )
    return statuses_chart(
        marks,
        name="statuses",
        caption="How every planned cell ended, by execution and arm.",
        says=f"Stacked bars. {says}.",
    )


def _panel(item: MetricComparison, *, of_change: bool) -> str:
    metric: Metric = item.metric
    scale = scale_of(metric)
    unit = (scale.change_unit if of_change else scale.unit).strip()
    return f"{scale.label} ({unit})" if unit else scale.label
