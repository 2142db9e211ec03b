"""One metric of one pair of arms as arrays, and the bootstrap over all of them with shared draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from taketwo.executions.rule import Metric, Rule
from taketwo.outcomes.pairing import PairedOutcomes
from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.resampling import PercentileInterval, bootstrap_means, percentile_intervals

__all__ = ["Column", "PairValues", "Resampled", "pair_values", "resample"]

QUESTION_STREAM = 0
VIDEO_STREAM = 1
FLIP_STREAM = 2


@dataclass(frozen=True, kw_only=True)
class Column:
    """A statistic's value per question (N), the questions it comes from and their videos."""

    values: NDArray[np.float64]
    questions: NDArray[np.int64]
    cluster: NDArray[np.int64] | None


@dataclass(frozen=True, kw_only=True)
class PairValues:
    """One metric of a method and its baseline: Q x K values each, NaN outside the population.

    `cluster` holds the video of each question as a number, None where the rule clusters by
    question.
    """

    metric: Metric
    baseline_name: str
    method_name: str
    executions: tuple[int, ...]
    baseline: NDArray[np.float64]
    method: NDArray[np.float64]
    cluster: NDArray[np.int64] | None

    @property
    def differences(self) -> NDArray[np.float64]:
        """Return method minus baseline, Q x K."""
        return self.method - self.baseline

    @property
    def pairs(self) -> tuple[tuple[int, int], ...]:
        """Return the positions of all pairs of executions, the earlier one first."""
        return tuple(combinations(range(len(self.executions)), 2))

    @property
    def is_complete(self) -> NDArray[np.bool_]:
        """Return which questions have a difference in every execution."""
        return np.logical_and.reduce(np.isfinite(self.differences), axis=1)

    def column(self, values: NDArray[np.float64]) -> Column:
        """Return the finite values of one statistic with their questions and videos."""
        questions = np.flatnonzero(np.isfinite(values))
        cluster = None if self.cluster is None else self.cluster[questions]
        return Column(values=values[questions], questions=questions, cluster=cluster)

    def effect_columns(self) -> tuple[Column, ...]:
        """Return the differences of each execution."""
        return tuple(self.column(column) for column in self.differences.T)

    def shift_columns(self) -> tuple[Column, ...]:
        """Return earlier minus later differences of each pair of executions."""
        d = self.differences
        return tuple(self.column(d[:, k] - d[:, later]) for k, later in self.pairs)


def pair_values(
    paired: PairedOutcomes, rule: Rule, metric: Metric, method: str, *, population: bool = True
) -> PairValues:
    """Return a metric of `method` and its baseline, restricted to the population or to nothing.

    In the matched population a question without a value in some cell of the pair has none at all.
    """
    baseline = paired.baselines[method]
    counted = paired.population if population else np.ones_like(paired.population)
    both = [paired.arms.index(baseline), paired.arms.index(method)]
    values = np.where(counted[:, None, :], paired.values[metric][:, both, :], np.nan)
    if population and rule.population == "matched":
        incomplete = ~np.isfinite(values).all(axis=(1, 2))
        values[incomplete] = np.nan
    codes = np.unique(np.array(paired.video_ids), return_inverse=True)[1]
    return PairValues(
        metric=metric,
        baseline_name=baseline,
        method_name=method,
        executions=paired.executions,
        baseline=values[:, 0, :],
        method=values[:, 1, :],
        cluster=codes.astype(np.int64) if rule.cluster == "video" else None,
    )


@dataclass(frozen=True, kw_only=True)
class Resampled:
    """Percentile intervals of a column, by question and (where some video has several) by video."""

    by_question: PercentileInterval | None
    by_video: PercentileInterval | None


def resample(
    columns: Sequence[Column], *, level: float, draws: int, seed: int
) -> tuple[Resampled, ...]:
    """Return the percentile intervals of every column, from draws shared by equal populations.

    Columns over the same questions are computed from one and the same set of draws, whatever the
    metric; the draws depend on `seed` and the number of questions only. A column with fewer than
    two questions (videos) has no interval.
    """
    groups: dict[bytes, list[int]] = {}
    for index, column in enumerate(columns):
        groups.setdefault(column.questions.tobytes(), []).append(index)
    found: list[Resampled] = [Resampled(by_question=None, by_video=None)] * len(columns)
    for members in groups.values():
        first = columns[members[0]]
        stacked = np.column_stack([columns[index].values for index in members])
        n = len(stacked)
        if n < 2:
            continue
        questions = ClusterSums(sums=stacked, sizes=np.ones(n))
        by_question = _intervals(questions, level=level, draws=draws, seed=(seed, QUESTION_STREAM))
        by_video: Sequence[PercentileInterval | None] = [None] * len(members)
        if first.cluster is not None and 1 < len(np.unique(first.cluster)) < n:
            videos = cluster_sums(stacked, first.cluster)
            by_video = _intervals(videos, level=level, draws=draws, seed=(seed, VIDEO_STREAM))
        for index, question, video in zip(members, by_question, by_video, strict=True):
            found[index] = Resampled(by_question=question, by_video=video)
    return tuple(found)


def _intervals(
    clusters: ClusterSums, *, level: float, draws: int, seed: tuple[int, int]
) -> tuple[PercentileInterval, ...]:
    replicates = bootstrap_means(clusters, draws=draws, rng=np.random.default_rng(seed))
    return percentile_intervals(replicates, level=level)
