"""The effect where runs of the two arms were not made together: executions are independent samples."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from taketwo.stats.distributions import t_quantile, t_tail
from taketwo.stats.paired import MeanTest, mean_test

__all__ = ["IndependentEffect", "independent_effect"]


@dataclass(frozen=True, kw_only=True)
class IndependentEffect:
    """Mean of the method's runs minus mean of the baseline's, over questions that both answered.

    `se_executions` is the part that runs vary by (Welch on the means of the runs), `se_questions`
    the part by the choice of questions (paired t or CR2 of each question's mean difference); noise
    of single cells is in both and taken out once. Undefined is None; `reason` says why, or what was
    assumed.
    """

    n: int
    baseline_executions: int
    method_executions: int
    level: float
    estimate: float
    se: float | None
    se_executions: float | None
    se_questions: float | None
    df: float | None
    low: float | None
    high: float | None
    p: float | None
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class _Arm:
    """The mean of an arm's runs: variance through executions and through cells, with their df."""

    between: float
    cells: float
    df: float


def independent_effect(
    method: NDArray[np.float64],
    baseline: NDArray[np.float64],
    *,
    cluster: NDArray[np.int64] | None = None,
    level: float = 0.95,
) -> IndependentEffect:
    """Return the effect of two sets of independent runs on the same questions.

    Parameters
    ----------
    method, baseline
        N x Ka and N x Kb outcomes, questions in the same order, without missing values.
    cluster
        N integer codes for CR2, None for the paired t.
    level
        Coverage of the interval.

    Raises
    ------
    ValueError
        If the tables differ in questions, are empty or hold a value that is not finite.
    TooFewClusters
        If several questions stand on one cluster.

    Notes
    -----
    ``V = s_a^2 / Ka + s_b^2 / Kb + V_q - V_cells`` with s^2 the variance of run means, V_q that of the
    mean of the questions' differences, and V_cells the mean square of cells, ``MSR / (N K)`` of each
    arm, which the other two both contain; never below either of them. Degrees of freedom by
    Satterthwaite (Welch 1947). An arm with one run takes the other arm's variance between runs. With
    one run in both, only questions are known to vary and the interval says so.
    """
    if len(method) != len(baseline) or not method.size or not baseline.size:
        raise ValueError(f"both arms need the same questions, got {method.shape} and {baseline.shape}")  # fmt: skip
    n, ka, kb = len(method), method.shape[1], baseline.shape[1]
    questions = mean_test(method.mean(axis=1) - baseline.mean(axis=1), cluster=cluster, level=level)

    finish = partial(_finish, questions, (n, kb, ka), level)
    if questions.se is None or questions.df is None:
        return finish(None, None, None, questions.reason)
    arms = _arms(method, baseline)
    by_question = questions.se**2
    if not arms:
        reason = "1 run of each arm: what runs vary by is not in the interval"
        return finish(None, by_question or None, questions.df, reason)
    between, cells = sum(arm.between for arm in arms), sum(arm.cells for arm in arms)
    variance = max(between + by_question - cells, between, by_question)
    if variance == 0:
        return finish(between, None, None, "zero variance: no t")
    weight = by_question**2 / questions.df + sum(arm.between**2 / arm.df for arm in arms)
    pooled = min(ka, kb) == 1
    reason = "an arm with 1 run takes the other arm's variance between runs" if pooled else None
    return finish(between, variance, variance**2 / weight, reason)


def _finish(
    questions: MeanTest,
    sizes: tuple[int, int, int],
    level: float,
    executions: float | None,
    variance: float | None,
    df: float | None,
    reason: str | None,
) -> IndependentEffect:
    se = None if variance is None else math.sqrt(variance)
    half = None if se is None or df is None else t_quantile((1 + level) / 2, df) * se
    return IndependentEffect(
        n=sizes[0],
        baseline_executions=sizes[1],
        method_executions=sizes[2],
        level=level,
        estimate=questions.estimate,
        se=se,
        se_executions=None if executions is None else math.sqrt(executions),
        se_questions=questions.se,
        df=df,
        low=None if half is None else questions.estimate - half,
        high=None if half is None else questions.estimate + half,
        p=2 * t_tail(abs(questions.estimate) / se, df) if se and df else None,
        reason=reason,
    )


def _arms(method: NDArray[np.float64], baseline: NDArray[np.float64]) -> tuple[_Arm, ...]:
    """Return both arms, the one with a single run by the other's variance; nothing if both have one."""
    tables = (method, baseline)
    known = [table for table in tables if table.shape[1] > 1]
    if not known:
        return ()
    found: list[_Arm] = []
    for table in tables:
        source = table if table.shape[1] > 1 else known[0]
        n, k = source.shape
        rest = source - source.mean(axis=0) - source.mean(axis=1, keepdims=True) + source.mean()
        residual = float((rest**2).sum()) / max(1, (n - 1) * (k - 1))
        executions = table.shape[1]
        found.append(
            _Arm(
                between=float(source.mean(axis=0).var(ddof=1)) / executions,
                cells=residual / n / executions,
                df=k - 1,
            )
        )
    return tuple(found)
