"""What the comparison found, as tables: effects, shifts, verdicts, movements, transitions."""

from __future__ import annotations

from collections.abc import Iterable

from taketwo.analysis.comparison import MetricComparison, PairComparison
from taketwo.analysis.effects import Effect, HypothesisTest, Interval, Movement, Shift
from taketwo.executions.rule import Metric
from taketwo.report.headlines import FLAG_TEXTS, pair_name
from taketwo.report.numbers import (
    NOT_MEASURED,
    UNDEFINED,
    change,
    count,
    interval,
    level,
    p_value,
    percent,
    scale_of,
)
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = [
    "inference_table",
    "kept",
    "metrics_table",
    "movements_table",
    "not_measured_table",
    "transitions_table",
]


def metrics_table(pair: PairComparison, executions: tuple[int, ...]) -> Table:
    """Return the main table: effect per execution, shift between first and last, verdict."""
    has_shift = len(executions) > 1
    ends = (executions[0], executions[-1])
    columns = [Column(heading="Metric")]
    columns += [Column(heading=f"Effect in K{k}", is_number=True) for k in executions]
    if has_shift:
        columns += [
            Column(heading=f"Shift K{ends[0]} − K{ends[1]}", is_number=True),
            Column(heading="p (Holm)", is_number=True),
        ]
    columns.append(Column(heading="Verdict"))
    rows: list[list[Cell]] = []
    for item in pair.metrics.values():
        effects = {effect.execution: effect for effect in item.executions}
        row = [_metric_cell(item)]
        row += [_effect_cell(item.metric, effects.get(k)) for k in executions]
        if has_shift:
            row += [_shift_cell(item, ends), _test_cell(item.headline_omnibus)]
        rows.append([*row, _verdict_cell(item)])
    return Table(
        name=f"metrics-{pair.method}-{pair.baseline}",
        caption=f"Effects of {pair_name(pair)}, method minus baseline",
        columns=tuple(columns),
        rows=rows_of(rows),
        note=_metrics_note(pair, has_shift=has_shift),
        records=tuple(_effect_records(pair)),
    )


def _metrics_note(pair: PairComparison, *, has_shift: bool) -> str:
    methods = dict.fromkeys(item.headline for item in pair.metrics.values())
    parts = [
        "Each effect has its interval below it, then the means of baseline and method.",
        "† not distinguishable from no effect: the interval covers zero, or equal differences on too few questions.",
        f"Intervals: {'; '.join(methods)}." if methods else "",
    ]
    if has_shift:
        parts.append(
            "The shift is the earlier effect minus the later one, paired by question; p is adjusted "
            "over the declared primary metrics by Holm's method."
        )
    return " ".join(part for part in parts if part)


def _metric_cell(item: MetricComparison) -> Cell:
    role = "primary" if item.primary else "secondary"
    clusters = f", {item.n_clusters:,} clusters" if item.n_clusters != item.n else ""
    dropped = f", {len(item.dropped)} without value" if item.dropped else ""
    return Cell(
        text=scale_of(item.metric).label,
        detail=f"{role}\nn = {item.n:,}{clusters}{dropped}",
    )


def _effect_cell(metric: Metric, effect: Effect | None) -> Cell:
    if effect is None:
        return Cell(text=NOT_MEASURED, tone="quiet")
    dagger = "" if effect.supported else " †"
    ends = interval(metric, effect.headline.low, effect.headline.high)
    means = f"{level(metric, effect.baseline_mean)} → {level(metric, effect.method_mean)}"
    return Cell(text=f"{change(metric, effect.effect)}{dagger}", detail=f"{ends}\n{means}")


def _shift_cell(item: MetricComparison, ends: tuple[int, int]) -> Cell:
    shift = _shift_between(item, ends)
    if shift is None:
        return Cell(text=UNDEFINED, tone="quiet")
    return Cell(
        text=change(item.metric, shift.estimate),
        detail=interval(item.metric, shift.headline.low, shift.headline.high),
    )


def _shift_between(item: MetricComparison, ends: tuple[int, int]) -> Shift | None:
    return next((s for s in item.shifts if (s.earlier, s.later) == ends), None)


def _test_cell(test: HypothesisTest | None) -> Cell:
    if test is None or test.p is None:
        return Cell(text=UNDEFINED, detail=(test.reason or "") if test else "", tone="quiet")
    if test.p_holm is None:
        return Cell(text=p_value(test.p), detail="unadjusted")
    return Cell(text=p_value(test.p_holm), detail=f"raw {p_value(test.p)}")


def _verdict_cell(item: MetricComparison) -> Cell:
    paper = f"the REPAIR paper's wording: {item.paper_label}" if item.paper_label else ""
    flags = ", ".join(FLAG_TEXTS[flag] for flag in item.flags)
    lines = [paper, f"flags: {flags}" if flags else ""]
    return Cell(text=item.verdict_text, detail="\n".join(line for line in lines if line))


def _effect_records(pair: PairComparison) -> Iterable[Record]:
    for item in pair.metrics.values():
        for effect in item.executions:
            yield {
                "metric": item.metric,
                "unit": item.unit,
                "primary": item.primary,
                "quantity": "effect",
                "execution": effect.execution,
                "n": effect.n,
                "baseline_mean": effect.baseline_mean,
                "method_mean": effect.method_mean,
                "estimate": effect.effect,
                "low": effect.headline.low,
                "high": effect.headline.high,
                "interval": effect.headline.method,
                "level": effect.headline.level,
                "supported": effect.supported,
                "verdict": item.verdict,
            }
        for shift in item.shifts:
            yield {
                "metric": item.metric,
                "unit": item.unit,
                "primary": item.primary,
                "quantity": "shift",
                "execution": shift.earlier,
                "later_execution": shift.later,
                "n": shift.n,
                "estimate": shift.estimate,
                "low": shift.headline.low,
                "high": shift.headline.high,
                "interval": shift.headline.method,
                "level": shift.headline.level,
                "p": shift.headline_test.p,
                "p_holm": None if item.headline_omnibus is None else item.headline_omnibus.p_holm,
                "verdict": item.verdict,
            }


def not_measured_table(pair: PairComparison) -> Table | None:
    """Return the metrics without a verdict and why, None where there are none."""
    if not pair.not_measured:
        return None
    return Table(
        name=f"not-measured-{pair.method}-{pair.baseline}",
        caption=f"Not measured in {pair_name(pair)}",
        columns=(Column(heading="Metric"), Column(heading="Why")),
        rows=rows_of([
            [
                Cell(
                    text=scale_of(item.metric).label,
                    detail="primary" if item.primary else "secondary",
                ),
                item.reason,
            ]
            for item in pair.not_measured
        ]),
        note="A metric without values gets no verdict; a primary one still counts in the family.",
    )


def movements_table(pair: PairComparison) -> Table | None:
    """Return by how much each arm moved between executions, None where there is one only."""
    movements = [(item, move) for item in pair.metrics.values() for move in item.movements]
    if not movements:
        return None
    rows: list[list[Cell]] = []
    for item in pair.metrics.values():
        by_span: dict[tuple[int, int], dict[str, Movement]] = {}
        for move in item.movements:
            by_span.setdefault((move.earlier, move.later), {})[move.arm] = move
        for span, arms in by_span.items():
            shift = _shift_between(item, span)
            rows.append([
                Cell(text=scale_of(item.metric).label, detail=f"K{span[0]} → K{span[1]}"),
                _movement_cell(item.metric, arms.get(pair.baseline)),
                _movement_cell(item.metric, arms.get(pair.method)),
                Cell(text=UNDEFINED, tone="quiet")
                if shift is None
                else Cell(text=change(item.metric, shift.estimate)),
            ])
    return Table(
        name=f"movements-{pair.method}-{pair.baseline}",
        caption="How far each arm moved by itself",
        columns=(
            Column(heading="Metric"),
            Column(heading=f"{pair.baseline} (baseline)", is_number=True),
            Column(heading=f"{pair.method} (method)", is_number=True),
            Column(heading="Shift of the effect", is_number=True),
        ),
        rows=rows_of(rows),
        note=(
            "Later minus earlier, with interval, unadjusted p, and the share of questions whose "
            "value changed. The shift of the effect is the change of the baseline minus the change "
            "of the method, so the table says whose doing it is."
        ),
        records=tuple(
            {
                "metric": item.metric,
                "unit": item.unit,
                "arm": move.arm,
                "earlier": move.earlier,
                "later": move.later,
                "n": move.n,
                "change": move.re,
                "low": move.interval.low,
                "high": move.interval.high,
                "p": move.test.p,
                "changed_share": move.changed,
                "mean_absolute_change": move.mean_absolute_change,
            }
            for item, move in movements
        ),
    )


def _movement_cell(metric: Metric, move: Movement | None) -> Cell:
    if move is None:
        return Cell(text=UNDEFINED, tone="quiet")
    ends = interval(metric, move.interval.low, move.interval.high)
    return Cell(
        text=change(metric, move.re),
        detail=f"{ends}\np {p_value(move.test.p)}, {percent(move.changed)} changed",
    )


def transitions_table(pair: PairComparison) -> Table | None:
    """Return gains and losses of correctness between executions by arm, None without accuracy."""
    item = pair.metrics.get("accuracy")
    moves = [] if item is None else [move for move in item.movements if move.gained is not None]
    if item is None or not moves:
        return None
    rows: list[list[str]] = []
    records: list[Record] = []
    for move in moves:
        kept_right, kept_wrong = kept(item, pair, move)
        test = move.mcnemar
        rows.append([
            f"{move.arm}, K{move.earlier} → K{move.later}",
            *map(count, (kept_right, move.gained, move.lost, kept_wrong)),
            percent(move.churn),
            change("accuracy", move.net),
            p_value(None if test is None else test.exact_p),
        ])
        records.append({
            "arm": move.arm,
            "earlier": move.earlier,
            "later": move.later,
            "n": move.n,
            "right_in_both": kept_right,
            "gained": move.gained,
            "lost": move.lost,
            "wrong_in_both": kept_wrong,
            "churn": move.churn,
            "net": move.net,
            "mcnemar_exact_p": None if test is None else test.exact_p,
            "mcnemar_mid_p": None if test is None else test.mid_p,
        })
    headings = ("Right in both", "Gained", "Lost", "Wrong in both", "Churn", "Net", "Exact p")
    return Table(
        name=f"transitions-{pair.method}-{pair.baseline}",
        caption=f"Correctness of each question, {pair_name(pair)}",
        columns=(
            Column(heading="Arm"),
            *(Column(heading=heading, is_number=True) for heading in headings),
        ),
        rows=rows_of(rows),
        note=(
            "Churn is the share of questions that changed in either direction; the mean sees only "
            "the net. p is McNemar's exact test on gained against lost."
        ),
        records=tuple(records),
    )


def kept(item: MetricComparison, pair: PairComparison, move: Movement) -> tuple[int, int]:
    """Return how many questions stayed right and how many stayed wrong in a movement of accuracy."""
    earlier = next(effect for effect in item.executions if effect.execution == move.earlier)
    mean = earlier.baseline_mean if move.arm == pair.baseline else earlier.method_mean
    gained, lost = move.gained or 0, move.lost or 0
    kept_right = round(mean * move.n) - lost
    return kept_right, move.n - kept_right - gained - lost


def inference_table(pair: PairComparison) -> Table:
    """Return every effect by all methods that were computed, for those who check."""
    headings = (
        "n",
        "SE",
        "Percentile",
        "By video",
        "Score (Tango)",
        "t: p",
        "Gained, lost",
        "Exact p",
    )
    rows: list[list[str]] = []
    for item in pair.metrics.values():
        for effect in item.executions:
            discordant = effect.mcnemar
            rows.append([
                f"{scale_of(item.metric).label}, K{effect.execution}",
                count(effect.n),
                change(item.metric, effect.se, unit=False).lstrip("+"),
                interval(item.metric, effect.low, effect.high),
                _interval_or_dash(item.metric, effect.clustered),
                _interval_or_dash(item.metric, effect.tango),
                p_value(effect.t_test.p),
                UNDEFINED if discordant is None else f"{discordant.gained}, {discordant.lost}",
                p_value(None if discordant is None else discordant.exact_p),
            ])
    return Table(
        name=f"inference-{pair.method}-{pair.baseline}",
        caption=f"The same effects by other methods, {pair_name(pair)}",
        columns=(
            Column(heading="Metric"),
            *(Column(heading=heading, is_number=True) for heading in headings),
        ),
        rows=rows_of(rows),
        note=(
            "SE and percentile interval are by question. Gained are questions that only the method "
            "has right, lost those that only the baseline has right; exact p is McNemar's."
        ),
    )


def _interval_or_dash(metric: Metric, found: Interval | None) -> str:
    return UNDEFINED if found is None else interval(metric, found.low, found.high)
