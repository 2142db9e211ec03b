"""What executions vary by, the three statements, and the subgroups, as tables."""

from __future__ import annotations

from taketwo.analysis.comparison import MetricComparison, PairComparison, SubgroupTable
from taketwo.report.headlines import pair_name
from taketwo.report.numbers import UNDEFINED, change, count, interval, p_value, percent, scale_of
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = ["statements_table", "subgroups_tables", "variation_table"]


def statements_table(pair: PairComparison) -> Table | None:
    """Return the three statements about each metric, side by side; None where nothing was measured."""
    if not pair.metrics:
        return None
    rows: list[list[Cell]] = []
    records: list[Record] = []
    for item in pair.metrics.values():
        found = item.statements
        three = (found.effect_vs_reexecution, found.shift, found.configuration)
        rows.append([
            Cell(text=scale_of(item.metric).label),
            *(
                Cell(
                    text=(statement.value or "not known").replace("_", " "),
                    detail=statement.reason,
                    tone="" if statement.value else "quiet",
                )
                for statement in three
            ),
        ])
        records.append({
            "metric": item.metric,
            "effect_vs_reexecution": three[0].value,
            "shift": three[1].value,
            "configuration": three[2].value,
        })
    return Table(
        name=f"statements-{pair.method}-{pair.baseline}",
        caption=f"Three different statements about {pair_name(pair)}",
        columns=(
            Column(heading="Metric"),
            Column(heading="Effect against re-execution noise"),
            Column(heading="Executions differ"),
            Column(heading="Configuration"),
        ),
        rows=rows_of(rows),
        note=(
            "None follows from another: a small effect needs no shift to vanish, a shift may leave a "
            "large effect standing, and neither says whether something was changed in between."
        ),
        records=tuple(records),
    )


def variation_table(pair: PairComparison) -> Table | None:
    """Return what the effect varies by between executions, None where there is one, or none paired."""
    items = [item for item in pair.metrics.values() if item.variation is not None]
    if not items:
        return None
    headings = ("Average", "Tau", "Question noise", "Next execution", "P(other sign)", "Coverage")
    k = len(items[0].executions)
    return Table(
        name=f"variation-{pair.method}-{pair.baseline}",
        caption=f"What the effect of {pair_name(pair)} varies by between executions",
        columns=(
            Column(heading="Metric"),
            *(Column(heading=heading, is_number=True) for heading in headings),
        ),
        rows=rows_of([_variation_row(item) for item in items]),
        note=(
            "Tau is the standard deviation of the effect between executions with its exact interval; "
            "question noise is what questions alone give one execution's effect. Next execution: "
            "interval of its effect"
            + (", which needs 4 executions to say much" if k < 4 else "")
            + ". P(other sign) is model-based"
            + (f" and optimistic at {k} executions" if k < 8 else "")
            + ". Coverage: how often the interval of one execution covers the average over executions, "
            "at the estimated tau."
        ),
        records=tuple(_variation_record(item) for item in items),
    )


def _variation_row(item: MetricComparison) -> list[Cell]:
    variation, average = item.variation, item.average
    if variation is None:
        return [Cell(text=scale_of(item.metric).label)] + [Cell(text=UNDEFINED)] * 6
    parts, following = variation.components, variation.next_execution
    metric = item.metric
    return [
        Cell(text=scale_of(metric).label),
        Cell(text=UNDEFINED, tone="quiet")
        if average is None
        else Cell(
            text=change(metric, average.effect), detail=interval(metric, average.low, average.high)
        ),
        Cell(
            text=change(metric, parts.tau).lstrip("+"),
            detail=interval(metric, parts.tau_low, parts.tau_high).replace("+", ""),
        ),
        Cell(text=change(metric, parts.question_noise).lstrip("+")),
        Cell(text=interval(metric, following.low, following.high), detail=following.reason or ""),
        Cell(text=percent(following.p_reversal)),
        Cell(text=percent(variation.single_run_coverage)),
    ]


def _variation_record(item: MetricComparison) -> Record:
    variation, average = item.variation, item.average
    if variation is None:
        return {"metric": item.metric}
    parts, following = variation.components, variation.next_execution
    return {
        "metric": item.metric,
        "unit": item.unit,
        "average": None if average is None else average.effect,
        "average_low": None if average is None else average.low,
        "average_high": None if average is None else average.high,
        "tau": parts.tau,
        "tau_low": parts.tau_low,
        "tau_high": parts.tau_high,
        "sd_question": parts.question,
        "sd_residual": parts.residual,
        "question_noise": parts.question_noise,
        "next_low": following.low,
        "next_high": following.high,
        "p_reversal_optimistic": following.p_reversal,
        "p_outside_range": following.p_outside_range,
        "single_run_coverage": variation.single_run_coverage,
    }


def subgroups_tables(pair: PairComparison) -> tuple[Table, ...]:
    """Return a table per metric and factor: effect per execution, shift, and one test of them all."""
    return tuple(
        _subgroup_table(pair, item, found)
        for item in pair.metrics.values()
        for found in item.subgroups
    )


def _subgroup_table(pair: PairComparison, item: MetricComparison, found: SubgroupTable) -> Table:
    metric = item.metric
    names = [f"Effect in K{effect.execution}" for effect in item.executions] or ["Average effect"]
    has_shift = found.tested == "shift"
    columns = [Column(heading=found.factor), Column(heading="n", is_number=True)]
    columns += [Column(heading=name, is_number=True) for name in names]
    if has_shift:
        columns.append(Column(heading="Shift, first − last", is_number=True))
    rows: list[list[Cell]] = []
    for sub in found.levels:
        ends = interval(metric, sub.low, sub.high)
        row = [Cell(text=sub.level), Cell(text=count(sub.n))]
        row += [
            Cell(text=change(metric, effect), detail="" if has_shift else ends)
            for effect in sub.effects
        ]
        rows.append([*row, Cell(text=change(metric, sub.shift), detail=ends)] if has_shift else row)
    test = found.interaction
    p = p_value(test.p) if test.p is not None else f"{p_value(test.permutation_p)} (permutation)"
    return Table(
        name=f"subgroups-{metric}-{found.factor}-{pair.method}-{pair.baseline}",
        caption=f"{scale_of(metric).label} of {pair_name(pair)} by {found.factor}",
        columns=tuple(columns),
        rows=rows_of(rows),
        note=(
            (
                f"{found.changing_sign} of {found.of} levels change sign between executions. "
                if has_shift
                else ""
            )
            + f"Whether the {found.tested} differs between levels at all: p = {p}. "
            + (
                "A question counts under each of its levels: rows overlap and do not add up."
                if found.overlap
                else "Levels are parts of one set of questions: not so many independent findings."
            )
        ),
        records=tuple(
            {
                "metric": metric,
                "factor": found.factor,
                "level": sub.level,
                "n": sub.n,
                **{
                    name.lower().replace(" ", "_"): effect
                    for name, effect in zip(names, sub.effects, strict=True)
                },
                "shift": sub.shift,
                "low": sub.low,
                "high": sub.high,
                "changes_sign": sub.changes_sign,
            }
            for sub in found.levels
        ),
    )
