"""Comparisons of runs that were not made together, as tables: the effect, the pairs, each arm's runs."""

from __future__ import annotations

from collections.abc import Iterable

from taketwo.analysis.comparison import ArmRuns, MetricComparison, PairComparison
from taketwo.report.headlines import FLAG_TEXTS, pair_name
from taketwo.report.numbers import UNDEFINED, change, interval, level, p_value, scale_of
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["runs_table"]


def runs_table(pair: PairComparison) -> Table:
    """Return the main table of a comparison whose runs were not made together."""
    rows: list[list[Cell]] = []
    for item in pair.metrics.values():
        role = "primary" if item.primary else "secondary"
        clusters = f", {item.n_clusters:,} clusters" if item.n_clusters != item.n else ""
        rows.append([
            Cell(text=scale_of(item.metric).label, detail=f"{role}\nn = {item.n:,}{clusters}"),
            *(_arm_cell(item, arm) for arm in item.arms),
            _effect_cell(item),
            _pairs_cell(item),
            _shift_cell(item),
            Cell(
                text=item.verdict_text,
                detail=", ".join(FLAG_TEXTS[flag] for flag in item.flags),
            ),
        ])
    return Table(
        name=f"runs-{pair.method}-{pair.baseline}",
        caption=f"Effect of {pair_name(pair)} over runs that were not made together",
        columns=(
            Column(heading="Metric"),
            Column(heading=f"{pair.baseline} (baseline)", is_number=True),
            Column(heading=f"{pair.method} (method)", is_number=True),
            Column(heading="Average effect", is_number=True),
            Column(heading="Supporting pairs of runs", is_number=True),
            Column(heading="Shift p (Holm)", is_number=True),
            Column(heading="Verdict"),
        ),
        rows=rows_of(rows),
        note=(
            "Arms: mean over runs, standard deviation between runs, number of runs. The interval of "
            "the average effect takes runs as independent. Pairs: in how many pairs of a run of each "
            "arm the effect is supported, better or higher first. Shift: either arm's own runs differ."
        ),
        records=tuple(_records(pair)),
    )


def _arm_cell(item: MetricComparison, arm: ArmRuns) -> Cell:
    sd = "" if arm.sd is None else f"sd {change(item.metric, arm.sd).lstrip('+')}, "
    return Cell(text=level(item.metric, arm.mean), detail=f"{sd}{arm.executions} runs")


def _effect_cell(item: MetricComparison) -> Cell:
    average = item.average
    if average is None:
        return Cell(text=UNDEFINED, tone="quiet")
    ends = interval(item.metric, average.low, average.high)
    return Cell(text=change(item.metric, average.effect), detail=ends)


def _pairs_cell(item: MetricComparison) -> Cell:
    pairs = item.pairs
    if pairs is None:
        return Cell(text=UNDEFINED, tone="quiet")
    return Cell(
        text=f"{pairs.supported_positive} / {pairs.n}",
        detail=f"{pairs.supported_negative} the other way" if pairs.supported_negative else "",
    )


def _shift_cell(item: MetricComparison) -> Cell:
    test = item.headline_omnibus
    if test is None or test.p is None:
        return Cell(text=UNDEFINED, detail=(test.reason or "") if test else "", tone="quiet")
    return Cell(text=p_value(test.p if test.p_holm is None else test.p_holm))


def _records(pair: PairComparison) -> Iterable[Record]:
    for item in pair.metrics.values():
        average, pairs, test = item.average, item.pairs, item.headline_omnibus
        if average is None or pairs is None:
            continue
        yield {
            "baseline": pair.baseline,
            "method": pair.method,
            "metric": item.metric,
            "unit": item.unit,
            "n": item.n,
            **{f"mean_{arm.arm}": arm.mean for arm in item.arms},
            **{f"sd_{arm.arm}": arm.sd for arm in item.arms},
            **{f"runs_{arm.arm}": arm.executions for arm in item.arms},
            "effect": average.effect,
            "low": average.low,
            "high": average.high,
            "interval": average.method,
            "pairs": pairs.n,
            "supported_positive": pairs.supported_positive,
            "supported_negative": pairs.supported_negative,
            "shift_p": None if test is None else test.p,
            "shift_p_holm": None if test is None else test.p_holm,
            "verdict": item.verdict,
        }
