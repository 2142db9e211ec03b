"""How much the effect differs between executions, and what that says about the next one."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.distributions import f_quantile, normal_cdf, normal_quantile, t_quantile, t_tail

__all__ = [
    "Components",
    "NextExecution",
    "next_execution",
    "single_run_coverage",
    "variance_components",
]

TRUSTED_EXECUTIONS = 8
INFORMATIVE_EXECUTIONS = 4


@dataclass(frozen=True, kw_only=True)
class Components:
    """Standard deviations of an effect's parts, in the unit of the effect.

    `tau` is that of the execution (a shock that all its questions share), `question` that of the
    question (in all executions alike), `residual` that of a question in an execution. `tau_low` and
    `tau_high` are an exact interval. `question_noise` is residual / sqrt(N): what one execution's
    effect varies by through its questions alone. Undefined is None, and `reason` says why.
    """

    n: int
    executions: int
    level: float
    tau: float | None
    tau_low: float | None
    tau_high: float | None
    question: float | None
    residual: float | None
    question_noise: float | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class NextExecution:
    """What the effects of K executions say about one more, of the same questions.

    `low` and `high` predict its effect. `p_reversal` is the probability that its sign differs from
    that of the mean; it is model-based and optimistic at small K, and `note` says so.
    `p_outside_range` needs no model: 2 / (K + 1) is the probability that the next effect lies outside
    the range of those observed.
    """

    executions: int
    level: float
    mean: float
    s_k: float | None
    low: float | None
    high: float | None
    p_reversal: float | None
    p_outside_range: float
    note: str
    reason: str | None = None


def variance_components(effects: NDArray[np.float64], *, level: float = 0.95) -> Components:
    """Return the variance components of N questions x K executions by the moments of the ANOVA.

    Parameters
    ----------
    effects
        N x K differences, one row a question, without missing values.
    level
        Coverage of the interval of tau.

    Raises
    ------
    ValueError
        If `effects` is not a table of finite values with at least one row and column.

    Notes
    -----
    With mean squares MSQ of questions, MSE of executions and MSR of the rest:
    ``tau^2 = (MSE - MSR) / N``, ``question^2 = (MSQ - MSR) / K``, ``residual^2 = MSR``, negative
    ones cut to 0. The interval inverts ``F = MSE / MSR`` (Burdick and Graybill 1992): its ends are
    ``sqrt(max(0, F / F_q - 1) MSR / N)`` with the upper and the lower quantile of
    F(K - 1, (K - 1)(N - 1)). It is exact where effects of executions and residuals are normal and
    questions vary independently inside an execution.
    """
    if effects.ndim != 2 or not effects.size or not np.isfinite(effects).all():
        raise ValueError(
            f"variance components need a finite questions x executions table, got {effects.shape}"
        )
    n, k = effects.shape
    if n < 2 or k < 2:
        reason = "1 question has no variance" if n < 2 else "1 execution has no spread"
        return _no_components(n, k, level, reason)
    centre = float(effects.mean())
    rows = effects.mean(axis=1) - centre
    columns = effects.mean(axis=0) - centre
    rest = effects - centre - rows[:, None] - columns
    ms_question = k * float(rows @ rows) / (n - 1)
    ms_execution = n * float(columns @ columns) / (k - 1)
    ms_residual = float((rest**2).sum()) / ((n - 1) * (k - 1))
    if ms_residual <= (1e-12 * float(np.abs(effects).max())) ** 2:
        return _no_components(n, k, level, "zero variance: every question moved alike")
    ratio, df = ms_execution / ms_residual, ((k - 1), (k - 1) * (n - 1))

    def bound(probability: float) -> float:
        excess = ratio / f_quantile(probability, *df) - 1
        return math.sqrt(max(0.0, excess) * ms_residual / n)

    return Components(
        n=n,
        executions=k,
        level=level,
        tau=math.sqrt(max(0.0, ms_execution - ms_residual) / n),
        tau_low=bound((1 + level) / 2),
        tau_high=bound((1 - level) / 2),
        question=math.sqrt(max(0.0, ms_question - ms_residual) / k),
        residual=math.sqrt(ms_residual),
        question_noise=math.sqrt(ms_residual / n),
    )


def next_execution(effects: NDArray[np.float64], *, level: float = 0.95) -> NextExecution:
    """Return the prediction for the effect of one more execution from those of K.

    Parameters
    ----------
    effects
        K effects, one per execution, finite.

    Raises
    ------
    ValueError
        If there is no effect or one is not finite.

    Notes
    -----
    ``mean +- t_(K-1) s_K sqrt(1 + 1/K)``: exact for normal effects whatever the noise inside an
    execution (covers 94.8 to 95.4 % at K = 2 to 10, simulated). ``p_reversal = T_(K-1)(-|mean| /
    (s_K sqrt(1 + 1/K)))`` conditions on the observed sign: with a true effect of 2 and tau of 8 it
    says 0.30 (K = 2) and 0.37 (K = 7) where 0.47 and 0.45 happen.
    """
    k = len(effects)
    if not k or not np.isfinite(effects).all():
        raise ValueError(f"a prediction needs finite effects, got {k}")
    mean, outside = float(effects.mean()), 2 / (k + 1)
    if k < 2:
        return NextExecution(
            executions=k, level=level, mean=mean, s_k=None, low=None, high=None, p_reversal=None,
            p_outside_range=1.0, note="nothing is known about the next execution",
            reason="1 execution has no spread",
        )  # fmt: skip
    s_k = float(effects.std(ddof=1))
    spread = s_k * math.sqrt(1 + 1 / k)
    half = t_quantile((1 + level) / 2, k - 1) * spread
    degenerate = s_k <= 1e-12 * float(np.abs(effects).max())
    return NextExecution(
        executions=k,
        level=level,
        mean=mean,
        s_k=s_k,
        low=None if degenerate else mean - half,
        high=None if degenerate else mean + half,
        p_reversal=None if degenerate else t_tail(abs(mean) / spread, k - 1),
        p_outside_range=outside,
        note=_note(k),
        reason="all executions have the same effect" if degenerate else None,
    )


def _note(k: int) -> str:
    optimism = "probability of reversal: model-based"
    if k < TRUSTED_EXECUTIONS:
        optimism += f", optimistic at {k} executions"
    if k < INFORMATIVE_EXECUTIONS:
        return (
            f"{optimism}; the interval needs {INFORMATIVE_EXECUTIONS} executions to be informative"
        )
    return optimism


def single_run_coverage(se: float, tau: float, *, level: float = 0.95) -> float:
    """Return how often the interval of one execution covers the effect averaged over executions.

    ``2 Phi(z se / sqrt(se^2 + tau^2)) - 1``: the nominal level at tau = 0, 84 % at tau = se, 23 % at
    tau = 6.6 se.

    Parameters
    ----------
    se
        Standard error that the interval was built from, above 0.
    tau
        Standard deviation of the effect between executions, in the same unit.

    Raises
    ------
    ValueError
        If `se` is not above 0 or `tau` is negative.
    """
    if not se > 0 or not tau >= 0:
        raise ValueError(f"a standard error above 0 and a tau of at least 0 are needed, got {se!r} and {tau!r}")  # fmt: skip
    z = normal_quantile((1 + level) / 2)
    return 2 * normal_cdf(z * se / math.hypot(se, tau)) - 1


def _no_components(n: int, k: int, level: float, reason: str) -> Components:
    return Components(
        n=n, executions=k, level=level, tau=None, tau_low=None, tau_high=None, question=None,
        residual=None, question_noise=None, reason=reason,
    )  # fmt: skip
