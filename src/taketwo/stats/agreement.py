"""Agreement of judges and association of scores, with intervals that resample questions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.resampling import bootstrap_means

__all__ = ["Estimate", "auc", "cohen_kappa", "fleiss_kappa", "pearson"]

CELLS_PER_CHUNK = 2_000_000


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """A statistic with the percentile interval over draws of whole clusters (questions).

    `undefined_draws` counts draws in which the statistic does not exist (one class only, no
    variance); the interval is over the others. None with a `reason` where it does not exist at all,
    or in more than half of the draws.
    """

    n: int
    clusters: int
    draws: int
    level: float
    value: float | None
    se: float | None = None
    low: float | None = None
    high: float | None = None
    undefined_draws: int = 0
    reason: str | None = None


def fleiss_kappa(
    labels: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    cluster: NDArray[np.int64] | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """Return Fleiss' kappa of N items labelled by J judges each.

    Parameters
    ----------
    labels
        N x J category codes, no label missing; J at least 2. Which judge gave which does not matter.
    cluster
        N codes of what is drawn (questions), None to draw items.

    Raises
    ------
    ValueError
        If the table has no row or fewer than two judges.

    Notes
    -----
    Fleiss (1971), doi 10.1037/h0031619: (P - Pe) / (1 - Pe), both from means over items, so that
    draws of items need only draws of means.
    """
    if labels.ndim != 2 or not labels.shape[0] or labels.shape[1] < 2:
        raise ValueError(f"kappa needs items x at least 2 judges, got {labels.shape}")
    judges = labels.shape[1]
    categories = np.unique(labels)
    counts = (labels[:, :, None] == categories).sum(axis=1).astype(np.float64)
    agreeing = ((counts**2).sum(axis=1) - judges) / (judges * (judges - 1))
    columns = np.column_stack([agreeing, counts / judges])

    def kappa(means: NDArray[np.float64]) -> NDArray[np.float64]:
        by_chance = (means[:, 1:] ** 2).sum(axis=1)
        return _ratio(means[:, 0] - by_chance, 1 - by_chance)

    return _of_means(columns, kappa, cluster, rng, draws, level, "all labels are the same")


def cohen_kappa(
    first: NDArray[np.int64],
    second: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    cluster: NDArray[np.int64] | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """Return Cohen's (1960) kappa of two judges over N items; see `fleiss_kappa`."""
    if first.shape != second.shape or first.ndim != 1 or not len(first):
        raise ValueError(f"two judges need the same items, got {first.shape} and {second.shape}")
    categories = np.unique(np.concatenate([first, second]))
    one, two = first[:, None] == categories, second[:, None] == categories
    columns = np.column_stack([first == second, one, two]).astype(np.float64)
    size = len(categories)

    def kappa(means: NDArray[np.float64]) -> NDArray[np.float64]:
        by_chance = (means[:, 1 : 1 + size] * means[:, 1 + size :]).sum(axis=1)
        return _ratio(means[:, 0] - by_chance, 1 - by_chance)

    return _of_means(columns, kappa, cluster, rng, draws, level, "all labels are the same")


def pearson(
    x: NDArray[np.float64],
    y: NDArray[np.float64],
    *,
    rng: np.random.Generator,
    cluster: NDArray[np.int64] | None = None,
    draws: int = 10_000,
    level: float = 0.95,
) -> Estimate:
    """Return Pearson's correlation of N pairs; `cluster` names the question of each run.

    600 runs on 100 questions are 100 independent things: the interval draws questions.
    """
    if x.shape != y.shape or x.ndim != 1 or not len(x):
        raise ValueError(f"a correlation needs pairs, got {x.shape} and {y.shape}")
    a, b = x - x.mean(), y - y.mean()
    columns = np.column_stack([a, b, a * a, b * b, a * b])

    def correlation(means: NDArray[np.float64]) -> NDArray[np.float64]:
        va, vb = means[:, 2] - means[:, 0] ** 2, means[:, 3] - means[:, 1] ** 2
        product = np.where((va > 1e-14 * means[:, 2]) & (vb > 1e-14 * means[:, 3]), va * vb, 0.0)
        return _ratio(means[:, 4] - means[:, 0] * means[:, 1], np.sqrt(np.maximum(product, 0)))

    return _of_means(columns, correlation, cluster, rng, draws, level, "one side does not vary")


def auc(
    scores: NDArray[np.float64],
    is_positive: NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    cluster: NDArray[np.int64] | None = None,
    draws: int = 2_000,
    level: float = 0.95,
) -> Estimate:
    """Return the probability that a positive scores above a negative, ties counting 1/2.

    U / (n1 n0) of Mann and Whitney (1947); `cluster` names the question of each run, and the
    interval draws questions with all their runs.

    Raises
    ------
    ValueError
        If lengths differ or there is no score.
    """
    if scores.shape != is_positive.shape or scores.ndim != 1 or not len(scores):
        raise ValueError(f"an AUC needs scores and classes, got {scores.shape} and {is_positive.shape}")  # fmt: skip
    n = len(scores)
    codes = np.arange(n) if cluster is None else np.unique(cluster, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    order = np.argsort(scores, kind="stable")
    starts = np.flatnonzero(np.diff(scores[order], prepend=-np.inf) != 0)
    positive = is_positive[order].astype(np.float64)
    code = codes[order]

    def weighted(counts: NDArray[np.float64]) -> NDArray[np.float64]:
        weight = counts[:, code]
        up = np.add.reduceat(weight * positive, starts, axis=1)
        down = np.add.reduceat(weight * (1 - positive), starts, axis=1)
        below = np.cumsum(down, axis=1) - down / 2
        return _ratio((up * below).sum(axis=1), up.sum(axis=1) * down.sum(axis=1))

    value = weighted(np.ones((1, groups)))[0]
    replicates = np.empty(draws)
    rows = max(1, CELLS_PER_CHUNK // n)
    for start in range(0, draws, rows):
        size = min(rows, draws - start)
        index = rng.integers(groups, size=(size, groups)) + np.arange(size)[:, None] * groups
        counts = np.bincount(index.ravel(), minlength=size * groups).reshape(size, groups)
        replicates[start : start + size] = weighted(counts.astype(np.float64))
    return _estimate(value, replicates, n, groups, level, "one class is empty")


def _of_means(
    columns: NDArray[np.float64],
    statistic: Callable[[NDArray[np.float64]], NDArray[np.float64]],
    cluster: NDArray[np.int64] | None,
    rng: np.random.Generator,
    draws: int,
    level: float,
    reason: str,
) -> Estimate:
    n = len(columns)
    sums = (
        ClusterSums(sums=columns, sizes=np.ones(n))
        if cluster is None
        else cluster_sums(columns, cluster)
    )
    value = statistic(columns.mean(axis=0, keepdims=True))[0]
    replicates = statistic(bootstrap_means(sums, draws=draws, rng=rng))
    return _estimate(value, replicates, n, len(sums.sizes), level, reason)


def _ratio(above: NDArray[np.float64], below: NDArray[np.float64]) -> NDArray[np.float64]:
    is_zero = np.abs(below) < 1e-12 * np.maximum(1.0, np.abs(above))
    return np.where(is_zero, np.nan, above / np.where(is_zero, 1.0, below))


def _estimate(
    value: float,
    replicates: NDArray[np.float64],
    n: int,
    clusters: int,
    level: float,
    reason: str,
) -> Estimate:
    known = replicates[np.isfinite(replicates)]
    undefined, draws = len(replicates) - len(known), len(replicates)
    if not np.isfinite(value):
        return Estimate(
            n=n, clusters=clusters, draws=draws, level=level, value=None,
            undefined_draws=undefined, reason=reason,
        )  # fmt: skip
    if clusters < 2 or undefined > draws / 2 or len(known) < 2:
        return Estimate(
            n=n, clusters=clusters, draws=draws, level=level, value=float(value),
            undefined_draws=undefined, reason="no interval: undefined in most draws"
            if clusters > 1 else "no interval: 1 question has no variance",
        )  # fmt: skip
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        n=n, clusters=clusters, draws=draws, level=level, value=float(value),
        se=float(known.std(ddof=1)), low=float(low), high=float(high), undefined_draws=undefined,
    )  # fmt: skip
