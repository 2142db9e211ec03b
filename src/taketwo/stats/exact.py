"""Percentile bootstrap intervals of means with infinitely many draws: no seed, no Monte Carlo error."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations_with_replacement
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.atoms import Atoms, atoms_of_values, bins_of, bins_of_sorted, grid_step, is_whole
from taketwo.stats.cluster import ClusterSums, cluster_sums
from taketwo.stats.convolution import TIE, fourier_sum, grid_sum
from taketwo.stats.distributions import root_between

__all__ = [
    "ExactInterval",
    "ExactMethod",
    "exact_mean",
    "exact_percentile",
    "exact_ratio",
    "mean_of_atoms",
]

ExactMethod = Literal[
    "lattice", "enumeration", "characteristic function", "binned characteristic function"
]

RELATIVE_ZERO = 1e-12
ROUNDING = 1e-14
ENUMERATED = 8
BINNED_FROM = 20_000
SAMPLED = 1_000
RATIO_TERMS = 4_096


@dataclass(frozen=True, kw_only=True)
class ExactInterval:
    """The percentile interval of a mean, and the standard deviation of its bootstrap distribution.

    `n` counts what is drawn: questions, or videos. `se` is that of the limit of infinitely many
    draws (divisor n, not n - 1; of videos: of the linearised ratio). `smoothing` is the size, in
    standard errors, of a normal error that had to be added: 0 unless values are few and irregular.
    `is_degenerate` says that nothing varies, so that the interval is a point. What is undefined is
    None and `reason` says why.
    """

    method: ExactMethod
    n: int
    level: float
    estimate: float
    se: float | None
    low: float | None
    high: float | None
    smoothing: float = 0.0
    is_degenerate: bool = False
    reason: str | None = None


def exact_percentile(
    values: NDArray[np.float64],
    *,
    cluster: NDArray[np.int64] | None = None,
    level: float = 0.95,
) -> tuple[ExactInterval, ...]:
    """Return the percentile interval of the mean of each column, over questions or over clusters.

    Parameters
    ----------
    values
        N values, or N x C, finite.
    cluster
        N integer codes; whole clusters are drawn and a mean is the drawn sum over the drawn size.
        Clusters of one question each are the same as none.
    level
        Coverage, between 0 and 1.

    Raises
    ------
    ValueError
        If there is no row, a value is not finite, or `level` is outside 0 to 1.

    Notes
    -----
    The limit of the percentile bootstrap (Efron and Tibshirani 1993, chapter 13) for infinitely many
    draws, from the characteristic function (Davison and Hinkley 1988 have it by saddlepoints). It
    under-covers as that does: with few or very unequal clusters (83 % at 5), and for skewed values
    (89 % at N = 30 with a log-standard deviation of 1.2).

    Examples
    --------
    >>> found = exact_percentile(np.repeat([1.0, 0.0, -1.0], [183, 1011, 89]))[0]
    >>> round(found.low * 1283), round(found.high * 1283)
    (62, 126)
    """
    columns = _columns(values, level)
    if cluster is not None and len(np.unique(cluster)) < len(columns):
        orders = [np.lexsort((column, cluster)) for column in columns.T]
        return tuple(
            exact_ratio(cluster_sums(column[order], cluster[order]), level=level)[0]
            for column, order in zip(columns.T, orders, strict=True)
        )
    return tuple(_mean(column, level) for column in np.ascontiguousarray(columns.T))


def exact_mean(values: NDArray[np.float64], *, level: float = 0.95) -> ExactInterval:
    """Return the percentile interval of the mean of N values drawn with replacement.

    Values on a grid (whole numbers, quarters) are convolved on it: the endpoints are values that the
    mean of a resample takes, the cdf is exact to 1e-12. Up to 8 other values are enumerated. Others
    go by the characteristic function, from 20,000 on in bins with their means and variances. The
    order of the values does not matter, to the last bit.
    """
    return _mean(_columns(values, level)[:, 0], level)


def _mean(column: NDArray[np.float64], level: float) -> ExactInterval:
    n = len(column)
    if n < 2:
        return _undefined("lattice", column, level, "1 question has no variance")
    if n > BINNED_FROM and not is_whole(column):
        ordered = np.sort(column)
        if grid_step(np.unique(ordered[:: n // SAMPLED])) is None:
            return mean_of_atoms(bins_of_sorted(ordered).atoms(), level=level)
    atoms = atoms_of_values(column)
    if len(atoms.values) > BINNED_FROM:
        return mean_of_atoms(bins_of(atoms.values, atoms.counts).atoms(), level=level)
    if n <= ENUMERATED and len(atoms.values) > 1 and grid_sum(atoms) is None:
        return _enumerated(np.sort(column), np.ones(n), level, se=None)
    return mean_of_atoms(atoms, level=level)


def mean_of_atoms(atoms: Atoms, *, level: float = 0.95) -> ExactInterval:
    """Return the percentile interval of the mean of the observations that `atoms` stands for."""
    estimate, n, tail = atoms.mean, atoms.n, (1 - level) / 2
    se = math.sqrt(atoms.variance / n)
    largest = float(np.abs(atoms.values[[0, -1]]).max())
    if n < 2:
        return _undefined("lattice", atoms.values, level, "1 question has no variance")
    if se * math.sqrt(n) <= ROUNDING * largest:
        return ExactInterval(
            method="lattice", n=n, level=level, estimate=estimate, se=0.0, low=estimate,
            high=estimate, is_degenerate=True, reason="no value differs from the others",
        )  # fmt: skip
    grid = grid_sum(atoms)
    if grid is not None:
        low, high = grid.tails(tail)
        return ExactInterval(
            method="lattice", n=n, level=level, estimate=estimate, se=se, low=low / n, high=high / n
        )
    series = fourier_sum(atoms)
    low, high = series.tails(tail)
    return ExactInterval(
        method="binned characteristic function"
        if atoms.variances.any()
        else "characteristic function",
        n=n, level=level, estimate=estimate, se=se, low=low / n, high=high / n,
        smoothing=series.smoothing,
    )  # fmt: skip


def exact_ratio(clusters: ClusterSums, *, level: float = 0.95) -> tuple[ExactInterval, ...]:
    """Return the percentile interval of each mean when whole clusters are drawn with replacement.

    With G draws of (sum T, size n), ``P(mean* <= t) = P(sum of (T - t n) <= 0)``: each probability
    is one of a sum, and the endpoints are found as roots. Up to 8 clusters are enumerated.
    """
    return tuple(_ratio(column, clusters.sizes, level) for column in clusters.sums.T)


def _ratio(sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float) -> ExactInterval:
    groups, total = len(sums), float(sizes.sum())
    order = np.lexsort((sizes, sums))
    sums, sizes = sums[order], sizes[order]
    estimate = float(sums.sum()) / total
    if groups < 2:
        return _undefined(
            "characteristic function", np.array([estimate]), level, "1 video has no variance"
        )
    residuals = sums - estimate * sizes
    se = math.sqrt(float(residuals @ residuals)) / total
    means = sums / sizes
    low, high = float(means.min()), float(means.max())
    if high - low <= RELATIVE_ZERO * max(abs(low), abs(high)):
        return ExactInterval(
            method="characteristic function", n=groups, level=level, estimate=estimate, se=0.0,
            low=estimate, high=estimate, is_degenerate=True, reason="no video's mean differs",
        )  # fmt: skip
    if groups <= ENUMERATED:
        return _enumerated(sums, sizes, level, se=se)
    pairs, counts = np.unique(np.column_stack([sums, sizes]), axis=0, return_counts=True)
    smoothing = 0.0

    def below(t: float) -> float:
        """Return P(mean* <= t)."""
        nonlocal smoothing
        distances = pairs[:, 0] - t * pairs[:, 1]
        atoms = Atoms(
            n=groups,
            values=distances,
            counts=counts.astype(np.float64),
            variances=np.zeros(len(distances)),
            step=None,
        )
        if atoms.variance <= (RELATIVE_ZERO * float(np.abs(distances).max())) ** 2:
            return float(distances[0] <= 0)
        series = fourier_sum(atoms, most_terms=RATIO_TERMS)
        smoothing = max(smoothing, series.smoothing)
        return float(series.cdf(np.zeros(1))[0])

    tail = (1 - level) / 2
    ends = tuple(
        _root(below, probability, around=estimate, se=se, low=low, high=high)
        for probability in (tail, 1 - tail)
    )
    return ExactInterval(
        method="characteristic function", n=groups, level=level, estimate=estimate, se=se,
        low=ends[0], high=ends[1], smoothing=smoothing,
    )  # fmt: skip


def _root(
    below: Callable[[float], float],
    probability: float,
    *,
    around: float,
    se: float,
    low: float,
    high: float,
) -> float:
    """Return where `below` reaches `probability`, sought in standard errors and inside [low, high]."""

    def excess(z: float) -> float:
        return below(around + z * se) - probability

    first, last = (low - around) / se, (high - around) / se
    left, right = max(first, -4.0), min(last, 4.0)
    while left > first and excess(left) > 0:
        left = max(first, 2 * left)
    while right < last and excess(right) < 0:
        right = min(last, 2 * right)
    if excess(left) >= 0:
        return around + left * se
    if excess(right) <= 0:
        return around + right * se
    return around + root_between(excess, left, right) * se


def _enumerated(
    sums: NDArray[np.float64], sizes: NDArray[np.float64], level: float, *, se: float | None
) -> ExactInterval:
    """Return the interval over all resamples of at most 8 units, each multiset once with its weight."""
    n = len(sums)
    drawn = np.array(list(combinations_with_replacement(range(n), n)))
    times = np.stack([(drawn == unit).sum(axis=1) for unit in range(n)], axis=1)
    factorials = np.array([math.factorial(count) for count in range(n + 1)], np.float64)
    mass = factorials[n] / factorials[times].prod(axis=1) / float(n) ** n
    estimate = float(sums.sum() / sizes.sum())
    residuals = sums - estimate * sizes
    means = estimate + (times @ residuals) / (times @ sizes)
    order = np.argsort(means, kind="stable")
    tail = (1 - level) / 2
    low = int(np.argmax(np.cumsum(mass[order]) >= tail - TIE))
    high = len(order) - 1 - int(np.argmax(np.cumsum(mass[order][::-1]) >= tail - TIE))
    linearised = math.sqrt(float(residuals @ residuals)) / float(sizes.sum())
    return ExactInterval(
        method="enumeration", n=n, level=level, estimate=estimate,
        se=linearised if se is None else se,
        low=float(means[order[low]]), high=float(means[order[high]]),
    )  # fmt: skip


def _columns(values: NDArray[np.float64], level: float) -> NDArray[np.float64]:
    columns = np.asarray(values, np.float64)
    columns = columns[:, None] if columns.ndim == 1 else columns
    if not len(columns) or not np.isfinite(columns).all():
        raise ValueError(f"an interval needs finite values, got {len(columns)} rows")
    if not 0 < level < 1:
        raise ValueError(f"a level lies between 0 and 1, got {level!r}")
    return columns


def _undefined(
    method: ExactMethod, values: NDArray[np.float64], level: float, reason: str
) -> ExactInterval:
    return ExactInterval(
        method=method, n=1, level=level, estimate=float(values[0]), se=None, low=None, high=None,
        reason=reason,
    )  # fmt: skip
