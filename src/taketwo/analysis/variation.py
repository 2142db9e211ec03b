"""What executions vary by, and what that says of their average and of the next one."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from taketwo.analysis.effects import Effect, HypothesisTest
from taketwo.analysis.headline import unit_test
from taketwo.analysis.pair_values import PairValues
from taketwo.stats.components import (
    Components,
    NextExecution,
    next_execution,
    single_run_coverage,
    variance_components,
)
from taketwo.stats.distributions import t_quantile, t_tail
from taketwo.stats.paired import MeanTest

__all__ = [
    "ArmRuns",
    "Average",
    "PairCounts",
    "Variation",
    "average_of",
    "counts_of",
    "variation_of",
]


@dataclass(frozen=True, kw_only=True)
class Average:
    """The effect averaged over executions, with both kinds of noise in its interval.

    `se_executions` is the part that executions vary by, `se_questions` the part by the choice of
    questions; noise of single cells is in both and taken out once.
    """

    method: str
    n: int
    effect: float
    se: float | None
    se_executions: float | None
    se_questions: float | None
    df: float | None
    low: float | None
    high: float | None
    p: float | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class PairCounts:
    """Of `n` pairs of runs, in how many the effect is supported with either sign, and in how many not.

    For executions that were run together the pairs are the executions themselves.
    """

    n: int
    supported_positive: int
    supported_negative: int
    unsupported: int


@dataclass(frozen=True, kw_only=True)
class ArmRuns:
    """The runs of one arm by itself: their means' average and standard deviation, and their test.

    `omnibus` tests by question that all its runs have one mean, `headline_omnibus` by the unit of the
    headline; their `p_holm` is over the two arms of the comparison.
    """

    arm: str
    executions: int
    mean: float
    sd: float | None
    components: Components
    omnibus: HypothesisTest | None
    headline_omnibus: HypothesisTest | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Variation:
    """Components of the effect and the prediction for the next execution, for paired executions.

    `single_run_coverage` is how often the interval of one execution, as wide as the average one here,
    covers the effect averaged over executions if tau is what was estimated (`at_tau_low`: if it is the
    lower end of its interval).
    """

    components: Components
    next_execution: NextExecution
    single_run_coverage: float | None
    single_run_coverage_at_tau_low: float | None
    reason: str | None = None


def variation_of(
    values: PairValues, effects: tuple[Effect, ...], *, level: float
) -> Variation | None:
    """Return what the effect varies by between executions, None for one execution."""
    if len(effects) < 2 or not values.is_complete.any():
        return None
    components = variance_components(values.differences[values.is_complete], level=level)
    following = next_execution(np.array([effect.effect for effect in effects]), level=level)
    ses = [effect.se for effect in effects if effect.se]
    coverage, at_low = None, None
    if len(ses) == len(effects) and components.tau is not None:
        se = sum(ses) / len(ses)
        coverage = single_run_coverage(se, components.tau, level=level)
        at_low = single_run_coverage(se, components.tau_low or 0.0, level=level)
    return Variation(
        components=components,
        next_execution=following,
        single_run_coverage=coverage,
        single_run_coverage_at_tau_low=at_low,
        reason=None if coverage is not None else "needs a standard error in every execution",
    )


def average_of(values: PairValues, *, level: float) -> Average | None:
    """Return the effect averaged over paired executions, None where no question is complete.

    ``V = s_K^2 / K + V_q - MSR / (N K)``, never below either of the first two; degrees of freedom by
    Satterthwaite. With one execution only questions are known to vary.
    """
    complete = values.is_complete
    if not complete.any():
        return None
    d = values.differences[complete]
    n, k = d.shape
    test = unit_test(values.column(np.where(complete, values.differences.mean(axis=1), np.nan)), level=level)  # fmt: skip
    effect = float(d.mean())
    if not isinstance(test, MeanTest) or test.se is None or test.df is None:
        reason = test.reason if isinstance(test, MeanTest) else str(test)
        return _average("", n, effect, None, None, None, None, level, reason)
    if k < 2:
        return _average(
            test.method, n, effect, None, test.se, test.se or None, test.df, level,
            "1 execution: what executions vary by is not in the interval",
        )  # fmt: skip
    rest = d - d.mean(axis=0) - d.mean(axis=1, keepdims=True) + effect
    cells = float((rest**2).sum()) / max(1, (n - 1) * (k - 1)) / n / k
    between, questions = float(d.mean(axis=0).var(ddof=1)) / k, test.se**2
    variance = max(between + questions - cells, between, questions)
    if variance == 0:
        return _average(
            test.method, n, effect, 0.0, 0.0, None, None, level, "zero variance: no interval"
        )
    df = variance**2 / (questions**2 / test.df + between**2 / (k - 1))
    return _average(
        f"{test.method} and executions", n, effect, between**0.5, test.se, variance**0.5, df, level,
        None,
    )  # fmt: skip


def _average(
    method: str,
    n: int,
    effect: float,
    executions: float | None,
    questions: float | None,
    se: float | None,
    df: float | None,
    level: float,
    reason: str | None,
) -> Average:
    half = None if se is None or df is None else t_quantile((1 + level) / 2, df) * se
    return Average(
        method=method,
        n=n,
        effect=effect,
        se=se,
        se_executions=executions,
        se_questions=questions,
        df=df,
        low=None if half is None else effect - half,
        high=None if half is None else effect + half,
        p=2 * t_tail(abs(effect) / se, df) if se and df else None,
        reason=reason,
    )


def counts_of(supports: tuple[int | None, ...]) -> PairCounts:
    """Return how many pairs of runs support either sign; one without an interval supports none."""
    return PairCounts(
        n=len(supports),
        supported_positive=sum(support == 1 for support in supports),
        supported_negative=sum(support == -1 for support in supports),
        unsupported=sum(support in {0, None} for support in supports),
    )
