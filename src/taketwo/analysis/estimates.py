"""Effects and shifts of one metric of one pair of arms, with all their intervals and tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from taketwo.analysis.effects import Effect, HypothesisTest, Interval, Mcnemar, Shift
from taketwo.analysis.headline import bootstrap_interval, decide, t_interval
from taketwo.analysis.intervals import Resampled
from taketwo.analysis.pair_values import Column, PairValues
from taketwo.errors import TooFewClusters
from taketwo.stats.cluster_anova import cluster_anova
from taketwo.stats.multiplicity import holm
from taketwo.stats.paired import Discordant, MeanTest, discordant, mean_test, tango_interval
from taketwo.stats.resampling import PercentileInterval
from taketwo.stats.shift import Omnibus, anova_omnibus, cluster_omnibus
from taketwo.stats.sign_flip import sign_flip

__all__ = [
    "clustered_interval",
    "effects_of",
    "mcnemar_record",
    "omnibus_of",
    "shifts_of",
    "table_omnibus",
    "test_record",
]

FLIP_STREAM = 2
MOST_DRAWN_FLIPS = 3
WALD_NEEDS_DF = 5


def effects_of(
    values: PairValues, resampled: Sequence[Resampled], *, level: float, is_binary: bool
) -> tuple[Effect, ...]:
    """Return the effect of each execution; `resampled` has an entry per execution."""
    found: list[Effect] = []
    clusters = values.clusters
    for k, (column, boot) in enumerate(zip(values.effect_columns(), resampled, strict=True)):
        method = values.method[column.questions, k]
        baseline = values.baseline[column.questions, k]
        question = mean_test(column.values, level=level)
        headline = decide(column, boot, clusters, level=level)
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
                p=question.p,
                headline=headline.interval,
                t_interval=t_interval(question, level=level),
                t_test=test_record(question),
                cr2=_cr2(headline.test, level=level),
                clustered=clustered_interval(boot.by_video, level=level),
                tango=None if changed is None else _tango(changed, question.n, level=level),
                mcnemar=None if changed is None else mcnemar_record(changed),
                supported=headline.is_supported,
                sign=int(np.sign(effect)),
            )
        )
    return tuple(found)


def shifts_of(
    values: PairValues, resampled: Sequence[Resampled], *, level: float, seed: int, draws: int
) -> tuple[Shift, ...]:
    """Return the shift of each pair of executions that has a question in common."""
    found: list[Shift] = []
    clusters = values.clusters
    cells = zip(values.pairs, values.shift_columns(), resampled, strict=True)
    for (earlier, later), column, boot in cells:
        if not len(column.values):
            continue
        question = mean_test(column.values, level=level)
        headline = decide(column, boot, clusters, level=level)
        flipped = _flipped(column, seed=seed, draws=draws, pairs=len(values.pairs))
        found.append(
            Shift(
                earlier=values.executions[earlier],
                later=values.executions[later],
                n=question.n,
                estimate=question.estimate,
                low=None if boot.by_question is None else boot.by_question.low,
                high=None if boot.by_question is None else boot.by_question.high,
                se=None if boot.by_question is None else boot.by_question.se,
                p=question.p,
                p_holm=None,
                headline=headline.interval,
                headline_test=test_record(headline.test),
                t_interval=t_interval(question, level=level),
                test=test_record(question),
                sign_flip=flipped,
                cr2=_cr2(headline.test, level=level),
                clustered=clustered_interval(boot.by_video, level=level),
            )
        )
    return _adjusted(found)


def _flipped(column: Column, *, seed: int, draws: int, pairs: int) -> HypothesisTest:
    """Return the sign-flip test; drawn flips (values that are not whole) for few pairs only."""
    is_whole = bool((column.values == np.rint(column.values)).all())
    if not is_whole and pairs > MOST_DRAWN_FLIPS:
        return HypothesisTest(
            method="sign-flip", reason=f"not exact here, and not drawn for {pairs} pairs"
        )
    found = sign_flip(column.values, rng=np.random.default_rng((seed, FLIP_STREAM)), draws=draws)
    return HypothesisTest(method=found.method, p=found.p, mid_p=found.mid_p)


def _adjusted(shifts: Sequence[Shift]) -> tuple[Shift, ...]:
    """Return the shifts with p adjusted over the pairs of executions of the metric."""
    question = holm([shift.test.p for shift in shifts])
    headline = holm([shift.headline_test.p for shift in shifts])
    return tuple(
        replace(
            shift,
            p_holm=q,
            test=replace(shift.test, p_holm=q),
            headline_test=replace(shift.headline_test, p_holm=h),
        )
        for shift, q, h in zip(shifts, question, headline, strict=True)
    )


def omnibus_of(
    values: PairValues, shifts: Sequence[Shift]
) -> tuple[HypothesisTest | None, HypothesisTest | None]:
    """Return the test that all executions agree, by question and by the unit of the headline.

    Two executions: the test of their shift. More: see `table_omnibus`.
    """
    if len(values.executions) < 2 or not shifts:
        return None, None
    if len(values.executions) == 2:
        question, headline = shifts[0].test, shifts[0].headline_test
        return replace(question, p_holm=None), replace(headline, p_holm=None)
    complete = values.is_complete
    if not complete.any():
        return None, None
    cluster = None if values.cluster is None else values.cluster[complete]
    return table_omnibus(Column(
        values=values.differences[complete], questions=np.flatnonzero(complete), cluster=cluster
    ))  # fmt: skip


def table_omnibus(table: Column) -> tuple[HypothesisTest, HypothesisTest]:
    """Return the tests that K columns (N x K values) have one mean: by question, and by unit.

    By question it is the repeated-measures analysis of variance; where videos hold several questions
    CR2's Wald test goes beside it, and where they are too few for that (fewer than five degrees of
    freedom left) the analysis of variance on CR2's covariance.
    """
    question = _from_omnibus(anova_omnibus(table.values))
    if table.cluster is None or len(np.unique(table.cluster)) == len(table.values):
        return question, question
    try:
        wald = cluster_omnibus(table.values, table.cluster)
        if wald.p is None or (wald.df2 is not None and wald.df2 < WALD_NEEDS_DF):
            return question, _from_omnibus(cluster_anova(table.values, table.cluster))
        return question, _from_omnibus(wald)
    except TooFewClusters as error:
        return question, HypothesisTest(method="CR2 Wald", reason=str(error))


def test_record(test: MeanTest | TooFewClusters) -> HypothesisTest:
    """Return a t test as a record, with the reason where there is none."""
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


def mcnemar_record(changed: Discordant) -> Mcnemar:
    """Return gained and lost questions as a record."""
    return Mcnemar(
        gained=changed.gained,
        lost=changed.lost,
        exact_p=changed.exact_p,
        mid_p=changed.mid_p,
        corrected_p=changed.corrected_p,
    )


def clustered_interval(found: PercentileInterval | None, *, level: float) -> Interval | None:
    """Return the percentile interval over videos as a record."""
    return None if found is None else bootstrap_interval(found, level=level, by_video=True)


def _cr2(test: MeanTest | TooFewClusters, *, level: float) -> Interval | None:
    if isinstance(test, MeanTest) and test.method != "CR2":
        return None
    return t_interval(test, level=level)


def _from_omnibus(test: Omnibus) -> HypothesisTest:
    return HypothesisTest(
        method=test.method,
        statistic=test.statistic,
        df1=test.df1,
        df2=test.df2,
        p=test.p,
        reason=test.reason,
    )


def _tango(changed: Discordant, n: int, *, level: float) -> Interval:
    low, high = tango_interval(changed.gained, changed.lost, n, level=level)
    return Interval(method="Tango score", level=level, low=low, high=high)
