"""Means of clustered observations: standard error and degrees of freedom that hold with few clusters.

Questions on one video share its difficulty and its accidents. The bias-reduced variance CR2 with
Satterthwaite's degrees of freedom covers 94 to 96 % at 5 to 100 clusters, equal or very unequal in
size, where the percentile bootstrap over clusters covers 83 to 94 % (simulated; with skewed cluster
effects and 10 clusters CR2 falls to 90 %).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.errors import TooFewClusters

__all__ = ["ClusterSums", "cluster_sums", "cr2_covariance", "cr2_df", "wild_cluster_p"]

WEBB = np.sqrt([0.5, 1.0, 1.5])
CELLS_PER_CHUNK = 2_000_000


@dataclass(frozen=True, kw_only=True)
class ClusterSums:
    """Sums of the observations of each cluster: `sums` is G x C, `sizes` has G entries."""

    sums: NDArray[np.float64]
    sizes: NDArray[np.float64]

    @property
    def n(self) -> float:
        """Return the number of observations."""
        return float(self.sizes.sum())

    @property
    def largest_share(self) -> float:
        """Return the share of the observations that the largest cluster holds (0 to 1)."""
        return float(self.sizes.max() / self.sizes.sum())


def cluster_sums(values: NDArray[np.float64], cluster: NDArray[np.int64]) -> ClusterSums:
    """Return the sums per cluster of `values` (N x C, or N) by `cluster` (N integer codes).

    Clusters stand in the order of their codes; codes without an observation are left out.
    """
    columns = values.reshape(len(values), -1)
    codes, inverse = np.unique(cluster, return_inverse=True)
    sums = np.zeros((len(codes), columns.shape[1]))
    np.add.at(sums, inverse, columns)
    return ClusterSums(sums=sums, sizes=np.bincount(inverse).astype(np.float64))


def cr2_covariance(clusters: ClusterSums) -> NDArray[np.float64]:
    """Return the C x C bias-reduced covariance of the C means.

    Raises
    ------
    TooFewClusters
        If there is one cluster only.

    Notes
    -----
    Bell and McCaffrey (2002), closed form for a mean under an independent working model:
    ``V = sum over g of r_g r_g' / (1 - n_g / N) / N^2`` with ``r_g = T_g - n_g mean``.
    """
    if len(clusters.sizes) < 2:
        raise TooFewClusters(
            f"an interval needs at least 2 videos, found {clusters.n:.0f} questions on 1 video; "
            "nothing can be said beyond that video (add videos, or cluster by question)"
        )
    total = clusters.n
    mean = clusters.sums.sum(axis=0) / total
    residuals = clusters.sums - clusters.sizes[:, None] * mean
    weights = 1.0 / (1.0 - clusters.sizes / total)
    return (residuals * weights[:, None]).T @ residuals / total**2


def cr2_df(clusters: ClusterSums) -> float:
    """Return Satterthwaite's degrees of freedom of the CR2 variance of a mean.

    Notes
    -----
    ``tr(M)^2 / tr(M^2)`` of Pustejovsky and Tipton (2018), doi 10.1080/07350015.2016.1247004, in
    closed form: with ``a_g = n_g^2 / (1 - n_g / N)`` it is
    ``N^2 / (sum n_g^2 + ((sum a_g)^2 - sum a_g^2) / N^2)``; N - 1 when every cluster is one
    question.
    """
    total, squares = clusters.n, clusters.sizes**2
    weighted = squares / (1.0 - clusters.sizes / total)
    cross = (weighted.sum() ** 2 - (weighted**2).sum()) / total**2
    return float(total**2 / (squares.sum() + cross))


def wild_cluster_p(
    clusters: ClusterSums, *, rng: np.random.Generator, draws: int = 9_999, null: float = 0.0
) -> NDArray[np.float64]:
    """Return the two-sided wild cluster bootstrap p of each of C means: a check where G is below 50.

    Parameters
    ----------
    clusters
        Sums and sizes of at least two clusters.
    draws
        Bootstrap samples; p is (1 + hits) / (1 + draws).
    null
        The mean under the hypothesis, which is imposed.

    Raises
    ------
    TooFewClusters
        If there is one cluster only.
    ValueError
        If `draws` is below 1.

    Notes
    -----
    Cameron, Gelbach and Miller (2008), doi 10.1162/rest.90.3.414, with the six weights of Webb
    (+-sqrt(1/2), +-1, +-sqrt(3/2)) and a CR1 standard error in every draw. The interval by inversion
    covers 94 to 96 % at 5 to 100 clusters, 91 % with 10 clusters of skewed effects (simulated).
    """
    if draws < 1:
        raise ValueError(f"a bootstrap needs at least 1 draw, got {draws}")
    groups = len(clusters.sizes)
    if groups < 2:
        raise TooFewClusters(
            f"a wild bootstrap needs at least 2 videos, found {groups} (add videos)"
        )
    imposed = clusters.sums - null * clusters.sizes[:, None]
    observed = np.abs(_cr1_t(imposed[None], clusters))[0]
    hits = np.zeros(imposed.shape[1])
    rows = max(1, CELLS_PER_CHUNK // imposed.size)
    for start in range(0, draws, rows):
        shape = (min(rows, draws - start), groups)
        weights = WEBB[rng.integers(3, size=shape)] * (2 * rng.integers(2, size=shape) - 1)
        drawn = np.abs(_cr1_t(weights[:, :, None] * imposed, clusters))
        hits += (drawn >= observed * (1 - 1e-12)).sum(axis=0)
    return (1 + hits) / (1 + draws)


def _cr1_t(sums: NDArray[np.float64], clusters: ClusterSums) -> NDArray[np.float64]:
    """Return B x C t values of B x G x C cluster sums; 0 where the sums are all 0, else maybe inf."""
    groups, total = len(clusters.sizes), clusters.n
    mean = sums.sum(axis=1) / total
    residuals = sums - clusters.sizes[None, :, None] * mean[:, None, :]
    squares = (residuals**2).sum(axis=1)
    scale = (sums**2).sum(axis=1)
    se = np.sqrt(squares * groups / (groups - 1)) / total
    is_flat = squares <= 1e-24 * scale
    t = mean / np.where(is_flat, 1.0, se)
    return np.where(is_flat, np.where(scale > 0, np.inf, 0.0), t)
