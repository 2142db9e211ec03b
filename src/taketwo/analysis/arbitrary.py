"""Comparing arms whose runs were not made together, so that no run of one belongs to one of the other.

Nothing here depends on which run is called K1: a shift is that either arm's own runs differ, support is
counted over all pairs of runs, and the interval takes the runs as independent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from taketwo.analysis.arm_runs import arm_runs, over_arms
from taketwo.analysis.comparison import MetricComparison
from taketwo.analysis.decisions import rejects
from taketwo.analysis.diagnostics import ceiling, few_clusters
from taketwo.analysis.effects import HypothesisTest
from taketwo.analysis.metric import UNITS
from taketwo.analysis.pair_values import Clusters, PairValues
from taketwo.analysis.run_supports import run_supports
from taketwo.analysis.runs import RunTable, run_bounds, run_failures
from taketwo.analysis.sentences import runs_sentence
from taketwo.analysis.statements import (
    ConfigurationStatement,
    Statements,
    execution_variance,
    noise_statement,
    shift_statement,
)
from taketwo.analysis.subgroups import Factors, SubgroupTable, subgroup_tables
from taketwo.analysis.variation import ArmRuns, Average, PairCounts, counts_of
from taketwo.analysis.verdict import VERDICT_TEXTS, Flag, verdict_of_runs
from taketwo.errors import TooFewClusters
from taketwo.executions.rule import Metric, Rule
from taketwo.stats.welch import independent_effect

__all__ = ["RunNumbers", "run_comparison", "run_numbers"]

NOT_PAIRED = "runs of the two arms were not made together: no execution to speak of"


@dataclass(frozen=True, kw_only=True)
class RunNumbers:
    """What is known of a metric of two arms before the family is corrected."""

    metric: Metric
    baseline_name: str
    method_name: str
    baseline: NDArray[np.float64]
    method: NDArray[np.float64]
    cluster: NDArray[np.int64] | None
    dropped: tuple[str, ...]
    average: Average
    pairs: PairCounts
    arms: tuple[ArmRuns, ArmRuns]
    omnibus: HypothesisTest | None
    headline: HypothesisTest | None
    subgroups: tuple[SubgroupTable, ...]

    @property
    def clusters(self) -> Clusters:
        """Return the units of the compared questions."""
        n = len(self.method)
        if self.cluster is None:
            return Clusters(n=n, largest_share=1 / n, hold_several=False)
        sizes = np.unique(self.cluster, return_counts=True)[1]
        return Clusters(
            n=len(sizes), largest_share=float(sizes.max()) / n, hold_several=int(sizes.max()) > 1
        )


def run_numbers(
    table: RunTable,
    rule: Rule,
    metric: Metric,
    baseline: str,
    method: str,
    *,
    factors: Factors,
    seed: int,
    known: dict[tuple[Metric, str, bytes], ArmRuns],
) -> RunNumbers | None:
    """Return the numbers of a metric, None where no question has it in every run of both arms.

    `known` keeps what was computed of an arm that stands in several comparisons.
    """
    cells = {arm: table.values(metric, arm) for arm in (baseline, method)}
    there = np.isfinite(np.column_stack([cells[baseline], cells[method]]))
    used: NDArray[np.bool_] = np.logical_and.reduce(there, axis=1)
    if not used.any():
        return None
    for arm in (baseline, method):
        key = (metric, arm, used.tobytes())
        if key not in known:
            known[key] = arm_runs(table, rule, metric, arm, used)
    arms = tuple(known[metric, arm, used.tobytes()] for arm in (baseline, method))
    cluster = table.cluster(rule)
    codes = None if cluster is None else cluster[used]
    b, m = cells[baseline][used], cells[method][used]
    supports = run_supports(m, b, cluster=codes, level=rule.level)
    question, headline, adjusted = over_arms(arms[0], arms[1])
    ids = np.array(table.matched_ids)
    wanted = {name: factor.those(table.matched).those(used) for name, factor in factors.items()}
    return RunNumbers(
        metric=metric,
        baseline_name=baseline,
        method_name=method,
        baseline=b,
        method=m,
        cluster=codes,
        dropped=tuple(ids[~used].tolist()),
        average=_average(m, b, codes, level=rule.level),
        pairs=counts_of(supports),
        arms=adjusted,
        omnibus=question,
        headline=headline,
        subgroups=_subgroups(metric, baseline, method, m, b, codes, rule, wanted, seed),
    )


def _average(
    method: NDArray[np.float64],
    baseline: NDArray[np.float64],
    cluster: NDArray[np.int64] | None,
    *,
    level: float,
) -> Average:
    several = cluster is not None and len(np.unique(cluster)) < len(cluster)
    unit = "CR2" if several else "paired t"
    try:
        found = independent_effect(method, baseline, cluster=cluster, level=level)
    except TooFewClusters as error:
        return Average(
            method=f"Welch over runs and {unit}", n=len(method),
            effect=float(method.mean() - baseline.mean()), se=None, se_executions=None,
            se_questions=None, df=None, low=None, high=None, p=None, reason=str(error),
        )  # fmt: skip
    return Average(
        method=f"Welch over runs and {unit}",
        n=found.n,
        effect=found.estimate,
        se=found.se,
        se_executions=found.se_executions,
        se_questions=found.se_questions,
        df=found.df,
        low=found.low,
        high=found.high,
        p=found.p,
        reason=found.reason,
    )


def _subgroups(
    metric: Metric,
    baseline: str,
    method: str,
    m: NDArray[np.float64],
    b: NDArray[np.float64],
    cluster: NDArray[np.int64] | None,
    rule: Rule,
    factors: Factors,
    seed: int,
) -> tuple[SubgroupTable, ...]:
    if not factors or metric not in rule.primary:
        return ()
    values = PairValues(
        metric=metric,
        baseline_name=baseline,
        method_name=method,
        executions=(1,),
        baseline=b.mean(axis=1, keepdims=True),
        method=m.mean(axis=1, keepdims=True),
        cluster=cluster,
    )
    return subgroup_tables(values, factors, level=rule.level, seed=seed, average=True)


def run_comparison(
    table: RunTable,
    rule: Rule,
    numbers: RunNumbers,
    *,
    p_holm: float | None,
    headline_p_holm: float | None,
    configuration: ConfigurationStatement,
) -> MetricComparison:
    """Return the metric's record: verdict, flags and sentence from its numbers and adjusted p."""
    metric, pairs, average = numbers.metric, numbers.pairs, numbers.average
    omnibus = numbers.omnibus and replace(numbers.omnibus, p_holm=p_holm)
    headline = numbers.headline and replace(numbers.headline, p_holm=headline_p_holm)
    is_primary = metric in rule.primary
    shift = rejects(headline, 1 - rule.level, is_primary=is_primary)
    verdict = verdict_of_runs(
        pairs.supported_positive,
        pairs.supported_negative,
        pairs.n,
        shift,
        has_one_run=pairs.n == 1,
    )
    clusters = numbers.clusters
    flags = _flags(table, rule, numbers, omnibus, headline)
    variances = [execution_variance(numbers.baseline), execution_variance(numbers.method)]
    return MetricComparison(
        metric=metric,
        unit=UNITS[metric],
        kind="binary" if metric == "accuracy" else "continuous",
        primary=is_primary,
        headline="CR2" if clusters.hold_several else "paired t",
        n=len(numbers.method),
        n_clusters=clusters.n,
        dropped=numbers.dropped,
        dropped_reason="no value in some run of the two arms" if numbers.dropped else None,
        executions=(),
        shifts=(),
        omnibus=omnibus,
        headline_omnibus=headline,
        reversal=None,
        headline_reversal=None,
        cluster=None,
        pairs=pairs,
        average=average,
        variation=None,
        arms=numbers.arms,
        movements=(),
        s_k=None,
        s_k_note=NOT_PAIRED,
        swing=None,
        swing_between=None,
        mean_se=None,
        ratio_to_se=None,
        equivalence=None,
        sensitivity=None,
        verdict=verdict,
        verdict_text=VERDICT_TEXTS[verdict],
        paper_label=None,
        statements=Statements(
            effect_vs_reexecution=noise_statement(average.effect, variances, level=rule.level),
            shift=shift_statement(shift, headline),
            configuration=configuration,
        ),
        sentence=runs_sentence(
            metric,
            numbers.method_name,
            numbers.baseline_name,
            average,
            pairs,
            headline,
            verdict,
        ),
        flags=tuple(flags),
        flag_reasons={str(name): reason for name, reason in flags.items()},
        subgroups=numbers.subgroups,
        undefined=_undefined(numbers),
    )


def _undefined(numbers: RunNumbers) -> Mapping[str, str]:
    fields = (
        "reversal", "headline_reversal", "variation", "s_k", "swing", "swing_between", "mean_se",
        "ratio_to_se", "equivalence", "sensitivity", "paper_label",
    )  # fmt: skip
    found: dict[str, str] = dict.fromkeys(fields, NOT_PAIRED)
    found["cluster"] = "the headline of every pair of runs is by video already" if (
        numbers.clusters.hold_several
    ) else "every question is its own cluster"  # fmt: skip
    if numbers.omnibus is None:
        found["omnibus"] = found["headline_omnibus"] = "each arm has one run"
    if not numbers.dropped:
        found["dropped_reason"] = "no question was dropped"
    return found


def _flags(
    table: RunTable,
    rule: Rule,
    numbers: RunNumbers,
    omnibus: HypothesisTest | None,
    headline: HypothesisTest | None,
) -> dict[Flag, str]:
    found: dict[Flag, str] = {}
    few = few_clusters(numbers.clusters)
    if omnibus is not None and headline is not None:
        p = [test.p if test.p_holm is None else test.p_holm for test in (omnibus, headline)]
        decided = {value <= 1 - rule.level for value in p if value is not None}
        if len(decided) == 2:
            found["BORDERLINE"] = "the test of the shift by question decides otherwise"
    if few:
        found["FEW_CLUSTERS"] = few
    missing = _missingness(table, numbers)
    if missing:
        found["DIFFERENTIAL_MISSINGNESS"] = missing
    means = float(numbers.baseline.mean()), float(numbers.method.mean())
    near = ceiling(numbers.metric, {"all runs": means})
    if near:
        found["CEILING"] = near
    return found


def _missingness(table: RunTable, numbers: RunNumbers) -> str:
    """Return why failures may favour one arm: unequal shares, or bounds that cover zero."""
    baseline, method = numbers.baseline_name, numbers.method_name
    (base, of_base), (other, of_other) = run_failures(table, baseline), run_failures(table, method)
    if base * of_other == other * of_base:
        return ""
    told = f"{other} of {of_other} cells of {method!r} failed against {base} of {of_base} of {baseline!r}"  # fmt: skip
    rates = [base / of_base, other / of_other]
    pooled = (base + other) / (of_base + of_other)
    se = (pooled * (1 - pooled) * (1 / of_base + 1 / of_other)) ** 0.5
    if abs(rates[1] - rates[0]) > 2 * se:
        return told
    bounds = run_bounds(table, baseline, method) if numbers.metric == "accuracy" else None
    if bounds is not None and bounds.low <= 0 <= bounds.high:
        return f"{told}; at their worst they could undo or turn the accuracy effect"
    return ""
