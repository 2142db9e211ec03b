"""One metric of one pair of arms, from numbers to verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from taketwo.analysis.comparison import MetricComparison
from taketwo.analysis.denominators import effect_bounds, shift_bounds
from taketwo.analysis.diagnostics import flags_of, sentence_of
from taketwo.analysis.effects import (
    Effect,
    Equivalence,
    HypothesisTest,
    Movement,
    Sensitivity,
    Shift,
)
from taketwo.analysis.estimates import (
    effects_of,
    headline_test,
    movements_of,
    omnibus_of,
    shifts_of,
)
from taketwo.analysis.pair_values import PairValues, Resampled, pair_values
from taketwo.analysis.spread import spread_of
from taketwo.analysis.verdict import VERDICT_TEXTS, Verdict, paper_label, verdict_of
from taketwo.executions.rule import Rule
from taketwo.outcomes.pairing import PairedOutcomes
from taketwo.outcomes.table import COLUMNS
from taketwo.stats.paired import MeanTest
from taketwo.stats.shift import reversal_p

__all__ = ["Numbers", "comparison_of", "numbers_of"]

UNITS = {column.name: column.unit for column in COLUMNS}


@dataclass(frozen=True, kw_only=True)
class Numbers:
    """What is known of a metric before the family is corrected.

    `own` are support and estimate on the questions that each execution has by itself, None where
    that is the population anyway; `own_p` the p of its shift.
    """

    values: PairValues
    effects: tuple[Effect, ...]
    shifts: tuple[Shift, ...]
    movements: tuple[Movement, ...]
    omnibus: HypothesisTest | None
    headline: HypothesisTest | None
    equivalence: Equivalence | None
    own: Sensitivity | None
    own_p: float | None


def numbers_of(
    paired: PairedOutcomes,
    rule: Rule,
    values: PairValues,
    resampled: Sequence[Resampled],
    *,
    seed: int,
    draws: int,
) -> Numbers:
    """Return effects, shifts, movements and tests; `resampled` has effects first, then shifts."""
    k, is_binary = len(values.executions), values.metric == "accuracy"
    effects = effects_of(values, resampled[:k], level=rule.level, is_binary=is_binary)
    shifts = shifts_of(values, resampled[k:], level=rule.level, seed=seed, draws=draws)
    if is_binary:
        effects, shifts = _with_bounds(paired, values, effects, shifts)
    omnibus, headline = omnibus_of(values, shifts)
    own, own_p = _sensitivity(paired, rule, values, headline)
    return Numbers(
        values=values,
        effects=effects,
        shifts=shifts,
        movements=movements_of(values, level=rule.level, is_binary=is_binary),
        omnibus=omnibus,
        headline=headline,
        equivalence=_equivalence(values, rule),
        own=own,
        own_p=own_p,
    )


def _with_bounds(
    paired: PairedOutcomes,
    values: PairValues,
    effects: Sequence[Effect],
    shifts: Sequence[Shift],
) -> tuple[tuple[Effect, ...], tuple[Shift, ...]]:
    at = {execution: index for index, execution in enumerate(values.executions)}
    method = values.method_name
    return (
        tuple(
            replace(effect, worst_case=effect_bounds(paired, method, at[effect.execution]))
            for effect in effects
        ),
        tuple(
            replace(
                shift,
                worst_case=shift_bounds(paired, method, at[shift.earlier], at[shift.later]),
            )
            for shift in shifts
        ),
    )


def _equivalence(values: PairValues, rule: Rule) -> Equivalence | None:
    """Return the two one-sided tests of every shift against the declared margin (Schuirmann 1987)."""
    margin = rule.margins.get(values.metric)
    if margin is None or len(values.executions) < 2:
        return None
    level = 2 * rule.level - 1
    tests = [headline_test(column, level=level) for column in values.shift_columns()]
    lows = [test.low for test in tests if isinstance(test, MeanTest) and test.low is not None]
    highs = [test.high for test in tests if isinstance(test, MeanTest) and test.high is not None]
    if len(lows) < len(tests):
        return Equivalence(
            margin=margin, level=level, low=None, high=None, passed=False,
            reason="some shift has no interval",
        )  # fmt: skip
    low, high = min(lows), max(highs)
    return Equivalence(
        margin=margin, level=level, low=low, high=high, passed=-margin < low and high < margin
    )


def _sensitivity(
    paired: PairedOutcomes, rule: Rule, values: PairValues, headline: HypothesisTest | None
) -> tuple[Sensitivity | None, float | None]:
    """Return the numbers on each execution's own questions; the verdict is filled in later."""
    own = pair_values(paired, rule, values.metric, values.method_name, population=False)
    same = np.isfinite(own.differences) == np.isfinite(values.differences)
    if same.all() or len(values.executions) < 2:
        return None, None
    effects = [headline_test(column, level=rule.level) for column in own.effect_columns()]
    columns = own.shift_columns()
    p = None if headline is None else headline.p
    if len(columns) == 1:
        shift = headline_test(columns[0], level=rule.level)
        p = shift.p if isinstance(shift, MeanTest) else None
    sensitivity = Sensitivity(
        ns=tuple(len(column.values) for column in own.effect_columns()),
        effects=tuple(test.estimate if isinstance(test, MeanTest) else None for test in effects),
        supports=tuple(_support(test) for test in effects),
        shift_estimates=tuple(float(column.values.mean()) for column in columns),
        verdict="not_testable",
    )
    return sensitivity, p


def _support(test: object) -> int | None:
    if not isinstance(test, MeanTest) or test.low is None:
        return None
    return int(np.sign(test.estimate)) if test.is_supported else 0


@dataclass(frozen=True, kw_only=True)
class _Decision:
    """What the rule says, and what it was decided from."""

    supports: tuple[int | None, ...]
    shift: bool | None
    reversal: HypothesisTest | None
    verdict: Verdict
    own: Sensitivity | None


def comparison_of(
    paired: PairedOutcomes,
    rule: Rule,
    numbers: Numbers,
    *,
    p_holm: float | None,
    headline_p_holm: float | None,
    own_p_holm: float | None,
    missingness: str | None,
) -> MetricComparison:
    """Return the metric's record: verdict, flags and sentence from its numbers and adjusted p."""
    values, effects = numbers.values, numbers.effects
    omnibus = numbers.omnibus and replace(numbers.omnibus, p_holm=p_holm)
    headline = numbers.headline and replace(numbers.headline, p_holm=headline_p_holm)
    decision = _decide(rule, numbers, headline, own_p_holm)
    clusters = _cluster_sizes(values)
    flags = flags_of(
        verdict=decision.verdict,
        shift=decision.shift,
        level=rule.level,
        effects=effects,
        shifts=numbers.shifts,
        omnibus=omnibus,
        headline_omnibus=headline,
        sensitivity=decision.own,
        clusters=clusters,
        missingness=missingness,
    )
    n, dropped, spread = int(values.is_complete.sum()), _dropped(paired, values), spread_of(effects)
    return MetricComparison(
        metric=values.metric,
        unit=UNITS[values.metric],
        kind="binary" if values.metric == "accuracy" else "continuous",
        primary=values.metric in rule.primary,
        headline=effects[0].headline.method,
        n=n,
        n_clusters=clusters[0] if clusters else n,
        dropped=dropped,
        dropped_reason="no value in some cell of the pair" if dropped else None,
        executions=effects,
        shifts=numbers.shifts,
        omnibus=omnibus,
        headline_omnibus=headline,
        reversal=decision.reversal,
        movements=numbers.movements,
        s_k=spread.s_k,
        s_k_note=spread.note,
        swing=spread.swing,
        swing_between=spread.between,
        mean_se=spread.mean_se,
        ratio_to_se=spread.ratio,
        equivalence=numbers.equivalence,
        sensitivity=decision.own,
        verdict=decision.verdict,
        verdict_text=VERDICT_TEXTS[decision.verdict],
        paper_label=paper_label(decision.supports, decision.shift),
        sentence=sentence_of(
            values.metric,
            values.method_name,
            values.baseline_name,
            effects,
            headline,
            decision.verdict,
        ),
        flags=tuple(flags),
        flag_reasons={str(name): reason for name, reason in flags.items()},
    )


def _decide(
    rule: Rule, numbers: Numbers, headline: HypothesisTest | None, own_p_holm: float | None
) -> _Decision:
    alpha, is_primary = 1 - rule.level, numbers.values.metric in rule.primary
    shift = _rejects(headline, alpha, is_primary=is_primary)
    effects = numbers.effects
    supports = tuple(None if e.headline.low is None else e.support for e in effects)
    reversal = _reversal(effects)
    is_confirmed = _reversal_confirmed(reversal, effects, alpha)
    is_equivalent = numbers.equivalence is not None and numbers.equivalence.passed
    own = numbers.own
    if own is not None:
        p = own_p_holm if is_primary else numbers.own_p
        own_shift = None if p is None else p <= alpha
        own = replace(
            own,
            verdict=verdict_of(
                own.supports,
                own_shift,
                reversal_confirmed=is_confirmed,
                is_equivalent=is_equivalent,
            ),
        )
    verdict = verdict_of(
        supports, shift, reversal_confirmed=is_confirmed, is_equivalent=is_equivalent
    )
    return _Decision(supports=supports, shift=shift, reversal=reversal, verdict=verdict, own=own)


def _rejects(test: HypothesisTest | None, alpha: float, *, is_primary: bool) -> bool | None:
    """Return whether the shift is established: adjusted p in the family, plain p outside it."""
    if test is None:
        return None
    p = test.p_holm if is_primary else test.p
    return None if p is None else p <= alpha


def _reversal(effects: Sequence[Effect]) -> HypothesisTest | None:
    if len(effects) < 2:
        return None
    method = "intersection-union, one-sided" if len(effects) == 2 else "Gail-Simon"
    rows = [(e.effect, e.headline.se, e.headline.df) for e in effects]
    known = [(x, se, df) for x, se, df in rows if se is not None and df is not None]
    p = None if len(known) < len(rows) else reversal_p(*zip(*known, strict=True))
    return HypothesisTest(
        method=method, p=p, reason="an effect has no standard error" if p is None else None
    )


def _reversal_confirmed(
    reversal: HypothesisTest | None, effects: Sequence[Effect], alpha: float
) -> bool:
    """Return whether opposite signs count as a reversal: always at K = 2, else Gail-Simon."""
    if len(effects) == 2 or reversal is None:
        return True
    return reversal.p is not None and reversal.p <= alpha


def _cluster_sizes(values: PairValues) -> tuple[int, float] | None:
    """Return the number of videos and the largest one's share, None if none holds several."""
    counted = np.isfinite(values.differences).any(axis=1)
    if values.cluster is None or not counted.any():
        return None
    sizes = np.unique(values.cluster[counted], return_counts=True)[1]
    return None if sizes.max() == 1 else (len(sizes), float(sizes.max() / sizes.sum()))


def _dropped(paired: PairedOutcomes, values: PairValues) -> tuple[str, ...]:
    lost = (paired.population & ~np.isfinite(values.differences)).any(axis=1)
    return tuple(paired.question_ids[q] for q in np.flatnonzero(lost).tolist())
