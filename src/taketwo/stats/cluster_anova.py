"""Do K executions have one mean, with few clusters? The analysis of variance on CR2's covariance."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.cluster import cluster_sums, cr2_covariance, cr2_df
from taketwo.stats.distributions import f_tail
from taketwo.stats.shift import Omnibus

__all__ = ["cluster_anova"]

RELATIVE_ZERO = 1e-12


def cluster_anova(values: NDArray[np.float64], cluster: NDArray[np.int64]) -> Omnibus:
    """Return the test that the K means of N x K `values` are equal, questions clustered on videos.

    It needs no inverse of the covariance, so that it works where there are fewer clusters than
    executions, unlike the Wald test of `shift.cluster_omnibus`.

    Parameters
    ----------
    values
        N x K values of one arm, or differences of two, without missing ones; K at least 2.
    cluster
        N integer codes.

    Raises
    ------
    TooFewClusters
        If all questions stand on one cluster.

    Notes
    -----
    The statistic of Brunner, Dette and Munk (1997), doi 10.1080/01621459.1997.10473671, on CR2's
    covariance V of the K means, P taking out their mean: ``F = sum (mean_k - mean)^2 / tr(PV)``
    with ``df1 = tr(PV)^2 / tr(PVPV)`` and ``df2 = df1`` times Satterthwaite's degrees of freedom of
    one mean. With one question per cluster it is the repeated-measures analysis of variance after
    Greenhouse and Geisser, with K = 2 the square of CR2's t. Weakness: few clusters make df1 too
    small, so that it errs towards no shift (size 0.4 % at 12 clusters and K = 10, 4.8 % at K = 3, one
    cluster holding 46 %; simulated).
    """
    method = "analysis of variance on CR2 covariance"
    k = values.shape[1]
    sums = cluster_sums(values - values.mean(axis=1, keepdims=True), cluster)
    covariance, df = cr2_covariance(sums), cr2_df(sums)
    means = sums.sums.sum(axis=0) / sums.n
    trace = float(np.trace(covariance))
    scale = float(np.abs(values).max())
    if trace <= (RELATIVE_ZERO * scale) ** 2:
        moved = float(np.abs(means).max()) > RELATIVE_ZERO * scale
        return Omnibus(
            method=method, statistic=None, df1=None, df2=None,
            p=2.0 ** (1 - len(sums.sizes)) if moved else 1.0,
            reason="zero variance: p by permutation",
        )  # fmt: skip
    df1 = min(float(k - 1), trace**2 / float((covariance**2).sum()))
    f = float(means @ means) / trace
    return Omnibus(method=method, statistic=f, df1=df1, df2=df1 * df, p=f_tail(f, df1, df1 * df))
