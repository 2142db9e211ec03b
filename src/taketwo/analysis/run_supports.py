"""Support of the effect in every pair of runs of two arms, all pairs at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.cluster import ClusterSums, cluster_sums, cr2_df
from taketwo.stats.distributions import t_quantile
from taketwo.stats.paired import mean_test

__all__ = ["run_supports"]

RELATIVE_ZERO = 1e-12


def run_supports(
    method: NDArray[np.float64],
    baseline: NDArray[np.float64],
    *,
    cluster: NDArray[np.int64] | None,
    level: float,
) -> tuple[int | None, ...]:
    """Return the support of every pair of a run of `method` and one of `baseline`.

    Parameters
    ----------
    method, baseline
        N x Ka and N x Kb values of the same questions, without missing ones.
    cluster
        N integer codes of videos for CR2, None for the paired t.

    Returns
    -------
    tuple
        Ka x Kb entries: the sign where the t interval excludes zero, 0 where it covers it, None where
        there is no interval (one question, one video). The same intervals as `mean_test` gives for
        each pair by itself, computed from sums per unit.
    """
    n, pairs = len(method), method.shape[1] * baseline.shape[1]
    codes = np.arange(n) if cluster is None else cluster
    units = cluster_sums(np.column_stack([method, baseline]), codes)
    if len(units.sizes) < 2:
        return (None,) * pairs
    k = method.shape[1]
    sums = units.sums[:, :k, None] - units.sums[:, None, k:]
    total = units.n
    means = sums.sum(axis=0) / total
    residuals = sums - units.sizes[:, None, None] * means
    weights = 1.0 / (1.0 - units.sizes / total)
    ses = np.sqrt(np.einsum("g,gab->ab", weights, residuals**2)) / total
    half = t_quantile((1 + level) / 2, cr2_df(ClusterSums(sums=units.sums, sizes=units.sizes)))
    found = np.where(np.abs(means) > half * ses, np.sign(means), 0.0)
    scale = float(max(np.abs(method).max(), np.abs(baseline).max(), 1e-300))
    supports: list[int | None] = [int(support) for support in found.ravel().tolist()]
    for a, b in np.argwhere(ses <= RELATIVE_ZERO * scale).tolist():
        test = mean_test(method[:, a] - baseline[:, b], cluster=cluster, level=level)
        supports[a * baseline.shape[1] + b] = (
            int(np.sign(test.estimate)) if test.is_supported else 0
        )
    return tuple(supports)
