"""The same effects and shifts by video, beside those by question."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from taketwo.analysis.effects import Effect, Interval, Shift
from taketwo.analysis.pair_values import Clusters

__all__ = ["ClusterFigures", "ClusteredEffect", "ClusteredShift", "cluster_figures"]


@dataclass(frozen=True, kw_only=True)
class ClusteredEffect:
    """An effect by CR2 over videos, and by the percentile bootstrap over videos."""

    execution: int
    low: float | None
    high: float | None
    se: float | None
    df: float | None
    percentile_low: float | None
    percentile_high: float | None


@dataclass(frozen=True, kw_only=True)
class ClusteredShift:
    """A shift by CR2 over videos with its p, and by the percentile bootstrap over videos."""

    earlier: Annotated[int, Field(alias="from")]
    later: Annotated[int, Field(alias="to")]
    low: float | None
    high: float | None
    se: float | None
    df: float | None
    p: float | None
    p_holm: float | None
    percentile_low: float | None
    percentile_high: float | None


@dataclass(frozen=True, kw_only=True)
class ClusterFigures:
    """All numbers of a metric by video.

    `df` are the smallest degrees of freedom in `executions`. `percentile_is_liberal` says that there
    are fewer than 50 videos, or one with more than a tenth of the questions, so that the percentile
    bootstrap over them is too short.
    """

    method: str
    n: int
    largest_share: float
    df: float | None
    percentile_is_liberal: bool
    executions: tuple[ClusteredEffect, ...]
    shifts: tuple[ClusteredShift, ...]
    reason: str | None = None


def cluster_figures(
    clusters: Clusters | None, effects: Sequence[Effect], shifts: Sequence[Shift]
) -> ClusterFigures | None:
    """Return the numbers by video, None where no video holds several questions."""
    if clusters is None or not clusters.hold_several:
        return None
    dfs = [effect.cr2.df for effect in effects if effect.cr2 and effect.cr2.df is not None]
    reasons = [effect.cr2.reason for effect in effects if effect.cr2 and effect.cr2.reason]
    return ClusterFigures(
        method="CR2",
        n=clusters.n,
        largest_share=clusters.largest_share,
        df=min(dfs, default=None),
        percentile_is_liberal=clusters.are_few,
        executions=tuple(
            ClusteredEffect(
                execution=effect.execution,
                low=_low(effect.cr2),
                high=_high(effect.cr2),
                se=effect.cr2 and effect.cr2.se,
                df=effect.cr2 and effect.cr2.df,
                percentile_low=_low(effect.clustered),
                percentile_high=_high(effect.clustered),
            )
            for effect in effects
        ),
        shifts=tuple(
            ClusteredShift(
                earlier=shift.earlier,
                later=shift.later,
                low=_low(shift.cr2),
                high=_high(shift.cr2),
                se=shift.cr2 and shift.cr2.se,
                df=shift.cr2 and shift.cr2.df,
                p=shift.headline_test.p,
                p_holm=shift.headline_test.p_holm,
                percentile_low=_low(shift.clustered),
                percentile_high=_high(shift.clustered),
            )
            for shift in shifts
        ),
        reason=reasons[0] if reasons else None,
    )


def _low(interval: Interval | None) -> float | None:
    return None if interval is None else interval.low


def _high(interval: Interval | None) -> float | None:
    return None if interval is None else interval.high
