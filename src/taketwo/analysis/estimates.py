"""Effects, shifts and movements of one metric of one pair of arms, with all their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.effects import Effect, HypothesisTest, Interval, Mcnemar, Movement, Shift
from taketwo.analysis.pair_values import FLIP_STREAM, Column, PairValues, Resampled
from taketwo.errors import TooFewClusters
from taketwo.stats.multiplicity import holm
from taketwo.stats.paired import Discordant, MeanTest, discordant, mean_test, tango_interval
from taketwo.stats.resampling import PercentileInterval
from taketwo.stats.shift import Omnibus, anova_omnibus, cluster_omnibus
from taketwo.stats.sign_flip import sign_flip

__all__ = ["effects_of", "headline_test", "movements_of", "omnibus_of", "shifts_of"]


def headline_test(column: Column, *, level: float) -> MeanTest | TooFewClusters:
    """Return the test that decides: CR2 where videos hold several questions, else the paired t.

    The error instead where all questions stand on one video: it is a fact about the number.
    """
    try:
        return mean_test(column.values, cluster=column.cluster, level=level)
    except TooFewClusters as error:
        return error


def effects_of(
    values: PairValues, resampled: Sequence[Resampled], *, level: float, is_binary: bool
) -> tuple[Effect, ...]:
    """Return the effect of each execution; `resampled` has an entry per execution."""
    found: list[Effect] = []
    for k, (column, boot) in enumerate(zip(values.effect_columns(), resampled, strict=True)):
        method = values.method[column.questions, k]
        baseline = values.baseline[column.questions, k]
        question = mean_test(column.values, level=level)
        headline = headline_test(column, level=level)
        changed = discordant(method, baseline) if is_binary else None
        mean = float(baseline.mean())
        effect = question.estimate
        found.append(
            Effect(
                execution=values.executions[k],
                n=question.n,
                baseline_mean=mean,
                method_mean=float(method.mean()),
                effect=effect,
                relative=None if mean == 0 else effect / mean,
                low=None if boot.by_question is None else boot.by_question.low,
                high=None if boot.by_question is None else boot.by_question.high,
                se=None if boot.by_question is None else boot.by_question.se,
                headline=_interval(headline, level=level),
                t_interval=_interval(question, level=level),
                t_test=_t_test(question),
                clustered=_clustered(boot.by_video, level=level),
                tango=None if changed is None else _tango(changed, question.n, level=level),
                mcnemar=None if changed is None else _mcnemar(changed),
                supported=isinstance(headline, MeanTest) and headline.is_supported,
                sign=int(np.sign(effect)),
            )
        )
    return tuple(found)


def shifts_of(
    values: PairValues, resampled: Sequence[Resampled], *, level: float, seed: int, draws: int
) -> tuple[Shift, ...]:
    """Return the shift of each pair of executions that has a question in common."""
    found: list[Shift] = []
    cells = zip(values.pairs, values.shift_columns(), resampled, strict=True)
    for (earlier, later), column, boot in cells:
        if not len(column.values):
            continue
        question = mean_test(column.values, level=level)
        headline = headline_test(column, level=level)
        rng = np.random.default_rng((seed, FLIP_STREAM))
        flipped = sign_flip(column.values, rng=rng, draws=draws)
        found.append(
            Shift(
                earlier=values.executions[earlier],
                later=values.executions[later],
                n=question.n,
                estimate=question.estimate,
                low=None if boot.by_question is None else boot.by_question.low,
                high=None if boot.by_question is None else boot.by_question.high,
                se=None if boot.by_question is None else boot.by_question.se,
                headline=_interval(headline, level=level),
                headline_test=_t_test(headline),
                t_interval=_interval(question, level=level),
                test=_t_test(question),
                sign_flip=HypothesisTest(method=flipped.method, p=flipped.p, mid_p=flipped.mid_p),
                clustered=_clustered(boot.by_video, level=level),
            )
        )
    return _adjusted(found)


def _adjusted(shifts: Sequence[Shift]) -> tuple[Shift, ...]:
    """Return the shifts with p adjusted over the pairs of executions of the metric."""
    question = holm([shift.test.p for shift in shifts])
    headline = holm([shift.headline_test.p for shift in shifts])
    return tuple(
        replace(
            shift,
            test=replace(shift.test, p_holm=q),
            headline_test=replace(shift.headline_test, p_holm=h),
        )
        for shift, q, h in zip(shifts, question, headline, strict=True)
    )


def omnibus_of(
    values: PairValues, shifts: Sequence[Shift]
) -> tuple[HypothesisTest | None, HypothesisTest | None]:
    """Return the test that all executions agree, by question and in the headline's way.

    Two executions: the test of their shift. More: repeated-measures analysis of variance by
    question, and a CR2 Wald test where videos hold several questions.
    """
    if len(values.executions) < 2 or not shifts:
        return None, None
    if len(values.executions) == 2:
        question, headline = shifts[0].test, shifts[0].headline_test
        return replace(question, p_holm=None), replace(headline, p_holm=None)
    complete = values.is_complete
    if not complete.any():
        return None, None
    d = values.differences[complete]
    question = _from_omnibus(anova_omnibus(d))
    if values.cluster is None or len(np.unique(values.cluster[complete])) == len(d):
        return question, question
    try:
        return question, _from_omnibus(cluster_omnibus(d, values.cluster[complete]))
    except TooFewClusters as error:
        return question, HypothesisTest(method="CR2 Wald", reason=str(error))


def movements_of(values: PairValues, *, level: float, is_binary: bool) -> tuple[Movement, ...]:
    """Return what each arm did between each pair of executions, baseline first."""
    arms = ((values.baseline_name, values.baseline), (values.method_name, values.method))
    return tuple(
        _movement(values, name, cells, pair, level=level, is_binary=is_binary)
        for pair in values.pairs
        for name, cells in arms
        if np.isfinite(values.differences[:, list(pair)]).all(axis=1).any()
    )


def _movement(
    values: PairValues,
    name: str,
    cells: NDArray[np.float64],
    pair: tuple[int, int],
    *,
    level: float,
    is_binary: bool,
) -> Movement:
    used = np.isfinite(values.differences[:, list(pair)]).all(axis=1)
    before, after = cells[used, pair[0]], cells[used, pair[1]]
    cluster = None if values.cluster is None else values.cluster[used]
    column = Column(values=after - before, questions=np.flatnonzero(used), cluster=cluster)
    headline = headline_test(column, level=level)
    changed = discordant(after, before) if is_binary else None
    n, flips = len(before), 0 if changed is None else changed.gained + changed.lost
    return Movement(
        arm=name,
        earlier=values.executions[pair[0]],
        later=values.executions[pair[1]],
        n=n,
        re=float(column.values.mean()),
        changed=float((column.values != 0).mean()),
        mean_absolute_change=float(np.abs(column.values).mean()),
        interval=_interval(headline, level=level),
        test=_t_test(headline),
        gained=None if changed is None else changed.gained,
        lost=None if changed is None else changed.lost,
        churn=None if changed is None else flips / n,
        net=None if changed is None else (changed.gained - changed.lost) / n,
        net_share=abs(changed.gained - changed.lost) / flips if changed and flips else None,
        mcnemar=None if changed is None else _mcnemar(changed),
    )


def _interval(test: MeanTest | TooFewClusters, *, level: float) -> Interval:
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


def _t_test(test: MeanTest | TooFewClusters) -> HypothesisTest:
    if isinstance(test, TooFewClusters):
        return HypothesisTest(method="CR2", reason=str(test))
    return HypothesisTest(
        method="exact sign-flip" if test.is_degenerate else test.method,
        statistic=test.statistic,
        df1=None if test.statistic is None else 1.0,
        df2=test.df,
        p=test.p,
        reason=test.reason,
    )


def _from_omnibus(test: Omnibus) -> HypothesisTest:
    return HypothesisTest(
        method=test.method,
        statistic=test.statistic,
        df1=test.df1,
        df2=test.df2,
        p=test.p,
        reason=test.reason,
    )


def _clustered(interval: PercentileInterval | None, *, level: float) -> Interval | None:
    if interval is None:
        return None
    return Interval(
        method="cluster percentile bootstrap",
        level=level,
        low=interval.low,
        high=interval.high,
        se=interval.se,
    )


def _tango(changed: Discordant, n: int, *, level: float) -> Interval:
    low, high = tango_interval(changed.gained, changed.lost, n, level=level)
    return Interval(method="Tango score", level=level, low=low, high=high)


def _mcnemar(changed: Discordant) -> Mcnemar:
    return Mcnemar(
        gained=changed.gained,
        lost=changed.lost,
        exact_p=changed.exact_p,
        mid_p=changed.mid_p,
        corrected_p=changed.corrected_p,
    )
