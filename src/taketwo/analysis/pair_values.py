"""One metric of one pair of arms as arrays."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from taketwo.executions.rule import Metric, Rule
from taketwo.outcomes.pairing import PairedOutcomes

__all__ = ["FEW_CLUSTERS", "GIANT_SHARE", "Clusters", "Column", "PairValues", "pair_values"]

FEW_CLUSTERS = 50
GIANT_SHARE = 0.1


@dataclass(frozen=True, kw_only=True)
class Column:
    """A statistic's value per question (N), the questions it comes from and their videos."""

    values: NDArray[np.float64]
    questions: NDArray[np.int64]
    cluster: NDArray[np.int64] | None


@dataclass(frozen=True, kw_only=True)
class Clusters:
    """What is resampled: how many units, the largest one's share, whether some hold several questions.

    `are_few` is where the percentile bootstrap is too short: fewer than 50 units, or one with more
    than a tenth of the questions.
    """

    n: int
    largest_share: float
    hold_several: bool

    @property
    def are_few(self) -> bool:
        """Return whether CR2 (the paired t, where units are questions) decides."""
        return self.n < FEW_CLUSTERS or self.largest_share > GIANT_SHARE


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

    @property
    def clusters(self) -> Clusters | None:
        """Return the units of the counted questions, None where there is no question."""
        counted = np.logical_or.reduce(np.isfinite(self.differences), axis=1)
        n = int(counted.sum())
        if not n:
            return None
        if self.cluster is None:
            return Clusters(n=n, largest_share=1 / n, hold_several=False)
        sizes = np.unique(self.cluster[counted], return_counts=True)[1]
        return Clusters(
            n=len(sizes), largest_share=float(sizes.max()) / n, hold_several=int(sizes.max()) > 1
        )

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
