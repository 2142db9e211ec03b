"""A comparison as plain text for a terminal: verdicts first, then the numbers behind them."""

from __future__ import annotations

from taketwo.analysis.comparison import (
    Comparison,
    Mcnemar,
    MetricComparison,
    PairComparison,
)
from taketwo.analysis.subgroups import SubgroupTable
from taketwo.cli.factor_text import factors_text
from taketwo.cli.text_table import text_table
from taketwo.report.numbers import change, interval, level, p_value, scale_of

__all__ = ["comparison_text"]


def comparison_text(comparison: Comparison, *, allow_drift: bool = False) -> str:
    """Return everything that the terminal shows of a comparison.

    `allow_drift` is whether it was asked for whatever differs between executions; what does is said then.
    """
    population = comparison.population
    parts: list[str] = [
        f"Study {comparison.study[:12]}: {population.n_matched} of {population.n_union} questions in "
        f"every cell, {population.clusters.n} {population.clusters.by}s, "
        f"{len(comparison.executions)} execution{'' if len(comparison.executions) == 1 else 's'}"
    ]
    parts.extend(f"NOT AS PLANNED: {reason}" for reason in comparison.not_as_planned)
    parts.extend(_drift(comparison) if allow_drift else [])
    parts.extend(_losses(comparison))
    parts.append(_statuses(comparison))
    parts.extend(_pair(pair) for pair in comparison.comparisons)
    if comparison.factors is not None:
        parts.append(factors_text(comparison.factors))
    if comparison.not_known:
        parts.append(comparison.not_known)
    return "\n\n".join(parts)


def _drift(comparison: Comparison) -> list[str]:
    reasons = {
        metric.statements.configuration.reason: None
        for pair in comparison.comparisons
        for metric in pair.metrics.values()
        if metric.statements.configuration.value == "drifted"
    }
    return [f"DRIFT ALLOWED: compared although executions differ: {reason}" for reason in reasons]


def _losses(comparison: Comparison) -> list[str]:
    lines: list[str] = []
    for step in comparison.population.losses:
        if step.lost:
            ids = ", ".join(loss.question_id for loss in step.lost[:8])
            more = f" and {len(step.lost) - 8} more" if len(step.lost) > 8 else ""
            lines.append(f"{step.step}: {step.n_before} -> {step.n_after} ({ids}{more})")
    return lines


def _statuses(comparison: Comparison) -> str:
    rows: list[list[str]] = []
    means = {
        (mean.arm, mean.execution): mean.mean
        for mean in comparison.means
        if mean.metric == "accuracy"
    }
    for cell in comparison.population.cells:
        named = ", ".join(f"{name} {count}" for name, count in sorted(cell.run_statuses.items()))
        rows.append([
            f"{cell.arm} K{cell.execution}",
            f"{cell.n_scored}/{cell.n_planned}",
            str(cell.n_failed),
            level("accuracy", means.get((cell.arm, cell.execution))),
            named,
        ])
    return text_table(["arm", "scored", "failed", "accuracy", "statuses"], rows)


def _pair(pair: PairComparison) -> str:
    parts = [f"{pair.method} against {pair.baseline}"]
    parts.extend(f"  {metric.sentence}" for metric in pair.metrics.values() if metric.primary)
    if pair.alignment == "arbitrary":
        header = ["metric", "average effect", "pairs better", "worse", "of", "Holm p", "verdict"]
        parts.append(text_table(header, [_run_row(metric) for metric in pair.metrics.values()]))
    else:
        executions = sorted({
            effect.execution for metric in pair.metrics.values() for effect in metric.executions
        })
        header = ["metric", *(f"effect K{number}" for number in executions)]
        header += ["shift", "Holm p", "verdict"] if len(executions) > 1 else []
        parts.append(text_table(header, [_row(metric) for metric in pair.metrics.values()]))
    parts.extend(_within(pair))
    # of the first metric only: a terminal is no place for every metric by every factor
    for metric in list(pair.metrics.values())[:1]:
        parts.extend(_subgroups(metric, table) for table in metric.subgroups)
    parts.extend(
        f"  {scale_of(missing.metric).label}: not measured ({missing.reason})"
        for missing in pair.not_measured
    )
    if pair.counts is not None:
        counts = pair.counts
        parts.append(
            f"  sign preserved {counts.sign_preserved} of {counts.of} (supported "
            f"{counts.supported_sign_preserved} of {counts.of}), shift {counts.shifted} of {counts.of}"
        )
    return "\n".join(parts)


def _within(pair: PairComparison) -> list[str]:
    """Return what stands behind a binary metric: discordant questions inside and between executions."""
    rows: list[list[str]] = []
    for metric in pair.metrics.values():
        for effect in metric.executions:
            if effect.mcnemar is not None:
                name = f"K{effect.execution}: {pair.method} against {pair.baseline}"
                rows.append([name, *_counts(metric, effect.effect, effect.mcnemar)])
        for move in metric.movements[:6]:
            if move.mcnemar is not None:
                name = f"{move.arm}: K{move.later} against K{move.earlier}"
                rows.append([name, *_counts(metric, move.re, move.mcnemar)])
    if not rows:
        return []
    header = ["right and wrong", "gained", "lost", "net", "exact McNemar p", "mid-p"]
    return [text_table(header, rows)]


def _counts(metric: MetricComparison, net: float, found: Mcnemar) -> list[str]:
    return [
        str(found.gained),
        str(found.lost),
        change(metric.metric, net),
        p_value(found.exact_p),
        p_value(found.mid_p),
    ]


def _subgroups(metric: MetricComparison, table: SubgroupTable) -> str:
    count = max(len(level.effects) for level in table.levels)
    header = [f"{scale_of(metric.metric).label} by {table.factor}", "n"]
    header += [f"effect {number}" for number in range(1, count + 1)]
    header += ["shift", "95 % interval"]
    rows = [
        [
            level.level,
            str(level.n),
            *(change(metric.metric, effect) for effect in level.effects),
            change(metric.metric, level.shift),
            interval(metric.metric, level.low, level.high),
        ]
        for level in table.levels
    ]
    test = table.interaction
    p = p_value(test.p) if test.p is not None else f"{p_value(test.permutation_p)}, by permutation"
    note = (
        "a question counts under each of its levels: rows overlap and do not add up"
        if table.overlap
        else "levels of one data set are not independent findings"
    )
    return (
        f"{text_table(header, rows)}\n  {table.changing_sign} of {table.of} levels change sign; "
        f"do levels differ in the {table.tested}? p = {p} ({note})"
    )


def _row(metric: MetricComparison) -> list[str]:
    row = [f"{scale_of(metric.metric).label}{'' if metric.primary else ' (secondary)'}"]
    row.extend(
        f"{change(metric.metric, effect.effect)} "
        f"{interval(metric.metric, effect.headline.low, effect.headline.high)}"
        for effect in metric.executions
    )
    if not metric.shifts:
        return row
    first = metric.shifts[0]
    holm = metric.headline_omnibus.p_holm if metric.headline_omnibus is not None else None
    flags = f" [{', '.join(metric.flags)}]" if metric.flags else ""
    return [*row, change(metric.metric, first.estimate), p_value(holm), metric.verdict_text + flags]


def _run_row(metric: MetricComparison) -> list[str]:
    """Return the row of a metric whose runs were not made together."""
    average, pairs, test = metric.average, metric.pairs, metric.headline_omnibus
    name = f"{scale_of(metric.metric).label}{'' if metric.primary else ' (secondary)'}"
    effect = "" if average is None else change(metric.metric, average.effect)
    ends = "" if average is None else interval(metric.metric, average.low, average.high)
    counts = (
        ["", "", ""]
        if pairs is None
        else [str(pairs.supported_positive), str(pairs.supported_negative), str(pairs.n)]
    )
    p = None if test is None else test.p if test.p_holm is None else test.p_holm
    flags = f" [{', '.join(metric.flags)}]" if metric.flags else ""
    return [name, f"{effect} {ends}", *counts, p_value(p), metric.verdict_text + flags]
