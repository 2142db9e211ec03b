"""The comparison of arms whose runs were not made together (see `arbitrary`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from taketwo.analysis.arbitrary import RunNumbers, run_comparison, run_numbers
from taketwo.analysis.arm_families import over_comparisons
from taketwo.analysis.comparison import (
    Comparison,
    Counts,
    MetricComparison,
    MetricMean,
    NotMeasured,
    PairComparison,
)
from taketwo.analysis.diagnostics import nobody_reports, runs_not_known
from taketwo.analysis.factors import factor_findings
from taketwo.analysis.families import arm_pairs, departures, family
from taketwo.analysis.intervals import Bootstrap
from taketwo.analysis.runs import RunTable, run_population, run_table
from taketwo.analysis.statements import ConfigurationStatement
from taketwo.analysis.subgroups import Factors, factors_of
from taketwo.analysis.variation import ArmRuns
from taketwo.executions.rule import METRICS, Metric, Missing, Rule
from taketwo.outcomes.table import Outcomes

__all__ = ["compare_runs"]

Known = dict[tuple[Metric, str, bytes], ArmRuns]


def compare_runs(
    outcomes: Outcomes,
    rule: Rule,
    *,
    study: str,
    seed: int,
    draws: int,
    missing: Missing | None,
    by: Sequence[str],
    pairs: Literal["baseline", "all"],
    bootstrap: Bootstrap,
    configuration: ConfigurationStatement,
) -> Comparison:
    """Return every number of arms whose runs were not made together; see `compare.compare`."""
    table = run_table(outcomes, rule, missing=missing)
    factors = factors_of(outcomes.frame, table.question_ids, by)
    known: Known = {}
    compared = [
        _pair(table, rule, baseline, method, factors, seed, known, configuration)
        for baseline, method in arm_pairs(table.arms, table.baselines, pairs)
    ]
    runs = {arm: table.by_arm[arm].executions for arm in table.arms}
    return Comparison(
        study=study,
        rule=rule,
        arms=table.arms,
        executions=tuple(sorted({number for numbers in runs.values() for number in numbers})),
        runs=runs,
        seed=seed,
        draws=draws,
        bootstrap=bootstrap,
        population=run_population(table, outcomes.frame, rule, factors),
        means=_means(table),
        comparisons=over_comparisons(compared),
        factors=factor_findings(outcomes, rule, seed=seed, draws=draws, missing=missing),
        not_as_planned=(
            *departures(rule, missing),
            *(
                f"execution K{number} of {arm} has not run"
                for arm in table.arms
                for number in table.by_arm[arm].not_run
            ),
        ),
        not_known=runs_not_known({arm: len(numbers) for arm, numbers in runs.items()}),
    )


def _pair(
    table: RunTable,
    rule: Rule,
    baseline: str,
    method: str,
    factors: Factors,
    seed: int,
    known: Known,
    configuration: ConfigurationStatement,
) -> PairComparison:
    numbers: dict[Metric, RunNumbers] = {}
    without: list[NotMeasured] = []
    for metric in METRICS:
        found = run_numbers(
            table, rule, metric, baseline, method, factors=factors, seed=seed, known=known
        )
        if found is None:
            reason = _why_unmeasured(table, metric, (baseline, method))
            without.append(
                NotMeasured(metric=metric, primary=metric in rule.primary, reason=reason)
            )
        else:
            numbers[metric] = found
    question: dict[Metric, float | None] = {
        m: n.omnibus and n.omnibus.p for m, n in numbers.items()
    }
    headline: dict[Metric, float | None] = {
        m: n.headline and n.headline.p for m, n in numbers.items()
    }
    by_question, by_unit = family(rule, question), family(rule, headline)
    metrics = {
        str(metric): run_comparison(
            table,
            rule,
            found,
            p_holm=by_question.get(metric),
            headline_p_holm=by_unit.get(metric),
            configuration=configuration,
        )
        for metric, found in numbers.items()
    }
    has_several = any(len(table.by_arm[arm].executions) > 1 for arm in (baseline, method))
    return PairComparison(
        baseline=baseline,
        method=method,
        alignment="arbitrary",
        metrics=metrics,
        not_measured=tuple(without),
        counts=_counts(rule, tuple(metrics.values())) if has_several else None,
    )


def _why_unmeasured(table: RunTable, metric: Metric, arms: tuple[str, str]) -> str:
    if metric == "accuracy" and not all(table.by_arm[arm].is_judged for arm in arms):
        return "no answer has been judged"
    empty = [arm for arm in arms if not np.isfinite(table.values(metric, arm)).any()]
    if len(empty) == len(arms):
        return nobody_reports(metric)
    return f"no cell reports it for {empty[0]}" if empty else "no question has it in every run"


def _counts(rule: Rule, metrics: Sequence[MetricComparison]) -> Counts:
    """Return how many primary metrics have one sign in all pairs of runs' means, and how many shift."""
    measured = [metric for metric in metrics if metric.primary]
    adjusted = [metric.headline_omnibus and metric.headline_omnibus.p_holm for metric in measured]
    pairs = [metric.pairs for metric in measured if metric.pairs is not None]
    return Counts(
        of=len(measured),
        declared=len(rule.primary),
        sign_preserved=sum(
            not (pair.supported_positive and pair.supported_negative) for pair in pairs
        ),
        supported_sign_preserved=sum(
            pair.n in (pair.supported_positive, pair.supported_negative) for pair in pairs
        ),
        shifted=sum(p is not None and p <= 1 - rule.level for p in adjusted),
    )


def _means(table: RunTable) -> tuple[MetricMean, ...]:
    found: list[MetricMean] = []
    for metric in METRICS:
        for arm in table.arms:
            cells = table.values(metric, arm)
            for column, execution in zip(cells.T, table.by_arm[arm].executions, strict=True):
                known = column[np.isfinite(column)]
                found.append(
                    MetricMean(
                        arm=arm,
                        execution=execution,
                        metric=metric,
                        n=len(known),
                        mean=float(known.mean()) if len(known) else None,
                    )
                )
    return tuple(found)
