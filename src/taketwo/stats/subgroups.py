"""Does the mean differ between subgroups? One test instead of a reading of every subgroup's interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.distributions import f_tail

__all__ = ["SubgroupTest", "overlapping_subgroup_test", "subgroup_test"]

CELLS_PER_CHUNK = 2_000_000
TIE = 1e-9


@dataclass(frozen=True, kw_only=True)
class SubgroupTest:
    """Welch's analysis of variance over levels, and the permutation p of the same statistic.

    Undefined is None and `reason` says why.
    """

    n: int
    levels: int
    statistic: float | None
    df1: float | None
    df2: float | None
    p: float | None
    permutation_p: float | None
    draws: int
    reason: str | None = None


def subgroup_test(
    values: NDArray[np.float64],
    subgroup: NDArray[np.int64],
    *,
    rng: np.random.Generator,
    draws: int = 9_999,
) -> SubgroupTest:
    """Return whether the mean of N values (effects, or shifts) differs between subgroups.

    Parameters
    ----------
    values
        N finite values, one per question.
    subgroup
        N integer codes of the levels of one factor.
    draws
        Permutations of the codes; its p is (1 + hits) / (1 + draws).

    Raises
    ------
    ValueError
        If lengths differ, there is no value or one is not finite.

    Notes
    -----
    Welch (1951), doi 10.1093/biomet/38.3-4.330: levels may have different variances. A level with
    one question, or with one value only, has no variance: the analysis is then undefined. The
    permutation test takes the variance between means (the sum of squares) and does not need one; it
    assumes equal distributions under the hypothesis. Several factors partition the same questions:
    their tests are not independent.
    """
    if values.shape != subgroup.shape or not values.size or not np.isfinite(values).all():
        raise ValueError(f"finite values and one level each are needed, got {values.shape} and {subgroup.shape}")  # fmt: skip
    codes, place, sizes = np.unique(subgroup, return_inverse=True, return_counts=True)
    n, levels = len(values), len(codes)
    if levels < 2:
        return SubgroupTest(
            n=n, levels=levels, statistic=None, df1=None, df2=None, p=None, permutation_p=None,
            draws=0, reason="1 level has nothing to differ from",
        )  # fmt: skip
    centred = values - values.mean()
    means = np.bincount(place, weights=centred) / sizes
    squares = np.bincount(place, weights=(centred - means[place]) ** 2)
    inside = place[:, None] == np.arange(levels)
    permuted = _permutation_p(centred, inside, rng=rng, draws=draws)
    if sizes.min() < 2 or squares.min() <= (1e-12 * float(np.abs(values).max())) ** 2 * n:
        return SubgroupTest(
            n=n, levels=levels, statistic=None, df1=None, df2=None, p=None, permutation_p=permuted,
            draws=draws, reason="a level has 1 question or no variance: permutation only",
        )  # fmt: skip
    weights = sizes / (squares / (sizes - 1))
    total = weights.sum()
    centre = float(weights @ means) / total
    spread = float((((1 - weights / total) ** 2) / (sizes - 1)).sum())
    between = float(weights @ (means - centre) ** 2) / (levels - 1)
    f = between / (1 + 2 * (levels - 2) / (levels**2 - 1) * spread)
    df1, df2 = float(levels - 1), (levels**2 - 1) / (3 * spread)
    return SubgroupTest(
        n=n, levels=levels, statistic=f, df1=df1, df2=df2, p=f_tail(f, df1, df2),
        permutation_p=permuted, draws=draws,
    )  # fmt: skip


def overlapping_subgroup_test(
    values: NDArray[np.float64],
    inside: NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    draws: int = 9_999,
) -> SubgroupTest:
    """Return whether N values (effects, or shifts) go with levels of which one value may have several.

    Parameters
    ----------
    values
        N finite values, one per question.
    inside
        N x L: whether a question has a level; it may have several, or none.
    draws
        Permutations of the values over the questions; p is (1 + hits) / (1 + draws).

    Raises
    ------
    ValueError
        If lengths differ, there is no value, one is not finite, or a level has no question.

    Notes
    -----
    An analysis of variance supposes that levels divide the questions, which these do not: only the
    permutation p is given. The statistic is that of `subgroup_test`, the sum over levels of n times
    the squared distance between the mean of the level and that of all questions; what questions
    have in common stays as it is. Under the hypothesis the values are exchangeable.
    """
    n = len(values)
    if not n or len(inside) != n or not np.isfinite(values).all() or not inside.any(axis=0).all():
        raise ValueError(f"finite values and levels that occur are needed, got {values.shape} and {inside.shape}")  # fmt: skip
    levels = inside.shape[1]
    if not levels or inside.all():
        return SubgroupTest(
            n=n, levels=levels, statistic=None, df1=None, df2=None, p=None, permutation_p=None,
            draws=0, reason="every question has every level: nothing differs",
        )  # fmt: skip
    permuted = _permutation_p(values - values.mean(), inside, rng=rng, draws=draws)
    return SubgroupTest(
        n=n, levels=levels, statistic=None, df1=None, df2=None, p=None, permutation_p=permuted,
        draws=draws, reason="a question may have several levels: permutation only",
    )  # fmt: skip


def _permutation_p(
    centred: NDArray[np.float64],
    inside: NDArray[np.bool_],
    *,
    rng: np.random.Generator,
    draws: int,
) -> float:
    sizes = inside.sum(axis=0)

    def between(sums: NDArray[np.float64]) -> NDArray[np.float64]:
        return (sums**2 / sizes).sum(axis=1)

    one_hot = inside.astype(np.float64)
    observed = float(between(centred[None] @ one_hot)[0])
    rows = max(1, CELLS_PER_CHUNK // len(centred))
    hits = 0
    for start in range(0, draws, rows):
        size = min(rows, draws - start)
        shuffled = rng.permuted(np.broadcast_to(centred, (size, len(centred))), axis=1)
        hits += int((between(shuffled @ one_hot) >= observed * (1 - TIE)).sum())
    return (1 + hits) / (1 + draws)
