"""The tables of the REPAIR paper, in its shape, from any comparison of one method with one baseline.

Digits follow the paper (percentages and points with two decimals, costs with three), so that both can be
laid side by side; unrounded numbers are in the records.
"""

from __future__ import annotations

from statistics import median

from taketwo.analysis.comparison import (
    Comparison,
    Interval,
    MetricComparison,
    Movement,
    PairComparison,
)
from taketwo.analysis.judges import JudgeTable
from taketwo.executions.rule import Metric
from taketwo.report.literature import literature_gains, magnitude_of
from taketwo.report.numbers import UNDEFINED, p_value, scale_of
from taketwo.report.tables import Cell, Column, Record, Table, rows_of

__all__ = [
    "MAGNITUDE_ONLY",
    "clusters_table",
    "effects_table",
    "gains_table",
    "judges_table",
    "metrics_in_paper_shape",
    "movements_in_paper_shape",
    "paper_tables",
    "population_table",
    "provenance_table",
    "subgroups_in_paper_shape",
]

MAGNITUDE_ONLY = (
    "The gains calibrate magnitude only: they say nothing about whether the systems they come from "
    "would reproduce."
)
_MINUS = "\u2212"
_POINTS: tuple[Metric, ...] = ("accuracy", "mc_rate")


def paper_tables(pair: PairComparison, comparison: Comparison) -> tuple[Table, ...]:
    """Return Tables 3, 4, 5, 6, A1, A3, A5 and A7, those for which there are numbers."""
    item = pair.metrics.get("accuracy")
    found: list[Table | None] = [metrics_in_paper_shape(pair)]
    if item is not None and item.shifts:
        found = [
            effects_table(pair, item),
            gains_table(item),
            *found,
            movements_in_paper_shape(pair, item),
            subgroups_in_paper_shape(item),
            clusters_table(pair, item),
        ]
    found += [population_table(comparison), provenance_table()]
    return tuple(table for table in found if table is not None)


def effects_table(pair: PairComparison, item: MetricComparison) -> Table:
    """Return Table 3: accuracy and effect per execution, and the swing."""
    rows: list[list[str]] = []
    records: list[Record] = []
    for effect in item.executions:
        p = effect.mcnemar.exact_p if effect.mcnemar else None
        rows.append([
            f"K{effect.execution}",
            _plain(100 * effect.baseline_mean),
            _plain(100 * effect.method_mean),
            _points(effect.effect),
            _bracket("accuracy", effect.low, effect.high),
            p_value(p),
        ])
        records.append({
            "execution": effect.execution, "baseline": effect.baseline_mean,
            "method": effect.method_mean, "effect": effect.effect, "low": effect.low,
            "high": effect.high, "mcnemar_exact_p": p,
            "mcnemar_corrected_p": effect.mcnemar.corrected_p if effect.mcnemar else None,
        })  # fmt: skip
    ks = item.swing_between or (0, 0)
    swing = UNDEFINED if item.swing is None else _plain(100 * item.swing)
    rows.append([f"Swing K{ks[0]} − K{ks[1]}", "", "", swing, UNDEFINED, ""])
    return _table(
        "table-3",
        f"Accuracy of {pair.method} and {pair.baseline} in each execution (the paper's Table 3)",
        ("Exec.", f"{pair.baseline} (%)", f"{pair.method} (%)", "Δ (pp)", "95% CI", "p"),
        rows,
        "Percentile intervals by question, with infinitely many draws. p is the exact McNemar test; the "
        "paper prints the continuity-corrected chi-square under that name (in the records).",
        records,
    )


def gains_table(item: MetricComparison) -> Table | None:
    """Return Table 4: the literature's matched gains, and how far the effect moved here."""
    if item.s_k is None or item.swing is None:
        return None
    gains = literature_gains()
    rows = [[gain.system, f"+{gain.gain_pp:.2f}"] for gain in gains]
    rows.append(["Median", f"+{median(gain.gain_pp for gain in gains):.2f}"])
    rows += [
        ["Execution spread s_K, this study", _plain(100 * item.s_k)],
        ["Swing between executions, this study", _plain(100 * item.swing)],
    ]
    s_k, swing = magnitude_of(100 * item.s_k), magnitude_of(100 * item.swing)
    return _table(
        "table-4",
        "How far the effect moved, beside matched gains of the literature (the paper's Table 4)",
        ("System", "Gain (pp)"),
        rows,
        f"s_K is {s_k.times_median:.2f} times the median and exceeds {s_k.exceeds} of {s_k.of}, the swing "
        f"{swing.times_median:.2f} times and exceeds {swing.exceeds} of {swing.of}. {MAGNITUDE_ONLY}",
    )


def metrics_in_paper_shape(pair: PairComparison) -> Table | None:
    """Return Table 5: every primary metric's effects, shift, adjusted p and assessment."""
    items = [item for item in pair.metrics.values() if item.primary and item.shifts]
    if not items:
        return None
    ks = [effect.execution for effect in items[0].executions]
    rows: list[list[str]] = []
    records: list[Record] = []
    for item in items:
        shift = next(s for s in item.shifts if (s.earlier, s.later) == (ks[0], ks[-1]))
        p = item.omnibus.p_holm if item.omnibus else None
        scale = scale_of(item.metric)
        rows.append([
            f"{scale.label} ({scale.change_unit.strip() or 'count'})",
            *(
                _change(item.metric, effect.effect) + ("" if effect.supported else "†")
                for effect in item.executions
            ),
            _change(item.metric, shift.estimate),
            _bracket(item.metric, shift.low, shift.high),
            p_value(p),
            item.paper_label or item.verdict_text,
        ])
        records.append({
            "metric": item.metric, "unit": item.unit,
            **{f"effect_K{effect.execution}": effect.effect for effect in item.executions},
            "shift": shift.estimate, "low": shift.low, "high": shift.high, "p_holm": p,
            "paper_label": item.paper_label, "verdict": item.verdict,
        })  # fmt: skip
    counts = pair.counts
    kept = f"{counts.sign_preserved} of {counts.of}" if counts else UNDEFINED
    rows.append(["Metrics that keep the sign of the effect", *[""] * (len(ks) + 3), kept])
    supported = f"{counts.supported_sign_preserved} of {counts.of}" if counts else UNDEFINED
    return _table(
        "table-5",
        f"What re-execution did to {pair.method} against {pair.baseline} (the paper's Table 5)",
        ("Metric", *(f"Δ K{k}" for k in ks), "Z", "95% CI on Z", "p (Holm)", "Assessment"),
        rows,
        f"† the interval of the effect covers zero. With support in every execution the sign is kept in "
        f"{supported}. p: paired t of the shift (omnibus for more than two executions) by question.",
        records,
    )


def movements_in_paper_shape(pair: PairComparison, item: MetricComparison) -> Table:
    """Return Table 6: what each arm did by itself between the first and the last execution."""
    ks = (item.executions[0], item.executions[-1])
    moves = [
        m for m in item.movements if (m.earlier, m.later) == (ks[0].execution, ks[1].execution)
    ]
    rows: list[list[str]] = []
    for move in moves:
        means = [
            effect.baseline_mean if move.arm == pair.baseline else effect.method_mean
            for effect in ks
        ]
        rows.append([
            move.arm,
            *(_plain(100 * mean) for mean in means),
            _points(move.re),
            UNDEFINED if move.churn is None else _plain(100 * move.churn),
            p_value(move.mcnemar.exact_p if move.mcnemar else None),
        ])
    swing = UNDEFINED if len(moves) < 2 else _plain(100 * abs(moves[0].re - moves[1].re))
    rows.append(["Combined swing", "", "", swing, "", ""])
    return _table(
        "table-6",
        "How far each arm moved by itself (the paper's Table 6)",
        (
            "Method",
            f"K{ks[0].execution} (%)",
            f"K{ks[1].execution} (%)",
            "Δ re (pp)",
            "Churn (%)",
            "p",
        ),
        rows,
        _net_sentence(moves),
    )


def _net_sentence(moves: list[Movement]) -> str:
    shares = [f"{100 * m.net_share:.0f} % for {m.arm}" for m in moves if m.net_share is not None]
    return f"Net movement recovers {' and '.join(shares)} of the churn." if shares else ""


def subgroups_in_paper_shape(item: MetricComparison) -> Table | None:
    """Return Table A1: the effect of every subgroup in the first and the last execution."""
    if not item.subgroups or item.subgroups[0].tested != "shift":
        return None
    rows: list[list[str]] = []
    records: list[Record] = []
    for table in item.subgroups:
        for sub in table.levels:
            first, last = sub.effects[0], sub.effects[-1]
            rows.append([
                f"{table.factor}: {sub.level}",
                f"{sub.n:,}",
                _points(first),
                _points(last),
                _points(first - last),
            ])
            records.append({
                "factor": table.factor, "level": sub.level, "n": sub.n, "first": first,
                "last": last, "shift": sub.shift, "low": sub.low, "high": sub.high,
            })  # fmt: skip
    changing = sum(table.changing_sign for table in item.subgroups)
    of = sum(table.of for table in item.subgroups)
    tests = ", ".join(
        f"{t.factor} p = {p_value(t.interaction.p if t.interaction.p is not None else t.interaction.permutation_p)}"
        for t in item.subgroups
    )
    return _table(
        "table-a1",
        "Effects by subgroup (the paper's Table A1)",
        ("Subgroup", "N", "Δ first", "Δ last", "Z"),
        rows,
        f"{changing} of {of} levels change sign; the factors divide the same questions, so these are not "
        f"{of} findings. Whether the shift differs between levels: {tests}. Z from unrounded effects.",
        records,
    )


def judges_table(table: JudgeTable) -> Table:
    """Return Table A2: effects and shift under each judge's labels."""
    rows = [
        [
            f"{row.judge}{' (primary)' if row.judge == table.primary else ''}",
            f"{row.n_own:,}",
            _points(row.effects[0]),
            _points(row.effects[-1]),
            UNDEFINED if row.shift is None else _points(row.shift),
            UNDEFINED if row.kappa is None or row.kappa.value is None else f"{row.kappa.value:.2f}",
        ]
        for row in table.rows
    ]
    return _table(
        "table-a2",
        "The comparison under each judge (the paper's Table A2)",
        ("Judge", "N own", "Δ first", "Δ last", "Z", "Kappa"),
        rows,
        f"On the {table.n:,} questions that all judges labelled in every cell. {table.same_verdict} of "
        f"{len(table.rows)} judges give the primary judge's verdict, under {table.reversing} the sign "
        "changes.",
    )


def clusters_table(pair: PairComparison, item: MetricComparison) -> Table | None:
    """Return Table A3: the percentile intervals by video of effects, shift and both arms' movements."""
    if item.cluster is None:
        return None
    numbers: list[tuple[str, float, Interval | None]] = [
        (f"K{e.execution}: {pair.method} − {pair.baseline}", e.effect, e.clustered)
        for e in item.executions
    ]
    numbers += [(f"Shift K{s.earlier} − K{s.later}", s.estimate, s.clustered) for s in item.shifts]
    numbers += [(f"{m.arm}: K{m.later} − K{m.earlier}", m.re, m.clustered) for m in item.movements]
    rows = [
        [
            name,
            _points(value),
            UNDEFINED if found is None else _bracket("accuracy", found.low, found.high),
        ]
        for name, value, found in numbers
    ]
    liberal = (
        " Fewer than 50 videos, or one with more than a tenth of the questions: these intervals are "
        "too short, CR2 decides."
        if item.cluster.percentile_is_liberal
        else ""
    )
    return _table(
        "table-a3",
        "Intervals by video (the paper's Table A3)",
        ("Quantity", "Effect (pp)", "95% CI"),
        rows,
        f"{item.n:,} questions on {item.cluster.n:,} videos, drawn whole.{liberal}",
        tuple(
            {
                "quantity": name,
                "effect": value,
                "low": None if found is None else found.low,
                "high": None if found is None else found.high,
            }
            for name, value, found in numbers
        ),
    )


def population_table(comparison: Comparison) -> Table | None:
    """Return Table A5: shares of the subgroups among planned and compared questions."""
    shares = comparison.population.subgroups
    if not shares:
        return None
    rows = [
        [
            f"{share.factor}: {share.level}",
            f"{share.n_union:,}",
            _plain(100 * share.share_union),
            f"{share.n_matched:,}",
            _plain(100 * share.share_matched),
            _points(share.share_matched - share.share_union),
        ]
        for share in shares
    ]
    return _table(
        "table-a5",
        "Planned and compared questions by subgroup (the paper's Table A5)",
        ("Subset", "All N", "All %", "Matched N", "Matched %", "Δ (pp)"),
        rows,
        "Equal shares do not rule out that questions left for reasons that the factors do not show.",
    )


def provenance_table() -> Table:
    """Return Table A7: where the seven gains come from."""
    return _table(
        "table-a7",
        "Provenance of the matched gains (the paper's Table A7)",
        ("System", "Benchmark", "Source", "Baseline → method", "Agg.", "Gain (pp)"),
        [
            [
                gain.system,
                ", ".join(gain.benchmarks),
                gain.source,
                gain.contrast.replace("->", "→"),
                gain.aggregation,
                f"+{gain.gain_pp:.2f}",
            ]
            for gain in literature_gains()
        ],
        "Difference within each benchmark, conditions of one benchmark averaged first, unweighted mean over "
        f"benchmarks (M); S: one benchmark. Copied from the paper. {MAGNITUDE_ONLY}",
    )


def _table(
    name: str,
    caption: str,
    headings: tuple[str, ...],
    rows: list[list[str]],
    note: str,
    records: list[Record] | tuple[Record, ...] = (),
) -> Table:
    columns = tuple(
        Column(heading=heading, is_number=index > 0) for index, heading in enumerate(headings)
    )
    cells: list[list[str | Cell]] = [list(row) for row in rows]
    return Table(
        name=name,
        caption=caption,
        columns=columns,
        rows=rows_of(cells),
        note=note,
        records=tuple(records),
    )


def _plain(value: float) -> str:
    return f"{value:.2f}".replace("-", _MINUS)


def _points(value: float) -> str:
    return f"{100 * value:+.2f}".replace("-", _MINUS)


def _change(metric: Metric, value: float) -> str:
    return _points(value) if metric in _POINTS else f"{value:+.3f}".replace("-", _MINUS)


def _bracket(metric: Metric, low: float | None, high: float | None) -> str:
    if low is None or high is None:
        return UNDEFINED
    return f"[{_change(metric, low)}, {_change(metric, high)}]"
