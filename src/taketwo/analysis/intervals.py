"""Percentile intervals of many columns: exact by default, by shared draws on request."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.pair_values import FEW_CLUSTERS, Column
from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.exact import ExactInterval, exact_mean, exact_ratio
from taketwo.stats.resampling import PercentileInterval, bootstrap_means, percentile_intervals

__all__ = ["Bootstrap", "Resampled", "percentile_of", "resample"]

Bootstrap = Literal["exact", "mc"]

QUESTION_STREAM = 0
VIDEO_STREAM = 1


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """Percentile intervals of a column, by question and (where some video has several) by video."""

    by_question: PercentileInterval | None
    by_video: PercentileInterval | None


def resample(
    columns: Sequence[Column], *, level: float, bootstrap: Bootstrap, draws: int, seed: int
) -> tuple[Resampled, ...]:
    """Return the percentile intervals of every column.

    `exact` is the limit of infinitely many draws and needs no seed. By fewer than 50 videos the
    interval is a bystander (CR2 decides, see `estimates`) whose exact form is slow and no better: it
    is drawn there. `mc` draws everything: columns over the same questions share their draws, whatever
    the metric, and the draws depend on `seed` and the number of questions only. A column with fewer
    than two questions (videos) has no interval.
    """
    found: list[Resampled] = [Resampled(by_question=None, by_video=None)] * len(columns)
    groups: dict[bytes, list[int]] = {}
    for index, column in enumerate(columns):
        groups.setdefault(column.questions.tobytes(), []).append(index)
    for members in groups.values():
        first = columns[members[0]]
        stacked = np.column_stack([columns[index].values for index in members])
        n = len(stacked)
        if n < 2:
            continue
        if bootstrap == "exact":
            by_question = [percentile_of(column, level) for column in stacked.T]
        else:
            units = ClusterSums(sums=stacked, sizes=np.ones(n))
            by_question = _drawn(units, level, draws, (seed, QUESTION_STREAM))
        by_video: Sequence[PercentileInterval | None] = [None] * len(members)
        if first.cluster is not None and 1 < len(np.unique(first.cluster)) < n:
            videos = cluster_sums(stacked, first.cluster)
            if bootstrap == "mc" or len(videos.sizes) < FEW_CLUSTERS:
                by_video = _drawn(videos, level, draws, (seed, VIDEO_STREAM))
            else:
                by_video = [_ends(interval) for interval in exact_ratio(videos, level=level)]
        for index, question, video in zip(members, by_question, by_video, strict=True):
            found[index] = Resampled(by_question=question, by_video=video)
    return tuple(found)


def percentile_of(values: NDArray[np.float64], level: float) -> PercentileInterval | None:
    """Return the exact percentile interval of a mean by question, None for fewer than two values."""
    return _ends(exact_mean(values, level=level)) if len(values) > 1 else None


def _ends(interval: ExactInterval) -> PercentileInterval | None:
    if interval.low is None or interval.high is None or interval.se is None:
        return None
    return PercentileInterval(low=interval.low, high=interval.high, se=interval.se)


def _drawn(
    units: ClusterSums, level: float, draws: int, seed: tuple[int, int]
) -> tuple[PercentileInterval, ...]:
    replicates = bootstrap_means(units, draws=draws, rng=np.random.default_rng(seed))
    return percentile_intervals(replicates, level=level)
