"""The numbers about one metric of one pair of arms: effects, shifts and movements of the arms.

`low`, `high` and `se` of an effect or a shift are by question (percentile bootstrap), `p` is that of
the paired t by question; its `headline` interval is the one that decides support and verdict, and
says by name what it is. A number that is not defined is None, and a `reason` beside it says why; it
is never 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from pydantic import Field

from taketwo.analysis.verdict import Verdict

__all__ = [
    "Bounds",
    "Effect",
    "Equivalence",
    "HypothesisTest",
    "Interval",
    "Mcnemar",
    "Movement",
    "Sensitivity",
    "Shift",
]


@dataclass(frozen=True, kw_only=True)
class Interval:
    """A confidence interval; `method` names it, `df` are its degrees of freedom where it has some."""

    method: str
    level: float
    low: float | None
    high: float | None
    se: float | None = None
    df: float | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class HypothesisTest:
    """A two-sided test. For a t, `df1` is 1, `df2` its degrees of freedom, `statistic` the t itself.

    `p_holm` is adjusted over the family that the record that holds the test names, `p_holm_arms` over
    the comparisons of a study (None where there is one only); `mid_p` is given where the distribution
    is a lattice.
    """

    method: str
    statistic: float | None = None
    df1: float | None = None
    df2: float | None = None
    p: float | None = None
    mid_p: float | None = None
    p_holm: float | None = None
    p_holm_arms: float | None = None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Mcnemar:
    """Discordant questions: `gained` wrong then right, `lost` right then wrong.

    `corrected_p` is the chi-square with Edwards' continuity correction, which the REPAIR paper
    prints under the name "exact"; it is here for parity only.
    """

    gained: int
    lost: int
    exact_p: float
    mid_p: float
    corrected_p: float


@dataclass(frozen=True, kw_only=True)
class Bounds:
    """What the number could be if every failed cell had gone as badly, or as well, as it can.

    Over all questions of the population before the treatment of failed cells; `n_failed` counts the
    failed cells that it moves.
    """

    low: float
    high: float
    n: int
    n_failed: int


@dataclass(frozen=True, kw_only=True)
class Effect:
    """Method minus baseline inside one execution.

    `supported` is whether the headline interval excludes zero, strictly; `sign` is the sign of the
    point estimate (-1, 0, 1). `relative` is the effect over the baseline's mean, None where that is
    0. `cr2` and `clustered` are the interval by CR2 and the percentile bootstrap over videos, None
    where no video holds several questions.
    """

    execution: int
    n: int
    baseline_mean: float
    method_mean: float
    effect: float
    relative: float | None
    low: float | None
    high: float | None
    se: float | None
    p: float | None
    headline: Interval
    t_interval: Interval
    t_test: HypothesisTest
    cr2: Interval | None
    clustered: Interval | None
    tango: Interval | None
    mcnemar: Mcnemar | None
    supported: bool
    sign: int
    worst_case: Bounds | None = None

    @property
    def support(self) -> int:
        """Return the sign where the effect is supported, else 0."""
        return self.sign if self.supported else 0


@dataclass(frozen=True, kw_only=True)
class Shift:
    """Effect in an earlier execution minus effect in a later one, paired by question.

    `test` is the paired t by question and `p` its p, `headline_test` the test by the unit of the
    headline (CR2 over videos, or the paired t again); `p_holm` of both is over the pairs of executions
    of this metric.
    """

    earlier: Annotated[int, Field(alias="from")]
    later: Annotated[int, Field(alias="to")]
    n: int
    estimate: float
    low: float | None
    high: float | None
    se: float | None
    p: float | None
    p_holm: float | None
    headline: Interval
    headline_test: HypothesisTest
    t_interval: Interval
    test: HypothesisTest
    sign_flip: HypothesisTest
    cr2: Interval | None
    clustered: Interval | None
    worst_case: Bounds | None = None


@dataclass(frozen=True, kw_only=True)
class Movement:
    """What one arm did between two executions; shift = `re` of the baseline minus `re` of the method.

    `re` is later minus earlier. For a binary metric `gained` and `lost` count questions, `churn` is
    their share, `net` is (gained - lost) over n and `net_share` |gained - lost| over (gained + lost).
    For all metrics `changed` is the share of questions whose value differs. `interval` is by CR2 or
    the paired t; `percentile` and `clustered` stand beside it for up to three pairs of executions.
    """

    arm: str
    earlier: Annotated[int, Field(alias="from")]
    later: Annotated[int, Field(alias="to")]
    n: int
    re: float
    changed: float
    mean_absolute_change: float
    interval: Interval
    test: HypothesisTest
    percentile: Interval | None = None
    clustered: Interval | None = None
    gained: int | None = None
    lost: int | None = None
    churn: float | None = None
    net: float | None = None
    net_share: float | None = None
    mcnemar: Mcnemar | None = None


@dataclass(frozen=True, kw_only=True)
class Equivalence:
    """Two one-sided tests on every shift: whether the 1 - 2 alpha interval lies inside the margin."""

    margin: float
    level: float
    low: float | None
    high: float | None
    passed: bool
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Sensitivity:
    """The same numbers on every question that an execution, or a pair, has by itself."""

    ns: tuple[int, ...]
    effects: tuple[float | None, ...]
    supports: tuple[int | None, ...]
    shift_estimates: tuple[float | None, ...]
    verdict: Verdict
