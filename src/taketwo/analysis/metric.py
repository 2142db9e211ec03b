"""One metric of one pair of arms that were run together, from numbers to verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from taketwo.analysis.clustered import cluster_figures
from taketwo.analysis.comparison import MetricComparison
from taketwo.analysis.decisions import Decision, decide_metric, rejects
from taketwo.analysis.denominators import effect_bounds, shift_bounds
from taketwo.analysis.diagnostics import flags_of
from taketwo.analysis.effects import (
    Effect,
    Equivalence,
    HypothesisTest,
    Movement,
    Sensitivity,
    Shift,
)
from taketwo.analysis.estimates import effects_of, omnibus_of, shifts_of
from taketwo.analysis.headline import decide, unit_test
from taketwo.analysis.intervals import Resampled, resample
from taketwo.analysis.movements import Movements, movements_of
from taketwo.analysis.pair_values import PairValues, pair_values
from taketwo.analysis.sentences import sentence_of
from taketwo.analysis.spread import spread_of
from taketwo.analysis.statements import (
    ConfigurationStatement,
    Statements,
    execution_variance,
    noise_statement,
    shift_statement,
)
from taketwo.analysis.subgroups import Factors, SubgroupTable, subgroup_tables
from taketwo.analysis.variation import average_of, counts_of, variation_of
from taketwo.analysis.verdict import VERDICT_TEXTS, paper_label
from taketwo.executions.rule import Rule
from taketwo.outcomes.pairing import PairedOutcomes
from taketwo.outcomes.table import COLUMNS
from taketwo.stats.paired import MeanTest

__all__ = ["UNITS", "Numbers", "comparison_of", "numbers_of"]

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
    subgroups: tuple[SubgroupTable, ...]


def numbers_of(
    paired: PairedOutcomes,
    rule: Rule,
    values: PairValues,
    resampled: Sequence[Resampled],
    *,
    how: Movements,
    factors: Factors,
) -> Numbers:
    """Return effects, shifts, movements and tests; `resampled` has effects first, then shifts."""
    k, is_binary = len(values.executions), values.metric == "accuracy"
    effects = effects_of(values, resampled[:k], level=rule.level, is_binary=is_binary)
    shifts = shifts_of(values, resampled[k:], level=rule.level, seed=how.seed, draws=how.draws)
    if is_binary:
        effects, shifts = _with_bounds(paired, values, effects, shifts)
    omnibus, headline = omnibus_of(values, shifts)
    own, own_p = _sensitivity(paired, rule, values, headline, how)
    wanted: Factors = factors if values.metric in rule.primary else {}
    return Numbers(
        values=values,
        effects=effects,
        shifts=shifts,
        movements=movements_of(values, how, is_binary=is_binary),
        omnibus=omnibus,
        headline=headline,
        equivalence=_equivalence(values, rule),
        own=own,
        own_p=own_p,
        subgroups=subgroup_tables(values, wanted, level=rule.level, seed=how.seed),
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
    tests = [unit_test(column, level=level) for column in values.shift_columns()]
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
    paired: PairedOutcomes,
    rule: Rule,
    values: PairValues,
    headline: HypothesisTest | None,
    how: Movements,
) -> tuple[Sensitivity | None, float | None]:
    """Return the numbers on each execution's own questions; the verdict is filled in later."""
    own = pair_values(paired, rule, values.metric, values.method_name, population=False)
    same = np.isfinite(own.differences) == np.isfinite(values.differences)
    if same.all() or len(values.executions) < 2:
        return None, None
    columns = own.effect_columns()
    resampled = resample(
        columns, level=rule.level, bootstrap=how.bootstrap, draws=how.draws, seed=how.seed
    )
    decided = [
        decide(column, boot, own.clusters, level=rule.level)
        for column, boot in zip(columns, resampled, strict=True)
    ]
    shifts = own.shift_columns()
    p = None if headline is None else headline.p
    if len(shifts) == 1:
        shift = unit_test(shifts[0], level=rule.level)
        p = shift.p if isinstance(shift, MeanTest) else None
    sensitivity = Sensitivity(
        ns=tuple(len(column.values) for column in columns),
        effects=tuple(
            item.test.estimate if isinstance(item.test, MeanTest) else None for item in decided
        ),
        supports=tuple(item.support for item in decided),
        shift_estimates=tuple(float(column.values.mean()) for column in shifts),
        verdict="not_testable",
    )
    return sensitivity, p


def comparison_of(
    paired: PairedOutcomes,
    rule: Rule,
    numbers: Numbers,
    *,
    p_holm: float | None,
    headline_p_holm: float | None,
    own_p_holm: float | None,
    missingness: str | None,
    configuration: ConfigurationStatement,
) -> MetricComparison:
    """Return the metric's record: verdict, flags and sentence from its numbers and adjusted p."""
    values, effects = numbers.values, numbers.effects
    omnibus = numbers.omnibus and replace(numbers.omnibus, p_holm=p_holm)
    headline = numbers.headline and replace(numbers.headline, p_holm=headline_p_holm)
    is_primary = values.metric in rule.primary
    shift = rejects(headline, 1 - rule.level, is_primary=is_primary)
    own_p = own_p_holm if is_primary else numbers.own_p
    decision = decide_metric(
        effects, shift, numbers.equivalence, numbers.own, own_p, level=rule.level
    )
    clusters = values.clusters
    flags = flags_of(
        metric=values.metric,
        verdict=decision.verdict,
        shift=shift,
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
    average = average_of(values, level=rule.level)
    variance = execution_variance(values.differences[values.is_complete])
    center = average.effect if average else effects[0].effect
    found = MetricComparison(
        metric=values.metric,
        unit=UNITS[values.metric],
        kind="binary" if values.metric == "accuracy" else "continuous",
        primary=is_primary,
        headline=effects[0].headline.method,
        n=n,
        n_clusters=clusters.n if clusters else n,
        dropped=dropped,
        dropped_reason="no value in some cell of the pair" if dropped else None,
        executions=effects,
        shifts=numbers.shifts,
        omnibus=omnibus,
        headline_omnibus=headline,
        reversal=decision.reversal,
        headline_reversal=decision.headline_reversal,
        cluster=cluster_figures(clusters, effects, numbers.shifts),
        pairs=counts_of(decision.supports),
        average=average,
        variation=variation_of(values, effects, level=rule.level),
        arms=(),
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
        paper_label=paper_label(decision.supports, shift),
        statements=Statements(
            effect_vs_reexecution=noise_statement(center, [variance], level=rule.level),
            shift=shift_statement(shift, headline),
            configuration=configuration,
        ),
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
        subgroups=numbers.subgroups,
    )
    return replace(found, undefined=_undefined(found, decision, rule))


def _undefined(found: MetricComparison, decision: Decision, rule: Rule) -> Mapping[str, str]:
    """Return for every field of the record that is None the reason."""
    alone = "one execution has nothing to be compared with" if len(found.executions) < 2 else ""
    no_table = "no question has a value in every cell"
    reasons = {
        "omnibus": alone or no_table,
        "headline_omnibus": alone or no_table,
        "reversal": alone,
        "headline_reversal": alone,
        "cluster": "by question as the rule says"
        if rule.cluster == "question"
        else "every question has its own video",
        "average": no_table,
        "variation": alone or no_table,
        "s_k": alone,
        "swing": alone,
        "swing_between": alone,
        "mean_se": "an effect has no standard error",
        "ratio_to_se": alone or "an effect has no standard error, or it is 0",
        "equivalence": alone or "the rule declares no margin for this metric",
        "sensitivity": alone or "every execution has the same questions",
        "paper_label": alone
        or (
            "an effect has no interval"
            if None in decision.supports
            else "the paper has no word for this"
        ),
        "dropped_reason": "no question was dropped",
    }
    return {name: reason for name, reason in reasons.items() if getattr(found, name) is None}


def _dropped(paired: PairedOutcomes, values: PairValues) -> tuple[str, ...]:
    lost = (paired.population & ~np.isfinite(values.differences)).any(axis=1)
    return tuple(paired.question_ids[q] for q in np.flatnonzero(lost).tolist())
