"""From an outcomes table to effects, shifts and verdicts: every number of a study, by its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from taketwo.analysis.arm_families import over_comparisons
from taketwo.analysis.compare_runs import compare_runs
from taketwo.analysis.comparison import (
    Alignment,
    Comparison,
    Counts,
    MetricComparison,
    NotMeasured,
    PairComparison,
)
from taketwo.analysis.denominators import means_of, population_of
from taketwo.analysis.diagnostics import (
    differential_missingness,
    nobody_reports,
    not_known,
    stopped_early,
)
from taketwo.analysis.factors import factor_findings
from taketwo.analysis.families import arm_pairs, departures, family
from taketwo.analysis.intervals import Bootstrap, resample
from taketwo.analysis.metric import Numbers, comparison_of, numbers_of
from taketwo.analysis.movements import Movements
from taketwo.analysis.pair_values import PairValues, pair_values
from taketwo.analysis.statements import NOT_RECORDED, ConfigurationStatement
from taketwo.analysis.subgroups import Factors, factors_of
from taketwo.executions.rule import METRICS, Metric, Missing, Rule
from taketwo.outcomes.pairing import PairedOutcomes, pair
from taketwo.outcomes.table import Outcomes

__all__ = ["compare"]


def compare(
    outcomes: Outcomes,
    rule: Rule,
    *,
    study: str,
    seed: int,
    draws: int = 10_000,
    missing: Missing | None = None,
    alignment: Alignment = "blocked",
    by: Sequence[str] = (),
    pairs: Literal["baseline", "all"] = "baseline",
    bootstrap: Bootstrap = "exact",
    configuration: ConfigurationStatement = NOT_RECORDED,
) -> Comparison:
    """Return every number of a study: effects, shifts, verdicts, and who was compared.

    Parameters
    ----------
    outcomes
        One row per planned cell.
    rule
        What was fixed before anything ran.
    study
        Hash of the plan, or another name of what the outcomes come from.
    seed
        Seed of whatever is drawn: percentile intervals over few videos, sign-flips and permutations
        that cannot be computed exactly, everything where `bootstrap` is `mc`. The result does not
        depend on the order of the rows.
    draws
        Bootstrap replicates, at least 2.
    missing
        Treatment of failed cells, if another than the rule's; the result then says that it is not
        as planned.
    alignment
        `blocked` where the arms of an execution were run together; `arbitrary` where executions of
        equal number have nothing to do with one another. Arms may then have different numbers of
        runs.
    by
        Subgroup factors, names in the column `attributes`; each must partition the questions.
    pairs
        Each method against its `baseline`, or `all` pairs of arms.
    bootstrap
        `exact` percentile intervals (infinitely many draws), or `mc` (drawn).
    configuration
        What is known of the configuration of the executions.

    Raises
    ------
    UnpairedCells
        If failed cells are refused, an execution lacks an arm, or no question is left.
    InvalidResults
        If rows contradict one another, or no arm has a baseline.
    UnknownName
        If no question has one of the factors in `by`.
    """
    if alignment == "arbitrary":
        return compare_runs(
            outcomes, rule, study=study, seed=seed, draws=draws, missing=missing, by=by,
            pairs=pairs, bootstrap=bootstrap, configuration=configuration,
        )  # fmt: skip
    paired = pair(outcomes, rule, missing=missing)
    factors = factors_of(outcomes.frame, paired.question_ids, by)
    how = Movements(level=rule.level, bootstrap=bootstrap, draws=draws, seed=seed)
    unknown = not_known(len(paired.executions))
    compared = [
        _pair_comparison(
            replace(paired, baselines={method: baseline}), rule, method, how, factors, configuration
        )
        for baseline, method in arm_pairs(paired.arms, paired.baselines, pairs)
    ]
    return Comparison(
        study=study,
        rule=rule,
        arms=paired.arms,
        executions=paired.executions,
        runs=dict.fromkeys(paired.arms, paired.executions),
        seed=seed,
        draws=draws,
        bootstrap=bootstrap,
        population=population_of(paired, outcomes.frame, rule, factors),
        means=means_of(paired),
        comparisons=over_comparisons(compared),
        factors=factor_findings(outcomes, rule, seed=seed, draws=draws, missing=missing),
        not_as_planned=(
            *departures(rule, missing),
            *(f"execution K{number} has not run" for number in paired.not_run),
        ),
        not_known=" ".join(filter(None, (stopped_early(outcomes.frame), unknown))) or None,
    )


def _pair_comparison(
    paired: PairedOutcomes,
    rule: Rule,
    method: str,
    how: Movements,
    factors: Factors,
    configuration: ConfigurationStatement,
) -> PairComparison:
    measured, unmeasured = _measured(paired, rule, method)
    numbers = _numbers(paired, rule, measured, how, factors)
    question_p: dict[Metric, float | None] = {
        m: n.omnibus and n.omnibus.p for m, n in numbers.items()
    }
    headline_p: dict[Metric, float | None] = {
        m: n.headline and n.headline.p for m, n in numbers.items()
    }
    own_p: dict[Metric, float | None] = {
        m: n.own_p if n.own else headline_p[m] for m, n in numbers.items()
    }
    by_question, headline = family(rule, question_p), family(rule, headline_p)
    own = family(rule, own_p)
    metrics = {
        metric: comparison_of(
            paired,
            rule,
            found,
            p_holm=by_question.get(metric),
            headline_p_holm=headline.get(metric),
            own_p_holm=own.get(metric),
            missingness=differential_missingness(paired, metric, method, level=rule.level),
            configuration=configuration,
        )
        for metric, found in numbers.items()
    }
    return PairComparison(
        baseline=paired.baselines[method],
        method=method,
        alignment="blocked",
        metrics={str(metric): found for metric, found in metrics.items()},
        not_measured=unmeasured,
        counts=_counts(rule, tuple(metrics.values())) if len(paired.executions) > 1 else None,
    )


def _measured(
    paired: PairedOutcomes, rule: Rule, method: str
) -> tuple[tuple[PairValues, ...], tuple[NotMeasured, ...]]:
    """Return the metrics that have values, and why the others have none."""
    measured: list[PairValues] = []
    without: list[NotMeasured] = []
    for metric in METRICS:
        values = pair_values(paired, rule, metric, method)
        if np.isfinite(values.differences).any(axis=0).all():
            measured.append(values)
        else:
            reason = _why_unmeasured(paired, metric, method)
            without.append(
                NotMeasured(metric=metric, primary=metric in rule.primary, reason=reason)
            )
    return tuple(measured), tuple(without)


def _why_unmeasured(paired: PairedOutcomes, metric: Metric, method: str) -> str:
    if metric == "accuracy" and not paired.is_judged:
        return "no answer has been judged; judge them: taketwo score STUDY"
    names = (paired.baselines[method], method)
    empty = [
        f"{name} in K{execution}"
        for k, execution in enumerate(paired.executions)
        for name in names
        if not np.isfinite(
            paired.values[metric][paired.population[:, k], paired.arms.index(name), k]
        ).any()
    ]
    if len(empty) == len(names) * len(paired.executions):
        return nobody_reports(metric)
    if empty:
        return f"no cell reports it for {', '.join(empty)}"
    return "no question has a value in all cells of the pair"


def _numbers(
    paired: PairedOutcomes,
    rule: Rule,
    measured: Sequence[PairValues],
    how: Movements,
    factors: Factors,
) -> Mapping[Metric, Numbers]:
    """Return the numbers by metric; drawn intervals come from shared draws."""
    columns = [(*values.effect_columns(), *values.shift_columns()) for values in measured]
    resampled = resample(
        [column for group in columns for column in group],
        level=rule.level,
        bootstrap=how.bootstrap,
        draws=how.draws,
        seed=how.seed,
    )
    found: dict[Metric, Numbers] = {}
    start = 0
    for values, group in zip(measured, columns, strict=True):
        own = resampled[start : start + len(group)]
        found[values.metric] = numbers_of(paired, rule, values, own, how=how, factors=factors)
        start += len(group)
    return found


def _counts(rule: Rule, metrics: Sequence[MetricComparison]) -> Counts:
    measured = [metric for metric in metrics if metric.primary]
    alpha = 1 - rule.level
    signs = [{effect.sign for effect in metric.executions} for metric in measured]
    supports = [{effect.support for effect in metric.executions} for metric in measured]
    adjusted = [metric.headline_omnibus and metric.headline_omnibus.p_holm for metric in measured]
    return Counts(
        of=len(measured),
        declared=len(rule.primary),
        sign_preserved=sum(found in ({1}, {-1}) for found in signs),
        supported_sign_preserved=sum(found in ({1}, {-1}) for found in supports),
        shifted=sum(p is not None and p <= alpha for p in adjusted),
    )
