"""Who was compared, out of how many, and what the failed cells could have changed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from taketwo.analysis.comparison import MetricMean
from taketwo.analysis.effects import Bounds
from taketwo.analysis.population import CellCount, ClusterAccount, LossPattern, Population
from taketwo.analysis.subgroups import Factors, shares_of
from taketwo.executions.rule import METRICS, Rule
from taketwo.outcomes.pairing import LossStep, PairedOutcomes

__all__ = [
    "cell_counts",
    "clusters_of",
    "effect_bounds",
    "means_of",
    "patterns_of",
    "population_of",
    "shift_bounds",
]


def population_of(
    paired: PairedOutcomes, frame: pl.DataFrame, rule: Rule, factors: Factors
) -> Population:
    """Return the account of the population: statuses, losses, patterns, clusters and subgroups."""
    matched: NDArray[np.bool_] = np.logical_and.reduce(paired.population, axis=1)
    total = len(paired.question_ids)
    return Population(
        rule=rule.population,
        missing=paired.missing,
        n_union=total,
        n_matched=int(matched.sum()),
        matched_share=float(matched.sum()) / total,
        losses=paired.steps,
        cells=cell_counts(paired, frame),
        clusters=clusters_of(paired.question_ids, paired.video_ids, _used(paired, matched), rule),
        patterns=patterns_of(paired.steps),
        subgroups=shares_of(factors, matched),
    )


def _used(paired: PairedOutcomes, matched: NDArray[np.bool_]) -> NDArray[np.bool_]:
    return matched if matched.any() else np.logical_or.reduce(paired.population, axis=1)


def cell_counts(paired: PairedOutcomes, frame: pl.DataFrame) -> tuple[CellCount, ...]:
    """Return the denominators of every arm in every execution."""
    return tuple(
        _cell_count(paired, frame, arm, execution)
        for execution in range(len(paired.executions))
        for arm in range(len(paired.arms))
    )


def patterns_of(steps: Sequence[LossStep]) -> tuple[LossPattern, ...]:
    """Return the lost questions grouped by the cells that cost them, the most frequent group first."""
    groups: dict[tuple[str, ...], list[str]] = {}
    for step in steps:
        for loss in step.lost:
            groups.setdefault(loss.cells, []).append(loss.question_id)
    ordered = sorted(groups.items(), key=lambda item: (-len(item[1]), item[0]))
    return tuple(
        LossPattern(cells=cells, n=len(ids), question_ids=tuple(ids)) for cells, ids in ordered
    )


def _cell_count(paired: PairedOutcomes, frame: pl.DataFrame, arm: int, execution: int) -> CellCount:
    rows = frame.filter(
        (pl.col("arm") == paired.arms[arm]) & (pl.col("execution") == paired.executions[execution])
    )
    there = (pl.col("availability") == "available").fill_null(value=False)
    state = pl.col("availability").fill_null("unknown")
    gone = pl.when(state == "stopped").then(state).otherwise(pl.lit("video ") + state)
    statuses = rows.select(
        run=pl.when(there).then(pl.col("run_status").fill_null("not_run")).otherwise(gone),
        score=pl.when(there).then(pl.col("score_status").fill_null("not_judged")).otherwise(gone),
    )
    present = paired.present[:, arm, execution]
    return CellCount(
        arm=paired.arms[arm],
        execution=paired.executions[execution],
        n_planned=rows.height,
        n_present=int(present.sum()),
        n_scored=int(np.isfinite(paired.observed[:, arm, execution]).sum()),
        n_failed=int(paired.failed[:, arm, execution].sum()),
        run_statuses=_counted(statuses["run"]),
        score_statuses=_counted(statuses["score"]),
        forced=int(rows["forced"].fill_null(value=False).sum()),
        worst_case=_cell_bounds(paired, arm, execution),
    )


def _counted(statuses: pl.Series) -> dict[str, int]:
    return dict(sorted(Counter(map(str, statuses.to_list())).items()))


def clusters_of(
    question_ids: Sequence[str], video_ids: Sequence[str], used: NDArray[np.bool_], rule: Rule
) -> ClusterAccount:
    """Return how the used questions fall into clusters by the rule."""
    names = video_ids if rule.cluster == "video" else question_ids
    sizes = Counter(name for name, kept in zip(names, used.tolist(), strict=True) if kept)
    counts, total = list(sizes.values()), sum(sizes.values())
    return ClusterAccount(
        by=rule.cluster,
        n=len(counts),
        smallest=min(counts),
        mean_size=total / len(counts),
        largest=max(counts),
        largest_share=max(counts) / total,
    )


def means_of(paired: PairedOutcomes) -> tuple[MetricMean, ...]:
    """Return the mean of every metric over the population, by arm and execution."""
    return tuple(
        _mean(paired, arm, execution, index)
        for index in range(len(METRICS))
        for execution in range(len(paired.executions))
        for arm in range(len(paired.arms))
    )


def _mean(paired: PairedOutcomes, arm: int, execution: int, metric: int) -> MetricMean:
    cells = paired.values[METRICS[metric]][paired.population[:, execution], arm, execution]
    known = cells[np.isfinite(cells)]
    return MetricMean(
        arm=paired.arms[arm],
        execution=paired.executions[execution],
        metric=METRICS[metric],
        n=len(known),
        mean=float(known.mean()) if len(known) else None,
    )


def _extremes(
    paired: PairedOutcomes, arm: int, execution: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the accuracy of every question with failed cells as wrong, and as right."""
    cells, failed = paired.observed[:, arm, execution], paired.failed[:, arm, execution]
    return np.where(failed, 0.0, cells), np.where(failed, 1.0, cells)


def _cell_bounds(paired: PairedOutcomes, arm: int, execution: int) -> Bounds | None:
    counted = paired.eligible[:, execution]
    if not paired.is_judged or not counted.any():
        return None
    worst, best = _extremes(paired, arm, execution)
    return Bounds(
        low=float(worst[counted].mean()),
        high=float(best[counted].mean()),
        n=int(counted.sum()),
        n_failed=int(paired.failed[counted, arm, execution].sum()),
    )


def effect_bounds(paired: PairedOutcomes, method: str, execution: int) -> Bounds | None:
    """Return what the accuracy effect could be with every failed cell at its worst and best.

    None where no cell of the two arms failed in that execution (`execution` is a position).
    """
    counted = paired.eligible[:, execution]
    return _bounds(*_effect_extremes(paired, method, execution), counted, _failures(
        paired, method, (execution,), counted
    ))  # fmt: skip


def shift_bounds(paired: PairedOutcomes, method: str, earlier: int, later: int) -> Bounds | None:
    """Return what the accuracy shift could be, as `effect_bounds`; arguments are positions."""
    counted = paired.eligible[:, earlier] & paired.eligible[:, later]
    low, high = _effect_extremes(paired, method, earlier)
    later_low, later_high = _effect_extremes(paired, method, later)
    n_failed = _failures(paired, method, (earlier, later), counted)
    return _bounds(low - later_high, high - later_low, counted, n_failed)


def _effect_extremes(
    paired: PairedOutcomes, method: str, execution: int
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    base_low, base_high = _extremes(paired, paired.arms.index(paired.baselines[method]), execution)
    low, high = _extremes(paired, paired.arms.index(method), execution)
    return low - base_high, high - base_low


def _failures(
    paired: PairedOutcomes, method: str, executions: tuple[int, ...], counted: NDArray[np.bool_]
) -> int:
    arms = (paired.arms.index(method), paired.arms.index(paired.baselines[method]))
    return sum(int(paired.failed[counted, arm, k].sum()) for arm in arms for k in executions)


def _bounds(
    low: NDArray[np.float64],
    high: NDArray[np.float64],
    counted: NDArray[np.bool_],
    n_failed: int,
) -> Bounds | None:
    if not n_failed:
        return None
    return Bounds(
        low=float(low[counted].mean()),
        high=float(high[counted].mean()),
        n=int(counted.sum()),
        n_failed=n_failed,
    )
