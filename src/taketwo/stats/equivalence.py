"""Is a shift small enough? Two one-sided tests against a margin that was declared before looking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.distributions import t_tail
from taketwo.stats.paired import MeanTest, mean_test

__all__ = ["Tost", "tost", "tost_of_all"]


@dataclass(frozen=True, kw_only=True)
class Tost:
    """Two one-sided tests that a mean lies inside (-margin, margin).

    `low` and `high` are the 1 - 2 alpha interval, which lies inside the margin exactly where `p`, the
    larger of the two one-sided p, is at most alpha. Of several means the widest ends and the largest
    p are given: all have to pass. Undefined is None and `reason` says why.
    """

    margin: float
    alpha: float
    means: int
    low: float | None
    high: float | None
    p: float | None
    is_equivalent: bool
    reason: str | None = None


def tost(
    values: NDArray[np.float64],
    margin: float,
    *,
    cluster: NDArray[np.int64] | None = None,
    alpha: float = 0.05,
) -> Tost:
    """Return whether the mean of N differences is shown to lie inside +-`margin`.

    Parameters
    ----------
    values
        N differences, for example of one question's effects in two executions.
    margin
        Largest mean that counts as none, in the unit of the values, above 0.
    cluster
        N integer codes; CR2 then takes the place of the paired t.
    alpha
        Level of each one-sided test, below 1/2.

    Raises
    ------
    ValueError
        If `margin` is not above 0, or `alpha` not between 0 and 1/2.
    TooFewClusters
        If several questions stand on one cluster.

    Notes
    -----
    Schuirmann (1987), doi 10.1007/BF01068419. Where no value differs from the others there is no t;
    p is then 2^-clusters (each sign-flip of a common error) if the mean lies inside.
    """
    if not margin > 0:
        raise ValueError(f"an equivalence margin is above 0, got {margin!r}")
    if not 0 < alpha < 0.5:
        raise ValueError(f"the level of a one-sided test lies between 0 and 1/2, got {alpha!r}")
    found = mean_test(values, cluster=cluster, level=1 - 2 * alpha)
    p = _largest_p(found, margin)
    return Tost(
        margin=margin,
        alpha=alpha,
        means=1,
        low=found.low,
        high=found.high,
        p=p,
        is_equivalent=p is not None and p <= alpha,
        reason=found.reason,
    )


def tost_of_all(tests: Sequence[Tost]) -> Tost:
    """Return the test that every mean lies inside the margin: an intersection-union test.

    Each pair of executions has to pass at alpha; no correction is needed (Berger 1982). One mean
    that cannot be tested leaves the whole undefined.

    Raises
    ------
    ValueError
        If there is no test, or margins or levels differ.
    """
    if not tests or len({(test.margin, test.alpha) for test in tests}) > 1:
        raise ValueError(f"{len(tests)} tests with one margin and one level are needed")
    first = tests[0]
    lows = [test.low for test in tests if test.low is not None]
    highs = [test.high for test in tests if test.high is not None]
    ps = [test.p for test in tests if test.p is not None]
    is_defined = len(ps) == len(tests)
    reasons = [test.reason for test in tests if test.reason is not None]
    return Tost(
        margin=first.margin,
        alpha=first.alpha,
        means=sum(test.means for test in tests),
        low=min(lows) if len(lows) == len(tests) else None,
        high=max(highs) if len(highs) == len(tests) else None,
        p=max(ps) if is_defined else None,
        is_equivalent=is_defined and max(ps) <= first.alpha,
        reason=reasons[0] if reasons else None,
    )


def _largest_p(found: MeanTest, margin: float) -> float | None:
    if found.is_degenerate:
        return 2.0**-found.clusters if abs(found.estimate) < margin else 1.0
    if found.se is None or found.df is None:
        return None
    return t_tail((margin - abs(found.estimate)) / found.se, found.df)
