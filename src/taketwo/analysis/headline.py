"""Which interval decides: the percentile bootstrap over many units, CR2 or the paired t over few.

Units are the videos where some hold several questions, else the questions. Fewer than 50 units, or
one with more than a tenth of the questions, and the percentile bootstrap is too short (82.7 % at 5
videos, 91.8 % at 30 questions); CR2 with Satterthwaite's degrees of freedom (the paired t where every
unit is a question) then decides. Above that all agree, and the interval is the one that the field
reads, with infinitely many draws. Tests are by t (CR2) throughout.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taketwo.analysis.effects import Interval
from taketwo.analysis.intervals import Resampled
from taketwo.analysis.pair_values import Clusters, Column
from taketwo.errors import TooFewClusters
from taketwo.stats.paired import MeanTest, mean_test
from taketwo.stats.resampling import PercentileInterval

__all__ = ["Decided", "bootstrap_interval", "decide", "t_interval", "unit_test"]


@dataclass(frozen=True, kw_only=True)
class Decided:
    """The interval that decides, and the test by the same unit."""

    interval: Interval
    test: MeanTest | TooFewClusters
    is_supported: bool

    @property
    def support(self) -> int | None:
        """Return the sign where the interval excludes zero, 0 where not, None without an interval."""
        if self.interval.low is None or isinstance(self.test, TooFewClusters):
            return None
        return int(np.sign(self.test.estimate)) if self.is_supported else 0


def unit_test(column: Column, *, level: float) -> MeanTest | TooFewClusters:
    """Return the test by unit: CR2 where videos hold several questions, else the paired t.

    The error instead where all questions stand on one video: it is a fact about the number.
    """
    try:
        return mean_test(column.values, cluster=column.cluster, level=level)
    except TooFewClusters as error:
        return error


def decide(
    column: Column, resampled: Resampled, clusters: Clusters | None, *, level: float
) -> Decided:
    """Return the interval that decides about a mean, by the rule above."""
    test = unit_test(column, level=level)
    by_video = clusters is not None and clusters.hold_several
    found = resampled.by_video if by_video else resampled.by_question
    is_few = clusters is None or clusters.are_few
    if is_few or found is None or isinstance(test, TooFewClusters) or test.is_degenerate:
        supported = isinstance(test, MeanTest) and test.is_supported
        return Decided(interval=t_interval(test, level=level), test=test, is_supported=supported)
    interval = bootstrap_interval(found, level=level, by_video=by_video)
    is_supported = found.low > 0 or found.high < 0
    return Decided(interval=interval, test=test, is_supported=is_supported)


def bootstrap_interval(found: PercentileInterval, *, level: float, by_video: bool) -> Interval:
    """Return a percentile interval under its name."""
    method = "cluster percentile bootstrap" if by_video else "percentile bootstrap"
    return Interval(method=method, level=level, low=found.low, high=found.high, se=found.se)


def t_interval(test: MeanTest | TooFewClusters, *, level: float) -> Interval:
    """Return the interval of a test under its name, with the reason where there is none."""
    if isinstance(test, TooFewClusters):
        return Interval(method="CR2", level=level, low=None, high=None, reason=str(test))
    return Interval(
        method=test.method,
        level=level,
        low=test.low,
        high=test.high,
        se=test.se,
        df=test.df,
        reason=test.reason,
    )
