"""From an outcomes table to effects, shifts and verdicts: every number of a study, by its rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from taketwo.analysis.comparison import (
    Comparison,
    Counts,
    MetricComparison,
    NotMeasured,
    PairComparison,
)
from taketwo.analysis.denominators import means_of, population_of
from taketwo.analysis.diagnostics import differential_missingness, not_known
from taketwo.analysis.metric import Numbers, comparison_of, numbers_of
from taketwo.analysis.pair_values import PairValues, pair_values, resample
from taketwo.errors import InvalidResults
from taketwo.executions.rule import METRICS, Metric, Missing, Rule
from taketwo.outcomes.pairing import PairedOutcomes, pair
from taketwo.outcomes.table import Outcomes
from taketwo.stats.multiplicity import holm

__all__ = ["compare"]


def compare(
    outcomes: Outcomes,
    rule: Rule,
    *,
    study: str,
    seed: int,
    draws: int = 10_000,
    missing: Missing | None = None,
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
        Seed of the bootstrap and of sign-flips that cannot be computed exactly. The result does not
        depend on the order of the rows.
    draws
        Bootstrap replicates, at least 2.
    missing
        Treatment of failed cells, if another than the rule's; the result then says that it is not
        as planned.

    Raises
    ------
    UnpairedCells
        If failed cells are refused, an execution lacks an arm, or no question is left.
    InvalidResults
        If rows contradict one another, or no arm has a baseline.
    """
    paired = pair(outcomes, rule, missing=missing)
    if not paired.baselines:
        raise InvalidResults(
            f"none of the arms {', '.join(map(repr, paired.arms))} names a baseline; "
            "nothing can be compared"
        )
    measured, unmeasured = _measured(paired, rule)
    numbers = _numbers(paired, rule, measured, seed=seed, draws=draws)
    methods = sorted(paired.baselines, key=lambda method: (paired.baselines[method], method))
    frame = outcomes.frame
    return Comparison(
        study=study,
        rule=rule,
        arms=paired.arms,
        executions=paired.executions,
        seed=seed,
        draws=draws,
        population=population_of(paired, frame, rule),
        means=means_of(paired),
        comparisons=tuple(
            _pair_comparison(paired, rule, method, numbers[method], unmeasured[method])
            for method in methods
        ),
        not_as_planned=_departures(paired, rule, missing),
        not_known=not_known(len(paired.executions)),
    )


def _measured(
    paired: PairedOutcomes, rule: Rule
) -> tuple[tuple[PairValues, ...], Mapping[str, tuple[NotMeasured, ...]]]:
    """Return the metrics that have values, and by method why the others have none."""
    measured: list[PairValues] = []
    unmeasured: dict[str, tuple[NotMeasured, ...]] = {}
    for method in paired.baselines:
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
        unmeasured[method] = tuple(without)
    return tuple(measured), unmeasured


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
        return "no cell reports it"
    if empty:
        return f"no cell reports it for {', '.join(empty)}"
    return "no question has a value in all cells of the pair"


def _numbers(
    paired: PairedOutcomes, rule: Rule, measured: Sequence[PairValues], *, seed: int, draws: int
) -> Mapping[str, Mapping[Metric, Numbers]]:
    """Return the numbers by method and metric, all intervals from shared draws."""
    columns = [(*values.effect_columns(), *values.shift_columns()) for values in measured]
    resampled = resample(
        [column for group in columns for column in group],
        level=rule.level,
        draws=draws,
        seed=seed,
    )
    found: dict[str, dict[Metric, Numbers]] = {method: {} for method in paired.baselines}
    start = 0
    for values, group in zip(measured, columns, strict=True):
        found[values.method_name][values.metric] = numbers_of(
            paired, rule, values, resampled[start : start + len(group)], seed=seed, draws=draws
        )
        start += len(group)
    return found


def _pair_comparison(
    paired: PairedOutcomes,
    rule: Rule,
    method: str,
    numbers: Mapping[Metric, Numbers],
    unmeasured: tuple[NotMeasured, ...],
) -> PairComparison:
    missingness = differential_missingness(paired, method, level=rule.level)
    question_p: dict[Metric, float | None] = {
        m: n.omnibus and n.omnibus.p for m, n in numbers.items()
    }
    by_question = _family(rule, question_p)
    headline_p: dict[Metric, float | None] = {
        m: n.headline and n.headline.p for m, n in numbers.items()
    }
    headline = _family(rule, headline_p)
    own_p: dict[Metric, float | None] = {
        m: n.own_p if n.own else headline_p[m] for m, n in numbers.items()
    }
    own = _family(rule, own_p)
    metrics = {
        metric: comparison_of(
            paired,
            rule,
            found,
            p_holm=by_question.get(metric),
            headline_p_holm=headline.get(metric),
            own_p_holm=own.get(metric),
            missingness=missingness,
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


def _family(rule: Rule, p_values: Mapping[Metric, float | None]) -> Mapping[Metric, float | None]:
    """Return p adjusted over the declared family, its metrics without a value included."""
    adjusted = holm([p_values.get(metric) for metric in rule.primary])
    return dict(zip(rule.primary, adjusted, strict=True))


def _counts(rule: Rule, metrics: Sequence[MetricComparison]) -> Counts:
    family = [metric for metric in metrics if metric.primary]
    alpha = 1 - rule.level
    signs = [{effect.sign for effect in metric.executions} for metric in family]
    supports = [{effect.support for effect in metric.executions} for metric in family]
    adjusted = [metric.headline_omnibus and metric.headline_omnibus.p_holm for metric in family]
    return Counts(
        of=len(family),
        declared=len(rule.primary),
        sign_preserved=sum(found in ({1}, {-1}) for found in signs),
        supported_sign_preserved=sum(found in ({1}, {-1}) for found in supports),
        shifted=sum(p is not None and p <= alpha for p in adjusted),
    )


def _departures(paired: PairedOutcomes, rule: Rule, missing: Missing | None) -> tuple[str, ...]:
    told: list[str] = []
    if missing is not None and missing != rule.missing:
        told.append(
            f"failed cells are treated as {missing!r}; the rule fixed {rule.missing!r} beforehand"
        )
    told += [f"execution K{number} has not run" for number in paired.not_run]
    return tuple(told)
